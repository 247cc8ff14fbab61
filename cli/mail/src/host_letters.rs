//! Letters to the host, and messages of the host to all players (PM-107, PM-108).

use std::fs;
use std::path::Path;

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::{Desk, Effect};
use turnfold_core::{Digest, Registry, Rules, Seat};
use turnfold_history::text::counted;
use turnfold_proof::signing::Signers;
use turnfold_store::{BranchName, MatchName, StoreReader};

use super::desk_history::DeskHistory;
use super::letter::{Letter, Thread};
use super::letter_part::sentence_for;
use super::letter_words::{Text, seats, time, timestamp};
use super::letters::MailRoom;
use super::notices::NoticeKind;
use super::outbox::{LetterName, Outbox};
use super::pairing::MailMatch;
use super::post_folder::PostFolder;
use super::post_office::hosted_matches;
use crate::error::MailError;

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
    for notice in post.notices()? {
        if notice.waits(desk) {
            waits.push(notice.in_words() + ".");
        }
    }
    let hosted = &game.terms.hosted;
    let mut unknown = Seat::players(game.terms.seats.into()).to_vec();
    unknown.retain(|seat| !hosted.contains(seat) && addresses.of(*seat).is_none());
    if !unknown.is_empty() {
        waits.push(format!("`addresses` has no line for {}.", seats(&unknown, Seat::Host)));
    }
    let unsent = post.outbox().unsent()?.letters.len();
    if unsent > 0 {
        let verb = if unsent == 1 { "was" } else { "were" };
        waits.push(format!("{} {verb} not sent.", counted(unsent as u64, "letter", "letters")));
    }
    let mut own = state.awaited();
    own.retain(|seat| hosted.contains(seat));
    if !own.is_empty() {
        let until = state.deadline().map_or_else(String::new, |until| time(until, ""));
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
    let day = at.to_string().get(..10).unwrap_or_default().replace('-', "");
    let name = format!("{day}-host.eml");
    if addresses.of(Seat::Host).is_none() || outbox.has(&name)? {
        return Ok(None);
    }
    let after = last_day(&outbox)?.map_or(0, |after| after.unix_seconds().saturating_add(1));
    let mut text = Text::default();
    let mut has_news = false;
    text.paragraph("This is what happened in your matches by mail since the last such letter.");
    for (post, name) in &posts {
        let game = MailMatch::find(store, name, registry)?;
        let desk = DeskHistory::read(store, &game)?;
        let happened = happened(store, &game, &desk, post, after..=at.unix_seconds())?;
        let waits = waits_for_host(&game, &desk, post)?;
        if happened.is_empty() && waits.is_empty() {
            continue;
        }
        has_news = true;
        text.heading(name.as_str());
        if !happened.is_empty() {
            text.items(&happened);
        }
        if !waits.is_empty() {
            text.paragraph("For you to do:");
            text.items(&waits);
        }
    }
    let date = timestamp(at).map_or_else(String::new, |at| at.strftime("%a %-d %b %Y").to_string());
    let letter = Letter {
        route: addresses.route_to(Seat::Host),
        subject: &format!("your matches by mail, {date}"),
        date: Some(at),
        thread: &Thread::default(),
        text: text.as_str(),
        attached: &[],
    };
    let is_new = has_news && outbox.put(&name, &letter.to_eml())?;
    outbox.sync()?;
    Ok(if is_new { Some((game.clone(), name)) } else { None })
}

/// Returns what the host should know of what happened in a match in this time: who joined, missed a deadline, left or
/// was replaced, whose mail bounced, and how the match ended, in sentences.
fn happened(
    store: &StoreReader,
    game: &MailMatch,
    desk: &DeskHistory,
    post: &PostFolder,
    seconds: std::ops::RangeInclusive<u64>,
) -> Result<Vec<String>, MailError> {
    let log = store.read(&game.desk, &BranchName::main(), None)?;
    let mut happened = Vec::new();
    for (entry, stored) in desk.entries().iter().zip(&log.entries) {
        if !seconds.contains(&u64::try_from(stored.recorded_at_ms / 1000).unwrap_or(0)) {
            continue;
        }
        for effect in &entry.effects {
            if let Effect::Joined { .. }
            | Effect::Missed { .. }
            | Effect::Gone { .. }
            | Effect::Replaced { .. }
            | Effect::Rekeyed { .. }
            | Effect::Absent { .. }
            | Effect::Over { .. } = effect
            {
                happened.extend(sentence_for(effect, Seat::Host, ""));
            }
        }
    }
    for notice in post.notices()? {
        if seconds.contains(&notice.at.unix_seconds()) && notice.kind != NoticeKind::Join {
            happened.push(notice.in_words() + ".");
        }
    }
    Ok(happened)
}

fn last_day(outbox: &Outbox) -> Result<Option<DeskTime>, MailError> {
    let mut last = None;
    for (name, path) in outbox.files()? {
        if !name.ends_with("-host.eml") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        if let Some(date) = text.lines().find_map(|line| line.strip_prefix("Date: "))
            && let Ok(date) = jiff::fmt::rfc2822::parse(date.trim())
            && let Ok(seconds) = u64::try_from(date.timestamp().as_second())
        {
            last = last.max(DeskTime::of_unix_seconds(seconds));
        }
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
        let mail = self.logs()?;
        let hash = blake3::derive_key("turnfold v1 words of the host", format!("{at} {words}").as_bytes());
        let mut names = Vec::new();
        for &seat in Seat::players(mail.game.terms.seats.into()) {
            if !mail.game.terms.hosted.contains(&seat) {
                let answers = Some(Digest::new(hash));
                names.push((LetterName { desk_size: mail.desk.size(), seat, answers }, ()));
            }
        }
        self.put(&mail, names, |(), letter| {
            letter.text.paragraph("The host writes to all players:");
            for line in words.lines() {
                letter.text.paragraph(line);
            }
            letter.subject = "words of the host".into();
            Ok(true)
        })
    }
}
