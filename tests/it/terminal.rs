//! A terminal to run the binary on: the other end of a pseudo-terminal that the test holds.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command with its three standard streams on a terminal of its own, on which `typed` is typed ahead. Returns
/// what the terminal shows, the typed text included, and the exit code; `None` where no terminal can be opened.
#[expect(clippy::print_stderr, reason = "a test that is passed over says so")]
pub(crate) fn run(mut command: Command, typed: &str) -> Option<(String, Option<i32>)> {
    let (mut held, terminal) = match open() {
        Ok(pair) => pair,
        Err(error) => {
            eprintln!("SKIPPED: no pseudo-terminal can be opened: {error}");
            return None;
        }
    };
    held.write_all(typed.as_bytes()).unwrap();
    let end = || Stdio::from(terminal.try_clone().unwrap());
    let mut child = command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm").spawn().unwrap();
    // What they hold of the terminal would keep it open.
    drop((command, terminal));
    let mut shown = Vec::new();
    let mut piece = [0; 4096];
    // When the last end is closed, Linux says that it is an error to read on.
    while let Ok(length @ 1..) = held.read(&mut piece) {
        shown.extend_from_slice(&piece[..length]);
    }
    let code = child.wait().unwrap().code();
    Some((String::from_utf8(shown).unwrap().replace("\r\n", "\n"), code))
}

fn open() -> rustix::io::Result<(File, OwnedFd)> {
    let held = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&held)?;
    unlockpt(&held)?;
    let name = ptsname(&held, Vec::new())?;
    let terminal = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((held.into(), terminal))
}
