//! `turnfold import`: a match from a replay file, or matches from a bundle.

mod bundle;

use std::path::PathBuf;

use serde::Serialize;
use turnfold_core::Digest;
use turnfold_replay::bundle::import::ImportNames;
use turnfold_replay::bundle::is_bundle;
use turnfold_replay::{Imported, Sources, history::revision::new_match_name};
use turnfold_store::{BranchName, MatchName};

use super::new::{Game, genesis};
use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, Report, counted, dim, plain, strong};

/// Import a match from a replay file, or matches from a bundle
///
/// Recorded outcomes, hashes and the blessed header must match what the rules compute; otherwise nothing is imported. The
/// match has everything that the file records. Its id, its times and so its links are new, because a replay file does not
/// record them.
///
/// A bundle keeps id, times and links. A new match is created; an existing match is extended where the bundle continues
/// it. If a branch differs from the stored one, nothing is imported and the first different entry is named; `--branch`
/// imports such a branch under another name. A bundle is refused if its chain or rules are wrong. Signatures are not
/// checked: use `turnfold audit`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold import duel.tfl --name again\n  turnfold import duel.bundle")]
pub(crate) struct Args {
    /// The replay file, a page that holds one, or a bundle
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Name of the match [default: the file's name without `.tfl` or `.html`]
    #[arg(long, value_name = "MATCH", value_parser = new_match_name)]
    name: Option<MatchName>,

    /// Name under which to import the branch of a bundle that differs from the stored one
    #[arg(long, value_name = "BRANCH")]
    branch: Option<BranchName>,
}

/// What a replay file does not record, so that the match has its own.
const NEW: [&str; 3] = ["id", "times", "links"];

/// A match that was made of a replay file.
#[derive(Serialize)]
struct ImportedMatch {
    #[serde(rename = "match")]
    match_name: String,
    entries: u64,
    state_hash: Digest,
    new: [&'static str; 3],
    #[serde(skip)]
    file: String,
}

impl Report for ImportedMatch {
    fn lines(&self) -> Vec<Line> {
        let entries = counted(self.entries, "entry", "entries");
        let hash = dim(format_args!("#{:.16}", self.state_hash));
        let source = plain(format_args!(" from `{}`: {entries} ", self.file));
        vec![
            Line::from([plain("imported match "), strong(&self.match_name), source, hash]),
            "its id, times and links are new, because a replay file does not record them".into(),
        ]
    }
}

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
    context.output.report(&ImportedMatch {
        match_name: name.to_string(),
        entries: count,
        state_hash: state.state_hash(),
        new: NEW,
        file: args.file.display().to_string(),
    })?;
    Ok(ExitStatus::Yes)
}

fn name_of(file: &std::path::Path) -> Result<MatchName, Failure> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    new_match_name(&stem).map_err(|error| {
        Failure::usage(format!("no match can be named after the file: {error}"))
            .hint("give one with `--name`")
    })
}
