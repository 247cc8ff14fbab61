//! Delta debugging of one log.

use std::collections::BTreeSet;

use turnfold_core::Seat;

use super::kept::{Candidate, KeptLog};
use super::{Goal, Least, arguments};
use crate::error::ReplayError;
use crate::history::History;

/// The most entries of a log for which every state is examined in each try.
const SHORT_MAX: usize = 128;

const PAIRED_MAX: usize = 32;

pub(super) struct Shrinker<'a, 'g, E> {
    source: &'a History,
    goal: &'a mut Goal<'g, E>,
    log: KeptLog,
    /// The digests of the logs that were tried, so that no log is tried twice.
    tried: BTreeSet<[u8; 32]>,
    tries: u64,
    /// Receives the number of entries left and the number of tries.
    progress: &'a mut dyn FnMut(usize, u64),
}

impl<'a, 'g, E: From<ReplayError>> Shrinker<'a, 'g, E> {
    /// Starts with the first `count` entries of a history.
    ///
    /// Returns `None` if they do not show what is searched for.
    pub(super) fn new(
        source: &'a History,
        count: usize,
        goal: &'a mut Goal<'g, E>,
        progress: &'a mut dyn FnMut(usize, u64),
    ) -> Result<Option<Self>, E> {
        let mut log = KeptLog::new(source.start()?.as_ref());
        let mut numbers = Vec::new();
        source.until(count).fold(&mut |step| numbers.extend(log.number(step.seat(), step.command())))?;
        let mut shrinker = Self { source, goal, log, tried: BTreeSet::new(), tries: 0, progress };
        let whole = Candidate { kept: 0, between: numbers, resume: 0 };
        if shrinker.attempt(&whole, true)? { Ok(Some(shrinker)) } else { Ok(None) }
    }

    pub(super) fn needs_no_entry(&mut self) -> Result<bool, E> {
        self.goal.shows(std::iter::empty(), self.source.start()?.as_ref())
    }

    pub(super) fn shrink(mut self) -> Result<Least, E> {
        loop {
            let before = self.log.entries().to_vec();
            for starts in [rounds, turns, entries] {
                self.log.keep_states(0);
                self.leave_out(starts)?;
            }
            self.leave_out_pairs()?;
            self.make_simpler()?;
            // Only the last state of a long log was examined; an earlier one may show it.
            self.attempt(&Candidate { kept: 0, between: Vec::new(), resume: 0 }, true)?;
            if self.log.entries() == before {
                break;
            }
        }
        let log = self.source.with_commands(self.log.commands(self.log.entries()));
        let mut remarks = Vec::new();
        if log.dice != self.source.dice {
            let remark =
                "the dice were seeded; the rolls are recorded here, because an earlier roll was left out";
            remarks.push(remark.into());
        }
        let before = self.source.entries.len() as u64;
        Ok(Least { replay: log.to_replay()?, remarks, before, tries: self.tries })
    }

    /// Tries to leave out runs of parts: halves, quarters and so on down to single parts, until all are needed.
    fn leave_out(&mut self, find_starts: Starts) -> Result<(), E> {
        let mut starts = find_starts(&self.log.seats());
        let mut size = starts.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            let mut changed = false;
            while let Some(&kept) = starts.get(at) {
                let length = self.log.entries().len();
                let resume = starts.get(at + size).copied().unwrap_or(length);
                let is_short = length - (resume - kept) <= SHORT_MAX;
                if self.attempt(&Candidate { kept, between: Vec::new(), resume }, is_short)? {
                    changed = true;
                    starts = find_starts(&self.log.seats());
                } else {
                    at += size;
                }
            }
            if size > 1 || !changed {
                size /= 2;
            }
        }
        Ok(())
    }

    /// Tries to leave out every pair of entries of a short log, because one command often undoes another, as a second
    /// `toggle` does.
    fn leave_out_pairs(&mut self) -> Result<(), E> {
        let mut kept = 0;
        while kept < self.log.entries().len() && self.log.entries().len() <= PAIRED_MAX {
            let mut second = kept + 1;
            while let Some(between) = self.log.entries().get(kept + 1..second)
                && second < self.log.entries().len()
            {
                let candidate = Candidate { kept, between: between.to_vec(), resume: second + 1 };
                if self.attempt(&candidate, true)? {
                    second = kept;
                }
                second += 1;
            }
            kept += 1;
        }
        Ok(())
    }

    fn make_simpler(&mut self) -> Result<(), E> {
        let mut index = 0;
        'entries: while let Some(given) = self.log.given(index).cloned() {
            for command in arguments::simpler(&*self.source.rules, &given.command) {
                let between = self.log.number(given.seat, command).into_iter().collect();
                let is_short = self.log.entries().len() <= SHORT_MAX;
                if self.attempt(&Candidate { kept: index, between, resume: index + 1 }, is_short)? {
                    continue 'entries;
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Replaces the log by a candidate, without the entries that the rules reject, if that shows what is searched for.
    /// Returns `true` if it does.
    ///
    /// With `everywhere`, the candidate may show it after any entry, and the log ends there. Otherwise only the state
    /// after the last entry is examined, because examining every state of a long log is expensive.
    fn attempt(&mut self, candidate: &Candidate, everywhere: bool) -> Result<bool, E> {
        let Self { goal, log, tried, .. } = self;
        let numbers = log.numbers_of(candidate);
        if !tried.insert(digest(&numbers, everywhere)) {
            return Ok(false);
        }
        self.tries += 1;
        (self.progress)(log.entries().len(), self.tries);
        let folded = log.fold(candidate, everywhere, &mut |state| goal.seen_in(state));
        // Candidates often become the same log once the entries that the rules reject are gone.
        let dropped = folded.entries.len() < numbers.len();
        if !folded.shown && dropped && !tried.insert(digest(&folded.entries, everywhere)) {
            return Ok(false);
        }
        if folded.shown || goal.shows(log.commands(&folded.entries), log.state())? {
            log.take(candidate, folded, everywhere);
            return Ok(true);
        }
        Ok(false)
    }
}

fn digest(numbers: &[usize], everywhere: bool) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for number in numbers {
        hasher.update(&(*number as u64).to_le_bytes());
    }
    hasher.update(&[u8::from(everywhere)]);
    hasher.finalize().into()
}

/// Returns the start of each part of a log, given the seats of its entries. The first part starts with the log.
pub(super) type Starts = fn(&[Seat]) -> Vec<usize>;

/// Returns the starts of rounds. A round starts where play returns to the seat that leads it. That is the host, who
/// ends turns and lets time pass, or in games without a host the seat of the first entry.
pub(super) fn rounds(seats: &[Seat]) -> Vec<usize> {
    let leader = if seats.contains(&Seat::Host) { Some(Seat::Host) } else { seats.first().copied() };
    changes(seats, |before, seat| Some(seat) == leader && before != seat)
}

/// Returns the starts of turns. A turn is everything that a seat does before another seat acts.
pub(super) fn turns(seats: &[Seat]) -> Vec<usize> {
    changes(seats, |before, seat| before != seat)
}

pub(super) fn entries(seats: &[Seat]) -> Vec<usize> {
    (0..seats.len()).collect()
}

/// Returns the start of the log and every place where `starts` holds for the seats before and after it.
fn changes(seats: &[Seat], starts: impl Fn(Seat, Seat) -> bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut before = None;
    for (index, seat) in seats.iter().enumerate() {
        if before.is_none_or(|before| starts(before, *seat)) {
            found.push(index);
        }
        before = Some(*seat);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seats: &[Seat], expected: [&[usize]; 3]) {
        assert_eq!([rounds(seats), turns(seats), entries(seats)].each_ref().map(Vec::as_slice), expected);
    }

    #[test]
    fn a_round_starts_with_the_host() {
        use Seat::{Host, P1, P2};
        check(
            &[Host, P1, P1, P2, Host, Host, P2, P1],
            [&[0, 4], &[0, 1, 3, 4, 6, 7], &[0, 1, 2, 3, 4, 5, 6, 7]],
        );
        check(&[P1, P2, Host, P1], [&[0, 2], &[0, 1, 2, 3], &[0, 1, 2, 3]]);
    }

    #[test]
    fn without_a_host_a_round_starts_with_the_seat_that_began() {
        use Seat::{P1, P2, P3};
        check(&[P2, P2, P3, P1, P2, P3], [&[0, 4], &[0, 2, 3, 4, 5], &[0, 1, 2, 3, 4, 5]]);
        check(&[], [&[], &[], &[]]);
    }
}
