//! Delta debugging of one log.

use std::collections::BTreeSet;
use std::rc::Rc;

use turnfold_core::AnyState;

use super::given::Given;
use super::goal::Goal;
use super::parts::Starts;
use super::{arguments, parts};
use crate::error::ReplayError;
use crate::line::LineOfPlay;

/// The entries of a log that is short enough to look at the state after every one of them, each time.
const SHORT_MAX: usize = 128;

/// The entries of a log that is short enough to try without every two of them.
const PAIRED_MAX: usize = 32;

/// A log that shows something, being shrunk.
pub(super) struct Shrinker<'a, G> {
    source: &'a LineOfPlay,
    goal: G,
    log: Vec<Rc<Given>>,
    /// The state after so many entries of the log, from which candidates are folded on.
    base: (usize, Box<dyn AnyState>),
    /// The digests of the logs that were tried, for none needs to be tried twice.
    tried: BTreeSet<[u8; 32]>,
    tries: u64,
    /// Is called with the number of entries left and that of tries.
    progress: &'a mut dyn FnMut(usize, u64),
}

impl<'a, G: Goal> Shrinker<'a, G> {
    /// Takes the first `count` entries of a line of play.
    ///
    /// `None` when they do not show what is looked for.
    pub(super) fn new(
        source: &'a LineOfPlay,
        count: usize,
        goal: G,
        progress: &'a mut dyn FnMut(usize, u64),
    ) -> Result<Option<Self>, G::Error> {
        let mut log = Vec::new();
        source.until(count).fold(&mut |step| {
            log.push(Rc::new(Given { seat: step.seat(), command: step.command() }));
        })?;
        let base = (0, source.start()?);
        let mut shrinker =
            Self { source, goal, log: Vec::new(), base, tried: BTreeSet::new(), tries: 0, progress };
        Ok(shrinker.attempt(0, &log, true)?.then_some(shrinker))
    }

    /// Returns `true` if the setup alone shows it.
    pub(super) fn needs_no_entry(&mut self) -> Result<bool, G::Error> {
        self.goal.shows(&[], self.source.start()?.as_ref())
    }

    /// Shrinks until nothing more can be done; returns the log and the number of tries.
    pub(super) fn shrink(mut self) -> Result<(LineOfPlay, u64), G::Error> {
        loop {
            let before = self.log.clone();
            for starts in [parts::rounds, parts::turns, parts::entries] {
                self.leave_out(starts)?;
            }
            self.leave_out_pairs()?;
            self.make_simpler()?;
            // A long log was only looked at after its last entry; it may show the thing before.
            self.attempt(0, &self.log.clone(), true)?;
            if self.log == before {
                break;
            }
        }
        let commands = self.log.iter().map(|given| (given.seat, given.command.as_str()));
        let log = self.source.with_commands(commands);
        Ok((log, self.tries))
    }

    /// Tries to leave out runs of parts: halves, quarters and so on down to single ones, until all are needed.
    fn leave_out(&mut self, starts: Starts) -> Result<(), G::Error> {
        let mut size = starts(&self.log).len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            let mut changed = false;
            loop {
                let starts = starts(&self.log);
                let Some(&start) = starts.get(at) else { break };
                let end = starts.get(at + size).copied().unwrap_or(self.log.len());
                let rest = self.log.get(end..).unwrap_or_default().to_vec();
                if self.attempt(start, &rest, start + rest.len() <= SHORT_MAX)? {
                    changed = true;
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
    fn leave_out_pairs(&mut self) -> Result<(), G::Error> {
        let mut first = 0;
        while first < self.log.len() && self.log.len() <= PAIRED_MAX {
            let mut second = first + 1;
            while second < self.log.len() {
                let mut rest = self.log.get(first + 1..).unwrap_or_default().to_vec();
                rest.remove(second - first - 1);
                if self.attempt(first, &rest, true)? {
                    second = first;
                }
                second += 1;
            }
            first += 1;
        }
        Ok(())
    }

    /// Tries simpler arguments for every entry.
    fn make_simpler(&mut self) -> Result<(), G::Error> {
        let mut index = 0;
        while index < self.log.len() {
            if !self.make_simpler_at(index)? {
                index += 1;
            }
        }
        Ok(())
    }

    fn make_simpler_at(&mut self, index: usize) -> Result<bool, G::Error> {
        let Some(given) = self.log.get(index).map(Rc::clone) else { return Ok(false) };
        for command in arguments::simpler(self.source.rules, &given.command) {
            let mut rest = vec![Rc::new(Given { seat: given.seat, command })];
            rest.extend(self.log.get(index + 1..).unwrap_or_default().iter().cloned());
            if self.attempt(index, &rest, self.log.len() <= SHORT_MAX)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes the log's first `kept` entries followed by `rest`, without what the rules do not accept, if that shows
    /// what is looked for; returns `true` if it does.
    ///
    /// With `everywhere`, it may show it after any entry, and the log ends there; else only after the last, because a
    /// look at every state of a long log is expensive.
    fn attempt(&mut self, kept: usize, rest: &[Rc<Given>], everywhere: bool) -> Result<bool, G::Error> {
        let mut log = self.log.get(..kept).unwrap_or_default().to_vec();
        if !self.tried.insert(digest(log.iter().chain(rest), everywhere)) {
            return Ok(false);
        }
        self.tries += 1;
        (self.progress)(self.log.len(), self.tries);
        let mut state = self.state_after(kept)?;
        let mut shows = false;
        for given in rest {
            if !given.fold(state.as_mut()) {
                continue;
            }
            log.push(Rc::clone(given));
            shows = everywhere && self.goal.seen_in(state.as_ref());
            if shows {
                break;
            }
        }
        // Candidates often come down to the same log once the rules have dropped what they do not accept.
        let dropped = log.len() < kept + rest.len();
        if !shows && dropped && !self.tried.insert(digest(&log, everywhere)) {
            return Ok(false);
        }
        if shows || self.goal.shows(&log, state.as_ref())? {
            self.log = log;
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns the state after the first `count` entries. Candidates come in the order in which they differ from the log,
    /// so one state kept is enough.
    fn state_after(&mut self, count: usize) -> Result<Box<dyn AnyState>, ReplayError> {
        if self.base.0 > count {
            self.base = (0, self.source.start()?);
        }
        let (from, state) = &mut self.base;
        for given in self.log.get(*from..count).unwrap_or_default() {
            given.fold(state.as_mut());
        }
        *from = count;
        Ok(state.fork())
    }
}

/// Returns the digest of a log and of how it is looked at.
fn digest<'g>(log: impl IntoIterator<Item = &'g Rc<Given>>, everywhere: bool) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[u8::from(everywhere)]);
    for given in log {
        for part in [given.seat.name(), " ", &given.command, "\n"] {
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize().into()
}
