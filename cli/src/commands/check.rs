//! `turnfold check`: verify golden logs.

mod report;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use indicatif::ProgressBar;
use turnfold_core::Registry;
use turnfold_replay::{CheckLimits, CheckReport, FileCheck, golden::check};

use crate::clock::Stopwatch;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::{files, output};

/// Verify golden logs
///
/// Folds every replay file again, many at once, and compares each outcome and state hash; then folds it a second time
/// and on from a state stored half-way, which must come to the same. A failure shows the first entry that differs, the
/// rules its outcome names, what was expected and got, and how the states differ: field by field from the state the
/// file stands for where that is known, else what the entry changes. With `--all` the comparison goes on from there, to
/// the end of the file or to an entry that the rules reject. Exits with 1 when any file fails.
///
/// In a page that `export --html` made for the host, `check` checks the embedded replay and counts lines in that. It does
/// not check what the page shows: use `turnfold export FILE.html --html` to make your own page from the replay.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold check\n  turnfold check --fail-fast --quiet replays/initiative\n  \
    turnfold check --all bug.tfl\n  \
    turnfold check --report junit > check.xml"
)]
pub(crate) struct Args {
    /// Replay files, pages of `export --html`, or folders to search for `*.tfl`
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.report.is_some() && context.output.is_json() {
        return Err(Failure::usage("`--report` and `--format json` exclude each other")
            .hint("`--report json` prints one document, `--format json` a line for each file"));
    }
    let watch = Stopwatch::start();
    let paths = check::replays(&args.paths)?;
    files::require_replays(&paths)?;
    let report = check_all(paths, args, &context.registry)?;
    let output = &mut context.output;
    match args.report {
        Some(ReportKind::Junit) => report::junit(&report, watch.elapsed(), output)?,
        Some(ReportKind::Github) => report::github(&report, output)?,
        Some(ReportKind::Json) => output.json(&report)?,
        None if output.is_json() => {
            for file in report.files.iter().filter(|file| !(args.quiet && file.is_good())) {
                output.json(file)?;
            }
        }
        None => report.lines(args.quiet).try_for_each(|line| output.line(line))?,
    }
    Ok(if report.is_good() { ExitStatus::Yes } else { ExitStatus::No })
}

/// Checks the files, many at once, showing how far the work is.
fn check_all(paths: Vec<PathBuf>, args: &Args, registry: &Registry) -> Result<CheckReport, Failure> {
    let progress = if args.quiet {
        ProgressBar::hidden()
    } else {
        output::progress(paths.len() as u64, "checking {bar:30} {pos}/{len} {eta}")
    };
    let check_file = |path: &Path| {
        let watch = Stopwatch::start();
        let file = FileCheck::of(path, args.all, registry);
        progress.inc(1);
        FileCheck { time: watch.elapsed(), ..file }
    };
    let limits = CheckLimits { fail_fast: args.fail_fast, jobs: args.jobs };
    let report = check::check_files(paths, limits, &check_file)?;
    progress.finish_and_clear();
    Ok(report)
}
