//! The memory of a key: what it has signed, so that it never signs two histories (TR-10, TR-16).
//!
//! The folder `FILE.seen` has a folder for each log, named by the SHA-256 of its origin, with the file `checkpoint`. A
//! branch of a match can be signed under several names, so the folder named by the SHA-256 of `ID/BRANCH` has the file
//! `origins`, which lists them, one a line. `FORMAT` marks a memory whose `checkpoint` files are all listed. An older memory is
//! listed when it is next opened.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use turnfold_core::trust::{BranchOrigin, Checkpoint, SignedNote};
use turnfold_core::{Digest, Malformed};
use turnfold_history::input::InputError;

use super::key_file::{KeyFile, sync_folder_of};
use crate::error::ProofError;
use crate::limits::NOTE;

const FORMAT: &str = "turnfold key memory 2\n";

const CHECKPOINT: &str = "checkpoint";

/// The memory of a key. Other processes wait until it is dropped.
#[derive(Debug)]
pub struct KeyMemory {
    folder: PathBuf,
    lock: File,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remembered {
    pub(super) note: SignedNote,
    pub(super) checkpoint: Checkpoint,
}

/// What a key remembers of a log: under its origin, and of the same branch under other names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownLog {
    pub(super) own: Option<Remembered>,
    pub(super) under_other_names: Vec<Remembered>,
}

impl KnownLog {
    pub(super) fn checkpoints(&self) -> Vec<&Checkpoint> {
        let mut checkpoints = Vec::new();
        for remembered in self.own.iter().chain(&self.under_other_names) {
            checkpoints.push(&remembered.checkpoint);
        }
        checkpoints
    }
}

pub(super) fn all_checkpoints(known: &[KnownLog]) -> Vec<&Checkpoint> {
    let mut checkpoints = Vec::new();
    for known in known {
        checkpoints.extend(known.checkpoints());
    }
    checkpoints
}

impl Drop for KeyMemory {
    /// Removes the note of its holder, so that reading a memory leaves its files as they were.
    fn drop(&mut self) {
        let _ = self.lock.set_len(0);
    }
}

impl KeyMemory {
    /// Opens the memory next to a key file, or creates it, and waits a moment while another process holds it.
    ///
    /// # Errors
    /// [`ProofError::Refused`] while another process holds it, [`ProofError::Key`] and [`ProofError::DamagedMemory`].
    pub fn of(key: &KeyFile) -> Result<Self, ProofError> {
        // A link to a key uses the memory of the key, because two memories could sign two histories.
        let real = key.real_path()?;
        let mut folder = real.into_os_string();
        folder.push(".seen");
        let folder = PathBuf::from(folder);
        make_folder(&folder)?;
        let path = folder.join("LOCK");
        let opened = private().read(true).create(true).truncate(false).open(&path);
        let mut lock = opened.map_err(|cause| failed("lock", &path, cause))?;
        wait_for(&mut lock, &path).map_err(|cause| failed("lock", &path, cause))?;
        let memory = Self { folder, lock };
        memory.list_origins()?;
        Ok(memory)
    }

    /// Returns its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lists the origins of all branches, for a memory of an earlier format.
    fn list_origins(&self) -> Result<(), ProofError> {
        let path = self.folder.join("FORMAT");
        if let Some(format) = read(&path)? {
            if format != FORMAT.as_bytes() {
                return Err(damaged(&path, "it has an unknown format"));
            }
            return Ok(());
        }
        let items = std::fs::read_dir(&self.folder).map_err(|cause| failed("read", &self.folder, cause))?;
        for item in items {
            let item = item.map_err(|cause| failed("read", &self.folder, cause))?;
            let path = item.path().join(CHECKPOINT);
            if let Some(Remembered { checkpoint, .. }) = read_checkpoint(&path)? {
                self.list_origin(&checkpoint.origin)?;
            }
        }
        write_private(&path, FORMAT.as_bytes())
    }

    fn list_origin(&self, origin: &str) -> Result<(), ProofError> {
        let Some((path, mut origins)) = self.origins(origin)? else { return Ok(()) };
        if origins.iter().any(|listed| listed == origin) {
            return Ok(());
        }
        origins.push(origin.into());
        write_private(&path, (origins.join("\n") + "\n").as_bytes())
    }

    /// Returns the origins under which a branch of a match is remembered, and the file that lists them; `None` for a log that
    /// is not a branch.
    fn origins(&self, origin: &str) -> Result<Option<(PathBuf, Vec<String>)>, ProofError> {
        let Some(BranchOrigin { match_id, branch, .. }) = BranchOrigin::read(origin) else { return Ok(None) };
        let path =
            self.folder_of(&format!("{:032x}/{branch}", u128::from_be_bytes(match_id))).join("origins");
        let bytes = read(&path)?.unwrap_or_default();
        let text = String::from_utf8(bytes).map_err(|_| damaged(&path, "expected text in UTF-8"))?;
        let origins = text.lines().map(Into::into).collect();
        Ok(Some((path, origins)))
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        self.folder.join(Digest::new(Sha256::digest(name).into()).to_string())
    }

    fn file(&self, origin: &str) -> PathBuf {
        self.folder_of(origin).join(CHECKPOINT)
    }

    pub(super) fn of_log(&self, origin: &str) -> Result<Option<Remembered>, ProofError> {
        let path = self.file(origin);
        let known = read_checkpoint(&path)?;
        if let Some(known) = &known
            && known.checkpoint.origin != origin
        {
            return Err(damaged(&path, format!("it is of `{}`", known.checkpoint.origin)));
        }
        Ok(known)
    }

    /// Returns what is remembered of a log, and of the same branch under other names (TR-16).
    pub(super) fn known(&self, origin: &str) -> Result<KnownLog, ProofError> {
        let listed = self.origins(origin)?;
        let mut known = KnownLog { own: self.of_log(origin)?, under_other_names: Vec::new() };
        if let Some((_, origins)) = listed {
            for other in origins {
                if other != origin {
                    known.under_other_names.extend(self.of_log(&other)?);
                }
            }
        }
        Ok(known)
    }

    /// Returns the last note of a log.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn note_of(&self, origin: &str) -> Result<Option<SignedNote>, ProofError> {
        Ok(self.of_log(origin)?.map(|remembered| remembered.note))
    }

    pub(super) fn remember(&self, origin: &str, note: &SignedNote) -> Result<(), ProofError> {
        self.list_origin(origin)?;
        write_private(&self.file(origin), note.to_string().as_bytes())
    }

    /// Remembers an accepted checkpoint, unless a larger one is remembered. The caller checks that it continues the remembered
    /// one.
    ///
    /// # Errors
    /// What cannot be read or written.
    pub fn accept(&self, note: &SignedNote, checkpoint: &Checkpoint) -> Result<(), ProofError> {
        let known = self.of_log(&checkpoint.origin)?;
        if known.is_some_and(|known| known.checkpoint.size >= checkpoint.size) {
            return Ok(());
        }
        self.remember(&checkpoint.origin, note)
    }

    /// Returns what is kept under a name in a folder of the memory, such as a paper.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn kept(&self, folder: &str, name: &str) -> Result<Option<Vec<u8>>, ProofError> {
        read(&self.folder.join(folder).join(name))
    }

    /// Keeps something under a name in a folder of the memory, durably.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn keep(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<(), ProofError> {
        write_private(&self.folder.join(folder).join(name), bytes)
    }
}

/// How often to try again while another process holds a memory, in all five seconds. A service holds it as long as it runs.
const LOOKS: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(50);

fn wait_for(lock: &mut File, path: &Path) -> io::Result<()> {
    for look in 0.. {
        match lock.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if look < LOOKS => std::thread::sleep(LOOK_EVERY),
            Err(TryLockError::WouldBlock) => {
                let holder = std::fs::read_to_string(path).unwrap_or_default();
                let holder = if holder.is_empty() { "another process" } else { holder.trim_end() };
                let message = format!(
                    "{holder} uses this key; end it first, or let it do the work: `serve --maildir --send` takes and sends mails"
                );
                return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
            }
        }
    }
    // The note only helps others to find the holder; on a full disk the lock works without it.
    let _ = lock.set_len(0).and_then(|()| writeln!(lock, "process {}", std::process::id()));
    Ok(())
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, ProofError> {
    match NOTE.read_file(path) {
        Err(InputError::Unreadable { cause, .. })
            if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        read => Ok(Some(read?)),
    }
}

fn read_checkpoint(path: &Path) -> Result<Option<Remembered>, ProofError> {
    let Some(bytes) = read(path)? else { return Ok(None) };
    let note = SignedNote::read(&bytes).map_err(|error: Malformed| damaged(path, error.0))?;
    let checkpoint = note.text().parse().map_err(|error: Malformed| damaged(path, error.0))?;
    Ok(Some(Remembered { note, checkpoint }))
}

fn damaged(path: &Path, reason: impl Into<String>) -> ProofError {
    ProofError::DamagedMemory { path: path.into(), reason: reason.into() }
}

fn failed(doing: &'static str, path: &Path, cause: io::Error) -> ProofError {
    ProofError::Key { doing, path: path.into(), cause }
}

/// Writes a file that only its owner may read, whole and durably, and creates its folder if necessary.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), ProofError> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    replace(path, bytes).map_err(|cause| failed("write", path, cause))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut file = private().create(true).truncate(true).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    sync_folder_of(path)
}

fn make_folder(folder: &Path) -> Result<(), ProofError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        made => made.and_then(|()| sync_folder_of(folder)),
    };
    made.map_err(|cause| failed("make", folder, cause))
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
