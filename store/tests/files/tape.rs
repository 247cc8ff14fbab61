//! The tape: every operation of this process on the files below a folder, in the order in which they happened.
//!
//! The functions at the end take the place of the C library's: the linker binds the calls of the standard library, and
//! so those of sled and of the store, to them. They pass each call on to the kernel, except that nothing is synced:
//! what a sync promises is worked out from the tape, and no test waits for a real disk.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tells files apart, also when they change their names.
pub(crate) type FileId = u64;

/// Something that happened to the files, or that the session told.
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
    /// What the session's caller knows from here on; its meaning is the session's.
    Told(usize),
}

/// What was synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    /// A head of the journal.
    Head,
    /// A segment of the journal.
    Segment,
    /// Any other file, such as those of the index.
    Another,
}

#[derive(Debug, Default)]
struct Tape {
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
/// Whether no write to a head of the journal goes through.
static FULL: AtomicBool = AtomicBool::new(false);
/// One recording at a time.
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

/// Notes on the tape what the session's caller has just been told.
pub(crate) fn tell(what: usize) {
    if let Some(tape) = &mut *tape() {
        tape.events.push(Event::Told(what));
    }
}

/// Does something while no write to a head of the journal goes through, as on a full disk.
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
    fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    fn opened(&mut self, path: &Path, flags: c_int, handle: c_int, existed: bool) {
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

    fn wrote(&mut self, handle: c_int, at: u64, bytes: &[u8]) {
        if let Some(file) = self.handles.get(&handle) {
            self.events.push(Event::Write { file: *file, at, bytes: bytes.to_vec() });
        }
    }

    /// Returns what a file is.
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

    fn synced(&mut self, handle: c_int) {
        if let Some(file) = self.handles.get(&handle) {
            self.events.push(Event::Sync { file: *file, of: self.kind(*file) });
        } else if let Some(path) = self.folders.get(&handle) {
            self.events.push(Event::SyncFolder { path: path.clone() });
        }
    }

    fn renamed(&mut self, from: &Path, to: &Path) {
        let file = self.files.remove(from).unwrap();
        self.files.insert(to.to_owned(), file);
        self.events.push(Event::Rename { from: from.to_owned(), to: to.to_owned() });
    }
}

/// Makes a call and, while there is a tape, notes it before any other call is made.
fn noted(call: impl FnOnce() -> c_long, note: impl FnOnce(&mut Tape, c_long)) -> c_long {
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

fn path_of(path: *const c_char) -> &'static Path {
    // SAFETY: callers pass what they got from a caller of the C library, a string that ends with a zero byte and lives
    // as long as the call.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    Path::new(OsStr::from_bytes(bytes))
}

macro_rules! syscall {
    ($($argument:expr),+) => {
        // SAFETY: the arguments are those of a call to the C library's function of the same name, passed on.
        unsafe { libc::syscall($($argument),+) }
    };
}

#[unsafe(no_mangle)]
extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    let named = path_of(path);
    let existed = RECORDING.load(Ordering::SeqCst) && named.exists();
    let call = || syscall!(libc::SYS_openat, libc::AT_FDCWD, path, flags | libc::O_CLOEXEC, mode);
    let result = noted(call, |tape, handle| {
        if tape.is_ours(named) {
            tape.opened(named, flags, as_int(handle), existed);
        }
    });
    as_int(result)
}

#[unsafe(no_mangle)]
extern "C" fn close(handle: c_int) -> c_int {
    let call = || syscall!(libc::SYS_close, handle);
    let result = noted(call, |tape, _| {
        tape.handles.remove(&handle);
        tape.folders.remove(&handle);
    });
    as_int(result)
}

#[unsafe(no_mangle)]
extern "C" fn write(handle: c_int, bytes: *const c_void, length: usize) -> isize {
    let result = noted(
        || syscall!(libc::SYS_write, handle, bytes, length),
        |tape, written| {
            let end = syscall!(libc::SYS_lseek, handle, 0, libc::SEEK_CUR);
            if let Ok(end) = u64::try_from(end) {
                tape.wrote(handle, end - written.cast_unsigned(), slice_of(bytes, written));
            }
        },
    );
    isize::try_from(result).unwrap_or(-1)
}

#[unsafe(no_mangle)]
extern "C" fn pwrite64(handle: c_int, bytes: *const c_void, length: usize, at: i64) -> isize {
    if FULL.load(Ordering::SeqCst) && tape().as_ref().is_some_and(|tape| tape.is_head(handle)) {
        // SAFETY: the C library has one such place for each thread.
        unsafe { *libc::__errno_location() = libc::ENOSPC };
        return -1;
    }
    let result = noted(
        || syscall!(libc::SYS_pwrite64, handle, bytes, length, at),
        |tape, written| tape.wrote(handle, at.cast_unsigned(), slice_of(bytes, written)),
    );
    isize::try_from(result).unwrap_or(-1)
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate64(handle: c_int, length: i64) -> c_int {
    let result = noted(
        || syscall!(libc::SYS_ftruncate, handle, length),
        |tape, _| {
            if let Some(file) = tape.handles.get(&handle) {
                let event = Event::SetLength { file: *file, length: length.cast_unsigned() };
                tape.events.push(event);
            }
        },
    );
    as_int(result)
}

#[unsafe(no_mangle)]
extern "C" fn fsync(handle: c_int) -> c_int {
    as_int(noted(|| 0, |tape, _| tape.synced(handle)))
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(handle: c_int) -> c_int {
    as_int(noted(|| 0, |tape, _| tape.synced(handle)))
}

#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    let call = || syscall!(libc::SYS_renameat, libc::AT_FDCWD, from, libc::AT_FDCWD, to);
    let result = noted(call, |tape, _| {
        if tape.is_ours(path_of(from)) {
            tape.renamed(path_of(from), path_of(to));
        }
    });
    as_int(result)
}

#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    let result = noted(
        || syscall!(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0),
        |tape, _| {
            if tape.files.remove(path_of(path)).is_some() {
                tape.events.push(Event::Remove { path: path_of(path).to_owned() });
            }
        },
    );
    as_int(result)
}

#[unsafe(no_mangle)]
extern "C" fn mkdir(path: *const c_char, mode: libc::mode_t) -> c_int {
    let result = noted(
        || syscall!(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode),
        |tape, _| {
            if tape.is_ours(path_of(path)) {
                tape.events.push(Event::MakeFolder { path: path_of(path).to_owned() });
            }
        },
    );
    as_int(result)
}

fn as_int(result: c_long) -> c_int {
    c_int::try_from(result).unwrap_or(-1)
}

fn slice_of(bytes: *const c_void, length: c_long) -> &'static [u8] {
    // SAFETY: the kernel has just read so many bytes from there, and the slice is used only during the call.
    unsafe { std::slice::from_raw_parts(bytes.cast(), usize::try_from(length).unwrap_or(0)) }
}
