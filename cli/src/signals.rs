//! Handles signals that end the program: first its pager ends, its terminal is restored and its drafts are removed.

use std::io;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The child that reads from the terminal, if there is one.
static READER: Mutex<Option<Child>> = Mutex::new(None);

/// Restores the terminal, if the program uses it in full screen.
static GIVE_BACK: Mutex<Option<fn()>> = Mutex::new(None);

static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Whether a signal has arrived that the thread which ends this process may not have handled yet.
static HAS_COME: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

static IS_LEFT: AtomicBool = AtomicBool::new(false);

static IS_HANGUP_LEFT: AtomicBool = AtomicBool::new(false);

/// Leaves SIGINT and SIGTERM, and SIGHUP if `and_hangup` is set, to other code from now on, such as a service that
/// shuts down by itself.
pub(crate) fn leave_asking(and_hangup: bool) {
    IS_LEFT.store(true, Ordering::SeqCst);
    IS_HANGUP_LEFT.store(and_hangup, Ordering::SeqCst);
}

/// Returns a flag that SIGINT and SIGTERM set from now on; they do nothing else. A signal that this process was started
/// to ignore stays ignored.
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

/// Ensures that a signal that ends this process first removes its drafts and ends its referees. The parent process
/// still sees that the signal ended it. Signals that it was started to ignore, as with `nohup`, stay ignored.
pub(crate) fn remove_drafts() {
    #[cfg(unix)]
    unix::catch_once();
}

/// Starts a command that takes over the terminal, such as a pager, and returns the pipe to its standard input.
///
/// A signal such as Ctrl-C reaches both processes. It ends this one only after the command, because otherwise the shell
/// would read from the terminal at the same time as the command.
pub(crate) fn lend_terminal(command: &mut Command) -> io::Result<Option<ChildStdin>> {
    remove_drafts();
    let mut reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    let child = reader.insert(command.stdin(Stdio::piped()).spawn()?);
    Ok(child.stdin.take())
}

pub(crate) fn before_end(give_back: fn()) {
    *GIVE_BACK.lock().unwrap_or_else(PoisonError::into_inner) = Some(give_back);
    remove_drafts();
}

/// Ends this process from now on when its terminal is closed, even if no signal reports that because it is not the
/// controlling terminal. Without this, crossterm would read the end of the input forever.
pub(crate) fn end_without_terminal() -> io::Result<()> {
    #[cfg(unix)]
    thread::Builder::new().name("terminal".into()).spawn(|| {
        use rustix::event::{PollFd, PollFlags, poll};
        let stdin = io::stdin();
        // Without flags, `poll` waits only for the hangup.
        while poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None).is_err() {}
        give_back();
        std::process::exit(0);
    })?;
    Ok(())
}

/// Returns `true` for the error of Linux for a closed terminal. Writes fail with it before a poll reports the hangup.
pub(crate) fn is_end_of_terminal(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    cfg!(unix) && error.raw_os_error() == Some(EIO)
}

/// Whether SIGTSTP has arrived, as from Ctrl-Z.
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn notice() -> io::Result<Self> {
        let wanted = Arc::default();
        #[cfg(unix)]
        signal_hook::flag::register(signal_hook::consts::SIGTSTP, Arc::clone(&wanted))?;
        Ok(Self(wanted))
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn obey(&self) -> io::Result<()> {
        self.0.store(false, Ordering::SeqCst);
        #[cfg(unix)]
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        Ok(())
    }
}

/// Waits for the child that reads from the terminal, if there is one. If a signal is ending this process, does not
/// return.
pub(crate) fn await_terminal() {
    await_reader();
    while IS_ENDING.load(Ordering::SeqCst)
        || HAS_COME.load(Ordering::SeqCst) && !IS_LEFT.load(Ordering::SeqCst)
    {
        wait_to_end();
    }
}

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

/// Waits if a signal ended a child. A signal such as Ctrl-C is about to end this process too, and nothing should be
/// printed then.
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
    use std::sync::atomic::Ordering;
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, LazyLock, Once};
    use std::thread;
    use std::{fs, io};

    use signal_hook::consts::signal::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
    use signal_hook::flag;
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;
    use turnfold_store::draft;

    /// The signals from outside that end a process by default and can be caught.
    const ENDING: [c_int; 11] =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ];

    pub(super) fn catch_once() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let caught: Vec<_> = ENDING.into_iter().filter(|signal| !is_ignored(*signal)).collect();
            let (ready, is_ready) = channel();
            // The signals are caught only by a running thread; otherwise they would have no effect.
            let thread = thread::Builder::new().name("signals".into()).spawn(move || wait(&caught, &ready));
            match thread {
                Ok(_) => drop(is_ready.recv()),
                Err(error) => tracing::warn!(%error, "a signal may leave a draft behind"),
            }
        });
    }

    fn wait(caught: &[c_int], ready: &Sender<()>) {
        let mut signals = match Signals::new(caught) {
            Ok(signals) => signals,
            Err(error) => {
                let _ = ready.send(());
                tracing::warn!(%error, "a signal may leave a draft behind");
                return;
            }
        };
        // The flag is registered after the thread has its own handler, and only then, because only the thread ends the
        // process: a signal that sets the flag must also reach the thread.
        for signal in caught {
            let _ = flag::register(*signal, Arc::clone(&super::HAS_COME));
        }
        let _ = ready.send(());
        for signal in signals.forever() {
            let is_left = match signal {
                SIGINT | SIGTERM => super::IS_LEFT.load(Ordering::SeqCst),
                SIGHUP => super::IS_HANGUP_LEFT.load(Ordering::SeqCst),
                _ => false,
            };
            if is_left {
                continue;
            }
            super::IS_ENDING.store(true, Ordering::SeqCst);
            super::await_reader();
            let filled_terminal = super::give_back();
            draft::abandon_all();
            #[cfg(feature = "modules")]
            turnfold_referee::end_all();
            // A full-screen program exits with 0 when its terminal is closed (VW-4), whether it learns that from the
            // signal or from the terminal.
            if filled_terminal && signal == SIGHUP && terminal_is_gone() {
                std::process::exit(0);
            }
            let _ = emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    }

    fn terminal_is_gone() -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdin = io::stdin();
        let mut held = [PollFd::new(&stdin, PollFlags::empty())];
        let polled = poll(&mut held, Some(&Timespec::default()));
        polled.is_ok() && held.iter().any(|held| held.revents().contains(PollFlags::HUP))
    }

    /// Returns `true` for a signal that this process was started to ignore.
    ///
    /// Only Linux reports them without unsafe code. Elsewhere all signals count as ignored, so that Ctrl-C never ends a
    /// background job. Drafts that a signal leaves behind are removed by the next verb.
    pub(super) fn is_ignored(signal: c_int) -> bool {
        /// A set of bits, which begins with signal 1.
        static IGNORED: LazyLock<u64> = LazyLock::new(|| {
            for line in fs::read_to_string("/proc/self/status").unwrap_or_default().lines() {
                if let Some(mask) = line.strip_prefix("SigIgn:") {
                    return u64::from_str_radix(mask.trim(), 16).unwrap_or(u64::MAX);
                }
            }
            u64::MAX
        });
        *IGNORED >> (signal - 1) & 1 != 0
    }
}
