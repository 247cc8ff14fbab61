//! Letters for the host, and words of the host to all players (PM-107, PM-108).

use std::fs;

use jiff::Timestamp;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{Desk, Effect};
use turnfold_core::{Digest, Rules, Seat};
use turnfold_store::BranchName;

use super::letter::{Letter, LetterText};
use super::letter_part::sentence_for;
use super::letter_words::{Text, seats, time};
use super::letters::MailRoom;
use super::outbox::LetterName;
use super::thread::Thread;
use crate::error::ReplayError;
use crate::render::text::counted;

/// What a day of a match brought, for the host.
#[derive(Clone, Debug, Default)]
pub struct MatchDay {
    /// Players who joined, missed a deadline, left or were replaced, and how the match ended, in sentences.
    pub happened: Vec<String>,
    /// What waits for the host, in sentences.
    pub waits: Vec<String>,
}

impl MailRoom<'_> {
    /// Returns what happened in the match after one time and up to another, and what waits for the host now.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn day(&self, after: Option<DeskTime>, to: DeskTime) -> Result<MatchDay, ReplayError> {
        let mail = super::letter_part::MailLogs::read(self.store, self.registry, self.game)?;
        let log = self.store.read(&mail.of.desk, &BranchName::main(), None)?;
        let mut day = MatchDay::default();
        for (entry, stored) in mail.desk.entries().iter().zip(&log.entries) {
            let at = u64::try_from(stored.recorded_at_ms / 1000).unwrap_or(0);
            if after.is_some_and(|after| at <= after.unix_seconds()) || at > to.unix_seconds() {
                continue;
            }
            let counts = entry.effects.iter().filter(|effect| is_for_host(effect));
            day.happened.extend(counts.filter_map(|effect| sentence_for(effect, Seat::Host, 0)));
        }
        let state = mail.desk.state();
        if Desk::over(state) {
            return Ok(day);
        }
        let hosted = &mail.of.terms.hosted;
        let players = Seat::players(mail.of.terms.seats.into()).iter().copied();
        let unknown: Vec<_> =
            players.filter(|seat| !hosted.contains(seat) && self.addresses.of(*seat).is_none()).collect();
        if !unknown.is_empty() {
            day.waits.push(format!("`addresses` has no line for {}.", seats(&unknown, Seat::Host)));
        }
        let unsent = self.outbox.unsent().map_err(ReplayError::Outbox)?.letters.len();
        if unsent > 0 {
            let verb = if unsent == 1 { "was" } else { "were" };
            day.waits.push(format!("{} {verb} not sent.", counted(unsent as u64, "letter", "letters")));
        }
        let own: Vec<_> = state.awaited().into_iter().filter(|seat| hosted.contains(seat)).collect();
        if !own.is_empty() {
            let until = state.deadline().map(|until| time(until, 0)).unwrap_or_default();
            day.waits.push(format!("Your order for {} is due by {until}.", seats(&own, Seat::Host)));
        }
        Ok(day)
    }

    /// PM-107: writes the letter about a day to the host, unless there is one. Returns its name if it was written now.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn write_day(
        &self,
        at: DeskTime,
        days: &[(String, MatchDay)],
    ) -> Result<Option<String>, ReplayError> {
        let name = day_name(at);
        let has_news = days.iter().any(|(_, day)| !day.happened.is_empty() || !day.waits.is_empty());
        if !has_news || self.addresses.of(Seat::Host).is_none() {
            return Ok(None);
        }
        let mut text = Text::default();
        text.paragraph("This is what happened in your matches by mail since the last such letter.");
        for (of_match, day) in days {
            if day.happened.is_empty() && day.waits.is_empty() {
                continue;
            }
            text.heading(of_match);
            if !day.happened.is_empty() {
                text.items(&day.happened);
            }
            if !day.waits.is_empty() {
                text.paragraph("For you to do:");
                text.items(&day.waits);
            }
        }
        let (thread, subject) = (Thread::default(), format!("your matches by mail, {}", day_of(at)));
        let letter = Letter {
            route: self.addresses.route_to(Seat::Host),
            subject: &subject,
            date: Some(at),
            thread: &thread,
            text: &text.into_string(),
            attached: &[],
        };
        let is_new = self.outbox.put_named(&name, &letter.to_eml()).map_err(ReplayError::Outbox)?;
        self.outbox.sync().map_err(ReplayError::Outbox)?;
        Ok(is_new.then_some(name))
    }

    /// Returns `true` if the letter about the day of this time was written.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn has_day(&self, at: DeskTime) -> Result<bool, ReplayError> {
        let files = self.outbox.files().map_err(ReplayError::Outbox)?;
        let name = day_name(at);
        Ok(files.iter().any(|path| path.file_name().is_some_and(|found| found == name.as_str())))
    }

    /// Returns when the newest letter about a day was written.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn last_day(&self) -> Result<Option<DeskTime>, ReplayError> {
        let mut last = None;
        for path in self.outbox.files().map_err(ReplayError::Outbox)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !name.ends_with("-host.eml") {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(ReplayError::Outbox)?;
            let date = text.lines().find_map(|line| line.strip_prefix("Date: "));
            let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date.trim()).ok());
            let seconds = date.and_then(|date| u64::try_from(date.timestamp().as_second()).ok());
            last = last.max(seconds.and_then(DeskTime::of_unix_seconds));
        }
        Ok(last)
    }

    /// PM-108: writes words of the host to every player of the match. The same words at the same time are written once.
    ///
    /// # Errors
    /// What cannot be read, signed or written.
    pub fn broadcast(&self, words: &str, at: DeskTime) -> Result<Vec<LetterName>, ReplayError> {
        let mail = super::letter_part::MailLogs::read(self.store, self.registry, self.game)?;
        let hash = blake3::derive_key("turnfold v1 words of the host", format!("{at} {words}").as_bytes());
        let players = Seat::players(mail.of.terms.seats.into()).iter().copied();
        let named = players.filter(|seat| !mail.of.terms.hosted.contains(seat)).map(|seat| {
            (LetterName { desk_size: mail.desk.size(), seat, answers: Some(Digest::new(hash)) }, ())
        });
        let written = self.put(&mail, named, |(), _, _| {
            let mut text = Text::default();
            text.paragraph("The host writes to all players:");
            for line in words.lines() {
                text.paragraph(line);
            }
            let subject = format!("[{}] words of the host", self.game);
            Ok(Some(LetterText { subject, text: text.into_string(), ..LetterText::default() }))
        })?;
        self.outbox.sync().map_err(ReplayError::Outbox)?;
        Ok(written)
    }
}

/// Whether the host reads of it.
const fn is_for_host(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Joined { .. }
            | Effect::Missed { .. }
            | Effect::Gone { .. }
            | Effect::Replaced { .. }
            | Effect::Rekeyed { .. }
            | Effect::Absent { .. }
            | Effect::Over { .. }
    )
}

/// Returns the name of the letter about a day.
fn day_name(at: DeskTime) -> String {
    format!("{}-host.eml", at.to_string().get(..10).unwrap_or_default().replace('-', ""))
}

fn day_of(at: DeskTime) -> String {
    let at = i64::try_from(at.unix_seconds()).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map(|at| at.strftime("%a %-d %b %Y").to_string()).unwrap_or_default()
}
