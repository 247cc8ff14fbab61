//! Answers to mails: to their papers (PM-29, PM-30, PM-105), to the questions of players without a key (PM-43), and to
//! mails without a paper that can be read (PM-51).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::outcome::{Ruled, Ruling};
use turnfold_core::paper::{Paper, PaperContent, PaperLine};
use turnfold_core::rules::desk::Command;
use turnfold_core::{Digest, Seat};
use turnfold_history::text::counted;
use turnfold_store::Seq;

use super::desk_history::AppliedEntry;
use super::letter_part::{KnownGame, MailLogs, sentences};
use super::letter_words::time;
use super::outbox::LetterName;
use super::plain_reply::PlainReply;
use super::plain_words::{HELP, PlainQuestion};
use super::received_mail::{Obstacle, ReceivedMail};
use super::report_letter::ahead_in_words;
use super::seat_letter::SeatLetter;
use super::take::{PaperOutcome, TakenPaper};
use super::take_plain::{TakenReply, last_plain};
use crate::error::MailError;

const OUTDATED: &str = "outdated";
const NOT_DUE: &str = "not_due";
const LISTED_MAX: usize = 20;

pub(super) struct AnsweredPaper<'a> {
    paper: &'a Paper,
    digest: Digest,
    outcome: &'a PaperOutcome,
    seq: Option<Seq>,
}

impl AnsweredPaper<'_> {
    fn code(&self) -> &'static str {
        self.outcome.code().unwrap_or(self.outcome.name())
    }

    /// Returns `true` for a `join` after the last seat was taken, for which `not_yet` is final (PM-35).
    fn joins_too_late(&self) -> bool {
        matches!(self.paper.content(), PaperContent::Join(_)) && self.code() == "not_yet"
    }

    fn why(&self) -> String {
        let message = self.outcome.message().unwrap_or_default();
        if self.joins_too_late() { message } else { format!("{message} ({})", self.code()) }
    }

    fn yours(&self) -> String {
        format!("Your {} (paper {})", self.kind(), self.paper.head().number)
    }

    fn subject(&self, outcome: &str) -> String {
        format!("your {} {}: {outcome}", self.kind(), self.paper.head().number)
    }

    /// Returns the word for a kind of paper in letters. Joining with a key and without one is the same to a reader.
    const fn kind(&self) -> &'static str {
        match self.paper.content() {
            PaperContent::Enter(_) => "join",
            PaperContent::Absent(_) => "absence",
            PaperContent::Press(_) => "message",
            PaperContent::Ahead(_) => "order for later turns",
            PaperContent::Resign => "resignation",
            content => content.kind(),
        }
    }
}

/// Returns the answers to the papers of a mail, by letter: the receipt of one recorded paper, or the papers that were not
/// recorded. A recorded paper gets a letter if it takes a seat, has no effect or is by a player without a key. Papers
/// that were not recorded share one letter for each seat, because anyone can send any number of them. Papers for seats
/// that the match does not have get no answer.
pub(super) fn answers_to<'a>(
    papers: &'a [TakenPaper],
    mail: &MailLogs<'_>,
) -> Vec<(LetterName, Vec<AnsweredPaper<'a>>)> {
    let players = Seat::players(mail.game.terms.seats.into());
    let mut letters = Vec::new();
    let mut not_taken = BTreeMap::<Seat, Vec<AnsweredPaper<'_>>>::new();
    let mut known = BTreeSet::new();
    for TakenPaper { paper, outcome, seq, .. } in papers {
        let Some(paper) = paper else { continue };
        let seat = paper.head().seat;
        let digest = paper.digest();
        if !players.contains(&seat) || !known.insert((digest, outcome.name(), outcome.code())) {
            continue;
        }
        // PM-64: the next report is the receipt. PM-105: a player without a key gets a receipt at once.
        let joins = matches!(paper.content(), PaperContent::Join(_) | PaperContent::Enter(_));
        if *outcome == PaperOutcome::Applied && !joins && !is_plain(*seq, mail) {
            continue;
        }
        let answered = AnsweredPaper { paper, digest, outcome, seq: *seq };
        if let Some(seq) = seq {
            let name = LetterName { desk_size: seq.saturating_add(1), seat, answers: Some(digest) };
            letters.push((name, vec![answered]));
        } else {
            not_taken.entry(seat).or_default().push(answered);
        }
    }
    for (seat, papers) in not_taken {
        let name = LetterName { desk_size: mail.desk.size(), seat, answers: Some(answered(&papers)) };
        letters.push((name, papers));
    }
    letters
}

fn is_plain(seq: Option<Seq>, mail: &MailLogs<'_>) -> bool {
    let mut entries = mail.desk.entries().iter();
    entries.any(|entry| Some(entry.seq) == seq && matches!(entry.command, Command::Plain(_)))
}

fn answered(papers: &[AnsweredPaper<'_>]) -> Digest {
    if let [only] = papers {
        return only.digest;
    }
    let listed: Vec<_> = papers.iter().map(|paper| format!("{} {}", paper.digest, paper.code())).collect();
    Digest::new(blake3::derive_key("turnfold v1 answer", listed.join("\n").as_bytes()))
}

impl SeatLetter<'_> {
    pub(super) fn answer_papers(&mut self, papers: &[AnsweredPaper<'_>]) -> Result<(), MailError> {
        self.salute();
        if let [only] = papers {
            if let Some(seq) = only.seq {
                let outcome = self.recorded(&only.yours(), seq);
                self.subject = only.subject(outcome);
            } else {
                self.text.paragraph(&format!("{} was not taken: {}.", only.yours(), only.why()));
                self.text.paragraph("It was not recorded.");
                if matches!(only.paper.content(), PaperContent::Order(_)) {
                    self.order_that_counts();
                }
                let reason = if only.joins_too_late() { "the match has begun" } else { only.code() };
                self.subject = only.subject(&format!("not taken, {reason}"));
            }
            if *only.outcome == PaperOutcome::Applied {
                self.how_it_stands(only.paper.content())?;
            }
        } else {
            self.not_taken(papers);
            self.subject = format!("{} papers: not taken", papers.len());
        }
        self.text.paragraph(&self.waits());
        self.offers();
        if self.state.turn() > 0
            && let Some(code) = self.code()
        {
            self.answer_with(&code);
        }
        if let [only] = papers {
            self.text.paragraph("The digest of the paper is");
            self.text.block([only.digest.to_string().as_str()]);
        }
        Ok(())
    }

    fn not_taken(&mut self, papers: &[AnsweredPaper<'_>]) {
        self.text.paragraph(&format!("{} papers for your seat in one mail were not taken:", papers.len()));
        self.text.gap();
        for paper in papers.iter().take(LISTED_MAX) {
            self.text.item(&format!("{}, digest {:.16}: {}.", paper.yours(), paper.digest, paper.why()));
        }
        if papers.len() > LISTED_MAX {
            self.text.item(&format!("and {} more.", papers.len() - LISTED_MAX));
        }
        self.text.paragraph("They were not recorded.");
    }

    fn recorded(&mut self, what: &str, seq: Seq) -> &'static str {
        let entry = self.mail.desk.entries().iter().find(|entry| entry.seq == seq);
        let mut outcome = "taken";
        if let Some(reason) = entry.and_then(|entry| entry.ignored) {
            let Ruling { code, text: why, .. } = reason.ruling();
            let why = if code == NOT_DUE { "it is not your turn" } else { why.unwrap_or_default() };
            self.text.paragraph(&format!("{what} is on record but has no effect: {why} ({code})."));
            if code == OUTDATED {
                // PM-92: name both times. PM-56: if there are none, a second device may not know what the first wrote.
                let sent = entry.and_then(|entry| self.sent_before(entry));
                let two = "If you play on two devices, write it again from the newest letter.";
                self.text.paragraph(sent.as_deref().unwrap_or(two));
            }
            outcome = code;
        } else {
            self.text.paragraph(&format!("{what} was taken and counts."));
        }
        let happened = entry.map_or_else(Vec::new, |entry| sentences(entry, self.seat, self.zone));
        self.text.items(&happened);
        self.text.paragraph(&format!(
            "Your receipt is record {seq} of the desk in the attached bundle, which the host has signed."
        ));
        outcome
    }

    /// PM-92: returns a sentence with the times of a plain order that has no effect and of the order that counts.
    fn sent_before(&self, entry: &AppliedEntry) -> Option<String> {
        let Command::Plain(plain) = &entry.command else { return None };
        let head = plain.paper().head();
        let earlier = self.mail.desk.entries().iter().filter(|other| other.seq < entry.seq);
        let last = last_plain(earlier, head.seat, head.turn, plain.paper().content())?;
        let sent = time(plain.sent_at()?, self.zone);
        let later = time(last.sent_at()?, self.zone);
        let PaperContent::Order(order) = last.paper().content() else { return None };
        let plays = PaperLine::joined(order.plays());
        Some(format!("You sent it on {sent}. Your order of {later} is newer and counts: {plays}."))
    }

    /// PM-105: writes how long a paper that counts stays valid, and how to change it.
    fn how_it_stands(&mut self, content: &PaperContent) -> Result<(), MailError> {
        match content {
            PaperContent::Order(order) => self.standing_order(order.plays())?,
            PaperContent::Ahead(ahead) if ahead.turns().is_empty() && ahead.lines().is_empty() => {
                self.text.paragraph("You have no orders for later turns now.");
            }
            PaperContent::Ahead(_) => self.standing_ahead(),
            PaperContent::Absent(_) => self.text.paragraph(&self.absence()),
            PaperContent::Offer(_) => self.text.paragraph(
                "It stands until the others have answered it, at the latest until this turn ends. A new offer of yours takes \
                 its place.",
            ),
            PaperContent::Answer { to, agree: true } => {
                if let Some(open) = self.view.offers.iter().find(|open| open.digest == *to) {
                    let nth = open.nth;
                    self.text.paragraph(&format!(
                        "It takes effect when all have agreed. Until then, `decline {nth}` takes your agreement back."
                    ));
                }
            }
            PaperContent::Resign => self.text.paragraph("It cannot be taken back."),
            PaperContent::Press(_) => self.text.paragraph("Words cannot be taken back; you can write again."),
            PaperContent::Answer { .. }
            | PaperContent::Join(_)
            | PaperContent::Enter(_)
            | PaperContent::Seal { .. }
            | PaperContent::Rekey(_) => {}
        }
        Ok(())
    }

    fn absence(&self) -> String {
        let left = counted(self.state.absence_left(self.seat), "more day", "more days");
        format!(
            "Deadlines wait for you until then. You then have the hours of a turn. You can order at any time. It cannot be \
             taken back; a later `absent until` makes it longer, by {left} in this match."
        )
    }

    fn standing_ahead(&mut self) {
        let Some((_, ahead)) = self.mail.desk.ahead(self.state, self.seat) else { return };
        let lines = self.state.lines_left(self.seat, ahead);
        ahead_in_words(ahead, &lines, false, &mut self.text);
        if !ahead.turns().is_empty() {
            self.text.paragraph("Each stands until its turn begins and is your order then.");
        }
        if !lines.is_empty() {
            self.text.paragraph(
                "A line of answers goes on as long as the other player orders just what it says, and you do not send another \
                 order. No one else reads it before the match is over.",
            );
        }
        if !ahead.turns().is_empty() || !lines.is_empty() {
            self.text.paragraph(
                "To change them, send all of them again: the newest mail with such lines counts. `if none` takes them back.",
            );
        }
    }

    /// PM-51: writes whose earlier order for the seat still counts, if there is one.
    fn order_that_counts(&mut self) {
        let desk = &self.mail.desk;
        let orders = self.state.orders_due();
        let Some((_, digest)) = orders.iter().find(|(seat, _)| *seat == self.seat) else { return };
        let Some(entry) = desk.paper(digest) else { return };
        self.text.paragraph(if entry.seq >= desk.came(self.seat, self.name.desk_size) {
            "Your earlier order still counts."
        } else {
            "The order of the player who had your seat before you still counts."
        });
    }

    /// PM-105: writes the game after an order that counts, how long the order stays valid, and how to change it.
    fn standing_order(&mut self, plays: &[PaperLine]) -> Result<(), MailError> {
        let known = KnownGame::of(self.mail, self.seat, self.name.desk_size, None)?;
        if let Some((sentences, picture)) = known.after(self.seat, plays) {
            self.text.heading("The game after your order");
            self.text.items(&sentences);
            self.picture(&picture);
        } else {
            self.text.paragraph("What it leads to depends on a roll, or on players who play before you.");
        }
        self.text.paragraph(&format!(
            "Your order stands until the turn is carried out, at the latest {}. To change it, answer this letter with the \
             whole new order: the newest one counts.",
            self.deadline()
        ));
        Ok(())
    }

    pub(super) fn answer_reply(&mut self, reply: &TakenReply) -> Result<(), MailError> {
        let TakenReply { questions, faults, papers, .. } = reply;
        self.salute();
        if !faults.is_empty() {
            self.text.items(faults);
        }
        if papers.is_empty() && (!faults.is_empty() || *questions == [PlainQuestion::Help]) {
            self.order_that_counts();
        }
        let known = KnownGame::of(self.mail, self.seat, self.name.desk_size, None)?;
        for question in questions {
            self.answer_question(*question, &known)?;
        }
        self.text.paragraph(&self.waits());
        if let Some(code) = self.code() {
            self.answer_with(&code);
        }
        self.subject = match (faults.is_empty(), papers.is_empty()) {
            (true, _) => "your question",
            (false, true) => "your mail was not taken",
            (false, false) => "a line of your mail was not taken",
        }
        .into();
        Ok(())
    }

    fn answer_question(&mut self, question: PlainQuestion, known: &KnownGame) -> Result<(), MailError> {
        match question {
            PlainQuestion::Help => {
                self.text.heading("What you can write");
                self.text.gap();
                for (line, meaning) in HELP {
                    self.text.fill("  ", &format!("{line} - {meaning}"));
                }
            }
            PlainQuestion::Board => {
                self.text.heading("The game as you see it");
                self.picture(&known.picture);
            }
            PlainQuestion::Legal => {
                self.text.heading("Commands that the game would take first");
                self.text.gap();
                self.text.fill_with("    ", known.legal.iter().map(String::as_str));
                self.more_commands(known);
            }
            PlainQuestion::Who => self.table(),
            PlainQuestion::Status => self.own_status()?,
        }
        Ok(())
    }

    /// PM-105: writes which order, orders for later turns, absence and offers of the reader count.
    fn own_status(&mut self) -> Result<(), MailError> {
        if let Some((_, order)) = self.mail.desk.order_of(self.seat, self.state.turn(), self.name.desk_size) {
            let plays = PaperLine::joined(order.plays());
            self.text.paragraph(&format!("Your order for this turn: {plays}."));
            self.standing_order(order.plays())?;
        } else {
            self.text.paragraph("There is no order of yours for this turn.");
        }
        self.standing_ahead();
        let own = self.view.seats.iter().find(|own| own.seat == self.seat);
        if let Some(until) = own.and_then(|own| own.absent) {
            let until = time(until, self.zone);
            self.text.paragraph(&format!("You are absent until {until}. {}", self.absence()));
        }
        self.offers();
        Ok(())
    }

    pub(super) fn answer_unread(&mut self, received: &ReceivedMail, malformed: &[&str]) {
        let joins = self.state.name_of(self.seat).is_none();
        let is_plain = if joins {
            self.mail.game.terms.plain.contains(&self.seat)
        } else {
            self.state.plays_plainly(self.seat)
        };
        self.salute();
        let (words, fault) = why_unread(received.obstacle, !malformed.is_empty(), is_plain);
        self.text.paragraph(words);
        if let Some(why) = malformed.first() {
            self.text.items(&[format!("{why}.")]);
        }
        self.order_that_counts();
        if is_plain {
            self.text.paragraph(if joins {
                "To join, answer the invitation with its line `code` and a line `join NAME`, with your name in place of NAME."
            } else {
                "To order, answer the newest letter. Write its line `code` and your commands, each on a line of its own."
            });
        } else {
            self.text.paragraph(&format!(
                "A paper is the text that `{} mail write` writes for you. It begins and ends with these two lines:",
                self.mail.program
            ));
            self.text.block(["#turnfold paper 1", "#turnfold end"]);
            self.text.paragraph(
                "Copy the whole text, with these lines, into your answer, or attach the file. The newest letter that asks you \
                 for something ends with the command to type.",
            );
        }
        self.text.paragraph(&self.waits());
        let turn = self.state.turn();
        self.subject = if turn == 0 { fault.into() } else { format!("turn {turn}: {fault}") };
        self.in_reply_to.clone_from(&received.message_id);
    }
}

const fn why_unread(
    obstacle: Option<Obstacle>,
    is_malformed: bool,
    is_plain: bool,
) -> (&'static str, &'static str) {
    match obstacle {
        _ if is_malformed => (
            "Your mail arrived, but the paper in it is damaged, so it was not recorded:",
            "the paper in your mail is damaged",
        ),
        // PM-65: the sender learns how large a mail may be.
        Some(Obstacle::TooLong) => (
            "Your mail arrived, but it is longer than 1 MiB, so it was not read, and nothing was recorded. Please send the \
             text alone, without pictures and other files.",
            "your mail is too long",
        ),
        Some(Obstacle::RichText) => (
            "Your mail arrived, but Outlook sent it in its format \"Rich Text\". This format hides the text and its files in an \
             attachment named winmail.dat, so nothing was recorded. Please send it again as plain text: choose Format Text, \
             then Plain Text, in the window in which you write the mail.",
            "your mail is in a format that only Outlook reads",
        ),
        Some(Obstacle::Encrypted) if is_plain => (
            "Your mail arrived, but it is encrypted, so it could not be read. Please send it without encryption.",
            "your mail is encrypted",
        ),
        Some(Obstacle::Encrypted) => (
            "Your mail arrived, but it is encrypted, so it could not be read. Please send it without encryption. Your key signs \
             the paper, so no one can change it.",
            "your mail is encrypted",
        ),
        Some(Obstacle::Wrapped) => (
            "Your mail arrived, but your mail program signed it in a form that hides the text in an attachment named smime.p7m, \
             so it could not be read. Please send it again without that signature, or with \"clear text\" signing switched on.",
            "your mail is signed in a form that hides its text",
        ),
        None if is_plain => {
            ("We found no valid code in your mail, so nothing was taken.", "no valid code in your mail")
        }
        None => (
            "Your mail arrived, but there is no paper in it, so nothing was recorded.",
            "no paper in your mail",
        ),
    }
}

pub(super) fn malformed_in(papers: &[TakenPaper]) -> Option<Vec<&str>> {
    let mut faults = Vec::new();
    for taken in papers {
        let PaperOutcome::Malformed(why) = &taken.outcome else { return None };
        faults.push(why.as_str());
    }
    Some(faults)
}

pub(super) fn unread_name(
    received: &ReceivedMail,
    malformed: &[&str],
    seat: Seat,
    mail: &MailLogs<'_>,
) -> LetterName {
    // PM-93: a program that is not recognized may send many mails, so they get one answer in a turn.
    let has_code = received.texts.iter().any(|text| PlainReply::find(text).is_some());
    let is_blank = malformed.is_empty() && received.obstacle.is_none() && !has_code;
    let answers = if is_blank { once_in_a_turn(mail.desk.state().turn()) } else { received.digest };
    LetterName { desk_size: mail.desk.size(), seat, answers: Some(answers) }
}

pub(super) fn once_in_a_turn(turn: u32) -> Digest {
    Digest::new(blake3::derive_key("turnfold v1 answer to an empty mail", &turn.to_be_bytes()))
}
