//! Why a command changes nothing or is not accepted.

use core::fmt;

use crate::outcome::{self, Refusal};

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

impl outcome::Reason for Reason {
    const ALL: &'static [Self] = &[
        Self::UnknownSkill,
        Self::NotEnoughAp,
        Self::AlreadyMoved,
        Self::AlreadyAttacked,
        Self::OnCooldown,
        Self::UnknownUnit,
        Self::BadTarget,
    ];

    fn code(self) -> &'static str {
        match self {
            Self::UnknownSkill => "unknown_skill",
            Self::NotEnoughAp => "not_enough_ap",
            Self::AlreadyMoved => "already_moved",
            Self::AlreadyAttacked => "already_attacked",
            Self::OnCooldown => "on_cooldown",
            Self::UnknownUnit => "unknown_unit",
            Self::BadTarget => "bad_target",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::UnknownSkill
            | Self::NotEnoughAp
            | Self::AlreadyMoved
            | Self::AlreadyAttacked
            | Self::OnCooldown
            | Self::UnknownUnit
            | Self::BadTarget => &["LC-11"],
        }
    }
}

/// Why a command is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// A check that all rulesets share.
    Refused(Refusal),
    /// LC-1: the active unit belongs to the other player.
    NotYourTurn,
    /// LC-1: nobody is active.
    NoActiveUnit,
    /// LC-1: time stands still while a unit is active.
    UnitActive,
    /// LC-5: no unit will ever reach its turn.
    Stalemate,
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl outcome::Rejection for Rejection {
    const ALL: &'static [Self] = &[Self::NotYourTurn, Self::NoActiveUnit, Self::UnitActive, Self::Stalemate];

    fn code(self) -> &'static str {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::NotYourTurn => "not_your_turn",
            Self::NoActiveUnit => "no_active_unit",
            Self::UnitActive => "unit_active",
            Self::Stalemate => "stalemate",
        }
    }

    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::NotYourTurn | Self::NoActiveUnit | Self::UnitActive => &["LC-1"],
            Self::Stalemate => &["LC-5"],
            Self::Refused(_) => &[],
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(out),
            Self::NotYourTurn => out.write_str("the active unit belongs to the other player"),
            Self::NoActiveUnit => out.write_str("no unit is active: `host` lets time pass with `advance`"),
            Self::UnitActive => out.write_str("a unit is active: time passes once its player says `end`"),
            Self::Stalemate => out.write_str("no living unit can ever reach its turn"),
        }
    }
}
