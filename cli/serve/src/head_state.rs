//! The head state of a branch: its state at the head, and what viewers see of it (SV-27).

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use turnfold_core::AnyState;
use turnfold_history::Viewer;
use turnfold_history::session::play::PlayPosition;

use crate::http::json_text;
use crate::knowledge::Delta;
use crate::memory::{BRANCH_BYTES, Memory, MemoryShare, state_memory};
use crate::tag::tag_of;

/// What a view takes in memory in addition to its text.
const VIEW_BYTES: u64 = 256;

/// The position at the head of a branch, with cached views.
pub(crate) struct HeadState {
    pub(crate) position: PlayPosition,
    /// How many bytes the state has.
    pub(crate) bytes: u64,
    /// The views that were asked for.
    pub(crate) shown: BTreeMap<Viewer, CachedView>,
}

/// A view as responses contain it, and its tag.
#[derive(Clone, Debug)]
pub(crate) struct CachedView {
    /// What `show --format json` prints.
    pub(crate) json: Bytes,
    pub(crate) tag: String,
}

impl CachedView {
    pub(crate) fn of(viewer: Viewer, state: &dyn AnyState) -> Self {
        let json = json_text(&viewer.view_json(state));
        let tag = tag_of(viewer, json.trim_end());
        Self { json: json.into(), tag }
    }
}

impl HeadState {
    pub(crate) fn new(position: PlayPosition) -> Self {
        let bytes = position.state.state_bytes().len() as u64;
        Self { position, bytes, shown: BTreeMap::new() }
    }

    /// Returns the estimated bytes in memory.
    pub(crate) fn memory(&self) -> u64 {
        let shown = self.shown.values().map(|shown| shown.json.len() as u64 + VIEW_BYTES);
        state_memory(self.bytes) + shown.sum::<u64>()
    }

    /// Returns what a viewer sees at the head.
    pub(crate) fn shown(&mut self, viewer: Viewer) -> CachedView {
        let Self { position, shown, .. } = self;
        shown.entry(viewer).or_insert_with(|| CachedView::of(viewer, position.state.as_ref())).clone()
    }

    /// Returns a copy of the position, and what a viewer sees there.
    pub(crate) fn played_by(&mut self, viewer: Viewer) -> (PlayPosition, CachedView) {
        let shown = self.shown(viewer);
        (self.position.fork(), shown)
    }
}

/// What is in memory about the head of a branch. Its lock is held only for moments.
pub(crate) struct KeptHead {
    pub(crate) current: Option<HeadState>,
    /// What is new to viewers after an earlier head, for other followers.
    deltas: BTreeMap<(Viewer, u64), Arc<Delta>>,
    delta_bytes: u64,
    /// Whether the last commands were judged quickly.
    pub(crate) is_judged_quickly: bool,
    /// Whether the match was on this branch and left it (SV-65); `None` if that is not known.
    pub(crate) is_left: Option<bool>,
    /// How often the head state was forgotten. A state that was being read at that time is not kept.
    pub(crate) forgotten: u64,
    share: MemoryShare,
}

/// The most deltas to keep. Clients that follow closely ask for the same few.
const DELTAS_MAX: usize = 256;

impl KeptHead {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self {
            current: None,
            deltas: BTreeMap::new(),
            delta_bytes: 0,
            is_judged_quickly: false,
            is_left: None,
            forgotten: 0,
            share: memory.share(BRANCH_BYTES),
        }
    }

    /// Returns the head state, if its head is `head` or a later one.
    pub(crate) fn at(&mut self, head: u64) -> Option<&mut HeadState> {
        self.current.as_mut().filter(|current| current.position.head >= head)
    }

    pub(crate) fn forget(&mut self) {
        self.current = None;
        self.drop_deltas();
    }

    pub(crate) fn drop_deltas(&mut self) {
        self.deltas.clear();
        self.delta_bytes = 0;
        self.count();
    }

    /// Returns what is new to a viewer after one head, up to another, if that is kept.
    pub(crate) fn delta(&self, viewer: Viewer, from: u64, to: u64) -> Option<Arc<Delta>> {
        self.deltas.get(&(viewer, from)).filter(|delta| delta.to == to).cloned()
    }

    pub(crate) fn keep_delta(&mut self, viewer: Viewer, from: u64, delta: &Arc<Delta>) {
        if self.deltas.len() >= DELTAS_MAX {
            self.drop_deltas();
        }
        let before = self.deltas.insert((viewer, from), Arc::clone(delta));
        self.delta_bytes = (self.delta_bytes + delta.bytes()) - before.map_or(0, |before| before.bytes());
        self.count();
    }

    /// Counts the memory that is held now.
    pub(crate) fn count(&mut self) {
        let state = self.current.as_ref().map_or(0, HeadState::memory);
        self.share.set(BRANCH_BYTES + state + self.delta_bytes);
    }
}
