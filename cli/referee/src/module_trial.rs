//! Trials under a module.

use turnfold_core::any::{AnyState, AnyTrial, Logged};
use turnfold_core::{CommandSource, DicePolicy, Malformed, Seat};

use crate::instance::Budget;
use crate::state::ModuleState;
use turnfold_guest::message::Canonical;

/// A state in which many logs are tried.
pub(crate) struct ModuleTrial {
    state: ModuleState,
    commands: Vec<(Seat, String)>,
    /// Kept states by their numbers.
    kept: Vec<Option<ModuleState>>,
    /// Numbers that are free again.
    free: Vec<usize>,
}

impl ModuleTrial {
    pub(crate) fn new(state: ModuleState) -> Self {
        Self { state, commands: Vec::new(), kept: Vec::new(), free: Vec::new() }
    }
}

impl AnyTrial for ModuleTrial {
    fn read(&mut self, seat: Seat, command: &str) -> Result<usize, Malformed> {
        let text = self.state.module.ask(Canonical { command: command.into() }, Budget::CALL.wider())?;
        self.commands.push((seat, text));
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
        matches!(self.kept.get(kept), Some(Some(state)) if state.bytes == self.state.bytes)
    }

    fn forget(&mut self, kept: usize) {
        if self.kept.get_mut(kept).and_then(Option::take).is_some() {
            self.free.push(kept);
        }
    }
}
