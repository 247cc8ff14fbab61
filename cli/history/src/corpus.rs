//! Describes many histories: as rows of tables, and as statistics: who wins, how long matches are, which commands are
//! given and with which outcomes.

mod chart;
mod table;

use std::collections::BTreeMap;

use serde::Serialize;
use turnfold_core::Seat;

use crate::error::ReplayError;
use crate::text::first_word;
use crate::viewer::seat_history::SeatHistory;

use table::earlier;
pub use table::{TableKind, TableRow};

type Tally = BTreeMap<String, u64>;

fn add_all(sum: &mut Tally, more: Tally) {
    for (name, count) in more {
        *sum.entry(name).or_default() += count;
    }
}

fn count(tally: &mut Tally, name: &str) {
    if let Some(count) = tally.get_mut(name) {
        *count += 1;
    } else {
        tally.insert(name.into(), 1);
    }
}

/// Counts of matches in groups.
#[derive(Default)]
pub struct GroupedCounts(BTreeMap<String, Counts>);

#[derive(Default)]
struct Counts {
    over: u64,
    draws: u64,
    /// By seat, the number of finished matches in which it plays, and how many of these it won.
    wins: BTreeMap<Seat, (u64, u64)>,
    lengths: Vec<u64>,
    durations_ms: Vec<u64>,
    commands: Tally,
    outcomes: Tally,
    reasons: Tally,
}

impl GroupedCounts {
    /// Counts a match in a group, as its viewer knows it.
    ///
    /// # Errors
    /// As for [`SeatHistory::fold`] and [`SeatHistory::start`].
    pub fn of(seat_history: &SeatHistory, group: String) -> Result<Self, ReplayError> {
        let mut counts = Counts::default();
        let mut first_at_ms = None;
        let mut last_at_ms = None;
        let end = seat_history.fold(&mut |seen| {
            count(&mut counts.commands, first_word(&seen.command()));
            let outcome = seen.outcome();
            count(&mut counts.outcomes, outcome.kind());
            if let Some(reason) = outcome.code() {
                count(&mut counts.reasons, reason);
            }
            last_at_ms = seen.recorded_at_ms();
            first_at_ms = earlier(first_at_ms, last_at_ms);
        })?;
        counts.lengths.push(seat_history.head());
        if let (Some(first), Some(last)) = (first_at_ms, last_at_ms) {
            counts.durations_ms.push(u64::try_from(last.saturating_sub(first)).unwrap_or_default());
        }
        let result = seat_history.standing_in(end.as_ref())?.result;
        for seat in seat_history.start()?.players() {
            let is_won = result.as_ref().is_some_and(|result| result.winners.contains(seat));
            counts.wins.insert(*seat, (u64::from(result.is_some()), u64::from(is_won)));
        }
        if let Some(result) = result {
            counts.over = 1;
            counts.draws = u64::from(result.draw);
        }
        Ok(Self(BTreeMap::from([(group, counts)])))
    }

    /// Adds other matches to their groups.
    pub fn add(&mut self, others: Self) {
        for (name, more) in others.0 {
            let group = self.0.entry(name).or_default();
            group.over += more.over;
            group.draws += more.draws;
            for (seat, (of, won)) in more.wins {
                let sums = group.wins.entry(seat).or_default();
                sums.0 += of;
                sums.1 += won;
            }
            group.lengths.extend(more.lengths);
            group.durations_ms.extend(more.durations_ms);
            add_all(&mut group.commands, more.commands);
            add_all(&mut group.outcomes, more.outcomes);
            add_all(&mut group.reasons, more.reasons);
        }
    }

    /// Returns the statistics of each group, by name.
    #[must_use]
    pub fn statistics(self) -> Vec<GroupStatistics> {
        self.0.into_iter().map(|(group, counts)| counts.statistics(group)).collect()
    }
}

/// The statistics of a group of matches. Their JSON form is stable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupStatistics {
    pub(crate) group: String,
    pub(crate) matches: u64,
    pub(crate) over: u64,
    pub(crate) draws: u64,
    pub(crate) wins: Vec<SeatWins>,
    pub(crate) lengths: Spread,
    pub(crate) histogram: Vec<LengthClass>,
    /// The durations of the matches in milliseconds, if any is known.
    pub(crate) durations_ms: Option<Spread>,
    /// The number of commands by name, the most frequent first.
    pub(crate) commands: Vec<Frequency>,
    pub(crate) outcomes: Vec<Frequency>,
    /// The reasons for ignoring commands, the most frequent first.
    pub(crate) reasons: Vec<Frequency>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct SeatWins {
    pub(crate) seat: Seat,
    pub(crate) wins: u64,
    pub(crate) of: u64,
    /// The share of wins, with its interval; `None` without finished matches.
    #[serde(flatten)]
    pub(crate) share: Option<ScoreInterval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Spread {
    pub(crate) sum: u64,
    pub(crate) least: u64,
    /// The median; of an even count, the lower of the two middle numbers.
    pub(crate) median: u64,
    pub(crate) most: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LengthClass {
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) matches: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Frequency {
    pub(crate) name: String,
    pub(crate) count: u64,
}

impl Counts {
    fn statistics(mut self, group: String) -> GroupStatistics {
        self.lengths.sort_unstable();
        self.durations_ms.sort_unstable();
        let mut wins = Vec::new();
        for (seat, (of, won)) in self.wins {
            wins.push(SeatWins { seat, wins: won, of, share: ScoreInterval::of(won, of) });
        }
        GroupStatistics {
            group,
            matches: self.lengths.len() as u64,
            over: self.over,
            draws: self.draws,
            wins,
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
    fn of(sorted: &[u64]) -> Option<Self> {
        let median = *sorted.get(sorted.len().saturating_sub(1) / 2)?;
        let mut sum = 0_u64;
        for number in sorted {
            sum = sum.saturating_add(*number);
        }
        Some(Self { sum, least: *sorted.first()?, median, most: *sorted.last()? })
    }
}

fn by_frequency(tally: Tally) -> Vec<Frequency> {
    let mut found: Vec<_> = tally.into_iter().map(|(name, count)| Frequency { name, count }).collect();
    found.sort_by_key(|frequency| std::cmp::Reverse(frequency.count));
    found
}

const CLASSES_MAX: u64 = 10;

/// Counts sorted numbers in at most ten classes of one width, which is 1, 2 or 5 times a power of ten.
fn histogram(sorted: &[u64]) -> Vec<LengthClass> {
    let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let width = class_width(*least, *most);
    let mut classes = Vec::new();
    for class in least / width..=most / width {
        let from = class * width;
        let to = from.saturating_add(width - 1);
        let before = sorted.partition_point(|length| *length < from);
        let until = sorted.partition_point(|length| *length <= to);
        classes.push(LengthClass { from, to, matches: (until - before) as u64 });
    }
    classes
}

fn class_width(least: u64, most: u64) -> u64 {
    for power in 0..19 {
        for times in [1, 2, 5] {
            let width = times * 10_u64.pow(power);
            if most / width - least / width < CLASSES_MAX {
                return width;
            }
        }
    }
    u64::MAX
}

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A share of a number of trials, with its 95 % interval. It serializes as `table groups --format json` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct ScoreInterval {
    pub(crate) share: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl ScoreInterval {
    /// Computes the score interval of E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
    /// Inference", Journal of the American Statistical Association 22 (1927), 209–212. Returns `None` without trials.
    #[expect(clippy::cast_precision_loss, reason = "a count past 2^53 needs no exact share")]
    fn of(successes: u64, trials: u64) -> Option<Self> {
        if trials == 0 {
            return None;
        }
        let share = successes as f64 / trials as f64;
        let trials = trials as f64;
        let scale = 1.0 + Z * Z / trials;
        let middle = (share + Z * Z / (2.0 * trials)) / scale;
        let half = Z / scale * (share * (1.0 - share) / trials + Z * Z / (4.0 * trials * trials)).sqrt();
        Some(Self { share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
    }
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

    fn check_interval(successes: u64, trials: u64, low: f64, high: f64) {
        let found = ScoreInterval::of(successes, trials).unwrap();
        let is_near = |one: f64, other: f64| (one - other).abs() < 0.0001;
        assert!(is_near(found.low, low) && is_near(found.high, high), "{successes} of {trials}: {found:?}");
    }

    /// The values that R gives: `prop.test(x, n, correct = FALSE)$conf.int`.
    #[test]
    fn the_interval_is_that_of_published_values() {
        check_interval(5, 10, 0.2366, 0.7634);
        check_interval(81, 263, 0.2553, 0.3662);
        check_interval(15, 148, 0.0624, 0.1605);
        check_interval(0, 20, 0.0, 0.1611);
        check_interval(29, 29, 0.8830, 1.0);
        assert_eq!(ScoreInterval::of(0, 0), None);
    }
}
