//! Which files named folders hold: those to read, and those that look like replay files and are not read.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use walkdir::WalkDir;

use crate::error::ReplayError;
use crate::history::revision::{has_ending, is_standard};
use crate::text::printable;
use crate::tfl::FIRST_WORDS;

/// What was found under the names of files and folders.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// The files to read, in order.
    pub files: Vec<PathBuf>,
    /// What looks like a replay file, or leads to some, and is not read.
    pub unread: Vec<UnreadPath>,
    /// What cannot be searched, or holds nothing to read.
    pub failed: Vec<ReplayError>,
}

/// Something in a folder that a reader could take for a file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadPath {
    /// Its path.
    #[serde(rename = "file")]
    pub path: PathBuf,
    /// Why it is not read.
    pub why: UnreadReason,
}

/// Why something in a folder is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadReason {
    /// It looks like a replay file, but its name ends otherwise.
    Name,
    /// It is a link to a folder above it, so that a search would not end.
    Loop,
}

impl fmt::Display for UnreadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display().to_string();
        let path = printable(&path);
        match self.why {
            UnreadReason::Name => {
                write!(
                    out,
                    "`{path}` looks like a replay file and was not read; a name must end in `.tfl`, or be given"
                )
            }
            UnreadReason::Loop => {
                write!(out, "`{path}` is a link to a folder above it and was not searched")
            }
        }
    }
}

/// Finds the named replay files and the files in named folders.
#[must_use]
pub fn replays(paths: &[PathBuf]) -> FoundFiles {
    files_ending(paths, &["tfl"])
}

/// Finds the named files and the files with one of these endings in named folders; `-` is standard input.
///
/// A folder without any is among those that failed, since reading nothing must not pass. Links are followed, but each folder
/// is searched only once, so that no file is read under two names because of a link to its folder.
#[must_use]
pub fn files_ending(paths: &[PathBuf], endings: &[&str]) -> FoundFiles {
    let mut all = FoundFiles::default();
    for path in paths {
        if is_standard(path) {
            all.files.push(path.clone());
            continue;
        }
        if !path.is_dir() {
            match fs::metadata(path) {
                Ok(_) => all.files.push(path.clone()),
                Err(cause) => {
                    all.failed.push(ReplayError::Folder { path: path.clone(), cause: cause.to_string() });
                }
            }
            continue;
        }
        let mut search = Search { endings, found: FoundFiles::default(), searched: BTreeSet::new() };
        search.folder(path);
        let mut found = search.found;
        if found.files.is_empty() && found.failed.is_empty() {
            found.failed.push(ReplayError::NoReplays(path.clone()));
        }
        all.add(found);
    }
    all
}

impl FoundFiles {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, more: Self) {
        self.files.extend(more.files);
        self.unread.extend(more.unread);
        self.failed.extend(more.failed);
    }

    /// Adds a file that was found in a folder or by a pattern, if it is one to read or looks like one.
    pub fn add_if_ending(&mut self, path: PathBuf, endings: &[&str]) {
        if endings.iter().any(|ending| has_ending(&path, ending)) {
            self.files.push(path);
        } else if looks_like_replay(&path) {
            self.unread.push(UnreadPath { path, why: UnreadReason::Name });
        }
    }
}

/// A search in one named folder.
struct Search<'a> {
    endings: &'a [&'a str],
    found: FoundFiles,
    /// The folders searched so far, without links in their paths.
    searched: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, root: &Path) {
        let mut links = Vec::new();
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_path_buf();
                    let cause = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.found.failed.push(ReplayError::Folder { path, cause });
                    continue;
                }
            };
            // A link that leads nowhere counts as a file, which then fails.
            if !entry.path().is_dir() {
                self.found.add_if_ending(entry.into_path(), self.endings);
                continue;
            }
            let real = fs::canonicalize(entry.path()).unwrap_or_else(|_| entry.path().to_path_buf());
            if entry.depth() > 0 && entry.path_is_symlink() {
                links.push((entry.into_path(), real));
            } else if !self.searched.insert(real) {
                walk.skip_current_dir();
            }
        }
        // Links come last, because a file is better named by the folder that holds it.
        for (path, real) in links {
            if self.searched.contains(&real) {
                continue;
            }
            if self.searched.iter().any(|searched| searched.starts_with(&real)) {
                self.found.unread.push(UnreadPath { path, why: UnreadReason::Loop });
            } else {
                self.folder(&path);
            }
        }
    }
}

/// Returns `true` if a file without the right ending has a replay file's name with something added, or begins like one.
fn looks_like_replay(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if name.contains(".tfl") {
        return true;
    }
    // To open a pipe would wait for a writer.
    if !path.is_file() {
        return false;
    }
    let mut beginning = Vec::new();
    let begun =
        File::open(path).and_then(|file| file.take(FIRST_WORDS.len() as u64).read_to_end(&mut beginning));
    begun.is_ok() && beginning == FIRST_WORDS.as_bytes()
}
