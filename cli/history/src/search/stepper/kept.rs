//! Keeps states along a history (VW-8).

use std::collections::BTreeMap;

use turnfold_core::AnyState;

/// The most states that are kept. Beyond it, every second one is dropped.
pub(super) const KEPT_MAX: usize = 64;

const STRIDE: u64 = 256;

pub(super) struct KeptStates {
    states: BTreeMap<u64, Box<dyn AnyState>>,
    /// The number of entries between two states.
    pub(super) stride: u64,
}

impl KeptStates {
    pub(super) fn new(start: &dyn AnyState) -> Self {
        Self { states: BTreeMap::from([(0, start.fork())]), stride: STRIDE }
    }

    pub(super) fn nearest(&self, count: u64) -> Option<(u64, &dyn AnyState)> {
        self.states.range(..=count).next_back().map(|(kept, state)| (*kept, state.as_ref()))
    }

    pub(super) fn keep(&mut self, count: u64, state: &dyn AnyState) {
        if !count.is_multiple_of(self.stride) || self.states.contains_key(&count) {
            return;
        }
        self.states.insert(count, state.fork());
        if self.states.len() > KEPT_MAX {
            self.stride *= 2;
            self.states.retain(|kept, _| kept.is_multiple_of(self.stride));
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}
