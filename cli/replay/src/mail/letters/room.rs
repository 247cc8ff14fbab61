//! The mail room of a match: writes what its desk's log calls for, each letter once (PM-29).

use turnfold_core::rules::desk::State;
use turnfold_core::{Registry, Seat};
use turnfold_store::{MatchName, StoreReader};

use super::answer::AnswerLetter;
use super::error::LetterError;
use super::mail::Mail;
use super::occasions::{Occasion, occasions};
use super::part::{Part, bundle};
use super::report::Report;
use super::spectators;
use crate::bundle::SeatRecords;
use crate::mail::addresses::Addresses;
use crate::mail::letter::{Letter, subject_line};
use crate::mail::outbox::{LetterName, Outbox};
use crate::mail::take::TakenPaper;
use crate::signing::Signers;
use crate::viewer::Viewer;

/// What letters are made of, and where they go.
#[derive(Clone, Copy)]
pub struct MailRoom<'a> {
    /// The store with desk and game.
    pub store: &'a StoreReader,
    /// The rulesets there are.
    pub registry: &'a Registry,
    /// The host's key, which signs what is sent.
    pub signers: &'a Signers,
    /// Where the players get their letters.
    pub addresses: &'a Addresses,
    /// Where letters wait to be sent.
    pub outbox: &'a Outbox,
    /// The game.
    pub game: &'a MatchName,
}

impl MailRoom<'_> {
    /// Writes every report that the desk's log so far calls for and the outbox does not have, and the bundle for
    /// spectators. Returns those written now.
    ///
    /// # Errors
    /// [`LetterError`]. Safe to repeat after an interruption.
    pub fn write_reports(&self) -> Result<Vec<LetterName>, LetterError> {
        let mail = Mail::read(self.store, self.registry, self.game)?;
        let occasions = occasions(&mail.log);
        let mut due = Vec::new();
        for (index, Occasion { size, seats }) in occasions.iter().enumerate() {
            for &seat in seats {
                let name = LetterName { desk_size: *size, seat, answers: None };
                if !self.outbox.has(name)? {
                    let before = occasions.get(..index).unwrap_or_default();
                    let before = before.iter().rfind(|earlier| earlier.seats.contains(&seat));
                    let since = before.map(|earlier| earlier.size);
                    due.push((name, Report { seat, size: *size, since }));
                }
            }
        }
        let states = mail.log.states(&due.iter().map(|(name, _)| name.desk_size).collect());
        let mut written = Vec::new();
        for (name, report) in due {
            let Some(state) = states.get(&name.desk_size) else { continue };
            let attached = attachment(&mail.game, name.desk_size, name.seat);
            let (subject, text) = report.write(&mail, state, &attached)?;
            if self.send(&mail, name, state, (&subject, &text))? {
                written.push(name);
            }
        }
        if let Some(bundle) = spectators::bundle(&mail, self.signers)? {
            self.outbox.put_spectators(&bundle)?;
        }
        Ok(written)
    }

    /// Writes the answers to the papers of a mail, but those that the outbox has. Returns those written now.
    ///
    /// # Errors
    /// [`LetterError`]. Safe to repeat after an interruption.
    pub fn write_answers(&self, papers: &[TakenPaper]) -> Result<Vec<LetterName>, LetterError> {
        let mail = Mail::read(self.store, self.registry, self.game)?;
        let mut due = Vec::new();
        for letter in AnswerLetter::all(papers, &mail) {
            if !self.outbox.has(letter.name)? {
                due.push(letter);
            }
        }
        let states = mail.log.states(&due.iter().map(|letter| letter.name.desk_size).collect());
        let mut written = Vec::new();
        for letter in due {
            let name = letter.name;
            let Some(state) = states.get(&name.desk_size) else { continue };
            let attached = attachment(&mail.game, name.desk_size, name.seat);
            let (subject, text) = letter.write(&mail, state, &attached);
            // What is not recorded leaves the desk as it is, so the same paper again may meet another size of it.
            let line = subject_line(&subject) + "\r\n";
            let is_told = self.outbox.alike(name)?.iter().any(|letter| letter.contains(&line));
            if !is_told && self.send(&mail, name, state, (&subject, &text))? {
                written.push(name);
            }
        }
        Ok(written)
    }

    /// Puts a letter with the seat's bundle into the outbox; returns `true` if it was not there.
    fn send(
        &self,
        mail: &Mail<'_>,
        name: LetterName,
        state: &State,
        (subject, text): (&str, &str),
    ) -> Result<bool, LetterError> {
        let attached = attached(mail, self.signers, (name.seat, name.desk_size))?;
        let letter = Letter {
            to: self.addresses.of(name.seat),
            subject,
            date: state.clock(),
            text,
            file_name: &attachment(&mail.game, name.desk_size, name.seat),
            attached: &attached,
        };
        Ok(self.outbox.put(name, &letter.to_eml())?)
    }
}

/// Returns the bundle that is attached to a letter to a seat about this number of records of the desk.
///
/// # Errors
/// [`LetterError`].
pub fn seat_bundle(
    store: &StoreReader,
    registry: &Registry,
    signers: &Signers,
    game: &MatchName,
    (seat, desk_size): (Seat, u64),
) -> Result<Vec<u8>, LetterError> {
    attached(&Mail::read(store, registry, game)?, signers, (seat, desk_size))
}

fn attached(
    mail: &Mail<'_>,
    signers: &Signers,
    (seat, desk_size): (Seat, u64),
) -> Result<Vec<u8>, LetterError> {
    let records = Part::of(mail, desk_size)?.records(mail)?;
    bundle(mail, signers, &SeatRecords::of(records, Viewer::of(seat), mail.registry)?)
}

/// What a seat's bundle is called: short enough for a line to type.
fn attachment(game: &MatchName, size: u64, seat: Seat) -> String {
    format!("{:.32}-{size}-{seat}.bundle", game.as_str())
}
