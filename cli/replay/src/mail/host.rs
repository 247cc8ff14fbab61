//! The host of a match by mail: its key, and what it appends to the desk.

use turnfold_core::rules::desk::{Command, Effect};
use turnfold_core::trust::{PrivateKey, VerifierKey};
use turnfold_core::{Registry, Seat};
use turnfold_store::{BranchName, Entry, IdempotencyKey, MatchName, NewEntry, Store};

use super::desk_history::{AppliedEntry, DeskHistory};
use super::error::MailError;
use super::pairing::MailMatch;
use crate::history::broken_entry;
use crate::revision::SourceName;
use crate::signing::Signers;

/// A match by mail in the hands of its host.
pub struct MailHost<'a> {
    pub(super) store: &'a Store,
    pub(super) registry: &'a Registry,
    pub(super) of: MailMatch,
    pub(super) desk: DeskHistory,
    pub(super) key: &'a PrivateKey,
    /// When entries are recorded, in Unix milliseconds.
    pub(super) recorded_at_ms: i64,
}

impl<'a> MailHost<'a> {
    /// Finds the match, of whose desk one of the keys must be the host's; it must have signed no other history of it
    /// (TR-11).
    ///
    /// # Errors
    /// [`MailError::Unusable`] for another key, and what is wrong with the match.
    pub fn of(
        store: &'a Store,
        name: &MatchName,
        registry: &'a Registry,
        signers: &'a Signers,
        recorded_at_ms: i64,
    ) -> Result<Self, MailError> {
        let of = MailMatch::find(store, name, registry)?;
        let host: Option<VerifierKey> = of.terms.host.parse().ok();
        let key = host.and_then(|host| signers.key_of(&host)).ok_or_else(|| {
            MailError::Unusable(format!(
                "the host of `{name}` signs with `{}`, not with this key",
                of.terms.host
            ))
        })?;
        // FD-18: a desk that went back would open elements again that players know.
        signers.require_unforked(store, &of.desk_line())?;
        let desk = DeskHistory::read(store, &of)?;
        Ok(Self { store, registry, of, desk, key, recorded_at_ms })
    }

    /// Returns the match.
    #[must_use]
    pub const fn mail_match(&self) -> &MailMatch {
        &self.of
    }

    /// Returns the desk as it is now.
    #[must_use]
    pub const fn desk(&self) -> &DeskHistory {
        &self.desk
    }

    /// Appends commands of the host to the desk, all or none, and returns what happened.
    pub(super) fn decide(&mut self, commands: Vec<Command>) -> Result<Vec<Effect>, MailError> {
        let commands = commands.into_iter().map(|command| (Seat::Host, command)).collect();
        let heard = self.append(commands, None)?;
        Ok(heard.into_iter().flat_map(|heard| heard.effects).collect())
    }

    /// Appends commands to the desk, all or none.
    pub(super) fn append(
        &mut self,
        commands: Vec<(Seat, Command)>,
        key: Option<&IdempotencyKey>,
    ) -> Result<Vec<AppliedEntry>, MailError> {
        let (before, recorded_at_ms) = (self.desk.head(), self.recorded_at_ms);
        let (mut heard, mut entries) = (Vec::new(), Vec::new());
        for (seat, command) in commands {
            let command = command.to_bytes();
            let entry = Entry {
                seq: self.desk.head() + 1,
                seat,
                command: command.clone(),
                recorded_at_ms,
                idempotency_key: key.cloned(),
            };
            let name = SourceName::Revision(self.of.desk_line());
            heard.push(self.desk.take(&entry).map_err(|cause| broken_entry(&name, cause))?);
            entries.push(NewEntry { seat, command, recorded_at_ms });
        }
        if !entries.is_empty() {
            self.store.append(&self.of.desk, &BranchName::main(), before, entries, key)?;
        }
        Ok(heard)
    }
}
