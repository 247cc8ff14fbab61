//! The position of the current turn as one seat knows it, to try commands on (PM-38).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::paper::{OrdersAhead, PaperLine};
use turnfold_core::{AnyState, Outcome, Seat, Verdict};
use turnfold_history::{History, Record, SeatHistory, Viewer};
use turnfold_store::BranchName;

use super::game_turn::{GameTurn, OrderEnd};
use super::host::MailHost;
use super::letter_words::played_after;
use super::plain_words::spellings;
use crate::error::MailError;

/// The game at the position of the current turn, without anything that a seat may not know.
pub(super) struct KnownPosition {
    state: Box<dyn AnyState>,
    seq: u64,
    seat: Seat,
    is_asked: bool,
}

impl KnownPosition {
    pub(super) fn of(host: &MailHost<'_>, seat: Seat) -> Result<Self, MailError> {
        let position = host.desk.position();
        let seq = position.map_or(0, |position| position.game_seq);
        let branch = position.map_or_else(BranchName::main, |position| position.branch.clone());
        let revision = host.game.revision(&branch).at(seq);
        let history = History::of_branch(&revision, host.store, host.registry)?;
        let is_asked = position.is_some_and(|position| position.seats.contains(&seat));
        Ok(Self { state: SeatHistory::of(Viewer::of(seat), history)?.state()?, seq, seat, is_asked })
    }

    /// Reads a command of the game, and returns it as it is spelled in papers.
    pub(super) fn read(&self, text: &str) -> Result<PaperLine, String> {
        let command = self.state.read(text).map_err(|error| error.0)?;
        command.parse().map_err(|error: turnfold_core::Malformed| error.0)
    }

    /// Returns `true` if the game waits for a seat.
    pub(super) fn waits_for(&self, seat: Seat) -> bool {
        self.state.waits_for(seat)
    }

    /// Returns the first words of a seat's legal commands.
    pub(super) fn verbs(&self, seat: Seat) -> BTreeSet<String> {
        let legal = self.state.legal(seat);
        legal.iter().filter_map(|command| command.split(' ').next()).map(Into::into).collect()
    }

    /// Returns `true` if the seat is asked and the game would apply this command now. Otherwise a word that the game and the
    /// desk have in common is meant for the desk (PM-82).
    pub(super) fn applies(&self, command: &PaperLine) -> bool {
        self.is_asked && matches!(self.state.judge(self.seat, command.as_str()), Ok(Verdict::Applied(())))
    }

    /// Builds the orders ahead of a seat: for turns, and from lines of replies, which begin after its order (PM-42,
    /// PM-123).
    pub(super) fn ahead(
        &self,
        (seat, plays): (Seat, &[PaperLine]),
        turns: BTreeMap<u32, Vec<PaperLine>>,
        lines: &[String],
    ) -> Result<OrdersAhead, String> {
        let with_others = |text: &str| [vec![text.to_owned()], spellings(text).concat()].concat();
        GameTurn::ahead(self.state.as_ref(), (seat, plays), turns, lines, with_others)
    }

    /// Returns why the game would refuse an order, or which of its commands would change nothing. Returns `None` while
    /// others have to play before the seat.
    pub(super) fn objection(&self, seat: Seat, plays: &[PaperLine]) -> Option<String> {
        if !self.waits_for(seat) {
            return None;
        }
        let mut turn = GameTurn::without_dice(self.state.fork(), self.seq);
        match turn.order(seat, plays.iter().map(PaperLine::as_str)) {
            Ok(OrderEnd::Refused(rejected)) => Some(format!(
                "The game would refuse the order: {}. Nothing was taken; send the whole order again.",
                rejected.message
            )),
            Ok(OrderEnd::Carried { played, .. }) => {
                let is_idle = |record: &Record| matches!(record.outcome, Outcome::Ignored(_));
                let end = played.iter().position(is_idle)?.saturating_add(1);
                let sentences = played_after(self.state.as_ref(), played.get(..end)?, seat);
                let command = &played.get(end.saturating_sub(1))?.command;
                let why = sentences.last().and_then(|words| words.strip_prefix(&format!("You: {command}. ")));
                Some(format!(
                    "`{command}` would change nothing. {} Nothing was taken; send the whole order again.",
                    why.unwrap_or_default()
                ))
            }
            // Commands after a roll cannot be tried.
            Err(_) => None,
        }
    }
}
