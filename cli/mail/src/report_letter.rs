//! Reports: the letters that show a seat the state of the match (PM-30), and invite readers who do not know turnfold
//! (PM-54).

use std::collections::BTreeSet;

use turnfold_core::paper::{OrdersAhead, PaperLine, Reply};
use turnfold_core::rules::desk::{Effect, Missed, Secret, Setup, View};
use turnfold_core::{DicePolicy, Seat};
use turnfold_history::MatchStanding;

use super::letter_part::{KnownGame, effects_in_words, ending, sentences};
use super::letter_words::{Text, seats};
use super::seat_letter::{KEY_FILE, SeatLetter};
use crate::error::MailError;

impl SeatLetter<'_> {
    pub(super) fn report(&mut self, since: Option<u64>) -> Result<(), MailError> {
        let mail = self.mail;
        let known = KnownGame::of(mail, self.seat, self.name.desk_size, since)?;
        self.salute();
        self.has_rules = self.is_invited();
        if self.has_rules {
            self.invite();
        } else {
            self.text.paragraph(&self.opening(&known.standing));
        }
        self.happened(since, &known);
        self.inherited();
        self.text.heading("The game as you see it");
        if let Some(stands) = stands(&known.standing, self.view.turn) {
            self.text.paragraph(&stands);
        }
        self.picture(&known.picture);
        self.table();
        self.offers();
        self.page();
        // PM-54: the way that needs only a mail program comes first.
        let code = self.code();
        if let Some(code) = &code {
            self.answer_with(code);
            self.first_commands(&known, "The first command may be:", "");
        }
        if code.is_none() {
            self.answer(&known, "Your answer");
        } else if self.state.name_of(self.seat).is_none() {
            self.answer(&known, "Or with turnfold and a key of your own");
        }
        if let Some((size, ahead)) = mail.desk.ahead(self.state, self.seat) {
            let is_inherited = size < mail.desk.came(self.seat, self.name.desk_size);
            let left = self.state.lines_left(self.seat, ahead);
            ahead_in_words(ahead, &left, is_inherited, &mut self.text);
        }
        self.for_auditors(since);
        self.subject = self.subject_of_report();
        Ok(())
    }

    fn subject_of_report(&self) -> String {
        let View { phase, turn, result, .. } = &self.view;
        let mut is_reminder = false;
        for entry in self.mail.desk.entries().iter().filter(|entry| entry.size() == self.name.desk_size) {
            for effect in &entry.effects {
                is_reminder |= matches!(effect, Effect::Reminded { seats, .. } if seats.contains(&self.seat));
            }
        }
        if is_reminder && self.is_awaited() {
            return format!("turn {turn}: a reminder, your order is due {}", self.deadline());
        }
        match (result, *phase) {
            (Some(_), _) => "the match is over".into(),
            (None, "joining") if self.is_awaited() => "an invitation to play by mail".into(),
            (None, "joining") => "waiting for the others to join".into(),
            (None, _) if self.must_seal() => format!("turn {turn}: seal your order"),
            (None, _) if self.is_awaited() => format!("turn {turn}: your order, please"),
            (None, _) => format!("turn {turn}"),
        }
    }

    fn opening(&self, standing: &MatchStanding) -> String {
        let View { phase, turn, result, .. } = &self.view;
        let game = &self.mail.game.name;
        let Some(result) = result else {
            return match *phase {
                "joining" => format!("`{game}` has not begun. {}", self.waits()),
                _ => format!("`{game}` is at turn {turn}. {}", self.waits()),
            };
        };
        // If a game was played to its end, its own result is more exact than the result of the desk.
        let ended = match &standing.result {
            Some(own) if result == "played" => own.to_string(),
            _ => ending(result),
        };
        format!("`{game}` is over: {ended}. Thank you for playing.")
    }

    fn happened(&mut self, since: Option<u64>, known: &KnownGame) {
        let Some(since) = since else { return };
        let desk = &self.mail.desk;
        let came = desk.came(self.seat, self.name.desk_size);
        let mut happened = Vec::new();
        let mut counted = BTreeSet::new();
        for entry in desk.entries() {
            if entry.size() <= since || entry.size() > self.name.desk_size {
                continue;
            }
            if entry.position().is_some() {
                counted.clear();
            }
            // PM-81: repeated orders of another seat are shown once, so that no one can count them.
            let mut is_repeated = false;
            for effect in &entry.effects {
                if let Effect::Ordered { seat, .. } | Effect::Ahead { seat, .. } = effect {
                    let is_order = matches!(effect, Effect::Ordered { .. });
                    is_repeated = !counted.insert((*seat, is_order)) && *seat != self.seat;
                    break;
                }
            }
            if entry.size() < came {
                // PM-106: without messages to the player before.
                happened.extend(effects_in_words(entry, Seat::Host, self.zone));
            } else if !is_repeated {
                happened.extend(sentences(entry, self.seat, self.zone));
            }
        }
        self.text.heading("Since the last letter");
        self.text.items(&happened);
        if known.went_back {
            self.text.item("The game went back to an earlier turn and continues from there.");
        }
        if happened.is_empty() {
            self.text.item("Nothing happened at the desk.");
        }
        if !known.news.is_empty() {
            self.text.paragraph("In the game:");
            self.text.items(&known.news);
        }
    }

    /// PM-106: writes the order of the player before, as long as it counts.
    fn inherited(&mut self) {
        let desk = &self.mail.desk;
        let size = self.name.desk_size;
        if let Some((entry, order)) = desk.order_of(self.seat, self.view.turn, size)
            && self.status() == Some("ordered")
            && entry.size() < desk.came(self.seat, size)
        {
            self.text.paragraph(&format!(
                "The player who had your seat before you ordered for this turn: {}. It is carried out at the deadline, \
                 unless you send another order.",
                PaperLine::joined(order.plays())
            ));
        }
    }

    /// Lists the reader's papers since the report before, with which the attached bundle can be checked (PM-64).
    fn for_auditors(&mut self, since: Option<u64>) {
        let desk = &self.mail.desk;
        let size = self.name.desk_size;
        let since = since.unwrap_or(size).max(desk.came(self.seat, size));
        let mut is_first = true;
        for entry in desk.entries() {
            let Some(paper) = entry.command.paper() else { continue };
            if entry.seat != self.seat || entry.size() <= since || entry.size() > size {
                continue;
            }
            if std::mem::take(&mut is_first) {
                self.text.heading("For auditors");
                self.text.paragraph(
                    "Your papers are these records of the desk in the attached bundle, which the host has signed:",
                );
            }
            let what = format!("{} {}", paper.content().kind(), paper.head().number);
            self.text.gap();
            self.text.fill("  ", &format!("record {}: {what}, digest", entry.seq));
            self.text.line(&format!("  {}", paper.digest()));
        }
    }

    fn answer(&mut self, known: &KnownGame, heading: &str) {
        let paper = match self.view.phase {
            "joining" if self.is_awaited() => format!("join {}", self.seat),
            "open" if self.must_seal() => "seal \"COMMAND\" \"COMMAND\"".into(),
            "open" if self.status() == Some("sealed") => "order".into(),
            "open" if matches!(self.status(), Some("none" | "ordered")) => {
                "order \"COMMAND\" \"COMMAND\"".into()
            }
            _ => return,
        };
        self.text.heading(heading);
        if self.is_invited() {
            first_steps(&mut self.text, self.mail.program);
        }
        self.text.paragraph(&format!(
            "Save the attached file {} next to your key. In a terminal, go to that folder and type this on one line:",
            self.attached
        ));
        self.text.command(&self.command(&paper));
        self.text.paragraph("Answer this letter with the text of the file reply.txt, or attach the file.");
        if self.must_seal() {
            self.text.paragraph(
                "This keeps your order next to your key. Once all players have sealed, a letter asks you to send it.",
            );
        }
        if self.status() == Some("ordered") {
            self.text.paragraph(
                "Your order is in. Until the turn is carried out you may send another one; the newest counts.",
            );
        }
        if paper.ends_with("\"COMMAND\"") {
            let words =
                "Put your commands in the place of COMMAND, each in quotation marks. The first one may be:";
            self.first_commands(known, words, "\"");
        }
    }

    fn invite(&mut self) {
        let text = &mut self.text;
        let game = &self.mail.game.name;
        let rules = &self.mail.game.rules;
        let terms = &self.mail.game.terms;
        let host = terms.host.split('+').next().unwrap_or(&terms.host);
        text.paragraph(&format!(
            "{host} invites you to a game by mail. The game is called `{game}`, and seat {} is reserved for you.",
            self.seat
        ));
        text.heading("What this is");
        text.paragraph(&format!(
            "This letter was written by turnfold, a program that carries games from turn to turn by mail. There is no account. \
             {host} hosts the game. When it is your turn you get a letter with the board, and you answer it with \
             your commands. Every order is recorded. With a key you sign your orders, so no one can change them later, not even \
             the host."
        ));
        text.heading("The game");
        let players = if terms.seats == 1 { "1 player".into() } else { format!("{} players", terms.seats) };
        text.paragraph(&format!(
            "{}: {}. It is for {players}. Its rules are in the attached file {}-rules.txt.",
            rules.name(),
            rules.summary().trim_end_matches('.'),
            rules.name()
        ));
        text.heading("The terms");
        let is_fair = matches!(self.mail.game.genesis.dice, DicePolicy::Fair(_));
        text.items(&terms_in_words(terms, is_fair));
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
    if let Some(result) = &standing.result {
        return Some(format!("The game ended: {result}."));
    }
    let turn = standing.turn_number?;
    if letter_turn == 0 || turn == u64::from(letter_turn) {
        return None;
    }
    Some(format!(
        "On the board it is turn {turn}. The turns of the letters count every time that the match waits for orders, so \
         this is turn {letter_turn} by mail."
    ))
}

pub(super) fn terms_in_words(terms: &Setup, is_fair: bool) -> Vec<String> {
    let hours = match terms.hours {
        hours if hours % 24 == 0 && hours > 24 => format!("{} days", hours / 24),
        1 => "1 hour".into(),
        hours => format!("{hours} hours"),
    };
    let mut words = vec![format!("You have {hours} for each turn.")];
    let asked = if terms.together {
        "All players send orders at the same time."
    } else {
        "You are asked when the game waits for you."
    };
    let end = if terms.hurry { "once all orders are in" } else { "at its deadline" };
    words.push(format!("{asked} A turn ends {end}."));
    let default = terms.default.join(", ");
    words.push(match (&terms.missed, default.as_str()) {
        (Missed::Wait, _) => {
            "If you miss a deadline, the match waits for you, and the time begins again.".into()
        }
        (Missed::Second, "") => "If you miss two deadlines in a row, nothing is played for you.".into(),
        (Missed::Second, _) => format!(
            "If you miss a deadline, the match waits for you once. At the second in a row the host plays for you: {default}."
        ),
        (Missed::Default, "") => "If you miss a deadline, nothing is played for you.".into(),
        (Missed::Default, _) => format!("If you miss a deadline, the host plays for you: {default}."),
    });
    match terms.patience {
        0 => {}
        1 => words.push("If you miss 1 deadline, you are out.".into()),
        misses => words.push(format!("If you miss {misses} deadlines in a row, you are out.")),
    }
    if terms.seats > 1 {
        words.push(format!(
            "The other players see your orders {}.",
            match terms.secret {
                Secret::Turn => "after the turn, once nothing in them is a secret",
                Secret::Match => "after the end of the match",
                Secret::No => "as soon as they arrive",
            }
        ));
    }
    if terms.sealed {
        words.push(
            "You first send a seal of your order, which shows nothing, and then the order itself.".into(),
        );
    }
    if !terms.hosted.is_empty() {
        words.push(format!("The host plays {}.", seats(&terms.hosted, Seat::Host)));
    }
    if terms.absences > 0 {
        let days = terms.absences;
        words.push(format!("You may announce absences of up to {days} days in all. Deadlines wait for you."));
    }
    if !terms.remind.is_empty() {
        words.push(format!("You are reminded {} before a deadline.", terms.remind.join(" and ")));
    }
    if terms.press && terms.seats > 1 {
        words.push("Players may write to each other through the host.".into());
    }
    if is_fair {
        words.push("The dice are fair: no one can foresee or choose a roll, and anyone can check it.".into());
    }
    words
}

fn first_steps(text: &mut Text, program: &str) {
    text.paragraph(
        "You need turnfold on your computer. Install Rust (https://rustup.rs), get a clone of turnfold's repository, which the \
         host names, and type `cargo install --path cli` in it. Then create your key, a file with which you sign your orders. \
         Put a name of your own in the place of YOUR.NAME, without spaces:",
    );
    text.command(&format!("{program} key new {KEY_FILE} --name YOUR.NAME"));
}
