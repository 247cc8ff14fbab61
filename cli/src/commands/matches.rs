//! `turnfold matches`: lists the matches of the store or service.

use turnfold_core::Seat;
use turnfold_store::MatchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Result};

/// List the matches of the store
///
/// Lists matches by name, each with its entries, its branches and the time of its last entry, or of its creation if it has
/// none. `--long` also shows the result of each match, or its turn: the number, where the game counts turns, and which seats
/// have a command that the rules would apply. This folds every match from its last snapshot, so a list of thousands takes
/// longer. It also shows from which version of its ruleset a match was migrated. Use `--after` and `--limit` to read a long
/// list page by page: continue after the last name of a page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold matches --after duel --limit 20\n  turnfold matches --mine p1")]
pub(crate) struct Args {
    /// Begin after this name, even if no match has it
    #[arg(long, value_name = "MATCH")]
    pub(crate) after: Option<MatchName>,

    /// List at most N matches
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Also show whose turn it is, or that the match is over, and where it was migrated from
    #[arg(short, long)]
    pub(crate) long: bool,

    /// List only the matches in which this seat has a command to give, with whose turn it is
    #[arg(long, value_name = "SEAT")]
    pub(crate) mine: Option<Seat>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    workspace.matches()?.list(args, output)?;
    Ok(ExitStatus::Yes)
}
