//! What can be looked for along a history.

use std::mem;

use serde_json::Value;
use turnfold_core::{AnyState, Step};

use super::shown_entry::ShownEntry;
use crate::search::condition::{Condition, Survey};
use crate::viewer::Viewer;

/// Something that entries are asked for one after another.
pub(super) trait Wanted {
    /// Begins with a state; the entries that follow it are asked next.
    fn begin(&mut self, state: &dyn AnyState) {
        let _ = state;
    }

    /// Returns `true` if the entry is wanted.
    fn is(&mut self, seq: u64, step: &dyn Step) -> bool;
}

/// An entry whose command or outcome has a text in it, in lowercase.
pub(super) struct With<'a>(pub(super) &'a str);

impl Wanted for With<'_> {
    fn is(&mut self, seq: u64, step: &dyn Step) -> bool {
        ShownEntry::of(seq, step).contains(self.0)
    }
}

/// An entry that makes a condition true.
pub(super) struct Holding<'a> {
    pub(super) condition: &'a Condition,
    pub(super) viewer: Viewer,
    pub(super) held: bool,
    pub(super) survey: Survey,
}

impl Wanted for Holding<'_> {
    fn begin(&mut self, state: &dyn AnyState) {
        self.held = self.condition.ask(&|path| self.viewer.field(state, path), &mut self.survey);
    }

    fn is(&mut self, _: u64, step: &dyn Step) -> bool {
        let seat = self.viewer.seat();
        let holds = self.condition.ask(&|path| step.view_at(seat, path), &mut self.survey);
        !mem::replace(&mut self.held, holds) && holds
    }
}

/// An entry that changes the field at a path.
pub(super) struct Changing<'a> {
    pub(super) path: &'a str,
    pub(super) viewer: Viewer,
    pub(super) value: Option<Value>,
}

impl Wanted for Changing<'_> {
    fn begin(&mut self, state: &dyn AnyState) {
        self.value = self.viewer.field(state, self.path);
    }

    fn is(&mut self, _: u64, step: &dyn Step) -> bool {
        let new = step.view_at(self.viewer.seat(), self.path);
        let is_changed = new != self.value;
        self.value = new;
        is_changed
    }
}
