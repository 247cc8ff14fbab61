//! The state of a match: the units, the time, the round and the turn.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use super::skill::Skill;
use super::status::Status;
use turnfold_core::prelude::*;

/// Returns the players' seats: p1 plays team `player`, p2 team `enemy`.
pub(super) fn players() -> &'static [Seat] {
    Seat::players(2)
}

/// Everything the future of a match depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// In setup order, including dead units.
    pub(super) units: Vec<Unit>,
    /// The ticks that have passed.
    pub(super) global_time: u64,
    /// From 1; 0 before the first turn.
    pub(super) round: u64,
    /// LC-14: the units that have started a turn in this round.
    pub(super) started: BTreeSet<UnitIndex>,
    pub(super) turn: Turn,
}

/// A unit's index in setup order.
pub(super) type UnitIndex = u16;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unit {
    pub(super) id: Id,
    pub(super) team: Team,
    /// 0 if the unit is dead.
    pub(super) hp: u32,
    pub(super) max_hp: u32,
    /// The charge gained with each tick.
    pub(super) speed: u32,
    /// The hit points its attack takes.
    pub(super) attack: u32,
    pub(super) charge: u64,
    pub(super) ap: u32,
    pub(super) skills: Vec<LearnedSkill>,
    /// In the order in which the unit received them; empty if the unit is dead.
    pub(super) statuses: Vec<Status>,
}

/// A skill of a unit with its cooldown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LearnedSkill {
    pub(super) skill: Skill,
    /// How many turns of its unit have yet to start before it can be used.
    pub(super) cooldown_left: u32,
}

/// The present or last turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Turn {
    /// No turn has started yet.
    BeforeFirst,
    /// A unit is active.
    Active { unit: UnitIndex, done: Done },
    /// No unit is active; this unit's turn was the last.
    Over { unit: UnitIndex },
}

/// What the active unit has done in its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) moved: bool,
    pub(super) attacked: bool,
    /// For information only: the unit attacked or used a skill.
    pub(super) standard_action: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Active<'a> {
    pub(super) index: UnitIndex,
    pub(super) unit: &'a Unit,
    pub(super) done: Done,
}

impl Unit {
    pub(super) const fn is_alive(&self) -> bool {
        self.hp > 0
    }

    /// LC-11: takes hit points, down to 0. At 0 the unit is dead at once and loses its statuses.
    pub(super) fn lose_hp(&mut self, amount: u32) {
        self.hp = self.hp.saturating_sub(amount);
        if !self.is_alive() {
            self.statuses.clear();
        }
    }

    /// LC-11: gives hit points back, up to the maximum.
    pub(super) fn regain_hp(&mut self, amount: u32) {
        self.hp = self.hp.saturating_add(amount).min(self.max_hp);
    }
}

impl State {
    pub(super) fn unit(&self, index: UnitIndex) -> Option<&Unit> {
        self.units.get(usize::from(index))
    }

    pub(super) fn unit_mut(&mut self, index: UnitIndex) -> Option<&mut Unit> {
        self.units.get_mut(usize::from(index))
    }

    /// Returns the living units with their indexes, in setup order.
    pub(super) fn living(&self) -> impl Iterator<Item = (UnitIndex, &Unit)> {
        (0..).zip(&self.units).filter(|(_, unit)| unit.is_alive())
    }

    /// Finds a unit, dead or alive.
    pub(super) fn find(&self, id: &Id) -> Option<(UnitIndex, &Unit)> {
        (0..).zip(&self.units).find(|(_, unit)| unit.id == *id)
    }

    pub(super) fn active(&self) -> Option<Active<'_>> {
        let Turn::Active { unit: index, done } = self.turn else { return None };
        self.unit(index).map(|unit| Active { index, unit, done })
    }

    /// LC-13: returns the remaining team, if the other team has no living unit. A match of one team has no winner.
    pub(super) fn winner(&self) -> Option<Team> {
        for (team, other) in [(Team::Player, Team::Enemy), (Team::Enemy, Team::Player)] {
            let other_plays = self.units.iter().any(|unit| unit.team == other);
            if self.lives(team) && other_plays && !self.lives(other) {
                return Some(team);
            }
        }
        None
    }

    fn lives(&self, team: Team) -> bool {
        self.living().any(|(_, unit)| unit.team == team)
    }
}

/// A side of the match. The order of the variants decides ties (LC-4) and is part of the state's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Team {
    /// Played by p1.
    Player,
    /// Played by p2.
    Enemy,
}

impl Team {
    /// Returns the seat that plays the team.
    #[must_use]
    pub const fn seat(self) -> Seat {
        match self {
            Self::Player => Seat::P1,
            Self::Enemy => Seat::P2,
        }
    }
}

impl fmt::Display for Team {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}
