//! Drafts: files and directories that get their names once they are whole, and that leave nothing if that never happens.
//!
//! However their maker ends, they go. Returning drops them. A program that catches signals calls [`abandon_all`]. What a
//! killed process left is removed by the next one that makes a draft in the same directory: a draft is locked as long as
//! its maker lives, and its name has a shape that nothing else has.

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

/// How often a draft is made again that another process took for a leftover before it was locked.
const MAKE_TRIES: u32 = 10;

/// How often, and how long apart, a directory is removed in which another thread may still make files.
const REMOVE_TRIES: u32 = 100;
const REMOVE_PAUSE: Duration = Duration::from_millis(10);

/// What this process has made. The thread that holds the lock decides whether a draft is named or removed.
struct Live {
    drafts: BTreeSet<PathBuf>,
    /// The directories in which leftovers have been looked for.
    swept: BTreeSet<PathBuf>,
}

static LIVE: Mutex<Live> = Mutex::new(Live { drafts: BTreeSet::new(), swept: BTreeSet::new() });

fn live() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A draft, removed when it is dropped.
#[derive(Debug)]
pub struct Draft<T> {
    /// `None` once it has its name.
    made: Option<T>,
    path: PathBuf,
}

/// A draft of a directory.
pub type DraftDir = Draft<LockedDir>;

/// A draft of a file.
pub type DraftFile = Draft<NamedTempFile>;

/// A temporary directory, locked where the operating system can do so.
#[derive(Debug)]
pub struct LockedDir {
    dir: TempDir,
    handle: Option<File>,
}

/// Who may read a new file, as far as the operating system's default allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Anyone who may read a new file.
    Anyone,
}

#[cfg(unix)]
impl Readers {
    /// The permissions of a new file, less what the operating system's default does not allow.
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Anyone => 0o666,
        }
    }
}

/// What a draft can be.
trait Made {
    fn path(&self) -> &Path;

    fn handle(&self) -> Option<&File>;
}

impl Made for LockedDir {
    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn handle(&self) -> Option<&File> {
        self.handle.as_ref()
    }
}

impl Made for NamedTempFile {
    fn path(&self) -> &Path {
        self.path()
    }

    fn handle(&self) -> Option<&File> {
        Some(self.as_file())
    }
}

impl<T> Draft<T> {
    /// Returns where the draft is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl DraftDir {
    /// Makes an empty directory in `parent`.
    ///
    /// # Errors
    /// Any error of making directories.
    pub fn dir_in(parent: &Path) -> io::Result<Self> {
        make(parent, || {
            // Without the name of the draft, which means nothing to the user.
            let dir = builder().tempdir_in(parent).map_err(|error| io::Error::from(error.kind()))?;
            // Not every system can open a directory.
            let handle = File::open(dir.path()).ok();
            Ok(LockedDir { dir, handle })
        })
    }
}

impl DraftFile {
    /// Makes an empty file in `dir`.
    ///
    /// # Errors
    /// Any error of making files.
    pub fn file_in(dir: &Path, readers: Readers) -> io::Result<Self> {
        make(dir, || {
            // Made here, because tempfile's own errors end with the name of the draft, which means nothing to the user.
            builder().make_in(dir, |path| {
                let mut options = File::options();
                options.read(true).write(true).create_new(true);
                #[cfg(unix)]
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, readers.mode());
                #[cfg(not(unix))]
                let _ = readers;
                options.open(path)
            })
        })
    }

    /// Returns the file, to write it.
    ///
    /// # Panics
    /// Never: only [`persist`](Self::persist) takes the file away, and consumes the draft.
    pub fn file(&mut self) -> &mut File {
        self.made.as_mut().expect("a draft has its file until it is persisted").as_file_mut()
    }

    /// Names the file; what has that name already stays unless it is to be replaced.
    ///
    /// # Errors
    /// Any error of renaming; the draft is removed then.
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

/// Makes directories for a draft, or renames or removes something of it, while no signal can abandon it. Never returns
/// once one has: what makes a directory with those above it, as sled does when it opens, would make the draft again.
pub(crate) fn uninterrupted<R>(act: impl FnOnce() -> R) -> R {
    let live = live();
    let result = act();
    drop(live);
    result
}

/// Removes all drafts of this process, which is about to end: a thread that makes, names or drops a draft from now on waits
/// for that.
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

/// Makes and locks a draft, then removes what others left next to it.
fn make<T: Made>(parent: &Path, new: impl Fn() -> io::Result<T>) -> io::Result<Draft<T>> {
    let mut live = live();
    for _ in 0..MAKE_TRIES {
        let made = new()?;
        if is_held(&made) {
            let path = made.path().to_owned();
            live.drafts.insert(path.clone());
            let is_first = live.swept.insert(parent.to_owned());
            drop(live);
            if is_first {
                sweep(parent, &path);
            }
            return Ok(Draft { made: Some(made), path });
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process keeps removing drafts"))
}

/// Locks what was made; returns `false` if another process took it for a leftover before.
fn is_held(made: &impl Made) -> bool {
    // Where there are no locks, no process gets one to remove it.
    let lock = made.handle().map(File::try_lock);
    !matches!(lock, Some(Err(TryLockError::WouldBlock))) && made.path().exists()
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
