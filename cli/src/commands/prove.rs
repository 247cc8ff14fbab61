//! `turnfold prove`: that a branch has an entry (TR-13).

use std::path::PathBuf;

use turnfold_core::trust::KeyKind;
use turnfold_replay::signing::{KeyFile, prove};
use turnfold_replay::{EntryName, SourceName, Sources};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{self, NewFile};

/// Prove that a signed branch has an entry
///
/// The proof holds the entry itself, the checkpoint that was signed last, and the hashes between them: whoever knows the
/// verifier key can check it without the match, and learns nothing of the other entries. Entry 0 is the setup. The file
/// is a C2SP `.tlog-proof`.
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
    let output = &mut context.output;
    if output.is_json() {
        let size = proof.checkpoint().map_err(Failure::internal)?.size;
        output.json(&serde_json::json!({
            "match": revision.match_name.as_str(),
            "branch": revision.branch.as_str(),
            "seq": args.entry.seq,
            "size": size,
            "file": path.map(|path| path.display().to_string()),
            "proof": text,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    match path {
        None => output.document(&text)?,
        Some(path) => {
            output.line(format_args!("proved {}:{} to `{}`", revision, args.entry.seq, path.display()))?;
        }
    }
    Ok(ExitStatus::Yes)
}
