//! The invitation to a match by mail, for readers who do not know turnfold (PM-54).

use turnfold_core::rules::desk::{Missed, Secret, Setup};
use turnfold_core::{DicePolicy, Seat};
use turnfold_history::program;

use super::letter_part::MailLogs;
use super::letter_words::{Text, seats};

/// The name of a player's key file in letters.
pub(super) const KEY_FILE: &str = "my.key";

/// Writes the invitation: the host, the program, the game, its rules and the terms.
pub(super) fn invite(mail: &MailLogs<'_>, reader: Seat, text: &mut Text) {
    let game = &mail.game.name;
    let rules = &mail.game.rules;
    let terms = &mail.game.terms;
    let host = terms.host.split('+').next().unwrap_or(&terms.host);
    text.paragraph(&format!(
        "{host} invites you to a game by mail. The game is called `{game}`, and seat {reader} is reserved for you."
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
    let is_fair = matches!(mail.game.genesis.dice, DicePolicy::Fair(_));
    text.items(&terms_in_words(terms, is_fair));
}

/// Returns the terms of play, a sentence for each.
pub(super) fn terms_in_words(terms: &Setup, is_fair: bool) -> Vec<String> {
    let hours = match terms.hours {
        hours if hours % 24 == 0 && hours > 24 => format!("{} days", hours / 24),
        1 => "1 hour".into(),
        hours => format!("{hours} hours"),
    };
    let mut words = vec![format!("You have {hours} for each turn.")];
    words.push(match (terms.together, terms.hurry) {
        (true, true) => {
            "All players send orders at the same time. A turn ends once all orders are in.".into()
        }
        (true, false) => "All players send orders at the same time. A turn ends at its deadline.".into(),
        (false, true) => {
            "You are asked when the game waits for you. A turn ends once all orders are in.".into()
        }
        (false, false) => "You are asked when the game waits for you. A turn ends at its deadline.".into(),
    });
    words.push(match (&terms.missed, terms.default.as_slice()) {
        (Missed::Wait, _) => {
            "If you miss a deadline, the match waits for you, and the time begins again.".into()
        }
        (Missed::Second, []) => "If you miss two deadlines in a row, nothing is played for you.".into(),
        (Missed::Second, commands) => format!(
            "If you miss a deadline, the match waits for you once. At the second in a row the host plays for you: {}.",
            commands.join(", ")
        ),
        (Missed::Default, []) => "If you miss a deadline, nothing is played for you.".into(),
        (Missed::Default, commands) => {
            format!("If you miss a deadline, the host plays for you: {}.", commands.join(", "))
        }
    });
    if terms.patience > 0 {
        let misses = if terms.patience == 1 {
            "1 deadline".into()
        } else {
            format!("{} deadlines in a row", terms.patience)
        };
        words.push(format!("If you miss {misses}, you are out."));
    }
    if terms.seats > 1 {
        words.push(orders_in_words(terms.secret).into());
    }
    if terms.sealed {
        words.push(
            "You first send a seal of your order, which shows nothing, and then the order itself.".into(),
        );
    }
    if !terms.hosted.is_empty() {
        words.push(format!("The host plays {}.", seats(&terms.hosted, Seat::Host)));
    }
    words.extend(liberties_in_words(terms));
    if is_fair {
        words.push("The dice are fair: no one can foresee or choose a roll, and anyone can check it.".into());
    }
    words
}

/// Returns a sentence about when other players read an order.
const fn orders_in_words(secret: Secret) -> &'static str {
    match secret {
        Secret::Turn => "The other players see your orders after the turn, once nothing in them is a secret.",
        Secret::Match => "The other players see your orders after the end of the match.",
        Secret::No => "The other players see your orders as soon as they arrive.",
    }
}

/// Returns sentences about what players may do besides their orders.
fn liberties_in_words(terms: &Setup) -> Vec<String> {
    let mut words = Vec::new();
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
    words
}

/// Writes what a player does once: install the program and create a key.
pub(super) fn first_steps(text: &mut Text) {
    text.paragraph(
        "You need turnfold on your computer. Install Rust (https://rustup.rs), get a clone of turnfold's repository, which the \
         host names, and type `cargo install --path cli` in it. Then create your key, a file with which you sign your orders. \
         Put a name of your own in the place of YOUR.NAME, without spaces:",
    );
    text.command(&format!("{} key new {KEY_FILE} --name YOUR.NAME", program::name()));
}
