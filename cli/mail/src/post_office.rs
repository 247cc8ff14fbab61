//! The matches by mail of a store that a key hosts, and which of them a mail belongs to (PM-100).

use std::path::Path;

use turnfold_core::paper::PaperContent;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{Registry, Rules, Seat};
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, Store, StoreReader};

use super::host::MailHost;
use super::letter::{is_letter_of, is_letter_of_some_match};
use super::notices::SeatNotice;
use super::pairing::{DeskOf, MailMatch};
use super::post_folder::{Addresses, PostFolder};
use super::received_mail::ReceivedMail;
use super::take::TakenPaper;
use super::take_plain::TakenReply;
use crate::error::MailError;

/// A match, as its host has it.
pub struct HostedMatch<'a> {
    /// Its name.
    pub name: MatchName,
    /// Its host.
    pub host: MailHost<'a>,
    /// The addresses of its players.
    pub addresses: Addresses,
}

/// The matches of a store that a key hosts.
pub struct PostOffice<'a> {
    /// The matches, by name.
    pub matches: Vec<HostedMatch<'a>>,
    /// The matches that cannot be hosted, each with the cause.
    pub troubles: Vec<(MatchName, MailError)>,
}

/// A mail, and what was taken from it for a match.
pub struct TakenMail {
    /// The mail.
    pub mail: ReceivedMail,
    /// Whether its sender plays in the match.
    pub is_of_player: bool,
    /// The papers taken from it.
    pub papers: Vec<TakenPaper>,
    /// The outcome of its reply code, if it has one.
    pub reply: Option<TakenReply>,
    /// What a mail program reports in it about a player (PM-93).
    pub noticed: Option<SeatNotice>,
    /// The players who would join by its papers, and whom the host has not admitted.
    pub(super) waiting: Vec<SeatNotice>,
}

impl TakenMail {
    /// Returns a mail for no match of the store.
    #[must_use]
    pub const fn for_no_match(mail: ReceivedMail) -> Self {
        Self {
            mail,
            is_of_player: false,
            papers: Vec::new(),
            reply: None,
            noticed: None,
            waiting: Vec::new(),
        }
    }

    /// Returns `true` if the mail is done with: every paper has its last outcome, and a mail without papers was
    /// answered.
    #[must_use]
    pub fn is_done(&self) -> bool {
        if !self.papers.is_empty() {
            return !self.papers.iter().any(TakenPaper::may_be_taken_later);
        }
        let is_replied = self.reply.as_ref().is_some_and(|reply| reply.seat.is_some());
        is_replied || self.noticed.is_some() || self.mail.notice.is_none() && self.is_of_player
    }
}

/// Takes a mail for a match. A seat gets a new player only if it is among `admitted`, or by a signed `join` from the
/// address of the seat (PM-103).
///
/// # Errors
/// Errors of the store. Faults of the mail are in the result.
pub fn take_mail(
    host: &mut MailHost<'_>,
    addresses: &Addresses,
    mail: &ReceivedMail,
    admitted: &[Seat],
) -> Result<TakenMail, MailError> {
    let sender = addresses.seat_of(mail.from.as_ref());
    let mut papers = mail.papers().into_iter().filter_map(|found| found.paper.ok());
    let mut admitted = admitted.to_vec();
    if papers.all(|paper| matches!(paper.signed.paper().content(), PaperContent::Join(_))) {
        admitted.extend(sender);
    }
    let mut papers = host.take(mail, &admitted)?;
    if host.has_paper_in(mail) {
        // Papers for another match of the store are taken there.
        papers.retain(|taken| taken.paper.as_ref().is_none_or(|paper| host.is_named_by(paper)));
    }
    let reply = if papers.is_empty() { host.take_reply(mail)? } else { None };
    let is_other = papers.is_empty() && reply.is_none();
    let noticed = if is_other { host.noticed(mail, addresses) } else { None };
    if let Some(reply) = &reply {
        papers.extend_from_slice(&reply.papers);
    }
    let waiting = papers.iter().filter_map(|taken| host.waiting(mail, taken)).collect();
    Ok(TakenMail { mail: mail.clone(), is_of_player: sender.is_some(), papers, reply, noticed, waiting })
}

/// Why a mail belongs to a match, the surest reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Paper,
    Code,
    Thread,
    Subject,
    /// The sender plays in the match; a match that is over is less likely.
    Sender {
        is_over: bool,
    },
}

/// Lists the matches by mail of a store that one of these keys hosts, by name.
///
/// # Errors
/// Errors of the store.
pub fn hosted_matches(
    store: &StoreReader,
    registry: &Registry,
    signers: &Signers,
) -> Result<Vec<MatchName>, MailError> {
    let mut hosted = Vec::new();
    for found in store.matches_after(None)? {
        let Some(game) = DeskOf::game_of(&found?.name) else { continue };
        // A match whose desk does not belong to it is not played by mail.
        let Ok(of) = MailMatch::find(store, &game, registry) else { continue };
        if let Ok(host) = of.terms.host.parse()
            && signers.key_of(&host).is_some()
        {
            hosted.push(game);
        }
    }
    Ok(hosted)
}

impl<'a> PostOffice<'a> {
    /// Opens all matches that one of these keys hosts, with their mail in `folder`. A match that cannot be opened is
    /// listed in `troubles`.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn open(
        store: &'a Store,
        registry: &'a Registry,
        signers: &'a Signers,
        folder: &Path,
        recorded_at_ms: i64,
    ) -> Result<Self, MailError> {
        let mut office = Self { matches: Vec::new(), troubles: Vec::new() };
        for name in hosted_matches(store, registry, signers)? {
            let addresses = PostFolder::of(folder, store, &name).and_then(|folder| folder.addresses());
            match (MailHost::of(store, &name, registry, signers, recorded_at_ms), addresses) {
                (Ok(host), Ok(addresses)) => office.matches.push(HostedMatch { name, host, addresses }),
                (Err(error), _) | (_, Err(error)) => office.troubles.push((name, error)),
            }
        }
        Ok(office)
    }

    /// Returns the indexes in `matches` of the matches that a mail belongs to: every match that one of its papers
    /// names, or else the one match that its reply code, the letter that it answers, its subject or its sender names,
    /// in this order.
    #[must_use]
    pub fn matches_of(&self, mail: &ReceivedMail) -> Vec<usize> {
        let mut claims = Vec::new();
        for (index, hosted) in self.matches.iter().enumerate() {
            if let Some(claim) = hosted.claim(mail) {
                claims.push((claim, index));
            }
        }
        claims.sort_unstable();
        if let Some((Claim::Paper, _)) = claims.first() {
            claims.retain(|(claim, _)| *claim == Claim::Paper);
        } else {
            claims.truncate(1);
        }
        claims.into_iter().map(|(_, index)| index).collect()
    }
}

impl HostedMatch<'_> {
    fn claim(&self, mail: &ReceivedMail) -> Option<Claim> {
        let Self { host, addresses, .. } = self;
        if host.has_paper_in(mail) {
            return Some(Claim::Paper);
        }
        if mail.papers().iter().any(|found| found.paper.is_ok()) {
            return None;
        }
        if host.knows_code_in(mail) {
            return Some(Claim::Code);
        }
        if mail.follows.iter().any(|id| is_letter_of(&host.mail_match().terms, id)) {
            return Some(Claim::Thread);
        }
        // A letter that bounced.
        let noticed = host.noticed(mail, addresses);
        if noticed.as_ref().is_some_and(|noticed| noticed.letter.is_some()) {
            return Some(Claim::Thread);
        }
        if mail.subject.contains(&format!("[{}]", self.name)) {
            return Some(Claim::Subject);
        }
        // The sender may answer a letter of another host's match.
        if mail.follows.iter().any(|id| is_letter_of_some_match(id)) {
            return None;
        }
        let is_player = addresses.seat_of(mail.from.as_ref()).is_some();
        if is_player || mail.from.is_some() && noticed.is_some() {
            return Some(Claim::Sender { is_over: Desk::over(host.desk().state()) });
        }
        None
    }
}
