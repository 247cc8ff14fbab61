//! Replay files with only what a viewer may know.

use std::path::Path;

use serde_json::Value;

use super::SeatHistory;
use crate::error::ReplayError;
use crate::history::History;
use crate::history::entry::LogEntry;
use crate::history::source::HistorySource;
use crate::input::Limits;
use crate::tfl::{Replay, ReplayLine};
use crate::viewer::Viewer;

impl SeatHistory {
    /// Returns what the viewer may know as a replay. The host gets every outcome and hash. A player's replay has no
    /// seed, hashes or closing line; it has the entries that the player may know of and a setup without secrets. The
    /// rules derive from these what the player sees.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold), [`ReplayError::TooLong`], and [`ReplayError::NotSeparable`] if the rules show the
    /// player something else without the concealed rest.
    pub fn to_replay(&self) -> Result<Replay, ReplayError> {
        if self.viewer.sees_all() {
            return self.source.until(self.source.head)?.to_replay();
        }
        if self.head() > Limits::REPLAY_ENTRIES_MAX as u64 {
            return Err(ReplayError::TooLong { history: self.name().clone() });
        }
        let Self { viewer, source: HistorySource { history, .. }, .. } = self;
        let name = self.name();
        let mut lines = Vec::new();
        let state = self.fold(&mut |seen| {
            // At an earlier entry, some that the viewer knows later are still concealed, and a file has no gaps.
            let entry = LogEntry::new(lines.len() as u64 + 1, seen.seat(), seen.stand_in());
            lines.push(ReplayLine::Entry(LogEntry { outcome: Some(seen.outcome()), ..entry }));
        })?;
        let not_separable = ReplayError::NotSeparable {
            history: name.clone(),
            viewer: *viewer,
            rules: history.rules.name().into(),
        };
        // A referee cannot tell which parts of a setup a seat may know (RF-13).
        let Ok(setup) = state.setup_seen(&history.setup, viewer.perspective()) else {
            return Err(not_separable);
        };
        let view = Some(viewer.perspective());
        let composed = Replay::compose(&name.to_string(), history.origin(), &setup, view);
        let mut replay = composed.map_err(|cause| ReplayError::broken_setup(name, cause))?;
        replay.lines = lines;
        if Self::shows_the_same(&replay, &viewer.view(state.as_ref())) {
            Ok(replay)
        } else {
            Err(not_separable)
        }
    }

    fn shows_the_same(replay: &Replay, view: &Value) -> bool {
        let Ok(history) = History::of_replay(Path::new(&replay.file), replay) else { return false };
        let Ok(seat_history) = Self::of(Viewer::HOST, history) else { return false };
        let mut recorded = replay.entries();
        let mut is_same = true;
        let folded = seat_history.fold(&mut |seen| match recorded.next() {
            Some(entry) => is_same &= entry.outcome.as_ref() == Some(&seen.outcome()),
            None => is_same = false,
        });
        let Ok(state) = folded else { return false };
        is_same && recorded.next().is_none() && seat_history.viewer().view(state.as_ref()) == *view
    }
}
