//! The race for the next turn. Scheduler and prediction run the same race on a copy of the charges.

use core::cmp::Reverse;
use core::iter;

use alloc::vec::Vec;

use super::state::{State, Team, UnitIndex};

/// The charge that a unit needs for a turn, and the charge that the turn costs.
pub(super) const TURN_CHARGE: u64 = 100;

/// No limit on the number of ticks.
pub(super) const NO_LIMIT: u64 = u64::MAX;

/// A copy of the living units' charges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Race {
    /// In setup order.
    racers: Vec<Racer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Racer {
    unit: UnitIndex,
    team: Team,
    speed: u32,
    charge: u64,
}

/// The result of running a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lap {
    /// The ticks that passed.
    pub(super) ticks: u64,
    /// The unit whose turn it is, if a unit has enough charge.
    pub(super) next: Option<UnitIndex>,
}

impl Race {
    pub(super) fn of(state: &State) -> Self {
        let mut racers = Vec::with_capacity(state.units.len());
        for (index, unit) in state.living() {
            racers.push(Racer { unit: index, team: unit.team, speed: unit.speed, charge: unit.charge });
        }
        Self { racers }
    }

    /// LC-3: lets ticks pass until a unit has enough charge, at most `ticks_max`; `None` in a stalemate (LC-5).
    pub(super) fn run(&mut self, ticks_max: u64) -> Option<Lap> {
        let ticks = self.racers.iter().filter_map(Racer::ticks_to_turn).min()?.min(ticks_max);
        for racer in &mut self.racers {
            racer.charge = charge_after_ticks(racer.charge, racer.speed, ticks);
        }
        // LC-4: first the greatest charge, then the team `player`, then the order of the setup.
        let ready = self.racers.iter().filter(|racer| racer.charge >= TURN_CHARGE);
        let next = ready.min_by_key(|racer| (Reverse(racer.charge), racer.team, racer.unit));
        Some(Lap { ticks, next: next.map(|racer| racer.unit) })
    }

    fn end_turn(&mut self, unit: UnitIndex) {
        if let Some(racer) = self.racers.iter_mut().find(|racer| racer.unit == unit) {
            racer.charge = charge_after_turn(racer.charge);
        }
    }

    /// Returns the units with their charges, in setup order.
    pub(super) fn charges(&self) -> impl Iterator<Item = (UnitIndex, u64)> {
        self.racers.iter().map(|racer| (racer.unit, racer.charge))
    }
}

impl Racer {
    /// LC-3: returns the ticks until the unit's turn, in closed form; `None` if it never gets one.
    fn ticks_to_turn(&self) -> Option<u64> {
        let missing = TURN_CHARGE.saturating_sub(self.charge);
        if missing == 0 {
            return Some(0);
        }
        if self.speed == 0 { None } else { Some(missing.div_ceil(u64::from(self.speed))) }
    }
}

/// LC-2: returns the charge after a number of ticks, without a loop, so that a long wait takes no longer.
fn charge_after_ticks(charge: u64, speed: u32, ticks: u64) -> u64 {
    charge.saturating_add(u64::from(speed).saturating_mul(ticks))
}

/// LC-12: returns the charge after a turn, which keeps a unit's head start.
pub(super) fn charge_after_turn(charge: u64) -> u64 {
    charge.saturating_sub(TURN_CHARGE)
}

/// LC-15: returns the units whose turns come next if every turn just ends; endless unless there is a stalemate.
pub(super) fn predict(state: &State) -> impl Iterator<Item = UnitIndex> {
    let mut race = Race::of(state);
    if let Some(active) = state.active() {
        race.end_turn(active.index);
    }
    iter::from_fn(move || {
        let next = race.run(NO_LIMIT)?.next?;
        race.end_turn(next);
        Some(next)
    })
}
