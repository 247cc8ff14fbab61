//! Finds an entry at which something becomes true.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use turnfold_core::AnyState;

use crate::compare::Difference;
use crate::error::ReplayError;
use crate::history::entry::Record;
use crate::search::condition::{Condition, Survey};
use crate::tfl::Replay;
use crate::viewer::seat_history::SeatHistory;

/// The question to ask after each entry.
pub enum Question<'a, E> {
    /// Whether a condition holds in the view.
    Holds(&'a Condition),
    /// How a judge, such as a command, rules on the log so far, as a replay file.
    Judged(&'a mut dyn FnMut(&Replay) -> Result<Judgment, E>),
}

/// The judgment on a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgment {
    /// The log does not show it.
    No,
    /// The log shows it.
    Yes,
    /// The judge cannot decide.
    CannotTell,
}

impl Judgment {
    /// The text of the error for a player, who may not see what a judge gets.
    pub const RUN: &str = "the command of `--run` is given whole replay files";
}

impl From<bool> for Judgment {
    fn from(shows: bool) -> Self {
        if shows { Self::Yes } else { Self::No }
    }
}

/// The result of a search.
pub enum Bisection {
    /// It is true in the setup already, so no entry makes it true.
    InSetup,
    /// It is not true at the end.
    NotAtEnd,
    /// The judge cannot decide in the setup or at the end.
    Undecided {
        /// The number of entries of the log.
        count: u64,
    },
    /// The judge gives different judgments on the same log.
    Flickers {
        /// The number of entries of the log.
        count: u64,
        /// The first judgment and one that differs.
        judgments: [Judgment; 2],
    },
    /// An entry makes it true.
    Found(Box<Flip>),
}

/// The entry at which something becomes true.
pub struct Flip {
    /// The entries of which one makes it true; more than one if the judge was undecided about some.
    pub suspects: RangeInclusive<u64>,
    /// An earlier time during which the condition held. Only a binary search for a condition looks for one.
    pub earlier: Option<EarlierSpell>,
    /// The number of states or logs that were examined.
    pub probes: u64,
    /// The record of the last suspect.
    pub record: Option<Record>,
    /// The fields of the view that the last suspect changes.
    pub state: Vec<Difference>,
}

/// A time before the found entry during which the condition held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlierSpell {
    /// The last entry of the earliest such time.
    pub last_true: u64,
    /// The entry that ends that time.
    pub first_false: u64,
}

/// How often a judge is asked again about each log on which the answer rests. A command that answers at random repeats
/// its answers on both sides of an entry in one of 64 searches.
const AGAIN: usize = 3;

/// Finds an entry at which something becomes true, by binary search. With `linear`, examines every entry and finds the
/// first.
///
/// # Errors
/// [`ReplayError::Concealed`] if a player asks for a judge, [`ReplayError::NoView`], and [`ReplayError::Condition`] for
/// a condition that makes no sense in the view. Any error of reading the history, and the errors of the judge.
pub fn bisect<E: From<ReplayError>>(
    seat_history: &SeatHistory,
    question: Question<'_, E>,
    linear: bool,
) -> Result<Bisection, E> {
    let start = seat_history.start()?;
    match question {
        Question::Judged(_) => seat_history.viewer().require_all(Judgment::RUN)?,
        Question::Holds(_) => seat_history.viewer().require_view(start.as_ref())?,
    }
    let base = (0, start);
    let mut probe = Probe { seat_history, question, base, survey: Survey::default(), probes: 0 };
    let end = seat_history.head();
    let at_start = probe.ask(0)?;
    if at_start != Judgment::No {
        return probe.without_entry(0, at_start, Bisection::InSetup);
    }
    let found = if linear { probe.step_through(end)? } else { probe.halve(end)? };
    let suspects = match found {
        Ok(suspects) => suspects,
        Err(at_end) => return probe.without_entry(end, at_end, Bisection::NotAtEnd),
    };
    for (count, judgment) in [(suspects.start() - 1, Judgment::No), (*suspects.end(), Judgment::Yes)] {
        if let Some(flickers) = probe.ask_again(count, judgment)? {
            return Ok(flickers);
        }
    }
    let condition = match probe.question {
        Question::Holds(condition) if !linear => Some(condition),
        _ => None,
    };
    Ok(Bisection::Found(Box::new(flip(seat_history, suspects, probe.probes, condition)?)))
}

fn flip(
    seat_history: &SeatHistory,
    suspects: RangeInclusive<u64>,
    probes: u64,
    condition: Option<&Condition>,
) -> Result<Flip, ReplayError> {
    let mut before = seat_history.start()?;
    let mut last_true = None;
    let mut earlier = None;
    seat_history.pass(before.as_mut(), 0, suspects.end() - 1, &mut |seen| {
        let Some(condition) = condition else { return };
        if earlier.is_some() {
            return;
        }
        if condition.holds_in(&|path| seen.field(path)) {
            last_true = Some(seen.seq());
        } else if let Some(last_true) = last_true {
            earlier = Some(EarlierSpell { last_true, first_false: seen.seq() });
        }
    })?;
    let mut flip = Flip { suspects, earlier, probes, record: None, state: Vec::new() };
    seat_history.fold(&mut |seen| {
        if seen.seq() == *flip.suspects.end() {
            flip.record = Some(seen.record());
            flip.state = Difference::between(&seat_history.viewer().view(before.as_ref()), &seen.view());
        }
    })?;
    Ok(flip)
}

struct Probe<'a, 'q, E> {
    seat_history: &'a SeatHistory,
    question: Question<'q, E>,
    /// A number of entries before any that is asked for next, and the state after them.
    base: (u64, Box<dyn AnyState>),
    survey: Survey,
    probes: u64,
}

impl<E: From<ReplayError>> Probe<'_, '_, E> {
    fn state_after(&self, count: u64) -> Result<Box<dyn AnyState>, ReplayError> {
        let (from, base) = &self.base;
        let mut state = base.fork();
        self.seat_history.advance(state.as_mut(), *from, count)?;
        Ok(state)
    }

    fn ask(&mut self, count: u64) -> Result<Judgment, E> {
        self.probes += 1;
        let judgment = match &mut self.question {
            Question::Judged(judge) => judge(&self.seat_history.whole(Judgment::RUN, count)?.to_replay()?)?,
            Question::Holds(condition) => {
                let condition = *condition;
                let state = self.state_after(count)?;
                let viewer = self.seat_history.viewer();
                condition.ask(&|path| viewer.field(state.as_ref(), path), &mut self.survey).into()
            }
        };
        tracing::info!(count, ?judgment, "looked at the state after these entries");
        Ok(judgment)
    }

    /// Asks a judge again about a log on which the answer rests, because a race, a clock or a network may change its
    /// ruling. A condition on the view gives the same answer each time.
    fn ask_again(&mut self, count: u64, first: Judgment) -> Result<Option<Bisection>, E> {
        if matches!(self.question, Question::Holds(_)) {
            return Ok(None);
        }
        for _ in 0..AGAIN {
            let again = self.ask(count)?;
            if again != first {
                let judgments = [first, again];
                return Ok(Some(Bisection::Flickers { count, judgments }));
            }
        }
        Ok(None)
    }

    /// Moves the base to `count` entries. No smaller number is asked for later.
    fn advance(&mut self, count: u64) -> Result<(), E> {
        if matches!(self.question, Question::Holds(_)) {
            self.base = (count, self.state_after(count)?);
        }
        Ok(())
    }

    /// Returns why no entry is found, for the judgment after `count` entries on which that rests.
    fn without_entry(&mut self, count: u64, judgment: Judgment, reason: Bisection) -> Result<Bisection, E> {
        if let Some(flickers) = self.ask_again(count, judgment)? {
            return Ok(flickers);
        }
        if judgment == Judgment::CannotTell {
            return Ok(Bisection::Undecided { count });
        }
        if matches!(self.question, Question::Holds(_)) {
            // A condition that makes no sense in any view would be false everywhere. A field may exist only at times,
            // so the entries after the base are examined until one shows it.
            for count in self.base.0 + 1..=self.seat_history.head() {
                if self.survey.is_comparable() {
                    break;
                }
                self.ask(count)?;
                self.advance(count)?;
            }
            self.survey.check().map_err(ReplayError::from)?;
        }
        Ok(reason)
    }

    /// Examines every entry in order. Returns the entries of which one makes it true. If none does, the error is the
    /// judgment on the end.
    fn step_through(&mut self, end: u64) -> Result<Result<RangeInclusive<u64>, Judgment>, E> {
        let mut low = 0;
        let mut last = Judgment::No;
        for count in 1..=end {
            last = self.ask(count)?;
            match last {
                Judgment::Yes => return Ok(Ok(low + 1..=count)),
                Judgment::No => {
                    low = count;
                    self.advance(count)?;
                }
                Judgment::CannotTell => {}
            }
        }
        Ok(Err(last))
    }

    /// Halves the range again and again, avoiding undecided entries. Returns as [`step_through`](Self::step_through)
    /// does.
    fn halve(&mut self, end: u64) -> Result<Result<RangeInclusive<u64>, Judgment>, E> {
        let at_end = if end == 0 { Judgment::No } else { self.ask(end)? };
        if at_end != Judgment::Yes {
            return Ok(Err(at_end));
        }
        let mut low = 0;
        let mut high = end;
        let mut unknown = BTreeSet::new();
        loop {
            let middle = low + (high - low) / 2;
            let candidates = (low + 1..high).filter(|count| !unknown.contains(count));
            let Some(count) = candidates.min_by_key(|count| count.abs_diff(middle)) else {
                return Ok(Ok(low + 1..=high));
            };
            match self.ask(count)? {
                Judgment::No => {
                    low = count;
                    self.advance(count)?;
                }
                Judgment::Yes => high = count,
                Judgment::CannotTell => {
                    unknown.insert(count);
                }
            }
        }
    }
}
