//! Play by mail: papers as mails carry them, turns as they are carried out in the game, and letters to the players.

pub mod addresses;
pub mod form;
pub mod keys;
pub mod letter;
pub mod outbox;
pub mod turn;

pub use addresses::{Addresses, MailAddress};
pub use form::{FoundPaper, MailedPaper};
pub use keys::{DeskOf, TurnKey};
pub use letter::Letter;
pub use outbox::{LetterName, Outbox};
pub use turn::{GameTurn, OrderEnd, PlayedBetween};
