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
///
/// The first check that fails decides (SV-12), so the caller asks in this order: whether the branch is played by mail,
/// [`repeated`](Self::repeated), the position, [`require_head`](Self::require_head) and [`judge`](Self::judge). The
/// caller appends what is accepted; without records, nothing is recorded.
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
    /// What the number of the last entry must be, in the caller's numbering. Each one given is required.
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
    /// Looks for an earlier call with the same key. The inner error is that it had other commands.
    ///
    /// # Errors
    /// [`ReplayError`] if the store or the history cannot be read.
    pub fn repeated(
        &self,
        store: &Store,
        sources: &dyn Sources,
    ) -> Result<Option<Result<RepeatedCall, NotPlayed>>, ReplayError> {
        let Revision { match_name, branch, .. } = self.revision;
        let Some(key) = self.key else { return Ok(None) };
        let Some(range) = store.find_idempotency_key(match_name, branch, key)? else { return Ok(None) };
        let before = range.start().saturating_sub(1);
        let mut source = HistorySource::of_branch(self.revision, store, sources.registry(), sources.build())?;
        source.cut_after(*range.end());
        let dice = source.history.dice;
        let state = source.state_at(Viewer::HOST, before, None)?;
        let mut seen = SeatHistory::of(Viewer::HOST, source)?;
        let mut records = seen.records_after(before)?;
        if !self.is_recorded_as(&records, state, &dice) {
            let revision = self.revision.clone();
            let entries = if self.viewer.sees_all() { Some(range) } else { None };
            return Ok(Some(Err(NotPlayed::KeyUsed { revision, entries })));
        }
        if !self.viewer.sees_all() {
            // The answer is the first one, so it leaves out what came to light since.
            seen = seen.through(self.viewer)?;
            records = seen.records_after(before)?;
        }
        Ok(Some(Ok(RepeatedCall { range, records, head: seen.head(), state: seen.state()? })))
    }

    /// Requires that the last entry is the expected one. `head` is its number in the caller's numbering.
    ///
    /// # Errors
    /// [`NotPlayed::OtherHead`].
    pub fn require_head(&self, head: u64) -> Result<(), NotPlayed> {
        for &expected in self.expected {
            if expected != head {
                return Err(NotPlayed::OtherHead { revision: self.revision.clone(), expected, head });
            }
        }
        Ok(())
    }

    /// Judges the commands. The inner error is the command that was rejected.
    ///
    /// `may_give` decides whether the caller may give a command, before the rules judge it. `take` receives each record
    /// that is accepted if all others are, and returns it, or `None` to keep it out of [`AcceptedCall::records`].
    ///
    /// # Errors
    /// [`ReplayError`] if a roll fails, and the errors of `may_give`.
    pub fn judge<E: From<ReplayError>>(
        &self,
        position: PlayPosition,
        roller: Roller,
        may_give: &mut dyn FnMut(&ScriptCommand, &dyn AnyState) -> Result<(), E>,
        take: &mut dyn FnMut(Record) -> Option<Record>,
    ) -> Result<Result<AcceptedCall, RejectedCommand>, E> {
        let PlayPosition { rules, dice, head, state } = position;
        let mut session = Session::new(state, dice, roller, head + 1, Detail::new(self.viewer));
        let mut played = Vec::new();
        let mut records = Vec::new();
        if self.commands.iter().next().is_none() {
            session.roll_due(&mut played)?;
        }
        for (index, line) in self.commands.iter().enumerate() {
            may_give(&line, session.state.as_ref())?;
            if let Err(record) = session.submit(&line, self.alone, &mut played)? {
                let reason = NotPlayed::rejected(&record, self.commands.iter().count(), &*rules);
                return Ok(Err(RejectedCommand { index, record, reason }));
            }
            records.extend(played.drain(..).filter_map(&mut *take));
        }
        records.extend(played.into_iter().filter_map(take));
        let position = PlayPosition { rules, dice, head: session.next_seq - 1, state: session.state };
        Ok(Ok(AcceptedCall { before: head, records, position }))
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
