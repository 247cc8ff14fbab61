//! The answer to a mail without a paper that can be read (PM-51).

use turnfold_core::rules::desk::State;
use turnfold_core::{Digest, Seat};
use turnfold_history::program;

use super::answer_letter::order_that_counts;
use super::letter::LetterText;
use super::letter_part::MailLogs;
use super::letter_words::{Text, salutation};
use super::outbox::LetterName;
use super::plain_reply::PlainReply;
use super::received_mail::{Obstacle, ReceivedMail};
use super::report_letter::TurnOverview;
use super::take::{PaperOutcome, TakenPaper};

/// A mail of a player in which there is no paper, or only malformed ones.
pub(super) struct UnreadMail<'a> {
    received: &'a ReceivedMail,
    /// The fault of each of its papers.
    malformed: Vec<&'a str>,
    seat: Seat,
    mail: &'a MailLogs<'a>,
}

impl<'a> UnreadMail<'a> {
    /// How many mails of a seat with the same fault are answered in a turn.
    pub(super) const ANSWERS_MAX: usize = 10;

    /// Returns `None` for a mail with a paper that can be read, and for one that a program sent.
    pub(super) fn of(
        received: &'a ReceivedMail,
        papers: &'a [TakenPaper],
        seat: Seat,
        mail: &'a MailLogs<'a>,
    ) -> Option<Self> {
        let malformed = papers.iter().map(|taken| match &taken.outcome {
            PaperOutcome::Malformed(why) => Some(why.as_str()),
            _ => None,
        });
        let malformed = malformed.collect::<Option<Vec<_>>>()?;
        let is_player = Seat::players(mail.game.terms.seats.into()).contains(&seat);
        (is_player && received.notice.is_none()).then_some(Self { received, malformed, seat, mail })
    }

    pub(super) fn name(&self) -> LetterName {
        // PM-93: a program that is not recognized may send many mails, so they get one answer in a turn.
        let has_code = self.received.texts.iter().any(|text| PlainReply::find(text).is_some());
        let is_blank = self.malformed.is_empty() && self.received.obstacle.is_none() && !has_code;
        let turn = self.mail.desk.state().turn();
        let answers = if is_blank { once_in_a_turn(turn) } else { self.received.digest };
        LetterName { desk_size: self.mail.desk.size(), seat: self.seat, answers: Some(answers) }
    }

    pub(super) fn write(&self, state: &State) -> LetterText {
        let joins = state.name_of(self.seat).is_none();
        let is_plain = if joins {
            self.mail.game.terms.plain.contains(&self.seat)
        } else {
            state.plays_plainly(self.seat)
        };
        let mut text = Text::default();
        text.line(&salutation(state, self.seat));
        let (words, fault) = match (self.malformed.first(), self.received.obstacle) {
            (Some(_), _) => (
                "Your mail arrived, but the paper in it is damaged, so it was not recorded:",
                "the paper in your mail is damaged",
            ),
            // PM-65: the sender learns how large a mail may be.
            (None, Some(Obstacle::TooLong)) => (
                "Your mail arrived, but it is longer than 1 MiB, so it was not read, and nothing was recorded. Please send \
                 the text alone, without pictures and other files.",
                "your mail is too long",
            ),
            (None, Some(Obstacle::RichText)) => (
                "Your mail arrived, but Outlook sent it in its format \"Rich Text\". This format hides the text and its files \
                 in an attachment named winmail.dat, so nothing was recorded. Please send it again as plain text: choose \
                 Format Text, then Plain Text, in the window in which you write the mail.",
                "your mail is in a format that only Outlook reads",
            ),
            (None, Some(Obstacle::Encrypted)) if is_plain => (
                "Your mail arrived, but it is encrypted, so it could not be read. Please send it without encryption.",
                "your mail is encrypted",
            ),
            (None, Some(Obstacle::Encrypted)) => (
                "Your mail arrived, but it is encrypted, so it could not be read. Please send it without encryption. Your key \
                 signs the paper, so no one can change it.",
                "your mail is encrypted",
            ),
            (None, Some(Obstacle::Wrapped)) => (
                "Your mail arrived, but your mail program signed it in a form that hides the text in an attachment named \
                 smime.p7m, so it could not be read. Please send it again without that signature, or with \"clear text\" \
                 signing switched on.",
                "your mail is signed in a form that hides its text",
            ),
            (None, None) if is_plain => {
                ("We found no valid code in your mail, so nothing was taken.", "no valid code in your mail")
            }
            (None, None) => (
                "Your mail arrived, but there is no paper in it, so nothing was recorded.",
                "no paper in your mail",
            ),
        };
        text.paragraph(words);
        if let Some(why) = self.malformed.first() {
            text.items(&[format!("{why}.")]);
        }
        if let Some(order) = order_that_counts(self.mail, state, self.name()) {
            text.paragraph(order);
        }
        if is_plain {
            text.paragraph(if joins {
                "To join, answer the invitation with its line `code` and a line `join NAME`, with your name in place of NAME."
            } else {
                "To order, answer the newest letter. Write its line `code` and your commands, each on a line of its own."
            });
        } else {
            text.paragraph(&format!(
                "A paper is the text that `{} mail write` writes for you. It begins and ends with these two lines:",
                program::name()
            ));
            text.block(["#turnfold paper 1", "#turnfold end"]);
            text.paragraph(
                "Copy the whole text, with these lines, into your answer, or attach the file. The newest letter that asks you \
                 for something ends with the command to type.",
            );
        }
        let MailLogs { game, .. } = self.mail;
        text.paragraph(&TurnOverview::of(self.seat, state, "", game.terms.zone_of(self.seat)).waits());
        let turn = match state.turn() {
            0 => String::new(),
            turn => format!("turn {turn}: "),
        };
        LetterText {
            subject: format!("[{}] {turn}{fault}", game.name),
            text: text.into_string(),
            in_reply_to: self.received.message_id.clone(),
            ..LetterText::default()
        }
    }
}

/// Returns the digest that names the answer to mails without content for the match; a seat gets one in a turn.
pub(super) fn once_in_a_turn(turn: u32) -> Digest {
    Digest::new(blake3::derive_key("turnfold v1 answer to an empty mail", &turn.to_be_bytes()))
}
