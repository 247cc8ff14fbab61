//! A letter to a seat while it is written: the desk as its reader sees it, and the parts that all such letters share
//! (PM-29, PM-30).

use turnfold_core::rules::desk::{Desk, OfferView, SeatView, State, View};
use turnfold_core::{Rules, Seat};

use super::letter::subject_line;
use super::letter_part::{KnownGame, MailLogs};
use super::letter_words::{Text, seats, time};
use super::outbox::LetterName;
use super::plain_reply::{ANSWER, END, ReplyCode};
use super::seat_page::link_of;

pub(super) const KEY_FILE: &str = "my.key";

pub(super) struct SeatLetter<'a> {
    pub(super) mail: &'a MailLogs<'a>,
    pub(super) name: LetterName,
    pub(super) seat: Seat,
    pub(super) zone: &'a str,
    pub(super) state: &'a State,
    pub(super) view: View,
    /// The file name of the bundle, short enough to type.
    pub(super) attached: String,
    pub(super) subject: String,
    pub(super) text: Text,
    /// The `Message-ID` of a mail that it answers.
    pub(super) in_reply_to: Option<String>,
    pub(super) has_rules: bool,
}

impl<'a> SeatLetter<'a> {
    pub(super) fn new(mail: &'a MailLogs<'a>, name: LetterName, state: &'a State) -> Self {
        let LetterName { desk_size, seat, .. } = name;
        Self {
            mail,
            name,
            seat,
            zone: mail.game.terms.zone_of(seat),
            state,
            view: Desk::view(state, seat.into()),
            attached: format!("{:.32}-{desk_size}-{seat}.bundle", mail.game.name.as_str()),
            subject: String::new(),
            text: Text::default(),
            in_reply_to: None,
            has_rules: false,
        }
    }

    pub(super) fn full_subject(&self) -> String {
        format!("[{}] {}", self.mail.game.name, self.subject)
    }

    pub(super) fn subject_line(&self) -> String {
        subject_line(&self.full_subject()) + "\r\n"
    }

    pub(super) fn salute(&mut self) {
        let name = self.state.name_of(self.seat).unwrap_or("player");
        self.text.line(&format!("Dear {name},"));
    }

    pub(super) fn is_awaited(&self) -> bool {
        self.state.awaited().contains(&self.seat)
    }

    pub(super) fn is_invited(&self) -> bool {
        self.view.phase == "joining" && self.is_awaited()
    }

    pub(super) fn must_seal(&self) -> bool {
        self.state.awaited_seals().contains(&self.seat)
    }

    pub(super) fn status(&self) -> Option<&'static str> {
        self.view.seats.iter().find(|own| own.seat == self.seat)?.status
    }

    pub(super) fn deadline(&self) -> String {
        self.view.deadline.map_or_else(String::new, |until| time(until, self.zone))
    }

    pub(super) fn waits(&self) -> String {
        let awaited = self.state.awaited();
        let until = self.deadline();
        let mut others = awaited.clone();
        others.retain(|seat| *seat != self.seat);
        let names = seats(&others, self.seat);
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
            (_, true) => format!("The match is waiting for your order and for {names}, until {until}."),
            (_, false) => format!("The match is waiting for {names}, until {until}."),
        }
    }

    pub(super) fn table(&mut self) {
        self.text.heading("The players");
        self.text.gap();
        for view in &self.view.seats {
            let SeatView { seat, name, misses, absent, .. } = view;
            let status = if name.is_none() { "has not joined" } else { view.in_words() };
            let missed = if *misses == 0 { String::new() } else { format!(", missed {misses}") };
            let absent = match absent {
                Some(until) => format!(", absent until {}", time(*until, self.zone)),
                None => String::new(),
            };
            let name = name.as_deref().unwrap_or("free");
            self.text.fill(&format!("  {:3} ", seat.name()), &format!("{name}: {status}{missed}{absent}"));
        }
    }

    pub(super) fn offers(&mut self) {
        let own = self.seat;
        if !self.view.offers.is_empty() {
            self.text.heading("Open offers");
        }
        for OfferView { seat, nth, offer, agreed, .. } in self.view.offers.clone() {
            let is_asked = self.state.offer_to_answer(own, &nth.to_string()).is_some();
            let may_answer = is_asked && !agreed.contains(&own);
            let agreed = seats(&agreed, own);
            self.text.gap();
            self.text.fill("  ", &format!("offer {nth}, by {seat}: {offer} (agreed by {agreed})"));
            if may_answer && self.state.plays_plainly(own) {
                let how = format!("To agree, answer with the line `agree {nth}`; else with `decline {nth}`.");
                self.text.paragraph(&how);
            } else if may_answer && self.state.key_of(own).is_some() {
                self.text.paragraph("To agree, type this on one line, or `decline` in the place of `agree`:");
                self.text.command(&self.command(&format!("answer {nth} agree")));
            }
        }
    }

    /// Returns the command to type for a paper. It needs only quotation marks that every shell, also of Windows, has,
    /// and works again in the next turn (PM-54).
    pub(super) fn command(&self, paper: &str) -> String {
        let attached = &self.attached;
        let program = self.mail.program;
        format!("{program} mail write {paper} --from {attached} --key {KEY_FILE} -o reply.txt --force")
    }

    pub(super) fn picture(&mut self, picture: &[String]) {
        self.text.gap();
        for line in picture {
            self.text.line(line);
        }
    }

    pub(super) fn first_commands(&mut self, known: &KnownGame, words: &str, quote: &str) {
        if known.legal.is_empty() || self.view.phase != "open" {
            return;
        }
        self.text.paragraph(words);
        self.text.gap();
        for command in &known.legal {
            self.text.line(&format!("    {quote}{command}{quote}"));
        }
        self.more_commands(known);
    }

    pub(super) fn more_commands(&mut self, known: &KnownGame) {
        if known.more > 0 {
            self.text.paragraph(&format!("and {} more.", known.more));
        }
    }

    /// Returns the code of the seat, if its player needs one: for a free seat that is open to players without a key,
    /// and for the seat of such a player until the match is over.
    pub(super) fn code(&self) -> Option<ReplyCode> {
        let Self { mail, seat, state, .. } = *self;
        let is_free = mail.game.terms.plain.contains(&seat) && state.name_of(seat).is_none();
        let turn = if is_free { 0 } else { state.turn() };
        if !is_free && (!state.plays_plainly(seat) || turn == 0 || Desk::over(state)) {
            return None;
        }
        let link = mail.desk.link_of_turn(turn);
        Some(ReplyCode::of(mail.host_key()?, mail.game.genesis.match_id, (seat, turn), link))
    }

    pub(super) fn answer_with(&mut self, code: &ReplyCode) {
        let code = format!("code {code}");
        if self.state.name_of(self.seat).is_none() {
            self.text.heading("To join by mail alone");
            self.text.paragraph(&format!("{ANSWER} with these lines, and with your name in place of NAME:"));
            self.text.block([code.as_str(), "join NAME", END]);
            return;
        }
        self.text.heading("Your answer");
        self.text.paragraph(&format!(
            "{ANSWER}. Write each command on a line of its own, between these two lines:"
        ));
        self.text.block([code.as_str(), "", END]);
        self.text.paragraph(if !self.state.is_open() || self.state.is_due(self.seat) {
            "The code is good for this turn. The newest order counts. The line `help` asks what else you can write."
        } else {
            "It is not your turn. You can write to players, offer something, or give orders for later turns. The line \
             `help` asks how."
        });
    }

    pub(super) fn page(&mut self) {
        let Some(link) = link_of(self.mail, self.state, self.seat) else { return };
        let joins = self.state.name_of(self.seat).is_none();
        self.text.heading(if joins { "To join in a browser" } else { "In a browser" });
        self.text.paragraph(
            "Open this link. The page shows the game and the commands that you may give: choose them there and send them.",
        );
        self.text.block([link.as_str()]);
        self.text.paragraph(if joins {
            "Show the link to no one: the first to use it gets the seat."
        } else {
            "Show the link to no one: anyone who opens it in this turn sees what you see from then on, and orders for a seat \
             without a key. A browser in which you play already needs no link."
        });
    }
}
