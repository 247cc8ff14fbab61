//! The matches by mail of a store that a key hosts, and for which of them a mail is (PM-100).

use std::path::Path;

use turnfold_core::rules::desk::Desk;
use turnfold_core::{Registry, Rules};
use turnfold_store::{MatchName, Store, StoreReader};

use super::addresses::Addresses;
use super::host::MailHost;
use super::pairing::{DeskOf, MailMatch};
use super::post_folder::PostFolder;
use super::received_mail::ReceivedMail;
use super::thread::is_letter_of_some_match;
use crate::error::ReplayError;
use crate::signing::Signers;

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
    pub troubles: Vec<(MatchName, ReplayError)>,
}

/// Why a mail is for a match. Of several reasons the first is the surest.
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
) -> Result<Vec<MatchName>, ReplayError> {
    let mut hosted = Vec::new();
    for found in store.matches_after(None)? {
        let Some(game) = DeskOf::game_of(&found?.name) else { continue };
        // A match that only seems to have a desk is none by mail.
        let Ok(of) = MailMatch::find(store, &game, registry) else { continue };
        let host = of.terms.host.parse().ok();
        if host.is_some_and(|host| signers.key_of(&host).is_some()) {
            hosted.push(game);
        }
    }
    Ok(hosted)
}

impl<'a> PostOffice<'a> {
    /// Opens all matches that one of these keys hosts. Their post is in `folder`. A match that cannot be hosted does not
    /// keep the others from being hosted.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn open(
        store: &'a Store,
        registry: &'a Registry,
        signers: &'a Signers,
        folder: &Path,
        recorded_at_ms: i64,
    ) -> Result<Self, ReplayError> {
        let mut office = Self { matches: Vec::new(), troubles: Vec::new() };
        for name in hosted_matches(store, registry, signers)? {
            let addresses = PostFolder::of(folder, store, &name).and_then(|folder| folder.addresses());
            let host = MailHost::of(store, &name, registry, signers, recorded_at_ms);
            match host.and_then(|host| Ok((host, addresses?))) {
                Ok((host, addresses)) => office.matches.push(HostedMatch { name, host, addresses }),
                Err(error) => office.troubles.push((name, error)),
            }
        }
        Ok(office)
    }

    /// Returns the matches that a mail is for, by their places in `matches`: every match that one of its papers names, or
    /// else the one match that its reply code, the letter that it answers, its subject or its sender names, in this order.
    #[must_use]
    pub fn matches_of(&self, mail: &ReceivedMail) -> Vec<usize> {
        let claims = self.matches.iter().map(|of| of.claim(mail)).enumerate();
        let mut claims: Vec<_> = claims.filter_map(|(index, claim)| Some((claim?, index))).collect();
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
        if !mail.papers().iter().all(|found| found.paper.is_err()) {
            return None;
        }
        if host.knows_code_in(mail) {
            return Some(Claim::Code);
        }
        if mail.follows.iter().any(|id| host.is_of_thread(id)) {
            return Some(Claim::Thread);
        }
        if mail.subject.contains(&format!("[{}]", self.name)) {
            return Some(Claim::Subject);
        }
        // The sender may answer a letter of another host's match.
        let is_for_another = mail.follows.iter().any(|id| is_letter_of_some_match(id));
        let sender = mail.from.as_ref().filter(|_| !is_for_another)?;
        let is_over = Desk::over(host.desk().state());
        addresses.seat_of(sender).map(|_| Claim::Sender { is_over })
    }
}
