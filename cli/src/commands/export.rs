//! `turnfold export`: a revision as a replay file.

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::files::{self, NewFile};
use crate::output::counted;
use crate::revision::Revision;
use crate::source::LineOfPlay;

/// Write a revision as a replay file
///
/// The file carries the setup, the dice policy with its seed, every entry with its outcome and state hash, and
/// nothing of when it was played.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The revision
    #[arg(value_name = "REV")]
    revision: Revision,

    #[command(flatten)]
    output: NewFile,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let line_of_play = LineOfPlay::of_revision(&args.revision, context)?;
    let text = line_of_play.to_replay()?.to_string();
    let Some(path) = args.output.path()? else {
        context.output.document(&text)?;
        return Ok(Answer::Yes);
    };
    files::write_whole(path, text.as_bytes())?;
    if !context.output.is_json() {
        let entries = counted(line_of_play.head(), "entry", "entries");
        context.output.line(format_args!("exported {} to `{}`: {entries}", args.revision, path.display()))?;
    }
    Ok(Answer::Yes)
}
