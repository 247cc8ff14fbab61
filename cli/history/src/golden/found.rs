//! Finds the replay files in folders, and files that look like replay files but are not read.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;
use walkdir::WalkDir;

use crate::ReplayError;
use crate::input::{has_ending, is_standard};
use crate::text::printable;
use crate::tfl::FIRST_WORDS;

/// What was found under the given paths.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// The files to read, in order.
    pub files: Vec<PathBuf>,
    /// Files that look like replay files, and links to folders, that are not read.
    pub unread: Vec<UnreadPath>,
    /// Folders and files that cannot be read, and folders without a file to read.
    pub failed: Vec<ReplayError>,
}

/// A path in a folder that someone might assume was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadPath {
    #[serde(rename = "file")]
    pub(crate) path: PathBuf,
    pub(crate) why: UnreadReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UnreadReason {
    /// The file looks like a replay file, but its name has another ending.
    Name,
    /// The path is a link to a folder above it, so a search would not end.
    Loop,
}

impl fmt::Display for UnreadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.why {
            UnreadReason::Name => {
                "looks like a replay file and was not read; a name must end in `.tfl`, or be given"
            }
            UnreadReason::Loop => "is a link to a folder above it and was not searched",
        };
        write!(out, "`{}` {what}", printable(&self.path.display().to_string()))
    }
}

impl FoundFiles {
    /// Returns the given replay files and those in the given folders.
    #[must_use]
    pub fn replays(paths: &[PathBuf]) -> Self {
        Self::with_ending(paths, &["tfl"])
    }

    /// Returns the given files, and the files with one of these endings in the given folders; `-` is standard input.
    ///
    /// A folder without such a file counts as failed, because reading nothing must not pass. Links are followed, but
    /// each folder is searched only once, so that a link to a folder gives no file a second name.
    #[must_use]
    pub fn with_ending(paths: &[PathBuf], endings: &[&str]) -> Self {
        let mut all = Self::default();
        for path in paths {
            let is_folder = match fs::metadata(path) {
                _ if is_standard(path) => false,
                Ok(found) => found.is_dir(),
                Err(cause) => {
                    all.failed.push(ReplayError::Folder(path.clone(), cause.to_string()));
                    continue;
                }
            };
            if !is_folder {
                all.files.push(path.clone());
                continue;
            }
            let files = all.files.len();
            let failed = all.failed.len();
            all.search(path, endings, &mut BTreeSet::new());
            if all.files.len() == files && all.failed.len() == failed {
                all.failed.push(ReplayError::NoReplays(path.clone()));
            }
        }
        all
    }

    /// Adds a file from a folder or pattern: as one to read if its ending fits, or as unread if it looks like a replay
    /// file.
    pub fn add_if_ending(&mut self, path: PathBuf, endings: &[&str]) {
        if endings.iter().any(|ending| has_ending(&path, ending)) {
            self.files.push(path);
        } else if looks_like_replay(&path) {
            self.unread.push(UnreadPath { path, why: UnreadReason::Name });
        }
    }

    /// Searches a folder. `searched` are the folders searched so far, without links in their paths.
    fn search(&mut self, root: &Path, endings: &[&str], searched: &mut BTreeSet<PathBuf>) {
        let mut links = Vec::new();
        let mut walk = WalkDir::new(root).sort_by_file_name().into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_path_buf();
                    let cause = match error.io_error() {
                        Some(cause) => cause.to_string(),
                        None => error.to_string(),
                    };
                    self.failed.push(ReplayError::Folder(path, cause));
                    continue;
                }
            };
            // A broken link counts as a file, whose reading then fails.
            if !entry.path().is_dir() {
                self.add_if_ending(entry.into_path(), endings);
                continue;
            }
            let real = fs::canonicalize(entry.path()).unwrap_or_else(|_| entry.path().to_path_buf());
            if entry.depth() > 0 && entry.path_is_symlink() {
                links.push((entry.into_path(), real));
            } else if !searched.insert(real) {
                walk.skip_current_dir();
            }
        }
        // Links come last, so that a file is named by its own folder and not by a link to it.
        for (path, real) in links {
            if searched.contains(&real) {
                continue;
            }
            if searched.iter().any(|searched| searched.starts_with(&real)) {
                self.unread.push(UnreadPath { path, why: UnreadReason::Loop });
            } else {
                self.search(&path, endings, searched);
            }
        }
    }
}

fn looks_like_replay(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if name.contains(".tfl") {
        return true;
    }
    // Opening a pipe would wait for a writer.
    if !path.is_file() {
        return false;
    }
    let mut beginning = Vec::new();
    let Ok(file) = File::open(path) else { return false };
    let read = file.take(FIRST_WORDS.len() as u64).read_to_end(&mut beginning);
    read.is_ok() && beginning == FIRST_WORDS.as_bytes()
}
