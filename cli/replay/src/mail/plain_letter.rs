//! Letters that answer the mails of players without a key (PM-38, PM-43).

use turnfold_core::paper::PaperLine;
use turnfold_core::rules::desk::State;

use super::answer::standing_order;
use super::code_part::{answer_with, code_of};
use super::letter::LetterText;
use super::letter_part::{KnownGame, LetterPart, MailLogs};
use super::letter_words::{Text, salutation};
use super::outbox::LetterName;
use super::plain_words::{PlainQuestion, help};
use super::report::TurnOverview;
use super::take_plain::TakenReply;
use crate::error::ReplayError;
use crate::signing::Signers;

impl TakenReply {
    /// Returns the name of the letter that answers it, if it needs one besides the receipts of its papers.
    pub(super) fn letter(&self, desk_size: u64) -> Option<LetterName> {
        let is_answered = self.questions.is_empty() && self.faults.is_empty();
        let seat = self.seat.filter(|_| !is_answered)?;
        Some(LetterName { desk_size, seat, answers: Some(self.mail) })
    }

    /// Writes the answer. `attached` is the name of the bundle.
    pub(super) fn answer(
        &self,
        mail: &MailLogs<'_>,
        signers: &Signers,
        state: &State,
        name: LetterName,
        attached: &str,
    ) -> Result<LetterText, ReplayError> {
        let seat = name.seat;
        let turn = TurnOverview::of(seat, state, attached, mail.of.terms.zone_of(seat));
        let part = LetterPart::of(mail, name.desk_size)?;
        let known = KnownGame::of(mail, seat, &part, None)?;
        let mut text = Text::default();
        text.line(&salutation(state, seat));
        if !self.faults.is_empty() {
            text.items(&self.faults);
        }
        for question in &self.questions {
            match question {
                PlainQuestion::Status => status(mail, state, name, &mut text)?,
                question => answer(*question, &known, &turn, &mut text),
            }
        }
        text.paragraph(&turn.waits());
        if let Some(code) = code_of(mail, signers, state, seat) {
            answer_with(&code, state.name_of(seat).is_none(), &mut text);
        }
        let subject = match (self.faults.is_empty(), self.papers.is_empty()) {
            (true, _) => "your question",
            (false, true) => "your mail was not taken",
            (false, false) => "a line of your mail was not taken",
        };
        Ok(LetterText {
            subject: format!("[{}] {subject}", mail.of.name),
            text: text.into_string(),
            ..LetterText::default()
        })
    }
}

/// Writes which order of the reader counts in this turn (PM-105).
fn status(mail: &MailLogs<'_>, state: &State, name: LetterName, text: &mut Text) -> Result<(), ReplayError> {
    let Some((_, order)) = mail.desk.order_of(name.seat, state.turn(), name.desk_size) else {
        text.paragraph("There is no order of yours for this turn.");
        return Ok(());
    };
    let plays: Vec<_> = order.plays().iter().map(PaperLine::as_str).collect();
    text.paragraph(&format!("Your order for this turn: {}.", plays.join("; ")));
    standing_order(mail, state, name, order.plays(), text)
}

/// Answers a question of a player.
fn answer(question: PlainQuestion, known: &KnownGame, turn: &TurnOverview<'_>, text: &mut Text) {
    match question {
        PlainQuestion::Help => {
            text.heading("What you can write");
            text.gap();
            for (line, meaning) in help() {
                text.fill("  ", &format!("{line} - {meaning}"));
            }
        }
        PlainQuestion::Board => {
            text.heading("The game as you see it");
            text.gap();
            known.picture.iter().for_each(|line| text.line(line));
        }
        PlainQuestion::Legal => {
            text.heading("Commands that the game would take first");
            text.gap();
            text.fill_with("    ", known.legal.iter().map(String::as_str));
            if known.more > 0 {
                text.paragraph(&format!("and {} more.", known.more));
            }
        }
        PlainQuestion::Who | PlainQuestion::Status => turn.table(text),
    }
}
