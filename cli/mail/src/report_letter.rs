//! Reports: the letters that show a seat the state of the match (PM-30).

use std::collections::BTreeSet;

use turnfold_core::paper::{OrdersAhead, PaperLine, Reply};
use turnfold_core::rules::desk::{Desk, Effect, OfferView, SeatView, State, View};
use turnfold_core::{Rules, Seat};
use turnfold_history::{MatchStanding, program};

use super::desk_turn::AppliedEntry;
use super::invitation::{KEY_FILE, first_steps, invite};
use super::letter::LetterText;
use super::letter_part::{KnownGame, LetterPart, MailLogs, ending, public_sentences, sentences};
use super::letter_words::{Text, salutation, seats, time};
use super::reply_code::{ReplyCode, answer_with, open_page};
use crate::error::MailError;

/// A report to a seat about a desk of this size.
pub(super) struct SeatReport {
    pub(super) seat: Seat,
    pub(super) size: u64,
    /// The size of the desk in the seat's report before.
    pub(super) since: Option<u64>,
}

impl SeatReport {
    /// Writes the letter. `attached` is the file name of the bundle. The seat may answer with the code and on the
    /// linked page.
    pub(super) fn write(
        &self,
        mail: &MailLogs<'_>,
        state: &State,
        (code, link): (Option<&ReplyCode>, Option<&str>),
        attached: &str,
    ) -> Result<LetterText, MailError> {
        let part = LetterPart::of(mail, self.size)?;
        let earlier = self.since.map(|size| LetterPart::of(mail, size)).transpose()?;
        let known = KnownGame::of(mail, self.seat, &part, earlier.as_ref())?;
        let turn = TurnOverview::of(self.seat, state, attached, mail.game.terms.zone_of(self.seat));
        let mut text = Text::default();
        text.line(&salutation(state, self.seat));
        let is_invited = turn.is_invited();
        if is_invited {
            invite(mail, self.seat, &mut text);
        } else {
            text.paragraph(&turn.opening(mail, &known.standing));
        }
        self.happened(mail, &known, &mut text);
        self.inherited(mail, &turn, &mut text);
        text.heading("The game as you see it");
        if let Some(stands) = stands(&known.standing, turn.view.turn) {
            text.paragraph(&stands);
        }
        text.gap();
        known.picture.iter().for_each(|line| text.line(line));
        turn.table(&mut text);
        turn.offers(&mut text);
        let joins = state.name_of(self.seat).is_none();
        if let Some(link) = link {
            open_page(link, joins, &mut text);
        }
        // PM-54: the way that needs only a mail program comes first.
        if let Some(code) = code {
            answer_with(code, state, self.seat, &mut text);
            turn.first_commands(&known, "The first command may be:", "", &mut text);
        }
        if joins || code.is_none() {
            let heading =
                if code.is_some() { "Or with turnfold and a key of your own" } else { "Your answer" };
            turn.answer(&known, heading, &mut text);
        }
        if let Some((size, ahead)) = mail.desk.ahead(state, self.seat) {
            let is_inherited = size < mail.desk.came(self.seat, self.size);
            ahead_in_words(ahead, &state.lines_left(self.seat, ahead), is_inherited, &mut text);
        }
        self.for_auditors(mail, &mut text);
        let reminds = |entry: &AppliedEntry| {
            let is_it = |effect: &Effect| matches!(effect, Effect::Reminded { seats, .. } if seats.contains(&self.seat));
            entry.size() == self.size && entry.effects.iter().any(is_it)
        };
        let is_reminder = mail.desk.entries().iter().any(reminds) && turn.is_awaited();
        let subject = if is_reminder { turn.reminder() } else { turn.subject() };
        let subject = format!("[{}] {subject}", mail.game.name);
        let rulebook = is_invited.then(|| mail.game.rules.rulebook().to_owned());
        Ok(LetterText { subject, text: text.into_string(), rulebook, ..LetterText::default() })
    }

    /// Lists what happened since the report before, at the desk and in the game.
    fn happened(&self, mail: &MailLogs<'_>, known: &KnownGame, text: &mut Text) {
        let Some(since) = self.since else { return };
        let entries = mail.desk.entries().iter();
        let news = entries.filter(|entry| entry.size() > since && entry.size() <= self.size);
        let zone = mail.game.terms.zone_of(self.seat);
        let came = mail.desk.came(self.seat, self.size);
        let mut happened = Vec::new();
        let mut counted = BTreeSet::new();
        for entry in news {
            if entry.position().is_some() {
                counted.clear();
            }
            let order = entry.effects.iter().find_map(|effect| match effect {
                Effect::Ordered { seat, .. } => Some((*seat, "order")),
                Effect::Ahead { seat, .. } => Some((*seat, "ahead")),
                _ => None,
            });
            // PM-81: repeated orders of another seat are shown once, so that no one can count them.
            let is_repeated = order.is_some_and(|order| !counted.insert(order) && order.0 != self.seat);
            if entry.size() < came {
                happened.extend(public_sentences(entry, zone));
            } else if !is_repeated {
                happened.extend(sentences(entry, self.seat, zone));
            }
        }
        text.heading("Since the last letter");
        text.gap();
        text.items(&happened);
        if known.went_back {
            text.item("The game went back to an earlier turn and continues from there.");
        }
        if happened.is_empty() {
            text.item("Nothing happened at the desk.");
        }
        if !known.news.is_empty() {
            text.paragraph("In the game:");
            text.gap();
        }
        known.news.iter().for_each(|sentences| text.item(sentences));
    }

    /// PM-106: writes the order of the player before, as long as it counts.
    fn inherited(&self, mail: &MailLogs<'_>, turn: &TurnOverview<'_>, text: &mut Text) {
        let came = mail.desk.came(self.seat, self.size);
        let order = mail.desk.order_of(self.seat, turn.view.turn, self.size);
        let Some((entry, order)) = order.filter(|_| turn.status() == Some("ordered")) else { return };
        if entry.size() < came {
            text.paragraph(&format!(
                "The player who had your seat before you ordered for this turn: {}. It is carried out at the deadline, \
                 unless you send another order.",
                PaperLine::joined(order.plays())
            ));
        }
    }

    /// Lists the reader's papers since the report before, with which the attached bundle can be checked (PM-64).
    fn for_auditors(&self, mail: &MailLogs<'_>, text: &mut Text) {
        let since = self.since.unwrap_or(self.size).max(mail.desk.came(self.seat, self.size));
        let entries = mail.desk.entries().iter();
        let own = entries
            .filter(|entry| entry.size() > since && entry.size() <= self.size && entry.seat == self.seat);
        let papers: Vec<_> = own.filter_map(|entry| Some((entry.seq, entry.command.paper()?))).collect();
        if papers.is_empty() {
            return;
        }
        text.heading("For auditors");
        text.paragraph(
            "Your papers are these records of the desk in the attached bundle, which the host has signed:",
        );
        for (seq, paper) in papers {
            text.gap();
            text.fill(
                "  ",
                &format!("record {seq}: {} {}, digest", paper.content().kind(), paper.head().number),
            );
            text.line(&format!("  {}", paper.digest()));
        }
    }
}

/// Lists the reader's orders for later turns (PM-42).
pub(super) fn ahead_in_words(ahead: &OrdersAhead, lines: &[&[Reply]], is_inherited: bool, text: &mut Text) {
    if ahead.turns().is_empty() && lines.is_empty() {
        return;
    }
    text.heading("Your orders for later turns");
    if is_inherited {
        text.paragraph(
            "The player who had your seat before you gave them. They count until you give others.",
        );
    }
    text.gap();
    for (turn, plays) in ahead.turns() {
        text.item(&format!("if turn {turn}: {}", PaperLine::joined(plays)));
    }
    // PM-122: only the player who wrote them gets this letter.
    for line in lines {
        let replies: Vec<_> =
            line.iter().map(|reply| format!("if {} then {}", reply.on, reply.play)).collect();
        text.item(&replies.join(", "));
    }
}

/// Returns a sentence about the result of the game, or about its turn if that differs from the turn of the letter
/// (PM-54).
fn stands(standing: &MatchStanding, letter_turn: u32) -> Option<String> {
    match standing {
        MatchStanding { result: Some(result), .. } => Some(format!("The game ended: {result}.")),
        MatchStanding { turn_number: Some(turn), .. }
            if letter_turn > 0 && *turn != u64::from(letter_turn) =>
        {
            Some(format!(
                "On the board it is turn {turn}. The turns of the letters count every time that the match waits for \
                 orders, so this is turn {letter_turn} by mail."
            ))
        }
        MatchStanding { .. } => None,
    }
}

/// The state of the match for one reader.
pub(super) struct TurnOverview<'a> {
    seat: Seat,
    state: &'a State,
    view: View,
    /// The file name of the bundle.
    attached: &'a str,
    /// The reader's time zone.
    zone: &'a str,
}

impl<'a> TurnOverview<'a> {
    pub(super) fn of(seat: Seat, state: &'a State, attached: &'a str, zone: &'a str) -> Self {
        Self { seat, state, view: Desk::view(state, seat.into()), attached, zone }
    }

    /// Returns `true` if the reader is invited to a seat and has not joined.
    fn is_invited(&self) -> bool {
        self.view.phase == "joining" && self.is_awaited()
    }

    /// Returns `true` if the match waits for the reader.
    fn is_awaited(&self) -> bool {
        self.state.awaited().contains(&self.seat)
    }

    fn must_seal(&self) -> bool {
        self.state.awaited_seals().contains(&self.seat)
    }

    fn subject(&self) -> String {
        let View { phase, turn, result, .. } = &self.view;
        match (result, *phase) {
            (Some(_), _) => "the match is over".into(),
            (None, "joining") if self.is_awaited() => "an invitation to play by mail".into(),
            (None, "joining") => "waiting for the others to join".into(),
            (None, _) if self.must_seal() => format!("turn {turn}: seal your order"),
            (None, _) if self.is_awaited() => format!("turn {turn}: your order, please"),
            (None, _) => format!("turn {turn}"),
        }
    }

    fn reminder(&self) -> String {
        let until = self.view.deadline.map(|until| time(until, self.zone)).unwrap_or_default();
        format!("turn {}: a reminder, your order is due {until}", self.view.turn)
    }

    fn opening(&self, mail: &MailLogs<'_>, standing: &MatchStanding) -> String {
        let View { phase, turn, result, .. } = &self.view;
        let game = &mail.game.name;
        match (result, *phase) {
            (Some(result), _) => {
                // If a game was played to its end, its own result is more exact than the result of the desk.
                let own = standing.result.as_ref().filter(|_| result == "played");
                let ended = own.map_or_else(|| ending(result), ToString::to_string);
                format!("`{game}` is over: {ended}. Thank you for playing.")
            }
            (None, "joining") => {
                format!("`{game}` has not begun. {}", self.waits())
            }
            (None, _) => format!("`{game}` is at turn {turn}. {}", self.waits()),
        }
    }

    /// Returns a sentence about whom the match waits for, and until when.
    pub(super) fn waits(&self) -> String {
        let (awaited, until) = (
            self.state.awaited(),
            self.view.deadline.map(|until| time(until, self.zone)).unwrap_or_default(),
        );
        let others: Vec<_> = awaited.iter().copied().filter(|seat| *seat != self.seat).collect();
        match (self.view.phase, self.is_awaited()) {
            ("over", _) => "The match is over.".into(),
            ("joining", _) => format!("The match is waiting for {} to join.", seats(&awaited, self.seat)),
            ("ready", _) if self.view.turn == 0 => "All seats are taken. The host will begin.".into(),
            ("open", _) if awaited.is_empty() => {
                format!("All orders are in. The host will carry them out on {until}.")
            }
            ("ready", _) => "All orders are in. The host will carry them out.".into(),
            (_, true) if self.must_seal() => {
                format!("The match is waiting for the seal of your order, until {until}.")
            }
            (_, true) if others.is_empty() => format!("The match is waiting for your order, until {until}."),
            (_, true) => {
                format!(
                    "The match is waiting for your order and for {}, until {until}.",
                    seats(&others, self.seat)
                )
            }
            (_, false) => format!("The match is waiting for {}, until {until}.", seats(&others, self.seat)),
        }
    }

    /// Lists the seats.
    pub(super) fn table(&self, text: &mut Text) {
        text.heading("The players");
        text.gap();
        for view in &self.view.seats {
            let SeatView { seat, name, misses, absent, .. } = view;
            let status = if name.is_none() { "has not joined" } else { view.in_words() };
            let missed = if *misses == 0 { String::new() } else { format!(", missed {misses}") };
            let absent =
                absent.map(|until| format!(", absent until {}", time(until, self.zone))).unwrap_or_default();
            let name = name.as_deref().unwrap_or("free");
            text.fill(&format!("  {:3} ", seat.name()), &format!("{name}: {status}{missed}{absent}"));
        }
    }

    /// Lists the open offers, and how to answer them.
    pub(super) fn offers(&self, text: &mut Text) {
        if self.view.offers.is_empty() {
            return;
        }
        text.heading("Open offers");
        for OfferView { seat, nth, offer, agreed, .. } in &self.view.offers {
            text.gap();
            let is_asked = self.state.offer_to_answer(self.seat, &nth.to_string()).is_some();
            let (agreed, may_answer) = (seats(agreed, self.seat), is_asked && !agreed.contains(&self.seat));
            text.fill("  ", &format!("offer {nth}, by {seat}: {offer} (agreed by {agreed})"));
            if may_answer && self.state.plays_plainly(self.seat) {
                text.paragraph(&format!(
                    "To agree, answer with the line `agree {nth}`; else with `decline {nth}`."
                ));
            } else if may_answer && self.state.key_of(self.seat).is_some() {
                text.paragraph("To agree, type this on one line, or `decline` in the place of `agree`:");
                text.command(&self.line(&format!("answer {nth} agree")));
            }
        }
    }

    /// Writes what the reader may do, and the command to type for it.
    fn answer(&self, known: &KnownGame, heading: &str, text: &mut Text) {
        let line = match self.view.phase {
            "joining" if self.is_awaited() => format!("join {}", self.seat),
            "open" if self.must_seal() => "seal \"COMMAND\" \"COMMAND\"".into(),
            "open" if self.status() == Some("sealed") => "order".into(),
            "open" if matches!(self.status(), Some("none" | "ordered")) => {
                "order \"COMMAND\" \"COMMAND\"".into()
            }
            _ => return,
        };
        text.heading(heading);
        if self.is_invited() {
            first_steps(text);
        }
        let attached = self.attached;
        text.paragraph(&format!(
            "Save the attached file {attached} next to your key. In a terminal, go to that folder and type this on one line:"
        ));
        text.command(&self.line(&line));
        text.paragraph("Answer this letter with the text of the file reply.txt, or attach the file.");
        if self.must_seal() {
            text.paragraph(
                "This keeps your order next to your key. Once all players have sealed, a letter asks you to send it.",
            );
        }
        if self.status() == Some("ordered") {
            text.paragraph(
                "Your order is in. Until the turn is carried out you may send another one; the newest counts.",
            );
        }
        if line.ends_with("\"COMMAND\"") {
            self.first_commands(
                known,
                "Put your commands in the place of COMMAND, each in quotation marks. The first one may be:",
                "\"",
                text,
            );
        }
    }

    /// Lists the legal commands with which an order may begin.
    fn first_commands(&self, known: &KnownGame, words: &str, quote: &str, text: &mut Text) {
        if known.legal.is_empty() || self.view.phase != "open" {
            return;
        }
        text.paragraph(words);
        text.gap();
        for command in &known.legal {
            text.line(&format!("    {quote}{command}{quote}"));
        }
        if known.more > 0 {
            text.paragraph(&format!("and {} more.", known.more));
        }
    }

    fn status(&self) -> Option<&'static str> {
        self.view.seats.iter().find(|own| own.seat == self.seat).and_then(|own| own.status)
    }

    /// Returns the command to type for a paper. It needs only quotation marks that every shell, also of Windows, has,
    /// and works again in the next turn (PM-54).
    fn line(&self, paper: &str) -> String {
        let (Self { attached, .. }, program) = (self, program::name());
        format!("{program} mail write {paper} --from {attached} --key {KEY_FILE} -o reply.txt --force")
    }
}
