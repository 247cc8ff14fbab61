//! The files that failed when they were last checked, for `check --failed-first`. The list is a cache, so trouble with
//! it is no error.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};

use turnfold_history::{CheckReport, error::input, history::revision::input_name};

use crate::files;
use crate::limits::FAILED_CHECKS;

/// The path of the list in the user's cache folder. Each line of the list is an absolute path.
const NAME: &str = "turnfold/failed-checks";

/// Moves the files that failed when they were last checked to the front; the order is otherwise kept.
pub(super) fn first(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let failed = read();
    let (mut first, others): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| line_of(path).is_some_and(|line| failed.contains(&line)));
    first.extend(others);
    first
}

/// Adds the failed files, and removes files that passed or are gone. The list is written only if it changes.
pub(super) fn keep(report: &CheckReport) {
    let known = read();
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
    let Some(place) = place() else { return };
    let text: String = failed.iter().flat_map(|line| [line, "\n"]).collect();
    let written = place.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| error.to_string());
    let written = written
        .and_then(|()| files::write_unsynced(&place, text.as_bytes()).map_err(|failure| failure.to_string()));
    if let Err(cause) = written {
        tracing::info!("which files failed is not kept: {cause}");
    }
}

fn read() -> BTreeSet<String> {
    let bytes = place().and_then(|place| input::read_file(&place, &FAILED_CHECKS).ok()).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default().lines().map(Into::into).collect()
}

/// Returns the absolute path of a file as a line; `None` if it is not UTF-8 or has a line break.
fn line_of(path: &Path) -> Option<String> {
    let path = path::absolute(path).ok()?.into_os_string().into_string().ok()?;
    (!path.contains(['\n', '\r'])).then_some(path)
}

/// Returns the path of the list; `None` if no environment variable names a cache folder.
fn place() -> Option<PathBuf> {
    let folder = |variable| env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    };
    Some(cache?.join(NAME))
}
