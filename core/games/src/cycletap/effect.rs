//! The effects of commands.

use alloc::vec::Vec;

use super::order::PathKind;
use super::state::UnitId;
use turnfold_core::prelude::*;

effects! {
    /// Something that happened.
    #[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
    pub enum Effect {
        /// CT-3, CT-5: the unit on a hex is the origin.
        OriginSelected { at: Hex },
        /// CT-4: the origin is about to defend.
        DefensePending { at: Hex },
        /// CT-4, CT-6, CT-7: orders of a unit were taken back.
        OrdersCleared { unit: UnitId, count: u32 },
        /// CT-4: a unit is left without orders.
        OrderCancelled { unit: UnitId },
        /// CT-13: an order stands.
        OrderPlaced { number: u64, unit: UnitId, kind: &'static str, path: Vec<Hex> },
        /// CT-7: a path begins.
        PathStarted { at: Hex },
        /// CT-8: the path has another waypoint.
        PathExtended { at: Hex },
        /// CT-8: the path is of the other kind now.
        PathKind { kind: PathKind },
        /// CT-10: this is the last waypoint again.
        PathShortened { at: Hex },
        /// CT-10, CT-12: the path is given up.
        PathDropped,
        /// CT-12: a seat has planned.
        PlanningEnded { seat: Seat },
        /// CT-14: a unit deployed.
        Deployed { unit: UnitId, to: Hex },
        /// CT-14: a unit stays, because another deploys to the same hex.
        DeployHeld { unit: UnitId },
        /// CT-15: a unit took a step.
        Moved { unit: UnitId, to: Hex },
        /// CT-15: a unit stops where it stands.
        Blocked { unit: UnitId, at: Hex },
        /// CT-16: a side has the greater claim on a contested hex.
        HexWon { at: Hex, side: Seat, claim: u32, against: u32 },
        /// CT-16: the claims on a contested hex are equal.
        HexHeld { at: Hex },
        /// CT-16: a unit is lost.
        Eliminated { unit: UnitId },
        /// CT-17: an attacker takes the hex it attacked.
        Advanced { unit: UnitId, to: Hex },
        /// CT-18: a new turn begins.
        TurnStarted { turn: u64 },
        /// CT-18: a side has no unit left.
        MatchOver { winner: Option<Seat> },
    }
}
