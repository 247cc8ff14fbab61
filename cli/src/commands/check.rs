//! `turnfold check`: verify golden logs.

mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::ProgressBar;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use turnfold_core::Registry;

use crate::clock::Stopwatch;
use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{self, Output, Tone, counted, error_text, paint};
use crate::render::printable;
use crate::{files, limits};
use turnfold_replay::corpus;
use turnfold_replay::tfl::{self, AllDifferences, Checked, Mismatch, TflError};

/// Verify golden logs
///
/// Folds every replay file again, many at once, and compares each outcome and state hash; then folds it a second time
/// and on from a state stored half-way, which must come to the same. A failure shows the first entry that differs, the
/// rules its outcome names, what was expected and got, and how the states differ: field by field from the state the
/// file stands for where that is known, else what the entry changes. With `--all` the comparison goes on from there, to
/// the end of the file or to an entry that the rules reject. Exits with 1 when any file fails.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold check\n  turnfold check --fail-fast --quiet replays/initiative\n  \
    turnfold check --all bug.tfl\n  \
    turnfold check --report junit > check.xml"
)]
pub(crate) struct Args {
    /// Replay files, or folders to search for `*.tfl`
    #[arg(value_name = "PATH", default_value = "replays")]
    paths: Vec<PathBuf>,

    /// Show every difference in a file, not only the first: at most 100, and how many more there are
    #[arg(long)]
    all: bool,

    /// Check no file after the first that fails
    #[arg(long)]
    fail_fast: bool,

    /// How many files to check at once [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Print only failures and the summary
    #[arg(short, long, conflicts_with = "report")]
    quiet: bool,

    /// Print one document for other programs; `--format json` prints a line for each file instead
    #[arg(long, value_enum, value_name = "KIND")]
    report: Option<ReportKind>,
}

/// A form in which other programs take the whole result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportKind {
    /// JUnit XML, one test case for each file
    Junit,
    /// Commands of a GitHub workflow, which mark the line in the file
    Github,
    /// One JSON document with the summary and every file
    Json,
}

/// What came of one file.
struct FileResult {
    /// The path as it was named or found.
    file: String,
    result: Result<Checked, Unusable>,
    /// How long it took.
    time: Duration,
}

/// A file that cannot be checked at all.
enum Unusable {
    /// It is no replay that this build can fold.
    Replay(TflError),
    /// It cannot be read.
    File(Failure),
}

/// What came of all files.
struct Results {
    /// In the order in which they were named and found.
    files: Vec<FileResult>,
    /// How many files were left out after a failure.
    not_checked: usize,
    /// How long all of it took.
    time: Duration,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    if args.report.is_some() && context.output.is_json() {
        return Err(Failure::usage("`--report` and `--format json` exclude each other")
            .hint("`--report json` prints one document, `--format json` a line for each file"));
    }
    let results = check_all(corpus::replays(&args.paths)?, args, &context.registry)?;
    match args.report {
        Some(ReportKind::Junit) => report::junit(&results, &mut context.output)?,
        Some(ReportKind::Github) => report::github(&results, &mut context.output)?,
        Some(ReportKind::Json) => report::json(&results, &mut context.output)?,
        None if context.output.is_json() => {
            for file in results.files.iter().filter(|file| !(args.quiet && file.is_good())) {
                context.output.json(&report::FileJson::of(file))?;
            }
        }
        None => print(&results, args.quiet, &mut context.output)?,
    }
    Ok(if results.failed().next().is_none() { Answer::Yes } else { Answer::No })
}

/// Checks the files, many at once. The result depends neither on how many nor on which is done first.
fn check_all(paths: Vec<PathBuf>, args: &Args, registry: &Registry) -> Result<Results, Failure> {
    let threads = args.jobs.map_or(0, usize::from);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Failure::trouble(format!("cannot start threads: {error}")))?;
    let (count, watch) = (paths.len(), Stopwatch::start());
    let progress = if args.quiet {
        ProgressBar::hidden()
    } else {
        output::progress(count as u64, "checking {bar:30} {pos}/{len} {eta}")
    };
    // With `--fail-fast`, the place of the first file known to fail: those before it are checked all the same.
    let limit = AtomicUsize::new(usize::MAX);
    let checked: Vec<Option<FileResult>> = pool.install(|| {
        let one = |(place, path): (usize, PathBuf)| {
            let result =
                (place <= limit.load(Ordering::Relaxed)).then(|| check_file(&path, args.all, registry));
            if args.fail_fast && result.as_ref().is_some_and(|file| !file.is_good()) {
                limit.fetch_min(place, Ordering::Relaxed);
            }
            progress.inc(1);
            result
        };
        paths.into_par_iter().enumerate().map(one).collect()
    });
    progress.finish_and_clear();
    let until = limit.into_inner().saturating_add(1);
    let files: Vec<_> = checked.into_iter().take(until).flatten().collect();
    let not_checked = count - files.len();
    Ok(Results { files, not_checked, time: watch.elapsed() })
}

fn check_file(path: &Path, all: bool, registry: &Registry) -> FileResult {
    let watch = Stopwatch::start();
    let check = if all { tfl::check_all } else { tfl::check };
    let file = path.display().to_string();
    let result = files::read_input(path, &limits::REPLAY).map_err(Unusable::File).and_then(|bytes| {
        tfl::read(&file, &bytes, registry).and_then(|replay| check(&replay)).map_err(Unusable::Replay)
    });
    FileResult { file, result, time: watch.elapsed() }
}

impl Results {
    /// Gives the files that did not pass.
    fn failed(&self) -> impl Iterator<Item = &FileResult> {
        self.files.iter().filter(|file| !file.is_good())
    }

    /// Gives the number of entries in the files that could be read.
    fn entries(&self) -> u64 {
        self.files.iter().filter_map(|file| file.result.as_ref().ok()).map(|checked| checked.entries).sum()
    }

    /// Tells how many files passed, failed and were not checked.
    fn summary(&self) -> String {
        let failed = self.failed().count();
        let passed = self.files.len() - failed;
        let skipped = match self.not_checked {
            0 => String::new(),
            count => format!(", {count} not checked"),
        };
        format!("{passed} passed, {failed} failed{skipped} ({})", counted(self.entries(), "entry", "entries"))
    }
}

impl FileResult {
    fn is_good(&self) -> bool {
        matches!(&self.result, Ok(Checked { difference: None, .. }))
    }

    fn mismatch(&self) -> Option<&Mismatch> {
        self.result.as_ref().ok().and_then(|checked| checked.difference.as_deref())
    }

    /// Returns all differences, where they were asked for.
    fn all(&self) -> Option<&AllDifferences> {
        self.result.as_ref().ok().and_then(|checked| checked.all.as_ref())
    }

    /// Returns every difference that is kept, line by line, and how many there are where all were asked for.
    fn mismatch_lines(&self) -> Vec<(Tone, String)> {
        let mut lines = self.mismatch().map(Mismatch::lines).unwrap_or_default();
        if let Some(all) = self.all().filter(|all| all.count > 0) {
            lines.extend(all.later.iter().flat_map(Mismatch::brief_lines));
            let more = match all.left_out {
                0 => String::new(),
                count => format!(", {count} of them not shown"),
            };
            let count = counted(all.count, "difference", "differences");
            lines.push((Tone::Strong, format!("{}: {count}{more}", printable(&self.file))));
        }
        lines
    }

    /// Tells in one line what is wrong, where something is.
    fn headline(&self) -> Option<String> {
        match &self.result {
            Ok(checked) => checked.difference.as_ref().map(|mismatch| mismatch.headline()),
            Err(unusable) => Some(unusable.to_string()),
        }
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Replay(error) => error.fmt(out),
            Self::File(failure) => failure.fmt(out),
        }
    }
}

fn print(results: &Results, quiet: bool, output: &mut Output) -> Result<(), Failure> {
    for file in &results.files {
        match &file.result {
            Ok(Checked { difference: Some(_), .. }) => {
                let lines = file.mismatch_lines();
                for (place, (tone, line)) in lines.into_iter().enumerate() {
                    let line = if place == 0 { error_text("", &line) } else { line };
                    output.line(paint(tone, line))?;
                }
            }
            Ok(_) if quiet => {}
            Ok(Checked { entries, .. }) => {
                let (ok, name) = (paint(Tone::New, "ok"), &file.file);
                output.line(format_args!("{ok} {name} {}", counted(*entries, "entry", "entries")))?;
            }
            Err(unusable) => {
                let message = error_text("failed ", &unusable.to_string());
                output.line(format_args!("{} {message}", paint(Tone::Old, "failed")))?;
            }
        }
    }
    let failed: Vec<_> = results.failed().filter_map(FileResult::headline).collect();
    if !failed.is_empty() && results.files.len() > 1 {
        output.line(paint(Tone::Strong, "failed files:"))?;
        for headline in &failed {
            output.line(format_args!("  {}", error_text("  ", headline)))?;
        }
    }
    let tone = if failed.is_empty() { Tone::New } else { Tone::Old };
    output.line(paint(tone, results.summary()))?;
    Ok(())
}
