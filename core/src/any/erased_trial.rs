//! Trials: commands are read once and folded in many orders.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{AnyState, AnyTrial};
use crate::fold::Folder;
use crate::rules::Rules;
use crate::seat::Seat;
use crate::text::Malformed;

/// The one implementation of the erased trait.
struct Trial<R: Rules> {
    folder: Folder<R>,
    commands: Vec<(Seat, R::Command)>,
    /// Kept states by their numbers, each with the number of rolls before it.
    kept: Vec<Option<(R::State, u64)>>,
    /// Numbers that are free again.
    free: Vec<usize>,
}

pub(super) fn trial<R: Rules>(state: R::State, rolls: u64) -> Box<dyn AnyTrial> {
    let folder = Folder::<R>::new(state, rolls);
    Box::new(Trial { folder, commands: Vec::new(), kept: Vec::new(), free: Vec::new() })
}

impl<R: Rules> AnyTrial for Trial<R> {
    fn read(&mut self, seat: Seat, command: &str) -> Result<usize, Malformed> {
        self.commands.push((seat, command.parse()?));
        Ok(self.commands.len() - 1)
    }

    fn fold(&mut self, command: usize) -> bool {
        let Some((seat, command)) = self.commands.get(command) else { return false };
        let applied = R::apply(&mut self.folder.state, *seat, command, &mut ());
        self.folder.count(applied.as_ref().ok(), command);
        applied.is_ok()
    }

    fn state(&self) -> &dyn AnyState {
        &self.folder
    }

    fn keep(&mut self) -> usize {
        let number = self.free.pop().unwrap_or(self.kept.len());
        let state = Some((self.folder.state.clone(), self.folder.rolls));
        match self.kept.get_mut(number) {
            Some(slot) => *slot = state,
            None => self.kept.push(state),
        }
        number
    }

    fn go_back(&mut self, kept: usize) {
        if let Some(Some((state, rolls))) = self.kept.get(kept) {
            self.folder.state.clone_from(state);
            self.folder.rolls = *rolls;
        }
    }

    fn is_at(&self, kept: usize) -> bool {
        matches!(self.kept.get(kept), Some(Some((state, _))) if *state == self.folder.state)
    }

    fn forget(&mut self, kept: usize) {
        if self.kept.get_mut(kept).and_then(Option::take).is_some() {
            self.free.push(kept);
        }
    }
}
