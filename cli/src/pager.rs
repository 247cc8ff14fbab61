//! The pager, in which a terminal shows long output page by page, as git does.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::Command;
use std::sync::mpsc::{self, Sender};
use std::thread;

use anstream::AutoStream;

use crate::signals;

const DEFAULT: &str = "less";

/// A running pager. Dropping it waits until the user leaves it, so its writer has to be dropped before.
pub(crate) struct Pager(());

type Started = (Pager, Box<dyn Write>);

impl Pager {
    /// Starts the pager that the variables name, if standard output is a terminal, and returns it with its writer.
    /// Returns `None` if no pager is wanted, or if the default pager is not installed.
    ///
    /// # Errors
    /// The message for a pager that a variable names and that cannot be started.
    pub(crate) fn start() -> Result<Option<Started>, String> {
        let stdout = io::stdout();
        let own = env::var_os("TURNFOLD_PAGER");
        let general = env::var_os("PAGER");
        let is_chosen = own.is_some() || general.is_some();
        let words = if stdout.is_terminal() { words(own, general) } else { None };
        let Some((program, args)) = words.as_deref().and_then(<[String]>::split_first) else {
            return Ok(None);
        };
        let mut command = Command::new(program);
        command.args(args);
        if env::var_os("LESS").is_none() {
            // Quit if everything fits on one screen, pass on colors, and leave the text on the screen.
            command.env("LESS", "FRX");
        }
        let mut stdin = match signals::lend_terminal(&mut command) {
            Ok(Some(stdin)) => stdin,
            Err(error) if is_chosen => {
                let program = program.escape_debug();
                let cause = error.kind();
                return Err(format!(
                    "cannot start the pager `{program}` ({cause}); its output follows unpaged"
                ));
            }
            Ok(None) | Err(_) => return Ok(None),
        };
        let (queue, written) = mpsc::channel::<Vec<u8>>();
        let thread = thread::Builder::new().name("pager".into());
        // The thread ends when everything is written, or when a write fails because the user has left the pager.
        let started = thread.spawn(move || written.iter().try_for_each(|bytes| stdin.write_all(&bytes)));
        started.map_err(|error| format!("cannot write to the pager ({error})"))?;
        // The terminal decides on colors, because they end up there.
        let colors = AutoStream::choice(&stdout);
        let queue: Box<dyn Write> = Box::new(Queue(queue));
        Ok(Some((Self(()), Box::new(AutoStream::new(queue, colors)))))
    }
}

/// Queues output for the pager without waiting until it is read. So a verb ends and releases its store while the user
/// still reads (ST-16).
struct Queue(Sender<Vec<u8>>);

impl Write for Queue {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.send(bytes.to_vec()) {
            Ok(()) => Ok(bytes.len()),
            Err(_) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        signals::await_terminal();
    }
}

/// Returns the program of the pager and its arguments; `None` for no pager. The command is split without a shell, so
/// that a missing program is noticed before anything is written to it.
fn words(own: Option<OsString>, general: Option<OsString>) -> Option<Vec<String>> {
    let named = own.or(general).unwrap_or_else(|| DEFAULT.into());
    let words = shlex::split(named.to_str()?)?;
    if words.is_empty() || words == ["cat"] { None } else { Some(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: Option<&str>, general: Option<&str>, expected: Option<&[&str]>) {
        let found = words(own.map(Into::into), general.map(Into::into));
        let expected = expected.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(found, expected);
    }

    #[test]
    fn our_own_variable_goes_before_the_general_one() {
        check(None, None, Some(&["less"]));
        check(None, Some("more -d"), Some(&["more", "-d"]));
        check(Some("sh -c 'less -S'"), Some("more"), Some(&["sh", "-c", "less -S"]));
    }

    #[test]
    fn an_empty_pager_and_cat_are_none() {
        check(Some(""), Some("less"), None);
        check(Some(" "), None, None);
        check(None, Some("cat"), None);
        check(None, Some("unclosed '"), None);
    }
}
