//! Delta debugging of one log.

use std::collections::BTreeSet;

use super::goal::Goal;
use super::kept::{Candidate, KeptLog};
use super::parts::Starts;
use super::{arguments, parts};
use crate::error::ReplayError;
use crate::history::History;

/// The entries of a log that is short enough to look at the state after every one of them, each time.
const SHORT_MAX: usize = 128;

/// The entries of a log that is short enough to try without every two of them.
const PAIRED_MAX: usize = 32;

/// A log that shows something, being shrunk.
pub(super) struct Shrinker<'a, 'g, E> {
    source: &'a History,
    goal: &'a mut Goal<'g, E>,
    log: KeptLog,
    /// The digests of the logs that were tried, for none needs to be tried twice.
    tried: BTreeSet<[u8; 32]>,
    tries: u64,
    /// Is called with the number of entries left and that of tries.
    progress: &'a mut dyn FnMut(usize, u64),
}

impl<'a, 'g, E: From<ReplayError>> Shrinker<'a, 'g, E> {
    /// Takes the first `count` entries of a history.
    ///
    /// `None` when they do not show what is looked for.
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
        Ok(shrinker.attempt(&whole, true)?.then_some(shrinker))
    }

    /// Returns `true` if the setup alone shows it.
    pub(super) fn needs_no_entry(&mut self) -> Result<bool, E> {
        self.goal.shows(std::iter::empty(), self.source.start()?.as_ref())
    }

    /// Shrinks until nothing more can be done; returns the log and the number of tries.
    pub(super) fn shrink(mut self) -> Result<(History, u64), E> {
        loop {
            let before = self.log.entries().to_vec();
            for starts in [parts::rounds, parts::turns, parts::entries] {
                self.log.keep_states(0);
                self.leave_out(starts)?;
            }
            self.leave_out_pairs()?;
            self.make_simpler()?;
            // A long log was only looked at after its last entry; it may show the thing before.
            self.attempt(&Candidate { kept: 0, between: Vec::new(), resume: 0 }, true)?;
            if self.log.entries() == before {
                break;
            }
        }
        let log = self.source.with_commands(self.log.commands(self.log.entries()));
        Ok((log, self.tries))
    }

    /// Tries to leave out runs of parts: halves, quarters and so on down to single ones, until all are needed.
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

    /// Tries to leave out every two entries of a short log, since many commands undo another: a second `toggle` a first.
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

    /// Tries simpler arguments for every entry.
    fn make_simpler(&mut self) -> Result<(), E> {
        let mut index = 0;
        while index < self.log.entries().len() {
            if !self.make_simpler_at(index)? {
                index += 1;
            }
        }
        Ok(())
    }

    fn make_simpler_at(&mut self, index: usize) -> Result<bool, E> {
        let Some(given) = self.log.given(index).cloned() else { return Ok(false) };
        for command in arguments::simpler(&*self.source.rules, &given.command) {
            let between = self.log.number(given.seat, command).into_iter().collect();
            let is_short = self.log.entries().len() <= SHORT_MAX;
            if self.attempt(&Candidate { kept: index, between, resume: index + 1 }, is_short)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a candidate, without what the rules do not accept, if that shows what is looked for; returns `true` if it
    /// does.
    ///
    /// With `everywhere`, it may show it after any entry, and the log ends there; else only after the last, because a
    /// look at every state of a long log is expensive.
    fn attempt(&mut self, candidate: &Candidate, everywhere: bool) -> Result<bool, E> {
        let Self { goal, log, tried, .. } = self;
        let numbers = log.numbers_of(candidate);
        if !tried.insert(digest(&numbers, everywhere)) {
            return Ok(false);
        }
        self.tries += 1;
        (self.progress)(log.entries().len(), self.tries);
        let folded = log.fold(candidate, everywhere, &mut |state| goal.seen_in(state));
        // Candidates often come down to the same log once the rules have dropped what they do not accept.
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

/// Returns the digest of a log by the numbers of its commands and of how it is looked at.
fn digest(numbers: &[usize], everywhere: bool) -> [u8; 32] {
    let numbers = numbers.iter().flat_map(|number| (*number as u64).to_le_bytes());
    let bytes: Vec<u8> = numbers.chain([u8::from(everywhere)]).collect();
    blake3::hash(&bytes).into()
}
