//! Blesses replays: writes what the rules compute into them, and shows what that changes.

use serde::Serialize;
use turnfold_core::Outcome;

use crate::compare::{Claim, Divergence, Subject};
use crate::text::{Line, added, printable, removed, strong};
use crate::tfl::{FoldedLine, Replay, ReplayLine, TflError};
use crate::{Attempt, LogEntry, ReplayError, ShortHash};

/// A line that blessing changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The line in the file, from 1.
    pub line: usize,
    /// The content of the line, as it will be written.
    #[serde(flatten)]
    subject: Subject,
    /// The present text of the command, if it is not canonical.
    written_as: Option<String>,
    /// An outcome, an attempt's rejection, or the closing line.
    outcome: Changed<Claim>,
    #[serde(rename = "state_hash")]
    hash: Changed<ShortHash>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Changed<T> {
    old: Option<T>,
    new: Option<T>,
}

/// State hashes that changed under the version that the file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulesChange {
    /// The first entry with another state.
    from_entry: u64,
    /// Whether header or entries were edited since the file was blessed: they do not have the digest in the closing
    /// line.
    edited: bool,
    ruleset: String,
    version: u32,
}

impl Replay {
    /// Fills in every outcome, every hash and the closing line, and writes commands canonically.
    ///
    /// Header, comments, blank lines and order stay. Blessing a blessed replay changes nothing. An entry that the rules
    /// reject and an attempt that they accept are errors, because the file then records something false.
    ///
    /// # Errors
    /// [`TflError`] with the line and column.
    ///
    /// # Panics
    /// Never, because the fold shows every entry and attempt.
    pub fn bless(&self) -> Result<Self, TflError> {
        let mut state = self.start()?;
        let mut filled = Vec::new();
        let folded = self.fold(state.as_mut(), &mut |folded| {
            filled.push(match folded {
                FoldedLine::Entry(step) => ReplayLine::Entry(LogEntry::of(step)),
                FoldedLine::Attempt(_, attempt, outcome) => {
                    ReplayLine::Attempt(Attempt { outcome: Some(outcome), ..attempt.clone() })
                }
            });
            true
        });
        folded.map_err(|error| self.locate(&error))?;
        let mut filled = filled.into_iter();
        let mut blessed = Self { lines: Vec::with_capacity(self.lines.len()), closing: None, ..self.clone() };
        for (number, line) in self.numbered_lines() {
            let line = match line {
                ReplayLine::Blank | ReplayLine::Comment(_) => line.clone(),
                _ => filled.next().expect("the fold showed every entry and attempt"),
            };
            if let ReplayLine::Attempt(Attempt { seat, command, outcome: Some(outcome) }) = &line
                && !matches!(outcome, Outcome::Rejected(_))
            {
                let message = format!(
                    "expected a command that is not accepted, found one that is ({outcome}); \
                     if that is meant, write `SEQ {seat} {command}`"
                );
                return Err(TflError::new(&self.file, (number, 1), message));
            }
            blessed.lines.push(line);
        }
        blessed.close(state.state_hash());
        Ok(blessed)
    }

    /// Fills in what a replay leaves out. Whatever it records must be true.
    ///
    /// # Errors
    /// [`ReplayError::Untrue`], and the errors of [`bless`](Self::bless).
    pub fn bless_if_true(&self) -> Result<Self, ReplayError> {
        if self.closing.is_some_and(|closing| closing.header != self.header.mark()) {
            return Err(untrue(self, None, "the header is not the one that was blessed"));
        }
        let blessed = self.bless()?;
        for ((line, recorded), computed) in self.numbered_entries().zip(blessed.entries()) {
            if Divergence::contradiction(recorded, computed).is_some() {
                let what = format!("entry {} does not do what the file says", recorded.seq);
                return Err(untrue(self, Some(line), &what));
            }
        }
        if self.closing.is_some() && self.closing != blessed.closing {
            return Err(untrue(self, None, "the closing line is not that of its entries"));
        }
        Ok(blessed)
    }

    /// Returns the lines in which a replay differs from its blessed form.
    #[must_use]
    pub fn changes(&self, blessed: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for ((line, old), new) in self.numbered_lines().zip(&blessed.lines) {
            if old == new {
                continue;
            }
            match (old, new) {
                (ReplayLine::Entry(old), ReplayLine::Entry(new)) => {
                    let mut change = Change::of(line, new.into(), old.outcome.clone(), new.outcome.clone());
                    if old.command != new.command {
                        change.written_as = Some(old.command.to_string());
                    }
                    change.hash = Changed { old: old.hash, new: new.hash };
                    changes.push(change);
                }
                (ReplayLine::Attempt(old), ReplayLine::Attempt(new)) => {
                    changes.push(Change::of(line, new.into(), old.outcome.clone(), new.outcome.clone()));
                }
                _ => {}
            }
        }
        if self.closing != blessed.closing {
            let mut change = Change::of(self.closing_line(), Subject::End, None, None);
            change.outcome.old = self.closing.map(Claim::text);
            change.outcome.new = blessed.closing.map(Claim::text);
            changes.push(change);
        }
        changes
    }

    /// Returns the replay with the accepted lines of its blessed form, and the closing line for the result.
    #[must_use]
    pub fn bless_lines(&self, blessed: &Self, is_accepted: impl Fn(usize) -> bool) -> Self {
        let mut lines = Vec::new();
        for ((number, old), new) in self.numbered_lines().zip(&blessed.lines) {
            lines.push(if is_accepted(number) { new.clone() } else { old.clone() });
        }
        let mut replay = Self { lines, ..self.clone() };
        if let Some(closing) = blessed.closing {
            replay.close(closing.state);
        }
        replay
    }

    /// Returns the first entry whose recorded state hash differs from the blessed one, as a change of the rules.
    #[must_use]
    pub fn rules_change(&self, blessed: &Self) -> Option<RulesChange> {
        let mut pairs = self.entries().zip(blessed.entries());
        let first = pairs.find(|(old, new)| old.hash.is_some() && old.hash != new.hash)?.0;
        let edited = self.closing.is_none_or(|closing| closing.log != self.log_digest());
        let rules = &self.header.rules;
        let ruleset = rules.name().into();
        Some(RulesChange { from_entry: first.seq, edited, ruleset, version: rules.version() })
    }
}

impl RulesChange {
    /// Returns the change in one line.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { from_entry, edited, ruleset, version } = self;
        let unless = if *edited { "unless that comes from editing the file, it" } else { "that" };
        format!(
            "from entry {from_entry} on, state hashes differ from those recorded, under the same version {version} of `{ruleset}`: {unless} is a rules change; raise the ruleset's VERSION"
        )
    }
}

impl Change {
    fn of(line: usize, subject: Subject, old: Option<Outcome>, new: Option<Outcome>) -> Self {
        let outcome = Changed { old: old.map(Claim::Outcome), new: new.map(Claim::Outcome) };
        Self { line, subject, written_as: None, outcome, hash: Changed { old: None, new: None } }
    }

    /// Returns `true` if the closing line changes, which follows from the other lines.
    #[must_use]
    pub fn is_of_closing_line(&self) -> bool {
        self.subject == Subject::End
    }

    fn is_of_hash_alone(&self) -> bool {
        let Self { written_as, outcome, hash, .. } = self;
        let is_same = written_as.is_none() && outcome.old == outcome.new;
        is_same && hash.old.is_some() && hash.old != hash.new
    }

    /// Groups the changes of a file. Consecutive entries of which only the hash changes form one group.
    pub fn in_units(changes: &[Self]) -> impl Iterator<Item = &[Self]> {
        changes.chunk_by(|one, next| one.is_of_hash_alone() && next.is_of_hash_alone())
    }

    /// Returns all changes of a file as lines. Consecutive entries of which only the hash changes are shown together.
    #[must_use]
    pub fn lines(file: &str, changes: &[Self]) -> Vec<Line> {
        let mut lines = Vec::new();
        for run in Self::in_units(changes) {
            let [first, .., last] = run else {
                for change in run {
                    lines.extend(change.own_lines(file));
                }
                continue;
            };
            if let (Some(from), Some(to)) = (first.subject.seq(), last.subject.seq()) {
                let place = format!("{}:{}", printable(file), first.line);
                let heading = format!("{place}: entries {from} to {to}: only the state hashes change");
                lines.push(strong(heading).into());
            }
        }
        lines
    }

    fn own_lines(&self, file: &str) -> Vec<Line> {
        let heading = format!("{}:{}: {}", printable(file), self.line, self.subject);
        let mut lines = vec![Line::from(strong(heading))];
        if let (Some(old), Some((_, new))) = (&self.written_as, self.subject.command()) {
            lines.push(removed(format_args!("- {old}")).into());
            lines.push(added(format_args!("+ {new}")).into());
        }
        match &self.outcome {
            Changed { old: Some(old), new: Some(new) } if old != new => {
                lines.extend(old.changes(new));
            }
            Changed { old: None, new: Some(new) } => lines.extend(new.added()),
            _ => {}
        }
        if self.hash.old != self.hash.new {
            if let Some(old) = self.hash.old {
                lines.push(removed(format_args!("- #{old}")).into());
            }
            if let Some(new) = self.hash.new {
                lines.push(added(format_args!("+ #{new}")).into());
            }
        }
        lines
    }
}

fn untrue(replay: &Replay, line: Option<usize>, what: &str) -> ReplayError {
    ReplayError::Untrue { file: replay.file.clone(), line, what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::replay;

    const SCRIPT: &str = "1 host roll 6 6 1 1\n2 p2 click 0,-3\n3 p2 move 0,-2\n";

    fn shown(replay: &Replay) -> Vec<String> {
        let changes = replay.changes(&replay.bless().unwrap());
        Change::lines("x.tfl", &changes).into_iter().map(|line| line.to_string()).collect()
    }

    /// Changes every hash of a blessed match in its first digit, from an entry on, as another rules build might have.
    fn other_hashes(from: u64) -> Replay {
        let mut altered = replay(SCRIPT).bless().unwrap();
        for line in &mut altered.lines {
            if let ReplayLine::Entry(LogEntry { seq, hash: Some(hash), .. }) = line
                && *seq >= from
            {
                let old = hash.to_string();
                let digit = if old.starts_with('0') { "1" } else { "0" };
                *hash = format!("{digit}{}", &old[1..]).parse().unwrap();
            }
        }
        let state = altered.closing.unwrap().state;
        altered.close(state);
        altered
    }

    #[test]
    fn a_replay_blessed_in_part_is_closed_over_its_lines() {
        let old = other_hashes(2);
        let blessed = old.bless().unwrap();
        assert_eq!(old.bless_lines(&blessed, |_| true), blessed);
        let line = old.changes(&blessed)[0].line;
        let mixed = old.bless_lines(&blessed, |number| number == line);
        assert_eq!(shown(&mixed)[0], "x.tfl:20: entry 3 (p2 move 0,-2)");
        let closing = mixed.closing.unwrap();
        assert_eq!((closing.state, closing.log), (blessed.closing.unwrap().state, mixed.log_digest()));
        assert_eq!(mixed.bless().unwrap(), blessed);
    }
}
