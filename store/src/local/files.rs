//! The files and folders of a store: where they are, who may read them, and how they are opened.
//!
//! Only their owner may read them, because matches hold dice seeds and moves that are still concealed. A store's
//! directory may contain a pipe, a device or a huge file under any name. So every file is opened here, and only if it
//! is regular.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::local::backend::BackendError;

pub(crate) const LOCK_FILE: &str = "LOCK";

pub(crate) const FORMAT_FILE: &str = "FORMAT";

pub(crate) const JOURNAL_DIR: &str = "journal";

pub(crate) const SLED_DIR: &str = "sled";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) journal: PathBuf,
    pub(crate) sled: PathBuf,
}

/// Creates a folder for its owner only, and its parents with default permissions. An existing folder is no error.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        result => result,
    }
}

/// Returns options for creating a file that only its owner may read. An existing file keeps its permissions.
pub(crate) fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    // The parent of a relative path of one part is the empty path.
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    // Windows writes a name together with its file, and cannot open a directory for this.
    if cfg!(unix) {
        File::open(dir)?.sync_all()?;
    }
    Ok(())
}

/// Opens a regular file for reading. It never waits for the other end of a pipe.
///
/// # Errors
/// Returns [`io::ErrorKind::InvalidInput`] for a directory, a pipe, a socket or a device, and any error of opening.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = match options.open(path) {
        // Opening a socket, or a device without a driver, gives this error.
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Err(not_regular()),
        opened => opened?,
    };
    require_regular(&file)?;
    Ok(file)
}

pub(crate) fn require_regular(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { Ok(()) } else { Err(not_regular()) }
}

pub(crate) fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn or_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Returns the damage if a file of the store cannot be opened because it is missing or not regular; `None` for other
/// errors.
pub(crate) fn oddity(path: &Path, error: &io::Error) -> Option<String> {
    match error.kind() {
        io::ErrorKind::NotFound => Some(format!("`{}` is missing", path.display())),
        io::ErrorKind::InvalidInput => Some(format!("`{}` is not a regular file", path.display())),
        _ => None,
    }
}

pub(crate) fn open_sound(path: &Path) -> Result<(File, u64), BackendError> {
    let opened = open_regular(path).and_then(|file| {
        let length = file.metadata()?.len();
        Ok((file, length))
    });
    if let Err(error) = &opened
        && let Some(reason) = oddity(path, error)
    {
        return Err(BackendError::Damaged(reason));
    }
    BackendError::on(path, "read", opened)
}

pub(crate) fn read_at(file: &File, at: u64, count: usize) -> io::Result<Vec<u8>> {
    // Limits the buffer, because a damaged length may claim bytes that do not exist.
    let left = file.metadata()?.len().saturating_sub(at);
    let mut bytes = vec![0; count.min(usize::try_from(left).unwrap_or(usize::MAX))];
    let mut read = 0;
    while let Some(rest) = bytes.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match read_some(file, at + read as u64, rest) {
            Ok(0) => break,
            Ok(some) => read += some,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}

#[cfg(unix)]
fn read_some(file: &File, at: u64, to: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, to, at)
}

#[cfg(not(unix))]
fn read_some(mut file: &File, at: u64, to: &mut [u8]) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read(to)
}

#[cfg(unix)]
pub(crate) fn write_at(file: &File, at: usize, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at as u64)
}

#[cfg(not(unix))]
pub(crate) fn write_at(mut file: &File, at: usize, bytes: &[u8]) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at as u64))?;
    file.write_all(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [dir.path(), &socket, &pipe, Path::new("/dev/zero")] {
            let error = open_regular(path).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}: {error}", path.display());
        }
        std::fs::write(dir.path().join("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", dir.path().join("link")).unwrap();
        assert_eq!(read_at_most(&dir.path().join("link"), 3).unwrap(), b"123");
    }
}
