//! `turnfold cosign`: being a witness (TR-16).

use std::path::PathBuf;

use turnfold_core::trust::{ConsistencyRequest, KeyKind, VerifierKey};
use turnfold_replay::limits::NOTE;
use turnfold_replay::signing::{GivenCosignature, KeyFile, cosign};

use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;

/// Cosign a checkpoint as a witness
///
/// REQUEST is what `turnfold sign --since` writes: a checkpoint and the proof that it goes on from what this witness
/// cosigned before. The witness remembers that beside its key, so it cosigns one history of each branch and no other;
/// two players who ask for the same witness cannot be shown two. It sees neither entries nor names, only hashes. The
/// line that is printed is for `turnfold sign --add`. Exits with 1 if it refuses.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold cosign duel.request --key w.key --log games.example/ann+f74b7821+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
)]
pub(crate) struct Args {
    /// The request; `-` is standard input
    #[arg(value_name = "REQUEST")]
    request: PathBuf,

    /// The witness's key
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The verifier key of whoever signed the checkpoint
    #[arg(long, value_name = "VKEY")]
    log: VerifierKey,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let bytes = files::read_input_or_stdin(&args.request, &NOTE)?;
    let request = ConsistencyRequest::read(&bytes);
    let request = request
        .map_err(|error| Failure::usage(format!("`{}`: {error}", files::input_name(&args.request))))?;
    let key = KeyFile::open(&args.key)?.require(KeyKind::Witness)?;
    let time = u64::try_from(clock::now_ms()? / 1000).unwrap_or_default();
    let GivenCosignature { line, checkpoint, is_first } = cosign(&request, &key, &args.log, time)?;
    let output = &mut context.output;
    if output.is_json() {
        output.json(&serde_json::json!({
            "origin": checkpoint.origin,
            "size": checkpoint.size,
            "root": checkpoint.root.to_string(),
            "first": is_first,
            "cosignature": line.to_string(),
        }))?;
        return Ok(ExitStatus::Yes);
    }
    if is_first {
        tracing::warn!("this is the first that the witness sees of `{}`", checkpoint.origin);
    }
    output.document(&format!("{line}\n"))?;
    Ok(ExitStatus::Yes)
}
