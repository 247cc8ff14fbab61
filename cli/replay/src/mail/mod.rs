//! Play by mail: papers as mails carry them, and turns as they are carried out in the game.

pub mod form;
pub mod keys;
pub mod turn;

pub use form::{FoundPaper, MailedPaper};
pub use keys::{DeskOf, TurnKey};
pub use turn::{GameTurn, OrderEnd, PlayedBetween};
