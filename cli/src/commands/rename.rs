//! `turnfold rename`: another name for a match.

use serde::Serialize;
use turnfold_replay::mail::DeskOf;
use turnfold_replay::revision::new_match_name;
use turnfold_store::{MatchName, Store, StoreError};

use super::mail::desk_going_along;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, paint};

/// Give a match another name
///
/// Its branches and entries stay as they are. The desk of a match by mail gets the name that goes with it. A branch is
/// renamed with `branch --rename`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold rename duel final")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// Its new name
    #[arg(value_name = "NEW", value_parser = new_match_name)]
    new: MatchName,
}

#[derive(Serialize)]
struct RenameJson<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    renamed_from: &'a str,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, new } = args;
    let store = context.open_store()?;
    rename_desk(&store, match_name, new)?;
    store.rename_match(match_name, new)?;
    drop(store);
    if context.output.is_json() {
        context.output.json(&RenameJson { match_name: new.as_str(), renamed_from: match_name.as_str() })?;
    } else {
        context.output.line(format_args!("renamed {match_name} to {}", paint(Tone::Strong, new)))?;
    }
    Ok(ExitStatus::Yes)
}

/// Gives the desk of a match by mail the name that goes with the new one, by which it is found (PM-1). If that is all that
/// was done before the process ended, the same call again does the rest.
fn rename_desk(store: &Store, match_name: &MatchName, new: &MatchName) -> Result<(), Failure> {
    let Some(desk) = desk_going_along(store, match_name, "rename")? else { return Ok(()) };
    let new_desk = DeskOf::name_of(new).map_err(|error| Failure::usage(error.0))?;
    match store.genesis(new) {
        Err(StoreError::NoSuchMatch { .. }) => Ok(store.rename_match(&desk, &new_desk)?),
        Err(error) => Err(error.into()),
        Ok(_) => Err(StoreError::AlreadyExists { match_name: new.clone() }.into()),
    }
}
