//! Play by mail: papers as mails carry them, the execution of turns in the game, and letters to the players.

mod addresses;
mod answer;
mod desk_history;
mod desk_turn;
mod execute_turn;
mod game_turn;
mod host;
mod host_dice;
mod invitation;
mod letter;
mod letter_part;
mod letter_words;
mod letters;
mod lost_files;
mod mail_text;
mod open;
mod outbox;
mod pairing;
mod paper_form;
mod player_memory;
mod post_folder;
mod received_bundle;
mod received_mail;
mod report;
mod round;
mod shown_turn;
mod take;
mod terms;
mod thread;
mod trial;
mod turn_position;
mod unread;
mod write_paper;

pub use addresses::{AddressLine, Addresses, MailAddress, Route};
pub use desk_history::DeskHistory;
pub use desk_turn::{
    AppliedEntry, DeskTurn, Execution, RecordedPaper, RolledEntry, SeatStep, TurnPlan, TurnRecord,
};
pub(crate) use game_turn::is_shown_to_all;
pub use game_turn::{GameTurn, OrderEnd, PlayedBetween, PlayedRules, RollDice};
pub use host::{MailHost, PlayedStep, RunReport};
pub use host_dice::TableDice;
pub use letter::{Attachment, Letter};
pub use letters::{MailRoom, seat_bundle};
pub use open::{NewMailMatch, start_for_mail};
pub use outbox::{LetterName, Outbox, UnsentLetter, UnsentLetters};
pub use pairing::{DeskOf, MailMatch, TurnKey, desk_naming};
pub use paper_form::{FoundPaper, MailedPaper};
pub use post_folder::{PostFolder, addresses_in};
pub use received_mail::ReceivedMail;
pub use round::{Round, TurnEnd};
pub use take::{PaperOutcome, TakenPaper};
pub use terms::{GameTerms, TermsSource};
pub use thread::Thread;
pub use write_paper::{PaperRequest, PaperWords, WrittenPaper, write_paper};
