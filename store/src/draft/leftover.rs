//! Leftovers: drafts of killed processes.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

pub(super) const PREFIX: &str = ".turnfold-draft-";

/// The number of random letters and digits after the prefix.
pub(super) const RANDOM_CHARACTERS: usize = 20;

/// Removes the drafts in a directory whose makers have ended. They must belong to the owner of `own`.
pub(super) fn sweep(dir: &Path, own: &Path) {
    let (Ok(own), Ok(entries)) = (fs::symlink_metadata(own), fs::read_dir(dir)) else { return };
    for entry in entries.flatten().filter(|entry| has_shape(&entry.file_name())) {
        let path = entry.path();
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let is_kind_of_draft = found.is_file() || found.is_dir();
        let Some(_lock) = (is_kind_of_draft && same_owner(&own, &found)).then(|| lock(&path)).flatten()
        else {
            continue;
        };
        match remove(&path, &found) {
            Ok(()) => tracing::info!(path = %path.display(), "removed what a killed process left"),
            // Its maker named or removed it after the directory was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "cannot remove what a killed process left");
            }
        }
    }
}

pub(super) fn has_shape(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARACTERS && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn same_owner(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        one.uid() == other.uid()
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        true
    }
}

/// Locks a draft; `None` while its maker lives.
fn lock(path: &Path) -> Option<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK | libc::O_NOFOLLOW);
    let file = options.open(path).ok()?;
    file.try_lock().ok().map(|()| file)
}

pub(super) fn remove(path: &Path, found: &Metadata) -> io::Result<()> {
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}
