//! `turnfold rename`: another name for a match.

use serde::Serialize;
use turnfold_replay::history::revision::new_match_name;
use turnfold_replay::mail::DeskOf;
use turnfold_store::MatchName;

use super::mail::desk_going_along;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, plain, strong};

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
struct Renamed<'a> {
    #[serde(rename = "match")]
    match_name: &'a str,
    renamed_from: &'a str,
}

impl Report for Renamed<'_> {
    fn lines(&self) -> Vec<Line> {
        vec![Line::from([plain(format_args!("renamed {} to ", self.renamed_from)), strong(self.match_name)])]
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, new } = args;
    let store = context.open_store()?;
    let mut names = vec![(match_name.clone(), new.clone())];
    // Its desk is found by the name that goes with that of the match (PM-1), so both change in one commit.
    if let Some(desk) = desk_going_along(&store, match_name, "rename")? {
        names.push((desk, DeskOf::name_of(new).map_err(|error| Failure::usage(error.0))?));
    }
    store.rename_matches(&names)?;
    drop(store);
    context.output.report(&Renamed { match_name: new.as_str(), renamed_from: match_name.as_str() })?;
    Ok(ExitStatus::Yes)
}
