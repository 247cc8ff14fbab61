//! What blessing changes in a replay: told as lines for people and as documents for programs.

use serde::Serialize;
use turnfold_core::Seat;

use super::{AttemptLine, Closing, EntryLine, Line, Replay};
use crate::outcomes::{added_lines, changed_lines};
use crate::text::Tone;
use crate::text::printable;

/// A line that blessing writes otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The line in the file, from 1.
    line: usize,
    /// The entry; null for an attempt and the closing line.
    seq: Option<u64>,
    seat: Option<Seat>,
    /// As it will be written.
    command: Option<String>,
    /// What the command is now, where that is not canonical.
    written_as: Option<String>,
    /// The outcome, an attempt's rejection, or the closing line.
    outcome: Sides,
    state_hash: Sides,
}

/// A part of a line before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Sides {
    old: Option<String>,
    new: Option<String>,
}

/// States that fold to other hashes than the file has, under the version that the file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RulesChange {
    /// The first entry with another state.
    from_entry: u64,
    /// Whether the entries are not those whose digest the closing line holds.
    edited: bool,
    ruleset: &'static str,
    version: u32,
}

impl Replay {
    /// Lists the lines in which this replay differs from its blessed form.
    pub fn changes(&self, blessed: &Self) -> Vec<Change> {
        let pairs = self.numbered_lines().zip(&blessed.lines);
        let mut changes: Vec<Change> = pairs
            .filter_map(|((number, old), new)| match (old, new) {
                _ if old == new => None,
                (Line::Entry(old), Line::Entry(new)) => Some(Change::entry(number, old, new)),
                (Line::Attempt(old), Line::Attempt(new)) => Some(Change::attempt(number, old, new)),
                _ => None,
            })
            .collect();
        if self.closing != blessed.closing {
            changes.push(Change::closing(self.closing_line(), self.closing, blessed.closing));
        }
        changes
    }

    /// Returns this replay with those lines of its blessed form that are accepted, and the closing line that belongs to
    /// the lines as they then stand.
    pub fn bless_lines(&self, blessed: &Self, is_accepted: impl Fn(usize) -> bool) -> Self {
        let pairs = self.numbered_lines().zip(&blessed.lines);
        let chosen = pairs.map(|((number, old), new)| if is_accepted(number) { new } else { old });
        let mut replay = Self { lines: chosen.cloned().collect(), ..self.clone() };
        if let Some(closing) = blessed.closing {
            replay.close(closing.state);
        }
        replay
    }

    /// Finds out whether the rules make other states of the same commands than they did when the file was blessed.
    pub fn rules_change(&self, blessed: &Self) -> Option<RulesChange> {
        let differs = |(old, new): &(&EntryLine, &EntryLine)| old.hash.is_some() && old.hash != new.hash;
        let (first, _) = self.entries().zip(blessed.entries()).find(differs)?;
        let edited = self.closing.is_none_or(|closing| closing.log != self.log_digest());
        let rules = self.header.rules;
        Some(RulesChange { from_entry: first.seq, edited, ruleset: rules.name(), version: rules.version() })
    }
}

impl RulesChange {
    /// Points it out in one line.
    pub fn text(&self) -> String {
        let Self { from_entry, edited, ruleset, version } = self;
        let unless = match (edited, from_entry) {
            (true, _) => "unless that comes of editing the file, it",
            // A raised version changes every hash, so no entry before this one could tell.
            (false, 1) => "unless VERSION and the header were raised together just now, that",
            (false, _) => "that",
        };
        format!(
            "from entry {from_entry} on, the rules come to other states than the file tells, under the same \
             version {version} of `{ruleset}`: {unless} is a rules change; raise the ruleset's VERSION"
        )
    }
}

impl Change {
    fn entry(line: usize, old: &EntryLine, new: &EntryLine) -> Self {
        Self {
            line,
            seq: Some(new.seq),
            seat: Some(new.seat),
            command: Some(new.command.clone()),
            written_as: Some(old.command.clone()).filter(|command| *command != new.command),
            outcome: Sides { old: old.outcome.clone(), new: new.outcome.clone() },
            state_hash: Sides { old: old.hash.clone(), new: new.hash.clone() },
        }
    }

    fn attempt(line: usize, old: &AttemptLine, new: &AttemptLine) -> Self {
        let rejected = |code: &Option<String>| code.as_ref().map(|code| format!("rejected {code}"));
        Self {
            line,
            seq: None,
            seat: Some(new.seat),
            command: Some(new.command.clone()),
            written_as: None,
            outcome: Sides { old: rejected(&old.code), new: rejected(&new.code) },
            state_hash: Sides { old: None, new: None },
        }
    }

    fn closing(line: usize, old: Option<Closing>, new: Option<Closing>) -> Self {
        let text = |closing: Option<Closing>| closing.map(|closing| closing.to_string());
        Self {
            line,
            seq: None,
            seat: None,
            command: None,
            written_as: None,
            outcome: Sides { old: text(old), new: text(new) },
            state_hash: Sides { old: None, new: None },
        }
    }

    /// Returns the line in the file, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns `true` if it is the closing line that changes, which follows from the other lines.
    pub fn is_of_closing_line(&self) -> bool {
        self.seat.is_none()
    }

    fn is_of_hash_alone(&self) -> bool {
        let known = self.state_hash.old.is_some();
        known && self.written_as.is_none() && self.outcome.old == self.outcome.new
    }

    /// Tells the change in full, line by line.
    fn lines(&self, file: &str) -> Vec<(Tone, String)> {
        let place = match (self.seq, self.seat, &self.command) {
            (Some(seq), Some(seat), Some(command)) => format!("entry {seq} ({seat} {command})"),
            (None, Some(seat), Some(command)) => format!("attempt ({seat} {command})"),
            _ => "closing line".into(),
        };
        let mut lines = vec![(Tone::Strong, format!("{}:{}: {place}", printable(file), self.line))];
        if let (Some(old), Some(new)) = (&self.written_as, &self.command) {
            lines.extend(changed_lines(old, new));
        }
        match (&self.outcome.old, &self.outcome.new) {
            (Some(old), Some(new)) if old != new => lines.extend(changed_lines(old, new)),
            (None, Some(new)) => lines.extend(added_lines(new)),
            _ => {}
        }
        if self.state_hash.old != self.state_hash.new {
            lines.extend(self.state_hash.old.as_ref().map(|hash| (Tone::Old, format!("- #{hash}"))));
            lines.extend(self.state_hash.new.as_ref().map(|hash| (Tone::New, format!("+ #{hash}"))));
        }
        lines
    }
}

/// Splits the changes of a file into those that belong together: entries in a row of which only the hash changes.
pub fn in_units(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(|one, next| one.is_of_hash_alone() && next.is_of_hash_alone())
}

/// Tells all changes of a file; entries in a row of which only the hash changes are told together.
pub fn change_lines(file: &str, changes: &[Change]) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    for run in in_units(changes) {
        match run {
            [first, .., last] => {
                let seqs = first.seq.zip(last.seq).map(|(first, last)| format!("entries {first} to {last}"));
                let place = format!("{}:{}", printable(file), first.line);
                let what = seqs.unwrap_or_default();
                lines.push((Tone::Strong, format!("{place}: {what}: only the state hashes change")));
            }
            _ => lines.extend(run.iter().flat_map(|change| change.lines(file))),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfl::bless;
    use crate::tfl::example::{body, replay};

    const SCRIPT: &str = "1 host roll 6 6 1 1\n2 p2 click 0,-3\n3 p2 move 0,-2\n";

    fn told(replay: &Replay) -> Vec<String> {
        let changes = replay.changes(&bless(replay).unwrap());
        change_lines("x.tfl", &changes).into_iter().map(|(_, line)| line).collect()
    }

    /// Gives every hash of a blessed match another first digit, from an entry on, as another rules build might have.
    fn other_hashes(from: u64) -> Replay {
        let mut altered = bless(&replay(SCRIPT)).unwrap();
        for line in &mut altered.lines {
            if let Line::Entry(EntryLine { seq, hash: Some(hash), .. }) = line
                && *seq >= from
            {
                let digit = if hash.starts_with('0') { "1" } else { "0" };
                hash.replace_range(..1, digit);
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
        let line = old.changes(&blessed)[0].line();
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
            "from entry 2 on, the rules come to other states than the file tells, under the same version 1 of \
             `initiative`: that is a rules change",
        );
        check_rules_change(&other_hashes(1), "unless VERSION and the header were raised together just now");
        let edited = body(&other_hashes(2)).replace("3 p2 move 0,-2", "3 p2 move 0,-1");
        check_rules_change(&replay(&edited), "unless that comes of editing the file");
    }
}
