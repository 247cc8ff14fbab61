//! The page of a seat: the code that opens it, what it may show, and orders without a key (PM-70 to PM-73).

use turnfold_core::paper::SeenRoot;
use turnfold_core::rules::desk::{Desk, Effect, Setup, State};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Rules, Seat};
use turnfold_store::{BranchName, GrantId, GrantKind};

use super::desk_history::{AppliedEntry, DeskHistory};
use super::host::MailHost;
use super::letter_part::MailLogs;
use super::pairing::MailMatch;
use super::plain_reply::{END, ReplyCode};
use super::report_letter::terms_in_words;
use super::take_plain::TakenReply;
use crate::error::MailError;

/// The page that a code of a letter opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedPage {
    /// The seat.
    pub seat: Seat,
    /// Why the code has expired, in sentences; `None` if it is valid.
    pub stale: Option<String>,
}

/// Returns `true` if a page can order for a seat with these terms (PM-70). Seals and chains of fair dice need files
/// next to a key.
fn has_page(terms: &Setup, seat: Seat) -> bool {
    terms.head.is_none() && !terms.sealed && !terms.hosted.contains(&seat)
}

/// PM-70: returns the link to the page of a seat, if its player needs one: to join, and in each turn.
pub(super) fn link_of(mail: &MailLogs<'_>, state: &State, seat: Seat) -> Option<String> {
    let pages = mail.pages?;
    let is_free = state.name_of(seat).is_none();
    let turn = if is_free { 0 } else { state.turn() };
    if Desk::over(state) || !is_free && turn == 0 || !has_page(&mail.game.terms, seat) {
        return None;
    }
    let code = code_of(mail.host_key()?, &mail.game, &mail.desk, state, (seat, turn));
    Some(format!("{pages}/m/{}#m={code}", mail.game.name))
}

/// Returns the code of a page. PM-74: a player who was replaced cannot open the page of the new one.
fn code_of(
    signing: &PrivateKey,
    game: &MailMatch,
    desk: &DeskHistory,
    state: &State,
    page: (Seat, u32),
) -> ReplyCode {
    let key = if page.1 > 0 { state.key_of(page.0) } else { None };
    ReplyCode::of_page(signing, game.genesis.match_id, page, desk.link_of_turn(page.1), key)
}

impl MailHost<'_> {
    /// The label of grants that were issued for the link in a letter.
    pub const PAGE_LABEL: &'static str = "letter";

    /// Returns the page that the code in the link of a letter opens; `None` if it is no seat's code (PM-70).
    #[must_use]
    pub fn opened_by(&self, code: &str) -> Option<OpenedPage> {
        let code = ReplyCode::read(code)?;
        let state = self.desk.state();
        for &seat in Seat::players(self.game.terms.seats.into()) {
            for turn in (0..=state.turn()).rev() {
                if has_page(&self.game.terms, seat)
                    && code_of(self.key, &self.game, &self.desk, state, (seat, turn)) == code
                {
                    return Some(OpenedPage { seat, stale: self.stale_page(seat, turn) });
                }
            }
        }
        None
    }

    fn stale_page(&self, seat: Seat, turn: u32) -> Option<String> {
        let now = self.desk.state().turn();
        let newest = "Open the link of the newest letter.";
        match self.desk.state().name_of(seat) {
            Some(name) if turn == 0 => {
                Some(format!("This link was for joining, and {name} has {seat} now. {newest}"))
            }
            _ if turn != now => {
                Some(format!("This link was for turn {turn}, and the match is at turn {now}. {newest}"))
            }
            _ => None,
        }
    }

    /// Returns `true` if a page can order for a seat, which must not seal or have a chain of fair dice (PM-70).
    #[must_use]
    pub fn has_page(&self, seat: Seat) -> bool {
        has_page(&self.game.terms, seat)
    }

    /// Returns the terms of play, one sentence each.
    #[must_use]
    pub fn terms_in_words(&self) -> Vec<String> {
        terms_in_words(&self.game.terms, self.game.terms.head.is_some())
    }

    /// Returns the history of the desk that a paper of now names.
    ///
    /// # Errors
    /// [`MailError`] for a desk without a root, which cannot happen.
    pub fn seen(&self) -> Result<SeenRoot, MailError> {
        let size = self.desk.size();
        let root = self.desk.root(size).ok_or_else(|| MailError::not_by_mail("it has no root"))?;
        Ok(SeenRoot { size, root })
    }

    /// PM-73: takes lines of a player without a key from the page of the seat, like a mail with the code of the turn.
    /// The same lines under the same id are taken once.
    ///
    /// The inner error is the reason if the seat needs a key or the turn is not the desk's.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn take_lines(
        &mut self,
        seat: Seat,
        turn: u32,
        id: &str,
        lines: &[String],
    ) -> Result<Result<TakenReply, String>, MailError> {
        let now = self.desk.state().turn();
        if !self.game.terms.plain.contains(&seat) {
            return Ok(Err(format!("papers of {seat} need the signature of its key")));
        }
        if turn != now {
            return Ok(Err(format!("the lines are for turn {turn}, and the match is at turn {now}")));
        }
        let link = self.desk.link_of_turn(turn);
        let code = ReplyCode::of(self.key, self.game.genesis.match_id, (seat, turn), link);
        let text = format!("code {code}\n{}\n{END}\n", lines.join("\n"));
        let taken = self.take_text(&text, id)?;
        Ok(taken.ok_or_else(|| "expected lines for the desk, found none".into()))
    }

    /// PM-74: closes the other pages of newly joined seats, because others may have opened the same link. It runs
    /// before the entry that gives the seat away is recorded.
    pub(super) fn close_other_pages(&self, applied: &[AppliedEntry]) -> Result<(), MailError> {
        for effect in applied.iter().flat_map(|applied| &applied.effects) {
            if let Effect::Joined { seat, .. } = effect {
                self.close_pages(*seat, i64::MAX)?;
            }
        }
        Ok(())
    }

    /// PM-74: closes the pages of players who were replaced. Returns `true` if it closed any.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn close_former_pages(&self) -> Result<bool, MailError> {
        let mut has_closed = false;
        for entry in self.desk.entries() {
            for effect in &entry.effects {
                let Effect::Replaced { seat, .. } = effect else { continue };
                let log = self.store.read(&self.game.desk, &BranchName::main(), Some(entry.seq))?;
                let at = log.entries.last().map_or(i64::MAX, |entry| entry.recorded_at_ms);
                has_closed |= self.close_pages(*seat, at)?;
            }
        }
        Ok(has_closed)
    }

    fn close_pages(&self, seat: Seat, to: i64) -> Result<bool, MailError> {
        let mut has_closed = false;
        for (hash, grant) in self.store.grants_of(&self.game.name)? {
            if grant.label.as_str() == Self::PAGE_LABEL
                && grant.kind == GrantKind::Seat(seat)
                && grant.created_at_ms <= to
                && (to < i64::MAX || self.page != Some(hash))
                && grant.is_live(self.recorded_at_ms)
            {
                self.store.revoke_grant(&self.game.name, GrantId::of(&hash), self.recorded_at_ms)?;
                has_closed = true;
            }
        }
        Ok(has_closed)
    }
}
