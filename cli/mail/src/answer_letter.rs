//! Answers to mails: to their papers (PM-29, PM-30, PM-105), and to the questions of players without a key (PM-43).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::outcome::{Ruled, Ruling};
use turnfold_core::paper::{OrdersAhead, Paper, PaperContent, PaperHead, PaperLine, Reply};
use turnfold_core::rules::desk::{Command, Desk, State};
use turnfold_core::{Digest, Rules as _, Seat};
use turnfold_history::text::counted;
use turnfold_proof::signing::Signers;
use turnfold_store::Seq;

use super::desk_turn::AppliedEntry;
use super::letter::LetterText;
use super::letter_part::{KnownGame, LetterPart, MailLogs, sentences};
use super::letter_words::{Text, salutation, time};
use super::outbox::LetterName;
use super::plain_words::{PlainQuestion, help};
use super::reply_code::{ReplyCode, answer_with, code_of};
use super::report_letter::{TurnOverview, ahead_in_words};
use super::take::{PaperOutcome, TakenPaper};
use super::take_plain::{TakenReply, last_plain};
use crate::error::MailError;

/// The reason code of a paper whose number another paper has.
const OUTDATED: &str = "outdated";
/// The reason code of an order by a seat that is not asked.
const NOT_DUE: &str = "not_due";
const LISTED_MAX: usize = 20;

/// A letter that answers a mail: the receipt of one recorded paper, or a list of papers that were not recorded, with
/// the reasons.
pub(super) struct AnswerLetter<'a> {
    pub(super) name: LetterName,
    papers: Vec<AnsweredPaper<'a>>,
}

struct AnsweredPaper<'a> {
    paper: &'a Paper,
    digest: Digest,
    outcome: &'a PaperOutcome,
    /// The desk's entry that records it.
    seq: Option<Seq>,
}

impl AnsweredPaper<'_> {
    /// Returns the code of the reason, or the name of the outcome.
    fn code(&self) -> &'static str {
        self.outcome.code().unwrap_or(self.outcome.name())
    }

    /// Returns `true` for a `join` after the last seat was taken, for which `not_yet` is final (PM-35).
    fn joins_too_late(&self) -> bool {
        matches!(self.paper.content(), PaperContent::Join(_)) && self.code() == "not_yet"
    }

    /// Returns the reason in words, and what the player can do.
    fn why(&self) -> String {
        let message = self.outcome.message().unwrap_or_default();
        if self.joins_too_late() { message } else { format!("{message} ({})", self.code()) }
    }

    fn reason(&self) -> &'static str {
        if self.joins_too_late() { "the match has begun" } else { self.code() }
    }
}

impl<'a> AnswerLetter<'a> {
    /// Returns the answers to the papers of a mail. A recorded paper gets a letter if it takes a seat, has no effect or
    /// is by a player without a key. Papers that were not recorded share one letter for each seat, because anyone can
    /// send any number of them. Papers for seats that the match does not have get no answer.
    pub(super) fn all(papers: &'a [TakenPaper], mail: &MailLogs<'_>) -> Vec<Self> {
        let players = Seat::players(mail.game.terms.seats.into());
        let (mut letters, mut not_taken) = (Vec::new(), BTreeMap::<Seat, Vec<AnsweredPaper<'_>>>::new());
        let mut known = BTreeSet::new();
        for TakenPaper { paper, outcome, seq, .. } in papers {
            let Some(paper) = paper else { continue };
            let seat = paper.head().seat;
            let digest = paper.digest();
            if !players.contains(&seat) || !known.insert((digest, outcome.name(), outcome.code())) {
                continue;
            }
            // PM-64: the next report is the receipt. PM-105: a player without a key gets a receipt at once.
            if *outcome == PaperOutcome::Applied && !is_join(paper) && !is_plain(*seq, mail) {
                continue;
            }
            let answered = AnsweredPaper { paper, digest, outcome, seq: *seq };
            if let Some(seq) = seq {
                let name = LetterName { desk_size: seq.saturating_add(1), seat, answers: Some(digest) };
                letters.push(Self { name, papers: vec![answered] });
            } else {
                not_taken.entry(seat).or_default().push(answered);
            }
        }
        letters.extend(not_taken.into_iter().map(|(seat, papers)| {
            let name = LetterName { desk_size: mail.desk.size(), seat, answers: Some(answered(&papers)) };
            Self { name, papers }
        }));
        letters
    }

    /// Writes the letter. `attached` is the file name of the bundle.
    pub(super) fn write(
        &self,
        mail: &MailLogs<'_>,
        state: &State,
        code: Option<&ReplyCode>,
        attached: &str,
    ) -> Result<LetterText, MailError> {
        let seat = self.name.seat;
        let turn = TurnOverview::of(seat, state, attached, mail.game.terms.zone_of(seat));
        let mut text = Text::default();
        text.line(&salutation(state, seat));
        let (subject, digest) = match self.papers.as_slice() {
            [AnsweredPaper { paper, digest, seq: Some(seq), .. }] => {
                let outcome = recorded(mail, &yours(paper), seat, *seq, &mut text);
                (subject_of(paper, outcome), Some(digest))
            }
            [only] => {
                text.paragraph(&format!("{} was not taken: {}.", yours(only.paper), only.why()));
                text.paragraph("It was not recorded.");
                let is_order = matches!(only.paper.content(), PaperContent::Order(_));
                if let Some(order) = order_that_counts(mail, state, self.name).filter(|_| is_order) {
                    text.paragraph(order);
                }
                (subject_of(only.paper, &format!("not taken, {}", only.reason())), Some(&only.digest))
            }
            papers => {
                list(papers, &mut text);
                (format!("{} papers: not taken", papers.len()), None)
            }
        };
        if let [AnsweredPaper { paper, outcome: PaperOutcome::Applied, .. }] = self.papers.as_slice() {
            how_it_stands(mail, state, self.name, paper.content(), &mut text)?;
        }
        text.paragraph(&turn.waits());
        turn.offers(&mut text);
        if let Some(code) = code {
            answer_with(code, state, seat, &mut text);
        }
        if let Some(digest) = digest {
            text.paragraph("The digest of the paper is");
            text.block([digest.to_string().as_str()]);
        }
        let subject = format!("[{}] {subject}", mail.game.name);
        Ok(LetterText { subject, text: text.into_string(), ..LetterText::default() })
    }
}

/// PM-105: writes how long a paper that counts stays valid, and how to change it.
fn how_it_stands(
    mail: &MailLogs<'_>,
    state: &State,
    name: LetterName,
    content: &PaperContent,
    text: &mut Text,
) -> Result<(), MailError> {
    match content {
        PaperContent::Order(order) => standing_order(mail, state, name, order.plays(), text)?,
        PaperContent::Ahead(ahead) if ahead.turns().is_empty() && ahead.lines().is_empty() => {
            text.paragraph("You have no orders for later turns now.");
        }
        PaperContent::Ahead(ahead) => standing_ahead(ahead, &state.lines_left(name.seat, ahead), text),
        PaperContent::Absent(_) => text.paragraph(&absence(state, name.seat)),
        PaperContent::Offer(_) => text.paragraph(
            "It stands until the others have answered it, at the latest until this turn ends. A new offer of yours takes its \
             place.",
        ),
        PaperContent::Answer { to, agree: true } => {
            let open = Desk::view(state, name.seat.into()).offers;
            if let Some(open) = open.iter().find(|open| open.digest == *to) {
                text.paragraph(&format!(
                    "It takes effect when all have agreed. Until then, `decline {}` takes your agreement back.",
                    open.nth
                ));
            }
        }
        PaperContent::Resign => text.paragraph("It cannot be taken back."),
        PaperContent::Press(_) => text.paragraph("Words cannot be taken back; you can write again."),
        PaperContent::Answer { .. }
        | PaperContent::Join(_)
        | PaperContent::Enter(_)
        | PaperContent::Seal { .. }
        | PaperContent::Rekey(_) => {}
    }
    Ok(())
}

/// Writes what an absence does, and by how many days it can be extended.
fn absence(state: &State, seat: Seat) -> String {
    let left = counted(state.absence_left(seat), "more day", "more days");
    format!(
        "Deadlines wait for you until then. You then have the hours of a turn. You can order at any time. It cannot be taken \
         back; a later `absent until` makes it longer, by {left} in this match."
    )
}

/// Writes the orders for later turns that count, and how to change them.
fn standing_ahead(ahead: &OrdersAhead, lines: &[&[Reply]], text: &mut Text) {
    ahead_in_words(ahead, lines, false, text);
    if !ahead.turns().is_empty() {
        text.paragraph("Each stands until its turn begins and is your order then.");
    }
    if !lines.is_empty() {
        text.paragraph(
            "A line of answers goes on as long as the other player orders just what it says, and you do not send another \
             order. No one else reads it before the match is over.",
        );
    }
    if !ahead.turns().is_empty() || !lines.is_empty() {
        text.paragraph(
            "To change them, send all of them again: the newest mail with such lines counts. `if none` takes them back.",
        );
    }
}

/// PM-51: returns a sentence that says whose earlier order for the seat still counts, if there is one.
pub(super) fn order_that_counts(
    mail: &MailLogs<'_>,
    state: &State,
    name: LetterName,
) -> Option<&'static str> {
    let orders = state.orders_due();
    let (_, digest) = orders.iter().find(|(seat, _)| *seat == name.seat)?;
    let is_own = mail.desk.paper(digest)?.seq >= mail.desk.came(name.seat, name.desk_size);
    Some(if is_own {
        "Your earlier order still counts."
    } else {
        "The order of the player who had your seat before you still counts."
    })
}

/// PM-105: writes the game after an order that counts, how long the order stays valid, and how to change it.
fn standing_order(
    mail: &MailLogs<'_>,
    state: &State,
    name: LetterName,
    plays: &[PaperLine],
    text: &mut Text,
) -> Result<(), MailError> {
    let part = LetterPart::of(mail, name.desk_size)?;
    let known = KnownGame::of(mail, name.seat, &part, None)?;
    match known.after(name.seat, plays) {
        Some((sentences, picture)) => {
            text.heading("The game after your order");
            text.items(&sentences);
            text.gap();
            for line in &picture {
                text.line(line);
            }
        }
        None => text.paragraph("What it leads to depends on a roll, or on players who play before you."),
    }
    let until = state.deadline().map(|until| time(until, mail.game.terms.zone_of(name.seat)));
    text.paragraph(&format!(
        "Your order stands until the turn is carried out, at the latest {}. To change it, answer this letter with the whole \
         new order: the newest one counts.",
        until.unwrap_or_default()
    ));
    Ok(())
}

/// Returns `true` if an entry of the desk records the paper of a player without a key.
fn is_plain(seq: Option<Seq>, mail: &MailLogs<'_>) -> bool {
    let mut entries = mail.desk.entries().iter();
    entries.any(|entry| Some(entry.seq) == seq && matches!(entry.command, Command::Plain(_)))
}

/// Returns `true` if a paper takes a seat.
const fn is_join(paper: &Paper) -> bool {
    matches!(paper.content(), PaperContent::Join(_) | PaperContent::Enter(_))
}

/// Returns the digest that names a letter: the digest of its paper or, for several papers, of their digests and outcomes.
fn answered(papers: &[AnsweredPaper<'_>]) -> Digest {
    if let [only] = papers {
        return only.digest;
    }
    let listed: Vec<_> = papers.iter().map(|paper| format!("{} {}", paper.digest, paper.code())).collect();
    Digest::new(blake3::derive_key("turnfold v1 answer", listed.join("\n").as_bytes()))
}

fn yours(paper: &Paper) -> String {
    format!("Your {} (paper {})", kind(paper), paper.head().number)
}

fn subject_of(paper: &Paper, outcome: &str) -> String {
    format!("your {} {}: {outcome}", kind(paper), paper.head().number)
}

/// Returns the word for a kind of paper in letters. Joining with a key and without one is the same to a reader.
const fn kind(paper: &Paper) -> &'static str {
    match paper.content() {
        PaperContent::Enter(_) => "join",
        PaperContent::Absent(_) => "absence",
        PaperContent::Press(_) => "message",
        PaperContent::Ahead(_) => "order for later turns",
        PaperContent::Resign => "resignation",
        content => content.kind(),
    }
}

/// Lists several papers that were not recorded.
fn list(papers: &[AnsweredPaper<'_>], text: &mut Text) {
    text.paragraph(&format!("{} papers for your seat in one mail were not taken:", papers.len()));
    let listed = papers.iter().take(LISTED_MAX);
    let items: Vec<_> = listed
        .map(|paper| format!("{}, digest {:.16}: {}.", yours(paper.paper), paper.digest, paper.why()))
        .collect();
    text.items(&items);
    if let Some(more) = papers.len().checked_sub(LISTED_MAX).filter(|more| *more > 0) {
        text.item(&format!("and {more} more."));
    }
    text.paragraph("They were not recorded.");
}

/// Writes the outcome of the paper that entry `seq` of the desk records. Returns the outcome as one word for the
/// subject.
fn recorded(mail: &MailLogs<'_>, what: &str, reader: Seat, seq: Seq, text: &mut Text) -> &'static str {
    let entry = mail.desk.entries().iter().find(|entry| entry.seq == seq);
    let happened =
        entry.map(|entry| sentences(entry, reader, mail.game.terms.zone_of(reader))).unwrap_or_default();
    let outcome = if let Some(reason) = entry.and_then(|entry| entry.ignored) {
        let Ruling { code, text: why, .. } = reason.ruling();
        let why = if code == NOT_DUE { "it is not your turn" } else { why.unwrap_or_default() };
        text.paragraph(&format!("{what} is on record but has no effect: {why} ({code})."));
        if code == OUTDATED {
            // PM-92: name both times. PM-56: if there are none, a second device may not know what the first wrote.
            text.paragraph(&entry.and_then(|entry| sent_before(mail, entry)).unwrap_or_else(|| {
                "If you play on two devices, write it again from the newest letter.".into()
            }));
        }
        code
    } else {
        text.paragraph(&format!("{what} was taken and counts."));
        "taken"
    };
    text.items(&happened);
    text.paragraph(&format!(
        "Your receipt is record {seq} of the desk in the attached bundle, which the host has signed."
    ));
    outcome
}

/// PM-92: returns a sentence with the times of a plain order that has no effect and of the order that counts.
fn sent_before(mail: &MailLogs<'_>, entry: &AppliedEntry) -> Option<String> {
    let Command::Plain(plain) = &entry.command else { return None };
    let PaperHead { seat, turn, .. } = *plain.paper().head();
    let earlier = mail.desk.entries().iter().filter(|other| other.seq < entry.seq);
    let last = last_plain(earlier, seat, turn, plain.paper().content())?;
    let zone = mail.game.terms.zone_of(seat);
    let sent = time(plain.sent_at()?, zone);
    let later = time(last.sent_at()?, zone);
    let PaperContent::Order(order) = last.paper().content() else { return None };
    let plays = PaperLine::joined(order.plays());
    Some(format!("You sent it on {sent}. Your order of {later} is newer and counts: {plays}."))
}

impl TakenReply {
    /// Returns the name of the letter that answers the mail, if it has questions or faults.
    pub(super) fn letter(&self, desk_size: u64) -> Option<LetterName> {
        let is_answered = self.questions.is_empty() && self.faults.is_empty();
        let seat = self.seat.filter(|_| !is_answered)?;
        Some(LetterName { desk_size, seat, answers: Some(self.mail) })
    }

    /// Writes the answer. `attached` is the file name of the bundle.
    pub(super) fn answer(
        &self,
        mail: &MailLogs<'_>,
        signers: &Signers,
        state: &State,
        name: LetterName,
        attached: &str,
    ) -> Result<LetterText, MailError> {
        let seat = name.seat;
        let turn = TurnOverview::of(seat, state, attached, mail.game.terms.zone_of(seat));
        let part = LetterPart::of(mail, name.desk_size)?;
        let known = KnownGame::of(mail, seat, &part, None)?;
        let mut text = Text::default();
        text.line(&salutation(state, seat));
        if !self.faults.is_empty() {
            text.items(&self.faults);
        }
        let is_unread = !self.faults.is_empty() || self.questions == [PlainQuestion::Help];
        let order = order_that_counts(mail, state, name).filter(|_| is_unread && self.papers.is_empty());
        if let Some(order) = order {
            text.paragraph(order);
        }
        for question in &self.questions {
            match question {
                PlainQuestion::Status => status(mail, state, name, &turn, &mut text)?,
                question => answer(*question, &known, &turn, &mut text),
            }
        }
        text.paragraph(&turn.waits());
        if let Some(code) = code_of(mail, signers, state, seat) {
            answer_with(&code, state, seat, &mut text);
        }
        let subject = match (self.faults.is_empty(), self.papers.is_empty()) {
            (true, _) => "your question",
            (false, true) => "your mail was not taken",
            (false, false) => "a line of your mail was not taken",
        };
        Ok(LetterText {
            subject: format!("[{}] {subject}", mail.game.name),
            text: text.into_string(),
            ..LetterText::default()
        })
    }
}

/// PM-105: writes which order, orders for later turns, absence and offers of the reader count.
fn status(
    mail: &MailLogs<'_>,
    state: &State,
    name: LetterName,
    turn: &TurnOverview<'_>,
    text: &mut Text,
) -> Result<(), MailError> {
    match mail.desk.order_of(name.seat, state.turn(), name.desk_size) {
        Some((_, order)) => {
            text.paragraph(&format!("Your order for this turn: {}.", PaperLine::joined(order.plays())));
            standing_order(mail, state, name, order.plays(), text)?;
        }
        None => text.paragraph("There is no order of yours for this turn."),
    }
    if let Some((_, ahead)) = mail.desk.ahead(state, name.seat) {
        standing_ahead(ahead, &state.lines_left(name.seat, ahead), text);
    }
    let own = Desk::view(state, name.seat.into()).seats.into_iter().find(|own| own.seat == name.seat);
    if let Some(until) = own.and_then(|own| own.absent) {
        let until = time(until, mail.game.terms.zone_of(name.seat));
        text.paragraph(&format!("You are absent until {until}. {}", absence(state, name.seat)));
    }
    turn.offers(text);
    Ok(())
}

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
