//! Compares shrinking with a plain form of the same search, which folds every log as text from its first entry.

use std::collections::BTreeSet;

use serde_json::Value;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};

use super::kept::Given;
use super::shrinker::{Starts, entries, rounds, turns};
use super::{Shrinking, arguments, shrink};
use crate::error::ReplayError;
use crate::example::random_play;
use crate::history::History;
use crate::search::bisect::Question;
use crate::search::condition::{Condition, Survey};
use crate::viewer::Viewer;

/// The same search without kept states.
struct Plain<'a> {
    history: &'a History,
    condition: &'a Condition,
    seat: Seat,
    log: Vec<Given>,
    tried: BTreeSet<(Vec<Given>, bool)>,
    tries: u64,
}

impl Plain<'_> {
    fn shrink(mut self) -> Option<(Vec<Given>, u64)> {
        let mut whole = Vec::new();
        let folded = self.history.fold(&mut |step| {
            whole.push(Given { seat: step.seat(), command: step.command() });
        });
        folded.unwrap();
        let start = self.history.start().unwrap();
        if !self.attempt(0, &whole, true) || self.shows(start.as_ref()) {
            return None;
        }
        loop {
            let before = self.log.clone();
            for starts in [rounds, turns, entries] {
                self.leave_out(starts);
            }
            self.leave_out_pairs();
            self.make_simpler();
            self.attempt(0, &self.log.clone(), true);
            if self.log == before {
                return Some((self.log, self.tries));
            }
        }
    }

    fn leave_out(&mut self, starts: Starts) {
        let seats = |log: &[Given]| log.iter().map(|given| given.seat).collect::<Vec<_>>();
        let mut size = starts(&seats(&self.log)).len().div_ceil(2);
        while size > 0 {
            let (mut at, mut changed) = (0, false);
            while let starts = starts(&seats(&self.log))
                && let Some(&start) = starts.get(at)
            {
                let end = starts.get(at + size).copied().unwrap_or(self.log.len());
                let rest = self.log[end..].to_vec();
                if self.attempt(start, &rest, start + rest.len() <= 128) {
                    changed = true;
                } else {
                    at += size;
                }
            }
            if size > 1 || !changed {
                size /= 2;
            }
        }
    }

    fn leave_out_pairs(&mut self) {
        let mut first = 0;
        while first < self.log.len() && self.log.len() <= 32 {
            let mut second = first + 1;
            while second < self.log.len() {
                let mut rest = self.log[first + 1..].to_vec();
                rest.remove(second - first - 1);
                if self.attempt(first, &rest, true) {
                    second = first;
                }
                second += 1;
            }
            first += 1;
        }
    }

    fn make_simpler(&mut self) {
        let mut index = 0;
        while let Some(Given { seat, command }) = self.log.get(index).cloned() {
            let changed = arguments::simpler(&*self.history.rules, &command).into_iter().any(|command| {
                let rest = [&[Given { seat, command }], &self.log[index + 1..]].concat();
                self.attempt(index, &rest, self.log.len() <= 128)
            });
            index += usize::from(!changed);
        }
    }

    fn attempt(&mut self, kept: usize, rest: &[Given], everywhere: bool) -> bool {
        let whole = [&self.log[..kept], rest].concat();
        if !self.tried.insert((whole.clone(), everywhere)) {
            return false;
        }
        self.tries += 1;
        let (mut state, mut log, mut ended) = (self.history.start().unwrap(), Vec::new(), false);
        for (index, given) in whole.iter().enumerate() {
            let command = CommandSource::Text(&given.command);
            let entry = Logged { seq: 1, seat: given.seat, command };
            if ended || state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).is_err() {
                continue;
            }
            log.push(given.clone());
            ended = index >= kept && everywhere && self.shows(state.as_ref());
        }
        if !ended && log.len() < whole.len() && !self.tried.insert((log.clone(), everywhere)) {
            return false;
        }
        let shows = ended || self.shows(state.as_ref());
        if shows {
            self.log = log;
        }
        shows
    }

    fn shows(&self, state: &dyn AnyState) -> bool {
        self.condition.ask(&|path| state.view_at(self.seat.into(), path), &mut Survey::default())
    }
}

/// Requires both searches to find the same log after the same number of tries; returns its length.
fn check(history: &History, condition: &Condition, seat: Seat) -> Option<usize> {
    let found = shrink::<ReplayError>(history, Question::Holds(condition), Viewer::of(seat), &mut |_, _| {});
    let Shrinking::Least(least) = found.unwrap() else {
        panic!("{condition} can be shown in {}", history.name);
    };
    let plain = Plain { history, condition, seat, log: Vec::new(), tried: BTreeSet::new(), tries: 0 };
    let (log, tries) = plain.shrink()?;
    let commands = log.iter().map(|given| (given.seat, given.command.as_str()));
    let expected = history.with_commands(commands).to_replay().unwrap();
    assert_eq!(least.replay.to_string(), expected.to_string(), "{condition} in {}", history.name);
    assert_eq!(least.tries, tries, "{condition} in {}", history.name);
    Some(log.len())
}

/// Returns conditions that become true in a history: each states that a changed field has its final value.
fn conditions(history: &History, seat: Seat, count: usize) -> Vec<Condition> {
    let view = |state: Box<dyn AnyState>| serde_json::from_str::<Value>(&state.view(seat.into())).unwrap();
    let (start, end) = (view(history.start().unwrap()), view(history.state().unwrap()));
    let differences = crate::compare::Difference::between(&start, &end);
    let changed = differences.iter().filter_map(|field| Some((&field.path, end.pointer(&field.path)?)));
    let changed: Vec<_> =
        changed.map(|(path, value)| format!("{path} == {value}").parse().unwrap()).collect();
    changed.iter().step_by(changed.len().div_ceil(count).max(1)).cloned().collect()
}

#[test]
fn a_condition_shrinks_logs_of_every_ruleset_as_the_plain_search_does() {
    let (seeds, entries) = match std::env::var("TURNFOLD_SHRINKS") {
        Ok(seeds) => (seeds.parse().unwrap(), 400),
        Err(_) => (1, 150),
    };
    let lines = (1..=seeds).flat_map(|seed| random_play(seed, entries));
    let mut lengths = Vec::new();
    for (history, seat) in lines.zip([Seat::Host, Seat::P1].into_iter().cycle()) {
        for condition in conditions(&history, seat, 1 + usize::from(seeds > 1)) {
            lengths.extend(check(&history, &condition, seat));
        }
    }
    assert!(lengths.len() > 6 && lengths.iter().any(|length| *length > 5), "{lengths:?}");
}
