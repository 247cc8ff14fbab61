//! What becomes of a command that is accepted, the reasons of the rulings, and where effects go.

use core::convert::Infallible;
use core::fmt::Debug;

use alloc::vec::Vec;

/// The answer of a ruleset's `judge` to a command it accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<P, I> {
    /// The rules act on the command as planned.
    Applied(P),
    /// The rules answer with nothing, for this reason. Recorded all the same.
    Ignored(I),
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

/// What a recorded command did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<I> {
    /// It was carried out; its effects went to the sink.
    Applied,
    /// It changed nothing, for this reason.
    Ignored(I),
}

/// Why a ruleset ignores a command or does not accept it; one variant for each reason of the ruling.
pub trait Reason: Copy + Eq + Debug + 'static {
    /// Every reason.
    const ALL: &'static [Self];

    /// Returns what the ruling says of the reason.
    fn ruling(self) -> Ruling;
}

/// What a ruling says of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The reason's name in `snake_case`.
    pub code: &'static str,
    /// The ids of the rules that have this reason, such as `CT-6`.
    pub rules: &'static [&'static str],
    /// The text for the player, where there is one.
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

/// The reason of rulesets that never have one.
impl Reason for Infallible {
    const ALL: &'static [Self] = &[];

    fn ruling(self) -> Ruling {
        match self {}
    }
}

/// Receives effects as they happen.
pub trait EffectSink<E> {
    /// Takes the effect that `make` makes; a sink that wants none does not call it.
    fn push(&mut self, make: impl FnOnce() -> E);
}

impl<E> EffectSink<E> for Vec<E> {
    fn push(&mut self, make: impl FnOnce() -> E) {
        Self::push(self, make());
    }
}

/// Drops every effect unmade.
impl<E> EffectSink<E> for () {
    fn push(&mut self, _make: impl FnOnce() -> E) {}
}
