//! `turnfold check`: verifies golden logs.

mod watch;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::ProgressBar;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use serde_json::Value;
use turnfold_core::Registry;
use turnfold_history::ReplayError;
use turnfold_history::golden::{CheckReport, FileCheck, FoundFiles};
use turnfold_history::input::{Limits, has_ending, input_name, is_page, is_standard};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{self, folder_of};
use crate::output::{Line, Output, printable_lines};
use crate::sources::{read_piped, warn_of_unread};
use crate::{clock, program, stderr};

/// Verify golden logs
///
/// Folds every replay file again, in parallel, and compares each outcome and state hash; then folds it a second time and
/// from a state stored half-way, which must give the same. A failure shows the first entry that differs, the rules its
/// outcome names, the expected and the computed outcome, and how the states differ field by field. If the expected state
/// is not known, it shows what the entry changes. With `--all` the comparison continues to the end of the file, or to an
/// entry that the rules reject. Exits with 1 when any file fails.
///
/// `--failed-first` begins with the files that failed when last checked. Every `check` keeps their paths in
/// `turnfold/failed-checks` in the user's cache folder; files that pass are removed from it.
///
/// `--watch` checks again whenever a checked file, a module or this program changes, or a file that the command of a referee
/// names, and, if that is a script, files of the same ending next to it and below. It looks several times a second. Ctrl-C
/// ends it with the exit code of the last check. `--watch-path` adds further paths.
///
/// In a page that `export --html` made for the host, `check` checks the embedded replay and counts lines in that. It does
/// not check what the page shows: use `turnfold export FILE.html --html` to make your own page from the replay.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold check\n  turnfold check --fail-fast --quiet replays/initiative\n  \
    turnfold check --all bug.tfl\n  \
    turnfold check --failed-first --fail-fast --junit check.xml\n  \
    turnfold check --watch --quiet"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Args {
    /// Replay files, pages of `export --html`, or folders to search for `*.tfl`; `-` is standard input
    #[arg(value_name = "PATH", default_value = "replays")]
    paths: Vec<PathBuf>,

    /// Show every difference in a file, not only the first: at most 100, and how many more there are
    #[arg(long)]
    all: bool,

    /// Check no file after the first that fails
    #[arg(long)]
    fail_fast: bool,

    /// Check the files first that failed when they were last checked
    #[arg(long)]
    failed_first: bool,

    /// Check again whenever something changes, until Ctrl-C
    #[arg(long, conflicts_with = "report")]
    watch: bool,

    /// With `--watch`, check again also when this file, or one in this folder, changes; may be repeated
    #[arg(long, value_name = "PATH", requires = "watch")]
    watch_path: Vec<PathBuf>,

    /// How many files to check at once [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,

    /// Print only failures and the summary
    #[arg(short, long, conflicts_with = "report")]
    quiet: bool,

    /// Print one document for other programs; `--format json` prints a line for each file instead
    #[arg(long, value_enum, value_name = "KIND")]
    report: Option<ReportKind>,

    /// Also write a JUnit report to a file, which is overwritten
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportKind {
    /// JUnit XML, one test case for each file
    Junit,
    /// Commands of a GitHub workflow, which mark the line in the file
    Github,
    /// One JSON document with the summary and every file
    Json,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if args.report.is_some() {
        let refused = Failure::usage("`--report` and `--format json` exclude each other");
        let hint = "`--report json` prints one document, `--format json` a line for each file";
        context.output.refuse_json(refused.hint(hint))?;
    }
    if args.watch && env::var_os(watch::ONCE).is_none() {
        return watch::run(args, context);
    }
    if let Some(file) = &args.junit
        && (is_page(file) || has_ending(file, "tfl"))
    {
        return Err(Failure::usage(format!("`{}` is the name of a replay file or page", files::shown(file)))
            .hint("`--junit` takes the name of the report, such as `check.xml`"));
    }
    let stopwatch = clock::stopwatch();
    let FoundFiles { files, unread, failed } = FoundFiles::replays(&args.paths);
    let mut unsearched: Vec<_> = failed.into_iter().map(Failure::from).collect();
    let mut paths = files::with_replays(files, &mut unsearched);
    warn_of_unread(&unread);
    if paths.is_empty() {
        return ExitStatus::Yes.unless(unsearched);
    }
    let piped = read_piped(&paths)?;
    if args.failed_first {
        let failed = failed_before();
        paths.sort_by_cached_key(|path| line_of(path).is_none_or(|line| !failed.contains(&line)));
    }
    let mut report = check_all(paths, &piped, args, &context.registry)?;
    report.unread = unread;
    keep_failed(&report);
    let time = stopwatch.elapsed();
    if let Some(file) = &args.junit {
        files::write_whole(file, printable_lines(&junit(&report, time)?).as_bytes())?;
    }
    let output = &mut context.output;
    match args.report {
        Some(ReportKind::Junit) => output.text(&junit(&report, time)?)?,
        Some(ReportKind::Github) => print_github(&report, output)?,
        Some(ReportKind::Json) => output.json(&report)?,
        None => {
            let mut files: Vec<_> = report.files.iter().collect();
            files.retain(|file| !args.quiet || !file.is_good());
            output.list(&files, |_| report.lines(args.quiet))?;
        }
    }
    context.output.flush()?;
    ExitStatus::from(report.is_good()).unless(unsearched)
}

fn check_all(paths: Vec<PathBuf>, piped: &[u8], args: &Args, registry: &Registry) -> Result<CheckReport> {
    let progress = if args.quiet {
        ProgressBar::hidden()
    } else {
        stderr::progress(paths.len() as u64, "checking {bar:30} {pos}/{len} {eta}")
    };
    let check_file = |path: &Path| {
        let stopwatch = clock::stopwatch();
        let read = if is_standard(path) { Ok(piped.to_vec()) } else { Limits::REPLAY.read_file(path) };
        let mut file = FileCheck::of(path, read, args.all, registry);
        progress.inc(1);
        file.set_program(program::name());
        FileCheck { time: stopwatch.elapsed(), ..file }
    };
    let report = CheckReport::of_files(paths, args.fail_fast, args.jobs, &check_file)?;
    progress.finish_and_clear();
    Ok(report)
}

/// The path of the list of files that failed when they were last checked, in the user's cache folder. Each line is an
/// absolute path. The list is a cache, so trouble with it is no error.
const FAILED: &str = "turnfold/failed-checks";

/// A longer list is discarded.
const FAILED_LIMITS: Limits =
    Limits { what: "list of failed checks", bytes_max: 4 << 20, lines_max: 1 << 16, line_bytes_max: 1 << 12 };

fn failed_before() -> BTreeSet<String> {
    let Some(list) = failed_list() else { return BTreeSet::new() };
    let bytes = FAILED_LIMITS.read_file(&list).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default().lines().map(Into::into).collect()
}

/// Adds the failed files, and removes files that passed or are gone. The list is written only if it changes.
fn keep_failed(report: &CheckReport) {
    let known = failed_before();
    let mut failed = known.clone();
    failed.retain(|line| Path::new(line).exists());
    for file in &report.files {
        // Standard input cannot be checked again.
        if file.file == input_name(Path::new("-")) {
            continue;
        }
        let Some(line) = line_of(Path::new(&file.file)) else { continue };
        if file.is_good() {
            failed.remove(&line);
        } else {
            failed.insert(line);
        }
    }
    if failed == known {
        return;
    }
    let Some(list) = failed_list() else { return };
    let mut text = String::new();
    for line in &failed {
        text = text + line + "\n";
    }
    // Without its folder, the list cannot be written.
    let _ = fs::create_dir_all(files::dir_of(&list));
    if let Err(cause) = files::write_unsynced(&list, text.as_bytes()) {
        tracing::info!("which files failed is not kept: {cause}");
    }
}

fn line_of(path: &Path) -> Option<String> {
    let path = path::absolute(path).ok()?.into_os_string().into_string().ok()?;
    if path.contains(['\n', '\r']) { None } else { Some(path) }
}

fn failed_list() -> Option<PathBuf> {
    let cache = if cfg!(windows) {
        folder_of("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        folder_of("HOME")?.join("Library/Caches")
    } else {
        folder_of("XDG_CACHE_HOME").or_else(|| Some(folder_of("HOME")?.join(".cache")))?
    };
    Some(cache.join(FAILED))
}

/// Returns a JUnit XML report: a suite for each folder, a case for each file. The line of a case is that of its first
/// difference, or 1.
fn junit(results: &CheckReport, time: Duration) -> Result<String> {
    let mut report = quick_junit::Report::new("turnfold check");
    let mut suites: Vec<TestSuite> = Vec::new();
    for file in &results.files {
        let path = Path::new(&file.file);
        let folder = xml_text(&files::dir_of(path).display().to_string());
        let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
        let mut case = TestCase::new(xml_text(&name), status(file));
        case.set_classname(folder.as_str()).set_time(file.time);
        case.extra.insert("file".into(), xml_text(&file.file).into());
        case.extra.insert("line".into(), file.line().to_string().into());
        if let Some(suite) = suites.iter_mut().find(|suite| suite.name.as_str() == folder) {
            suite.add_test_case(case);
        } else {
            let mut suite = TestSuite::new(folder);
            suite.add_test_case(case);
            suites.push(suite);
        }
    }
    for suite in &mut suites {
        let time = suite.test_cases.iter().filter_map(|case| case.time).sum();
        suite.set_time(time);
    }
    report.set_time(time).add_test_suites(suites);
    report.to_string().map_err(|error| Failure::trouble(format!("cannot write XML: {error}")))
}

fn status(file: &FileCheck) -> TestCaseStatus {
    let Some(headline) = file.headline() else { return TestCaseStatus::success() };
    let kind = if file.result.is_ok() { NonSuccessKind::Failure } else { NonSuccessKind::Error };
    let mut status = TestCaseStatus::non_success(kind);
    // The kind of failure by its name in JSON.
    let mut name = "unusable".to_owned();
    let mut text = headline.clone();
    if let Some(mismatch) = file.mismatch() {
        if let Ok(Value::String(kind)) = serde_json::to_value(mismatch.kind()) {
            name = kind;
        }
        text = joined(&file.mismatch_lines());
    }
    status.set_message(xml_text(&headline)).set_type(name).set_description(xml_text(&text));
    status
}

fn xml_text(text: &str) -> String {
    // XML cannot hold these two, but its writer passes them on. It omits control characters itself.
    text.replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

fn joined(lines: &[Line]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        for span in &line.0 {
            text.push_str(&span.text);
        }
    }
    text
}

/// Prints an `::error` command for each difference, which marks the line in the file, and the summary.
fn print_github(results: &CheckReport, output: &mut Output) -> Result<()> {
    for file in &results.files {
        let Some(mut text) = file.headline() else { continue };
        let title = match &file.result {
            Ok(checked) => checked.difference.as_ref().map(|mismatch| mismatch.title()).unwrap_or_default(),
            Err(ReplayError::File(error)) => error.message.clone(),
            Err(_) => text.clone(),
        };
        if let Some(mismatch) = file.mismatch() {
            text = joined(&mismatch.lines());
        }
        output.line(error_command(&file.file, file.line(), &title, &text))?;
        let Ok(checked) = &file.result else { continue };
        for mismatch in &checked.later {
            let text = joined(&mismatch.brief_lines());
            output.line(error_command(&file.file, mismatch.line, &mismatch.title(), &text))?;
        }
    }
    output.line(results.summary())?;
    Ok(())
}

fn error_command(file: &str, line: usize, title: &str, text: &str) -> String {
    format!("::error file={},line={line},title={}::{}", property(file), property(title), message(text))
}

fn message(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            _ if character.is_control() => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn property(text: &str) -> String {
    // A property of a workflow command ends at a comma or colon.
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_commands_are_escaped() {
        assert_eq!(message("50 %\r\na: b, c\u{1b}[31m"), "50 %25%0D%0Aa: b, c\\u{1b}[31m");
        assert_eq!(property("a,b:c\n%"), "a%2Cb%3Ac%0A%25");
    }
}
