//! `turnfold mail`: hosts and plays matches by mail.

mod host;
mod open;
mod post;
mod run;
mod take;
mod write;

use turnfold_mail::{MatchAccord, desk_naming};
use turnfold_store::{BranchName, MatchName, StoreError, StoreReader};

use crate::failure::Failure;

verbs! {
    /// Host and play matches by mail: papers, deadlines and letters
    ///
    /// A match by mail consists of a game and its desk, a match NAME.desk with the players' signed papers, the host's clock and
    /// all decisions. turnfold sends and receives no mail: the host saves mails as files, `mail take` records their papers, `mail
    /// run` executes a turn that is ready, and letters to the players wait in the outbox. A player saves the bundle attached to
    /// a letter, and `mail write` makes a paper from it to send back.
    #[command(after_help = "Example: turnfold mail run duel --key ann.key")]
    MailCommand {
        Open(open::Args) => open::run,
        Take(take::Args) => take::run,
        Run(run::Args) => run::run,
        Status(run::StatusArgs) => run::status,
        Replace(host::ReplaceArgs) => host::replace,
        Recover(host::RecoverArgs) => host::recover,
        Broadcast(host::BroadcastArgs) => host::broadcast,
        Write(write::Args) => write::run,
    }
}

/// Returns the desk of a match by mail, which is found by the match's name (PM-1), and refuses to act on the desk
/// alone. The match could not continue without its desk, or if the desk had another name. `verb` names the action in
/// the error.
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

/// Returns the match that holds the terms of a match, and refuses to act on the terms alone, as [`desk_going_along`]
/// does for desks (SV-45).
pub(crate) fn accord_going_along(
    store: &StoreReader,
    match_name: &MatchName,
    verb: &str,
) -> Result<Option<MatchName>, Failure> {
    if let Some(game) = MatchAccord::game_of(match_name)
        && accord_of(store, &game)?.as_ref() == Some(match_name)
    {
        let failure = Failure::usage(format!("`{match_name}` holds the terms of `{game}`"));
        return Err(failure.hint(format!("{verb} the match; its terms go with it")));
    }
    accord_of(store, match_name)
}

fn accord_of(store: &StoreReader, name: &MatchName) -> Result<Option<MatchName>, Failure> {
    match store.genesis(name) {
        Err(StoreError::NoSuchMatch { .. }) => Ok(None),
        found => Ok(MatchAccord::find(store, name, &found?)?.map(|accord| accord.name)),
    }
}
