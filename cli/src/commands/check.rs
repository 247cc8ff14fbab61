//! `turnfold check`: verify golden logs.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Serialize;
use walkdir::WalkDir;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{self, Output, Tone, counted, paint};
use crate::source::read_replay;
use crate::tfl::{self, Checked, MismatchReport};

/// Verify golden logs
///
/// Folds every replay file again, many at once, and compares each outcome and state hash. A failure shows the first
/// entry that differs. Exits with 1 when any file fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Replay files, or folders to search for `*.tfl`
    #[arg(value_name = "PATH", default_value = "replays")]
    paths: Vec<PathBuf>,
}

/// What came of one file.
struct FileResult {
    path: PathBuf,
    result: Result<Checked, Failure>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: String,
    ok: bool,
    entries: Option<u64>,
    error: Option<String>,
    mismatch: Option<MismatchReport<'a>>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let files = find_replays(&args.paths)?;
    let progress = output::progress("checking", files.len());
    // Collecting keeps the order of the files, whichever is done first.
    let results: Vec<FileResult> = files
        .into_par_iter()
        .map(|path| {
            let result = check_file(&path);
            progress.inc(1);
            FileResult { path, result }
        })
        .collect();
    progress.finish_and_clear();
    let mut failed = 0;
    let mut entries = 0;
    for file in &results {
        if !matches!(&file.result, Ok(Checked { difference: None, .. })) {
            failed += 1;
        }
        entries += file.result.as_ref().map_or(0, |checked| checked.entries);
        print(file, &mut context.output)?;
    }
    if !context.output.is_json() {
        let passed = results.len() - failed;
        let tone = if failed == 0 { Tone::New } else { Tone::Old };
        context.output.line(paint(
            tone,
            format_args!("{passed} passed, {failed} failed ({})", counted(entries, "entry", "entries")),
        ))?;
    }
    Ok(if failed == 0 { Answer::Yes } else { Answer::No })
}

fn check_file(path: &Path) -> Result<Checked, Failure> {
    Ok(tfl::check(&read_replay(path)?)?)
}

/// Finds the replay files named and those in folders named, in order. Nothing to check is an error, not a pass.
fn find_replays(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| {
                let failed = error.path().unwrap_or(path).display().to_string();
                let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                Failure::usage(format!("cannot read `{failed}`: {cause}"))
                    .hint("name replay files or a folder with `*.tfl` in it")
            })?;
            let named = entry.depth() == 0;
            if entry.file_type().is_file()
                && (named || entry.path().extension().is_some_and(|it| it == "tfl"))
            {
                files.push(entry.into_path());
            }
        }
        if files.len() == before {
            return Err(Failure::usage(format!("no replay files (`*.tfl`) under `{}`", path.display()))
                .hint("nothing was checked"));
        }
    }
    Ok(files)
}

fn print(file: &FileResult, output: &mut Output) -> Result<(), Failure> {
    let name = file.path.display();
    if output.is_json() {
        let (entries, mismatch, error) = match &file.result {
            Ok(checked) => {
                (Some(checked.entries), checked.difference.as_ref().map(|mismatch| mismatch.report()), None)
            }
            Err(failure) => (None, None, Some(failure.to_string())),
        };
        let ok = mismatch.is_none() && error.is_none();
        output.json(&FileJson { file: name.to_string(), ok, entries, error, mismatch })?;
        return Ok(());
    }
    match &file.result {
        Ok(Checked { difference: None, entries }) => {
            output.line(format_args!(
                "{} {name} {}",
                paint(Tone::New, "ok"),
                counted(*entries, "entry", "entries")
            ))?;
        }
        Ok(Checked { difference: Some(mismatch), .. }) => {
            for (tone, line) in mismatch.lines() {
                output.line(paint(tone, line))?;
            }
        }
        Err(failure) => output.line(format_args!("{} {failure}", paint(Tone::Old, "failed")))?,
    }
    Ok(())
}
