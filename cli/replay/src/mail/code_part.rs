//! The parts of a letter with a code: to answer with, for a player without a key (PM-38), and to open a page (PM-70).

use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::{Rules, Seat};

use super::letter_part::MailLogs;
use super::letter_words::Text;
use super::plain_reply::{ANSWER, END};
use super::reply_code::ReplyCode;
use crate::signing::Signers;

/// Returns the code of a seat in a state of the desk, if its player needs one: a free seat that is open to players without
/// a key, or the seat of such a player while the match goes on.
pub(super) fn code_of(
    mail: &MailLogs<'_>,
    signers: &Signers,
    state: &State,
    seat: Seat,
) -> Option<ReplyCode> {
    let is_free = mail.of.terms.plain.contains(&seat) && state.name_of(seat).is_none();
    let turn = if is_free { 0 } else { state.turn() };
    let needs_code = is_free || state.plays_plainly(seat) && turn > 0 && !Desk::over(state);
    let key = signers.key_of(&mail.of.terms.host.parse().ok()?)?;
    needs_code
        .then(|| ReplyCode::of(key, mail.of.genesis.match_id, (seat, turn), mail.desk.link_of_turn(turn)))
}

/// Writes how a seat answers with a code.
pub(super) fn answer_with(code: &ReplyCode, state: &State, seat: Seat, text: &mut Text) {
    let joins = state.name_of(seat).is_none();
    text.heading(if joins { "To join by mail alone" } else { "Your answer" });
    let how = if joins {
        " with these lines, and with your name in place of NAME:"
    } else {
        ". Write each command on a line of its own, between these two lines:"
    };
    text.paragraph(&format!("{ANSWER}{how}"));
    let code = format!("code {code}");
    if joins {
        text.block([code.as_str(), "join NAME", END]);
    } else {
        text.block([code.as_str(), "", END]);
        text.paragraph(if !state.is_open() || state.is_due(seat) {
            "The code is good for this turn. The newest order counts. The line `help` asks what else you can write."
        } else {
            "It is not your turn. You can write to players, offer something, or give orders for later turns. The line \
             `help` asks how."
        });
    }
}

/// Writes how to answer in a browser.
pub(super) fn open_page(link: &str, joins: bool, text: &mut Text) {
    text.heading(if joins { "To join in a browser" } else { "In a browser" });
    text.paragraph(
        "Open this link. The page shows the game and the commands that you may give: choose them there and send them.",
    );
    text.block([link]);
    text.paragraph(if joins {
        "Show the link to no one: the first to use it gets the seat."
    } else {
        "Show the link to no one: anyone who opens it in this turn sees what you see from then on, and orders for a seat without a key. A browser in which you play already needs no link."
    });
}
