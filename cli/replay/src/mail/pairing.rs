//! A game and its desk, found and held against each other (PM-1).

use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::{self, Desk};
use turnfold_core::{AnyRules, Registry, Rules};
use turnfold_store::{BranchName, Genesis, MatchName, StoreError, StoreReader};

use super::error::MailError;
use super::keys::DeskOf;
use crate::history::{broken_setup, rules_of};
use crate::revision::{Revision, SourceName};

/// A match that is played by mail.
pub struct MailMatch {
    /// The name of the game.
    pub name: MatchName,
    /// How the game begins.
    pub genesis: Genesis,
    /// The rules of the game.
    pub rules: &'static dyn AnyRules,
    /// The name of the desk.
    pub desk: MatchName,
    /// The terms of play.
    pub terms: desk::Setup,
}

impl MailMatch {
    /// Finds a match and its desk in a store.
    ///
    /// # Errors
    /// [`MailError::Unusable`] for a match without a desk, [`MailError::Refused`] for one with the desk of another, and
    /// every error of reading.
    pub fn find(store: &StoreReader, name: &MatchName, registry: &Registry) -> Result<Self, MailError> {
        let genesis = store.genesis(name)?;
        let desk = DeskOf::game(name, &genesis.match_id);
        let desk = desk.map_err(|error| MailError::Unusable(error.to_string()))?;
        let desk_genesis = match store.genesis(&desk.name) {
            Err(StoreError::NoSuchMatch { .. }) => {
                let desk = desk.name;
                let message = format!("`{name}` is not played by mail: there is no match `{desk}`");
                return Err(MailError::Unusable(message));
            }
            found => found?,
        };
        Self::of((name, genesis), (desk, &desk_genesis), registry)
    }

    /// Holds a game against its desk.
    ///
    /// # Errors
    /// As for [`find`](Self::find).
    pub fn of(
        (name, genesis): (&MatchName, Genesis),
        (desk, desk_genesis): (DeskOf, &Genesis),
        registry: &Registry,
    ) -> Result<Self, MailError> {
        let rules = rules_of(&genesis, &main_of(name), registry)?;
        let other = || MailError::Refused(format!("`{}` is not the desk of `{name}`", desk.name));
        if desk_genesis.ruleset != Desk::NAME || desk_genesis.match_id != desk.match_id {
            return Err(other());
        }
        let line = main_of(&desk.name);
        rules_of(desk_genesis, &line, registry)?;
        let terms: desk::Setup = decode_strictly(&desk_genesis.setup).map_err(|error| {
            let cause = turnfold_core::SetupError::Bytes(error.to_string());
            broken_setup(&SourceName::Revision(line), cause)
        })?;
        let match_id = turnfold_core::paper::MatchId::new(genesis.match_id);
        if terms.match_id != match_id.to_string() || terms.game != genesis.link().to_string() {
            return Err(other());
        }
        Ok(Self { name: name.clone(), genesis, rules, desk: desk.name, terms })
    }

    /// Returns a line of the game.
    #[must_use]
    pub fn line(&self, branch: &BranchName) -> Revision {
        Revision { match_name: self.name.clone(), branch: branch.clone(), seq: None }
    }

    /// Returns the line of the desk.
    #[must_use]
    pub fn desk_line(&self) -> Revision {
        main_of(&self.desk)
    }
}

fn main_of(name: &MatchName) -> Revision {
    Revision { match_name: name.clone(), branch: BranchName::main(), seq: None }
}
