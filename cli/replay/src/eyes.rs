//! Whose eyes look: the one way from a state, an entry or a game to what a seat is told of it.
//!
//! Every verb with `--as` holds [`Eyes`], which do not tell their seat, so it can ask for a view, a picture or an
//! entry only here and in [`Sight`](crate::sight::Sight). What the host may know, the person at the shell may know:
//! without `--as` the eyes are the host's. A player is told no state hash, from which a small secret could be
//! guessed, no seed, no key of another seat's, and no number that counts entries it may not know of.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;
use turnfold_core::picture::Picture;
use turnfold_core::{Answer, AnyState, DicePolicy, Digest, FoldError, Logged, QueryError, Seat, Step};

use crate::difference::read_view;
use crate::error::ReplayError;
use crate::line::SourceEntry;
use crate::position::Position;
use crate::record::{Detail, Record};
use crate::revision::{Revision, SourceName};
use crate::script::ScriptLine;
use crate::sight::Sight;
use crate::sources::Sources;

/// The seat that looks, as `--as` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eyes(Seat);

impl Eyes {
    /// The eyes of the table, from which nothing is concealed.
    pub const HOST: Self = Self(Seat::Host);

    /// Returns `true` if nothing is ever concealed from these eyes.
    pub fn see_all(self) -> bool {
        self.0 == Seat::Host
    }

    /// Refuses to players what shows everything there is, such as whole replay files.
    pub fn require_all(self, what: &str) -> Result<(), ReplayError> {
        if self.see_all() {
            return Ok(());
        }
        Err(ReplayError::usage(format!("{what}, which {self} may not see")).hint("leave out `--as`"))
    }

    /// Makes every command one of this seat's own, and refuses those that name another seat.
    pub fn give(self, lines: &mut [ScriptLine]) -> Result<(), ReplayError> {
        for line in lines {
            let seat = *line.seat.get_or_insert(self.0);
            if seat != self.0 {
                let command = format!("{seat}: {}", line.command);
                return Err(ReplayError::usage(format!(
                    "`{command}` is a command of {seat}, but with `--as {self}` all commands are those of {self}"
                ))
                .hint("leave out `--as` or the command"));
            }
        }
        Ok(())
    }

    /// Returns the state of a revision or replay file.
    pub fn seek(self, name: &SourceName, sources: &dyn Sources) -> Result<Box<dyn AnyState>, ReplayError> {
        // Snapshots lead to the head and to entries as the log numbers them; what else a player may ask for, and what
        // it is told when the log is broken, takes the whole line of play.
        let is_head = matches!(name, SourceName::Revision(Revision { seq: None, .. }));
        let straight = self.see_all() || is_head;
        match straight.then(|| Position::seek(name, sources)) {
            Some(Ok(state)) => Ok(state),
            Some(Err(failure)) if self.see_all() => Err(failure),
            _ => Sight::load(self, name, sources)?.state(),
        }
    }

    /// Returns the view of a state as JSON.
    pub fn view_json(self, state: &dyn AnyState) -> String {
        state.view(self.0)
    }

    /// Returns the view of a state.
    pub fn view(self, state: &dyn AnyState) -> Value {
        read_view(&self.view_json(state))
    }

    /// Returns the picture of a state.
    pub fn picture(self, state: &dyn AnyState) -> Picture {
        state.picture(self.0)
    }

    /// Lists the seat's own commands that would be applied.
    pub fn legal(self, state: &dyn AnyState) -> Vec<(Seat, String)> {
        state.legal(self.0).into_iter().map(|command| (self.0, command)).collect()
    }

    /// Lists every seat's commands that would be applied, for the host.
    pub fn legal_of_all(state: &dyn AnyState) -> Vec<(Seat, String)> {
        let seats = state.players().iter().copied().chain([Seat::Host]);
        seats.flat_map(|seat| Self(seat).legal(state)).collect()
    }

    /// Returns the answer to a question.
    pub fn ask(self, state: &dyn AnyState, question: &str) -> Result<Answer, QueryError> {
        state.query(self.0, question)
    }

    /// Returns the hash of a state.
    pub fn state_hash(self, state: &dyn AnyState) -> Option<Digest> {
        self.see_all().then(|| state.state_hash())
    }

    /// Returns the hash of the state after an entry.
    pub fn step_hash(self, step: &mut dyn Step) -> Option<Digest> {
        self.see_all().then(|| step.state_hash())
    }

    /// Returns the view of the state after an entry, as JSON.
    pub fn step_view(self, step: &dyn Step) -> String {
        step.view(self.0)
    }

    /// Chooses those of the seats whose views these eyes may see.
    pub fn may_look_as(self, seats: &[Seat]) -> impl Iterator<Item = Seat> {
        seats.iter().copied().filter(move |seat| self.see_all() || *seat == self.0)
    }

    /// Says where rolls come from.
    pub fn dice(self, dice: &DicePolicy) -> String {
        match dice {
            DicePolicy::Seeded(_) if !self.see_all() => "seeded".into(),
            dice => dice.to_string(),
        }
    }

    /// Folds entries, of each of which `observe` is shown what these eyes may know once all of them are folded.
    pub fn fold(
        self,
        state: &mut dyn AnyState,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        // Nothing is concealed from the host, so there is no need to know the end first.
        if self.see_all() {
            state.fold(log, dice, observe)
        } else {
            state.fold_as(self.0, log, dice, observe)
        }
    }
}

impl fmt::Display for Eyes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for Eyes {
    type Err = <Seat as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// An entry that the eyes may know of, and as much of it as they may know.
pub struct Seen<'a> {
    pub eyes: Eyes,
    /// Its number as the eyes count entries.
    pub seq: u64,
    pub step: &'a mut dyn Step,
    pub entry: &'a SourceEntry,
}

impl Seen<'_> {
    /// Returns the seat whose command it is.
    pub fn seat(&self) -> Seat {
        self.step.seat()
    }

    /// Returns the command's canonical text.
    pub fn command(&self) -> String {
        self.step.command()
    }

    /// Returns the outcome as replay files write it.
    pub fn outcome(&self) -> String {
        self.step.outcome().to_string()
    }

    /// Returns the record to print.
    pub fn record(&mut self) -> Record {
        let mut record = Record::of(self.step, Detail::new(self.eyes));
        record.seq = Some(self.seq);
        record
    }

    /// Returns the view of the state after it.
    pub fn view(&self) -> Value {
        read_view(&self.eyes.step_view(self.step))
    }

    /// Returns when it was recorded; a replay file does not know.
    pub fn recorded_at_ms(&self) -> Option<i64> {
        self.entry.recorded_at_ms
    }

    /// Returns the key it was recorded with, which only the seat that chose it may know.
    pub fn key(&self) -> Option<&str> {
        let is_own = self.eyes.see_all() || self.entry.seat == self.eyes.0;
        self.entry.key.as_deref().filter(|_| is_own)
    }

    /// Returns `true` if its source says something else of it than the rules do. A player is not told, because
    /// outcomes and hashes cover what is concealed.
    pub fn is_told_otherwise(&mut self) -> bool {
        let SourceEntry { outcome, hash, .. } = self.entry;
        self.eyes.see_all()
            && (outcome.as_ref().is_some_and(|outcome| *outcome != self.step.outcome().to_string())
                || hash.as_ref().is_some_and(|hash| *hash != format!("{:.16}", self.step.state_hash())))
    }
}
