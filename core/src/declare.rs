//! Macros for what every game repeats: the text of its commands and of its effects.
//!
//! [`commands!`](crate::commands) writes `Display` and `FromStr` of a command from a table of its forms, and can also
//! declare the command. [`effects!`](crate::effects) declares an effect with its text and JSON, and
//! [`reasons!`](crate::reasons) declares the reasons and rejections of a ruleset.

use core::fmt::{self, Display, Write};

use alloc::string::String;
use alloc::vec::Vec;

use crate::text::{Joined, OrNone, Quoted};

mod arguments;

pub use crate::{arguments, commands, effects, reasons};
pub use arguments::{Argument, Words, write_argument};

/// Writes `Display` and `FromStr` of a command from its type and the forms that an error names, then the verb and the
/// arguments of each variant. Each argument is one word, but the last takes the rest of the text. `or VALUE` after an
/// argument makes it optional: this value is not written.
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
///
/// It can also declare the command, with everything that commands derive. The order of the forms is then part of the
/// log format. After `else` comes a command without a verb, whose text is the text of its value.
///
/// ```
/// use turnfold_core::declare::commands;
///
/// commands! {
///     /// An input of the match.
///     enum Command, "a number, `take COUNT` or `resign`" {
///         /// Takes stones.
///         "take" => Take(count: u8),
///         /// Gives up.
///         "resign" => Resign,
///     } else {
///         /// Names a number.
///         Number(number: i32)
///     }
/// }
///
/// for (text, command) in [("take 3", Command::Take(3)), ("resign", Command::Resign), ("-7", Command::Number(-7))] {
///     assert_eq!(text.parse(), Ok(command.clone()));
///     assert_eq!(command.to_string(), text);
/// }
/// for text in ["take", "07", "+7", "resign 7", ""] {
///     assert!(text.parse::<Command>().is_err(), "{text:?}");
/// }
/// ```
#[macro_export]
macro_rules! commands {
    ($(#[$docs:meta])* $vis:vis enum $command:ident, $forms:literal {
        $($(#[$doc:meta])* $verb:literal => $variant:ident
            $(($($(#[$item_attribute:meta])* $item:ident: $item_type:ty $(= $item_default:expr)?),+))?
            $({ $($(#[$attribute:meta])* $field:ident: $field_type:ty $(= $default:expr)?),+ $(,)? })?),+ $(,)?
    } $(else {
        $(#[$whole_doc:meta])* $whole:ident($(#[$whole_attribute:meta])* $value:ident: $whole_type:ty)
    })?) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $command {
            $($(#[$doc])* $variant
                $(($($(#[$item_attribute])* $item_type),+))?
                $({ $($(#[$attribute])* $field: $field_type),+ })?,)+
            $($(#[$whole_doc])* $whole($(#[$whole_attribute])* $whole_type),)?
        }

        $crate::commands! {
            $command, $forms;
            $($verb => $command::$variant
                $(($($item $(or $item_default)?),+))?
                $({ $($field $(or $default)?),+ })?),+;
            $(_ => $command::$whole($value))?
        }
    };
    ($command:ty, $forms:expr; $($verb:literal => $type:ident $(:: $variant:ident)?
        $(($($item:ident $(or $item_default:expr)?),+))?
        $({ $($field:ident $(or $field_default:expr)?),+ })?),+ $(,)?
        $(; $(_ => $whole_type:ident::$whole:ident($value:ident))?)?) => {
        impl ::core::fmt::Display for $command {
            fn fmt(&self, out: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match self {
                    $($type $(:: $variant)? $(($($item),+))? $({ $($field),+ })? => {
                        out.write_str($verb)?;
                        $($($crate::declare::write_argument(out, $item, &[$($item_default)?])?;)+)?
                        $($($crate::declare::write_argument(out, $field, &[$($field_default)?])?;)+)?
                        Ok(())
                    })+
                    $($($whole_type::$whole($value) => ::core::fmt::Display::fmt($value, out),)?)?
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
                $($(if let Some($value) = $crate::text::canonical(text) {
                    return Ok($whole_type::$whole($value));
                })?)?
                Err($crate::Malformed::expected($forms, text))
            }
        }
    };
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

/// A value of an effect. Its own methods, for types not written by `Display` alone, precede the trait's.
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
