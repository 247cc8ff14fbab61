//! Many files checked at once, and everything there is to report about them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use turnfold_core::Registry;

use super::mismatch::Mismatch;
use super::replay::{AllDifferences, Checked, check_replay, check_replay_to_end};
use crate::error::ReplayError;
use crate::error::input;
use crate::error::limits;
use crate::fault::catch;
use crate::golden::found::{UnreadPath, replays};
use crate::history::revision::{input_name, is_page};
use crate::text::{Line, added, counted, error_text, plain, printable, removed, strong};
use crate::tfl;
use crate::tfl::in_page::{is_read_as_page, replay_bytes};

/// Checks a replay file, or every `*.tfl` in a folder.
///
/// A file that differs or cannot be read is no error but stands in the report, which has everything that
/// `turnfold check` prints: as text by `Display`, as JSON by `Serialize`.
///
/// # Errors
/// [`ReplayError::Folder`] for what cannot be searched, and [`ReplayError::NoReplays`], so that an empty folder does not pass.
pub fn check(registry: &Registry, path: impl AsRef<Path>) -> Result<CheckReport, ReplayError> {
    let found = replays(&[path.as_ref().to_path_buf()]);
    if let Some(error) = found.failed.into_iter().next() {
        return Err(error);
    }
    let check_file = &|path: &Path| FileCheck::of(path, false, registry);
    let report = check_files(found.files, CheckLimits::default(), check_file)?;
    Ok(CheckReport { unread: found.unread, ..report })
}

/// How many files are checked, and how many at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckLimits {
    /// None after the first that fails.
    pub fail_fast: bool,
    /// How many files are checked at once; otherwise one for each core.
    pub jobs: Option<u16>,
}

/// Checks files with `check_file`, many at once. The report depends neither on how many nor on which is done first.
///
/// # Errors
/// [`ReplayError::Threads`].
pub fn check_files(
    paths: Vec<PathBuf>,
    limits: CheckLimits,
    check_file: &(dyn Fn(&Path) -> FileCheck + Sync),
) -> Result<CheckReport, ReplayError> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(limits.jobs.map_or(0, usize::from))
        .build()
        .map_err(|error| ReplayError::Threads(error.to_string()))?;
    let count = paths.len();
    // The index of the first file known to fail, after which none is checked; those before it are all the same.
    let last = AtomicUsize::new(usize::MAX);
    let checked: Vec<Option<FileCheck>> = pool.install(|| {
        let one = |(index, path): (usize, PathBuf)| {
            let file = (index <= last.load(Ordering::Relaxed)).then(|| check_file(&path));
            if limits.fail_fast && file.as_ref().is_some_and(|file| !file.is_good()) {
                last.fetch_min(index, Ordering::Relaxed);
            }
            file
        };
        paths.into_par_iter().enumerate().map(one).collect()
    });
    let files: Vec<_> = checked.into_iter().take(last.into_inner().saturating_add(1)).flatten().collect();
    let not_checked = count - files.len();
    Ok(CheckReport { files, not_checked, unread: Vec::new() })
}

/// What came of checking files.
#[derive(Debug)]
pub struct CheckReport {
    /// In the order in which they were named and found.
    pub files: Vec<FileCheck>,
    /// How many files were left out after a failure.
    pub not_checked: usize,
    /// What lies in the folders and looks like a replay file, but was not read.
    pub unread: Vec<UnreadPath>,
}

/// What came of checking one file.
#[derive(Debug)]
pub struct FileCheck {
    /// The path as it was named or found.
    pub file: String,
    /// What was found, or why the file cannot be checked at all.
    pub result: Result<Checked, ReplayError>,
    /// Whether it is the replay in a page (VW-27).
    pub is_in_page: bool,
    /// How long it took, if measured.
    pub time: Duration,
}

impl CheckReport {
    /// Returns `true` if every file is good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.failed().next().is_none()
    }

    /// Returns the files that did not pass.
    pub fn failed(&self) -> impl Iterator<Item = &FileCheck> {
        self.files.iter().filter(|file| !file.is_good())
    }

    /// Returns the number of entries in the files that could be read.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.files.iter().filter_map(|file| file.result.as_ref().ok()).map(|checked| checked.entries).sum()
    }

    /// Returns how many files passed, failed and were not checked.
    #[must_use]
    pub fn summary(&self) -> String {
        let failed = self.failed().count();
        let passed = self.files.len() - failed;
        let skipped = match self.not_checked {
            0 => String::new(),
            count => format!(", {count} not checked"),
        };
        format!("{passed} passed, {failed} failed{skipped} ({})", counted(self.entries(), "entry", "entries"))
    }

    /// Returns the report as lines, without good files if it is to be `quiet`.
    pub fn lines(&self, quiet: bool) -> impl Iterator<Item = Line> {
        let files = self.files.iter().filter(move |file| !(quiet && file.is_good()));
        files.flat_map(FileCheck::lines).chain(self.last_lines())
    }

    fn last_lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let failed: Vec<_> = self.failed().filter_map(FileCheck::headline).collect();
        if !failed.is_empty() && self.files.len() > 1 {
            lines.push(strong("failed files:").into());
            let name = |headline: &String| format_args!("  {}", error_text("  ", headline)).into();
            lines.extend(failed.iter().map(name));
        }
        let span = if failed.is_empty() { added } else { removed };
        lines.push(span(self.summary()).into());
        lines
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines(false).try_for_each(|line| writeln!(out, "{line}"))?;
        self.unread.iter().try_for_each(|unread| writeln!(out, "warning: {unread}"))
    }
}

impl FileCheck {
    /// Reads and checks a file, to its end if `all` differences are wanted.
    #[must_use]
    pub fn of(path: &Path, all: bool, registry: &Registry) -> Self {
        match input::read_file(path, &limits::REPLAY) {
            Ok(bytes) => Self::of_bytes(path, bytes, all, registry),
            Err(error) => Self {
                file: input_name(path).into_owned(),
                result: Err(error.into()),
                is_in_page: is_page(path),
                time: Duration::ZERO,
            },
        }
    }

    /// Checks what was read of a file, or of standard input for `-`, as [`of`](Self::of) does.
    #[must_use]
    pub fn of_bytes(path: &Path, bytes: Vec<u8>, all: bool, registry: &Registry) -> Self {
        let file = input_name(path).into_owned();
        let is_in_page = is_read_as_page(path, &bytes);
        let check = || {
            let replay = tfl::read(&file, &replay_bytes(path, bytes)?, registry)?;
            Ok(if all { check_replay_to_end(&replay)? } else { check_replay(&replay)? })
        };
        let result = catch(check).unwrap_or_else(|fault| Err(ReplayError::fault_in(&file, fault)));
        Self { file, result, is_in_page, time: Duration::ZERO }
    }

    /// Returns `true` if the file records what the rules compute.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(&self.result, Ok(Checked { difference: None, .. }))
    }

    /// Returns the first difference.
    #[must_use]
    pub fn mismatch(&self) -> Option<&Mismatch> {
        self.result.as_ref().ok().and_then(|checked| checked.difference.as_deref())
    }

    /// Returns all differences, where they were asked for.
    #[must_use]
    pub fn all(&self) -> Option<&AllDifferences> {
        self.result.as_ref().ok().and_then(|checked| checked.all.as_ref())
    }

    /// Returns the number of the line to look at.
    #[must_use]
    pub fn line(&self) -> usize {
        match &self.result {
            Ok(checked) => checked.difference.as_ref().map_or(1, |mismatch| mismatch.line),
            Err(ReplayError::File(error)) => error.line,
            Err(_) => 1,
        }
    }

    /// Returns in one line what is wrong, where something is.
    #[must_use]
    pub fn headline(&self) -> Option<String> {
        match &self.result {
            Ok(checked) => checked.difference.as_ref().map(|mismatch| mismatch.headline()),
            Err(error) => Some(error_with_advice(error)),
        }
    }

    /// Returns every difference that is kept, line by line, and how many there are where all were asked for.
    #[must_use]
    pub fn mismatch_lines(&self) -> Vec<Line> {
        let mut lines = self.mismatch().map(Mismatch::lines).unwrap_or_default();
        if let Some(all) = self.all().filter(|all| all.count > 0) {
            lines.extend(all.later.iter().flat_map(Mismatch::brief_lines));
            let more = match all.left_out {
                0 => String::new(),
                count => format!(", {count} of them not shown"),
            };
            let count = counted(all.count, "difference", "differences");
            lines.push(strong(format_args!("{}: {count}{more}", printable(&self.file))).into());
        }
        lines
    }

    /// Returns what there is to report of the file, line by line.
    fn lines(&self) -> Vec<Line> {
        match &self.result {
            Ok(Checked { difference: Some(_), .. }) => {
                let mut lines = self.mismatch_lines();
                for span in lines.iter_mut().take(1).flat_map(|line| &mut line.0) {
                    span.text = error_text("", &span.text);
                }
                lines
            }
            Ok(Checked { entries, .. }) => {
                let checked = if self.is_in_page {
                    "; checked: the replay in the page; not checked: what the page shows"
                } else {
                    ""
                };
                let rest = format!(" {} {}{checked}", self.file, counted(*entries, "entry", "entries"));
                vec![Line::from([added("ok"), plain(rest)])]
            }
            Err(error) => {
                let rest = format!(" {}", error_text("failed ", &error_with_advice(error)));
                vec![Line::from([removed("failed"), plain(rest)])]
            }
        }
    }
}

fn error_with_advice(error: &ReplayError) -> String {
    error.advice().map_or_else(|| error.to_string(), |advice| format!("{error}; {advice}"))
}

/// One JSON document; a contract.
impl Serialize for FileCheck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut json = serializer.serialize_struct("FileCheck", 7)?;
        json.serialize_field("file", &self.file)?;
        json.serialize_field("ok", &self.is_good())?;
        json.serialize_field("entries", &self.result.as_ref().ok().map(|checked| checked.entries))?;
        json.serialize_field("error", &self.result.as_ref().err().map(error_with_advice))?;
        json.serialize_field("mismatch", &self.mismatch())?;
        json.serialize_field("differences", &self.all().map(|all| all.count))?;
        json.serialize_field("later", self.all().map_or(&[][..], |all| &all.later))?;
        json.end()
    }
}

/// One JSON document; a contract.
impl Serialize for CheckReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let failed = self.failed().count();
        let mut json = serializer.serialize_struct("CheckReport", 7)?;
        json.serialize_field("ok", &(failed == 0))?;
        json.serialize_field("passed", &(self.files.len() - failed))?;
        json.serialize_field("failed", &failed)?;
        json.serialize_field("not_checked", &self.not_checked)?;
        json.serialize_field("entries", &self.entries())?;
        json.serialize_field("files", &self.files)?;
        json.serialize_field("unread", &self.unread)?;
        json.end()
    }
}
