//! What blessing changes in a replay, as lines for people and as documents for programs.

use std::fmt::Display;

use serde::{Serialize, Serializer};
use turnfold_core::{Outcome, Seat};

use crate::compare::divergence::{Divergence, DivergenceKind, Subject};
use crate::compare::outcomes::{added_lines, changed_lines};
use crate::history::entry::{Attempt, LogEntry, ShortHash};
use crate::render::text::{Line, added, printable, removed, strong};
use crate::tfl::{Closing, Replay, ReplayLine};

/// A line that blessing changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The line in the file, from 1.
    pub line: usize,
    changed: Changed,
}

/// What stands on a line before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Changed {
    Entry { old: LogEntry, new: LogEntry },
    Attempt { old: Attempt, new: Attempt },
    Closing { old: Option<Closing>, new: Option<Closing> },
}

/// A change as a JSON document.
#[derive(Serialize)]
struct ChangeJson<'a> {
    line: usize,
    /// The entry; null for an attempt and the closing line.
    seq: Option<u64>,
    seat: Option<Seat>,
    /// As it will be written.
    command: Option<&'a str>,
    /// What the command is now, where that is not canonical.
    written_as: Option<String>,
    /// The outcome, an attempt's rejection, or the closing line.
    outcome: Sides<String>,
    state_hash: Sides<ShortHash>,
}

/// A part of a line before and after.
#[derive(Serialize)]
struct Sides<T> {
    old: Option<T>,
    new: Option<T>,
}

/// States that fold to other hashes than the file has, under the version that the file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulesChange {
    /// The first entry with another state.
    from_entry: u64,
    /// Whether header and entries are not those whose digest the closing line holds.
    edited: bool,
    ruleset: &'static str,
    version: u32,
}

impl Replay {
    /// Returns the lines in which this replay differs from its blessed form.
    #[must_use]
    pub fn changes(&self, blessed: &Self) -> Vec<Change> {
        let pairs = self.numbered_lines().zip(&blessed.lines).filter(|((_, old), new)| old != new);
        let of_lines = pairs.filter_map(|((line, old), new)| {
            let changed = match (old, new) {
                (ReplayLine::Entry(old), ReplayLine::Entry(new)) => {
                    Changed::Entry { old: old.clone(), new: new.clone() }
                }
                (ReplayLine::Attempt(old), ReplayLine::Attempt(new)) => {
                    Changed::Attempt { old: old.clone(), new: new.clone() }
                }
                _ => return None,
            };
            Some(Change { line, changed })
        });
        let mut changes: Vec<Change> = of_lines.collect();
        if self.closing != blessed.closing {
            let of_closing = Changed::Closing { old: self.closing, new: blessed.closing };
            changes.push(Change { line: self.closing_line(), changed: of_closing });
        }
        changes
    }

    /// Returns this replay with those lines of its blessed form that are accepted, and the closing line that belongs to
    /// the lines as they then stand.
    #[must_use]
    pub fn bless_lines(&self, blessed: &Self, is_accepted: impl Fn(usize) -> bool) -> Self {
        let pairs = self.numbered_lines().zip(&blessed.lines);
        let chosen = pairs.map(|((number, old), new)| if is_accepted(number) { new } else { old });
        let mut replay = Self { lines: chosen.cloned().collect(), ..self.clone() };
        if let Some(closing) = blessed.closing {
            replay.close(closing.state);
        }
        replay
    }

    /// Returns where the rules make other states of the same commands than they did when the file was blessed.
    #[must_use]
    pub fn rules_change(&self, blessed: &Self) -> Option<RulesChange> {
        let differs = |(old, new): &(&LogEntry, &LogEntry)| old.hash.is_some() && old.hash != new.hash;
        let (first, _) = self.entries().zip(blessed.entries()).find(differs)?;
        let edited = self.closing.is_none_or(|closing| closing.log != self.log_digest());
        let rules = self.header.rules;
        Some(RulesChange { from_entry: first.seq, edited, ruleset: rules.name(), version: rules.version() })
    }
}

impl RulesChange {
    /// Returns it in one line.
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
    fn subject(&self) -> Subject {
        match &self.changed {
            Changed::Entry { new, .. } => Subject::of_entry(new),
            Changed::Attempt { new, .. } => Subject::of_attempt(0, new),
            Changed::Closing { .. } => Subject::End { after: 0 },
        }
    }

    /// Returns `true` if it is the closing line that changes, which follows from the other lines.
    #[must_use]
    pub fn is_of_closing_line(&self) -> bool {
        matches!(self.changed, Changed::Closing { .. })
    }

    fn is_of_hash_alone(&self) -> bool {
        let Changed::Entry { old, new } = &self.changed else { return false };
        Divergence::of_entry(old, new).is_some_and(|found| found.kind == DivergenceKind::StateHash)
    }

    /// Returns the change in full, line by line.
    fn lines(&self, file: &str) -> Vec<Line> {
        let heading = format!("{}:{}: {}", printable(file), self.line, self.subject());
        let mut lines = vec![Line::from(strong(heading))];
        match &self.changed {
            Changed::Entry { old, new } => {
                if old.command != new.command {
                    lines.extend(replaced(Some(&old.command), Some(&new.command), ""));
                }
                lines.extend(outcome_lines(old.outcome.as_ref(), new.outcome.as_ref()));
                if old.hash != new.hash {
                    lines.extend(replaced(old.hash.as_ref(), new.hash.as_ref(), "#"));
                }
            }
            Changed::Attempt { old, new } => {
                lines.extend(outcome_lines(old.outcome.as_ref(), new.outcome.as_ref()));
            }
            Changed::Closing { old, new } => lines.extend(replaced(old.as_ref(), new.as_ref(), "")),
        }
        lines
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let subject = self.subject();
        let (seat, command) = subject.command().unzip();
        let (outcome, state_hash, written_as) = match &self.changed {
            Changed::Entry { old, new } => {
                let written_as = (old.command != new.command).then(|| old.command.to_string());
                (
                    Sides::of(old.outcome.as_ref(), new.outcome.as_ref()),
                    Sides { old: old.hash, new: new.hash },
                    written_as,
                )
            }
            Changed::Attempt { old, new } => {
                (Sides::of(old.outcome.as_ref(), new.outcome.as_ref()), Sides::NONE, None)
            }
            Changed::Closing { old, new } => (Sides::of(old.as_ref(), new.as_ref()), Sides::NONE, None),
        };
        let json = ChangeJson {
            line: self.line,
            seq: subject.seq(),
            seat,
            command,
            written_as,
            outcome,
            state_hash,
        };
        json.serialize(serializer)
    }
}

impl<T> Sides<T> {
    const NONE: Self = Self { old: None, new: None };
}

impl Sides<String> {
    fn of(old: Option<&impl ToString>, new: Option<&impl ToString>) -> Self {
        Self { old: old.map(ToString::to_string), new: new.map(ToString::to_string) }
    }
}

fn outcome_lines(old: Option<&Outcome>, new: Option<&Outcome>) -> Vec<Line> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => changed_lines(old, new),
        (None, Some(new)) => added_lines(new),
        _ => Vec::new(),
    }
}

/// Returns a part of a line before and after, each behind a sign.
fn replaced(old: Option<&impl Display>, new: Option<&impl Display>, sign: &str) -> Vec<Line> {
    let old = old.map(|old| removed(format_args!("- {sign}{old}")).into());
    let new = new.map(|new| added(format_args!("+ {sign}{new}")).into());
    old.into_iter().chain(new).collect()
}

/// Groups the changes of a file: consecutive entries with only a changed hash belong together.
pub fn in_units(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(|one, next| one.is_of_hash_alone() && next.is_of_hash_alone())
}

/// Returns all changes of a file as lines; consecutive entries with only a changed hash are shown together.
#[must_use]
pub fn change_lines(file: &str, changes: &[Change]) -> Vec<Line> {
    let mut lines = Vec::new();
    for run in in_units(changes) {
        match run {
            [first, .., last] => {
                let seqs = first
                    .subject()
                    .seq()
                    .zip(last.subject().seq())
                    .map(|(first, last)| format!("entries {first} to {last}"));
                let place = format!("{}:{}", printable(file), first.line);
                let what = seqs.unwrap_or_default();
                let heading = format_args!("{place}: {what}: only the state hashes change");
                lines.push(strong(heading).into());
            }
            _ => lines.extend(run.iter().flat_map(|change| change.lines(file))),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{body, replay};
    use crate::golden::bless::bless;

    const SCRIPT: &str = "1 host roll 6 6 1 1\n2 p2 click 0,-3\n3 p2 move 0,-2\n";

    fn told(replay: &Replay) -> Vec<String> {
        let changes = replay.changes(&bless(replay).unwrap());
        change_lines("x.tfl", &changes).into_iter().map(|line| line.to_string()).collect()
    }

    /// Changes every hash of a blessed match in its first digit, from an entry on, as another rules build might have.
    fn other_hashes(from: u64) -> Replay {
        let mut altered = bless(&replay(SCRIPT)).unwrap();
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
    fn a_blessed_replay_has_no_changes() {
        let blessed = bless(&replay(SCRIPT)).unwrap();
        assert_eq!(told(&blessed), Vec::<String>::new());
        assert_eq!(blessed.rules_change(&blessed), None);
    }

    #[test]
    fn filling_in_is_no_rules_change() {
        let script = replay(SCRIPT);
        let blessed = bless(&script).unwrap();
        assert_eq!(script.rules_change(&blessed), None);
        let told = told(&script);
        assert_eq!(told[0], "x.tfl:18: entry 1 (host roll 6 6 1 1)");
        assert_eq!(told[1], "+ rolled p1=12 p2=2");
        assert!(!told.iter().any(|line| line.starts_with("- ")));
        assert_eq!(told.iter().filter(|line| line.contains("closing line")).count(), 1);
    }

    #[test]
    fn a_replay_blessed_in_part_is_closed_over_its_lines() {
        let old = other_hashes(2);
        let blessed = bless(&old).unwrap();
        assert_eq!(old.bless_lines(&blessed, |_| true), blessed);
        let line = old.changes(&blessed)[0].line;
        let mixed = old.bless_lines(&blessed, |number| number == line);
        assert_eq!(told(&mixed)[0], "x.tfl:20: entry 3 (p2 move 0,-2)");
        let closing = mixed.closing.unwrap();
        assert_eq!((closing.state, closing.log), (blessed.closing.unwrap().state, mixed.log_digest()));
        assert_eq!(bless(&mixed).unwrap(), blessed);
    }

    #[test]
    fn hashes_that_change_in_a_row_are_told_together() {
        assert_eq!(told(&other_hashes(2))[0], "x.tfl:19: entries 2 to 3: only the state hashes change");
    }

    /// Requires what is said when the hashes changed.
    fn check_rules_change(altered: &Replay, expected: &str) {
        let change = altered.rules_change(&bless(altered).unwrap()).unwrap();
        let text = change.text();
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn other_states_of_the_same_commands_are_a_rules_change() {
        check_rules_change(
            &other_hashes(2),
            "from entry 2 on, state hashes differ from those recorded, under the same version 1 of \
             `initiative`: that is a rules change",
        );
        let edited = body(&other_hashes(2)).replace("3 p2 move 0,-2", "3 p2 move 0,-1");
        check_rules_change(&replay(&edited), "unless that comes from editing the file");
    }
}
