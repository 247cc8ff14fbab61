//! Why a command is ignored or rejected.

use turnfold_core::outcome::{Ruling, reasons};

reasons! {
    /// Why a command is ignored.
    pub enum Reason {
        /// LC-11: the active unit has no such skill.
        UnknownSkill = Ruling::of("unknown_skill", &["LC-11"]),
        /// LC-11: fewer action points are left than it costs.
        NotEnoughAp = Ruling::of("not_enough_ap", &["LC-11"]),
        /// LC-11: the unit has moved in this turn.
        AlreadyMoved = Ruling::of("already_moved", &["LC-11"]),
        /// LC-11: the unit has attacked in this turn.
        AlreadyAttacked = Ruling::of("already_attacked", &["LC-11"]),
        /// LC-11: the skill was used too short a time ago.
        OnCooldown = Ruling::of("on_cooldown", &["LC-11"]),
        /// LC-11: no unit has that id.
        UnknownUnit = Ruling::of("unknown_unit", &["LC-11"]),
        /// LC-11: no target is named, it is dead, or it is not one that the attack or skill allows.
        BadTarget = Ruling::of("bad_target", &["LC-11"]),
    }
}

reasons! {
    /// Why a command is not accepted, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// LC-1: the active unit belongs to the other player.
        NotYourTurn = Ruling::of("not_your_turn", &["LC-1"])
            .says("the active unit belongs to the other player"),
        /// LC-1: no unit is active.
        NoActiveUnit = Ruling::of("no_active_unit", &["LC-1"])
            .says("no unit is active: `host` lets time pass with `advance`"),
        /// LC-1: time stands still while a unit is active.
        UnitActive = Ruling::of("unit_active", &["LC-1"])
            .says("a unit is active: time passes once its player says `end`"),
        /// LC-5: no unit will ever reach its turn.
        Stalemate = Ruling::of("stalemate", &["LC-5"]).says("no living unit can ever reach its turn"),
    }
}
