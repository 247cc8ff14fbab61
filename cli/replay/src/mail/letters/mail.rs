//! A match by mail, read to write letters of it.

use turnfold_core::{Registry, SetupError};
use turnfold_store::{MatchName, StoreReader};

use super::desk::DeskEntries;
use super::error::LetterError;
use crate::error::ReplayError;
use crate::mail::keys::DeskOf;

/// A game, and the log of its desk.
pub(super) struct Mail<'a> {
    pub(super) store: &'a StoreReader,
    pub(super) registry: &'a Registry,
    pub(super) game: MatchName,
    pub(super) desk: MatchName,
    pub(super) log: DeskEntries,
}

impl<'a> Mail<'a> {
    /// Reads the desk of a game.
    pub(super) fn read(
        store: &'a StoreReader,
        registry: &'a Registry,
        game: &MatchName,
    ) -> Result<Self, LetterError> {
        let desk = DeskOf::game(game, &store.genesis(game)?.match_id);
        let desk = desk.map_err(|cause| ReplayError::BadSetup(SetupError::Bytes(cause.0)))?.name;
        let log = DeskEntries::read(store, &desk, registry)?;
        Ok(Self { store, registry, game: game.clone(), desk, log })
    }
}
