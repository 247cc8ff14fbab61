//! Functions that replace those of the C library. The linker binds the calls of the standard library to them, and with
//! them the calls of sled and of the store. They pass each call to the kernel, except syncs: the effect of a sync is
//! computed from the tape, so no test waits for a real disk.

use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::tape::{is_recording, is_refused, noted};

fn path_of(path: *const c_char) -> &'static Path {
    // SAFETY: callers pass on an argument of a call to the C library: a string that ends with a zero byte and lives as
    // long as the call.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    Path::new(OsStr::from_bytes(bytes))
}

macro_rules! syscall {
    ($($argument:expr),+) => {
        // SAFETY: the arguments come from a call to the C library's function of the same name, and are passed on.
        unsafe { libc::syscall($($argument),+) }
    };
}

#[unsafe(no_mangle)]
extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    let named = path_of(path);
    let existed = is_recording() && named.exists();
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
    as_int(noted(call, |tape, _| tape.closed(handle)))
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
    if is_refused(handle) {
        // SAFETY: the C library has one `errno` for each thread.
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
        |tape, _| tape.changed_length(handle, length.cast_unsigned()),
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
        |tape, _| tape.removed(path_of(path)),
    );
    as_int(result)
}

/// The standard library calls this to empty a folder before removing it. It names each file within the open folder.
#[unsafe(no_mangle)]
extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    let within = is_recording().then(|| std::fs::read_link(format!("/proc/self/fd/{folder}")).ok()).flatten();
    let path_below = within.unwrap_or_default().join(path_of(path));
    let call = || syscall!(libc::SYS_unlinkat, folder, path, flags);
    as_int(noted(call, |tape, _| tape.removed(&path_below)))
}

#[unsafe(no_mangle)]
extern "C" fn mkdir(path: *const c_char, mode: libc::mode_t) -> c_int {
    let result = noted(
        || syscall!(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode),
        |tape, _| tape.made_folder(path_of(path)),
    );
    as_int(result)
}

fn as_int(result: c_long) -> c_int {
    c_int::try_from(result).unwrap_or(-1)
}

fn slice_of(bytes: *const c_void, length: c_long) -> &'static [u8] {
    // SAFETY: the kernel has just read `length` bytes from there, and the slice is used only during the call.
    unsafe { std::slice::from_raw_parts(bytes.cast(), usize::try_from(length).unwrap_or(0)) }
}
