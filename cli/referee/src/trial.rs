//! Trials in a state that is a value: logs are tried in it, and it goes back to states that were kept.

use turnfold_core::any::{AnyState, AnyTrial, Logged};
use turnfold_core::{CommandSource, DicePolicy, Malformed, Seat};

/// A state in which logs are tried.
pub(crate) trait Tried: AnyState + Clone {
    /// Returns the canonical text of a command.
    fn read_command(&self, text: &str) -> Result<String, Malformed>;

    /// Returns `true` for the same state.
    fn is_same(&self, other: &Self) -> bool;
}

pub(crate) struct Trial<S> {
    state: S,
    commands: Vec<(Seat, String)>,
    /// Kept states by their numbers.
    kept: Vec<Option<S>>,
    /// Numbers that are free again.
    free: Vec<usize>,
}

impl<S: Tried> Trial<S> {
    pub(crate) fn new(state: S) -> Self {
        Self { state, commands: Vec::new(), kept: Vec::new(), free: Vec::new() }
    }
}

impl<S: Tried> AnyTrial for Trial<S> {
    fn read(&mut self, seat: Seat, command: &str) -> Result<usize, Malformed> {
        self.commands.push((seat, self.state.read_command(command)?));
        Ok(self.commands.len() - 1)
    }

    fn fold(&mut self, command: usize) -> bool {
        let Some((seat, text)) = self.commands.get(command) else { return false };
        let entry = Logged { seq: 1, seat: *seat, command: CommandSource::Text(text) };
        self.state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).is_ok()
    }

    fn state(&self) -> &dyn AnyState {
        &self.state
    }

    fn keep(&mut self) -> usize {
        let number = self.free.pop().unwrap_or(self.kept.len());
        let state = Some(self.state.clone());
        match self.kept.get_mut(number) {
            Some(slot) => *slot = state,
            None => self.kept.push(state),
        }
        number
    }

    fn go_back(&mut self, kept: usize) {
        if let Some(Some(state)) = self.kept.get(kept) {
            self.state.clone_from(state);
        }
    }

    fn is_at(&self, kept: usize) -> bool {
        matches!(self.kept.get(kept), Some(Some(state)) if state.is_same(&self.state))
    }

    fn forget(&mut self, kept: usize) {
        if self.kept.get_mut(kept).and_then(Option::take).is_some() {
            self.free.push(kept);
        }
    }
}
