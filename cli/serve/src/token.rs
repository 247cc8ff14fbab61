//! Tokens (SV-22).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use turnfold_core::Digest;
use turnfold_store::{GrantKind, MatchName};

use crate::options::Outside;
use crate::problem::{Problem, ProblemCode};

const SECRET_LETTERS: usize = 43;

/// A token as it is sent. It is never logged: only [`expose`](AccessToken::expose) shows its text.
#[derive(Clone)]
pub struct AccessToken(String);

/// The kind that the text of a token states. The grant decides what the token permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Everything.
    Admin,
    /// A match's host.
    Host,
    /// A player's seat of a match.
    Seat,
    /// A spectator.
    Spectator,
    /// An invitation to a seat.
    Invitation,
    /// A calendar, which shows deadlines and opens nothing else.
    Calendar,
}

impl TokenKind {
    const ALL: [(Self, char); 6] = [
        (Self::Admin, 'a'),
        (Self::Host, 'h'),
        (Self::Seat, 's'),
        (Self::Spectator, 'v'),
        (Self::Invitation, 'i'),
        (Self::Calendar, 'c'),
    ];

    fn letter(self) -> char {
        Self::ALL.into_iter().find(|(kind, _)| *kind == self).map_or('?', |(_, letter)| letter)
    }
}

impl From<GrantKind> for TokenKind {
    fn from(kind: GrantKind) -> Self {
        match kind {
            GrantKind::Host => Self::Host,
            GrantKind::Seat(_) | GrantKind::Player(_) => Self::Seat,
            GrantKind::Spectator { .. } => Self::Spectator,
            GrantKind::Invitation(_) => Self::Invitation,
            GrantKind::Calendar { .. } => Self::Calendar,
        }
    }
}

impl AccessToken {
    /// Generates a token from the operating system's randomness.
    ///
    /// # Errors
    /// The reason why the operating system provides no random bytes.
    pub fn generate(kind: TokenKind, outside: &Outside) -> Result<Self, String> {
        let mut secret = [0; 32];
        (outside.fill_random)(&mut secret)?;
        Ok(Self(format!("tf_{}_{}", kind.letter(), URL_SAFE_NO_PAD.encode(secret))))
    }

    /// Parses a token and returns it with its kind; `None` if the text is not a token.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, TokenKind)> {
        let (letter, secret) = text.strip_prefix("tf_")?.split_once('_')?;
        let (kind, _) = TokenKind::ALL.into_iter().find(|(_, own)| letter == own.to_string())?;
        let is_secret = secret.len() == SECRET_LETTERS && URL_SAFE_NO_PAD.decode(secret).is_ok();
        is_secret.then(|| (Self(text.into()), kind))
    }

    /// Returns the hash of the token. The store keeps only this hash, and finds the grant by it.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 token");
        hasher.update(self.0.as_bytes());
        hasher.finalize().into()
    }

    #[must_use]
    pub(crate) fn hash_for(&self, match_name: &MatchName, place: u8) -> Digest {
        // A calendar has several places for a match, because a player whose access was revoked may join again.
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 calendar");
        hasher.update(self.0.as_bytes());
        hasher.update(&[place]);
        hasher.update(match_name.as_str().as_bytes());
        hasher.finalize().into()
    }

    /// Returns the text, to be shown to its holder once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(crate) fn no_chance(cause: String) -> Problem {
    tracing::error!(%cause, "no randomness");
    Problem::new(ProblemCode::Internal, "the operating system provides no random bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside() -> Outside {
        let fill_random = |bytes: &mut [u8]| {
            bytes.fill(7);
            Ok(())
        };
        Outside {
            now_ms: || 0,
            fill_random,
            roll: |_| Err(std::io::ErrorKind::Unsupported.into()),
            build: None,
        }
    }

    #[test]
    fn a_token_shows_its_kind_and_is_read_back() {
        for (kind, letter) in TokenKind::ALL {
            let token = AccessToken::generate(kind, &outside()).unwrap();
            assert!(token.expose().starts_with(&format!("tf_{letter}_")));
            let (read, read_kind) = AccessToken::parse(token.expose()).unwrap();
            assert_eq!((read.hash(), read_kind), (token.hash(), kind));
        }
    }

    #[test]
    fn other_text_is_no_token() {
        let token = AccessToken::generate(TokenKind::Admin, &outside()).unwrap();
        let text = token.expose();
        for other in
            ["", "tf_", "tf_a_", &text[..text.len() - 1], &format!("{text}A"), &text.replace("_a_", "_b_")]
        {
            assert!(AccessToken::parse(other).is_none(), "{other}");
        }
    }
}
