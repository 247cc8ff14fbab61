//! What a viewer sees of a branch: positions and records, at the head or at an earlier entry.

use turnfold_core::AnyState;
use turnfold_history::{HistorySource, LoggedRecord, MatchStanding, SeatHistory, SourceName, Viewer};
use turnfold_show::render::WhoseTurn;

use crate::head_state::CachedView;
use crate::open_branch::OpenBranch;
use crate::problem::ApiResult;
use crate::world::World;

impl OpenBranch {
    /// Returns what a viewer sees at the head.
    pub(crate) fn shown(&self, world: &World, viewer: Viewer) -> ApiResult<CachedView> {
        self.current(world, |current| current.shown(viewer))
    }

    /// Returns the state at an entry, in the viewer's numbering, or at the head.
    pub(crate) fn state(
        &self,
        world: &World,
        viewer: Viewer,
        at: Option<u64>,
    ) -> ApiResult<Box<dyn AnyState>> {
        match at {
            None => self.current(world, |current| current.position.state.fork()),
            Some(at) if viewer.sees_all() => self.state_of_log(world, at),
            Some(at) => Ok(self.history(world, viewer, None)?.state_at(at)?),
        }
    }

    /// Returns the match's standing in `state`, the state at an entry, in the viewer's numbering, or at the head.
    pub(crate) fn standing(
        &self,
        world: &World,
        viewer: Viewer,
        at: Option<u64>,
        state: &dyn AnyState,
    ) -> ApiResult<MatchStanding> {
        match viewer.standing(state) {
            Some(standing) => Ok(standing),
            None => Ok(self.history(world, viewer, at)?.standing()?),
        }
    }

    /// Returns whose turn it is in the state after an entry, in the log's numbering.
    pub(crate) fn whose_turn(
        &self,
        world: &World,
        viewer: Viewer,
        state: &dyn AnyState,
        seq: u64,
    ) -> ApiResult<WhoseTurn> {
        match WhoseTurn::seen_by(viewer, state) {
            Some(turn) => Ok(turn),
            None => Ok(WhoseTurn::of_history(&self.history_of_log(world, viewer, seq)?)?),
        }
    }

    /// Returns the state after an entry, in the log's numbering, from the nearest snapshot.
    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(HistorySource::open(&SourceName::Revision(self.revision().at(seq)), world)?.state(None)?)
    }

    /// Returns the history as a viewer knows it, up to an entry, in the viewer's numbering, or up to the head.
    pub(crate) fn history(&self, world: &World, viewer: Viewer, at: Option<u64>) -> ApiResult<SeatHistory> {
        let history = self.history_of_log(world, viewer, self.head(world)?)?;
        match at {
            Some(at) => Ok(history.up_to(at)?),
            None => Ok(history),
        }
    }

    /// Returns the number of the last entry that a viewer knows of.
    pub(crate) fn head_seen(&self, world: &World, viewer: Viewer) -> ApiResult<u64> {
        if viewer.sees_all() { self.head(world) } else { Ok(self.seen(world, viewer)?.head()) }
    }

    /// Returns at most `limit` records of the entries after `after`, and the number of the last one if more follow.
    pub(crate) fn records(
        &self,
        world: &World,
        viewer: Viewer,
        after: u64,
        limit: usize,
    ) -> ApiResult<(Vec<LoggedRecord>, Option<u64>)> {
        let history = self.history(world, viewer, None)?;
        history.require(after)?;
        let until = after.saturating_add(limit as u64);
        let head = history.head();
        let mut records = Vec::new();
        history.show(after, head.min(until), &mut |seen| records.push(seen.logged_record()))?;
        Ok((records, (head > until).then_some(until)))
    }
}
