//! Making, spending and revoking grants.

use turnfold_core::Digest;

use super::store::Store;
use crate::error::StoreError;
use crate::grant::{GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
use crate::names::{MatchName, PlayerName};

impl Store {
    /// Makes a grant for the token with this hash; when it returns, the grant is durable.
    ///
    /// A match may have [`Grant::LIVE_MAX`](crate::Grant::LIVE_MAX) live grants and each seat [`Grant::LIVE_MAX_PER_SEAT`](crate::Grant::LIVE_MAX_PER_SEAT) of them, invitations
    /// that were not spent included. Beyond twice as many in all, the oldest grants that no longer count are removed.
    ///
    /// # Errors
    /// [`StoreError::TooManyGrants`], [`StoreError::GrantExists`] when the hash or its beginning is used already,
    /// [`StoreError::NotAPlayer`], [`StoreError::NoSuchMatch`], and every error of reading and writing.
    pub fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        self.engine.grant(hash, new, now_ms)
    }

    /// Spends an invitation for a token of the player who accepts it, both known by their hashes. Once more with the same
    /// token changes nothing, so that an answer that was lost can be asked for again.
    ///
    /// The grant of the seat has the player's name, else the invitation's label, and does not expire. The first who joins has
    /// the seat: until that grant is revoked, other invitations to it are refused.
    ///
    /// # Errors
    /// [`StoreError::NoSuchGrant`] when there is no such invitation, or when it was revoked or has expired;
    /// [`StoreError::InvitationSpent`] when it was spent for another token; [`StoreError::SeatTaken`] when someone else plays
    /// the seat; [`StoreError::NameTaken`] when another player of the match has the name or one that is written alike;
    /// [`StoreError::GrantExists`] when the token is used already; every error of reading and writing.
    pub fn join(
        &self,
        invitation: &Digest,
        token: &Digest,
        name: Option<&PlayerName>,
        now_ms: i64,
    ) -> Result<JoinedSeat, StoreError> {
        self.engine.join(invitation, Joining { token, name, now_ms })
    }

    /// Revokes a grant of a match and returns the hash of its token. One that was revoked before stays as it is; what an
    /// invitation became has to be revoked by itself. The last live grant of a host stays.
    ///
    /// # Errors
    /// [`StoreError::NoSuchGrant`] when the match has no such grant, [`StoreError::LastHost`], [`StoreError::NoSuchMatch`],
    /// and every error of reading and writing.
    pub fn revoke_grant(
        &self,
        match_name: &MatchName,
        id: GrantId,
        now_ms: i64,
    ) -> Result<Digest, StoreError> {
        self.engine.revoke_grant(match_name, id, now_ms)
    }
}
