//! The token of a request: whose it is, what it permits (SV-21, SV-24), and when it was last used (SV-42).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use tokio::time::Instant;
use turnfold_core::{Digest, Seat};
use turnfold_history::Viewer;
use turnfold_store::{Grant, GrantId, GrantKind, MatchName, Store, StoreError};

use crate::guesses::ClientAddress;
use crate::problem::{ApiResult, Ended, Problem, ProblemCode};
use crate::token::{AccessToken, TokenKind};

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
        let value = headers.get(header::AUTHORIZATION);
        let text = value.and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
        let text = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = text.and_then(|(_, token)| AccessToken::parse(token.trim_start()));
        let client = extensions.get().copied().filter(|_| value.is_some());
        Self { token, client: client.unwrap_or(ClientAddress(None)) }
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

#[derive(Clone, Debug)]
pub(crate) struct Access {
    holder: Holder,
}

#[derive(Clone, Debug)]
enum Holder {
    Admin,
    Granted(Grant),
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

fn unknown(match_name: &MatchName) -> Problem {
    StoreError::NoSuchMatch { match_name: match_name.clone() }.into()
}

impl Access {
    pub(crate) fn admin() -> Self {
        Self { holder: Holder::Admin }
    }

    pub(crate) fn granted(grant: Grant) -> Self {
        Self { holder: Holder::Granted(grant) }
    }

    pub(crate) fn redacted(&self, problem: Problem) -> Problem {
        // SV-7: only the host and the admin learn where the store is damaged.
        if problem.code() == ProblemCode::Corrupt && !self.is_host() {
            problem.without_place()
        } else {
            problem
        }
    }

    pub(crate) fn grant(&self) -> Option<&Grant> {
        match &self.holder {
            Holder::Admin => None,
            Holder::Granted(grant) => Some(grant),
        }
    }

    pub(crate) fn is_host(&self) -> bool {
        self.grant().is_none_or(|grant| grant.kind == GrantKind::Host)
    }

    pub(crate) fn require_admin(&self) -> ApiResult<()> {
        match self.holder {
            Holder::Admin => Ok(()),
            Holder::Granted(_) => Err(Problem::forbidden("only the admin token permits that")),
        }
    }

    pub(crate) fn require_match(&self, match_name: &MatchName) -> ApiResult<()> {
        match self.grant() {
            Some(grant) if grant.match_name != *match_name => Err(unknown(match_name)),
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
    /// Grants and when they were read; the time is `None` once they were forgotten.
    grants: BTreeMap<Digest, (Option<Instant>, Grant)>,
    /// How often grants were forgotten. A grant that was being read at that time is not kept.
    forgotten: u64,
}

impl KnownGrants {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, hash: &Digest) -> Option<Grant> {
        let known = self.lock();
        let (read_at, grant) = known.grants.get(hash)?;
        is_fresh(*read_at).then(|| grant.clone())
    }

    pub(crate) fn has_known(&self, hash: &Digest) -> bool {
        self.lock().grants.contains_key(hash)
    }

    pub(crate) fn read(&self, store: &Store, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        let forgotten = self.lock().forgotten;
        let read_at = Instant::now();
        let found = store.find_grant(hash)?;
        let mut known = self.lock();
        if found.is_none() {
            known.grants.remove(hash);
        }
        if let Some(grant) = &found
            && known.forgotten == forgotten
        {
            if known.grants.len() >= KNOWN_MAX {
                known.grants.retain(|_, (read_at, _)| is_fresh(*read_at));
            }
            if known.grants.len() < KNOWN_MAX {
                known.grants.insert(*hash, (Some(read_at), grant.clone()));
            }
        }
        Ok(found)
    }

    pub(crate) fn forget(&self) {
        let mut known = self.lock();
        known.grants.values_mut().for_each(|(read_at, _)| *read_at = None);
        known.forgotten += 1;
    }
}

fn is_fresh(read_at: Option<Instant>) -> bool {
    read_at.is_some_and(|read_at| read_at.elapsed() < KNOWN_TIME)
}

const TOKENS_MAX: usize = 100_000;

/// SV-42: when each token was last used, in milliseconds since 1970. The times are kept in memory only, because a record for
/// each request would cost more than the response.
#[derive(Default)]
pub(crate) struct LastSeen(Mutex<BTreeMap<Digest, i64>>);

impl LastSeen {
    pub(crate) fn note(&self, token: Digest, now_ms: i64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Forgetting every token is better than remembering more and more of them.
        if seen.len() >= TOKENS_MAX && !seen.contains_key(&token) {
            seen.clear();
        }
        seen.insert(token, now_ms);
    }

    pub(crate) fn of(&self, token: &Digest) -> Option<i64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).copied()
    }
}
