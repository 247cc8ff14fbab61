//! Key files: one line of text that only its owner may read (TR-9).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use turnfold_core::trust::{KeyKind, PrivateKey};
use turnfold_store::draft::{DraftFile, Readers};
use turnfold_store::open_regular;

use crate::error::ProofError;

const BYTES_MAX: u64 = 1024;

/// A private key and where it lies.
#[derive(Clone, Debug)]
pub struct KeyFile {
    /// The file.
    pub path: PathBuf,
    /// The key.
    pub key: PrivateKey,
}

impl KeyFile {
    /// Reads a key file. One that others may read is refused, because they could have signed with it.
    ///
    /// # Errors
    /// [`ProofError::NoKeyFile`], [`ProofError::Unusable`] and [`ProofError::Key`].
    pub fn open(path: &Path) -> Result<Self, ProofError> {
        let file = open_regular(path).map_err(|cause| unreadable(path, cause))?;
        if is_open_to_others(&file).map_err(|cause| unreadable(path, cause))? {
            let reason = "others may read it; make it private with `chmod 600`, or make another key";
            return Err(unusable(path, reason));
        }
        let mut text = String::new();
        let read = file.take(BYTES_MAX).read_to_string(&mut text);
        read.map_err(|cause| match cause.kind() {
            io::ErrorKind::InvalidData => unusable(path, "it is no text"),
            _ => unreadable(path, cause),
        })?;
        let key = PrivateKey::read(&text).map_err(|error| unusable(path, &error.to_string()))?;
        Ok(Self { path: path.into(), key })
    }

    /// Writes a new key file that only its owner may read, whole or not at all. An existing file is never overwritten.
    ///
    /// # Errors
    /// [`ProofError::Unusable`] and [`ProofError::Key`].
    pub fn create(path: &Path, key: PrivateKey) -> Result<Self, ProofError> {
        write_new(path, &key).map_err(|cause| match cause.kind() {
            io::ErrorKind::AlreadyExists => {
                ProofError::Unusable(format!("`{}` exists; a key is never overwritten", path.display()))
            }
            io::ErrorKind::NotFound => {
                ProofError::Unusable(format!("there is no folder for `{}`", path.display()))
            }
            _ => ProofError::Key { doing: "write key file", path: path.into(), cause },
        })?;
        Ok(Self { path: path.into(), key })
    }

    pub(super) fn real_path(&self) -> Result<PathBuf, ProofError> {
        let real = fs::canonicalize(&self.path);
        real.map_err(|cause| ProofError::Key { doing: "find", path: self.path.clone(), cause })
    }

    /// Requires the key to be of a kind.
    ///
    /// # Errors
    /// [`ProofError::Unusable`].
    pub fn require(self, kind: KeyKind) -> Result<Self, ProofError> {
        if self.key.kind() == kind {
            return Ok(self);
        }
        let reason = match kind {
            KeyKind::Signer => "it is a witness's, which only cosigns",
            KeyKind::Witness => "it signs, and a witness has a key of its own, made with `--witness`",
        };
        Err(unusable(&self.path, reason))
    }
}

fn unusable(path: &Path, reason: &str) -> ProofError {
    ProofError::Unusable(format!("key file `{}`: {reason}", path.display()))
}

fn unreadable(path: &Path, cause: io::Error) -> ProofError {
    if cause.kind() == io::ErrorKind::NotFound {
        return ProofError::NoKeyFile(path.into());
    }
    ProofError::Key { doing: "read key file", path: path.into(), cause }
}

fn write_new(path: &Path, key: &PrivateKey) -> io::Result<()> {
    let mut draft = DraftFile::file_in(folder_of(path), Readers::Owner)?;
    draft.file().write_all(key.to_file().as_bytes())?;
    draft.file().sync_all()?;
    draft.persist(path, false)?;
    // The caller gets an error, so the file is removed and the next try can use its name.
    sync_folder_of(path).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Makes the names in a file's folder durable.
///
/// # Errors
/// What the system reports.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder_of(path))?.sync_all()?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Makes a folder and the folders above that are missing, durably.
///
/// # Errors
/// What the system reports.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    make_folders(folder_of(folder))?;
    std::fs::create_dir(folder).or_else(|error| if folder.is_dir() { Ok(()) } else { Err(error) })?;
    sync_folder_of(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn is_open_to_others(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::PermissionsExt::mode(&file.metadata()?.permissions()) & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &File) -> io::Result<bool> {
    Ok(false)
}
