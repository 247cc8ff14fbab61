//! Files and folders that only their owner may read: matches hold seeds of dice and moves not yet shown to all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder, with those above it as usual; it is no error that it is there.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        result => result,
    }
}

/// Returns the options with which a file is made that only its owner may read; one that is there keeps its permissions.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    // A relative path of one part has the empty path as its parent.
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    #[cfg(unix)]
    File::open(dir)?.sync_all()?;
    Ok(())
}
