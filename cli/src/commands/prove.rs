//! `turnfold prove`: that a branch has an entry (TR-13).

use std::path::PathBuf;

use serde::Serialize;
use turnfold_core::trust::KeyKind;
use turnfold_replay::signing::{KeyFile, prove};
use turnfold_replay::{EntryName, SourceName, Sources};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{self, NewFile};
use crate::output::{Line, Report};

/// Prove that a signed branch has an entry
///
/// The proof holds the entry itself, the last signed checkpoint, and the hashes between them. Anyone with the verifier key can
/// check it without the match, and learns nothing about the other entries. Entry 0 is the setup. The file is a C2SP
/// `.tlog-proof`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold prove duel:3 --key ann.key -o duel-3.tlog-proof")]
pub(crate) struct Args {
    /// The entry
    #[arg(value_name = "REV:SEQ")]
    entry: EntryName,

    /// The key that signed the branch
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    #[command(flatten)]
    output: NewFile,
}

/// An entry that was proven.
#[derive(Serialize)]
struct ProvedEntry {
    #[serde(rename = "match")]
    match_name: String,
    branch: String,
    seq: u64,
    size: u64,
    file: Option<String>,
    proof: String,
    #[serde(skip)]
    revision: String,
}

impl Report for ProvedEntry {
    fn lines(&self) -> Vec<Line> {
        let (Self { revision, seq, .. }, file) = (self, self.file.as_deref().unwrap_or_default());
        vec![format!("proved {revision}:{seq} to `{file}`").into()]
    }

    fn document(&self) -> Option<&str> {
        self.file.is_none().then_some(self.proof.as_str())
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let path = args.output.path()?;
    let SourceName::Revision(revision) = &args.entry.source else {
        return Err(Failure::usage("a replay file has no records that could be proven").hint("name a match"));
    };
    let key = KeyFile::open(&args.key)?.require(KeyKind::Signer)?;
    let proof = prove(&context.read_store()?, revision, args.entry.seq, &key)?;
    let text = proof.to_string();
    if let Some(path) = path {
        files::write_whole(path, text.as_bytes())?;
    }
    context.output.report(&ProvedEntry {
        match_name: revision.match_name.to_string(),
        branch: revision.branch.to_string(),
        seq: args.entry.seq,
        size: proof.checkpoint().map_err(Failure::internal)?.size,
        file: path.map(|path| path.display().to_string()),
        proof: text,
        revision: revision.to_string(),
    })?;
    Ok(ExitStatus::Yes)
}
