//! What a run of the host did (PM-27).

use turnfold_core::paper::LineName;
use turnfold_core::rules::desk::Effect;
use turnfold_store::Seq;

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct RunReport {
    /// What happened at the desk.
    pub effects: Vec<Effect>,
    /// What was appended to the game.
    pub played: Vec<PlayedStep>,
}

/// Entries that were appended to the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedStep {
    /// The line.
    pub line: LineName,
    /// The first entry.
    pub first: Seq,
    /// The last.
    pub last: Seq,
}
