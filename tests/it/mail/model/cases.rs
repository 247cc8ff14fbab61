//! The terms and the game of each random correspondence, and a tally of what occurred in them.

use std::collections::BTreeMap;

use turnfold_core::dice::DiceStream;

use super::relay::{Move, Setup};
use super::turns::{Missed, Terms};

/// What occurred in a correspondence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) outcomes: BTreeMap<String, u64>,
    pub(crate) results: BTreeMap<String, u64>,
    pub(crate) turns: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        let Self { outcomes, results, turns } = other;
        for (all, own) in [(&mut self.outcomes, outcomes), (&mut self.results, results)] {
            for (name, count) in own {
                *all.entry(name).or_default() += count;
            }
        }
        self.turns += turns;
    }
}

/// Returns the terms and the game of a case.
pub(crate) fn terms(chance: &mut DiceStream) -> (Terms, Setup) {
    let mut one_in = |many: i32| chance.draw(1, many) == 1;
    let seats = if one_in(2) { 2 } else { 3 };
    let setup = Setup {
        seats,
        rounds: if one_in(2) { 2 } else { 4 },
        at_once: one_in(2),
        resolved: one_in(2),
        secret: one_in(2),
    };
    let default = match (one_in(4), one_in(4)) {
        (true, true) => vec![],
        (true, false) => vec![Move::Add(9)],
        (false, true) => vec![Move::Add(9), Move::Done],
        (false, false) => vec![Move::Done],
    };
    let between = if setup.resolved && !one_in(8) { vec![Move::Resolve] } else { vec![] };
    let terms = Terms {
        together: one_in(2),
        hurry: !one_in(3),
        sealed: one_in(4),
        hosted: (0..usize::from(seats)).filter(|_| one_in(6)).collect(),
        missed: match (one_in(3), one_in(3)) {
            (true, _) => Missed::Wait,
            (false, true) => Missed::Second,
            (false, false) => Missed::Default,
        },
        default,
        between,
        patience: u32::from(!one_in(4)) * chance.draw(1, 3).unsigned_abs(),
        hours: chance.draw(1, 80).unsigned_abs().into(),
        absences: chance.draw(0, 4).unsigned_abs().into(),
        plain: Vec::new(),
    };
    // A seal needs a key, and the host has one.
    let mut plain: Vec<usize> = (0..usize::from(seats)).filter(|_| chance.draw(1, 3) == 1).collect();
    plain.retain(|seat| !terms.sealed && !terms.hosted.contains(seat));
    (Terms { plain, ..terms }, setup)
}

pub(crate) fn toml(terms: &Terms, setup: &Setup) -> String {
    let commands = |commands: &[Move]| {
        let quoted: Vec<_> = commands.iter().map(|command| format!("\"{command}\"")).collect();
        format!("[{}]", quoted.join(", "))
    };
    let seats = |seats: &[usize]| {
        let quoted: Vec<_> = seats.iter().map(|seat| format!("\"p{}\"", seat + 1)).collect();
        quoted.join(", ")
    };
    format!(
        "seats = {}\nhours = {}\ntogether = {}\nhurry = {}\nsealed = {}\nhosted = [{}]\nmissed = \"{}\"\n\
         default = {}\nbetween = {}\npatience = {}\nabsences = {}\nplain = [{}]\n",
        setup.seats,
        terms.hours,
        terms.together,
        terms.hurry,
        terms.sealed,
        seats(&terms.hosted),
        match terms.missed {
            Missed::Default => "default",
            Missed::Wait => "wait",
            Missed::Second => "second",
        },
        commands(&terms.default),
        commands(&terms.between),
        terms.patience,
        terms.absences,
        seats(&terms.plain),
    )
}
