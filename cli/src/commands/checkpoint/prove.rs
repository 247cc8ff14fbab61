//! `turnfold checkpoint prove`: proves that a branch has an entry (TR-13).

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::trust::KeyKind;
use turnfold_history::{EntryName, SourceName, Sources};
use turnfold_proof::signing::{KeyFile, prove};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::NewFile;

/// Prove that a signed branch has an entry
///
/// The proof holds the entry itself, the last signed checkpoint, and the hashes between them. Anyone with the verifier key can
/// check it without the match, and learns nothing about the other entries. Entry 0 is the setup. The file is a C2SP
/// `.tlog-proof`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold checkpoint prove duel:3 --key ann.key -o duel-3.tlog-proof")]
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
    args.output.path()?;
    let SourceName::Revision(revision) = &args.entry.source else {
        return Err(Failure::usage("a replay file has no records that could be proven").hint("name a match"));
    };
    let key = KeyFile::open(&args.key)?.require(KeyKind::Signer)?;
    let proof = prove(&context.read_store()?, revision, args.entry.seq, &key)?;
    let text = proof.to_string();
    let file = args.output.write(&text)?;
    let proved = json!({
        "match": revision.match_name.as_str(),
        "branch": revision.branch.as_str(),
        "seq": args.entry.seq,
        "size": proof.checkpoint().map_err(Failure::internal)?.size,
        "file": file,
        "proof": text,
    });
    context.output.answer_with_text(&proved, &text, file.as_deref(), |file| {
        format!("proved {revision}:{} to `{file}`", args.entry.seq).into()
    })?;
    Ok(ExitStatus::Yes)
}
