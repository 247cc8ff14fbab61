//! `turnfold sign`: checkpoints of lines (TR-11 to TR-16).

use std::path::PathBuf;

use serde::Serialize;
use turnfold_core::trust::SignatureLine;
use turnfold_replay::bundle::{StoreRecords, write_checkpoints};
use turnfold_replay::limits::NOTE;
use turnfold_replay::signing::{SignedLine, Signers, sign_lines};
use turnfold_replay::{Revision, Sources};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{self, NewFile};
use crate::output::counted;

/// Sign which entries a branch has
///
/// A checkpoint commits to every record of a branch up to its head, or to an entry. Whoever keeps it can tell later that
/// the branch was cut, changed or exchanged. Without REV every branch of every match is signed, into one bundle that
/// holds nothing else; so are several.
///
/// What a key has signed is remembered beside it, in FILE.seen. When a branch is shorter than that, or another one, as
/// after a restore of an older backup, nothing is signed, and nothing overrides that: `turnfold import` of a bundle made
/// since goes on, or a key of another name begins anew. Exits with 1 then.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold sign duel --key ann.key -o duel.checkpoint
  turnfold sign duel --key ann.key --since 5 -o duel.request
  turnfold sign duel --key ann.key --add cosignatures
  turnfold sign --key ann.key -o all.bundle")]
pub(crate) struct Args {
    /// The branches, up to their heads or to an entry; all there are, if none is named
    #[arg(value_name = "REV")]
    revisions: Vec<Revision>,

    /// The key, or several of one name that sign together
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY", required = true)]
    key: Vec<PathBuf>,

    /// Write the proof that the branch goes on from its first SIZE records too, as a witness wants it
    #[arg(long, value_name = "SIZE", conflicts_with = "add")]
    since: Option<u64>,

    /// Put the cosignatures in a file below the checkpoint that was signed last, instead of signing another
    #[arg(long, value_name = "FILE")]
    add: Vec<PathBuf>,

    #[command(flatten)]
    output: NewFile,
}

#[derive(Serialize)]
struct SignJson {
    file: Option<String>,
    checkpoints: Vec<CheckpointJson>,
}

#[derive(Serialize)]
struct CheckpointJson {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    seq: u64,
    size: u64,
    origin: String,
    root: String,
    note: String,
    request: Option<String>,
}

impl From<&SignedLine> for CheckpointJson {
    fn from(line: &SignedLine) -> Self {
        let SignedLine { revision, checkpoint, note, request } = line;
        Self {
            match_name: revision.match_name.to_string(),
            branch: revision.branch.to_string(),
            seq: checkpoint.size.saturating_sub(1),
            size: checkpoint.size,
            origin: checkpoint.origin.clone(),
            root: checkpoint.root.to_string(),
            note: note.to_string(),
            request: request.as_ref().map(ToString::to_string),
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let path = args.output.path()?;
    if args.revisions.len() != 1 && (args.since.is_some() || !args.add.is_empty()) {
        return Err(Failure::usage("`--since` and `--add` are for one branch").hint("name it"));
    }
    let cosignatures = read_cosignatures(&args.add)?;
    let store = context.read_store()?;
    let signers = Signers::open(&args.key)?;
    let signed = if args.revisions.is_empty() {
        sign_lines(&StoreRecords::of_all(&store)?, &signers)?
    } else {
        let signed = args.revisions.iter().map(|line| {
            if cosignatures.is_empty() {
                signers.sign(&store, line, args.since)
            } else {
                signers.add(&store, line, &cosignatures)
            }
        });
        signed.collect::<Result<Vec<SignedLine>, _>>()?
    };
    let text = match signed.as_slice() {
        [SignedLine { request: Some(request), .. }] => request.to_string(),
        [one] if !args.revisions.is_empty() => one.note.to_string(),
        many => {
            let mut bundle = Vec::new();
            write_checkpoints(&mut bundle, many.iter().map(|line| line.note.clone()).collect())?;
            String::from_utf8_lossy(&bundle).into_owned()
        }
    };
    if let Some(path) = path {
        files::write_whole(path, text.as_bytes())?;
    }
    let output = &mut context.output;
    let file = path.map(|path| path.display().to_string());
    match &file {
        _ if output.is_json() => {
            output
                .json(&SignJson { file, checkpoints: signed.iter().map(CheckpointJson::from).collect() })?;
        }
        None => output.document(&text)?,
        Some(file) => {
            let count = counted(signed.len() as u64, "line", "lines");
            match signed.as_slice() {
                [SignedLine { revision, checkpoint, .. }] => {
                    let size = counted(checkpoint.size, "record", "records");
                    output.line(format_args!("signed {revision} to `{file}`: {size}"))?;
                }
                _ => output.line(format_args!("signed {count} to `{file}`"))?,
            }
        }
    }
    Ok(ExitStatus::Yes)
}

/// Reads files of cosignatures, one a line, as witnesses print them.
fn read_cosignatures(paths: &[PathBuf]) -> Result<Vec<SignatureLine>, Failure> {
    let mut lines = Vec::new();
    for path in paths {
        let bytes = files::read_input_or_stdin(path, &NOTE)?;
        for line in String::from_utf8_lossy(&bytes).lines() {
            let read = line.parse::<SignatureLine>().ok().filter(|line| line.cosignature().is_some());
            lines.push(read.ok_or_else(|| {
                Failure::usage(format!("`{}` holds a line that is no cosignature", path.display()))
                    .hint("`turnfold cosign` and other witnesses print such lines")
            })?);
        }
        if lines.is_empty() {
            return Err(Failure::usage(format!("`{}` holds no cosignature", path.display())));
        }
    }
    Ok(lines)
}
