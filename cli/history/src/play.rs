//! Judges the commands of a call in the same way for the command line and the service. The result has their outcomes,
//! or the answer to an earlier call with the same key.

use std::ops::RangeInclusive;
use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Seat};
use turnfold_store::{IdempotencyKey, MatchName, Store};

use crate::session::{RejectedCommand, Roller, ScriptCommand, ScriptCommands, Session};
use crate::{
    Detail, HistorySource, LogEntry, Record, ReplayError, Revision, SeatHistory, SourceName, Sources, Viewer,
};

/// Why nothing of a call is recorded, although the history is sound.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPlayed {
    /// The last entry is not the expected one.
    #[error("expected `{revision}` at entry {expected}, but its last entry is {head}")]
    OtherHead {
        /// The history.
        revision: Revision,
        /// The expected entry.
        expected: u64,
        /// The last entry, in the caller's numbering.
        head: u64,
    },
    /// The key was used for a call with other commands.
    #[error("the key was used for other commands{} of `{revision}`", among(entries.as_ref()))]
    KeyUsed {
        /// The history.
        revision: Revision,
        /// The entries of that call, for a viewer who may know whose commands they are and how many.
        entries: Option<RangeInclusive<u64>>,
    },
    /// The branch takes commands only by mail.
    #[error("`{revision}` is played by mail; only its desk can append to it")]
    ByMail {
        /// The branch.
        revision: Revision,
        /// The desk of the match.
        desk: MatchName,
    },
    /// The rules reject a command of the call, or cannot read it.
    #[error("the command was rejected; {}", none_of(*commands))]
    Rejected {
        /// The number of commands in the call.
        commands: usize,
        /// The ruleset.
        ruleset: String,
        /// The code of the rejection.
        code: Option<String>,
        /// Whether a referee, a program of the user, judged it.
        by_referee: bool,
    },
}

fn among(entries: Option<&RangeInclusive<u64>>) -> String {
    match entries {
        None => String::new(),
        Some(range) if range.start() == range.end() => format!(", entry {}", range.end()),
        Some(range) => format!(", entries {} to {}", range.start(), range.end()),
    }
}

fn none_of(commands: usize) -> String {
    if commands > 1 {
        format!("none of the {commands} commands was recorded")
    } else {
        "nothing was recorded".into()
    }
}

impl NotPlayed {
    /// Returns the reason for recording none of `commands` commands after one was rejected.
    #[must_use]
    pub fn rejected(record: &Record, commands: usize, rules: &dyn AnyRules) -> Self {
        Self::Rejected {
            commands,
            ruleset: rules.name().into(),
            code: record.outcome.code().map(Into::into),
            by_referee: rules.referee().is_some(),
        }
    }
}

/// The commands of one call. All of them are recorded, or none is.
#[derive(Clone, Copy, Debug)]
pub struct PlayCall<'a> {
    /// The history.
    pub revision: &'a Revision,
    /// The viewer that sees the result.
    pub viewer: Viewer,
    /// The seat that gives the commands, if it plays with its own token. No roll is made before its command, because a
    /// rejection would take the roll back.
    pub alone: Option<Seat>,
    /// The commands; without any, only due rolls are made.
    pub commands: ScriptCommands<'a>,
    /// The expected number of the last entry, in the caller's numbering.
    pub expected: &'a [u64],
    /// The idempotency key of the call.
    pub key: Option<&'a IdempotencyKey>,
}

/// The position at which commands are played: the end of a history.
pub struct PlayPosition {
    /// The rules.
    pub rules: Arc<dyn AnyRules>,
    /// Where rolls come from.
    pub dice: DicePolicy,
    /// The number of the last entry in the log.
    pub head: u64,
    /// The state.
    pub state: Box<dyn AnyState>,
}

impl PlayPosition {
    /// Returns a copy of the position.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { rules: Arc::clone(&self.rules), state: self.state.fork(), ..*self }
    }

    /// Folds further entries of a revision; the first one follows the head.
    ///
    /// # Errors
    /// [`ReplayError::Entry`].
    pub fn follow(mut self, revision: &Revision, entries: &[LogEntry]) -> Result<Self, ReplayError> {
        let folded = self.state.fold(&LogEntry::all_logged(entries), &self.dice, &mut |_| {});
        folded.map_err(|cause| ReplayError::Entry(SourceName::Revision(revision.clone()), cause))?;
        self.head = entries.last().map_or(self.head, |entry| entry.seq);
        Ok(self)
    }
}

/// What the caller of [`PlayCall::judge`] decides and looks up for it.
pub trait PlayCaller {
    /// The error of the caller.
    type Error: From<ReplayError>;

    /// Returns the position, if the caller may play at it.
    ///
    /// # Errors
    /// The error of reading the history, or that the caller may not play.
    fn position(&mut self) -> Result<PlayPosition, Self::Error>;

    /// Returns the number of the last entry in the caller's numbering. `head` is its number in the log.
    fn head_seen(&self, head: u64) -> u64 {
        head
    }

    /// Returns the roller for these dice.
    ///
    /// # Errors
    /// An error if the chosen roller does not fit the dice.
    fn roller(&mut self, dice: &DicePolicy) -> Result<Roller, Self::Error>;

    /// Requires that the caller may give a command. It is called before the rules judge the command.
    ///
    /// # Errors
    /// The reason why the caller may not.
    fn may_give(&mut self, _given: &ScriptCommand, _state: &dyn AnyState) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Receives a record that is accepted if all others are. Returns it, or `None` to keep it out of
    /// [`AcceptedCall::records`].
    fn take(&mut self, record: Record) -> Option<Record> {
        Some(record)
    }
}

/// The result of judging a call.
pub enum PlayOutcome {
    /// Nothing is recorded.
    NotPlayed(NotPlayed),
    /// Nothing is recorded, because a command is rejected.
    Rejected {
        /// The command and its record.
        rejected: RejectedCommand,
        /// The sentence to show after the record.
        reason: NotPlayed,
    },
    /// An earlier call with the same key recorded it.
    Repeated(RepeatedCall),
    /// All commands are accepted and are to be recorded. Without records, nothing is recorded.
    Accepted(AcceptedCall),
}

/// A repeated call, with the answer to the first.
pub struct RepeatedCall {
    /// The entries of the first call, in the numbering of the log.
    pub range: RangeInclusive<u64>,
    /// The records of the first call, as its viewer knew them then.
    pub records: Vec<Record>,
    /// The number of the last entry that the viewer knew of then.
    pub head: u64,
    /// The state after the first call.
    pub state: Box<dyn AnyState>,
}

/// A call whose commands are accepted.
pub struct AcceptedCall {
    /// The number of the last entry in the log before them.
    pub before: u64,
    /// The records to append, as far as the caller kept them.
    pub records: Vec<Record>,
    /// The position after them.
    pub position: PlayPosition,
}

impl PlayCall<'_> {
    /// Judges the commands. The first check that fails decides (SV-12): the key, the position, the expected head, a
    /// command. The caller has refused a branch that is played by mail before, and appends what is accepted. Without a
    /// store, the key is not looked up.
    ///
    /// # Errors
    /// [`ReplayError`] if the history or the store cannot be read or a roll fails, and the errors of the caller.
    pub fn judge<C: PlayCaller>(
        &self,
        caller: &mut C,
        store: Option<&Store>,
        sources: &dyn Sources,
    ) -> Result<PlayOutcome, C::Error> {
        if let Some(store) = store
            && let Some(repeated) = self.repeated(store, sources)?
        {
            return Ok(repeated);
        }
        let PlayPosition { rules, dice, head, state } = caller.position()?;
        let head_seen = caller.head_seen(head);
        if let Some(&expected) = self.expected.iter().find(|expected| **expected != head_seen) {
            let revision = Revision { seq: None, ..self.revision.clone() };
            return Ok(PlayOutcome::NotPlayed(NotPlayed::OtherHead { revision, expected, head: head_seen }));
        }
        let roller = caller.roller(&dice)?;
        let mut session = Session::new(state, dice, roller, head + 1, Detail::new(self.viewer));
        let mut played = Vec::new();
        let mut records = Vec::new();
        if self.commands.iter().next().is_none() {
            session.roll_due(&mut played)?;
        }
        for (index, line) in self.commands.iter().enumerate() {
            caller.may_give(&line, session.state.as_ref())?;
            if let Err(record) = session.submit(&line, self.alone, &mut played)? {
                let reason = NotPlayed::rejected(&record, self.commands.count(), &*rules);
                return Ok(PlayOutcome::Rejected { rejected: RejectedCommand { index, record }, reason });
            }
            records.extend(played.drain(..).filter_map(|record| caller.take(record)));
        }
        records.extend(played.into_iter().filter_map(|record| caller.take(record)));
        let position = PlayPosition { rules, dice, head: session.next_seq - 1, state: session.state };
        Ok(PlayOutcome::Accepted(AcceptedCall { before: head, records, position }))
    }

    fn repeated(&self, store: &Store, sources: &dyn Sources) -> Result<Option<PlayOutcome>, ReplayError> {
        let Revision { match_name, branch, .. } = self.revision;
        let Some(key) = self.key else { return Ok(None) };
        let Some(range) = store.find_idempotency_key(match_name, branch, key)? else { return Ok(None) };
        let first = *range.start();
        let last = *range.end();
        let mut source = HistorySource::of_branch(self.revision, store, sources.registry(), sources.build())?;
        source.cut_after(last);
        let dice = source.history.dice;
        let before = source.state_at(Viewer::HOST, first.saturating_sub(1), None)?;
        let whole = SeatHistory::of_source(Viewer::HOST, source)?;
        let records = whole.records_after(first.saturating_sub(1))?;
        let state = whole.state()?;
        if !self.is_recorded_as(&records, before, &dice) {
            let revision = Revision { seq: None, ..self.revision.clone() };
            let entries = if self.viewer.sees_all() { Some(range) } else { None };
            return Ok(Some(PlayOutcome::NotPlayed(NotPlayed::KeyUsed { revision, entries })));
        }
        if self.viewer.sees_all() {
            return Ok(Some(PlayOutcome::Repeated(RepeatedCall { range, records, head: last, state })));
        }
        // The answer is the first one, so it leaves out what came to light since.
        let seen = whole.through(self.viewer)?;
        let records = seen.records_after(first.saturating_sub(1))?;
        let head = seen.head();
        let state = seen.state()?;
        Ok(Some(PlayOutcome::Repeated(RepeatedCall { range, records, head, state })))
    }

    /// Returns `true` if recorded entries are the commands of this call, with only rolls between them.
    fn is_recorded_as(&self, records: &[Record], mut state: Box<dyn AnyState>, dice: &DicePolicy) -> bool {
        let mut asked = self.commands.iter().peekable();
        for record in records {
            let mut is_asked = false;
            if let Some(given) = asked.peek() {
                let seat = given.seat.or(self.alone);
                is_asked = state.read(&given.command).is_ok_and(|command| command == record.command)
                    && (seat.is_none() || seat == record.seat);
            }
            if is_asked {
                asked.next();
            } else if !ScriptCommand::is_roll(&record.command) {
                return false;
            }
            let Some(entry) = record.logged() else { return false };
            if state.fold(&[entry], dice, &mut |_| {}).is_err() {
                return false;
            }
        }
        asked.next().is_none()
    }
}
