//! Tokens (SV-22): whose one is, what it permits (SV-21, SV-24), and when it was last used (SV-42).

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::limits::ClientAddress;
use crate::prelude::*;
use crate::problem::Ended;
use crate::server::Outside;

#[derive(Clone)]
pub(crate) struct Bearer {
    token: Option<(AccessToken, TokenKind)>,
    /// The address of the client, if it sent the header `Authorization`.
    client: ClientAddress,
}

impl<S: Sync> FromRequestParts<S> for Bearer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        Ok(Self::of(&parts.headers, &parts.extensions))
    }
}

impl Bearer {
    pub(crate) fn of(headers: &HeaderMap, extensions: &Extensions) -> Self {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Self { token: None, client: ClientAddress(None) };
        };
        let client = extensions.get().copied().unwrap_or(ClientAddress(None));
        let mut token = None;
        if let Ok(text) = value.to_str()
            && let Some((scheme, text)) = text.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
        {
            token = AccessToken::parse(text.trim_start());
        }
        Self { token, client }
    }

    pub(crate) fn admitted(&self) -> Self {
        // An admitted token is not a guess, so its address is not needed.
        Self { client: ClientAddress(None), ..self.clone() }
    }

    pub(crate) fn client(&self) -> ClientAddress {
        self.client
    }

    pub(crate) fn hash(&self) -> Option<(Digest, TokenKind)> {
        self.token.as_ref().map(|(token, kind)| (token.hash(), *kind))
    }

    pub(crate) fn is_hosts(&self) -> bool {
        matches!(self.token, Some((_, TokenKind::Admin | TokenKind::Host)))
    }

    pub(crate) fn id(&self) -> Option<String> {
        self.hash().map(|(hash, _)| GrantId::of(&hash).to_string())
    }

    pub(crate) fn invitation(self) -> ApiResult<AccessToken> {
        match self.token {
            Some((token, TokenKind::Invitation)) => Ok(token),
            Some(_) => Err(Problem::forbidden("expected the token of an invitation")),
            None => Err(no_token()),
        }
    }
}

/// What the holder of a token may do: an admin everything, others what their grant permits.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The hash of the token.
    pub(crate) token: Digest,
    /// `None` for an admin.
    pub(crate) grant: Option<Grant>,
}

pub(crate) fn no_token() -> Problem {
    Problem::new(ProblemCode::NoToken, "expected a valid token that has not expired or been revoked")
}

pub(crate) fn require_live(grant: Grant, now_ms: i64) -> ApiResult<Grant> {
    if grant.is_live(now_ms) {
        return Ok(grant);
    }
    Err(match grant {
        Grant { revoked_at_ms: Some(_), .. } => Problem::no_longer(Ended::Revoked),
        Grant { became: Some(_), .. } => no_token(),
        _ => Problem::no_longer(Ended::Expired),
    })
}

impl Access {
    pub(crate) fn grant(&self) -> Option<&Grant> {
        self.grant.as_ref()
    }

    pub(crate) fn is_host(&self) -> bool {
        self.grant().is_none_or(|grant| grant.kind == GrantKind::Host)
    }

    pub(crate) fn require_admin(&self) -> ApiResult<()> {
        if self.grant.is_none() {
            Ok(())
        } else {
            Err(Problem::forbidden("only the admin token permits that"))
        }
    }

    pub(crate) fn require_match(&self, match_name: &MatchName) -> ApiResult<()> {
        match self.grant() {
            Some(grant) if grant.match_name != *match_name => {
                Err(StoreError::NoSuchMatch { match_name: match_name.clone() }.into())
            }
            Some(Grant { kind: GrantKind::Invitation(_), .. }) => {
                Err(Problem::forbidden("an invitation permits only `POST /v1/join`"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn require_host(&self, match_name: &MatchName) -> ApiResult<()> {
        self.require_match(match_name)?;
        if self.is_host() {
            Ok(())
        } else {
            Err(Problem::forbidden("only the host token of the match permits that"))
        }
    }

    pub(crate) fn playing_seat(&self) -> ApiResult<Option<Seat>> {
        match self.grant() {
            Some(Grant { kind: GrantKind::Seat(seat) | GrantKind::Player(seat), .. }) => Ok(Some(*seat)),
            _ if self.is_host() => Ok(None),
            _ => Err(Problem::forbidden("a spectator cannot give commands")),
        }
    }

    pub(crate) fn looks(&self, match_name: &MatchName, seat: Option<Viewer>) -> ApiResult<Viewer> {
        self.require_match(match_name)?;
        let viewer = match self.grant().map(|grant| grant.kind) {
            None | Some(GrantKind::Host) => return Ok(seat.unwrap_or(Viewer::HOST)),
            Some(GrantKind::Seat(own) | GrantKind::Player(own) | GrantKind::Invitation(own)) => {
                Viewer::of(own)
            }
            Some(GrantKind::Spectator { .. } | GrantKind::Calendar { .. }) => Viewer::SPECTATOR,
        };
        // Spectators were called `p8` before they had a name of their own, and may still use that name.
        let is_older_name = viewer == Viewer::SPECTATOR && seat == Some(Viewer::of(Seat::P8));
        if seat.is_some_and(|seat| seat != viewer) && !is_older_name {
            return Err(Problem::forbidden("only the host can view the match as another seat"));
        }
        Ok(viewer)
    }
}

/// How long a grant is used without being read again.
const KNOWN_TIME: Duration = Duration::from_secs(1);

const KNOWN_MAX: usize = 16_384;

/// The grants that were read lately, so that a request need not wait for a thread that reads its grant (SV-22).
#[derive(Default)]
pub(crate) struct KnownGrants(Mutex<Known>);

#[derive(Default)]
struct Known {
    grants: BTreeMap<Digest, KnownGrant>,
    /// How often grants were forgotten.
    forgotten: u64,
}

struct KnownGrant {
    grant: Grant,
    read_at: Instant,
    /// How often grants had been forgotten when it was read.
    forgotten: u64,
}

impl KnownGrant {
    fn is_fresh(&self, forgotten: u64) -> bool {
        self.forgotten == forgotten && self.read_at.elapsed() < KNOWN_TIME
    }
}

impl KnownGrants {
    pub(crate) fn find(&self, hash: &Digest) -> Option<Grant> {
        let known = lock(&self.0);
        let found = known.grants.get(hash)?;
        found.is_fresh(known.forgotten).then(|| found.grant.clone())
    }

    pub(crate) fn has_known(&self, hash: &Digest) -> bool {
        lock(&self.0).grants.contains_key(hash)
    }

    pub(crate) fn read(&self, store: &Store, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        let forgotten = lock(&self.0).forgotten;
        let read_at = Instant::now();
        let found = store.find_grant(hash)?;
        let known = &mut *lock(&self.0);
        known.grants.remove(hash);
        if let Some(grant) = &found {
            if known.grants.len() >= KNOWN_MAX {
                known.grants.retain(|_, old| old.is_fresh(known.forgotten));
            }
            if known.grants.len() < KNOWN_MAX {
                known.grants.insert(*hash, KnownGrant { grant: grant.clone(), read_at, forgotten });
            }
        }
        Ok(found)
    }

    pub(crate) fn forget(&self) {
        lock(&self.0).forgotten += 1;
    }
}

const TOKENS_MAX: usize = 100_000;

/// SV-42: when each token was last used, in milliseconds since 1970. The times are kept in memory only, because a record for
/// each request would cost more than the response.
#[derive(Default)]
pub(crate) struct LastSeen(Mutex<BTreeMap<Digest, i64>>);

impl LastSeen {
    pub(crate) fn note(&self, token: Digest, now_ms: i64) {
        let mut seen = lock(&self.0);
        // Forgetting every token is better than remembering more and more of them.
        if seen.len() >= TOKENS_MAX && !seen.contains_key(&token) {
            seen.clear();
        }
        seen.insert(token, now_ms);
    }

    pub(crate) fn of(&self, token: &Digest) -> Option<i64> {
        lock(&self.0).get(token).copied()
    }
}

/// Returns the hash of the parts in a row, for one purpose, which `context` names.
pub(crate) fn derived_hash(context: &str, parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize()
}

const SECRET_LETTERS: usize = 43;

/// A token as it is sent. It is never logged: only [`expose`](AccessToken::expose) shows its text.
#[derive(Clone)]
pub struct AccessToken(String);

/// The kind that the text of a token states, by a letter. The grant decides what the token permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// Everything.
    Admin = b'a',
    /// A match's host.
    Host = b'h',
    /// A player's seat of a match.
    Seat = b's',
    /// A spectator.
    Spectator = b'v',
    /// An invitation to a seat.
    Invitation = b'i',
    /// A calendar, which shows deadlines and opens nothing else.
    Calendar = b'c',
}

impl TokenKind {
    const ALL: [Self; 6] =
        [Self::Admin, Self::Host, Self::Seat, Self::Spectator, Self::Invitation, Self::Calendar];
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
        Ok(Self(format!("tf_{}_{}", char::from(kind as u8), URL_SAFE_NO_PAD.encode(secret))))
    }

    /// Parses a token and returns it with its kind; `None` if the text is not a token.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, TokenKind)> {
        let (letter, secret) = text.strip_prefix("tf_")?.split_once('_')?;
        let kind = TokenKind::ALL.into_iter().find(|kind| letter.as_bytes() == [*kind as u8])?;
        let is_secret = secret.len() == SECRET_LETTERS && URL_SAFE_NO_PAD.decode(secret).is_ok();
        is_secret.then(|| (Self(text.into()), kind))
    }

    /// Returns the hash of the token. The store keeps only this hash, and finds the grant by it.
    #[must_use]
    pub fn hash(&self) -> Digest {
        derived_hash("turnfold v1 token", &[self.0.as_bytes()]).into()
    }

    #[must_use]
    pub(crate) fn hash_for(&self, match_name: &MatchName, place: u8) -> Digest {
        // A calendar has several places for a match, because a player whose access was revoked may join again.
        let parts = [self.0.as_bytes(), &[place], match_name.as_str().as_bytes()];
        derived_hash("turnfold v1 calendar", &parts).into()
    }

    /// Returns the text, to be shown to its holder once.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
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
        for (kind, letter) in TokenKind::ALL.into_iter().zip("ahsvic".chars()) {
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
