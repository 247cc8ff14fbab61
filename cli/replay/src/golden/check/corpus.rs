//! Finding the replay files of a corpus.

use std::path::PathBuf;

use walkdir::WalkDir;

use crate::error::ReplayError;

/// Finds the named replay files and the files in named folders, in order.
///
/// # Errors
/// [`ReplayError::Folder`], and [`ReplayError::NoReplays`] since checking nothing must not pass.
pub fn replays(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ReplayError> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| ReplayError::Folder {
                path: error.path().unwrap_or(path).to_path_buf(),
                cause: error.io_error().map_or_else(|| error.to_string(), ToString::to_string),
            })?;
            let named = entry.depth() == 0;
            let is_replay = named || entry.path().extension().is_some_and(|it| it == "tfl");
            // A link counts as what it leads to, and one that leads nowhere as a file, which then fails.
            if is_replay && !entry.path().is_dir() {
                files.push(entry.into_path());
            }
        }
        if files.len() == before {
            return Err(ReplayError::NoReplays(path.clone()));
        }
    }
    Ok(files)
}
