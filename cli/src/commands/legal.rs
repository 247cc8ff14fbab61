//! `turnfold legal`: the commands that would be applied.

use serde::Serialize;
use turnfold_core::{AnyState, Seat};
use turnfold_replay::{Eyes, SourceName, sight::seek};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};

/// List the commands that would be applied
///
/// Commands whose arguments are unbounded, such as rolls, are sampled.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold legal duel --as p1")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Only this seat's commands [default: every seat's]
    #[arg(long = "as", value_name = "SEAT")]
    eyes: Option<Eyes>,
}

#[derive(Serialize)]
struct LegalCommand {
    seat: Seat,
    command: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let (eyes, state) = seek(args.eyes.unwrap_or(Eyes::HOST), &args.source, context)?;
    let output = &mut context.output;
    for (seat, command) in commands(args.eyes, eyes, state.as_ref()) {
        if output.is_json() {
            output.json(&LegalCommand { seat, command })?;
        } else {
            output.line(format_args!("{} {command}", paint(Tone::Faint, format_args!("{seat}:"))))?;
        }
    }
    Ok(Answer::Yes)
}

/// Returns the commands that would be applied: those of the seat that was asked for, or every seat's.
pub(super) fn commands(asked: Option<Eyes>, eyes: Eyes, state: &dyn AnyState) -> Vec<(Seat, String)> {
    if asked.is_none() && eyes.see_all() { Eyes::legal_of_all(state) } else { eyes.legal(state) }
}
