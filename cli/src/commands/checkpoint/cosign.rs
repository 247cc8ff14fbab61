//! `turnfold checkpoint cosign`: cosigns a checkpoint as a witness (TR-16).

use std::path::PathBuf;

use turnfold_core::trust::{ConsistencyRequest, KeyKind, VerifierKey};
use turnfold_proof::NOTE_LIMITS as NOTE;
use turnfold_proof::signing::{GivenCosignature, KeyFile, cosign};

use crate::clock;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files;

/// Cosign a checkpoint as a witness
///
/// REQUEST is the output of `turnfold checkpoint sign --since`: a checkpoint and the proof that it continues what this witness cosigned
/// before. The folder next to the witness's key remembers that, so the witness cosigns only one history of each branch, and
/// two players who use the same witness cannot be shown different ones. The witness sees only hashes, neither entries nor
/// names. Pass the printed line to `turnfold checkpoint sign --add`. Exits with 1 if the witness refuses.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold checkpoint cosign duel.request --key w.key --log games.example/ann+f74b7821+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
)]
pub(crate) struct Args {
    /// The request; `-` is standard input
    #[arg(value_name = "REQUEST")]
    request: PathBuf,

    /// The witness's key
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The verifier key of the signer of the checkpoint
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
    let cosignature = line.to_string();
    let cosigned = serde_json::json!({
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root.to_string(),
        "first": is_first,
        "cosignature": cosignature,
    });
    context.output.answer(&cosigned, || {
        if is_first {
            tracing::warn!("the witness has not seen `{}` before", checkpoint.origin);
        }
        vec![cosignature.into()]
    })
}
