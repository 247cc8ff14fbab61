//! The process that holds the lock of a store.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use super::files::LOCK_FILE;

/// The process that holds the lock of a store, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// This process, with another handle.
    ThisProcess,
    /// The process with this id.
    Process(u32),
    /// A process that has not written its id. The process with this id, named in the file, has ended.
    After(u32),
    /// A process of another container or machine, where ids mean other processes.
    Elsewhere,
    /// A process that has not written its id.
    Unknown,
}

/// The most bytes that are read of the file that names the holder.
const NAME_BYTES_MAX: u64 = 160;

/// Returns the text that a holder writes into the locked file: its id, and the space in which that id counts, if known.
pub(super) fn name() -> String {
    let id = std::process::id();
    match id_space() {
        Some(space) => format!("{id}\n{space}\n"),
        None => format!("{id}\n"),
    }
}

/// Returns the space in which process ids are unique: the container, since the machine was started. `None` if unknown.
fn id_space() -> Option<String> {
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let started = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(format!("{} {}", space.to_str()?, started.trim_end()))
}

/// Reads the holder's name from a locked file.
pub(crate) fn holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(NAME_BYTES_MAX).read_to_string(&mut text));
    let mut lines = text.lines();
    let id = lines.next().unwrap_or_default();
    let space = lines.next();
    match (read, id.parse()) {
        // Earlier builds wrote only the id.
        (Ok(_), Ok(0..)) if space.is_some() && space != id_space().as_deref() => Holder::Elsewhere,
        (Ok(_), Ok(id)) if id == std::process::id() => Holder::ThisProcess,
        (Ok(_), Ok(id)) if has_ended(id) => Holder::After(id),
        (Ok(_), Ok(id)) => Holder::Process(id),
        _ => Holder::Unknown,
    }
}

/// Returns `true` if a process is known to have ended.
fn has_ended(id: u32) -> bool {
    let processes = Path::new("/proc");
    // Without `/proc` nothing is known.
    cfg!(target_os = "linux") && processes.join("self").exists() && !processes.join(id.to_string()).exists()
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisProcess => out.write_str("another handle of this very process"),
            Self::Process(id) => write!(out, "process {id}"),
            Self::After(id) => {
                write!(out, "another process (not {id}, which `{LOCK_FILE}` names: it has ended)")
            }
            Self::Elsewhere => out.write_str("a process of another container or machine"),
            Self::Unknown => out.write_str("another process"),
        }
    }
}
