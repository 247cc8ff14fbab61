//! Checks many files at once and reports the results.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use turnfold_core::Registry;

use super::{Checked, FoundFiles, Mismatch, UnreadPath};
use crate::input::{InputError, Limits, input_name};
use crate::text::{Line, added, counted, error_text, plain, printable, removed, strong};
use crate::tfl::in_page::{is_read_as_page, replay_bytes};
use crate::{ReplayError, catch, tfl};

/// Checks a replay file, or every `*.tfl` in a folder.
///
/// A file that differs or cannot be read is not an error: it is in the report. The report has everything that
/// `turnfold check` prints: as text by `Display`, as JSON by `Serialize`.
///
/// # Errors
/// [`ReplayError::Folder`] for a path that cannot be searched, and [`ReplayError::NoReplays`], because an empty folder
/// must not pass.
pub fn check(registry: &Registry, path: impl AsRef<Path>) -> Result<CheckReport, ReplayError> {
    let found = FoundFiles::replays(&[path.as_ref().to_path_buf()]);
    if let Some(error) = found.failed.into_iter().next() {
        return Err(error);
    }
    let check_file = &|path: &Path| FileCheck::of(path, Limits::REPLAY.read_file(path), false, registry);
    let mut report = CheckReport::of_files(found.files, false, None, check_file)?;
    report.unread = found.unread;
    Ok(report)
}

impl CheckReport {
    /// Checks files with `check_file`, `jobs` of them at once or one for each core. The report does not depend on how
    /// many, or on which is finished first. With `fail_fast`, stops after the first file that fails.
    ///
    /// # Errors
    /// [`ReplayError::Threads`].
    pub fn of_files(
        paths: Vec<PathBuf>,
        fail_fast: bool,
        jobs: Option<u16>,
        check_file: &(dyn Fn(&Path) -> FileCheck + Sync),
    ) -> Result<Self, ReplayError> {
        let pool = ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from)).build();
        let pool = pool.map_err(|error| ReplayError::Threads(error.to_string()))?;
        let count = paths.len();
        // The index of the first file known to fail. Later files are then skipped, but those before it are all checked.
        let last = AtomicUsize::new(usize::MAX);
        let checked: Vec<Option<FileCheck>> = pool.install(|| {
            let checked = paths.into_par_iter().enumerate().map(|(index, path)| {
                if index > last.load(Ordering::Relaxed) {
                    return None;
                }
                let file = check_file(&path);
                if fail_fast && !file.is_good() {
                    last.fetch_min(index, Ordering::Relaxed);
                }
                Some(file)
            });
            checked.collect()
        });
        let files: Vec<_> = checked.into_iter().take(last.into_inner().saturating_add(1)).flatten().collect();
        let mut failed = 0;
        let mut entries = 0;
        for file in &files {
            failed += usize::from(!file.is_good());
            if let Ok(checked) = &file.result {
                entries += checked.entries;
            }
        }
        Ok(Self {
            ok: failed == 0,
            passed: files.len() - failed,
            failed,
            not_checked: count - files.len(),
            entries,
            files,
            unread: Vec::new(),
        })
    }

    /// Returns `true` if every file is good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.ok
    }

    /// Returns the number of entries in the files that could be read.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns how many files passed, failed and were not checked.
    #[must_use]
    pub fn summary(&self) -> String {
        let Self { passed, failed, .. } = self;
        let skipped = match self.not_checked {
            0 => String::new(),
            count => format!(", {count} not checked"),
        };
        format!("{passed} passed, {failed} failed{skipped} ({})", counted(self.entries, "entry", "entries"))
    }

    /// Returns the report as lines; with `quiet`, without the good files.
    #[must_use]
    pub fn lines(&self, quiet: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut headlines = Vec::new();
        for file in &self.files {
            if !quiet || !file.is_good() {
                lines.extend(file.lines());
            }
            headlines.extend(file.headline());
        }
        if !self.ok && self.files.len() > 1 {
            lines.push(strong("failed files:").into());
            for headline in headlines {
                lines.push(format!("  {}", error_text("  ", &headline)).into());
            }
        }
        let summary = self.summary();
        let summary = if self.ok { added(summary) } else { removed(summary) };
        lines.push(summary.into());
        lines
    }
}

/// The results of checking files. The JSON form is stable.
#[derive(Debug, Serialize)]
pub struct CheckReport {
    ok: bool,
    passed: usize,
    failed: usize,
    /// The number of files that were skipped after a failure.
    not_checked: usize,
    entries: u64,
    /// The results, in the order in which the files were named and found.
    pub files: Vec<FileCheck>,
    /// Paths in the folders that look like replay files, but were not read.
    pub unread: Vec<UnreadPath>,
}

/// The result of checking one file.
#[derive(Debug)]
pub struct FileCheck {
    /// The path as it was named or found.
    pub file: String,
    /// The result, or why the file cannot be checked.
    pub result: Result<Checked, ReplayError>,
    /// Whether the replay is in a page (VW-27).
    pub is_in_page: bool,
    /// How long the check took; zero if not measured.
    pub time: Duration,
}

impl fmt::Display for CheckReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.lines(false) {
            writeln!(out, "{line}")?;
        }
        for unread in &self.unread {
            writeln!(out, "warning: {unread}")?;
        }
        Ok(())
    }
}

impl FileCheck {
    /// Checks what was read of a file, or of standard input for `-`. With `all`, finds all differences instead of the
    /// first.
    #[must_use]
    pub fn of(path: &Path, read: Result<Vec<u8>, InputError>, all: bool, registry: &Registry) -> Self {
        let file = input_name(path).into_owned();
        let is_in_page = read.as_ref().is_ok_and(|bytes| is_read_as_page(path, bytes));
        let result = catch(|| {
            let replay = tfl::read(&file, &replay_bytes(path, read?)?, registry)?;
            Ok(if all { replay.check_to_end()? } else { replay.check()? })
        });
        let result = result.unwrap_or_else(|fault| Err(ReplayError::unreadable(&file, fault)));
        Self { file, result, is_in_page, time: Duration::ZERO }
    }

    /// Names the program whose next command a mismatch shows; otherwise it is `turnfold`.
    pub fn set_program(&mut self, program: &'static str) {
        let Ok(Checked { difference, later, .. }) = &mut self.result else { return };
        if let Some(mismatch) = difference {
            mismatch.program = program;
        }
        for mismatch in later {
            mismatch.program = program;
        }
    }

    /// Returns `true` if the file records what the rules compute.
    #[must_use]
    pub fn is_good(&self) -> bool {
        matches!(&self.result, Ok(Checked { difference: None, .. }))
    }

    /// Returns the first difference.
    #[must_use]
    pub fn mismatch(&self) -> Option<&Mismatch> {
        self.result.as_ref().ok()?.difference.as_deref()
    }

    /// Returns the number of the line to look at.
    #[must_use]
    pub fn line(&self) -> usize {
        match &self.result {
            Ok(Checked { difference: Some(mismatch), .. }) => mismatch.line,
            Err(ReplayError::File(error)) => error.line,
            _ => 1,
        }
    }

    /// Returns in one line what is wrong, if anything is.
    #[must_use]
    pub fn headline(&self) -> Option<String> {
        match &self.result {
            Ok(checked) => Some(checked.difference.as_ref()?.headline()),
            Err(error) => Some(error_with_advice(error)),
        }
    }

    /// Returns every kept difference as lines, and the number of all if they were requested.
    #[must_use]
    pub fn mismatch_lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let Ok(Checked { difference, count, later, left_out, .. }) = &self.result else { return lines };
        if let Some(mismatch) = difference {
            lines = mismatch.lines();
        }
        for mismatch in later {
            lines.extend(mismatch.brief_lines());
        }
        if let Some(count @ 1..) = count {
            let count = counted(*count, "difference", "differences");
            let more = match left_out {
                0 => String::new(),
                left_out => format!(", {left_out} of them not shown"),
            };
            lines.push(strong(format_args!("{}: {count}{more}", printable(&self.file))).into());
        }
        lines
    }

    fn lines(&self) -> Vec<Line> {
        match &self.result {
            Ok(Checked { difference: Some(_), .. }) => {
                let mut lines = self.mismatch_lines();
                if let Some(heading) = lines.first_mut() {
                    for span in &mut heading.0 {
                        span.text = error_text("", &span.text);
                    }
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
    match error.advice() {
        Some(advice) => format!("{error}; {advice}"),
        None => error.to_string(),
    }
}

/// Writes one JSON document, whose form is stable.
impl Serialize for FileCheck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let checked = self.result.as_ref().ok();
        let mut json = serializer.serialize_struct("FileCheck", 7)?;
        json.serialize_field("file", &self.file)?;
        json.serialize_field("ok", &self.is_good())?;
        json.serialize_field("entries", &checked.map(|checked| checked.entries))?;
        json.serialize_field("error", &self.result.as_ref().err().map(error_with_advice))?;
        json.serialize_field("mismatch", &self.mismatch())?;
        json.serialize_field("differences", &checked.and_then(|checked| checked.count))?;
        json.serialize_field("later", checked.map_or(&[][..], |checked| &checked.later))?;
        json.end()
    }
}
