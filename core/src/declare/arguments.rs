//! The arguments of commands: how each is read from its words and written.

use core::fmt;

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::hex::{Direction, Hex};
use crate::seat::{Seat, UnknownSeat};
use crate::text::{Id, Malformed, number, split_verb};
use crate::ticks::Ticks;

/// An argument of a command: one word or, as the last argument, several.
pub trait Argument: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// [`Malformed`] unless `word` is the canonical text of a value.
    fn read(word: &str) -> Result<Self, Malformed>;

    /// Writes it, with a space before each word.
    ///
    /// # Errors
    /// The errors of the formatter.
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Makes types arguments of commands: read by `FromStr` or by the given function, and written by `Display`.
#[macro_export]
macro_rules! arguments {
    ($($type:ty),+) => { $crate::arguments!($($type),+; ::core::str::FromStr::from_str); };
    ($type:ty $(, $more:ty)*; $read:path) => {
        impl $crate::declare::Argument for $type {
            fn read(word: &str) -> ::core::result::Result<Self, $crate::Malformed> {
                $read(word)
            }

            fn write(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(out, " {self}")
            }
        }
        $crate::arguments!($($more),*; $read);
    };
    (; $read:path) => {};
}

arguments!(u8, u16, u32, u64, i8, i16, i32, i64; number);
arguments!(Direction, Hex, Id, Ticks);
arguments!(Seat; seat);

fn seat(word: &str) -> Result<Seat, Malformed> {
    word.parse().map_err(|unknown: UnknownSeat| Malformed(unknown.to_string()))
}

/// An argument that may be missing.
impl<T: Argument> Argument for Option<T> {
    fn read(word: &str) -> Result<Self, Malformed> {
        Ok(Some(T::read(word)?))
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(value) => value.write(out),
            None => Ok(()),
        }
    }
}

/// One word or more.
impl<T: Argument> Argument for Vec<T> {
    fn read(words: &str) -> Result<Self, Malformed> {
        words.split(' ').map(T::read).collect()
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for value in self {
            value.write(out)?;
        }
        Ok(())
    }
}

#[doc(hidden)]
pub fn write_argument<T: Argument + PartialEq>(
    out: &mut fmt::Formatter<'_>,
    value: &T,
    default: &[T],
) -> fmt::Result {
    if default.first() == Some(value) { Ok(()) } else { value.write(out) }
}

/// The words of a command after its verb, as many as it has arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct Words<'a> {
    rest: Option<&'a str>,
    left: usize,
}

impl<'a> Words<'a> {
    /// Splits the text after a verb; `None` if it has too few words, or any for a verb without arguments.
    #[must_use]
    pub fn of(rest: Option<&'a str>, arguments: &[&str], optional: &[&str]) -> Option<Self> {
        let left = arguments.len();
        let found = rest.map_or(0, |rest| rest.splitn(left.max(1), ' ').count());
        let required = left.saturating_sub(optional.len());
        if (required..=left).contains(&found) { Some(Self { rest, left }) } else { None }
    }

    /// Reads the next argument, or takes the default if its word is missing.
    ///
    /// # Errors
    /// [`Malformed`] if the word is not one of the values.
    pub fn read<T: Argument, const N: usize>(&mut self, default: [T; N]) -> Result<T, Malformed> {
        let Some(rest) = self.rest else {
            return default.into_iter().next().ok_or_else(|| Malformed::expected("an argument", ""));
        };
        let (word, after) = if self.left > 1 { split_verb(rest) } else { (rest, None) };
        self.rest = after;
        self.left = self.left.saturating_sub(1);
        T::read(word)
    }
}
