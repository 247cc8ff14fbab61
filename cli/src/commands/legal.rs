//! `turnfold legal`: the commands that would be applied.

use turnfold_replay::{SourceName, Viewer, render::legal_commands, viewer::seat_history::seek};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::remote::look;

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
    viewer: Option<Viewer>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some((client, revision)) = context.service_with(&args.source)? {
        let query = look::seen_at(revision.seq, args.viewer);
        return look::print(&client, (revision, "legal"), query, &mut context.output);
    }
    let (viewer, state) = seek(args.viewer.unwrap_or(Viewer::HOST), &args.source, context)?;
    for legal in legal_commands(args.viewer, viewer, state.as_ref()) {
        context.output.report(&legal)?;
    }
    Ok(ExitStatus::Yes)
}
