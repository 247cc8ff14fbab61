//! `turnfold export`: a revision as a replay file.

use serde::Serialize;
use turnfold_replay::{Eyes, Revision, Sight, SourceName};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::files::{self, NewFile};
use crate::output::counted;

/// Write a revision as a replay file
///
/// The file carries the setup, the dice policy with its seed, every entry with its outcome and state hash, and
/// nothing of when it was played.
///
/// With `--as` a player it carries what that player may know: the entries it may know of, with what it sees of their
/// outcomes, and neither seed nor state hashes; what the setup keeps from it is made up. The header says so by `view`.
/// Such a file can be read, shown and stepped, with that seat's eyes. It can be neither checked, blessed nor imported.
///
/// Exits with 3 when standard output takes only a part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold export duel -o duel.tfl
  turnfold export duel --as p2 -o p2.tfl")]
pub(crate) struct Args {
    /// The revision
    #[arg(value_name = "REV")]
    revision: Revision,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Eyes::HOST)]
    eyes: Eyes,

    #[command(flatten)]
    output: NewFile,
}

#[derive(Serialize)]
struct ExportJson {
    revision: String,
    /// The seat that may know what it tells, where that is not everything.
    view: Option<String>,
    entries: u64,
    state_hash: Option<String>,
    file: Option<String>,
    /// The replay itself, where no file takes it.
    replay: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let sight = Sight::load(args.eyes, &SourceName::Revision(args.revision.clone()), context)?;
    let replay = sight.to_replay()?;
    let view = replay.header.view.map(|view| view.seat);
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
                view: view.map(|seat| seat.to_string()),
                entries: sight.head(),
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
    let entries = counted(sight.head(), "entry", "entries");
    let known = view.map(|seat| format!(", as {seat} may know it")).unwrap_or_default();
    output.line(format_args!("exported {} to `{}`: {entries}{known}", args.revision, path.display()))?;
    Ok(Answer::Yes)
}
