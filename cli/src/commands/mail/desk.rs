//! The desk of a match by mail, where a verb is about the match as a whole.

use turnfold_replay::mail::desk_naming;
use turnfold_store::{BranchName, MatchName, StoreReader};

use crate::failure::Failure;

/// Returns the desk that goes with a match by mail, by whose name it is found (PM-1), and refuses a desk alone: without it,
/// or under another name, the match could not continue. `verb` is what is to be done to the match.
pub(crate) fn desk_going_along(
    store: &StoreReader,
    match_name: &MatchName,
    verb: &str,
) -> Result<Option<MatchName>, Failure> {
    let main = BranchName::main();
    if let Some(game) = match_name.as_str().strip_suffix(".desk").and_then(|game| game.parse().ok())
        && desk_naming(store, &game, &main)?.as_ref() == Some(match_name)
    {
        let failure = Failure::usage(format!("`{match_name}` is the desk of `{game}`"));
        return Err(failure.hint(format!("{verb} the match; its desk goes with it")));
    }
    Ok(desk_naming(store, match_name, &main)?)
}
