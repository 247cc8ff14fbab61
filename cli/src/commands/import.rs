//! `turnfold import`: a match from a replay file, or matches from a bundle.

mod bundle;

use std::path::PathBuf;

use turnfold_replay::bundle::is_bundle;
use turnfold_replay::bundle_import::ImportNames;
use turnfold_replay::{Imported, Sources, revision::new_match_name};
use turnfold_store::{BranchName, MatchName};

use super::new::{Game, genesis};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Tone, counted, paint};

/// Create a match from a replay file, or take in a bundle
///
/// Where the file tells outcomes and hashes they must be right, and its header the one that was blessed; otherwise
/// nothing is imported. The match keeps all that the file tells. Its id, its times and so the links of its chain are
/// new: a replay file does not tell them.
///
/// A bundle keeps them: a match that the store does not have is made as it is, one that it has goes on where the bundle's
/// branches continue the stored ones. Where they part nothing is imported, and the first entry is named; `--branch` takes
/// such a branch in under another name. Nothing is imported whose chain or rules are wrong. Signatures are not asked for:
/// that is what `turnfold audit` does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold import duel.tfl --name again\n  turnfold import duel.bundle")]
pub(crate) struct Args {
    /// The replay file, a page that holds one, or a bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Name of the match [default: the file's name without `.tfl` or `.html`]
    #[arg(long, value_name = "MATCH", value_parser = new_match_name)]
    name: Option<MatchName>,

    /// Name of the branch that a branch of a bundle becomes where it parts from the stored one
    #[arg(long, value_name = "BRANCH")]
    branch: Option<BranchName>,
}

/// What a file does not tell, so that the match has its own.
const NEW: [&str; 3] = ["id", "times", "links"];

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if is_bundle(&args.file) {
        let names = ImportNames { match_name: args.name.clone(), branch: args.branch.clone() };
        return bundle::import(&args.file, &names, context);
    }
    if args.branch.is_some() {
        return Err(
            Failure::usage("`--branch` is for bundles, and this is a replay file").hint("leave it out")
        );
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => name_of(&args.file)?,
    };
    let replay = context.read_replay(&args.file)?.whole()?;
    let imported = Imported::of(&replay, clock::now_ms()?);
    let imported = imported.map_err(|error| Failure::undone(error, "nothing was imported"))?;
    let Imported { rules, setup, dice, title, entries, state, passed } = imported;
    let count = entries.len() as u64;
    let genesis = genesis(Game { rules, setup, dice }, title)?;
    let store = context.open_or_create_store()?;
    store.create_match(&name, &genesis, entries)?;
    passed.keep(&name, context, &store);
    drop(store);
    if context.output.is_json() {
        let hash = state.state_hash().to_string();
        context.output.json(
            &serde_json::json!({ "match": name.as_str(), "entries": count, "state_hash": hash, "new": NEW }),
        )?;
        return Ok(ExitStatus::Yes);
    }
    let entries = counted(count, "entry", "entries");
    let hash = paint(Tone::Dim, format_args!("#{:.16}", state.state_hash()));
    let title = paint(Tone::Strong, &name);
    let output = &mut context.output;
    output.line(format_args!("imported match {title} from `{}`: {entries} {hash}", args.file.display()))?;
    output.line("its id, times and links are new, as a replay file tells none")?;
    Ok(ExitStatus::Yes)
}

fn name_of(file: &std::path::Path) -> Result<MatchName, Failure> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    new_match_name(&stem).map_err(|error| {
        Failure::usage(format!("no match can be named after the file: {error}"))
            .hint("give one with `--name`")
    })
}
