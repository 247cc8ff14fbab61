//! The items of this crate that games use: `use turnfold_core::prelude::*;`.

pub use crate::admission::Issuer;
pub use crate::any::erase;
pub use crate::declare::{arguments, commands, effects, reasons};
pub use crate::dice::DueRoll;
pub use crate::ending::{Agreement, Clock, MatchResult};
pub use crate::hex::{Direction, Hex};
pub use crate::outcome::{EffectSink, Ruled, Ruling, Verdict};
pub use crate::picture::{
    Arrow, Bar, Block, BoardPiece, Cell, Chip, HexBoard, Picture, Piece, PieceRow, SquareCell, SquareGrid,
    TextLine, Tint,
};
#[cfg(not(test))]
pub use crate::registry::Registry;
pub use crate::rules::{Answer, Decision, Happened, Part, Rules, Secrets, SetupError};
pub use crate::seat::{Perspective, Seat};
pub use crate::square::{Square, SquareBoard};
pub use crate::targets::{TargetPart, Targets};
pub use crate::text::{Id, Malformed, as_text};
pub use crate::ticks::Ticks;
