//! The files that failed when they were last checked, for `check --failed-first`. The list is a cache, so trouble with
//! it is no error.

use std::collections::BTreeSet;
use std::fs;
use std::path::{self, Path, PathBuf};

use turnfold_history::golden::CheckReport;
use turnfold_history::input::input_name;

use crate::files::{self, folder_of};
use crate::limits::FAILED_CHECKS;

/// The path of the list in the user's cache folder. Each line of the list is an absolute path.
const NAME: &str = "turnfold/failed-checks";

pub(super) fn first(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let failed = read();
    let mut first = Vec::new();
    let mut others = Vec::new();
    for path in paths {
        match line_of(&path) {
            Some(line) if failed.contains(&line) => first.push(path),
            _ => others.push(path),
        }
    }
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
    let mut text = String::new();
    for line in &failed {
        text = text + line + "\n";
    }
    if let Some(folder) = place.parent()
        && let Err(cause) = fs::create_dir_all(folder)
    {
        tracing::info!("which files failed is not kept: {cause}");
    } else if let Err(cause) = files::write_unsynced(&place, text.as_bytes()) {
        tracing::info!("which files failed is not kept: {cause}");
    }
}

fn read() -> BTreeSet<String> {
    let Some(place) = place() else { return BTreeSet::new() };
    let bytes = FAILED_CHECKS.read_file(&place).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default().lines().map(Into::into).collect()
}

fn line_of(path: &Path) -> Option<String> {
    let path = path::absolute(path).ok()?.into_os_string().into_string().ok()?;
    if path.contains(['\n', '\r']) { None } else { Some(path) }
}

fn place() -> Option<PathBuf> {
    let cache = if cfg!(windows) {
        folder_of("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        folder_of("HOME")?.join("Library/Caches")
    } else {
        folder_of("XDG_CACHE_HOME").or_else(|| Some(folder_of("HOME")?.join(".cache")))?
    };
    Some(cache.join(NAME))
}
