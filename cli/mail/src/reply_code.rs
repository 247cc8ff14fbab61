//! Reply codes, which the player of a seat without a key sends along; each is good for one turn (PM-38).

use std::fmt;

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::SeatKey;
use turnfold_core::rules::desk::{Desk, State};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Digest, Rules, Seat};
use turnfold_proof::signing::Signers;

use super::letter_part::MailLogs;
use super::letter_words::Text;
use super::plain_reply::{ANSWER, END, is_dash};

/// Digits and letters that no one confuses.
const SIGNS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// A reply code, written `ABCD-EFGH-JKMN`.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyCode(String);

impl ReplyCode {
    /// How many signs a code has.
    pub(super) const LENGTH: usize = 12;

    /// Returns the code of a seat and turn; turn 0 is for joining. It follows from the host's signing key, so it is
    /// stored nowhere, and no one else can compute it. `link` is the link of the position with which the turn began. So
    /// after a restored backup the code of the same turn at another position differs (PM-102).
    pub(super) fn of(
        signing: &PrivateKey,
        match_id: [u8; 16],
        (seat, turn): (Seat, u32),
        link: Option<Digest>,
    ) -> Self {
        // With fair dice no seat is plain, so this element is never opened.
        let secret = signing.dice_chain(Owner { match_id, party: Seat::Host }).element(Chain::LAST);
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v3 reply code of a turn");
        hasher.update(secret.as_bytes()).update(format!("{seat} {turn}").as_bytes());
        hasher.update(link.as_ref().map(Digest::as_bytes).map_or(&[][..], |link| link));
        Self::of_hash(&hasher)
    }

    /// Returns the code of the page of a seat and turn (PM-70). It changes with the key of the seat.
    pub(super) fn of_page(
        signing: &PrivateKey,
        match_id: [u8; 16],
        page: (Seat, u32),
        link: Option<Digest>,
        key: Option<&SeatKey>,
    ) -> Self {
        let code = Self::of(signing, match_id, page, link);
        let Some(key) = key else { return code };
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v2 code of the page of a key");
        hasher.update(code.as_str().as_bytes()).update(key.to_base64().as_bytes());
        Self::of_hash(&hasher)
    }

    fn of_hash(hasher: &blake3::Hasher) -> Self {
        let bytes = hasher.finalize();
        let signs = bytes.as_bytes().iter().take(Self::LENGTH);
        Self(signs.filter_map(|byte| SIGNS.get(usize::from(byte % 32)).copied()).map(char::from).collect())
    }

    /// Reads a code, with hyphens or without, in any case.
    pub(super) fn read(word: &str) -> Option<Self> {
        let plain: String =
            word.chars().filter(|sign| *sign != '-').map(|sign| sign.to_ascii_uppercase()).collect();
        let is_code = plain.len() == Self::LENGTH && plain.bytes().all(|sign| SIGNS.contains(&sign));
        // A code of letters alone could be an ordinary word.
        let is_marked = word.contains('-') || plain.bytes().any(|sign| sign.is_ascii_digit());
        (is_code && is_marked).then_some(Self(plain))
    }

    /// Finds possible codes anywhere in a text, with any dashes, spaces or nothing in the place of hyphens. They show
    /// which match a mail is for, even if no command after the code can be read.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        let text = text.replace(is_dash, "-");
        let words: Vec<&str> = text.split_whitespace().collect();
        let single = words.iter().filter_map(|word| Self::read(word));
        let spaced = words.windows(3).filter_map(|words| Self::read(&words.join("-")));
        single.chain(spaced).collect()
    }

    /// Returns the code without hyphens.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ReplyCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, sign) in self.0.chars().enumerate() {
            out.write_str(if place > 0 && place % 4 == 0 { "-" } else { "" })?;
            write!(out, "{sign}")?;
        }
        Ok(())
    }
}

/// Conceals the code.
impl fmt::Debug for ReplyCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ReplyCode(…)")
    }
}

/// Returns the code of a seat in a state of the desk, if its player needs one: for a free seat that is open to players
/// without a key, and for the seat of such a player until the match is over.
pub(super) fn code_of(
    mail: &MailLogs<'_>,
    signers: &Signers,
    state: &State,
    seat: Seat,
) -> Option<ReplyCode> {
    let is_free = mail.game.terms.plain.contains(&seat) && state.name_of(seat).is_none();
    let turn = if is_free { 0 } else { state.turn() };
    let needs_code = is_free || state.plays_plainly(seat) && turn > 0 && !Desk::over(state);
    let key = signers.key_of(&mail.game.terms.host.parse().ok()?)?;
    needs_code
        .then(|| ReplyCode::of(key, mail.game.genesis.match_id, (seat, turn), mail.desk.link_of_turn(turn)))
}

/// Writes how the player of a seat answers with a code.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_38_a_code_reads_back_with_hyphens_or_without() {
        let key = PrivateKey::of_seed(
            "ann.example".parse().unwrap(),
            turnfold_core::trust::KeyKind::Signer,
            &[7; 32],
        );
        let code = ReplyCode::of(&key, [1; 16], (Seat::P2, 3), None);
        let text = code.to_string();
        assert_eq!((text.len(), text.matches('-').count()), (14, 2));
        assert_eq!(ReplyCode::read(&text).as_ref(), Some(&code));
        assert_eq!(ReplyCode::read(&text.to_lowercase()).as_ref(), Some(&code));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P2, 4), None));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P1, 3), None));
        assert!(code != ReplyCode::of(&key, [2; 16], (Seat::P2, 3), None));
        assert!(code != ReplyCode::of(&key, [1; 16], (Seat::P2, 3), Some(Digest::new([4; 32]))));
        for word in ["", "greetings", "ABCD-EFGH-JKM", "ABCD-EFGH-JKM0", "CONTRACTUALS", "ABCDEFGHJKMN"] {
            assert!(ReplyCode::read(word).is_none(), "{word}");
        }
        assert!(!format!("{code:?}").contains(code.as_str()));
    }
}
