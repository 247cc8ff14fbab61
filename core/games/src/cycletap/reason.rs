//! Why a command is ignored or rejected.

use turnfold_core::outcome::{Ruling, reasons};

reasons! {
    /// Why a command is ignored.
    pub enum Reason {
        /// CT-3: the seat has no unit there.
        NoFriendlyUnit = Ruling::of("no_friendly_unit", &["CT-3"]),
        /// CT-6, CT-8: the hex is off the board.
        OutOfBounds = Ruling::of("out_of_bounds", &["CT-6", "CT-8"]),
        /// CT-6, CT-8: the hex is not next to the origin or the last waypoint.
        NotAdjacent = Ruling::of("not_adjacent", &["CT-6", "CT-8"]),
        /// CT-6, CT-8: the hex is water.
        Impassable = Ruling::of("impassable", &["CT-6", "CT-8"]),
        /// CT-6: the unit defends or is about to.
        Defending = Ruling::of("defending", &["CT-6"]),
        /// CT-6: no slot is left for another order.
        PoolExhausted = Ruling::of("pool_exhausted", &["CT-6"]),
        /// CT-7, CT-8: an enemy stands there, and a path does not lead through enemies.
        EnemyOccupied = Ruling::of("enemy_occupied", &["CT-7", "CT-8"]),
        /// CT-8: the path has been there.
        Loop = Ruling::of("loop", &["CT-8"]),
        /// CT-8: the path is as long as a path may be.
        PathFull = Ruling::of("path_full", &["CT-8"]),
        /// CT-10: no path is being built.
        NothingToUndo = Ruling::of("nothing_to_undo", &["CT-10"]),
    }
}

reasons! {
    /// Why a command is not accepted, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// CT-2: the phase takes other commands.
        WrongPhase = Ruling::of("wrong_phase", &["CT-2"])
            .says("players give orders in planning, and `resolve` comes once both have planned"),
        /// CT-2: the other player plans.
        NotYourTurn = Ruling::of("not_your_turn", &["CT-2"]).says("the other player is planning"),
    }
}
