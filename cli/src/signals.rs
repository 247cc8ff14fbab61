//! Signals that end the program: before they do, its pager has ended and its drafts are removed.

use std::io;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The child that reads from the terminal, if any.
static READER: Mutex<Option<Child>> = Mutex::new(None);

/// What gives back a terminal that the program fills.
static GIVE_BACK: Mutex<Option<fn()>> = Mutex::new(None);

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a signal has come that the thread which ends this process may not have seen yet.
static HAS_COME: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether other code ends this process when a signal asks for it.
static IS_LEFT: AtomicBool = AtomicBool::new(false);

/// Whether other code answers SIGHUP.
static IS_HANGUP_LEFT: AtomicBool = AtomicBool::new(false);

/// From now on, SIGINT and SIGTERM, and perhaps SIGHUP, are left to other code that catches them, such as a service that
/// ends in its own time.
pub(crate) fn leave_asking(and_hangup: bool) {
    IS_LEFT.store(true, Ordering::SeqCst);
    IS_HANGUP_LEFT.store(and_hangup, Ordering::SeqCst);
}

/// Notices SIGINT, such as Ctrl-C, and SIGTERM, which from now on set a flag and do nothing else. A signal that this process
/// was started to ignore stays ignored.
pub(crate) fn notice_end() -> io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    leave_asking(false);
    let is_wanted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        #[cfg(unix)]
        if unix::is_ignored(signal) {
            continue;
        }
        signal_hook::flag::register(signal, Arc::clone(&is_wanted))?;
    }
    Ok(is_wanted)
}

/// From now on, a signal that ends this process removes its drafts and ends its referees first. Its parent process sees the signal as its end
/// all the same, and signals that it was started to ignore, as with `nohup`, stay ignored.
pub(crate) fn remove_drafts() {
    #[cfg(unix)]
    unix::catch_once();
}

/// Leaves the terminal to a command such as a pager, and returns where to write to it.
///
/// A signal that ends this process, such as Ctrl-C, which reaches both, ends it only after the command: otherwise the shell
/// that started us would read from the terminal too.
pub(crate) fn lend_terminal(command: &mut Command) -> io::Result<Option<ChildStdin>> {
    #[cfg(unix)]
    unix::catch_once();
    let mut reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    let child = reader.insert(command.stdin(Stdio::piped()).spawn()?);
    Ok(child.stdin.take())
}

/// From now on, a signal that ends this process gives the terminal back first.
pub(crate) fn before_end(give_back: fn()) {
    *GIVE_BACK.lock().unwrap_or_else(PoisonError::into_inner) = Some(give_back);
    #[cfg(unix)]
    unix::catch_once();
}

/// From now on, this process ends when its terminal is closed, also where the terminal does not control it
/// and no signal reports it. crossterm would read its end for ever.
pub(crate) fn end_without_terminal() -> std::io::Result<()> {
    #[cfg(unix)]
    thread::Builder::new().name("terminal".into()).spawn(|| {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdin = std::io::stdin();
        // Without flags, it waits for the end alone.
        while poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None).is_err() {}
        give_back();
        std::process::exit(0);
    })?;
    Ok(())
}

/// Returns `true` if an error is what Linux returns to a program whose terminal is closed. Writes fail in this way before
/// a poll reports it.
pub(crate) fn is_end_of_terminal(error: &std::io::Error) -> bool {
    #[cfg(unix)]
    let is_end = rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::IO);
    #[cfg(not(unix))]
    let is_end = {
        let _ = error;
        false
    };
    is_end
}

/// Notices a request to stop for a while, such as Ctrl-Z.
pub(crate) struct Stop {
    #[cfg(unix)]
    wanted: Arc<AtomicBool>,
}

impl Stop {
    pub(crate) fn notice() -> std::io::Result<Self> {
        #[cfg(unix)]
        {
            let wanted = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTSTP, Arc::clone(&wanted))?;
            Ok(Self { wanted })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Returns `true` if it is wanted now.
    pub(crate) fn is_wanted(&self) -> bool {
        #[cfg(unix)]
        return self.wanted.load(Ordering::SeqCst);
        #[cfg(not(unix))]
        false
    }

    /// Stops until the shell continues the program.
    pub(crate) fn obey(&self) -> std::io::Result<()> {
        #[cfg(unix)]
        {
            self.wanted.store(false, Ordering::SeqCst);
            signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        }
        Ok(())
    }
}

/// Waits for the child that reads from the terminal, if there is one.
pub(crate) fn await_terminal() {
    await_reader();
    let has_come = || HAS_COME.load(Ordering::SeqCst) && !IS_LEFT.load(Ordering::SeqCst);
    while IS_ENDING.load(Ordering::SeqCst) || has_come() {
        wait_to_end();
    }
}

/// Gives back the terminal before a signal ends the program, and returns `true` if the program filled it.
#[cfg(unix)]
fn give_back() -> bool {
    let give_back = *GIVE_BACK.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(give_back) = give_back {
        give_back();
    }
    give_back.is_some()
}

fn await_reader() {
    let mut reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mut child) = reader.take() {
        let _ = child.wait();
    }
}

/// Waits after a child that a signal ended: one for all of us, such as Ctrl-C, is about to end this process too, and
/// there is nothing to print then.
pub(crate) fn wait_with(child: ExitStatus) {
    if child.code().is_none() {
        wait_to_end();
    }
}

fn wait_to_end() {
    thread::sleep(Duration::from_secs(1));
}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::fs;
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Once};
    use std::thread;

    use signal_hook::consts::signal::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    use turnfold_store::draft;

    /// The signals that come from outside, end a process unless it catches them, and can be caught.
    const ENDING: [c_int; 11] =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ];

    pub(super) fn catch_once() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let ignored = ignored();
            let caught: Vec<_> = ENDING.into_iter().filter(|signal| !is_among(*signal, ignored)).collect();
            let (ready, is_ready) = channel();
            // Only a thread that runs may catch them: otherwise they would end nothing.
            let thread = thread::Builder::new().name("signals".into()).spawn(move || wait(&caught, &ready));
            match thread {
                Ok(_) => drop(is_ready.recv()),
                Err(error) => tracing::warn!(%error, "a signal may leave a draft behind"),
            }
        });
    }

    fn wait(caught: &[c_int], ready: &Sender<()>) {
        let signals = Signals::new(caught);
        // Only what the thread receives ends the process, so it must be sent second.
        for signal in signals.iter().flat_map(|_| caught) {
            let _ = flag::register(*signal, Arc::clone(&super::HAS_COME));
        }
        let _ = ready.send(());
        match signals {
            Ok(mut signals) => {
                let is_ours = |signal: &c_int| match *signal {
                    SIGINT | SIGTERM => !super::IS_LEFT.load(Ordering::SeqCst),
                    SIGHUP => !super::IS_HANGUP_LEFT.load(Ordering::SeqCst),
                    _ => true,
                };
                if let Some(signal) = signals.forever().find(is_ours) {
                    super::IS_ENDING.store(true, Ordering::SeqCst);
                    super::await_reader();
                    let filled_terminal = super::give_back();
                    draft::abandon_all();
                    #[cfg(feature = "modules")]
                    turnfold_referee::end_all();
                    // A program that fills a terminal ends well when that is closed (VW-4), whether the signal reports it
                    // first or the terminal itself.
                    if filled_terminal && signal == SIGHUP && terminal_is_gone() {
                        std::process::exit(0);
                    }
                    let _ = emulate_default_handler(signal);
                    std::process::exit(128 + signal);
                }
            }
            Err(error) => tracing::warn!(%error, "a signal may leave a draft behind"),
        }
    }

    /// Returns `true` if the terminal is closed.
    fn terminal_is_gone() -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = std::io::stdin();
        let mut held = [PollFd::new(&stdin, PollFlags::empty())];
        let polled = poll(&mut held, Some(&Timespec::default()));
        polled.is_ok() && held.iter().any(|held| held.revents().contains(PollFlags::HUP))
    }

    pub(super) fn is_ignored(signal: c_int) -> bool {
        is_among(signal, ignored())
    }

    fn is_among(signal: c_int, signals: u64) -> bool {
        signals >> (signal - 1) & 1 != 0
    }

    /// Returns the signals that this process was started to ignore, a bit for each from signal 1 on.
    ///
    /// Only Linux reports it without unsafe code; elsewhere all count as ignored, so that Ctrl-C never ends a background
    /// job that it should not reach, and the next verb removes what was left.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(u64::MAX)
    }
}
