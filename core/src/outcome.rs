//! Verdicts and outcomes of commands, the reasons for them, and sinks for effects.

use core::convert::Infallible;
use core::fmt::{self, Debug, Display};
use core::str::FromStr;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use crate::effects::Effects;

/// The outcome of a command, in the words of replay files and records.
///
/// `Display` and `FromStr` are exact inverses: the effects joined by `; ` (or `applied` if none is visible),
/// `ignored CODE`, `rejected CODE`. Serde writes and reads the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was carried out and had these effects; those that the viewer may not know of are left out.
    Applied(Effects),
    /// It was recorded and changed nothing, for the reason with this name.
    Ignored(Code),
    /// It was not accepted, by the rejection with this name.
    Rejected(Code),
}

impl Outcome {
    /// Returns the outcome's kind: `applied`, `ignored` or `rejected`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Applied(_) => "applied",
            Self::Ignored(_) => "ignored",
            Self::Rejected(_) => "rejected",
        }
    }

    /// Returns the name of the reason or rejection, or `None` if the command was applied.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Applied(_) => None,
            Self::Ignored(code) | Self::Rejected(code) => Some(code.as_str()),
        }
    }

    /// Returns the text of each effect, in order of happening.
    pub fn effects(&self) -> impl Iterator<Item = &str> {
        let effects = if let Self::Applied(effects) = self { Some(effects) } else { None };
        effects.into_iter().flat_map(Effects::iter)
    }
}

impl Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied(effects) if effects.is_empty() => out.write_str("applied"),
            Self::Applied(effects) => write!(out, "{effects}"),
            Self::Ignored(code) => write!(out, "ignored {code}"),
            Self::Rejected(code) => write!(out, "rejected {code}"),
        }
    }
}

/// Text that is not an outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected effects, `applied`, `ignored CODE` or `rejected CODE`, found `{0}`")]
pub struct NotAnOutcome(String);

impl FromStr for Outcome {
    type Err = NotAnOutcome;

    fn from_str(text: &str) -> Result<Self, NotAnOutcome> {
        let read = match text.split_once(' ') {
            None if text == "applied" => Some(Self::Applied(Effects::default())),
            Some(("ignored", code)) => Code::read(code).map(Self::Ignored),
            Some(("rejected", code)) => Code::read(code).map(Self::Rejected),
            _ => Effects::read(text).map(Self::Applied),
        };
        read.ok_or_else(|| NotAnOutcome(format!("{}", text.escape_debug())))
    }
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The outcome of a command that was not accepted.
impl From<&Rejected> for Outcome {
    fn from(rejected: &Rejected) -> Self {
        Self::Rejected(rejected.code.clone())
    }
}

/// The outcome that a command would have, without effects: they are known only when it is carried out.
impl From<&Result<Verdict, Rejected>> for Outcome {
    fn from(judged: &Result<Verdict, Rejected>) -> Self {
        match judged {
            Ok(verdict) => Self::of(verdict.clone(), Effects::default),
            Err(rejected) => rejected.into(),
        }
    }
}

impl Outcome {
    /// Returns the outcome of a command that was accepted.
    pub(crate) fn of(verdict: Verdict, effects: impl FnOnce() -> Effects) -> Self {
        match verdict {
            Verdict::Applied(()) => Self::Applied(effects()),
            Verdict::Ignored(why) => Self::Ignored(why.code),
        }
    }
}

/// The name of a reason or rejection: one word, such as `no_unit`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads a name; `None` if the text is not one word.
    #[must_use]
    pub fn read(word: &str) -> Option<Self> {
        if word.is_empty() || word.contains(|letter: char| letter.is_control() || letter.is_whitespace()) {
            return None;
        }
        Some(Self(Cow::Owned(word.into())))
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<str>::deserialize(deserializer)?;
        Self::read(&word).ok_or_else(|| serde::de::Error::custom("expected a name of one word"))
    }
}

impl From<&'static str> for Code {
    fn from(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, name: &&str) -> bool {
        self.0 == *name
    }
}

impl Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A command that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[error("{message}")]
pub struct Rejected {
    /// The rejection's name.
    pub code: Code,
    /// What is wrong, for the player.
    pub message: String,
}

impl Rejected {
    /// Returns a rejection by its name, with a message for the player.
    #[must_use]
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// Why a command changes nothing, without the ruleset's own types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhyIgnored {
    /// The reason's name.
    pub code: Code,
    /// The text for the player, if there is one.
    pub text: Option<Cow<'static, str>>,
}

impl<I: Ruled> From<I> for WhyIgnored {
    fn from(reason: I) -> Self {
        let Ruling { code, text, .. } = reason.ruling();
        Self { code: code.into(), text: text.map(Cow::Borrowed) }
    }
}

/// The decision of the rules about an accepted command, with a ruleset's own plan and reason, or without them for a
/// ruleset known only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict<P = (), I = WhyIgnored> {
    /// The rules act on the command as planned.
    Applied(P),
    /// The rules do nothing, for this reason. The command is still recorded.
    Ignored(I),
}

impl<I: Ruled> Verdict<(), I> {
    /// Returns the verdict without the ruleset's own types.
    pub(crate) fn erase(self) -> Verdict {
        match self {
            Self::Applied(()) => Verdict::Applied(()),
            Self::Ignored(reason) => Verdict::Ignored(reason.into()),
        }
    }
}

/// The plan of a command that is carried out, or the reason why it changes nothing.
impl<P, I> From<Result<P, I>> for Verdict<P, I> {
    fn from(planned: Result<P, I>) -> Self {
        match planned {
            Ok(plan) => Self::Applied(plan),
            Err(reason) => Self::Ignored(reason),
        }
    }
}

/// Why a ruleset ignores a command or does not accept it; one variant for each reason of the ruling.
pub trait Ruled: Copy + Eq + Debug + 'static {
    /// Every reason.
    const ALL: &'static [Self];

    /// Returns the name, the rule ids and the text of the reason.
    fn ruling(self) -> Ruling;
}

/// The name, the rule ids and the text of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The reason's name in `snake_case`.
    pub code: &'static str,
    /// The ids of the rules that have this reason, such as `CT-6`.
    pub rules: &'static [&'static str],
    /// The text for the player, if there is one.
    pub text: Option<&'static str>,
}

impl Ruling {
    /// Returns a ruling without a text for the player.
    #[must_use]
    pub const fn of(code: &'static str, rules: &'static [&'static str]) -> Self {
        Self { code, rules, text: None }
    }

    /// Returns the ruling with a text for the player.
    #[must_use]
    pub const fn says(self, text: &'static str) -> Self {
        Self { text: Some(text), ..self }
    }
}

/// Declares the reasons or rejections of a ruleset, each with its code, its rule ids and its message.
///
/// ```
/// use turnfold_core::outcome::{Ruled, Ruling, reasons};
///
/// reasons! {
///     enum Rejection {
///         /// NI-1: the other player is to take.
///         NotYourTurn = Ruling::of("not_your_turn", &["NI-1"]).says("the other player is to take"),
///     }
/// }
///
/// assert_eq!(Rejection::NotYourTurn.ruling().code, "not_your_turn");
/// ```
#[macro_export]
macro_rules! reasons {
    ($(#[$docs:meta])* $vis:vis enum $name:ident { $($(#[$doc:meta])* $reason:ident = $ruling:expr,)* }) => {
        $(#[$docs])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[$doc])* $reason,)*
        }

        impl $crate::outcome::Ruled for $name {
            const ALL: &'static [Self] = &[$(Self::$reason),*];

            fn ruling(self) -> $crate::outcome::Ruling {
                match self {
                    $(Self::$reason => $ruling,)*
                }
            }
        }
    };
}

pub use crate::reasons;

/// The reason of rulesets that never have one.
impl Ruled for Infallible {
    const ALL: &'static [Self] = &[];

    fn ruling(self) -> Ruling {
        match self {}
    }
}

/// Writes the text of an effect as words: `moved unit=2 from=0,1` becomes `Moved, unit 2, from 0,1.`
pub(crate) fn effect_in_words(effect: &str) -> String {
    let mut words = String::new();
    for word in effect.split(' ') {
        match word.split_once('=') {
            Some((name, value)) => words.extend([", ", &name.replace('_', " "), " ", value]),
            None if words.is_empty() => words.push_str(&word.replace('_', " ")),
            None => words.extend([" ", word]),
        }
    }
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words + "."
}

/// Writes why a command was ignored.
pub(crate) fn reason_in_words(why: &WhyIgnored) -> String {
    format!("Nothing changed: {}.", why.text.as_deref().unwrap_or(why.code.as_str()))
}

/// Receives effects as they happen.
pub trait EffectSink<E> {
    /// Receives the effect that `make` makes; a sink that drops effects does not call it.
    fn push(&mut self, make: impl FnOnce() -> E);
}

impl<E> EffectSink<E> for Vec<E> {
    fn push(&mut self, make: impl FnOnce() -> E) {
        Self::push(self, make());
    }
}

/// Ignores every effect, without making it.
impl<E> EffectSink<E> for () {
    fn push(&mut self, _make: impl FnOnce() -> E) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn check(text: &str, kind: &str, code: Option<&str>, effects: &[&str]) {
        let outcome: Outcome = text.parse().unwrap();
        assert_eq!(outcome.to_string(), text);
        assert_eq!((outcome.kind(), outcome.code()), (kind, code), "{text}");
        assert_eq!(outcome.effects().collect::<Vec<_>>(), effects, "{text}");
    }

    #[test]
    fn outcomes_read_back_from_their_text() {
        check("applied", "applied", None, &[]);
        check("ignored no_unit", "ignored", Some("no_unit"), &[]);
        check("rejected not_your_turn", "rejected", Some("not_your_turn"), &[]);
        check("moved unit=a to=1,2; ended", "applied", None, &["moved unit=a to=1,2", "ended"]);
        check(r#"said text="a; \"b; c\\"; x"#, "applied", None, &[r#"said text="a; \"b; c\\""#, "x"]);
        check("a;b", "applied", None, &["a;b"]);
        check("a;; b", "applied", None, &["a;", "b"]);
    }

    #[test]
    fn other_text_is_no_outcome() {
        for text in [
            "",
            " ",
            "a; ",
            "; a",
            " a",
            "a;  b",
            "a\nb",
            "said text=\"a",
            "applied x",
            "applied; x",
            "x; ignored y",
            "ignored",
            "ignored ",
            "ignored a b",
            "rejected",
            "rejected a\tb",
        ] {
            assert!(text.parse::<Outcome>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn outcomes_are_strings_in_json() {
        let outcome: Outcome = serde_json::from_str(r#""said text=\"a\"; x""#).unwrap();
        assert_eq!(serde_json::to_string(&outcome).unwrap(), r#""said text=\"a\"; x""#);
        assert!(serde_json::from_str::<Outcome>(r#""a; ""#).is_err());
    }
}
