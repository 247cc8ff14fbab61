//! `turnfold rename`: gives a match another name.

use serde_json::json;
use turnfold_history::Revision;
use turnfold_mail::{DeskOf, MatchAccord};
use turnfold_store::MatchName;

use super::mail::{accord_going_along, desk_going_along};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{plain, strong};

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
    #[arg(value_name = "NEW", value_parser = Revision::new_match_name)]
    new: MatchName,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, new } = args;
    let store = context.open_store()?;
    let mut names = vec![(match_name.clone(), new.clone())];
    // A desk is found by the name of its match (PM-1), so both names change in one commit.
    if let Some(desk) = desk_going_along(&store, match_name, "rename")? {
        names.push((desk, DeskOf::name_of(new).map_err(|error| Failure::usage(error.0))?));
    }
    if let Some(accord) = accord_going_along(&store, match_name, "rename")? {
        names.push((accord, MatchAccord::name_of(new).map_err(|error| Failure::usage(error.0))?));
    }
    store.rename_matches(&names)?;
    drop(store);
    let renamed = json!({ "match": new.as_str(), "renamed_from": match_name.as_str() });
    let line = || [plain(format_args!("renamed {match_name} to ")), strong(new)].into();
    context.output.answer(&renamed, || vec![line()])
}
