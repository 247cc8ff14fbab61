//! `turnfold delete` and `turnfold rename`: delete a match, or give it another name.

use std::fmt::Display;

use serde::Serialize;
use serde_json::json;
use turnfold_history::{Revision, Sources};
use turnfold_mail::{DeskOf, MatchAccord, desk_naming};
use turnfold_store::{BranchName, MatchName, StoreError, StoreReader};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
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
    #[serde(flatten)]
    along: MatchesAlong,
}

/// The matches that are deleted or renamed with a match, in one commit, because each is useless without the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct MatchesAlong {
    /// Its desk, if the match is played by mail. A desk is found by the name of its match (PM-1).
    desk: Option<MatchName>,
    /// The match that holds its terms, if there are any (SV-45).
    #[serde(skip)]
    accord: Option<MatchName>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
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
    let MatchesAlong { desk, accord } = &whole.along;
    let names: Vec<_> = [match_name].into_iter().chain(desk).chain(accord).cloned().collect();
    store.delete_matches(&names)?;
    drop(store);
    context.output.answer(&whole, || {
        vec![[plain("deleted "), strong(match_name), plain(format_args!(" with {whole}"))].into()]
    })
}

pub(super) fn require_attended(what: impl Display, context: &Context) -> Result<()> {
    if context.output.is_attended() {
        return Ok(());
    }
    let refused = Failure::usage("cannot ask for confirmation because this is not a terminal");
    Err(refused.hint(format!("use `--force` to delete {what}")))
}

pub(super) fn is_confirmed(name: impl Display, with: impl Display, context: &mut Context) -> Result<bool> {
    let question = format!("delete {name} with {with} [y,n]?");
    let is_yes = context.output.ask(&question, &["y", "n"], "y: delete it, n: keep it\n")? == "y";
    if !is_yes {
        context.output.line(format!("{name} is kept"))?;
    }
    Ok(is_yes)
}

impl Whole {
    fn of(match_name: &MatchName, store: &StoreReader) -> Result<Self> {
        let along = MatchesAlong::of(match_name, store, "delete")?;
        let branches = store.branches(match_name)?;
        let own = branches.iter().map(|branch| {
            let forked_at = branch.parent.as_ref().map_or(0, |(_, at)| *at);
            branch.head.saturating_sub(forked_at)
        });
        let branches = branches.len() as u64;
        Ok(Self { match_name: match_name.clone(), branches, entries: own.sum(), along })
    }
}

impl Display for Whole {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let branches = counted(self.branches, "branch", "branches");
        write!(out, "{branches} and {}", counted(self.entries, "entry", "entries"))?;
        if let Some(desk) = &self.along.desk {
            write!(out, ", and its desk {desk}")?;
        }
        if self.along.accord.is_some() { write!(out, ", and its terms") } else { Ok(()) }
    }
}

impl MatchesAlong {
    /// Refuses a desk and a match with terms: they go with their match. `verb` names the action in the error.
    fn of(match_name: &MatchName, store: &StoreReader, verb: &str) -> Result<Self> {
        let main = BranchName::main();
        if let Some(game) = DeskOf::game_of(match_name)
            && desk_naming(store, &game, &main)?.as_ref() == Some(match_name)
        {
            let failure = Failure::usage(format!("`{match_name}` is the desk of `{game}`"));
            return Err(failure.hint(format!("{verb} the match; its desk goes with it")));
        }
        let desk = desk_naming(store, match_name, &main)?;
        if let Some(game) = MatchAccord::game_of(match_name)
            && accord_of(&game, store)?.as_ref() == Some(match_name)
        {
            let failure = Failure::usage(format!("`{match_name}` holds the terms of `{game}`"));
            return Err(failure.hint(format!("{verb} the match; its terms go with it")));
        }
        Ok(Self { desk, accord: accord_of(match_name, store)? })
    }
}

fn accord_of(name: &MatchName, store: &StoreReader) -> Result<Option<MatchName>> {
    match store.genesis(name) {
        Err(StoreError::NoSuchMatch { .. }) => Ok(None),
        found => Ok(MatchAccord::find(store, name, &found?)?.map(|accord| accord.name)),
    }
}

/// Give a match another name
///
/// Its branches and entries stay as they are. The desk of a match by mail gets the name that goes with it. A branch is
/// renamed with `branch --rename`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold rename duel final")]
pub(crate) struct RenameArgs {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,

    /// Its new name
    #[arg(value_name = "NEW", value_parser = Revision::new_match_name)]
    new: MatchName,
}

pub(crate) fn rename(args: &RenameArgs, context: &mut Context) -> Result<ExitStatus> {
    let RenameArgs { match_name, new } = args;
    let store = context.open_store()?;
    let MatchesAlong { desk, accord } = MatchesAlong::of(match_name, &store, "rename")?;
    let mut names = vec![(match_name.clone(), new.clone())];
    if let Some(desk) = desk {
        names.push((desk, DeskOf::name_of(new)?));
    }
    if let Some(accord) = accord {
        names.push((accord, MatchAccord::name_of(new)?));
    }
    store.rename_matches(&names)?;
    drop(store);
    let renamed = json!({ "match": new.as_str(), "renamed_from": match_name.as_str() });
    context
        .output
        .answer(&renamed, || vec![[plain(format_args!("renamed {match_name} to ")), strong(new)].into()])
}
