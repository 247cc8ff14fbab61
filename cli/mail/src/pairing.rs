//! A game and its desk: names, ids, terms, and the idempotency keys of the game's entries (PM-1, PM-2).

use std::fmt;
use std::sync::Arc;

use turnfold_core::decode::decode_strictly;
use turnfold_core::dice::fair::{Chain, Owner};
use turnfold_core::paper::MatchId;
use turnfold_core::rules::desk::{self, Command, Desk};
use turnfold_core::text::Malformed;
use turnfold_core::trust::PrivateKey;
use turnfold_core::{AnyRules, Digest, Registry, Rules, Seat};
use turnfold_history::session::NotPlayed;
use turnfold_history::{ReplayError, Revision, SourceName, rules_of};
use turnfold_proof::bundle::{NONCE, NONCE_DIGITS, without_nonce};
use turnfold_store::{BranchName, Genesis, MatchName, StoreError, StoreReader};

use crate::error::MailError;

const DESK: &str = ".desk";

/// The desk of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskOf {
    /// Its name.
    pub name: MatchName,
    /// The id of its match.
    pub match_id: [u8; 16],
}

impl DeskOf {
    /// Returns the desk of the game with this name and match id (PM-1).
    pub(crate) fn game(name: &MatchName, match_id: &[u8; 16]) -> Result<Self, Malformed> {
        let desk = Self::name_of(name)?;
        let hash = blake3::derive_key("turnfold v1 desk", match_id);
        let [match_id, _] = hash.as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
        Ok(Self { name: desk, match_id: *match_id })
    }

    /// Returns the name of a game's desk (PM-1).
    ///
    /// # Errors
    /// [`Malformed`] when the name has more than 59 characters.
    pub fn name_of(name: &MatchName) -> Result<MatchName, Malformed> {
        format!("{name}{DESK}").parse().map_err(|_| {
            Malformed::expected("the name of a match by mail, of at most 59 characters", name.as_str())
        })
    }

    /// Returns the name of the game that a desk belongs to; `None` if the name is not a desk's.
    #[must_use]
    pub fn game_of(desk: &MatchName) -> Option<MatchName> {
        desk.as_str().strip_suffix(DESK)?.parse().ok()
    }
}

/// The idempotency key of an entry of a game by mail, which names the cause of the entry (PM-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKey {
    /// A command of an order, or a roll that it made due.
    Order {
        /// The tag of the paper.
        tag: Digest,
        /// The turn.
        turn: u32,
    },
    /// Played by default: for a seat that missed a deadline, or after an incomplete order (PM-80).
    Missed {
        /// The turn.
        turn: u32,
        /// The player's seat.
        seat: Seat,
    },
    /// The host's own, or played by default for a gone seat.
    Host {
        /// The turn; 0 before the first.
        turn: u32,
    },
}

impl TurnKey {
    /// Returns the key of an append with a roll that only one seat learns. Its nonce follows from the host's signing
    /// key, so that no one else can guess the few values of the roll from the hash of its record (PM-5).
    pub(super) fn with_nonce(&self, signing: &PrivateKey, match_id: [u8; 16], branch: &str) -> String {
        // A match with recorded dice opens no element of this chain.
        let secret = signing.dice_chain(Owner { match_id, party: Seat::Host }).element(Chain::LAST);
        let mut nonce = blake3::Hasher::new_derive_key("turnfold v1 roll nonce");
        nonce.update(secret.as_bytes()).update(format!("{branch} {self}").as_bytes());
        format!("{self}{NONCE}{:.*}", NONCE_DIGITS, nonce.finalize().to_hex().as_str())
    }

    pub(crate) fn is(&self, found: &str) -> bool {
        without_nonce(found).unwrap_or(found) == self.to_string()
    }
}

impl fmt::Display for TurnKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { tag, turn } => write!(out, "order:{tag}:{turn}"),
            Self::Missed { turn, seat } => write!(out, "turn:{turn}:{seat}"),
            Self::Host { turn } => write!(out, "turn:{turn}:{}", Seat::Host),
        }
    }
}

/// A match that is played by mail.
pub struct MailMatch {
    /// The name of the game.
    pub name: MatchName,
    /// How the game begins.
    pub genesis: Genesis,
    /// The rules of the game.
    pub rules: Arc<dyn AnyRules>,
    /// The name of the desk.
    pub desk: MatchName,
    /// The terms of play.
    pub terms: desk::Setup,
}

impl MailMatch {
    /// Finds a match and its desk in a store.
    ///
    /// # Errors
    /// [`MailError::Unusable`] for a match without a desk, [`MailError::Refused`] for one whose desk belongs to another
    /// match, and every error of reading.
    pub fn find(store: &StoreReader, name: &MatchName, registry: &Registry) -> Result<Self, MailError> {
        let genesis = store.genesis(name)?;
        let desk = DeskOf::game(name, &genesis.match_id)?;
        let Some(desk_genesis) = genesis_of(store, &desk.name)? else {
            let desk = desk.name;
            let message = format!("`{name}` is not played by mail: there is no match `{desk}`");
            return Err(MailError::Unusable(message));
        };
        let rules = rules_of(&genesis, &main_of(name), registry)?;
        let other = format!("`{}` is the desk of another match than `{name}`", desk.name);
        if desk_genesis.ruleset != Desk::NAME || desk_genesis.match_id != desk.match_id {
            return Err(MailError::Refused(other));
        }
        let main = main_of(&desk.name);
        rules_of(&desk_genesis, &main, registry)?;
        let terms =
            desk::Setup::decode(desk_genesis.ruleset_version, &desk_genesis.setup).map_err(|error| {
                let cause = turnfold_core::SetupError::Bytes(error.to_string());
                ReplayError::Setup(SourceName::Revision(main), cause)
            })?;
        let match_id = MatchId::new(genesis.match_id);
        if terms.match_id != match_id.to_string() || terms.game != genesis.link().to_string() {
            return Err(MailError::Refused(other));
        }
        Ok(Self { name: name.clone(), genesis, rules, desk: desk.name, terms })
    }

    /// Returns a branch of the game.
    #[must_use]
    pub fn revision(&self, branch: &BranchName) -> Revision {
        Revision { match_name: self.name.clone(), branch: branch.clone(), seq: None }
    }

    /// Returns the branch of the desk.
    #[must_use]
    pub fn desk_branch(&self) -> Revision {
        main_of(&self.desk)
    }
}

fn main_of(name: &MatchName) -> Revision {
    Revision { match_name: name.clone(), branch: BranchName::main(), seq: None }
}

/// Returns the desk of a match, if it names this branch: `main`, or a branch on which a turn began. Another entry
/// there, without the idempotency key of an order or a turn, would spoil the match for good (PM-2).
///
/// # Errors
/// Errors of the store. A match that does not exist has no desk.
pub fn desk_naming(
    store: &StoreReader,
    match_name: &MatchName,
    branch: &BranchName,
) -> Result<Option<MatchName>, StoreError> {
    // Most matches have no desk, so look for one first.
    let Ok(name) = DeskOf::name_of(match_name) else { return Ok(None) };
    let Some(desk) = genesis_of(store, &name)? else { return Ok(None) };
    if desk.ruleset != Desk::NAME {
        return Ok(None);
    }
    let Some(game) = genesis_of(store, match_name)? else { return Ok(None) };
    let is_its_own = DeskOf::game(match_name, &game.match_id).is_ok_and(|own| own.match_id == desk.match_id);
    if !is_its_own || !branch.is_main() && !branches_of_turns(store, &name)?.contains(branch) {
        return Ok(None);
    }
    Ok(Some(name))
}

pub(crate) fn genesis_of(store: &StoreReader, name: &MatchName) -> Result<Option<Genesis>, StoreError> {
    match store.genesis(name) {
        Err(StoreError::NoSuchMatch { .. }) => Ok(None),
        genesis => Ok(Some(genesis?)),
    }
}

/// PM-2: requires a branch that no desk names, because others take commands only by mail. The inner error names the
/// desk.
///
/// # Errors
/// Errors of the store.
pub fn require_not_by_mail(
    store: &StoreReader,
    revision: &Revision,
) -> Result<Result<(), NotPlayed>, StoreError> {
    let desk = desk_naming(store, &revision.match_name, &revision.branch)?;
    let revision = Revision { seq: None, ..revision.clone() };
    Ok(if let Some(desk) = desk { Err(NotPlayed::ByMail { revision, desk }) } else { Ok(()) })
}

pub(crate) fn branches_of_turns(
    store: &StoreReader,
    desk: &MatchName,
) -> Result<Vec<BranchName>, StoreError> {
    let mut branches = Vec::new();
    for entry in store.read(desk, &BranchName::main(), None)?.entries {
        if let Ok(Command::Stand { branch, .. }) = decode_strictly(&entry.command) {
            branches.push(branch);
        }
    }
    Ok(branches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pm_1_the_desk_has_a_name_and_an_id_of_its_own() {
        let desk = DeskOf::game(&"duel".parse().unwrap(), &[7; 16]).unwrap();
        assert_eq!(desk.name.as_str(), "duel.desk");
        assert_eq!(desk.match_id[..], blake3::derive_key("turnfold v1 desk", &[7; 16])[..16]);
        assert!(DeskOf::game(&"a".repeat(59).parse().unwrap(), &[7; 16]).is_ok());
        assert!(DeskOf::game(&"a".repeat(60).parse().unwrap(), &[7; 16]).is_err());
    }

    #[test]
    fn pm_2_keys_have_one_spelling() {
        let order = TurnKey::Order { tag: Digest::new([9; 32]), turn: 12 };
        assert_eq!(order.to_string(), format!("order:{}:12", "09".repeat(32)));
        assert_eq!(TurnKey::Missed { turn: 1, seat: Seat::P2 }.to_string(), "turn:1:p2");
        assert_eq!(TurnKey::Host { turn: 3 }.to_string(), "turn:3:host");
        let host = TurnKey::Host { turn: 3 };
        let nonce = format!("{host}:nonce:{}", "0f".repeat(16));
        assert!(host.is("turn:3:host") && host.is(&nonce) && without_nonce("turn:3:host").is_none());
        for other in ["turn:3:host:nonce:0f", "turn:3:p1", &nonce.replace('f', "F"), &nonce.replace('3', "4")]
        {
            assert!(!host.is(other), "{other}");
        }
    }
}
