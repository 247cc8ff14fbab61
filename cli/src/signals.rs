//! Signals that end the program: before they do, its drafts are removed.

use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

/// From now on, a signal that ends this process removes its drafts first. Whoever started it sees the signal as its end
/// all the same, and signals that it was started to ignore, as with `nohup`, stay ignored.
pub(crate) fn remove_drafts() {
    #[cfg(unix)]
    unix::catch_once();
}

/// Waits after a child that a signal ended: one for all of us, such as Ctrl-C, is about to end this process too, and
/// there is nothing to be said then.
pub(crate) fn wait_with(child: ExitStatus) {
    if child.code().is_none() {
        thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(unix)]
mod unix {
    use std::ffi::c_int;
    use std::fs;
    use std::sync::Once;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use signal_hook::consts::signal::{
        SIGALRM, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
    };
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
            let caught: Vec<_> =
                ENDING.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect();
            let (ready, is_ready) = channel();
            // Only a thread that runs may catch them: caught by nobody, they would end nothing.
            let thread = thread::Builder::new().name("signals".into()).spawn(move || wait(&caught, &ready));
            match thread {
                Ok(_) => drop(is_ready.recv()),
                Err(error) => tracing::warn!(%error, "a signal may leave a draft behind"),
            }
        });
    }

    fn wait(caught: &[c_int], ready: &Sender<()>) {
        let signals = Signals::new(caught);
        let _ = ready.send(());
        match signals {
            Ok(mut signals) => {
                if let Some(signal) = signals.forever().next() {
                    draft::abandon_all();
                    let _ = emulate_default_handler(signal);
                }
            }
            Err(error) => tracing::warn!(%error, "a signal may leave a draft behind"),
        }
    }

    /// Returns the signals that this process was started to ignore, a bit for each from signal 1 on.
    ///
    /// Only Linux says so without unsafe code; elsewhere all count as ignored, so that Ctrl-C never ends a background
    /// job that it should not reach, and the next verb removes what was left.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(u64::MAX)
    }
}
