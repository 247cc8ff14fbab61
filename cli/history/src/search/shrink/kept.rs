//! A log with states kept along it, from which candidates are folded.

use std::collections::BTreeMap;
use std::mem;

use turnfold_core::{AnyState, AnyTrial, Seat};

const KEPT_MAX: usize = 256;

/// The fewest entries between two kept states, because folding fewer costs less than comparing states.
const STRIDE_MIN: usize = 8;

/// A command and its seat.
///
/// The command is text, so that arguments can be simplified without a grammar. The trial parses it once for all folds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Given {
    pub(super) seat: Seat,
    pub(super) command: String,
}

pub(super) struct KeptLog {
    trial: Box<dyn AnyTrial>,
    /// Every command of any log so far, by its number in the trial.
    given: Vec<Given>,
    numbers: BTreeMap<Given, usize>,
    /// The numbers of the log's commands.
    entries: Vec<usize>,
    /// In the order of the log. There is always one before the first entry and one after the last.
    marks: Vec<Mark>,
    /// No state after more than this many entries shows what is searched for, except the last.
    quiet_after: usize,
}

#[derive(Clone, Copy)]
struct Mark {
    /// The number of entries before it.
    after: usize,
    /// The state's number in the trial.
    kept: usize,
}

/// A log that differs from another in one part: the other's first `kept` entries, then `between`, then the other's
/// entries from `resume` on.
pub(super) struct Candidate {
    pub(super) kept: usize,
    pub(super) between: Vec<usize>,
    pub(super) resume: usize,
}

/// A candidate without the entries that the rules reject. The trial is in the state at its end.
pub(super) struct FoldedCandidate {
    pub(super) entries: Vec<usize>,
    /// Whether the last state shows what is searched for and no earlier state after the kept entries does.
    pub(super) shown: bool,
    /// The numbers of entries of the candidate and of the log that lead to the same state, if any do. The entries after
    /// it are the same.
    met: Option<(usize, usize)>,
}

impl KeptLog {
    pub(super) fn new(start: &dyn AnyState) -> Self {
        let mut trial = start.trial();
        let start = Mark { after: 0, kept: trial.keep() };
        Self {
            trial,
            given: Vec::new(),
            numbers: BTreeMap::new(),
            entries: Vec::new(),
            marks: vec![start],
            quiet_after: 0,
        }
    }

    pub(super) fn number(&mut self, seat: Seat, command: String) -> Option<usize> {
        let given = Given { seat, command };
        if let Some(number) = self.numbers.get(&given) {
            return Some(*number);
        }
        let number = self.trial.read(seat, &given.command).ok()?;
        self.given.push(given.clone());
        self.numbers.insert(given, number);
        Some(number)
    }

    pub(super) fn entries(&self) -> &[usize] {
        &self.entries
    }

    pub(super) fn given(&self, index: usize) -> Option<&Given> {
        self.given.get(*self.entries.get(index)?)
    }

    pub(super) fn commands<'a>(&'a self, numbers: &'a [usize]) -> impl Iterator<Item = (Seat, &'a str)> {
        let given = numbers.iter().filter_map(|number| self.given.get(*number));
        given.map(|given| (given.seat, given.command.as_str()))
    }

    pub(super) fn seats(&self) -> Vec<Seat> {
        self.commands(&self.entries).map(|(seat, _)| seat).collect()
    }

    pub(super) fn numbers_of(&self, candidate: &Candidate) -> Vec<usize> {
        let Candidate { kept, between, resume } = candidate;
        [self.until(*kept), between, self.from(*resume)].concat()
    }

    fn until(&self, count: usize) -> &[usize] {
        self.entries.get(..count).unwrap_or(&self.entries)
    }

    fn from(&self, index: usize) -> &[usize] {
        self.entries.get(index..).unwrap_or_default()
    }

    pub(super) fn state(&self) -> &dyn AnyState {
        self.trial.state()
    }

    /// Folds a candidate. With `everywhere`, it ends at the first state after the kept entries for which `shows`
    /// returns `true`.
    ///
    /// When the candidate reaches a kept state of the log, the fold stops, because the rest is known.
    pub(super) fn fold(
        &mut self,
        candidate: &Candidate,
        everywhere: bool,
        shows: &mut dyn FnMut(&dyn AnyState) -> bool,
    ) -> FoldedCandidate {
        let Candidate { kept, between, resume } = candidate;
        let from = self.go_back(*kept);
        for number in self.entries.get(from..*kept).unwrap_or_default() {
            self.trial.fold(*number);
        }
        let mut entries = self.until(*kept).to_vec();
        let quiet_after = if everywhere { self.quiet_after } else { 0 };
        for number in between {
            if self.trial.fold(*number) {
                entries.push(*number);
                if everywhere && shows(self.trial.state()) {
                    return FoldedCandidate { entries, shown: true, met: None };
                }
            }
        }
        let comparable = self.marks.partition_point(|mark| mark.after < quiet_after.max(*resume));
        let mut marks = self.marks.iter().skip(comparable).peekable();
        for (index, number) in self.entries.iter().enumerate().skip(*resume) {
            let mark = marks.next_if(|mark| mark.after == index);
            if mark.is_some_and(|mark| self.trial.is_at(mark.kept)) {
                let met = Some((entries.len(), index));
                entries.extend(self.from(index));
                self.go_back(self.entries.len());
                let is_shown = everywhere && shows(self.trial.state());
                return FoldedCandidate { entries, shown: is_shown, met };
            }
            if self.trial.fold(*number) {
                entries.push(*number);
                if everywhere && shows(self.trial.state()) {
                    return FoldedCandidate { entries, shown: true, met: None };
                }
            } else if self.trial.state().over() {
                break;
            }
        }
        FoldedCandidate { entries, shown: false, met: None }
    }

    /// Replaces the log by a candidate that shows what is searched for. `everywhere` states whether all its states
    /// after the kept entries were examined.
    pub(super) fn take(&mut self, candidate: &Candidate, folded: FoldedCandidate, everywhere: bool) {
        self.entries = folded.entries;
        self.quiet_after = match folded.met {
            _ if everywhere => self.quiet_after.min(candidate.kept),
            Some((after, index)) => self.quiet_after.max(index) - index + after,
            None => self.entries.len(),
        };
        let Some((met_after, index)) = folded.met else { return self.keep_states(candidate.kept) };
        for mark in mem::take(&mut self.marks) {
            if mark.after >= index {
                self.marks.push(Mark { after: mark.after - index + met_after, ..mark });
            } else if mark.after <= candidate.kept && mark.after < met_after {
                self.marks.push(mark);
            } else {
                self.trial.forget(mark.kept);
            }
        }
    }

    pub(super) fn keep_states(&mut self, count: usize) {
        let valid = self.marks.partition_point(|mark| mark.after <= count);
        for mark in self.marks.split_off(valid) {
            self.trial.forget(mark.kept);
        }
        let stride = self.entries.len().div_ceil(KEPT_MAX).max(STRIDE_MIN);
        let mut next = self.go_back(count) + stride;
        let start = next - stride;
        for (after, number) in (1..).zip(&self.entries).skip(start) {
            self.trial.fold(*number);
            let is_due = after == next && self.marks.len() < KEPT_MAX;
            if is_due || after == self.entries.len() {
                self.marks.push(Mark { after, kept: self.trial.keep() });
                next = after + stride;
            }
        }
    }

    /// Moves the trial to the last kept state within the first `count` entries. Returns the number of entries before
    /// it.
    fn go_back(&mut self, count: usize) -> usize {
        let before = self.marks.partition_point(|mark| mark.after <= count);
        let Some(mark) = before.checked_sub(1).and_then(|last| self.marks.get(last)) else { return 0 };
        self.trial.go_back(mark.kept);
        mark.after
    }
}
