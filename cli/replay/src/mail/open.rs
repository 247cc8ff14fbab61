//! `mail open`: a game and its desk, made together (PM-25).

use std::sync::Arc;

use turnfold_core::any::erase;
use turnfold_core::decode::decode_strictly;
use turnfold_core::dice::fair::Owner;
use turnfold_core::paper::MatchId;
use turnfold_core::rules::desk::{self, Desk};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Rules, Seat, SetupError};
use turnfold_store::{BranchName, Genesis, MatchName, Store, StoreError};

use super::host_dice::require_no_owner;
use super::letter_words::time_zone;
use super::pairing::DeskOf;
use super::trial::try_terms;
use crate::error::ReplayError;
use crate::viewer::is_open_setup;

/// The keys of the terms that are filled in.
const FILLED_IN: [&str; 4] = ["match", "game", "host", "head"];

/// A match by mail that is to be made.
pub struct NewMailMatch<'a> {
    /// The name of the game.
    pub name: &'a MatchName,
    /// The rules of the game.
    pub rules: Arc<dyn AnyRules>,
    /// The setup of the game, as the log stores it.
    pub setup: Vec<u8>,
    /// The terms of play as written in TOML, without what is filled in (PM-3).
    pub terms: &'a str,
    /// Whether dice are fair; else rolls are recorded.
    pub is_fair: bool,
    /// Whether terms are refused that fail a trial (PM-37).
    pub is_tried: bool,
    /// The id of the game, which no other match has.
    pub match_id: [u8; 16],
    /// When both are made, in Unix milliseconds.
    pub created_at_ms: i64,
}

impl NewMailMatch<'_> {
    /// Makes game and desk. Completes a call that was interrupted between the two.
    ///
    /// # Errors
    /// [`ReplayError::BadSetup`] naming the field of the terms that does not fit the game, [`ReplayError::Unusable`] for a
    /// setup that holds secrets, and every error of the store.
    pub fn open(self, store: &Store, key: &PrivateKey) -> Result<(), ReplayError> {
        let game = start_for_mail(&*self.rules, &self.setup, self.is_fair)?;
        let left = self.left_by_interrupted(store, key)?;
        let genesis = left.clone().unwrap_or_else(|| self.game(self.match_id, key));
        let desk = DeskOf::game(self.name, &genesis.match_id)?;
        let desk_genesis = self.desk(&genesis, &desk, key, game.as_ref())?;
        match store.genesis(&desk.name) {
            Err(StoreError::NoSuchMatch { .. }) => {}
            found => return found.and_then(|_| taken(&desk.name)).map_err(ReplayError::from),
        }
        if left.is_none() {
            store.create_match(self.name, &genesis, Vec::new())?;
        }
        Ok(store.create_match(&desk.name, &desk_genesis, Vec::new())?)
    }

    fn game(&self, match_id: [u8; 16], key: &PrivateKey) -> Genesis {
        // FD-6
        let head = || key.dice_chain(Owner { match_id, party: Seat::Host }).head();
        let dice = if self.is_fair { DicePolicy::Fair(head()) } else { DicePolicy::Recorded };
        let genesis = Genesis {
            format: Genesis::FORMAT,
            ruleset: self.rules.name().into(),
            ruleset_version: self.rules.version(),
            setup: self.setup.clone(),
            dice,
            match_id,
            title: String::new(),
            created_at_ms: self.created_at_ms,
            module: None,
            played_by: None,
            origins: Vec::new(),
        };
        genesis.pinned(self.rules.module())
    }

    /// Returns the game that an interrupted call left: this one, without entries and without a desk.
    fn left_by_interrupted(&self, store: &Store, key: &PrivateKey) -> Result<Option<Genesis>, ReplayError> {
        let found = match store.genesis(self.name) {
            Err(StoreError::NoSuchMatch { .. }) => return Ok(None),
            found => found?,
        };
        let made = Genesis { created_at_ms: found.created_at_ms, ..self.game(found.match_id, key) };
        let desk = DeskOf::game(self.name, &found.match_id).ok();
        let has_desk = desk.is_some_and(|desk| store.genesis(&desk.name).is_ok());
        if made != found || has_desk || store.head(self.name, &BranchName::main())? > 0 {
            taken(self.name)?;
        }
        Ok(Some(found))
    }

    fn desk(
        &self,
        genesis: &Genesis,
        desk: &DeskOf,
        key: &PrivateKey,
        game: &dyn AnyState,
    ) -> Result<Genesis, ReplayError> {
        let match_id = MatchId::new(genesis.match_id).to_string();
        let mut filled = vec![
            ("match", match_id),
            ("game", genesis.link().to_string()),
            ("host", key.verifier().to_string()),
        ];
        if let DicePolicy::Fair(head) = genesis.dice {
            filled.push(("head", head.to_string()));
        }
        let setup = read_terms(self.terms, &filled)?;
        let terms: desk::Setup =
            decode_strictly(&setup).map_err(|error| SetupError::Bytes(error.to_string()))?;
        let is_default_given =
            self.terms.parse::<toml::Table>().is_ok_and(|table| table.contains_key("default"));
        require_fitting(&terms, is_default_given, &*self.rules, game)?;
        if self.is_tried {
            try_terms(&*self.rules, &self.setup, &terms)?;
        }
        let desk_genesis = Genesis {
            ruleset: Desk::NAME.into(),
            ruleset_version: Desk::VERSION,
            setup,
            dice: DicePolicy::Recorded,
            match_id: desk.match_id,
            ..genesis.clone()
        };
        // MD-1: no module plays a desk.
        Ok(desk_genesis.pinned(None))
    }
}

/// Starts a game that can be played by mail: one whose setup, which is in every bundle, shows each player no more than it
/// may know. With fair dice its first roll has no owner.
///
/// # Errors
/// [`ReplayError::Unusable`] with why the game cannot be played by mail, and [`ReplayError::BadSetup`].
pub fn start_for_mail(
    rules: &dyn AnyRules,
    setup: &[u8],
    is_fair: bool,
) -> Result<Box<dyn AnyState>, ReplayError> {
    let game = rules.start(setup)?;
    for seat in game.players() {
        if !is_open_setup(rules, setup, game.as_ref(), (*seat).into())? {
            return Err(ReplayError::Unusable(format!(
                "`{}` cannot be played by mail: its setup is in every bundle and would show {seat} secrets",
                rules.name()
            )));
        }
    }
    game.due_roll().filter(|_| is_fair).map_or(Ok(()), |due| require_no_owner(&due))?;
    Ok(game)
}

fn taken(name: &MatchName) -> Result<(), StoreError> {
    Err(StoreError::AlreadyExists { match_name: name.clone() })
}

/// Reads terms of play with what is filled in.
fn read_terms(toml: &str, filled: &[(&str, String)]) -> Result<Vec<u8>, SetupError> {
    // Malformed TOML is reported by the rules, which read it below.
    if let Ok(table) = toml.parse::<toml::Table>()
        && let Some(key) = FILLED_IN.iter().find(|key| table.contains_key(**key))
    {
        return Err(SetupError::value(*key, "`mail open` fills it in; remove it"));
    }
    // At the end, so that errors name the lines of the file.
    let filled = filled.iter().map(|(key, value)| format!("{key} = \"{value}\"\n"));
    erase::<Desk>().read_setup(&format!("{}\n{}", toml.trim_end(), filled.collect::<String>()))
}

/// Requires that terms fit a game (PM-3).
fn require_fitting(
    terms: &desk::Setup,
    is_default_given: bool,
    rules: &dyn AnyRules,
    game: &dyn AnyState,
) -> Result<(), SetupError> {
    let (players, seats) = (game.players().len(), usize::from(terms.seats));
    if players != seats {
        let message = format!("expected {players}, the players of this `{}`, found {seats}", rules.name());
        return Err(SetupError::value("seats", message));
    }
    // PM-112: the desk takes any name; the letters need one that there is.
    for (index, zone) in terms.zones.iter().enumerate() {
        if time_zone(zone).is_none() {
            let message = format!("expected a time zone such as `Europe/Berlin` or `+02:00`, found `{zone}`");
            return Err(SetupError::value(format!("zones[{index}]"), message));
        }
    }
    for (field, commands) in [("default", &terms.default), ("between", &terms.between)] {
        for (index, command) in commands.iter().enumerate() {
            let read = rules.canonical(command);
            read.map_err(|error| match field {
                "default" if !is_default_given => SetupError::value(
                    field,
                    format!("it is `{command}` by default; set it for `{}`: {error}", rules.name()),
                ),
                _ => SetupError::value(format!("{field}[{index}]"), error.to_string()),
            })?;
        }
    }
    Ok(())
}
