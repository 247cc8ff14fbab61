//! Why a command changes nothing or is not accepted.

use crate::outcome::{Ruled, Ruling};

/// Why a command is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// LC-11: the active unit has no such skill.
    UnknownSkill,
    /// LC-11: fewer action points are left than it costs.
    NotEnoughAp,
    /// LC-11: the unit has moved in this turn.
    AlreadyMoved,
    /// LC-11: the unit has attacked in this turn.
    AlreadyAttacked,
    /// LC-11: the skill was used too short a time ago.
    OnCooldown,
    /// LC-11: no unit has that id.
    UnknownUnit,
    /// LC-11: no target is named, it is dead, or it is not one that the attack or skill allows.
    BadTarget,
}

impl Ruled for Reason {
    const ALL: &'static [Self] = &[
        Self::UnknownSkill,
        Self::NotEnoughAp,
        Self::AlreadyMoved,
        Self::AlreadyAttacked,
        Self::OnCooldown,
        Self::UnknownUnit,
        Self::BadTarget,
    ];

    fn ruling(self) -> Ruling {
        match self {
            Self::UnknownSkill => Ruling::of("unknown_skill", &["LC-11"]),
            Self::NotEnoughAp => Ruling::of("not_enough_ap", &["LC-11"]),
            Self::AlreadyMoved => Ruling::of("already_moved", &["LC-11"]),
            Self::AlreadyAttacked => Ruling::of("already_attacked", &["LC-11"]),
            Self::OnCooldown => Ruling::of("on_cooldown", &["LC-11"]),
            Self::UnknownUnit => Ruling::of("unknown_unit", &["LC-11"]),
            Self::BadTarget => Ruling::of("bad_target", &["LC-11"]),
        }
    }
}

/// Why a command is not accepted, beside what all rulesets share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// LC-1: the active unit belongs to the other player.
    NotYourTurn,
    /// LC-1: nobody is active.
    NoActiveUnit,
    /// LC-1: time stands still while a unit is active.
    UnitActive,
    /// LC-5: no unit will ever reach its turn.
    Stalemate,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] = &[Self::NotYourTurn, Self::NoActiveUnit, Self::UnitActive, Self::Stalemate];

    fn ruling(self) -> Ruling {
        match self {
            Self::NotYourTurn => {
                Ruling::of("not_your_turn", &["LC-1"]).says("the active unit belongs to the other player")
            }
            Self::NoActiveUnit => Ruling::of("no_active_unit", &["LC-1"])
                .says("no unit is active: `host` lets time pass with `advance`"),
            Self::UnitActive => Ruling::of("unit_active", &["LC-1"])
                .says("a unit is active: time passes once its player says `end`"),
            Self::Stalemate => {
                Ruling::of("stalemate", &["LC-5"]).says("no living unit can ever reach its turn")
            }
        }
    }
}
