//! Builds new stores in a draft folder and renames them when they are complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::backup::error::RescueError;
use crate::draft::{self, DraftDir};
use crate::local::dir::files::sync_dir;
use crate::local::index::tree::sync_all;
use crate::local::journal::head::HEAD_BYTES;
use crate::local::writer::engine::Local;
use crate::local::writer::open_disk::open_or_create;

/// The draft of a store. It is removed unless it is published.
pub(crate) struct NewStore {
    dir: PathBuf,
    draft: DraftDir,
}

impl NewStore {
    /// Prepares a store for `dir`, which must be empty or not exist.
    pub(crate) fn at(dir: &Path) -> Result<Self, RescueError> {
        require_nothing(dir)?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|source| RescueError::io("create", parent, source))?;
        let draft = DraftDir::dir_in(parent)
            .map_err(|source| RescueError::io("create a directory in", parent, source))?;
        Ok(Self { dir: dir.to_owned(), draft })
    }

    /// Returns the directory in which the store is built.
    pub(crate) fn draft(&self) -> PathBuf {
        self.draft.path().join("store")
    }

    /// Returns a directory for temporary files. It is removed in the end.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.draft.path().join("scratch")
    }

    /// Moves the store, which must be closed, to its place.
    pub(crate) fn publish(self) -> Result<(), RescueError> {
        let draft = self.draft();
        settle(&draft)?;
        require_nothing(&self.dir)?;
        let renamed = draft::uninterrupted(|| {
            // Removes an empty directory first, because not every system renames over it.
            match fs::remove_dir(&self.dir) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            fs::rename(&draft, &self.dir)?;
            self.dir.parent().map_or(Ok(()), sync_dir)
        });
        renamed.map_err(|source| RescueError::io("create", &self.dir, source))
    }
}

fn require_nothing(dir: &Path) -> Result<(), RescueError> {
    let not_empty = || RescueError::NotEmpty { dir: dir.to_owned() };
    match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().map_or(Ok(()), |_| Err(not_empty())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(not_empty()),
        Err(source) => Err(RescueError::io("read", dir, source)),
    }
}

/// Makes all files of a closed store durable.
pub(crate) fn settle(dir: &Path) -> Result<(), RescueError> {
    sync_all(dir).map_err(|source| RescueError::io("sync", dir, source))
}

/// Creates a store in a draft directory.
pub(crate) fn create(dir: &Path) -> Result<Local, RescueError> {
    Ok(draft::uninterrupted(|| open_or_create(dir, HEAD_BYTES, &mut |_, _| {}))?)
}
