//! `turnfold export`: a revision as a replay file.

use serde::Serialize;
use turnfold_replay::{LineOfPlay, Revision};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::files::{self, NewFile};
use crate::output::counted;

/// Write a revision as a replay file
///
/// The file carries the setup, the dice policy with its seed, every entry with its outcome and state hash, and
/// nothing of when it was played. Exits with 3 when standard output takes only a part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold export duel -o duel.tfl")]
pub(crate) struct Args {
    /// The revision
    #[arg(value_name = "REV")]
    revision: Revision,

    #[command(flatten)]
    output: NewFile,
}

#[derive(Serialize)]
struct ExportJson {
    revision: String,
    entries: u64,
    state_hash: Option<String>,
    file: Option<String>,
    /// The replay itself, where no file takes it.
    replay: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let line_of_play = LineOfPlay::of_revision(&args.revision, context)?;
    let replay = line_of_play.to_replay()?;
    let text = replay.to_string();
    let path = args.output.path()?;
    if let Some(path) = path {
        files::write_whole(path, text.as_bytes())?;
    }
    let output = &mut context.output;
    if output.is_json() {
        let written = output
            .json(&ExportJson {
                revision: args.revision.to_string(),
                entries: line_of_play.head(),
                state_hash: replay.closing.map(|closing| closing.state.to_string()),
                file: path.map(|path| path.display().to_string()),
                replay: path.is_none().then_some(text),
            })
            .and_then(|()| output.flush());
        written.map_err(|error| Failure::cut_short("replay", error))?;
        return Ok(Answer::Yes);
    }
    let Some(path) = path else {
        let written = output.document(&text).and_then(|()| output.flush());
        written.map_err(|error| Failure::cut_short("replay", error))?;
        return Ok(Answer::Yes);
    };
    let entries = counted(line_of_play.head(), "entry", "entries");
    output.line(format_args!("exported {} to `{}`: {entries}", args.revision, path.display()))?;
    Ok(Answer::Yes)
}
