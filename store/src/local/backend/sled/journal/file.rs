//! The file of the journal.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use turnfold_core::Digest;

use super::frame::{self, FILE, JOURNAL_BYTES};
use super::load::Loaded;
use crate::local::backend::{BackendError, RecordChange};
use crate::local::dir::private::{self, sync_dir};

/// The journal of an open store.
pub(in crate::local::backend::sled) struct Journal {
    path: PathBuf,
    file: File,
    position: Mutex<Position>,
}

/// Where the next frame goes.
struct Position {
    base: Digest,
    end: usize,
    /// How much of the file is used.
    limit: usize,
    /// What was changed since the last commit, and is to be written with the next.
    before: Vec<RecordChange>,
}

impl Journal {
    /// Opens the journal in sled's folder, of which `loaded` is what it holds; makes it when it is not there, or its
    /// making was cut short.
    pub(in crate::local::backend::sled) fn open(
        sled_dir: &Path,
        loaded: &Loaded,
    ) -> Result<Self, BackendError> {
        let path = sled_dir.join(FILE);
        let is_new = loaded.bytes.len() != JOURNAL_BYTES;
        let opened = private::options().write(true).create(is_new).open(&path);
        let file = opened.map_err(|source| BackendError::io("open", &path, source))?;
        let written = if is_new {
            // Space that was never written would have to be noted by the file system with each commit.
            let missing = JOURNAL_BYTES.saturating_sub(loaded.bytes.len());
            write_at(&file, loaded.bytes.len(), &vec![0; missing])
                .and_then(|()| file.sync_all())
                .and_then(|()| sync_dir(sled_dir))
        } else if loaded.end > 0 {
            // A sync may have failed before the store was opened, and a second one may not notice: only what is
            // written again is durable for sure.
            write_at(&file, 0, loaded.bytes.get(..loaded.end).unwrap_or_default())
                .and_then(|()| file.sync_data())
        } else {
            Ok(())
        };
        written.map_err(|source| BackendError::io("write", &path, source))?;
        let position =
            Position { base: loaded.base, end: loaded.end, limit: JOURNAL_BYTES, before: Vec::new() };
        Ok(Self { path, file, position: Mutex::new(position) })
    }

    /// Uses only so many bytes of the file, so that tests see it full.
    pub(in crate::local::backend::sled) fn limit(&self, bytes: usize) {
        self.position().limit = bytes.min(JOURNAL_BYTES);
    }

    /// Returns `true` if only few more commits have room.
    pub(in crate::local::backend::sled) fn is_nearly_full(&self) -> bool {
        let position = self.position();
        position.end > position.limit / 16 * 15
    }

    /// Notes changes that need not be durable, but precede the next commit.
    pub(in crate::local::backend::sled) fn prepare(&self, changes: &[RecordChange]) {
        self.position().before.extend_from_slice(changes);
    }

    /// Writes a commit, durably; returns `false` if there is no room for it.
    pub(in crate::local::backend::sled) fn append(
        &self,
        changes: &[RecordChange],
    ) -> Result<bool, BackendError> {
        let mut position = self.position();
        let Some(bytes) = frame::encode(&position.base, &position.before, changes) else { return Ok(false) };
        if position.end + bytes.len() > position.limit {
            return Ok(false);
        }
        let written = write_at(&self.file, position.end, &bytes);
        written.map_err(|source| BackendError::io("write", &self.path, source))?;
        self.file.sync_data().map_err(|source| BackendError::Unsynced { source })?;
        position.end += bytes.len();
        position.before.clear();
        Ok(true)
    }

    /// Notes that sled has everything, durably. If its store record then has the digest `base`, the journal begins anew.
    pub(in crate::local::backend::sled) fn restart(&self, base: Option<Digest>) {
        let mut position = self.position();
        position.before.clear();
        if let Some(base) = base {
            (position.base, position.end) = (base, 0);
        }
    }

    fn position(&self) -> MutexGuard<'_, Position> {
        // Nothing panics while it is held.
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn write_at(file: &File, at: usize, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at as u64)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, at: usize, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at as u64))?;
    file.write_all(bytes)
}
