//! `turnfold mail run --send`: letters of the outbox, each given to a command (PM-36).

use std::fs::File;
use std::process::{Command, Stdio};

use turnfold_core::Seat;
use turnfold_replay::mail::{Addresses, Outbox, UnsentLetter};

use crate::failure::Failure;
use crate::signals;

/// The letters of an outbox after an attempt to send them.
#[derive(Debug, Default)]
pub(super) struct SendReport {
    /// The letters that were sent.
    pub(super) sent: Vec<String>,
    /// The letters that were not, each with the cause.
    pub(super) not_sent: Vec<(String, String)>,
}

/// PM-36: gives each letter that was not sent to a command, and marks it once the command has succeeded. A seat that the
/// host plays needs no address.
pub(super) fn send(
    command: &str,
    outbox: &Outbox,
    addresses: &Addresses,
    hosted: &[Seat],
) -> Result<SendReport, Failure> {
    let failed = |error| Failure::trouble(format!("cannot use the outbox: {error}"));
    let unsent = outbox.unsent().map_err(failed)?;
    let mut report = SendReport::default();
    for letter in &unsent.letters {
        if !outbox.complete(letter, addresses.route_to(letter.seat)).map_err(failed)? {
            if !hosted.contains(&letter.seat) {
                let why = format!("`addresses` has no line such as `{} = ann@example.org`", letter.seat);
                report.not_sent.push((letter.name.clone(), why));
            }
            continue;
        }
        match give(command, letter)? {
            None => {
                outbox.mark_sent(letter).map_err(failed)?;
                report.sent.push(letter.name.clone());
            }
            Some(why) => report.not_sent.push((letter.name.clone(), why)),
        }
    }
    Ok(report)
}

/// Runs the command with a letter as its standard input. Returns why it failed, if it did. Its errors are shown, its
/// output is not.
fn give(command: &str, letter: &UnsentLetter) -> Result<Option<String>, Failure> {
    let mail = File::open(&letter.path)
        .map_err(|error| Failure::trouble(format!("cannot read `{}`: {error}", letter.path.display())))?;
    let status = Command::new("sh")
        .args(["-c", command])
        .stdin(mail)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| Failure::trouble(format!("cannot run `sh`: {error}")))?;
    signals::wait_with(status);
    Ok((!status.success()).then(|| format!("`{command}` ended with {status}")))
}
