//! Sends the letters of an outbox, each by a command (PM-36), and moves deadlines whose letters were not sent (PM-101).

use std::fs::File;
use std::io;
use std::process::{Command, ExitStatus, Stdio};

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Effect;

use super::host::MailHost;
use super::letters::MailRoom;
use super::outbox::UnsentLetter;
use crate::error::MailError;

/// The letters of an outbox after an attempt to send them.
#[derive(Debug, Default)]
pub struct SendReport {
    /// The letters that were sent.
    pub sent: Vec<String>,
    /// The letters that were not sent, each with the cause.
    pub not_sent: Vec<(String, String)>,
    /// The letters that were written because a deadline moved.
    pub written: Vec<String>,
    /// What happened at the desk, if a deadline moved.
    pub effects: Vec<Effect>,
}

/// Gives a letter to a mailer. Returns the reason if the mailer did not take it.
pub type GiveLetter<'a> = dyn FnMut(&UnsentLetter) -> io::Result<Option<String>> + 'a;

/// Runs a shell command with a letter as its standard input. Its stderr is shown, its stdout is dropped.
///
/// # Errors
/// A letter that cannot be read, and a shell that cannot be run.
pub fn give_to_command(command: &str, letter: &UnsentLetter) -> io::Result<ExitStatus> {
    let mail = File::open(&letter.path)?;
    Command::new("sh").args(["-c", command]).stdin(mail).stdout(Stdio::null()).status()
}

/// Returns the reason if a mailer did not take a letter.
#[must_use]
pub fn why_not_given(command: &str, status: ExitStatus) -> Option<String> {
    (!status.success()).then(|| format!("`{command}` ended with {status}"))
}

impl MailRoom<'_> {
    /// Sends every unsent letter; of several unsent reports to a seat only the newest. If the letter of a turn is sent
    /// so late that less than half of the turn is left, the deadline moves to a whole turn from now, and all players
    /// get a letter about it (PM-101).
    ///
    /// # Errors
    /// What cannot be read, signed or written. Letters that the mailer does not take are in the report.
    pub fn send(
        &self,
        host: &mut MailHost<'_>,
        at: DeskTime,
        give: &mut GiveLetter<'_>,
    ) -> Result<SendReport, MailError> {
        let waiting = if host.is_short(at) { self.unsent_turn()? } else { Vec::new() };
        let is_of_turn =
            |letter: &UnsentLetter| waiting.contains(&letter.seat) && letter.report_size().is_some();
        let mut report = SendReport::default();
        if !waiting.is_empty() {
            report = self.send_some(1, &is_of_turn, give)?;
        }
        let is_late = !report.sent.is_empty();
        if is_late {
            // The mailer works again.
            report.effects = host.begin_turn_anew(at)?;
            report.written = self.write_reports()?.iter().map(ToString::to_string).collect();
            report.not_sent.clear();
        }
        // A letter that the mailer has just refused is not given to it again.
        let others = self.send_some(usize::MAX, &|letter| is_late || !is_of_turn(letter), give)?;
        report.sent.extend(others.sent);
        report.not_sent.extend(others.not_sent);
        Ok(report)
    }

    /// Returns `true` if a letter to a seat with an address is unsent.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn has_unsent(&self) -> Result<bool, MailError> {
        let unsent = self.outbox.unsent().map_err(MailError::Outbox)?;
        Ok(unsent.letters.iter().any(|letter| self.addresses.of(letter.seat).is_some()))
    }

    /// Gives unsent letters that `is_wanted` accepts to the mailer, until it has taken `most`. A hosted seat needs no
    /// address.
    fn send_some(
        &self,
        most: usize,
        is_wanted: &dyn Fn(&UnsentLetter) -> bool,
        give: &mut GiveLetter<'_>,
    ) -> Result<SendReport, MailError> {
        let failed = MailError::Outbox;
        let mut unsent = self.outbox.unsent().map_err(failed)?;
        self.replace_unsent(&unsent.letters)?;
        unsent.letters.retain(|letter| letter.path.exists() && is_wanted(letter));
        let hosted = super::pairing::MailMatch::find(self.store, self.game, self.registry)?.terms.hosted;
        // PM-106: writing reports may just have retired an address.
        let written = self.outbox.addresses_now()?;
        let addresses = written.as_ref().unwrap_or(self.addresses);
        let mut report = SendReport::default();
        for letter in &unsent.letters {
            if report.sent.len() == most {
                break;
            }
            if !self.outbox.complete(letter, addresses.route_to(letter.seat)).map_err(failed)? {
                if !hosted.contains(&letter.seat) {
                    let why = format!("`addresses` has no line such as `{} = ann@example.org`", letter.seat);
                    report.not_sent.push((letter.name.clone(), why));
                }
                continue;
            }
            match give(letter).map_err(failed)? {
                None => {
                    self.outbox.mark_sent(letter).map_err(failed)?;
                    report.sent.push(letter.name.clone());
                }
                Some(why) => report.not_sent.push((letter.name.clone(), why)),
            }
        }
        Ok(report)
    }
}
