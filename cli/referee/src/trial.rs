//! Trials in a state, which can return to states that were kept.

use turnfold_core::any::{AnyState, AnyTrial, Logged};
use turnfold_core::{CommandSource, DicePolicy, Malformed, Seat};

use crate::state::RefereeState;

pub(crate) struct Trial {
    state: RefereeState,
    commands: Vec<(Seat, String)>,
    kept: Vec<Option<RefereeState>>,
    free: Vec<usize>,
}

impl Trial {
    pub(crate) fn new(state: RefereeState) -> Self {
        Self { state, commands: Vec::new(), kept: Vec::new(), free: Vec::new() }
    }
}

impl AnyTrial for Trial {
    fn read(&mut self, seat: Seat, command: &str) -> Result<usize, Malformed> {
        self.commands.push((seat, self.state.referee.canonical(command)?));
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
        matches!(self.kept.get(kept), Some(Some(state)) if state.now.state.hashed() == self.state.now.state.hashed())
    }

    fn forget(&mut self, kept: usize) {
        if self.kept.get_mut(kept).and_then(Option::take).is_some() {
            self.free.push(kept);
        }
    }
}
