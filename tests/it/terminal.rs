//! A terminal for the binary: the test holds the other end of a pseudo-terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
#[cfg(feature = "stepper")]
use std::{thread, time::Duration};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use turnfold_tests::parts::skipped;

/// Runs a command with its three standard streams on a terminal of its own, with `typed` as input. Returns what the
/// terminal shows, including the typed text, and the exit code, or `None` if no terminal can be opened.
pub(crate) fn run(command: Command, typed: &str) -> Option<(String, Option<i32>)> {
    let (text, status) = Running::start(command, typed, 0)?.finish();
    Some((text, status.code()))
}

/// Returns `true` if this process ignores a signal, according to the operating system.
pub(crate) fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
    ignored >> (number - 1) & 1 == 1
}

/// A command that runs on a terminal of its own.
pub(crate) struct Running {
    held: File,
    pub(crate) child: Child,
    shown: Vec<u8>,
}

impl Running {
    /// Starts a command on a terminal with this number of rows; 0 means an unknown size.
    pub(crate) fn start(command: Command, typed: &str, rows: u16) -> Option<Self> {
        Self::start_in(command, typed, (rows, rows.saturating_mul(100)))
    }

    /// Starts a command on a terminal with this number of rows and columns.
    pub(crate) fn start_in(command: Command, typed: &str, size: (u16, u16)) -> Option<Self> {
        Self::start_as(command, "xterm", typed, size)
    }

    /// Starts a command on a terminal of this kind.
    pub(crate) fn start_as(
        mut command: Command,
        kind: &str,
        typed: &str,
        (rows, columns): (u16, u16),
    ) -> Option<Self> {
        let (mut held, terminal) = match open() {
            Ok(pair) => pair,
            Err(error) => {
                skipped("a terminal", format_args!("no pseudo-terminal can be opened: {error}"));
                return None;
            }
        };
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&held, size).unwrap();
        held.write_all(typed.as_bytes()).unwrap();
        let end = || Stdio::from(terminal.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).env("TERM", kind).spawn().unwrap();
        // These hold handles that would keep the terminal open.
        drop((command, terminal));
        Some(Self { held, child, shown: Vec::new() })
    }

    /// Reads until the terminal has shown a text.
    pub(crate) fn wait_for(&mut self, text: &str) {
        while !self.text().contains(text) {
            assert!(self.read(), "{text} was not shown: {}", self.text());
        }
    }

    /// Closes the terminal and waits for the process to end.
    #[cfg(feature = "stepper")]
    pub(crate) fn close(self) -> ExitStatus {
        let Self { held, mut child, .. } = self;
        drop(held);
        for _ in 0..300 {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(100));
        }
        child.kill().unwrap();
        panic!("it goes on without a terminal");
    }

    /// Waits for the process to end. Returns what the terminal showed, and the exit status.
    pub(crate) fn finish(mut self) -> (String, ExitStatus) {
        while self.read() {}
        (self.text(), self.child.wait().unwrap())
    }

    /// Types a text.
    #[cfg(feature = "stepper")]
    pub(crate) fn type_in(&mut self, text: &str) {
        self.held.write_all(text.as_bytes()).unwrap();
    }

    /// Resizes the terminal.
    #[cfg(feature = "stepper")]
    pub(crate) fn resize(&mut self, (rows, columns): (u16, u16)) {
        tcsetwinsize(&self.held, Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
    }

    /// Returns everything that was sent to the terminal.
    #[cfg(feature = "stepper")]
    pub(crate) fn sent(&self) -> &[u8] {
        &self.shown
    }

    /// Reads some output of the terminal. Returns `false` at the end.
    pub(crate) fn read(&mut self) -> bool {
        let mut piece = [0; 4096];
        let mut ready = [PollFd::new(&self.held, PollFlags::IN)];
        let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
        assert!(
            poll(&mut ready, Some(&patience)).unwrap() > 0,
            "nothing came for long after {}",
            self.text()
        );
        // On Linux, reading fails once the last handle at the other end is closed.
        let length = self.held.read(&mut piece).unwrap_or(0);
        self.shown.extend_from_slice(&piece[..length]);
        length > 0
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).replace("\r\n", "\n")
    }
}

fn open() -> rustix::io::Result<(File, OwnedFd)> {
    let held = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&held)?;
    unlockpt(&held)?;
    let name = ptsname(&held, Vec::new())?;
    let terminal = rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((held.into(), terminal))
}
