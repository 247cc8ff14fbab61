//! `turnfold export`: a history as a replay file, or as a page that shows it.

use std::path::Path;

use serde::Serialize;
use turnfold_core::{Digest, Seat};
use turnfold_replay::{Page, SeatHistory, SourceName, Viewer, revision::is_page};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::files::{self, NewFile};
use crate::output::counted;

/// Write a revision as a replay file, or as a page that shows it
///
/// The file carries the setup, the dice policy with its seed, every entry with its outcome and state hash, and
/// nothing of when it was played.
///
/// With `--html` it is one HTML file, made of a revision or of a replay file: it opens from disk without a network and
/// shows the game entry by entry, with the log and what changed. It holds everything, secrets and seed too, and the
/// whole replay file: `turnfold check FILE.html` checks that, and every verb that reads a replay file reads it there. A
/// page of more than 64 MiB is refused with the range that fits.
///
/// With `--as` a player it carries what that player may know: the entries it may know of, with what it sees of their
/// outcomes, and neither seed nor state hashes; what the setup keeps from it is made up. The header says so by `view`.
/// Such a file can be read, shown and stepped, with that seat's seat. It can be neither checked, blessed nor imported.
/// With `--html` there is no replay in it, only what the player saw.
///
/// Exits with 3 when standard output takes only a part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold export duel -o duel.tfl
  turnfold export duel --as p2 -o p2.tfl
  turnfold export duel --html -o duel.html
  turnfold export bug.tfl --html --as p2 -o p2.html")]
pub(crate) struct Args {
    /// The revision; with `--html` also a replay file, `-` being standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Whose view to show
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    /// Write an HTML file that shows the game
    #[arg(long)]
    html: bool,

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
    /// The page itself, where no file takes it.
    page: Option<String>,
}

/// What is written, and what there is to say of it.
struct Exported {
    text: String,
    view: Option<Seat>,
    entries: u64,
    state_hash: Option<Digest>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let path = args.output.path()?;
    if let Some(path) = path {
        check_ending(path, args.html)?;
    }
    let exported = if args.html { page(args, context)? } else { replay(args, context)? };
    let what = if args.html { "page" } else { "replay" };
    let Exported { text, view, entries, state_hash } = exported;
    if let Some(path) = path {
        files::write_whole(path, text.as_bytes())?;
    }
    let output = &mut context.output;
    if output.is_json() {
        let text = path.is_none().then_some(text);
        let (replay, page) = if args.html { (None, text) } else { (text, None) };
        let written = output
            .json(&ExportJson {
                revision: args.source.to_string(),
                view: view.map(|seat| seat.to_string()),
                entries,
                state_hash: state_hash.map(|hash| hash.to_string()),
                file: path.map(|path| path.display().to_string()),
                replay,
                page,
            })
            .and_then(|()| output.flush());
        written.map_err(|error| Failure::cut_short(what, error))?;
        return Ok(ExitStatus::Yes);
    }
    let Some(path) = path else {
        let written = output.document(&text).and_then(|()| output.flush());
        written.map_err(|error| Failure::cut_short(what, error))?;
        return Ok(ExitStatus::Yes);
    };
    let entries = counted(entries, "entry", "entries");
    let known = match view {
        Some(seat) => format!(", as {seat} may know it"),
        None if args.html => ", with everything in it, secrets and seed too".into(),
        None => String::new(),
    };
    output.line(format_args!("exported {} to `{}`: {entries}{known}", args.source, path.display()))?;
    Ok(ExitStatus::Yes)
}

/// Requires a file's name to say what it is, for it is read by its name.
fn check_ending(path: &Path, html: bool) -> Result<(), Failure> {
    let name = path.display();
    match html {
        false if is_page(path) => {
            Err(Failure::usage(format!("`{name}` is the name of a page")).hint("`--html` writes one"))
        }
        true if path.extension().is_some_and(|extension| extension == "tfl") => {
            Err(Failure::usage(format!("`{name}` is the name of a replay file"))
                .hint("give a page a name that ends in `.html`"))
        }
        _ => Ok(()),
    }
}

fn replay(args: &Args, context: &Context) -> Result<Exported, Failure> {
    if let SourceName::File(file) = &args.source {
        return Err(Failure::usage(format!("`{file}` is a file already")).hint("`--html` makes a page of it"));
    }
    let sight = SeatHistory::load(args.viewer, &args.source, context)?;
    let replay = sight.to_replay()?;
    Ok(Exported {
        view: replay.header.view.map(|view| view.seat),
        entries: sight.head(),
        state_hash: replay.closing.map(|closing| closing.state),
        text: replay.to_string(),
    })
}

fn page(args: &Args, context: &Context) -> Result<Exported, Failure> {
    let Page { html, view, entries, state_hash } = Page::load(args.viewer, &args.source, context)?;
    Ok(Exported { text: html, view, entries, state_hash })
}
