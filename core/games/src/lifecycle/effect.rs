//! The effects of commands.

use super::state::Team;
use turnfold_core::prelude::*;

effects! {
    /// Something that happened.
    #[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
    pub enum Effect {
        /// LC-3: this number of ticks passed.
        Ticked { ticks: u64 },
        /// LC-14: a turn starts.
        TurnChange { previous: Option<Id>, next: Id, is_new_round: bool },
        /// LC-6: the active unit has its action points.
        ApSet { ap: u32 },
        /// LC-7: a skill of the active unit is that much nearer to being used again.
        Cooldown { skill: Id, left: u32 },
        /// LC-8: a status took or gave hit points.
        StatusTicked { unit: Id, status: Id, amount: u32 },
        /// LC-8: a status is over.
        StatusExpired { unit: Id, status: Id },
        /// LC-10: a unit bears a status, new or renewed.
        StatusGained { unit: Id, status: Id },
        /// LC-9: a unit may not act.
        Stunned { unit: Id },
        /// LC-11: the active unit moved.
        Moved,
        /// LC-11: a unit used a skill.
        SkillUsed { unit: Id, skill: Id, target: Id },
        /// LC-11: an attack or a skill took hit points.
        Damaged { unit: Id, amount: u32, hp: u32 },
        /// LC-11: a skill gave hit points back.
        Healed { unit: Id, amount: u32, hp: u32 },
        /// LC-8, LC-11: a unit is dead.
        Died { unit: Id },
        /// LC-12: a turn is over; this is the charge that is left.
        TurnEnded { unit: Id, charge: u64 },
        /// LC-13: the match is decided.
        MatchOver { winner: Team },
    }
}
