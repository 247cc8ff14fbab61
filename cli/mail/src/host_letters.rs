//! Letters to the host, and messages of the host to all players (PM-107, PM-108).

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{Desk, Effect};
use turnfold_core::{Digest, Registry, Rules, Seat};
use turnfold_history::text::counted;
use turnfold_proof::signing::Signers;
use turnfold_store::{BranchName, MatchName, StoreReader};

use super::desk_history::DeskHistory;
use super::letter::{Letter, LetterText, Thread};
use super::letter_part::{MailLogs, sentence_for};
use super::letter_words::{Text, seats, time};
use super::letters::MailRoom;
use super::notices::NoticeKind;
use super::outbox::{LetterName, Outbox};
use super::pairing::MailMatch;
use super::post_folder::PostFolder;
use super::post_office::hosted_matches;
use crate::error::MailError;

/// The day of a match, as the host reads it.
#[derive(Debug, Default)]
struct MatchDay {
    /// Who joined, missed a deadline, left or was replaced, whose mail bounced, and how the match ended, in sentences.
    happened: Vec<String>,
    /// What waits for the host, in sentences.
    waits: Vec<String>,
}

/// Returns what waits for the host of a match, in sentences.
///
/// # Errors
/// What cannot be read.
pub fn waits_for_host(
    game: &MailMatch,
    desk: &DeskHistory,
    post: &PostFolder,
) -> Result<Vec<String>, MailError> {
    let state = desk.state();
    let addresses = post.addresses()?;
    let mut waits = Vec::new();
    if Desk::over(state) {
        return Ok(waits);
    }
    let joins = post.notices()?;
    waits.extend(joins.iter().filter(|notice| notice.waits(desk)).map(|notice| notice.in_words() + "."));
    let hosted = &game.terms.hosted;
    let players = Seat::players(game.terms.seats.into()).iter().copied();
    let unknown: Vec<_> =
        players.filter(|seat| !hosted.contains(seat) && addresses.of(*seat).is_none()).collect();
    if !unknown.is_empty() {
        waits.push(format!("`addresses` has no line for {}.", seats(&unknown, Seat::Host)));
    }
    let unsent = post.outbox().unsent().map_err(MailError::Outbox)?.letters.len();
    if unsent > 0 {
        let verb = if unsent == 1 { "was" } else { "were" };
        waits.push(format!("{} {verb} not sent.", counted(unsent as u64, "letter", "letters")));
    }
    let own: Vec<_> = state.awaited().into_iter().filter(|seat| hosted.contains(seat)).collect();
    if !own.is_empty() {
        let until = state.deadline().map(|until| time(until, "")).unwrap_or_default();
        waits.push(format!("Your order for {} is due by {until}.", seats(&own, Seat::Host)));
    }
    Ok(waits)
}

/// PM-107: writes the letter to the host about a day in all matches that these keys host, unless it exists. It goes to
/// the outbox of the match that uses `folder` itself. Returns that match and the name of the letter if it was written
/// now.
///
/// # Errors
/// What cannot be read or written.
pub fn write_day(
    store: &StoreReader,
    registry: &Registry,
    signers: &Signers,
    folder: &Path,
    at: DeskTime,
) -> Result<Option<(MatchName, String)>, MailError> {
    let mut posts = Vec::new();
    for name in hosted_matches(store, registry, signers)? {
        posts.push((PostFolder::of(folder, store, &name)?, name));
    }
    let Some((first, game)) = posts.iter().find(|(post, _)| !post.is_within()) else { return Ok(None) };
    let outbox = first.outbox();
    let addresses = first.addresses()?;
    let letter = day_name(at);
    if addresses.of(Seat::Host).is_none() || outbox.has_named(&letter).map_err(MailError::Outbox)? {
        return Ok(None);
    }
    let after = last_day(&outbox)?;
    let mut text = Text::default();
    let mut has_news = false;
    text.paragraph("This is what happened in your matches by mail since the last such letter.");
    for (post, name) in &posts {
        let day = day_of_match(store, registry, name, post, (after, at))?;
        if day.happened.is_empty() && day.waits.is_empty() {
            continue;
        }
        has_news = true;
        text.heading(name.as_str());
        if !day.happened.is_empty() {
            text.items(&day.happened);
        }
        if !day.waits.is_empty() {
            text.paragraph("For you to do:");
            text.items(&day.waits);
        }
    }
    let thread = Thread::default();
    let subject = format!("your matches by mail, {}", day_of(at));
    let eml = Letter {
        route: addresses.route_to(Seat::Host),
        subject: &subject,
        date: Some(at),
        thread: &thread,
        text: &text.into_string(),
        attached: &[],
    };
    let is_new = has_news && outbox.put_named(&letter, &eml.to_eml()).map_err(MailError::Outbox)?;
    outbox.sync().map_err(MailError::Outbox)?;
    Ok(is_new.then(|| (game.clone(), letter)))
}

/// Returns what happened in a match after one time and up to another, and what waits for the host now.
fn day_of_match(
    store: &StoreReader,
    registry: &Registry,
    name: &MatchName,
    post: &PostFolder,
    (after, to): (Option<DeskTime>, DeskTime),
) -> Result<MatchDay, MailError> {
    let mail = MailLogs::read(store, registry, name)?;
    let log = store.read(&mail.game.desk, &BranchName::main(), None)?;
    let is_of_day = |at: u64| after.is_none_or(|after| at > after.unix_seconds()) && at <= to.unix_seconds();
    let mut happened = Vec::new();
    for (entry, stored) in mail.desk.entries().iter().zip(&log.entries) {
        if is_of_day(u64::try_from(stored.recorded_at_ms / 1000).unwrap_or(0)) {
            let counts = entry.effects.iter().filter(|effect| is_for_host(effect));
            happened.extend(counts.filter_map(|effect| sentence_for(effect, Seat::Host, "")));
        }
    }
    let notices = post.notices()?;
    let new = notices.iter().filter(|notice| is_of_day(notice.at.unix_seconds()));
    let of_programs = new.filter(|notice| notice.kind != NoticeKind::Join);
    happened.extend(of_programs.map(|notice| notice.in_words() + "."));
    Ok(MatchDay { happened, waits: waits_for_host(&mail.game, &mail.desk, post)? })
}

/// Returns the date of the newest letter about a day.
fn last_day(outbox: &Outbox) -> Result<Option<DeskTime>, MailError> {
    let mut last = None;
    for (name, path) in outbox.files().map_err(MailError::Outbox)? {
        if !name.ends_with("-host.eml") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(MailError::Outbox)?;
        let date = text.lines().find_map(|line| line.strip_prefix("Date: "));
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date.trim()).ok());
        let seconds = date.and_then(|date| u64::try_from(date.timestamp().as_second()).ok());
        last = last.max(seconds.and_then(DeskTime::of_unix_seconds));
    }
    Ok(last)
}

impl MailRoom<'_> {
    /// PM-108: writes a message of the host to every player, except for hosted seats. The same words at the same time
    /// are written once.
    ///
    /// # Errors
    /// What cannot be read, signed or written.
    pub fn broadcast(&self, words: &str, at: DeskTime) -> Result<Vec<LetterName>, MailError> {
        let mail = MailLogs::read(self.store, self.registry, self.game)?;
        let hash = blake3::derive_key("turnfold v1 words of the host", format!("{at} {words}").as_bytes());
        let players = Seat::players(mail.game.terms.seats.into()).iter().copied();
        let named = players.filter(|seat| !mail.game.terms.hosted.contains(seat)).map(|seat| {
            (LetterName { desk_size: mail.desk.size(), seat, answers: Some(Digest::new(hash)) }, ())
        });
        self.put(&mail, named, |(), _, _| {
            let mut text = Text::default();
            text.paragraph("The host writes to all players:");
            for line in words.lines() {
                text.paragraph(line);
            }
            let subject = format!("[{}] words of the host", self.game);
            Ok(Some(LetterText { subject, text: text.into_string(), ..LetterText::default() }))
        })
    }
}

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
