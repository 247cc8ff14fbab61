//! `turnfold delete`: deletes a match.

use std::fmt::Display;

use serde::Serialize;
use turnfold_history::Sources;
use turnfold_store::{MatchName, StoreReader};

use super::mail::{accord_going_along, desk_going_along};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{counted, plain, strong};

/// Delete a match with all its branches
///
/// Asks for confirmation on a terminal; elsewhere, `--force` is required. Only a backup or a replay file made before can
/// bring the match back. The desk of a match by mail and the terms of a match are deleted too. Exits with 1 if the answer is
/// no. Use `branch --delete` to delete a branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold delete duel\n  turnfold delete --force duel")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// Delete without asking
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Whole {
    #[serde(rename = "match")]
    match_name: MatchName,
    branches: u64,
    entries: u64,
    /// Its desk, if the match is played by mail (PM-1).
    desk: Option<MatchName>,
    /// The match that holds its terms, if there are any (SV-45).
    #[serde(skip)]
    accord: Option<MatchName>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Args { match_name, force } = args;
    if !force {
        require_attended(format_args!("match `{match_name}`"), context)?;
        let whole = Whole::of(match_name, &context.read_store()?)?;
        if !is_confirmed(match_name, whole, context)? {
            return Ok(ExitStatus::No);
        }
    }
    let store = context.open_store()?;
    let whole = Whole::of(match_name, &store)?;
    // In one commit, because neither a match by mail nor its desk is of use without the other.
    let names: Vec<_> = [match_name].into_iter().chain(&whole.desk).chain(&whole.accord).cloned().collect();
    store.delete_matches(&names)?;
    drop(store);
    let deleted = || [plain("deleted "), strong(match_name), plain(format_args!(" with {whole}"))].into();
    context.output.answer(&whole, || vec![deleted()])
}

pub(super) fn require_attended(what: impl Display, context: &Context) -> Result<(), Failure> {
    if context.output.is_attended() {
        return Ok(());
    }
    let refused = Failure::usage("cannot ask for confirmation because this is not a terminal");
    Err(refused.hint(format!("use `--force` to delete {what}")))
}

pub(super) fn is_confirmed(
    name: impl Display,
    with: impl Display,
    context: &mut Context,
) -> Result<bool, Failure> {
    let question = format!("delete {name} with {with} [y,n]?");
    let is_yes = context.output.ask(&question, &["y", "n"], "y: delete it, n: keep it\n")? == "y";
    if !is_yes {
        context.output.line(format_args!("{name} is kept"))?;
    }
    Ok(is_yes)
}

impl Whole {
    fn of(match_name: &MatchName, store: &StoreReader) -> Result<Self, Failure> {
        let desk = desk_going_along(store, match_name, "delete")?;
        let accord = accord_going_along(store, match_name, "delete")?;
        let branches = store.branches(match_name)?;
        let own = branches.iter().map(|branch| {
            let forked_at = branch.parent.as_ref().map_or(0, |(_, at)| *at);
            branch.head.saturating_sub(forked_at)
        });
        let branches = branches.len() as u64;
        Ok(Self { match_name: match_name.clone(), branches, entries: own.sum(), desk, accord })
    }
}

impl Display for Whole {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let branches = counted(self.branches, "branch", "branches");
        write!(out, "{branches} and {}", counted(self.entries, "entry", "entries"))?;
        self.desk.as_ref().map_or(Ok(()), |desk| write!(out, ", and its desk {desk}"))?;
        if self.accord.is_some() { write!(out, ", and its terms") } else { Ok(()) }
    }
}
