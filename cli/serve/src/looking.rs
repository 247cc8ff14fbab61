//! What a viewer sees of a branch: positions and records, at the head or at an earlier entry.

use turnfold_core::AnyState;
use turnfold_history::{
    History, HistorySource, LoggedRecord, MatchStanding, ReplayError, SeatHistory, SourceName, Tail, Viewer,
};
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
            None => self.current(world, |current| current.state.fork()),
            Some(at) if viewer.sees_all() => self.state_of_log(world, at),
            // Most entries are settled and have the same number in the log. From that number on, snapshots help.
            Some(at) => {
                let seen = self.seen(world, viewer, &mut |_| {})?;
                let seq = seen.in_log(at).ok_or_else(|| self.no_entry(at, seen.head()))?;
                self.state_of_log(world, seq)
            }
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

    /// Returns whose turn it is at the head, whose state is `state`.
    pub(crate) fn whose_turn(
        &self,
        world: &World,
        viewer: Viewer,
        state: &dyn AnyState,
    ) -> ApiResult<WhoseTurn> {
        match WhoseTurn::seen_by(viewer, state) {
            Some(turn) => Ok(turn),
            None => Ok(WhoseTurn::of_history(&self.history(world, viewer, None)?)?),
        }
    }

    fn no_entry(&self, seq: u64, head: u64) -> ReplayError {
        ReplayError::NoEntry { history: SourceName::Revision(self.revision().clone()), seq, head }
    }

    /// Returns the state after an entry, in the log's numbering, from the nearest snapshot.
    pub(crate) fn state_of_log(&self, world: &World, seq: u64) -> ApiResult<Box<dyn AnyState>> {
        Ok(HistorySource::open(&SourceName::Revision(self.revision().at(seq)), world)?.state(None)?)
    }

    /// Returns the history up to an entry, in the viewer's numbering, or up to the head.
    pub(crate) fn history(&self, world: &World, viewer: Viewer, at: Option<u64>) -> ApiResult<SeatHistory> {
        let history = self.history_of_log(world, viewer, self.head(world)?)?;
        match at {
            Some(at) => Ok(history.up_to(at)?),
            None => Ok(history),
        }
    }

    /// Returns the history up to an entry, in the log's numbering, as the viewer knew it then.
    pub(crate) fn history_of_log(&self, world: &World, viewer: Viewer, seq: u64) -> ApiResult<SeatHistory> {
        let mut history = History::of_branch(&self.revision().at(seq), &world.store, &world.registry)?;
        // Messages must not have the number of the log, which shows how many entries are concealed.
        history.name = SourceName::Revision(self.revision().clone());
        Ok(SeatHistory::of(viewer, history)?)
    }

    /// Returns at most `limit` records of the entries after `after`, and the number of the last one if more follow.
    pub(crate) fn records(
        &self,
        world: &World,
        viewer: Viewer,
        after: u64,
        limit: usize,
    ) -> ApiResult<(Vec<LoggedRecord>, Option<u64>)> {
        let mut records = Vec::new();
        let until = after.saturating_add(limit as u64);
        let tail = Tail { count: u64::MAX, first: after.saturating_add(1) };
        if viewer.sees_all() {
            let head = self.head(world)?;
            let history =
                SeatHistory::open(viewer, &SourceName::Revision(self.revision().at(head.min(until))), world)?;
            history.show_last(tail, &mut |seen| records.push(seen.logged_record()))?;
            return Ok((records, (head > until).then_some(until)));
        }
        let mut unsettled = Vec::new();
        let seen = self.seen(world, viewer, &mut |seen| {
            if seen.seq() > after && seen.seq() <= until {
                unsettled.push(seen.logged_record());
            }
        })?;
        let settled = seen.settled();
        let head = seen.head();
        if after > head {
            return Err(self.no_entry(after, head).into());
        }
        if after < settled {
            // Settled entries have the same numbers in the log, so snapshots help.
            let name = SourceName::Revision(self.revision().at(settled.min(until)));
            let history = SeatHistory::open_shown(viewer, &name, world)?;
            history.show_last(tail, &mut |seen| records.push(seen.logged_record()))?;
        }
        records.extend(unsettled);
        Ok((records, (head > until).then_some(until)))
    }
}
