//! The output of `diff`, which compares two histories.

use serde::Serialize;
use turnfold_history::compare::{Comparison, DiffStat, Difference, Divergence, Side, StatesPart};
use turnfold_history::text::{Line, TextSpan, Tone, counted, dim, plain, strong, warning};
use turnfold_history::{FileName, Record, ReplayError, SeatHistory};

/// The output of `diff --format json`.
#[derive(Debug, Serialize)]
pub struct DiffDocument<'a> {
    #[serde(flatten)]
    stat: &'a DiffStat,
    a: &'a Side,
    b: &'a Side,
    /// The fields in which the games differ: ruleset, version, dice, setup.
    game: &'a [Difference],
    /// The entries that only one of them has, and the entries with different outcomes.
    entries: Vec<EntryPair>,
    state: &'a [Difference],
    #[serde(skip_serializing_if = "Option::is_none")]
    states_part: &'a Option<StatesPart>,
}

/// An entry of each history, or of one.
#[derive(Debug, Serialize)]
struct EntryPair {
    a: Option<Record>,
    b: Option<Record>,
}

impl<'a> DiffDocument<'a> {
    /// Folds the two histories of a comparison again, for the records of the entries that differ.
    ///
    /// # Errors
    /// What is wrong with either history.
    pub fn of(comparison: &'a Comparison, [a, b]: [&SeatHistory; 2]) -> Result<Self, ReplayError> {
        let Comparison { stat, pairs, .. } = comparison;
        let mut records_a = a.records_of(pairs.iter().filter_map(|(seq, _)| *seq))?;
        let mut records_b = b.records_of(pairs.iter().filter_map(|(_, seq)| *seq))?;
        let mut entries = Vec::new();
        for (a, b) in pairs {
            let a = a.and_then(|seq| records_a.remove(&seq));
            let b = b.and_then(|seq| records_b.remove(&seq));
            entries.push(EntryPair { a, b });
        }
        Ok(Self {
            stat,
            a: &comparison.a,
            b: &comparison.b,
            game: &comparison.game,
            entries,
            state: &comparison.state,
            states_part: &comparison.states_part,
        })
    }
}

/// Returns the lines of `diff --stat`, which count the differences.
#[must_use]
pub fn stat_lines(comparison: &Comparison) -> Vec<Line> {
    if comparison.stat.equal {
        return lines(comparison);
    }
    let DiffStat { same_game, parts_at, only_in_a, only_in_b, outcomes_differ, fields_differ, .. } =
        comparison.stat;
    let game = if same_game { "" } else { "other game, " };
    let parts = match parts_at {
        Some(seq) => format!("parts at entry {seq}"),
        None => "same commands".into(),
    };
    let line = Line::from(format!(
        "{game}{parts}, {}, {}, {}, {}",
        only_in(&comparison.a, only_in_a),
        only_in(&comparison.b, only_in_b),
        counted(outcomes_differ, "outcome differs", "outcomes differ"),
        counted(fields_differ, "field differs", "fields differ"),
    ));
    let mut lines = vec![line];
    lines.extend(longer(comparison));
    lines
}

fn only_in(side: &Side, count: u64) -> String {
    format!("{} only in {}", counted(count, "command", "commands"), side.shown())
}

fn longer(comparison: &Comparison) -> Option<Line> {
    if !comparison.stat.may_be_shorter {
        return None;
    }
    let text = " the histories are long and have little in common, so fewer commands than these may suffice";
    Some([warning("note:"), plain(text)].into())
}

/// Returns the lines of `diff`.
#[must_use]
pub fn lines(comparison: &Comparison) -> Vec<Line> {
    let Comparison { stat, a, b, .. } = comparison;
    let mut lines: Vec<_> = note(a).into_iter().collect();
    lines.extend(note(b));
    if stat.equal {
        let entries = counted(a.entries, "entry", "entries");
        let equal = Line::from(format!("{} and {} are equal: {entries}", a.shown(), b.shown()));
        // States of recordings may differ in ignored fields, and then have no common hash.
        lines.push(match a.state_hash {
            Some(hash) if b.state_hash == Some(hash) => equal.then(dim(format_args!(" #{hash:.16}"))),
            _ => equal,
        });
        return lines;
    }
    if !stat.same_game {
        lines.push(strong("the games differ from the start").into());
        lines.extend(unified(&comparison.game_diff));
    }
    let parts = match stat.parts_at {
        Some(seq) => format!("the histories part at entry {seq}"),
        None => format!("both play the same {}", counted(a.entries, "command", "commands")),
    };
    lines.push(strong(parts).into());
    lines.extend(unified(&comparison.commands));
    lines.extend(longer(comparison));
    if !comparison.outcomes.is_empty() {
        lines.push(strong("outcomes that differ although the command is the same").into());
    }
    lines.extend(comparison.outcomes.iter().flat_map(outcome));
    if let Some(StatesPart { a, b, fields }) = &comparison.states_part {
        let other = if a == b { String::new() } else { format!(", there entry {b}") };
        lines.push(strong(format_args!("the states part at entry {a}{other}")).into());
        lines.extend(fields.iter().map(|difference| Line::from(format!("  {difference}"))));
    }
    if comparison.state.is_empty() {
        let is_equal = a.state_hash.is_some() && a.state_hash == b.state_hash;
        lines.push(strong(if is_equal { "the states are equal" } else { "the views are equal" }).into());
        return lines;
    }
    lines.push(strong(format_args!("state, {} → {}", a.shown(), b.shown())).into());
    lines.extend(comparison.state.iter().map(|difference| Line::from(format!("  {difference}"))));
    lines
}

fn note(side: &Side) -> Option<Line> {
    let seq = side.recorded_differs_at?;
    let explains = match &side.source {
        source if source.is_standard_input() => String::new(),
        source => {
            let file = FileName::shell_path(&source.up_to(None).to_string());
            format!("; a check of {file} explains")
        }
    };
    let text = format!(
        " {} records another outcome for entry {seq} than the current rules give; the current rules are used \
         here{explains}",
        side.shown()
    );
    Some([warning("note:"), plain(text)].into())
}

fn outcome((divergence, in_b): &(Divergence, u64)) -> Vec<Line> {
    let Divergence { subject, recorded, computed, .. } = divergence;
    let other = if subject.seq() == Some(*in_b) { String::new() } else { format!(", there entry {in_b}") };
    let mut lines = vec![Line::from(format!("  {subject}{other}"))];
    if let Some(recorded) = recorded {
        lines.extend(recorded.changes(computed));
    }
    lines
}

fn unified(diff: &str) -> impl Iterator<Item = Line> {
    diff.lines().map(|line| {
        let tone = match line.chars().next() {
            Some('+') => Tone::Added,
            Some('-') => Tone::Removed,
            Some('@') => Tone::Dim,
            _ => Tone::Plain,
        };
        TextSpan::new(tone, line).into()
    })
}
