//! A command of a log that is being shrunk.

use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

/// A command and the seat that gives it.
///
/// It stays text, which each fold reads again: arguments are made simpler in it without knowing any grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) seat: Seat,
    pub(super) command: String,
}

impl Given {
    /// Folds the command into the state; returns `true` if the rules accept it.
    pub(super) fn fold(&self, state: &mut dyn AnyState) -> bool {
        // Recorded dice do not depend on an entry's number, so all may have the same.
        let entry = Logged { seq: 1, seat: self.seat, command: CommandSource::Text(&self.command) };
        state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).is_ok()
    }
}
