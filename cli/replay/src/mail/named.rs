//! Lines that are played by mail, on which nothing else may be put (PM-2).

use turnfold_core::Rules;
use turnfold_core::decode::decode_strictly;
use turnfold_core::rules::desk::{Command, Desk};
use turnfold_store::{BranchName, MatchName, StoreError, StoreReader};

use super::keys::DeskOf;

/// Returns the desk of a match, if it names this line of it: `main`, and each on which a turn began. One entry more
/// there, without the key that an order or a turn gives it, would spoil the match for good.
///
/// # Errors
/// What is wrong with the store. A match that is not there has no desk.
pub fn desk_naming(
    store: &StoreReader,
    match_name: &MatchName,
    branch: &BranchName,
) -> Result<Option<MatchName>, StoreError> {
    let genesis_of = |name: &MatchName| match store.genesis(name) {
        Err(StoreError::NoSuchMatch { .. }) => Ok(None),
        genesis => genesis.map(Some),
    };
    // Most matches have none, so that is asked first.
    let Ok(name) = DeskOf::name_of(match_name) else { return Ok(None) };
    let Some(desk) = genesis_of(&name)?.filter(|desk| desk.ruleset == Desk::NAME) else { return Ok(None) };
    let Some(game) = genesis_of(match_name)? else { return Ok(None) };
    let is_its_own = DeskOf::game(match_name, &game.match_id).is_ok_and(|own| own.match_id == desk.match_id);
    if !is_its_own || !branch.is_main() && !begins_turns(store, &name, branch)? {
        return Ok(None);
    }
    Ok(Some(name))
}

/// Returns `true` if a turn began on this line.
fn begins_turns(store: &StoreReader, desk: &MatchName, branch: &BranchName) -> Result<bool, StoreError> {
    let log = store.read(desk, &BranchName::main(), None)?;
    let begins = log.entries.iter().any(|entry| match decode_strictly(&entry.command) {
        Ok(Command::Stand { line, .. }) => line.as_str() == branch.as_str(),
        _ => false,
    });
    Ok(begins)
}
