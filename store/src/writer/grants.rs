//! Makes, spends and revokes grants.

use turnfold_core::Digest;

use super::store::Store;
use crate::error::StoreError;
use crate::grant::{GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
use crate::names::{MatchName, PlayerName};

impl Store {
    /// Makes a grant for the token with this hash. When it returns, the grant is durable.
    ///
    /// A match may have [`Grant::LIVE_MAX`](crate::Grant::LIVE_MAX) live grants, and
    /// [`Grant::LIVE_MAX_PER_SEAT`](crate::Grant::LIVE_MAX_PER_SEAT) per seat. Unspent invitations count as live. A
    /// match keeps twice as many grants in all; beyond that, its oldest dead grants are removed.
    ///
    /// # Errors
    /// Returns [`StoreError::TooManyGrants`], [`StoreError::GrantExists`] if the hash or its first 8 bytes are in use,
    /// [`StoreError::NotAPlayer`], [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        self.engine.grant(hash, new, now_ms)
    }

    /// Spends an invitation for the token of the player who accepts it. Both are given by their hashes. If it was
    /// already spent for this token, nothing changes, so a player can repeat the call after a lost response.
    ///
    /// The grant of the seat gets the player's name, or else the invitation's label, and does not expire. The first
    /// player to join has the seat: other invitations to it are refused until that grant is revoked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchGrant`] if there is no such invitation, or if it was revoked or has expired;
    /// [`StoreError::InvitationSpent`] if it was spent for another token; [`StoreError::SeatTaken`] if someone else
    /// plays the seat; [`StoreError::NameTaken`] if another player of the match has the same or an equivalent name;
    /// [`StoreError::TooManyGrants`]; [`StoreError::GrantExists`] if the token is in use; or any error of reading and
    /// writing.
    pub fn join(
        &self,
        invitation: &Digest,
        token: &Digest,
        name: Option<&PlayerName>,
        now_ms: i64,
    ) -> Result<JoinedSeat, StoreError> {
        self.engine.join(invitation, Joining { token, name, now_ms })
    }

    /// Revokes a grant of a match and returns the hash of its token. A grant that was revoked before does not change.
    /// The seat's grant that an invitation was spent for must be revoked separately. The last live host grant cannot be
    /// revoked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchGrant`] if the match has no such grant, [`StoreError::LastHost`],
    /// [`StoreError::NoSuchMatch`], or any error of reading and writing.
    pub fn revoke_grant(
        &self,
        match_name: &MatchName,
        id: GrantId,
        now_ms: i64,
    ) -> Result<Digest, StoreError> {
        self.engine.revoke_grant(match_name, id, now_ms)
    }
}
