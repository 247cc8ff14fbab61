//! Compares two histories: where they part, and how their outcomes and states differ.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff};
use turnfold_core::{Digest, Outcome, Seat};

use super::{Claim, Difference, Divergence, DivergenceKind, Subject};
use crate::text::printable;
use crate::{ReplayError, SeatHistory, SourceName};

struct FoldedSide {
    side: Side,
    /// Ruleset, version, dice and setup as lines; the setup as TOML, for a player its visible part as JSON.
    game: String,
    /// The same as JSON.
    game_fields: Value,
    played: Vec<Played>,
    view: Value,
    /// Fields that never count as a difference.
    ignored: Vec<String>,
    /// Whether the history is a recording. Its states were recorded and not computed, so equal commands may lead to
    /// other states.
    is_recording: bool,
}

impl FoldedSide {
    fn of(seat_history: &SeatHistory, ignored: &[String]) -> Result<Self, ReplayError> {
        let is_recording = !seat_history.rules().has_rules();
        let setup = seat_history.setup()?;
        let mut ignored = ignored.to_vec();
        if is_recording
            && let Ok(setup) = toml::from_str::<Value>(&setup)
            && let Some(paths) = setup.get("ignore").and_then(Value::as_array)
        {
            for path in paths {
                ignored.extend(path.as_str().map(String::from));
            }
        }
        let mut played = Vec::new();
        let mut contradicted_at = None;
        let state = seat_history.fold(&mut |seen| {
            if contradicted_at.is_none() && seen.contradiction().is_some() {
                contradicted_at = Some(seen.seq());
            }
            let given = format!("{} {}", seen.seat(), seen.command());
            let mut state = None;
            if is_recording {
                state = Some(blake3::hash(without(seen.view(), &ignored).to_string().as_bytes()));
            }
            played.push(Played { seq: seen.seq(), given, outcome: seen.outcome(), state });
        })?;
        let side = Side {
            source: seat_history.name().clone(),
            name: seat_history.name().to_string(),
            entries: played.len() as u64,
            state_hash: seat_history.viewer().state_hash(state.as_ref()),
            recorded_differs_at: contradicted_at,
        };
        let ruleset = seat_history.rules().name();
        let version = seat_history.rules().version();
        let dice = seat_history.dice();
        let game = format!("ruleset {ruleset} version {version}\ndice {dice}\n{setup}");
        let setup: Option<Value> = toml::from_str(&setup).ok().or_else(|| serde_json::from_str(&setup).ok());
        let game_fields = json!({ "ruleset": ruleset, "version": version, "dice": dice, "setup": setup });
        let view = without(seat_history.viewer().view(state.as_ref()), &ignored);
        Ok(Self { side, game, game_fields, played, view, ignored, is_recording })
    }

    fn played_at(&self, index: Option<usize>) -> Option<&Played> {
        self.played.get(index?)
    }
}

struct Played {
    seq: u64,
    /// The seat and the command.
    given: String,
    outcome: Outcome,
    /// In a recording, the hash of the state after the entry without its ignored fields.
    state: Option<blake3::Hash>,
}

fn without(mut view: Value, ignored: &[String]) -> Value {
    for path in ignored {
        let names: Vec<_> =
            path.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        remove(&mut view, &names);
    }
    view
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((name, rest)) = path.split_first() else { return };
    match value {
        Value::Object(fields) if rest.is_empty() => fields.retain(|key, _| name != "*" && key != name),
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if name == "*" || key == name {
                    remove(value, rest);
                }
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter_mut().enumerate() {
                if name == "*" || *name == index.to_string() {
                    remove(value, rest);
                }
            }
        }
        _ => {}
    }
}

/// The comparison of two histories.
pub struct Comparison {
    /// Counts of the differences.
    pub stat: DiffStat,
    /// The first history.
    pub a: Side,
    /// The second history.
    pub b: Side,
    /// The fields in which the games differ.
    pub game: Vec<Difference>,
    /// The games (ruleset, dice, setup) as a unified diff; empty if they are the same.
    pub game_diff: String,
    /// The commands as a unified diff; empty if they are the same.
    pub commands: String,
    /// The numbers of the aligned entries that only one history has or whose outcomes differ.
    pub pairs: Vec<(Option<u64>, Option<u64>)>,
    /// The equal commands with different outcomes, each with its number in the second history.
    pub outcomes: Vec<(Divergence, u64)>,
    /// The fields in which the views at the end differ.
    pub state: Vec<Difference>,
    /// For recordings, the first equal command after which the states differ.
    pub states_part: Option<StatesPart>,
}

/// The first equal command after which two recordings have different states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatesPart {
    /// The command's number in the first history.
    pub a: u64,
    /// The command's number in the second history.
    pub b: u64,
    /// The fields that differ.
    pub fields: Vec<Difference>,
}

/// Counts of the differences.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DiffStat {
    /// Whether nothing differs.
    pub equal: bool,
    /// Whether ruleset, version, setup and dice are the same.
    pub same_game: bool,
    /// The number of the first entry that is not the same in both.
    pub parts_at: Option<u64>,
    /// The number of commands that only the first history has.
    pub only_in_a: u64,
    /// The number of commands that only the second history has.
    pub only_in_b: u64,
    /// The number of equal commands whose outcomes differ.
    pub outcomes_differ: u64,
    /// The number of fields in which the views at the end differ.
    pub fields_differ: u64,
    /// Whether an alignment with fewer differing commands may exist. It was not searched for, because the histories are
    /// very long and have little in common.
    #[serde(skip)]
    pub may_be_shorter: bool,
}

/// One of two histories that are compared.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The name of its source.
    #[serde(skip)]
    pub source: SourceName,
    pub(crate) name: String,
    /// The number of entries.
    pub entries: u64,
    /// The hash of the state at the end; `None` for a player.
    pub state_hash: Option<Digest>,
    /// The number of the first entry that the source records otherwise than the rules of this build compute it.
    pub recorded_differs_at: Option<u64>,
}

impl Side {
    /// Returns the name with unprintable characters escaped.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        printable(&self.name)
    }
}

/// Aligns the commands of two histories, whatever their numbers, and compares their outcomes. Unified diffs have
/// `context` lines around each change. Fields at the `ignored` paths are shown, but never count as a difference; the
/// name `*` in a path matches every name.
///
/// # Errors
/// As for [`SeatHistory::fold`] of either history.
pub fn compare(
    a: &SeatHistory,
    b: &SeatHistory,
    ignored: &[String],
    context: usize,
) -> Result<Comparison, ReplayError> {
    let folded_a = FoldedSide::of(a, ignored)?;
    let folded_b = FoldedSide::of(b, ignored)?;
    let ignored = folded_a.ignored.clone();
    let mut comparison = compare_folded(folded_a, folded_b, context);
    if let Some(part) = &mut comparison.states_part {
        let old = without(view_after(a, part.a)?, &ignored);
        let new = without(view_after(b, part.b)?, &ignored);
        part.fields = Difference::between(&old, &new);
    }
    Ok(comparison)
}

fn view_after(seat_history: &SeatHistory, seq: u64) -> Result<Value, ReplayError> {
    let mut view = Value::Null;
    seat_history.fold(&mut |seen| {
        if seen.seq() == seq {
            view = seen.view();
        }
    })?;
    Ok(view)
}

fn compare_folded(a: FoldedSide, b: FoldedSide, context: usize) -> Comparison {
    let commands_a: Vec<&str> = a.played.iter().map(|played| played.given.as_str()).collect();
    let commands_b: Vec<&str> = b.played.iter().map(|played| played.given.as_str()).collect();
    let (diff, shortest) = aligned(&commands_a, &commands_b);
    let mut pairs = Vec::new();
    let mut outcomes = Vec::new();
    let mut states_part = None;
    let same_game = a.game == b.game;
    let mut stat = DiffStat { same_game, may_be_shorter: !shortest, ..DiffStat::default() };
    for change in diff.iter_all_changes() {
        let old = a.played_at(change.old_index());
        let new = b.played_at(change.new_index());
        match (old, new) {
            (Some(old), Some(new)) => {
                if states_part.is_none() && old.state != new.state {
                    states_part = Some(StatesPart { a: old.seq, b: new.seq, fields: Vec::new() });
                }
                if old.outcome == new.outcome {
                    continue;
                }
                outcomes.push((old.divergence(new), new.seq));
            }
            (_, None) => stat.only_in_a += 1,
            (None, _) => stat.only_in_b += 1,
        }
        pairs.push((old.map(|played| played.seq), new.map(|played| played.seq)));
    }
    let parts = stat.only_in_a + stat.only_in_b > 0;
    let mut commands = String::new();
    if parts {
        commands = unified(&a, &b, &diff, context);
        stat.parts_at = first_other(&a.played, &b.played);
    }
    let mut game = Vec::new();
    let mut game_diff = String::new();
    if !same_game {
        game = Difference::between(&a.game_fields, &b.game_fields);
        let diff = TextDiff::from_lines(&a.game, &b.game);
        let mut unified = diff.unified_diff();
        game_diff = unified.context_radius(context).header(&a.side.shown(), &b.side.shown()).to_string();
    }
    let state = Difference::between(&a.view, &b.view);
    stat.outcomes_differ = outcomes.len() as u64;
    stat.fields_differ = state.len() as u64;
    stat.equal = same_game
        && !parts
        && (a.is_recording || a.side.state_hash == b.side.state_hash)
        && states_part.is_none()
        && outcomes.is_empty()
        && state.is_empty();
    Comparison { stat, a: a.side, b: b.side, game, game_diff, commands, pairs, outcomes, state, states_part }
}

/// The most commands that only one history has, up to which the shortest diff is searched for. The search takes up to
/// half the square of that number in steps.
const SHORTEST_COMMANDS_MAX: usize = 10_000;

/// Aligns commands, and returns `true` if no other alignment has fewer commands that only one history has. The default
/// of `similar` is quick, but may not be the shortest from a few hundred such commands on.
fn aligned<'a>(a: &[&'a str], b: &[&'a str]) -> (TextDiff<'a, 'a, str>, bool) {
    let quick = TextDiff::from_slices(a, b);
    if changed_count(&quick) > SHORTEST_COMMANDS_MAX {
        return (quick, false);
    }
    (TextDiff::configure().algorithm(Algorithm::RawMyers).diff_slices(a, b), true)
}

fn changed_count(diff: &TextDiff<'_, '_, str>) -> usize {
    let mut count = 0;
    for op in diff.ops() {
        if op.tag() != DiffTag::Equal {
            count += op.old_range().len() + op.new_range().len();
        }
    }
    count
}

impl Played {
    fn divergence(&self, other: &Self) -> Divergence {
        let (seat, command) = self.given.split_once(' ').unwrap_or_default();
        let seat = seat.parse().unwrap_or(Seat::Host);
        let old = Claim::Outcome(self.outcome.clone());
        let new = Claim::Outcome(other.outcome.clone());
        let subject = Subject::Entry { seq: self.seq, seat, command: command.into() };
        Divergence::new(subject, DivergenceKind::Outcome, Some(old), new)
    }
}

/// Returns the number of the first entry that differs; if one history has ended before it, the other one's number.
fn first_other(a: &[Played], b: &[Played]) -> Option<u64> {
    let mut index = 0;
    loop {
        match (a.get(index), b.get(index)) {
            (Some(a), Some(b)) if a.given == b.given && a.seq == b.seq => index += 1,
            (Some(a), Some(b)) => return Some(a.seq.min(b.seq)),
            (Some(played), None) | (None, Some(played)) => return Some(played.seq),
            (None, None) => return None,
        }
    }
}

fn unified(a: &FoldedSide, b: &FoldedSide, diff: &TextDiff<'_, '_, str>, context: usize) -> String {
    let mut text = format!("--- {}\n+++ {}\n", a.side.shown(), b.side.shown());
    for group in diff.grouped_ops(context) {
        text.extend([UnifiedHunkHeader::new(&group).to_string().as_str(), "\n"]);
        for op in &group {
            for change in diff.iter_changes(op) {
                let played = match change.tag() {
                    ChangeTag::Insert => b.played_at(change.new_index()),
                    ChangeTag::Equal | ChangeTag::Delete => a.played_at(change.old_index()),
                };
                if let Some(Played { seq, given, .. }) = played {
                    text.extend([&change.tag().to_string(), &seq.to_string(), " ", given, "\n"]);
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns pseudorandom commands for a seed.
    fn commands_of(mut seed: u64, count: usize, kinds: u64) -> Vec<String> {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("p1 go {}", (seed >> 33) % kinds)
        };
        (0..count).map(|_| next()).collect()
    }

    /// Returns the smallest number of commands that only one of two lists has, computed with a table of all prefixes.
    fn fewest(a: &[&str], b: &[&str]) -> usize {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (at, a) in a.iter().enumerate() {
            let mut before = row[0];
            row[0] = at + 1;
            for (index, b) in b.iter().enumerate() {
                let both = if a == b { before } else { usize::MAX };
                before = row[index + 1];
                row[index + 1] = both.min(row[index + 1].min(row[index]) + 1);
            }
        }
        row.last().copied().unwrap_or_default()
    }

    #[test]
    fn no_comparison_of_long_unlike_histories_has_fewer_commands() {
        for (count, kinds) in [(50, 5), (400, 100), (500, 60), (700, 20)] {
            let lists = [commands_of(1, count, kinds), commands_of(2, count + 7, kinds)];
            let [a, b] = [0, 1].map(|side| lists[side].iter().map(String::as_str).collect::<Vec<_>>());
            let (diff, shortest) = aligned(&a, &b);
            assert!(shortest);
            assert_eq!(changed_count(&diff), fewest(&a, &b), "{count} {kinds}");
        }
    }

    #[test]
    fn a_comparison_of_very_long_unlike_histories_is_quick_and_may_be_longer() {
        let lists = [commands_of(1, 6_000, 100_000), commands_of(2, 6_000, 100_000)];
        let [a, b] = [0, 1].map(|side| lists[side].iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!aligned(&a, &b).1);
    }
}
