//! Files of other hands: a store's directory may hold a pipe, a device or far too much under any name, so whatever is
//! read from it is opened here, and only if it is a regular file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file for reading; it never waits for the other end of a pipe.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] when it is a directory, a pipe, a socket or a device, and every error of opening.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOCTTY);
    let file = match options.open(path) {
        // What a socket, or a device without a driver, answers.
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Err(not_regular()),
        opened => opened?,
    };
    require_regular(&file)?;
    Ok(file)
}

/// Requires an open file to be a regular one.
pub(crate) fn require_regular(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { Ok(()) } else { Err(not_regular()) }
}

/// Reads a regular file whole, but never more than `limit` bytes of it.
pub(crate) fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
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
