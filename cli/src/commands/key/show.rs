//! `turnfold key show`: what others check a key with (TR-6).

use std::path::PathBuf;

use turnfold_core::trust::{KeyKind, line_origin};
use turnfold_replay::signing::KeyFile;
use turnfold_replay::{Revision, Sources};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Print the verifier key of a key, or the one for a branch
///
/// Put the verifier key of the key into a policy: it stands for every branch that the key signs. Tools that know a single
/// log take the verifier key for its branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold key show ann.key\n  turnfold key show ann.key duel")]
pub(crate) struct Args {
    /// The key file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A branch of a match
    #[arg(value_name = "REV")]
    revision: Option<Revision>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let file = KeyFile::open(&args.file)?;
    let mut verifier = file.key.verifier();
    if let Some(Revision { match_name, branch, .. }) = &args.revision {
        let store = context.read_store()?;
        store.head(match_name, branch)?;
        let file = file.require(KeyKind::Signer)?;
        let id = store.genesis(match_name)?.match_id;
        verifier = verifier.for_origin(&line_origin(file.key.name(), &id, branch.as_str()));
    }
    let vkey = verifier.to_string();
    let shown = serde_json::json!({
        "name": verifier.name(),
        "witness": verifier.kind() == KeyKind::Witness,
        "vkey": vkey,
    });
    context.output.show(&shown, || vec![vkey.into()])?;
    Ok(ExitStatus::Yes)
}
