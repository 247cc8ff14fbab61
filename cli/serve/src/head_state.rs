//! The head state of a branch: its state at the head, and what viewers see of it (SV-27).

use std::collections::BTreeMap;

use bytes::Bytes;
use turnfold_core::AnyState;
use turnfold_history::Viewer;
use turnfold_history::session::play::PlayPosition;

use crate::http::json_text;
use crate::memory::{Memory, MemoryShare, state_memory};
use crate::tag::tag_of;

/// What a view takes in memory in addition to its text.
const VIEW_BYTES: u64 = 256;

/// The position at the head of a branch, with cached views.
pub(crate) struct HeadState {
    pub(crate) position: PlayPosition,
    /// The estimated memory of the state.
    pub(crate) state_bytes: u64,
    /// The views that were asked for.
    pub(crate) shown: BTreeMap<Viewer, CachedView>,
    share: MemoryShare,
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
    pub(crate) fn new(position: PlayPosition, memory: &Memory) -> Self {
        let state_bytes = state_memory(position.state.state_bytes().len() as u64);
        Self { position, state_bytes, shown: BTreeMap::new(), share: memory.share(state_bytes) }
    }

    /// Returns what a viewer sees at the head.
    pub(crate) fn shown(&mut self, viewer: Viewer) -> CachedView {
        if let Some(shown) = self.shown.get(&viewer) {
            return shown.clone();
        }
        let shown = CachedView::of(viewer, self.position.state.as_ref());
        self.share.set(self.share.bytes + shown.json.len() as u64 + VIEW_BYTES);
        self.shown.insert(viewer, shown.clone());
        shown
    }

    /// Returns a copy of the position, and what a viewer sees there.
    pub(crate) fn played_by(&mut self, viewer: Viewer) -> (PlayPosition, CachedView) {
        let shown = self.shown(viewer);
        (self.position.fork(), shown)
    }
}
