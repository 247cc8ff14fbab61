//! `turnfold export`: writes a history as a replay file, or as a page that shows it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::json;
use turnfold_history::input::{has_ending, is_page};
use turnfold_history::tfl::Closing;
use turnfold_history::{HistorySource, Revision, SourceName, Viewer};
use turnfold_proof::bundle::BundledName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{
    NewFile, check_new, is_standard, temporary_dir, write_texts, write_whole, write_whole_from,
};
use crate::matches::{Exported, missing_replay};
use crate::output::counted;
use crate::sources::{Named, Several, SourceArg};

/// Write a revision as a replay file, or as a page that shows it
///
/// The file holds the setup, the dice policy with its seed, and every entry with its outcome and state hash, but no times.
///
/// With `--html`, makes one HTML file of a revision or of a replay file. It opens from disk without a network and shows the
/// game entry by entry, with the log and the changes. It holds everything, including secrets, the seed and the replay
/// file: `turnfold check FILE.html` checks the replay, and every verb that reads a replay file accepts the page. A page of
/// more than 64 MiB is refused with the range that fits.
///
/// With `--as p1`, holds what p1 may know: entries with the effects that p1 sees, but no seed and no state hashes, and
/// made-up values for hidden parts of the setup. The header marks this as `view`. Such a file can be read, shown and
/// stepped through as that seat, but not checked, blessed or imported. With `--html`, the page has no replay in it.
///
/// Several sources are written to a folder: `duel@flank` to `duel@flank.tfl`, entry 12 of `duel` to `duel-12.tfl`. With
/// `--html`, a folder or pattern stands for the replay files in it. A source that cannot be written leaves the others as they
/// are.
///
/// Exits with 3 if standard output takes only a part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold export duel -o duel.tfl
  turnfold export duel --as p2 -o p2.tfl
  turnfold export duel --html -o duel.html
  turnfold export bug.tfl --html --as p2 -o p2.html
  turnfold export duel duel@flank -o games
In a git repository, put `*.tfl text eol=lf` into `.gitattributes`, so that git never converts the line ends of replay files.")]
pub(crate) struct Args {
    /// The revisions; with `--html` also replay files, folders and patterns, `-` being standard input
    #[arg(value_name = "REV", required = true)]
    sources: Vec<SourceArg<SourceName>>,

    /// Whose view to show
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    pub(crate) viewer: Viewer,

    /// Write an HTML file that shows the game
    #[arg(long)]
    pub(crate) html: bool,

    #[command(flatten)]
    output: NewFile,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let sources = match Named::of(&args.sources, context)? {
        Named::One(source) => {
            let path = args.output.path()?;
            return export(args, &source, path, context);
        }
        Named::Several(sources) => sources,
    };
    let Several { sources, failures } = sources;
    // Before a folder is required, because `export duel duel.tfl` may have been meant as `-o duel.tfl`.
    for source in &sources {
        if let SourceName::File(file) = source
            && !is_standard(&file.path)
            && !args.html
            && !file.path.exists()
            && BundledName::of(&file.path).is_none()
            && args.output.folder().is_err()
        {
            return Err(missing_replay(&file.path));
        }
    }
    let targets = targets(&sources, args.output.folder()?, args.html)?;
    args.output.make_folder()?;
    context.workspace.keep_reader();
    let targets = Several { sources: targets, failures };
    targets.answer_each(
        |(source, _)| source.to_string(),
        context,
        |(source, path), context| {
            check_new(path, args.output.is_forced())?;
            export(args, source, Some(path), context)
        },
    )
}

/// Chooses an output file for each source; rejects two sources that would have the same one.
fn targets<'a>(
    sources: &'a [SourceName],
    folder: &Path,
    html: bool,
) -> Result<Vec<(&'a SourceName, PathBuf)>> {
    let mut owners = BTreeMap::new();
    let mut targets = Vec::new();
    for source in sources {
        let name = match source {
            SourceName::File(file) if is_standard(&file.path) => "stdin".into(),
            SourceName::File(file) => match BundledName::of(&file.path) {
                Some(BundledName { within: Some(match_name), .. }) => match_name,
                _ => file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            },
            SourceName::Revision(_) => source.up_to(None).to_string(),
        };
        let seq = source.seq().map(|seq| format!("-{seq}")).unwrap_or_default();
        let path = folder.join(format!("{name}{seq}.{}", if html { "html" } else { "tfl" }));
        if let Some(other) = owners.insert(path.clone(), source) {
            let path = path.display();
            let refused =
                Failure::usage(format!("`{other}` and `{source}` would both be written to `{path}`"));
            return Err(refused.hint("export one of them by itself"));
        }
        targets.push((source, path));
    }
    Ok(targets)
}

fn export(
    args: &Args,
    source: &SourceName,
    path: Option<&Path>,
    context: &mut Context,
) -> Result<ExitStatus> {
    if let Some(path) = path {
        check_ending(path, args.html)?;
    }
    // A whole history may be long, so it is written entry by entry where JSON need not hold it.
    let long = context.matches_with(source)?.long_replay(args, source)?;
    let Exported { view, entries, state_hash, text } = match (long, path) {
        (Some(revision), None) if !context.output.is_json() => {
            return print_long(revision, context);
        }
        (Some(revision), Some(path)) => {
            let closing = write_whole_from(path, |file| write_replay(revision, path, file, context))?;
            let state_hash = Some(closing.state);
            Exported { view: None, entries: closing.count, state_hash, text: String::new() }
        }
        _ => {
            let exported = context.matches_with(source)?.export(args, source)?;
            if let Some(path) = path {
                write_whole(path, exported.text.as_bytes())?;
            }
            exported
        }
    };
    let file = path.map(|path| path.display().to_string());
    let revision = source.to_string();
    let printed = file.is_none().then_some(&text);
    let (replay, page) = if args.html { (None, printed) } else { (printed, None) };
    let exported = json!({
        "revision": revision,
        "view": view,
        "entries": entries,
        "state_hash": state_hash,
        "file": file,
        "replay": replay,
        "page": page,
    });
    let line = |file: &str| {
        let known = match &view {
            Some(seat) => format!(", as {seat} may know it"),
            None if args.html => ", with everything in it, secrets and seed too".into(),
            None => String::new(),
        };
        let entries = counted(entries, "entry", "entries");
        format!("exported {revision} to `{file}`: {entries}{known}").into()
    };
    let written = context.output.answer_with_text(&exported, &text, file.as_deref(), line);
    let written = written.and_then(|()| context.output.flush());
    if path.is_some() {
        written?;
    } else {
        let what = if args.html { "page" } else { "replay" };
        written.map_err(|error| Failure::cut_short(what, error))?;
    }
    Ok(ExitStatus::Yes)
}

fn print_long(revision: &Revision, context: &mut Context) -> Result<ExitStatus> {
    let cut_short = |error| Failure::cut_short("replay", error);
    // A history with an error must print nothing, so the file is complete before it is printed.
    let dir = temporary_dir()?;
    let path = dir.path().join("replay.tfl");
    write_replay(revision, &path, &mut File::create_new(&path)?, context)?;
    context.output.document_from(&mut File::open(&path)?).map_err(cut_short)?;
    context.output.flush().map_err(cut_short)?;
    Ok(ExitStatus::Yes)
}

fn write_replay(revision: &Revision, path: &Path, file: &mut File, context: &Context) -> Result<Closing> {
    write_texts(path, file, |write| HistorySource::write_replay(revision, &context.workspace, write))
}

/// Requires a file name with the right ending, because other commands read a file by its ending.
fn check_ending(path: &Path, html: bool) -> Result<()> {
    let name = path.display();
    match html {
        false if is_page(path) => {
            Err(Failure::usage(format!("`{name}` is the name of a page")).hint("`--html` writes one"))
        }
        true if has_ending(path, "tfl") => {
            Err(Failure::usage(format!("`{name}` is the name of a replay file"))
                .hint("give a page a name that ends in `.html`"))
        }
        _ => Ok(()),
    }
}
