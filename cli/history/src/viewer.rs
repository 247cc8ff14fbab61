//! Viewers: the only way from a state, an entry or a game to what a seat may see.
//!
//! Code that shows a match to a player has a [`Viewer`], which does not expose its seat. Views, pictures and entries
//! come only from here and from [`SeatHistory`](crate::viewer::seat_history::SeatHistory). Nothing is concealed from
//! the host. A player sees no state hash, because a small secret could be guessed from it. A player also sees no seed,
//! no idempotency key, and no number that counts concealed entries.

pub(crate) mod own_match;
pub(crate) mod seat_history;

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{
    Answer, AnyRules, AnyState, DicePolicy, Digest, FoldError, Json, Logged, Outcome, Perspective,
    QueryError, Seat, SetupError, Step,
};

use crate::compare::Divergence;
use crate::tfl::SeenBy;
use crate::{Detail, LogEntry, LoggedRecord, Record, ReplayError, SourceName};

/// The seat or spectator that `--as` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Viewer(Perspective);

impl Viewer {
    /// The host, from whom nothing is concealed.
    pub const HOST: Self = Self(Perspective::HOST);
    /// A viewer without a seat, who sees what is open to everyone.
    pub const SPECTATOR: Self = Self(Perspective::Spectator);

    /// Returns `true` if nothing is ever concealed from this viewer.
    #[must_use]
    pub fn sees_all(self) -> bool {
        self.0 == Perspective::HOST
    }

    /// Refuses something that shows everything, such as a whole replay file, to any viewer but the host.
    ///
    /// # Errors
    /// [`ReplayError::Concealed`] with `what`, the refused thing as messages name it.
    pub fn require_all(self, what: &'static str) -> Result<(), ReplayError> {
        if self.sees_all() { Ok(()) } else { Err(ReplayError::Concealed { what, viewer: self }) }
    }

    /// Returns `true` if a match of these players has a view for this viewer: the host, a spectator or one of the
    /// players.
    #[must_use]
    pub fn is_of_match(self, players: &[Seat]) -> bool {
        match self.0.seat() {
            None | Some(Seat::Host) => true,
            Some(seat) => players.contains(&seat),
        }
    }

    /// Returns the viewer for a history. A history for one seat is viewed as that seat, which sees everything in it.
    pub(crate) fn narrowed(self, view: Option<SeenBy>) -> Result<Self, ReplayError> {
        let Some(SeenBy { perspective, .. }) = view else { return Ok(self) };
        if self.sees_all() || self.0 == perspective {
            return Ok(Self(perspective));
        }
        Err(ReplayError::NotOfSeat { reader: Self(perspective), viewer: self })
    }

    /// Returns the viewer of a seat.
    #[must_use]
    pub const fn of(seat: Seat) -> Self {
        Self(Perspective::Seat(seat))
    }

    pub(crate) fn perspective(self) -> Perspective {
        self.0
    }

    /// Requires that the rules define what this viewer may see of a state.
    ///
    /// # Errors
    /// [`ReplayError::NoView`] for a referee that keeps secrets and does not offer `see` (RF-6), and for a recording
    /// that has secrets.
    pub(crate) fn require_view(self, state: &dyn AnyState) -> Result<(), ReplayError> {
        if state.has_view(self.0) { Ok(()) } else { Err(ReplayError::NoView(self)) }
    }

    /// Returns the view of a state as JSON.
    #[must_use]
    pub fn view_json(self, state: &dyn AnyState) -> Json {
        state.view(self.0)
    }

    /// Returns the view of a state.
    #[must_use]
    pub fn view(self, state: &dyn AnyState) -> Value {
        self.field(state, "").unwrap_or_default()
    }

    pub(crate) fn field(self, state: &dyn AnyState, path: &str) -> Option<Value> {
        state.view_at(self.0, path)
    }

    /// Returns the picture of a state.
    #[must_use]
    pub fn picture(self, state: &dyn AnyState) -> Picture {
        state.picture(self.0)
    }

    /// Returns the commands of the viewer's own seat that would be applied; none for a spectator.
    #[must_use]
    pub fn legal(self, state: &dyn AnyState) -> Vec<(Seat, String)> {
        let Some(seat) = self.0.seat() else { return Vec::new() };
        state.legal(seat).into_iter().map(|command| (seat, command)).collect()
    }

    /// Returns the answer to a question about a state.
    ///
    /// # Errors
    /// [`QueryError`] for an unknown question or unusable arguments.
    pub fn ask(self, state: &dyn AnyState, question: &str) -> Result<Answer, QueryError> {
        state.query(self.0, question).map_err(|error| {
            if let QueryError::Unknown { found, known, .. } = &error
                && let Some(form) = form_of(found, known)
            {
                return QueryError::Arguments(format!("expected `{form}`, found `{question}`"));
            }
            error
        })
    }

    /// Returns the hash of a state, if this is the host.
    #[must_use]
    pub fn state_hash(self, state: &dyn AnyState) -> Option<Digest> {
        if self.sees_all() { Some(state.state_hash()) } else { None }
    }

    pub(crate) fn step_hash(self, step: &mut dyn Step) -> Option<Digest> {
        if self.sees_all() { Some(step.state_hash()) } else { None }
    }

    pub(crate) fn step_view(self, step: &dyn Step) -> Json {
        step.view(self.0)
    }

    pub(crate) fn may_look_as(self, seats: &[Seat]) -> impl Iterator<Item = Seat> {
        seats.iter().copied().filter(move |seat| self.0.may_know_as(*seat))
    }

    /// Returns where rolls come from, without the seed for anyone but the host.
    #[must_use]
    pub(crate) fn dice(self, dice: &DicePolicy) -> String {
        match dice {
            DicePolicy::Seeded(_) if !self.sees_all() => "seeded".into(),
            dice => dice.to_string(),
        }
    }

    /// Folds entries and passes each to `observe`. A player sees of each entry what is open to that player in the state
    /// of the bytes `end`, or without them, after the last entry.
    ///
    /// # Errors
    /// As for [`AnyState::fold`].
    pub fn fold(
        self,
        state: &mut dyn AnyState,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        end: Option<&[u8]>,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        match end {
            Some(end) => state.fold_as_at(self.0, end, log, dice, observe),
            // Nothing is concealed from the host, so the end need not be known first.
            None if self.sees_all() => state.fold(log, dice, observe),
            None => state.fold_as(self.0, log, dice, observe),
        }
    }

    /// Returns the error for an entry that cannot be folded. A player learns neither which entry nor why.
    pub(crate) fn broken_entry(self, name: &SourceName, cause: FoldError) -> ReplayError {
        if self.sees_all() {
            return ReplayError::Entry(name.clone(), cause);
        }
        ReplayError::ConcealedEntry(name.clone())
    }

    /// Returns `true` if a setup conceals nothing from this viewer, who may then have all of it.
    ///
    /// This is so if the viewer would be given the same setup, or another spelling of it. Another spelling starts the
    /// very same state, so none of its values replaces a secret.
    ///
    /// # Errors
    /// [`SetupError`] if the rules refuse the setup.
    pub fn may_have_setup(
        self,
        rules: &dyn AnyRules,
        setup: &[u8],
        now: &dyn AnyState,
    ) -> Result<bool, SetupError> {
        let seen = now.setup_seen(setup, self.0)?;
        Ok(seen == setup || rules.start(&seen)?.state_bytes() == rules.start(setup)?.state_bytes())
    }
}

impl fmt::Display for Viewer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for Viewer {
    type Err = <Perspective as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Returns the form of a question with arguments that begins with `word`. `known` lists the forms in backticks.
fn form_of<'a>(word: &str, known: &'a str) -> Option<&'a str> {
    let mut forms = known.split('`').skip(1).step_by(2);
    forms.find(|form| form.split(' ').next() == Some(word) && *form != word)
}

/// An entry that the viewer may know of, with as much of it as they may know.
pub struct ViewedEntry<'a> {
    pub(crate) viewer: Viewer,
    /// The entry's number in the viewer's numbering.
    pub(crate) seq: u64,
    pub(crate) step: &'a mut dyn Step,
    pub(crate) entry: &'a LogEntry,
    /// Whether its source is a file for this viewer's seat.
    pub(crate) is_own: bool,
}

impl ViewedEntry<'_> {
    /// Returns the entry's number in the viewer's numbering.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the step of the fold, for what only the rules can say, such as sentences.
    #[must_use]
    pub fn step(&self) -> &dyn Step {
        self.step
    }

    /// Returns the seat whose command it is.
    #[must_use]
    pub fn seat(&self) -> Seat {
        self.step.seat()
    }

    /// Returns the command as people are shown it.
    #[must_use]
    pub fn command(&self) -> String {
        self.step.shown()
    }

    /// Returns the command as a file for the viewer has it: with meaningless values in place of concealed ones.
    pub(crate) fn stand_in(&self) -> String {
        self.step.stand_in()
    }

    /// Returns the outcome as replay files write it.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.step.outcome()
    }

    /// Returns the entry in the game's sentences (VW-80), as far as the viewer may know it. They name players by seat.
    /// Empty if the game has no sentences for it.
    #[must_use]
    pub fn sentence(&self) -> String {
        if !self.step.is_worded() {
            return String::new();
        }
        let mut sentences = self.step.sentences(self.viewer.perspective());
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join(" ")
    }

    /// Returns the record with the view of the state after the entry.
    pub fn record_with_view(&mut self) -> Record {
        self.record_in(Detail { state: true, ..Detail::new(self.viewer) })
    }

    /// Returns the record without views.
    pub fn record(&mut self) -> Record {
        self.record_in(Detail::new(self.viewer))
    }

    fn record_in(&mut self, detail: Detail) -> Record {
        let mut record = Record::of(self.step, detail);
        record.seq = Some(self.seq);
        if let Some(found) = self.contradiction() {
            record.recorded = found.recorded.map(|recorded| recorded.to_string());
        }
        record
    }

    /// Returns the view of the state after the entry.
    #[must_use]
    pub fn view(&self) -> Value {
        self.field("").unwrap_or_default()
    }

    pub(crate) fn field(&self, path: &str) -> Option<Value> {
        self.step.view_at(self.viewer.perspective(), path)
    }

    /// Returns the picture of the state after the entry.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.step.picture(self.viewer.perspective())
    }

    /// Returns the record with the time and key that its source has.
    pub fn logged_record(&mut self) -> LoggedRecord {
        let LogEntry { recorded_at_ms, key, .. } = self.entry;
        // Only the host may see an idempotency key.
        let key = if self.viewer.sees_all() { key.as_ref().map(ToString::to_string) } else { None };
        LoggedRecord { record: self.record(), recorded_at_ms: *recorded_at_ms, key, link: None }
    }

    /// Returns the outcome that the source records, if the viewer may know it.
    #[must_use]
    pub fn recorded_outcome(&self) -> Option<&Outcome> {
        if may_know_recorded(self.viewer, self.is_own) { self.entry.outcome.as_ref() } else { None }
    }

    /// Returns when the entry was recorded, in Unix milliseconds; `None` for a replay file.
    #[must_use]
    pub fn recorded_at_ms(&self) -> Option<i64> {
        self.entry.recorded_at_ms
    }

    /// Compares what the source records with what the rules compute, if the viewer may know it.
    #[must_use]
    pub fn contradiction(&mut self) -> Option<Divergence> {
        self.contradiction_of(self.viewer.sees_all())
    }

    /// Compares as [`contradiction`](Self::contradiction) does, but compares the state hash only if `with_hash`,
    /// because computing it takes longer than all else.
    pub(crate) fn contradiction_of(&mut self, with_hash: bool) -> Option<Divergence> {
        let Self { viewer, entry, is_own, step, .. } = self;
        let is_recorded = entry.outcome.is_some() || (with_hash && entry.hash.is_some());
        if !is_recorded || !may_know_recorded(*viewer, *is_own) {
            return None;
        }
        let computed = if with_hash {
            LogEntry::of(*step)
        } else {
            LogEntry {
                outcome: Some(step.outcome()),
                ..LogEntry::new(step.seq(), step.seat(), step.command())
            }
        };
        Divergence::contradiction(entry, &computed)
    }
}

/// Returns `true` if a viewer may know what a source records. Recorded outcomes and hashes cover what is concealed, so
/// a player may know them only in a file for that player's seat.
fn may_know_recorded(viewer: Viewer, is_own: bool) -> bool {
    viewer.sees_all() || is_own
}
