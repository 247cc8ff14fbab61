//! `turnfold branches`: the branches of a match.

use turnfold_replay::Sources;
use turnfold_replay::render::{ListedBranch, branches::lines};
use turnfold_store::MatchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::remote::{client::ServiceRequest, pages};

/// List the branches of a match
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold branches duel")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(client) = context.service()? {
        let path = format!("/v1/matches/{}/branches", args.match_name);
        let asked = ServiceRequest { path, query: Vec::new(), format: context.output.format() };
        pages::print_page(&client.get(&asked)?, &mut context.output)?;
        return Ok(ExitStatus::Yes);
    }
    let branches = context.read_store()?.branches(&args.match_name)?;
    let branches: Vec<_> = branches.into_iter().map(ListedBranch::from).collect();
    context.output.list(&branches, lines)?;
    Ok(ExitStatus::Yes)
}
