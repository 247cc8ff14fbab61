//! The token of a request, and what it permits (SV-21, SV-24).

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, header};
use turnfold_core::{Digest, Seat};
use turnfold_history::Viewer;
use turnfold_store::{Grant, GrantId, GrantKind, MatchName, StoreError};

use crate::client_address::ClientAddress;
use crate::problem::{ApiResult, Ended, Problem, ProblemCode};
use crate::token::{AccessToken, TokenKind};

/// The token of a request, if it has one.
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
    /// Reads the header `Authorization` and the address of the client.
    pub(crate) fn of(headers: &HeaderMap, extensions: &Extensions) -> Self {
        let value = headers.get(header::AUTHORIZATION);
        let text = value.and_then(|value| value.to_str().ok()).and_then(|value| value.split_once(' '));
        let text = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        let token = text.and_then(|(_, token)| AccessToken::parse(token.trim_start()));
        let client = extensions.get().copied().filter(|_| value.is_some());
        Self { token, client: client.unwrap_or(ClientAddress(None)) }
    }

    /// Returns the token without the client's address, because an admitted token is not a guess.
    pub(crate) fn admitted(&self) -> Self {
        Self { client: ClientAddress(None), ..self.clone() }
    }

    /// Returns the address of the client, if it sent the header `Authorization`.
    pub(crate) fn client(&self) -> ClientAddress {
        self.client
    }

    /// Returns the token's hash, which finds its grant, and its kind.
    pub(crate) fn hash(&self) -> Option<(Digest, TokenKind)> {
        self.token.as_ref().map(|(token, kind)| (token.hash(), *kind))
    }

    /// Returns the id of the grant with this token.
    pub(crate) fn id(&self) -> Option<String> {
        self.hash().map(|(hash, _)| GrantId::of(&hash).to_string())
    }

    /// Requires and returns the token of an invitation.
    pub(crate) fn invitation(self) -> ApiResult<AccessToken> {
        match self.token {
            Some((token, TokenKind::Invitation)) => Ok(token),
            Some(_) => Err(Problem::forbidden("expected the token of an invitation")),
            None => Err(no_token()),
        }
    }
}

/// What the holder of a token may do.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    holder: Holder,
}

#[derive(Clone, Debug)]
enum Holder {
    Admin,
    Granted(Grant),
}

/// The problem of a request without a valid token.
pub(crate) fn no_token() -> Problem {
    Problem::new(ProblemCode::NoToken, "expected a valid token that has not expired or been revoked")
}

/// Requires a grant that is still valid.
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
    /// Returns the access of the admin.
    pub(crate) fn admin() -> Self {
        Self { holder: Holder::Admin }
    }

    pub(crate) fn granted(grant: Grant) -> Self {
        Self { holder: Holder::Granted(grant) }
    }

    /// Hides where the store is damaged from everyone but the host and the admin (SV-7).
    pub(crate) fn redacted(&self, problem: Problem) -> Problem {
        if problem.code() == ProblemCode::Corrupt && !self.is_host() {
            problem.without_place()
        } else {
            problem
        }
    }

    /// Returns the grant; the admin has none.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match &self.holder {
            Holder::Admin => None,
            Holder::Granted(grant) => Some(grant),
        }
    }

    /// Returns `true` for hosts and the admin, who may know everything.
    pub(crate) fn is_host(&self) -> bool {
        self.grant().is_none_or(|grant| grant.kind == GrantKind::Host)
    }

    pub(crate) fn require_admin(&self) -> ApiResult<()> {
        match self.holder {
            Holder::Admin => Ok(()),
            Holder::Granted(_) => Err(Problem::forbidden("only the admin token permits that")),
        }
    }

    /// Requires a token of the match, or the admin's. To others the match does not exist.
    pub(crate) fn require_match(&self, match_name: &MatchName) -> ApiResult<()> {
        match self.grant() {
            Some(grant) if grant.match_name != *match_name => Err(unknown(match_name)),
            Some(Grant { kind: GrantKind::Invitation(_), .. }) => {
                Err(Problem::forbidden("an invitation permits only `POST /v1/join`"))
            }
            _ => Ok(()),
        }
    }

    /// Requires the match's host or the admin.
    pub(crate) fn require_host(&self, match_name: &MatchName) -> ApiResult<()> {
        self.require_match(match_name)?;
        if self.is_host() {
            Ok(())
        } else {
            Err(Problem::forbidden("only the host token of the match permits that"))
        }
    }

    /// Returns the seat whose commands the token may give; `None` for the host. Spectators are refused.
    pub(crate) fn playing_seat(&self) -> ApiResult<Option<Seat>> {
        match self.grant() {
            Some(Grant { kind: GrantKind::Seat(seat) | GrantKind::Player(seat), .. }) => Ok(Some(*seat)),
            _ if self.is_host() => Ok(None),
            _ => Err(Problem::forbidden("a spectator cannot give commands")),
        }
    }

    /// Returns the viewer of a match for this token. The host may view it as any seat.
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
