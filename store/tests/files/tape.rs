//! The tape: every operation of this process on files below a folder, in order.

use std::collections::BTreeMap;
use std::ffi::{c_int, c_long};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Identifies a file even if its name changes.
pub(crate) type FileId = u64;

/// Something that happened to the files, or progress of the session.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    MakeFile {
        path: PathBuf,
        file: FileId,
    },
    MakeFolder {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    Write {
        file: FileId,
        at: u64,
        bytes: Vec<u8>,
    },
    SetLength {
        file: FileId,
        length: u64,
    },
    Sync {
        file: FileId,
        of: Synced,
    },
    SyncFolder {
        path: PathBuf,
    },
    /// What the caller of the session learned here, as an index into the session's progress.
    Progress(usize),
}

/// The kind of file that was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    /// A head of the journal.
    Head,
    /// A segment of the journal.
    Segment,
    /// Any other file, such as a file of the index.
    Another,
}

#[derive(Debug, Default)]
pub(super) struct Tape {
    root: PathBuf,
    events: Vec<Event>,
    files: BTreeMap<PathBuf, FileId>,
    /// The files of open handles.
    handles: BTreeMap<c_int, FileId>,
    folders: BTreeMap<c_int, PathBuf>,
    next_file: FileId,
}

static RECORDING: AtomicBool = AtomicBool::new(false);
static TAPE: Mutex<Option<Tape>> = Mutex::new(None);
/// Whether every write to a head of the journal fails.
static FULL: AtomicBool = AtomicBool::new(false);
/// Permits one recording at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Records everything that happens below `root` while `session` runs.
pub(crate) fn record(root: &Path, session: impl FnOnce()) -> Vec<Event> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    *tape() = Some(Tape { root: root.to_owned(), ..Tape::default() });
    RECORDING.store(true, Ordering::SeqCst);
    session();
    RECORDING.store(false, Ordering::SeqCst);
    tape().take().unwrap().events
}

/// Adds to the tape what the caller of the session has just learned, as an index into the session's progress.
pub(crate) fn note_progress(what: usize) {
    if let Some(tape) = &mut *tape() {
        tape.events.push(Event::Progress(what));
    }
}

/// Calls `act` while every write to a head of the journal fails, as on a full disk.
pub(crate) fn with_full_heads<T>(act: impl FnOnce() -> T) -> T {
    FULL.store(true, Ordering::SeqCst);
    let done = act();
    FULL.store(false, Ordering::SeqCst);
    done
}

fn tape() -> MutexGuard<'static, Option<Tape>> {
    TAPE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    pub(super) fn opened(&mut self, path: &Path, flags: c_int, handle: c_int, existed: bool) {
        if path.is_dir() {
            self.folders.insert(handle, path.to_owned());
            return;
        }
        if !existed {
            let file = self.next_file;
            self.next_file += 1;
            self.files.insert(path.to_owned(), file);
            self.events.push(Event::MakeFile { path: path.to_owned(), file });
        }
        let file = self.files[path];
        if existed && flags & libc::O_TRUNC != 0 {
            self.events.push(Event::SetLength { file, length: 0 });
        }
        self.handles.insert(handle, file);
    }

    pub(super) fn wrote(&mut self, handle: c_int, at: u64, bytes: &[u8]) {
        if let Some(file) = self.handles.get(&handle) {
            self.events.push(Event::Write { file: *file, at, bytes: bytes.to_vec() });
        }
    }

    /// Returns the kind of a file.
    fn kind(&self, file: FileId) -> Synced {
        let is = |of: &str| {
            let mut paths = self.files.iter().filter(|(_, at)| **at == file);
            paths.any(|(path, _)| path.to_string_lossy().contains(of))
        };
        match () {
            () if is("journal/head.") => Synced::Head,
            () if is(".seg") => Synced::Segment,
            () => Synced::Another,
        }
    }

    fn is_head(&self, handle: c_int) -> bool {
        self.handles.get(&handle).is_some_and(|file| self.kind(*file) == Synced::Head)
    }

    pub(super) fn synced(&mut self, handle: c_int) {
        if let Some(file) = self.handles.get(&handle) {
            self.events.push(Event::Sync { file: *file, of: self.kind(*file) });
        } else if let Some(path) = self.folders.get(&handle) {
            self.events.push(Event::SyncFolder { path: path.clone() });
        }
    }

    pub(super) fn renamed(&mut self, from: &Path, to: &Path) {
        self.files.retain(|path, _| !path.starts_with(to));
        for (path, file) in std::mem::take(&mut self.files) {
            self.files.insert(moved(&path, from, to).unwrap_or(path), file);
        }
        self.events.push(Event::Rename { from: from.to_owned(), to: to.to_owned() });
    }

    pub(super) fn removed(&mut self, path: &Path) {
        if self.is_ours(path) {
            self.files.remove(path);
            self.events.push(Event::Remove { path: path.to_owned() });
        }
    }

    pub(super) fn changed_length(&mut self, handle: c_int, length: u64) {
        if let Some(file) = self.handles.get(&handle) {
            self.events.push(Event::SetLength { file: *file, length });
        }
    }

    pub(super) fn made_folder(&mut self, path: &Path) {
        if self.is_ours(path) {
            self.events.push(Event::MakeFolder { path: path.to_owned() });
        }
    }

    pub(super) fn closed(&mut self, handle: c_int) {
        self.handles.remove(&handle);
        self.folders.remove(&handle);
    }
}

/// Returns the path that `path` has after `from` is renamed to `to`, or `None` if it is not below `from`.
pub(crate) fn moved(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(from).ok()?;
    Some(if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) })
}

/// Returns `true` if a write to a file must fail.
pub(super) fn is_refused(handle: c_int) -> bool {
    FULL.load(Ordering::SeqCst) && tape().as_ref().is_some_and(|tape| tape.is_head(handle))
}

pub(super) fn is_recording() -> bool {
    RECORDING.load(Ordering::SeqCst)
}

/// Makes a call and, while there is a tape, records it before any other call is made.
pub(super) fn noted(call: impl FnOnce() -> c_long, note: impl FnOnce(&mut Tape, c_long)) -> c_long {
    if !RECORDING.load(Ordering::SeqCst) {
        return call();
    }
    let mut tape = tape();
    let result = call();
    if let Some(tape) = tape.as_mut().filter(|_| result >= 0) {
        note(tape, result);
    }
    result
}
