//! The accord of a match: its terms, and its current branch, kept in a match of its own (SV-45, SV-65).

use std::fmt;
use std::str::FromStr;

use turnfold_core::any::erase;
use turnfold_core::decode::decode_strictly;
use turnfold_core::outcome::Ruled as _;
use turnfold_core::paper::MatchId;
use turnfold_core::rules::accord::{Accord, Command, Setup, State, Terms};
use turnfold_core::rules::desk;
use turnfold_core::text::{Malformed, number};
use turnfold_core::{AnyRules, DicePolicy, Rules, Seat, SetupError, Verdict};
use turnfold_store::{BranchName, Genesis, MatchName, NewEntry, Seq, Store, StoreError, StoreReader};

use crate::error::MailError;
use crate::open_match::{require_fitting, rest_of_terms, try_terms};
use crate::pairing::{branches_of_turns, desk_naming, genesis_of};

const ACCORD: &str = ".accord";

const KEYS: [&str; 6] = ["hours", "missed", "default", "between", "patience", "absences"];

const FILLED_IN: [&str; 3] = ["match", "game", "seats"];

/// The accord of a match.
#[derive(Clone, Debug)]
pub struct MatchAccord {
    /// The name of the match that holds the accord.
    pub name: MatchName,
    /// The number of its last entry.
    pub head: Seq,
    /// The state after the last entry.
    pub state: State,
    /// Since when its terms count and the match is on its branch, in Unix milliseconds.
    pub since_ms: i64,
}

/// The idempotency key of an entry that the service records in a game. It names the cause and the last entry before, so
/// what follows from a position is recorded once, whichever process does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostedKey {
    /// A command of `between`, or a roll that was due.
    Between {
        /// The last entry before.
        after: Seq,
    },
    /// A command of `default`.
    Missed {
        /// The seat that missed a deadline.
        seat: Seat,
        /// How many deadlines it has missed in a row.
        misses: u32,
        /// The last entry before.
        after: Seq,
    },
}

impl fmt::Display for HostedKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Between { after } => write!(out, "between:{after}"),
            Self::Missed { seat, misses, after } => write!(out, "missed:{seat}:{misses}:{after}"),
        }
    }
}

impl FromStr for HostedKey {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match text.split(':').collect::<Vec<_>>().as_slice() {
            ["between", after] => Ok(Self::Between { after: number(after)? }),
            ["missed", seat, misses, after] => {
                let seat = seat.parse().map_err(|_| Malformed::expected("a seat", seat))?;
                Ok(Self::Missed { seat, misses: number(misses)?, after: number(after)? })
            }
            _ => Err(Malformed::expected("`between:AFTER` or `missed:SEAT:MISSES:AFTER`", text)),
        }
    }
}

impl MatchAccord {
    /// Returns the name of the accord of a match.
    ///
    /// # Errors
    /// [`Malformed`] when the name has more than 57 characters.
    pub fn name_of(name: &MatchName) -> Result<MatchName, Malformed> {
        let expected = "the name of a match with terms, of at most 57 characters";
        format!("{name}{ACCORD}").parse().map_err(|_| Malformed::expected(expected, name.as_str()))
    }

    /// Returns the name of the match that an accord belongs to; `None` if the name is not an accord's.
    #[must_use]
    pub fn game_of(accord: &MatchName) -> Option<MatchName> {
        accord.as_str().strip_suffix(ACCORD)?.parse().ok()
    }

    /// Finds the accord of a match, if it has one.
    ///
    /// # Errors
    /// Errors of the store, and an accord that is broken.
    pub fn find(store: &StoreReader, name: &MatchName, game: &Genesis) -> Result<Option<Self>, MailError> {
        let Ok(accord) = Self::name_of(name) else { return Ok(None) };
        let Some(genesis) = genesis_of(store, &accord)? else { return Ok(None) };
        let is_known = genesis.ruleset == Accord::NAME && genesis.ruleset_version == Accord::VERSION;
        if !is_known || genesis.match_id != id_of(game) {
            return Ok(None);
        }
        let setup: Setup = decode_strictly(&genesis.setup).map_err(|error| broken(&accord, &error))?;
        let state = Accord::start(&setup)?;
        let mut found = Self { name: accord.clone(), head: 0, state, since_ms: genesis.created_at_ms };
        let head = store.head(&accord, &BranchName::main())?;
        for entry in store.entries(&accord, &BranchName::main(), 1..=head)? {
            let entry = entry?;
            let command: Command =
                decode_strictly(&entry.command).map_err(|error| broken(&accord, &error))?;
            let applied = Accord::apply(&mut found.state, entry.seat, &command, &mut ());
            applied.map_err(|error| broken(&accord, &error))?;
            if let Command::Terms(_) | Command::Stand(_) = command {
                found.since_ms = entry.recorded_at_ms;
            }
            found.head = entry.seq;
        }
        Ok(Some(found))
    }

    /// Requires that the name of a match's accord is free, or taken by that accord.
    ///
    /// # Errors
    /// [`StoreError::AlreadyExists`], and as for [`name_of`](Self::name_of) and [`find`](Self::find).
    pub fn require_free(store: &StoreReader, name: &MatchName, game: &Genesis) -> Result<(), MailError> {
        let accord = Self::name_of(name)?;
        if Self::find(store, name, game)?.is_none() && store.genesis(&accord).is_ok() {
            return Err(StoreError::AlreadyExists { match_name: accord }.into());
        }
        Ok(())
    }

    /// Creates the accord of a match that has none.
    ///
    /// # Errors
    /// [`MailError::Unusable`] for a name that is too long, and every error of the store.
    pub fn create(
        store: &Store,
        name: &MatchName,
        game: &Genesis,
        setup: Vec<u8>,
        now_ms: i64,
    ) -> Result<(), MailError> {
        let genesis = Genesis {
            ruleset: Accord::NAME.into(),
            ruleset_version: Accord::VERSION,
            setup,
            dice: DicePolicy::Recorded,
            match_id: id_of(game),
            title: String::new(),
            created_at_ms: now_ms,
            played_by: None,
            origins: Vec::new(),
            ..game.clone()
        };
        Ok(store.create_match(&Self::name_of(name)?, &genesis.pinned(None), Vec::new())?)
    }

    /// Makes the accord of a match without terms, which has this many players.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_without_terms(
        store: &Store,
        name: &MatchName,
        game: &Genesis,
        seats: u8,
        now_ms: i64,
    ) -> Result<(), MailError> {
        Self::create(store, name, game, setup_of(Terms::none(), game, seats).to_bytes(), now_ms)
    }

    /// Creates the accord of a match of the same game, with the terms of this one.
    ///
    /// # Errors
    /// As for [`create`](Self::create).
    pub fn create_like(
        store: &Store,
        other: &Self,
        name: &MatchName,
        game: &Genesis,
        now_ms: i64,
    ) -> Result<(), MailError> {
        let setup = setup_of(other.state.terms().clone(), game, other.state.seats());
        Self::create(store, name, game, setup.to_bytes(), now_ms)
    }

    /// Records a command of a seat or the host.
    ///
    /// # Errors
    /// [`MailError::Refused`] with the reason if the command is rejected or ignored, and every error of the store:
    /// [`StoreError::Conflict`] if the accord has changed since it was read.
    pub fn record(&self, store: &Store, seat: Seat, command: &Command, now_ms: i64) -> Result<(), MailError> {
        match Accord::judge(&self.state, seat, command) {
            Err(denied) => return Err(MailError::Refused(denied.to_string())),
            Ok(Verdict::Ignored(reason)) => {
                return Err(MailError::Refused(reason.ruling().text.unwrap_or_default().to_owned()));
            }
            Ok(Verdict::Applied(_)) => {}
        }
        let entry = NewEntry { seat, command: command.to_bytes(), recorded_at_ms: now_ms };
        store.append(&self.name, &BranchName::main(), self.head, vec![entry], None)?;
        Ok(())
    }
}

fn broken(accord: &MatchName, error: &dyn fmt::Display) -> MailError {
    MailError::Refused(format!("`{accord}` is broken: {error}"))
}

fn setup_of(terms: Terms, game: &Genesis, seats: u8) -> Setup {
    let Terms { hours, missed, default, between, patience, absences } = terms;
    let match_id = MatchId::new(game.match_id).to_string();
    let game = game.link().to_string();
    Setup { match_id, game, seats, hours, missed, default, between, patience, absences }
}

/// SV-65: returns the current branch of a match: by its desk if it is played by mail, otherwise by its accord, and `main`
/// if it has neither.
///
/// # Errors
/// What is wrong with the store, the desk or the accord.
pub fn current_branch(store: &StoreReader, name: &MatchName) -> Result<BranchName, MailError> {
    let main = BranchName::main();
    let mut branch = None;
    if let Some(desk) = desk_naming(store, name, &main)? {
        branch = branches_of_turns(store, &desk)?.pop();
    } else if let Some(accord) = MatchAccord::find(store, name, &store.genesis(name)?)? {
        branch = Some(accord.state.branch().clone());
    }
    match branch {
        Some(branch) if store.head(name, &branch).is_ok() => Ok(branch),
        // A build that knew of no current branch may have renamed it.
        _ => Ok(main),
    }
}

fn id_of(game: &Genesis) -> [u8; 16] {
    let hash = blake3::derive_key("turnfold v1 accord", &game.match_id);
    let [id, _] = hash.as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
    *id
}

/// Reads terms in TOML, adds the terms that the game proposes, and tries them out. Returns the setup of an accord.
///
/// # Errors
/// [`SetupError`] naming the field that is not allowed or does not fit the game.
pub fn read_accord(written: &str, rules: &dyn AnyRules, game: &Genesis) -> Result<Vec<u8>, MailError> {
    let start = rules.start(&game.setup)?;
    // The rules read the same TOML below and report it if it is malformed.
    let own: toml::Table = written.parse().unwrap_or_default();
    if let Some(key) = FILLED_IN.iter().find(|key| own.contains_key(**key)) {
        return Err(SetupError::value(*key, "it is filled in; remove it").into());
    }
    let (mut rest, _) = rest_of_terms(&own, rules);
    rest.retain(|key, _| KEYS.contains(&key));
    let id = MatchId::new(game.match_id);
    let link = game.link();
    let seats = start.players().len();
    // Appended at the end, so that line numbers in errors are those of the file.
    let toml =
        format!("{}\n{rest}match = \"{id}\"\ngame = \"{link}\"\nseats = {seats}\n", written.trim_end());
    let setup = erase::<Accord>().read_setup(&toml)?;
    let read: Setup = decode_strictly(&setup).map_err(|error| SetupError::Bytes(error.to_string()))?;
    let terms = desk_terms(&read)?;
    require_fitting(&terms, own.contains_key("default"), rules, start.as_ref())?;
    try_terms(rules, &game.setup, &terms)?;
    Ok(setup)
}

/// Returns the terms of an accord's setup.
///
/// # Errors
/// [`SetupError`] if the bytes are not the setup of an accord.
pub fn terms_of_accord(setup: &[u8]) -> Result<Terms, SetupError> {
    let setup: Setup = decode_strictly(setup).map_err(|error| SetupError::Bytes(error.to_string()))?;
    Ok(setup.terms())
}

/// Returns the terms as the setup of a desk, because the checks of terms take one.
fn desk_terms(setup: &Setup) -> Result<desk::Setup, SetupError> {
    let terms = setup.terms();
    let mut desk: desk::Setup = toml::from_str("match = \"\"\ngame = \"\"\nhost = \"\"\n")
        .map_err(|error| SetupError::Bytes(error.to_string()))?;
    desk.seats = setup.seats;
    desk.missed = if terms.hours == 0 { desk::Missed::Wait } else { terms.missed };
    desk.default = terms.default;
    desk.between = terms.between;
    Ok(desk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sv_46_keys_read_back_and_have_one_spelling() {
        for key in
            [HostedKey::Between { after: 0 }, HostedKey::Missed { seat: Seat::P2, misses: 3, after: 12 }]
        {
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        for text in ["between", "between:01", "missed:p2:1", "missed:p17:1:2", "host/between:1", "turn:1:p2"]
        {
            assert!(text.parse::<HostedKey>().is_err(), "{text}");
        }
    }

    #[test]
    fn sv_45_the_accord_has_a_name_of_its_own() {
        let name = MatchAccord::name_of(&"duel".parse().unwrap()).unwrap();
        assert_eq!(name.as_str(), "duel.accord");
        assert_eq!(MatchAccord::game_of(&name).unwrap().as_str(), "duel");
        assert!(MatchAccord::name_of(&"a".repeat(57).parse().unwrap()).is_ok());
        assert!(MatchAccord::name_of(&"a".repeat(58).parse().unwrap()).is_err());
    }
}
