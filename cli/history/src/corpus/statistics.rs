//! What many matches have in common: who wins, how long they are, which commands are given and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use turnfold_core::{MatchResult, Seat};

use crate::corpus::table::command_name;
use crate::corpus::wilson::ScoreInterval;
use crate::error::ReplayError;
use crate::viewer::seat_history::SeatHistory;

/// By what matches are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// By ruleset and version.
    Ruleset,
    /// By ruleset, version and setup.
    Setup,
    /// By title.
    Title,
}

/// What is counted of one match, as its viewer knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchCounts {
    group: String,
    seats: Vec<Seat>,
    result: Option<MatchResult>,
    entries: u64,
    /// From the first entry to the last, in milliseconds; a replay file does not know.
    duration_ms: Option<u64>,
    commands: Tally,
    outcomes: Tally,
    reasons: Tally,
}

/// How often something happened, by its name.
type Tally = BTreeMap<String, u64>;

impl MatchCounts {
    /// Counts a match.
    ///
    /// # Errors
    /// What is wrong with the history.
    pub fn of(seat_history: &SeatHistory, by: Grouping) -> Result<Self, ReplayError> {
        let [mut commands, mut outcomes, mut reasons] = [(); 3].map(|()| Tally::new());
        let mut times = None;
        let end = seat_history.fold(&mut |seen| {
            count(&mut commands, command_name(&seen.command()));
            let outcome = seen.outcome();
            count(&mut outcomes, outcome.kind());
            if let Some(reason) = outcome.code() {
                count(&mut reasons, reason);
            }
            if let Some(at_ms) = seen.recorded_at_ms() {
                // A clock may have gone back: an entry is at least as old as any later one.
                times = Some((times.map_or(at_ms, |(first, _): (i64, i64)| first.min(at_ms)), at_ms));
            }
        })?;
        let standing =
            seat_history.viewer().standing(end.as_ref()).map_or_else(|| seat_history.standing(), Ok)?;
        let rules = seat_history.rules();
        let ruleset = format!("{} {}", rules.name(), rules.version());
        let group = match by {
            Grouping::Ruleset => ruleset,
            Grouping::Setup => {
                format!("{ruleset}, setup {:.16}", blake3::hash(seat_history.setup()?.as_bytes()).to_hex())
            }
            Grouping::Title => seat_history.title().into(),
        };
        Ok(Self {
            group,
            seats: seat_history.start()?.players().to_vec(),
            result: standing.result,
            entries: seat_history.head(),
            duration_ms: times
                .map(|(first, last)| u64::try_from(last.saturating_sub(first)).unwrap_or_default()),
            commands,
            outcomes,
            reasons,
        })
    }
}

fn count(tally: &mut Tally, name: &str) {
    if let Some(count) = tally.get_mut(name) {
        *count += 1;
    } else {
        tally.insert(name.into(), 1);
    }
}

/// The groups of matches, which take in one match after another.
#[derive(Default)]
pub struct GroupedCounts(BTreeMap<String, Counts>);

/// What is counted of the matches of a group.
#[derive(Default)]
struct Counts {
    over: u64,
    draws: u64,
    seats: BTreeSet<Seat>,
    /// By seat: how many matches are over in which it plays, and how many of these it won.
    wins: BTreeMap<Seat, (u64, u64)>,
    lengths: Vec<u64>,
    durations_ms: Vec<u64>,
    commands: Tally,
    outcomes: Tally,
    reasons: Tally,
}

impl GroupedCounts {
    /// Takes in a match.
    pub fn add(&mut self, counted: MatchCounts) {
        let group = self.0.entry(counted.group).or_default();
        group.seats.extend(&counted.seats);
        group.lengths.push(counted.entries);
        group.durations_ms.extend(counted.duration_ms);
        if let Some(result) = counted.result {
            group.over += 1;
            group.draws += u64::from(result.draw);
            for seat in counted.seats {
                let (of, won) = group.wins.entry(seat).or_default();
                *of += 1;
                *won += u64::from(result.winners.contains(&seat));
            }
        }
        let tallies = [&mut group.commands, &mut group.outcomes, &mut group.reasons];
        for (sum, more) in tallies.into_iter().zip([counted.commands, counted.outcomes, counted.reasons]) {
            for (name, count) in more {
                *sum.entry(name).or_default() += count;
            }
        }
    }

    /// Returns the statistics of each group, by name.
    #[must_use]
    pub fn statistics(self) -> Vec<GroupStatistics> {
        self.0.into_iter().map(|(group, counts)| counts.statistics(group)).collect()
    }
}

/// The statistics of a group of matches. Their JSON is a contract.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupStatistics {
    /// What the matches have in common.
    pub group: String,
    /// How many there are.
    pub matches: u64,
    /// How many of them are over.
    pub over: u64,
    /// How many of them are draws.
    pub draws: u64,
    /// How often each seat won.
    pub wins: Vec<SeatWins>,
    /// How many entries the matches have.
    pub lengths: Spread,
    /// The lengths in classes of one width.
    pub histogram: Vec<LengthClass>,
    /// How long they took, in milliseconds, where that is known of any.
    pub durations_ms: Option<Spread>,
    /// How often each command was given, the most frequent first.
    pub commands: Vec<Frequency>,
    /// How often commands were applied and ignored.
    pub outcomes: Vec<Frequency>,
    /// Why commands were ignored, the most frequent first.
    pub reasons: Vec<Frequency>,
}

/// How often a seat won.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeatWins {
    /// The seat.
    pub seat: Seat,
    /// How many matches it won.
    pub wins: u64,
    /// How many matches in which it plays are over.
    pub of: u64,
    /// The share of the one in the other.
    #[serde(flatten)]
    pub share: Option<ScoreInterval>,
}

/// The sum, least, middle and most of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The sum.
    pub sum: u64,
    /// The least.
    pub least: u64,
    /// The middle one; of an even number of them the lower of the two.
    pub median: u64,
    /// The most.
    pub most: u64,
}

/// The matches whose numbers of entries are in a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LengthClass {
    /// The least number of entries.
    pub from: u64,
    /// The most.
    pub to: u64,
    /// How many matches there are.
    pub matches: u64,
}

/// How often something happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frequency {
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
}

impl Counts {
    fn statistics(mut self, group: String) -> GroupStatistics {
        self.lengths.sort_unstable();
        self.durations_ms.sort_unstable();
        let wins = self.seats.iter().map(|seat| {
            let (of, wins) = self.wins.get(seat).copied().unwrap_or_default();
            SeatWins { seat: *seat, wins, of, share: ScoreInterval::of(wins, of) }
        });
        GroupStatistics {
            group,
            matches: self.lengths.len() as u64,
            over: self.over,
            draws: self.draws,
            wins: wins.collect(),
            lengths: Spread::of(&self.lengths).unwrap_or(Spread { sum: 0, least: 0, median: 0, most: 0 }),
            histogram: histogram(&self.lengths),
            durations_ms: Spread::of(&self.durations_ms),
            commands: by_frequency(self.commands),
            outcomes: by_frequency(self.outcomes),
            reasons: by_frequency(self.reasons),
        }
    }
}

impl Spread {
    /// Computes it of sorted numbers.
    fn of(sorted: &[u64]) -> Option<Self> {
        let median = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
        let sum = sorted.iter().fold(0_u64, |sum, number| sum.saturating_add(*number));
        Some(Self { sum, least: *sorted.first()?, median, most: *sorted.last()? })
    }
}

fn by_frequency(tally: Tally) -> Vec<Frequency> {
    let mut found: Vec<_> = tally.into_iter().map(|(name, count)| Frequency { name, count }).collect();
    found.sort_by_key(|frequency| std::cmp::Reverse(frequency.count));
    found
}

const CLASSES_MAX: u64 = 10;

/// Sorts numbers in at most ten classes, whose width is 1, 2 or 5 times a power of ten.
fn histogram(sorted: &[u64]) -> Vec<LengthClass> {
    let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let widths = (0..19).flat_map(|power| [1, 2, 5].map(|times| times * 10_u64.pow(power)));
    let mut fitting = widths.filter(|width| most / width - least / width < CLASSES_MAX);
    let width = fitting.next().unwrap_or(u64::MAX);
    let classes = (least / width..=most / width).map(|class| {
        let from = class * width;
        let to = (class * width).saturating_add(width - 1);
        let (before, until) = (|length: &u64| *length < from, |length: &u64| *length <= to);
        let matches = sorted.partition_point(until) - sorted.partition_point(before);
        LengthClass { from, to, matches: matches as u64 }
    });
    classes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[u64], expected: &[[u64; 3]]) {
        let found: Vec<_> =
            histogram(lengths).iter().map(|class| [class.from, class.to, class.matches]).collect();
        assert_eq!(found, expected, "{lengths:?}");
    }

    #[test]
    fn a_histogram_has_every_length_in_one_of_at_most_ten_classes() {
        check(&[], &[]);
        check(&[7, 7], &[[7, 7, 2]]);
        check(&[3, 5, 5], &[[3, 3, 1], [4, 4, 0], [5, 5, 2]]);
        check(
            &[0, 9, 10, 19],
            &[
                [0, 1, 1],
                [2, 3, 0],
                [4, 5, 0],
                [6, 7, 0],
                [8, 9, 1],
                [10, 11, 1],
                [12, 13, 0],
                [14, 15, 0],
                [16, 17, 0],
                [18, 19, 1],
            ],
        );
        check(&[50, 2000], &[[0, 499, 1], [500, 999, 0], [1000, 1499, 0], [1500, 1999, 0], [2000, 2499, 1]]);
        check(&[u64::MAX], &[[u64::MAX, u64::MAX, 1]]);
    }

    #[test]
    fn a_spread_has_the_lower_of_two_middles() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[1, 2, 4, 9]), Some(Spread { sum: 16, least: 1, median: 2, most: 9 }));
    }
}
