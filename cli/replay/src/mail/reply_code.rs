//! Reply codes: what the player of a seat without a key sends along, good for one turn (PM-38).

use std::fmt;

use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::SeatKey;
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Digest, Seat};

use super::plain_reply::is_dash;

/// Digits and letters that no one confuses.
const SIGNS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// A reply code, written `ABCD-EFGH-JKMN`.
#[derive(Clone, PartialEq, Eq)]
pub struct ReplyCode(String);

impl ReplyCode {
    /// How many signs a code has.
    pub(super) const LENGTH: usize = 12;

    /// Returns the code of a seat and turn; turn 0 is for joining. It follows from the host's signing key, so it is stored
    /// nowhere, and no one else can compute it. `link` is that of the position with which the turn began: after a restored
    /// backup, the code of the same turn over another position is another one (PM-102).
    pub(super) fn of(
        signing: &PrivateKey,
        match_id: [u8; 16],
        (seat, turn): (Seat, u32),
        link: Option<Digest>,
    ) -> Self {
        // No seat is plain with fair dice, so this element is opened nowhere.
        let secret = signing.dice_chain(Owner { match_id, party: Seat::Host }).element(Chain::LAST);
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v3 reply code of a turn");
        hasher.update(secret.as_bytes()).update(format!("{seat} {turn}").as_bytes());
        hasher.update(link.as_ref().map(Digest::as_bytes).map_or(&[][..], |link| link));
        Self::of_hash(&hasher)
    }

    /// Returns the code of the page of a seat and turn (PM-70). With a key it is another one than before the seat had that key.
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
        // A word of letters alone may be one of the text.
        let is_marked = word.contains('-') || plain.bytes().any(|sign| sign.is_ascii_digit());
        (is_code && is_marked).then_some(Self(plain))
    }

    /// Finds what can be a code anywhere in a text, with other dashes or spaces in the place of hyphens or without. It shows
    /// which match a mail is for, also where no command can be read behind the code.
    pub(super) fn all_in(text: &str) -> Vec<Self> {
        let text = text.replace(is_dash, "-");
        let words: Vec<&str> = text.split_whitespace().collect();
        let single = words.iter().filter_map(|word| Self::read(word));
        let spaced = words.windows(3).filter_map(|words| Self::read(&words.join("-")));
        single.chain(spaced).collect()
    }

    /// Returns the signs without hyphens.
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

/// Shows no code.
impl fmt::Debug for ReplyCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ReplyCode(…)")
    }
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
