//! Commands that are to be recorded: why they are not, and what a repeated call with its key is answered.
//!
//! Playing itself is [`Session::submit_all`](crate::Session::submit_all).

use std::ops::RangeInclusive;

use turnfold_core::AnyRules;
use turnfold_store::Store;

use crate::error::ReplayError;
use crate::history::History;
use crate::position::{Position, Tail};
use crate::record::Record;
use crate::revision::Revision;
use crate::script::ScriptLine;
use crate::seat_history::SeatHistory;
use crate::session::is_roll;
use crate::sources::Sources;
use crate::text::error_text;
use crate::viewer::Viewer;

/// Why nothing of a call is recorded, although nothing is wrong with the history.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPlayed {
    /// The last entry is not the expected one.
    #[error("expected `{line}` at entry {expected}, but its last entry is {head}")]
    OtherHead {
        /// The history.
        line: Revision,
        /// The expected entry.
        expected: u64,
        /// The last entry, as those count who expect it.
        head: u64,
    },
    /// The key stands for a call with other commands.
    #[error("the key was used for other commands{} of `{line}`", among(entries.as_ref()))]
    KeyUsed {
        /// The history.
        line: Revision,
        /// The entries that the key stands for. Whose commands they were, and so how many, may be a secret.
        entries: Option<RangeInclusive<u64>>,
    },
    /// The rules reject a command of the call, or it is none of theirs.
    #[error("the command was rejected; {}", none_of(*commands))]
    Rejected {
        /// How many commands the call has.
        commands: usize,
        /// The ruleset.
        ruleset: &'static str,
        /// The name of the rejection.
        code: Option<String>,
    },
}

fn among(entries: Option<&RangeInclusive<u64>>) -> String {
    entries.map(|range| format!(", entries {} to {}", range.start(), range.end())).unwrap_or_default()
}

fn none_of(commands: usize) -> String {
    if commands > 1 {
        format!("none of the {commands} commands was recorded")
    } else {
        "nothing was recorded".into()
    }
}

impl NotPlayed {
    /// Returns why a rejected command, one of several in a call, keeps them all from being recorded.
    #[must_use]
    pub fn rejected(record: &Record, commands: usize, rules: &dyn AnyRules) -> Self {
        Self::Rejected { commands, ruleset: rules.name(), code: record.outcome.code().map(Into::into) }
    }

    /// Returns the one line of the error: message and hint, printable and of bounded length.
    #[must_use]
    pub fn detail(&self, asked: Option<Viewer>) -> String {
        let hint = self.hint(asked).map(|hint| format!("; {hint}")).unwrap_or_default();
        error_text("error: ", &format!("{self}{hint}"))
    }

    /// Returns what to type next, which follows the message after `; `. `asked` are the viewer of the call, if it named
    /// some.
    #[must_use]
    pub fn hint(&self, asked: Option<Viewer>) -> Option<String> {
        match self {
            Self::OtherHead { line, .. } => Some(format!(
                "look at `turnfold log {line}{}` and try again, or branch off with `turnfold branch`",
                Viewer::as_option(asked)
            )),
            Self::KeyUsed { .. } => Some("choose a new key".into()),
            Self::Rejected { ruleset, code, .. } => {
                code.as_ref().map(|code| format!("`turnfold rules {ruleset} {code}` explains it"))
            }
        }
    }
}

/// Returns what the first call with a key recorded, as its viewer may know it, if this call has the same commands. `range`
/// are the entries that the key stands for.
///
/// The inner result is [`NotPlayed::KeyUsed`] for other commands.
///
/// # Errors
/// What is wrong with the history.
pub fn repeated(
    line: &Revision,
    viewer: Viewer,
    commands: &[ScriptLine],
    range: RangeInclusive<u64>,
    sources: &dyn Sources,
    store: &Store,
) -> Result<Result<Vec<Record>, NotPlayed>, ReplayError> {
    let (first, last) = (*range.start(), *range.end());
    let revision = line.at(last);
    let tail = Tail::last(last.saturating_sub(first).saturating_add(1));
    let (registry, build) = (sources.registry(), sources.build());
    let mut position =
        Position::before_entries_of(tail, &revision, registry, store, build.as_ref(), Some(store))?;
    let mut records = Vec::new();
    position.fold(&mut |seen| records.push(seen.record()))?;
    if !is_same_call(commands, &records, position.rules) {
        let line = Revision { seq: None, ..revision };
        return Ok(Err(NotPlayed::KeyUsed { line, entries: viewer.see_all().then_some(range) }));
    }
    if viewer.see_all() {
        return Ok(Ok(records));
    }
    let log = store.read(&revision.match_name, &revision.branch, None)?;
    let sight = SeatHistory::of(viewer, History::of_log(&revision, log, registry)?)?;
    let until = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
    Ok(Ok(sight.cut(until(last)).records_after(until(first.saturating_sub(1)))?))
}

/// Returns `true` if recorded entries are the commands of a call, with nothing but rolls between them.
#[must_use]
pub fn is_same_call(commands: &[ScriptLine], records: &[Record], rules: &dyn AnyRules) -> bool {
    let mut asked = commands.iter().peekable();
    for record in records {
        let matches = asked.peek().is_some_and(|line| {
            let same_command = rules.canonical(&line.command).is_ok_and(|command| command == record.command);
            same_command && line.seat.is_none_or(|named| Some(named) == record.seat)
        });
        if matches {
            asked.next();
        } else if !is_roll(&record.command) {
            return false;
        }
    }
    asked.next().is_none()
}
