//! Drafts: files and directories that get their name when they are complete, and are removed if that never happens.
//!
//! Dropping a draft removes it. A program that catches signals calls [`abandon_all`]. A killed process leaves its
//! drafts; the next process that makes a draft in the same directory removes them. It recognizes them by their lock,
//! which ends with the maker, and by the shape of their names, which no other files have.

mod leftover;

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir};

use self::leftover::{PREFIX, RANDOM_CHARACTERS, remove, sweep};

/// How often a draft is made again because another process took it for a leftover before it was locked.
const MAKE_TRIES: u32 = 10;

/// How often removing a directory is tried, and with which pauses, while another thread may still make files in it.
const REMOVE_TRIES: u32 = 100;
const REMOVE_PAUSE: Duration = Duration::from_millis(10);

/// The drafts of this process. The thread that holds the lock decides whether a draft is named or removed.
struct Live {
    drafts: BTreeSet<PathBuf>,
    /// The directories in which leftovers were already removed.
    swept: BTreeSet<PathBuf>,
}

static LIVE: Mutex<Live> = Mutex::new(Live { drafts: BTreeSet::new(), swept: BTreeSet::new() });

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A draft of a file or directory. Dropping it removes what it made.
#[derive(Debug)]
pub struct Draft<T> {
    /// `None` once the draft was named or dropped.
    made: Option<T>,
    path: PathBuf,
}

/// A draft of a directory.
pub type DraftDir = Draft<LockedDir>;

/// A draft of a file.
pub type DraftFile = Draft<NamedTempFile>;

/// A temporary directory, locked if the operating system can lock directories.
#[derive(Debug)]
pub struct LockedDir {
    // The directory is the first field, so it is removed before its lock ends.
    _dir: TempDir,
    _handle: Option<File>,
}

/// Who may read a new file. The operating system's default permissions may restrict it further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Only its owner.
    Owner,
    /// Anyone whom the default permissions allow.
    Anyone,
}

#[cfg(unix)]
impl Readers {
    /// Returns the mode of a new file, before the process's umask.
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Anyone => 0o666,
        }
    }
}

impl<T> Draft<T> {
    /// Returns the path of the draft.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl DraftDir {
    /// Makes an empty directory in `parent`.
    ///
    /// # Errors
    /// Returns any error of making the directory.
    pub fn dir_in(parent: &Path) -> io::Result<Self> {
        make(parent, || {
            // Only the kind of the error is kept, because the draft's name means nothing to the user.
            let dir = builder().tempdir_in(parent).map_err(|error| io::Error::from(error.kind()))?;
            let path = dir.path().to_owned();
            // Not every system can open a directory.
            let handle = File::open(&path).ok();
            let is_held = is_held(handle.as_ref(), &path);
            let made = LockedDir { _dir: dir, _handle: handle };
            Ok(is_held.then_some((made, path)))
        })
    }
}

impl DraftFile {
    /// Makes an empty file in `dir`.
    ///
    /// # Errors
    /// Returns any error of making the file.
    pub fn file_in(dir: &Path, readers: Readers) -> io::Result<Self> {
        make(dir, || {
            // The file is opened here because tempfile's own errors contain the draft's name, which means nothing to
            // the user.
            let made = builder().make_in(dir, |path| {
                let mut options = File::options();
                options.read(true).write(true).create_new(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, readers.mode());
                #[cfg(not(unix))]
                let _ = readers;
                options.open(path)
            })?;
            let path = made.path().to_owned();
            Ok(is_held(Some(made.as_file()), &path).then_some((made, path)))
        })
    }

    /// Returns the file for writing.
    ///
    /// # Panics
    /// Never: only [`persist`](Self::persist) takes the file out, and it consumes the draft.
    pub fn file(&mut self) -> &mut File {
        self.made.as_mut().expect("a draft has its file until it is persisted").as_file_mut()
    }

    /// Renames the draft to `name`. An existing file of that name is an error unless `replace`.
    ///
    /// # Errors
    /// Returns any error of renaming, after removing the draft.
    pub fn persist(mut self, name: &Path, replace: bool) -> io::Result<()> {
        let mut live = live();
        let Some(file) = self.made.take() else { return Ok(()) };
        let named = if replace { file.persist(name) } else { file.persist_noclobber(name) };
        let named = named.map(drop).map_err(|error| error.error);
        live.drafts.remove(&self.path);
        drop(live);
        named
    }
}

impl<T> Drop for Draft<T> {
    fn drop(&mut self) {
        let mut live = live();
        live.drafts.remove(&self.path);
        drop(self.made.take());
    }
}

/// Runs `act`, which makes, renames or removes directories of a draft, while no signal can abandon the draft. It never
/// returns once the drafts were abandoned: creating a directory with its parents, as sled does, would make the draft
/// again.
pub(crate) fn uninterrupted<R>(act: impl FnOnce() -> R) -> R {
    let live = live();
    let result = act();
    drop(live);
    result
}

/// Removes all drafts of this process, which must end next. From now on, a thread that
/// makes, names or drops a draft blocks until it does.
pub fn abandon_all() {
    let live = live();
    for draft in &live.drafts {
        for _ in 0..REMOVE_TRIES {
            match fs::symlink_metadata(draft) {
                Ok(found) if remove(draft, &found).is_err() => thread::sleep(REMOVE_PAUSE),
                _ => break,
            }
        }
    }
    mem::forget(live);
}

fn builder() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_CHARACTERS);
    builder
}

/// Makes a draft. `new` returns what it made, and its path; `None` if another process took it for a leftover.
fn make<T>(parent: &Path, new: impl Fn() -> io::Result<Option<(T, PathBuf)>>) -> io::Result<Draft<T>> {
    let mut live = live();
    for _ in 0..MAKE_TRIES {
        let Some((made, path)) = new()? else { continue };
        live.drafts.insert(path.clone());
        let is_first = live.swept.insert(parent.to_owned());
        drop(live);
        if is_first {
            sweep(parent, &path);
        }
        return Ok(Draft { made: Some(made), path });
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process keeps removing drafts"))
}

/// Locks a new draft. Returns `false` if another process took it for a leftover before it was locked.
fn is_held(handle: Option<&File>, path: &Path) -> bool {
    // Without locks it counts as held, because then no other process can lock and remove it.
    let lock = handle.map(File::try_lock);
    !matches!(lock, Some(Err(TryLockError::WouldBlock))) && path.exists()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::leftover::has_shape;
    use super::*;

    #[test]
    fn only_names_of_drafts_have_their_shape() {
        let dir = tempfile::tempdir().unwrap();
        let draft = DraftDir::dir_in(dir.path()).unwrap();
        assert!(has_shape(draft.path().file_name().unwrap()));
        for name in [
            ".turnfold-backup",
            ".turnfold-draft-",
            ".turnfold-draft-0123456789abcdefghi",
            ".turnfold-draft-0123456789abcdefghijk",
            ".turnfold-draft-0123456789abcdefgh.b",
            "turnfold-draft-0123456789abcdefghij",
        ] {
            assert!(!has_shape(OsStr::new(name)), "{name}");
        }
        assert!(has_shape(OsStr::new(".turnfold-draft-0123456789abcdefghij")));
    }

    #[test]
    fn a_draft_is_removed_unless_it_gets_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let draft = DraftFile::file_in(dir.path(), Readers::Owner).unwrap();
        let path = draft.path().to_owned();
        drop(draft);
        assert!(!path.exists());
        let named = dir.path().join("named");
        DraftFile::file_in(dir.path(), Readers::Owner).unwrap().persist(&named, false).unwrap();
        assert!(DraftFile::file_in(dir.path(), Readers::Owner).unwrap().persist(&named, false).is_err());
        DraftFile::file_in(dir.path(), Readers::Anyone).unwrap().persist(&named, true).unwrap();
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [named]);
    }

    #[test]
    fn drafts_that_no_process_holds_are_swept() {
        let dir = tempfile::tempdir().unwrap();
        let held = DraftDir::dir_in(dir.path()).unwrap();
        let left = dir.path().join(".turnfold-draft-0123456789abcdefghij");
        let linked = dir.path().join(".turnfold-draft-jihgfedcba9876543210");
        fs::create_dir_all(left.join("store")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", &linked).unwrap();
        sweep(dir.path(), held.path());
        assert!(held.path().exists() && !left.exists());
        assert!(!cfg!(unix) || fs::symlink_metadata(&linked).is_ok());
    }
}
