//! `turnfold store heads`: lists where every branch ends, to compare with the store later.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;
use turnfold_history::{Sources, input};
use turnfold_store::{BranchName, Damage, MatchName, Seq, StoreError, StoreReader};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;
use crate::output::counted;

/// List the last entry of every branch and the link after it
///
/// Writes a line of JSON for each branch. Keep the file elsewhere: with it, `turnfold store check --against FILE` finds
/// what a store has lost by a rollback, even if the store itself is sound.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store heads -o heads.jsonl")]
pub(crate) struct Args {
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

/// The end of a branch: its last entry and the link after it. The JSON form is stable.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchHead {
    #[serde(rename = "match")]
    match_name: MatchName,
    branch: BranchName,
    head: Seq,
    link: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(path) = &args.output {
        files::check_new(path, args.force)?;
    }
    let heads = heads(&context.read_store()?)?;
    let Some(path) = &args.output else {
        for head in &heads {
            context.output.json(head)?;
        }
        return Ok(ExitStatus::Yes);
    };
    files::write_private(path, args.force, |file| {
        for head in &heads {
            writeln!(file, "{}", serde_json::to_string(head).map_err(io::Error::other)?)?;
        }
        Ok(())
    })?;
    let count = counted(heads.len() as u64, "branch", "branches");
    let written = serde_json::json!({ "branches": heads.len() });
    context.output.answer(&written, || vec![format!("listed the ends of {count}").into()])
}

fn not_a_list(path: &Path, reason: &str) -> Failure {
    Failure::usage(format!("`{}` is not a list of heads: {reason}", path.display()))
        .hint("`turnfold store heads -o FILE` writes one")
}

fn heads(store: &StoreReader) -> Result<Vec<BranchHead>, Failure> {
    let mut heads = Vec::new();
    for info in store.matches_after(None)? {
        let match_name = info?.name;
        let branches = match store.branches(&match_name) {
            // The match was deleted after the list was read.
            Err(StoreError::NoSuchMatch { .. }) => continue,
            branches => branches?,
        };
        for found in branches {
            heads.push(BranchHead {
                match_name: match_name.clone(),
                branch: found.name,
                head: found.head,
                link: found.head_link.to_string(),
            });
        }
    }
    Ok(heads)
}

/// Returns the entries of a file of `store heads` that the store lacks, as damage.
pub(super) fn missing(path: &Path, store: &StoreReader) -> Result<Vec<Damage>, Failure> {
    let text = io::read_to_string(input::open(path, "list of heads")?);
    let text = text.map_err(|error| not_a_list(path, &error.to_string()))?;
    let mut damage = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let malformed = |error: &dyn fmt::Display| not_a_list(path, &format!("line {}: {error}", index + 1));
        let BranchHead { match_name, branch, head, link } =
            serde_json::from_str(line).map_err(|error| malformed(&error))?;
        let link: Digest = link.parse().map_err(|error| malformed(&error))?;
        let reason = match store.links(&match_name, &branch, head..=head) {
            Ok(links) if links.last() == Some(&link) => continue,
            Ok(_) => "it differs from the one in the list".to_owned(),
            Err(StoreError::NoSuchSeq { head, .. }) => format!("it is missing: the branch ends at {head}"),
            Err(error @ (StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. })) => {
                error.to_string()
            }
            Err(error) => return Err(error.into()),
        };
        damage.push(Damage { match_name: Some(match_name), branch: Some(branch), seq: Some(head), reason });
    }
    Ok(damage)
}
