//! Catches sled's panics, because sled panics on damaged files where an error would do.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::local::backend::BackendError;

thread_local! {
    /// Whether this thread is inside sled.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls sled and turns its errors and panics into a [`BackendError`]; `action` completes "cannot …".
pub(super) fn guarded<T>(action: &str, call: impl FnOnce() -> sled::Result<T>) -> Result<T, BackendError> {
    quieten_sled();
    let outer = INSIDE.replace(true);
    let result = std::panic::catch_unwind(AssertUnwindSafe(call));
    INSIDE.set(outer);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(sled::Error::Io(source))) => Err(sort_io(action, source)),
        // sled's own text mentions backtraces that it does not have.
        Ok(Err(sled::Error::Corruption { .. })) => {
            Err(BackendError::Damaged(format!("sled cannot {action}: its checksums do not match")))
        }
        Ok(Err(error)) => Err(BackendError::Damaged(format!("sled cannot {action}: {error}"))),
        Err(panic) => {
            Err(BackendError::Damaged(format!("sled cannot {action}: {}", panic_text(panic.as_ref()))))
        }
    }
}

/// Distinguishes damage from other trouble (ST-7), because sled reports a missing or short file as an I/O error.
fn sort_io(action: &str, source: io::Error) -> BackendError {
    let source = restored(source);
    match source.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::NotFound => BackendError::Damaged(format!("sled cannot {action}: {source}")),
        _ => BackendError::Io { action: action.to_owned(), source },
    }
}

/// Restores the operating system's error code. sled passes the error on only as its debug text.
fn restored(error: io::Error) -> io::Error {
    let text = error.to_string();
    let code = text.strip_prefix("Os { code: ").and_then(|rest| rest.split(',').next()?.parse().ok());
    code.map_or(error, io::Error::from_raw_os_error)
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
    text.lines().next().unwrap_or_default().to_owned()
}

/// Keeps the default message of sled's panics off stderr, on this thread and on sled's own. Other panics are reported
/// as before.
fn quieten_sled() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let by_sled = panic.location().is_some_and(|location| location.file().contains("sled-0.34"));
            if by_sled || INSIDE.try_with(Cell::get).unwrap_or(false) {
                tracing::debug!(%panic, "sled panicked");
            } else {
                others(panic);
            }
        }));
    });
}
