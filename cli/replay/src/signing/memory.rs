//! What a key has signed, beside it, so that it never signs two histories (TR-10).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_core::trust::{Checkpoint, SignedNote};

use super::error::SigningError;
use super::key_file::{KeyFile, sync_folder_of};
use crate::input::{InputError, read_file};
use crate::limits::NOTE;

/// The memory of a key, held until it is dropped: whoever else wants it waits.
#[derive(Debug)]
pub struct KeyMemory {
    folder: PathBuf,
    _lock: File,
}

/// What a key last signed, cosigned or accepted of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remembered {
    pub(super) note: SignedNote,
    pub(super) checkpoint: Checkpoint,
}

impl KeyMemory {
    /// Takes the memory beside a key file, making it where there is none, and waits for whoever has it.
    ///
    /// # Errors
    /// [`SigningError::Io`].
    pub fn of(key: &KeyFile) -> Result<Self, SigningError> {
        // A link to a key has no memory of its own, or there would be two.
        let real = key.real_path()?;
        let mut folder = real.into_os_string();
        folder.push(".seen");
        let folder = PathBuf::from(folder);
        make_folder(&folder)?;
        let path = folder.join("LOCK");
        let failed = |cause| SigningError::Io { doing: "lock", path: path.clone(), cause };
        let lock = private().create(true).truncate(false).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Self { folder, _lock: lock })
    }

    fn file(&self, origin: &str) -> PathBuf {
        self.folder.join(Digest::new(Sha256::digest(origin).into()).to_string()).join("checkpoint")
    }

    /// Returns what it holds of a log.
    pub(super) fn of_log(&self, origin: &str) -> Result<Option<Remembered>, SigningError> {
        let path = self.file(origin);
        let bytes = match read_file(&path, &NOTE) {
            Err(InputError::Unreadable { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            read => read?,
        };
        let damaged = |reason: String| SigningError::DamagedMemory { path: path.clone(), reason };
        let note = SignedNote::read(&bytes).map_err(|error| damaged(error.to_string()))?;
        let checkpoint: Checkpoint =
            note.text().parse().map_err(|error: turnfold_core::Malformed| damaged(error.to_string()))?;
        if checkpoint.origin != origin {
            return Err(damaged(format!("it is of `{}`", checkpoint.origin)));
        }
        Ok(Some(Remembered { note, checkpoint }))
    }

    /// Returns the last note of a log.
    ///
    /// # Errors
    /// [`SigningError::DamagedMemory`] and [`SigningError::Input`].
    pub fn note_of(&self, origin: &str) -> Result<Option<SignedNote>, SigningError> {
        Ok(self.of_log(origin)?.map(|remembered| remembered.note))
    }

    /// Remembers a note of a log, durably.
    pub(super) fn remember(&self, origin: &str, note: &SignedNote) -> Result<(), SigningError> {
        write_private(&self.file(origin), note.to_string().as_bytes())
    }

    /// Remembers a checkpoint that was accepted, unless one of more records is remembered. That it goes on from that one
    /// is for whoever accepts it.
    pub(crate) fn accept(&self, note: &SignedNote, checkpoint: &Checkpoint) -> Result<(), SigningError> {
        let known = self.of_log(&checkpoint.origin)?;
        if known.is_some_and(|known| known.checkpoint.size >= checkpoint.size) {
            return Ok(());
        }
        self.remember(&checkpoint.origin, note)
    }

    /// Returns what is kept under a name in a folder of the memory, such as a paper.
    pub(crate) fn kept(&self, folder: &str, name: &str) -> Result<Option<Vec<u8>>, SigningError> {
        match read_file(&self.folder.join(folder).join(name), &NOTE) {
            Err(InputError::Unreadable { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(read?)),
        }
    }

    /// Keeps something under a name in a folder of the memory, durably.
    pub(crate) fn keep(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<(), SigningError> {
        write_private(&self.folder.join(folder).join(name), bytes)
    }
}

/// Writes a file that only its owner may read, whole and durably, in a folder that is made where there is none.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), SigningError> {
    let new = path.with_extension("new");
    let failed = |cause| SigningError::Io { doing: "write", path: path.into(), cause };
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let write = || {
        let mut file = private().create(true).truncate(true).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&new, path)?;
        sync_folder_of(path)
    };
    write().map_err(failed)
}

/// Makes a folder that only its owner may enter, durably; it is no error that it is there.
fn make_folder(folder: &Path) -> Result<(), SigningError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.and_then(|()| sync_folder_of(folder)),
    };
    made.map_err(|cause| SigningError::Io { doing: "make", path: folder.into(), cause })
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
