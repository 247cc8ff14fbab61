//! Requests to append commands: the sender, the seats, and what the sender had seen (SV-11, SV-13).

use std::collections::BTreeSet;

use tokio::time::Instant;
use turnfold_core::{AnyState, DicePolicy, Seat};
use turnfold_history::session::play::{PlayCaller, PlayPosition};
use turnfold_history::{Roller, ScriptCommand, Viewer};
use turnfold_store::{BranchName, IdempotencyKey, MatchName};

use crate::app::App;
use crate::auth::Access;
use crate::head_state::CachedView;
use crate::open_branch::OpenBranch;
use crate::problem::{ApiResult, Problem};
use crate::tag::Tags;

pub(crate) struct AppendRequest {
    pub(crate) access: Access,
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    pub(crate) viewer: Viewer,
    /// The seat whose commands they are; `None` for the host's.
    pub(crate) seat: Option<Seat>,
    pub(crate) lines: Vec<ScriptCommand>,
    /// Whether to make due rolls.
    pub(crate) rolls: bool,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) if_match: Option<Tags>,
    pub(crate) expect: Option<u64>,
}

/// The sender of a request, about whom judging asks (SV-11, SV-13).
pub(crate) struct Caller<'a> {
    append: &'a AppendRequest,
    app: &'a App,
    branch: &'a OpenBranch,
    /// The seats that were found free, so that a request asks once for each.
    free: BTreeSet<Seat>,
    /// The position and what the viewer sees, if they are known.
    position: Option<(PlayPosition, CachedView)>,
    /// The tag of what the viewer sees.
    pub(crate) tag: String,
    /// When the position was found.
    pub(crate) began: Instant,
}

impl PlayCaller for Caller<'_> {
    type Error = Problem;

    fn position(&mut self) -> ApiResult<PlayPosition> {
        let (position, shown) = match self.position.take() {
            Some(known) => known,
            None => self.branch.current(self.app, |current| current.played_by(self.append.viewer))?,
        };
        self.began = Instant::now();
        if let Some(first) = self.append.lines.first() {
            self.may_give(first, position.state.as_ref())?;
        }
        self.tag = shown.tag;
        match &self.append.if_match {
            Some(tags) if !tags.hold(&self.tag, false) => {
                let detail = "what you see has changed since; look at it again, then decide";
                Err(Problem::moved(detail.into(), &self.tag))
            }
            _ => Ok(position),
        }
    }

    fn roller(&mut self, dice: &DicePolicy) -> ApiResult<Roller> {
        Ok(if self.append.rolls { Roller::of(dice) } else { Roller::Absent })
    }

    fn may_give(&mut self, given: &ScriptCommand, state: &dyn AnyState) -> ApiResult<()> {
        if self.append.seat.is_some() {
            return Ok(());
        }
        let seat = given.seat.or_else(|| state.default_seat(&given.command));
        seat.map_or(Ok(()), |seat| self.require_free(seat))
    }
}

impl<'a> Caller<'a> {
    pub(crate) fn new(
        append: &'a AppendRequest,
        app: &'a App,
        branch: &'a OpenBranch,
        position: Option<(PlayPosition, CachedView)>,
    ) -> Self {
        Self {
            append,
            app,
            branch,
            free: BTreeSet::new(),
            position,
            tag: String::new(),
            began: Instant::now(),
        }
    }

    /// Requires a seat whose commands a host may give: its own, or a free one (SV-11).
    pub(crate) fn require_free(&mut self, seat: Seat) -> ApiResult<()> {
        if seat == Seat::Host || self.free.contains(&seat) {
            return Ok(());
        }
        if self.app.store.is_taken(&self.branch.revision().match_name, seat, self.app.now_ms())? {
            let detail = format!("seat {seat} is taken; only its player can issue its commands");
            return Err(Problem::forbidden(detail));
        }
        self.free.insert(seat);
        Ok(())
    }
}
