//! Macros for what every game repeats: the text of its commands and of its effects.
//!
//! [`commands!`](crate::commands) writes `Display` and `FromStr` of a command from a table of its forms,
//! [`effects!`](crate::effects) declares an effect with its text and JSON, and [`reasons!`](crate::reasons) declares the
//! reasons and rejections of a ruling.

use core::fmt::{self, Display, Write};

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::hex::{Direction, Hex};
use crate::seat::{Seat, UnknownSeat};
use crate::text::{Id, Joined, Malformed, OrNone, Quoted, number, split_verb};
use crate::ticks::Ticks;

pub use crate::{arguments, commands, effects, reasons};

/// Writes `Display` and `FromStr` of a command: its type and the forms that an error names, then the verb and the
/// arguments of each variant. Each argument is one word, but the last has the rest of the text. `or VALUE` after an
/// argument makes it optional: it is not written when it is that value.
///
/// ```
/// use turnfold_core::declare::commands;
/// use turnfold_core::Ticks;
///
/// #[derive(Clone, Debug, PartialEq, Eq)]
/// enum Command {
///     Take { count: u8, heap: u8 },
///     Wait(Ticks),
///     Resign,
/// }
///
/// commands! {
///     Command, "`take COUNT HEAP`, `wait [N]` or `resign`";
///     "take" => Command::Take { count, heap },
///     "wait" => Command::Wait(ticks or Ticks::ONE),
///     "resign" => Command::Resign,
/// }
///
/// assert_eq!("take 3 1".parse(), Ok(Command::Take { count: 3, heap: 1 }));
/// assert_eq!("wait".parse(), Ok(Command::Wait(Ticks::ONE)));
/// assert_eq!(Command::Take { count: 2, heap: 4 }.to_string(), "take 2 4");
/// for text in ["take 03 1", "take 1", "take 1 2 3", "wait ", "resign now", ""] {
///     assert!(text.parse::<Command>().is_err(), "{text:?}");
/// }
/// ```
#[macro_export]
macro_rules! commands {
    ($command:ty, $forms:expr; $($verb:literal => $type:ident $(:: $variant:ident)?
        $(($($item:ident $(or $item_default:expr)?),+))?
        $({ $($field:ident $(or $field_default:expr)?),+ })?),+ $(,)?) => {
        impl ::core::fmt::Display for $command {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $($type $(:: $variant)? $(($($item),+))? $({ $($field),+ })? => {
                        out.write_str($verb)?;
                        $($($crate::declare::write_argument(out, $item, &[$($item_default)?])?;)+)?
                        $($($crate::declare::write_argument(out, $field, &[$($field_default)?])?;)+)?
                        Ok(())
                    })+
                }
            }
        }

        impl ::core::str::FromStr for $command {
            type Err = $crate::Malformed;

            fn from_str(text: &str) -> ::core::result::Result<Self, $crate::Malformed> {
                let (verb, rest) = $crate::text::split_verb(text);
                $(if verb == $verb {
                    const ARGUMENTS: &[&str] = &[$($(stringify!($item)),+)? $($(stringify!($field)),+)?];
                    const OPTIONAL: &[&str] =
                        &[$($($(stringify!($item_default),)?)+)? $($($(stringify!($field_default),)?)+)?];
                    #[allow(unused_mut, unused_variables, reason = "some commands have no arguments")]
                    if let Some(mut words) = $crate::declare::Words::of(rest, ARGUMENTS, OPTIONAL) {
                        return Ok($type $(:: $variant)?
                            $(($(words.read([$($item_default)?])?),+))?
                            $({ $($field: words.read([$($field_default)?])?),+ })?);
                    }
                })+
                Err($crate::Malformed::expected($forms, text))
            }
        }
    };
}

/// A word of a command, or several as the last argument.
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

/// Makes types arguments of commands that are read by `FromStr`, or by the function given, and written by `Display`.
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
        T::read(word).map(Some)
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |value| value.write(out))
    }
}

/// One word or more.
impl<T: Argument> Argument for Vec<T> {
    fn read(words: &str) -> Result<Self, Malformed> {
        words.split(' ').map(T::read).collect()
    }

    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|value| value.write(out))
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

/// The words of a command behind its verb, as many as it has arguments.
#[doc(hidden)]
#[derive(Debug)]
pub struct Words<'a> {
    rest: Option<&'a str>,
    left: usize,
}

impl<'a> Words<'a> {
    /// Splits the text behind a verb, or returns `None` if it has too few words, or any and none is wanted.
    #[must_use]
    pub fn of(rest: Option<&'a str>, arguments: &[&str], optional: &[&str]) -> Option<Self> {
        let left = arguments.len();
        let found = rest.map_or(0, |rest| rest.splitn(left.max(1), ' ').count());
        let required = left.saturating_sub(optional.len());
        (required..=left).contains(&found).then_some(Self { rest, left })
    }

    /// Reads the next argument; without a word for it, it is the default.
    ///
    /// # Errors
    /// [`Malformed`] when its word is none of its values.
    pub fn read<T: Argument, const N: usize>(&mut self, default: [T; N]) -> Result<T, Malformed> {
        let Some(rest) = self.rest else {
            return default.into_iter().next().ok_or_else(|| Malformed::expected("an argument", ""));
        };
        let (word, after) = if self.left > 1 { split_verb(rest) } else { (rest, None) };
        (self.rest, self.left) = (after, self.left.saturating_sub(1));
        T::read(word)
    }
}

/// Declares the effects of a ruleset: an enum with `Display`, such as `moved unit=a to=1,2`, and the JSON
/// `{"effect": "moved", "unit": "a", "to": "1,2"}`.
///
/// Values are written by `Display`; lists are joined by `|`, an absent value is `none`, and a `String` is quoted.
///
/// ```
/// use turnfold_core::Seat;
/// use turnfold_core::declare::effects;
///
/// effects! {
///     enum Effect {
///         Taken { count: u8, heap: u8 },
///         TurnEnded { next: Option<Seat> },
///         Passed,
///     }
/// }
///
/// assert_eq!(Effect::Taken { count: 2, heap: 1 }.to_string(), "taken count=2 heap=1");
/// assert_eq!(Effect::TurnEnded { next: None }.to_string(), "turn_ended next=none");
/// assert_eq!(Effect::Passed.to_string(), "passed");
/// ```
#[macro_export]
macro_rules! effects {
    ($(#[$docs:meta])* $vis:vis enum $name:ident {
        $($(#[$doc:meta])* $effect:ident $({ $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)? })?),+ $(,)?
    }) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, ::serde::Serialize)]
        #[serde(tag = "effect", rename_all = "snake_case")]
        $vis enum $name {
            $($(#[$doc])* $effect $({ $($(#[$attribute])* $field: $type),+ })?,)+
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_imports, reason = "some values have a text of their own")]
                use $crate::declare::DisplayedValue as _;
                match self {
                    $(Self::$effect $({ $($field),+ })? => {
                        $crate::declare::write_snake_case(out, stringify!($effect))?;
                        $($(
                            out.write_str(concat!(" ", stringify!($field), "="))?;
                            $crate::declare::EffectValue($field).write(out)?;
                        )+)?
                        Ok(())
                    })+
                }
            }
        }
    };
}

/// Writes the name of a variant as serde does.
#[doc(hidden)]
pub fn write_snake_case(out: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    for (index, character) in name.char_indices() {
        if character.is_ascii_uppercase() && index > 0 {
            out.write_char('_')?;
        }
        out.write_char(character.to_ascii_lowercase())?;
    }
    Ok(())
}

/// A value of an effect. Its own methods, for types that are not written by `Display` alone, come before the trait's.
#[doc(hidden)]
#[derive(Debug)]
pub struct EffectValue<'a, T>(pub &'a T);

impl<T: Display> EffectValue<'_, Vec<T>> {
    #[doc(hidden)]
    pub fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Joined(self.0).fmt(out)
    }
}

impl<T: Display> EffectValue<'_, Option<T>> {
    #[doc(hidden)]
    pub fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        OrNone(self.0.as_ref()).fmt(out)
    }
}

impl EffectValue<'_, String> {
    #[doc(hidden)]
    pub fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Quoted(self.0).fmt(out)
    }
}

#[doc(hidden)]
pub trait DisplayedValue {
    #[doc(hidden)]
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Display> DisplayedValue for EffectValue<'_, T> {
    fn write(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}
