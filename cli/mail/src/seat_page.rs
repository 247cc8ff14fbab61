//! The page of a seat: the code that opens it, the desk as the seat's player may know it, and orders without a key
//! (PM-70 to PM-73).

use turnfold_core::paper::{MatchId, PaperLine, SeatKey, SeenRoot};
use turnfold_core::rules::desk::{Desk, Effect, Setup, State, View};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{Digest, Rules, Seat};
use turnfold_proof::signing::Signers;
use turnfold_store::{BranchName, GrantId, GrantKind};

use super::desk_turn::AppliedEntry;
use super::host::MailHost;
use super::invitation::terms_in_words;
use super::letter_part::MailLogs;
use super::plain_reply::END;
use super::reply_code::ReplyCode;
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

/// The desk as the player of a seat may know it, and the values that a paper of the seat must name (PM-71).
#[derive(Clone, Debug)]
pub struct SeatDesk {
    /// The seat.
    pub seat: Seat,
    /// The desk as the seat sees it.
    pub view: View,
    /// The terms of play, one sentence each.
    pub terms: Vec<String>,
    /// The commands of `default`, for a seat that misses a deadline.
    pub default: Vec<String>,
    /// The order of the seat that counts in this turn.
    pub order: Option<SentOrder>,
    /// The key with which the seat signs.
    pub key: Option<SeatKey>,
    /// Whether the terms open the seat to a player without a key.
    pub is_plain: bool,
    /// Whether a page can order for the seat, which must not seal or have a chain of fair dice.
    pub has_page: bool,
    /// The match, as papers name it.
    pub match_id: MatchId,
    /// The number of the next paper of the seat.
    pub number: u32,
    /// The history of the desk that such a paper names.
    pub seen: SeenRoot,
}

/// An order that counts.
#[derive(Clone, Debug)]
pub struct SentOrder {
    /// The number of its paper.
    pub number: u32,
    /// The entry of the desk that records it.
    pub seq: u64,
    /// Its commands.
    pub plays: Vec<PaperLine>,
}

/// Returns `true` if a page can order for a seat with these terms (PM-70). Seals and chains of fair dice need files
/// next to a key.
fn has_page(terms: &Setup, seat: Seat) -> bool {
    terms.head.is_none() && !terms.sealed && !terms.hosted.contains(&seat)
}

/// PM-70: returns the link to the page of a seat, if its player needs one: to join, and in each turn.
pub(super) fn link_of(
    mail: &MailLogs<'_>,
    signers: &Signers,
    state: &State,
    seat: Seat,
    pages: Option<&str>,
) -> Option<String> {
    let pages = pages?;
    let terms = &mail.game.terms;
    let is_free = state.name_of(seat).is_none();
    let is_due = !Desk::over(state) && (is_free || state.turn() > 0) && has_page(terms, seat);
    let key = signers.key_of(&terms.host.parse().ok()?).filter(|_| is_due)?;
    let turn = if is_free { 0 } else { state.turn() };
    let link = mail.desk.link_of_turn(turn);
    let code = code_of(key, mail.game.genesis.match_id, state, (seat, turn), link);
    Some(format!("{pages}/m/{}#m={code}", mail.game.name))
}

/// Returns the code of a page. PM-74: a player who was replaced cannot open the page of the new one.
fn code_of(
    signing: &PrivateKey,
    match_id: [u8; 16],
    state: &State,
    page: (Seat, u32),
    link: Option<Digest>,
) -> ReplyCode {
    let key = state.key_of(page.0).filter(|_| page.1 > 0);
    ReplyCode::of_page(signing, match_id, page, link, key)
}

impl MailHost<'_> {
    /// The label of grants that were issued for the link in a letter.
    pub const PAGE_LABEL: &'static str = "letter";

    /// Returns the page that the code in the link of a letter opens; `None` if it is no seat's code (PM-70).
    #[must_use]
    pub fn opened_by(&self, code: &str) -> Option<OpenedPage> {
        let code = ReplyCode::read(code)?;
        let state = self.desk.state();
        let newest = "Open the link of the newest letter.";
        let players = Seat::players(self.game.terms.seats.into()).iter().copied();
        let seats = players.filter(|seat| has_page(&self.game.terms, *seat));
        let mut pages = seats.flat_map(|seat| (0..=state.turn()).rev().map(move |turn| (seat, turn)));
        let is_of = |page: &(Seat, u32)| {
            let link = self.desk.link_of_turn(page.1);
            code_of(self.key, self.game.genesis.match_id, state, *page, link) == code
        };
        let (seat, turn) = pages.find(is_of)?;
        let ended = match (turn, state.name_of(seat)) {
            (0, Some(name)) => {
                Some(format!("This link was for joining, and {name} has {seat} now. {newest}"))
            }
            (turn, _) if turn != state.turn() => {
                let now = state.turn();
                Some(format!("This link was for turn {turn}, and the match is at turn {now}. {newest}"))
            }
            _ => None,
        };
        Some(OpenedPage { seat, stale: ended })
    }

    /// Returns the desk as a seat may know it (PM-71).
    ///
    /// # Errors
    /// [`MailError`] for a desk without a root, which cannot happen.
    pub fn seat_desk(&self, seat: Seat) -> Result<SeatDesk, MailError> {
        let state = self.desk.state();
        let terms = &self.game.terms;
        let size = self.desk.size();
        let root = self.desk.root(size).ok_or_else(|| MailError::not_by_mail("it has no root"))?;
        let order = self.desk.order_of(seat, state.turn(), size).map(|(entry, order)| SentOrder {
            number: entry.command.paper().map_or(0, |paper| paper.head().number),
            seq: entry.seq,
            plays: order.plays().to_vec(),
        });
        Ok(SeatDesk {
            seat,
            view: Desk::view(state, seat.into()),
            terms: terms_in_words(terms, terms.head.is_some()),
            default: terms.default.clone(),
            order,
            key: state.key_of(seat).cloned(),
            is_plain: terms.plain.contains(&seat),
            has_page: has_page(terms, seat),
            match_id: MatchId::new(self.game.genesis.match_id),
            number: state.last_number(seat).saturating_add(1),
            seen: SeenRoot { size, root },
        })
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
        let terms = &self.game.terms;
        if !terms.plain.contains(&seat) {
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
        let effects = applied.iter().flat_map(|applied| &applied.effects);
        let joined = effects.filter_map(|effect| match effect {
            Effect::Joined { seat, .. } => Some(*seat),
            _ => None,
        });
        joined.map(|seat| self.close_pages(seat, i64::MAX)).try_for_each(|closed| closed.map(|_| ()))
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

    /// Closes the pages of a seat that were opened up to a time. With `i64::MAX`, the page that asks stays open.
    fn close_pages(&self, seat: Seat, to: i64) -> Result<bool, MailError> {
        let grants = self.store.grants_of(&self.game.name)?;
        let to_close = grants.iter().filter(|(hash, grant)| {
            grant.label.as_str() == Self::PAGE_LABEL
                && grant.kind == GrantKind::Seat(seat)
                && grant.created_at_ms <= to
                && (to < i64::MAX || self.page != Some(*hash))
                && grant.is_live(self.recorded_at_ms)
        });
        let mut has_closed = false;
        for (hash, _) in to_close {
            self.store.revoke_grant(&self.game.name, GrantId::of(hash), self.recorded_at_ms)?;
            has_closed = true;
        }
        Ok(has_closed)
    }
}
