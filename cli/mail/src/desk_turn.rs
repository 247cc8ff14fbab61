//! A turn of a desk: its position, plan and execution (PM-13, PM-19, PM-27).

use std::collections::BTreeMap;
use std::slice;

use turnfold_core::BranchName;
use turnfold_core::dice::fair::Contribution;
use turnfold_core::paper::{Paper, PaperContent, Press, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, State};
use turnfold_core::{Digest, Rules, Seat};
use turnfold_store::Seq;

use super::pairing::TurnKey;

/// A turn, from its position to the next one. Turn 0 comes before the first position.
#[derive(Clone, Debug)]
pub struct DeskTurn {
    /// Its number.
    pub number: u32,
    /// The branch and entry of the game from which it continues.
    pub from: (BranchName, Seq),
    /// What to carry out, once the turn is ready (PM-18).
    pub plan: Option<TurnPlan>,
    /// Its rolls of fair dice.
    pub rolled: Vec<RolledEntry>,
    /// The recorded execution of each order with its entry at the desk, by the order's digest.
    pub executions: BTreeMap<Digest, (Seq, Execution)>,
    /// The seats whose orders were carried out.
    pub executed: Vec<Seat>,
    /// The seats that missed a deadline.
    pub missed: Vec<Seat>,
    /// The position with which it ended, and from which the next turn begins.
    pub end: Option<TurnRecord>,
}

/// A `rolled` of the desk (FD-10).
#[derive(Clone, Debug)]
pub struct RolledEntry {
    /// Its entry at the desk.
    pub desk_seq: Seq,
    /// The number of the roll.
    pub number: u32,
    /// The element that the host opened.
    pub element: Digest,
    /// The branch of the game.
    pub branch: BranchName,
    /// The entry of the game.
    pub seq: Seq,
}

/// The recorded execution of an order (PM-19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Execution {
    /// The game took this many of its commands.
    Carried(u16),
    /// The game refused it with this code.
    Refused(String),
}

/// A position: where the game stands when a turn begins (PM-13).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRecord {
    /// Its entry.
    pub seq: Seq,
    /// The branch of the game.
    pub branch: BranchName,
    /// The entry of the game.
    pub game_seq: Seq,
    /// The link after that entry.
    pub link: Digest,
    /// The game's state hash, unless something is concealed.
    pub state: Option<Digest>,
    /// The seats that are asked.
    pub seats: Vec<Seat>,
}

/// An entry of a desk, and what it did.
#[derive(Clone, Debug)]
pub struct AppliedEntry {
    /// Its number.
    pub seq: Seq,
    /// The seat that gave it.
    pub seat: Seat,
    /// The command.
    pub command: Command,
    /// Why it is ignored, if it is.
    pub ignored: Option<Reason>,
    /// What happened; empty if the desk could not apply the entry because records before it are left out.
    pub effects: Vec<Effect>,
    /// The seats that still have to seal after this entry (PM-16).
    pub owing_seals: Vec<Seat>,
}

impl AppliedEntry {
    /// Returns the number of records of the desk up to this one (TR-1).
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.seq.saturating_add(1)
    }

    /// Returns the position that it records, if any.
    #[must_use]
    pub fn position(&self) -> Option<TurnRecord> {
        let Command::Stand { branch, seq: game_seq, link, state, seats } = &self.command else { return None };
        let branch = branch.clone();
        let seats = seats.as_slice().to_vec();
        Some(TurnRecord { seq: self.seq, branch, game_seq: *game_seq, link: *link, state: *state, seats })
    }

    /// Returns the message that it records, if this seat wrote it or may read it (PM-41).
    pub(super) fn press_to(&self, seat: Seat) -> Option<&Press> {
        match self.command.paper()?.content() {
            PaperContent::Press(press) if self.seat == seat || press.to().has(seat.into()) => Some(press),
            _ => None,
        }
    }

    /// Returns the signed paper that it records, if any.
    #[must_use]
    pub fn paper(&self) -> Option<&SignedPaper> {
        if let Command::Paper(paper) = &self.command { Some(paper) } else { None }
    }
}

impl DeskTurn {
    pub(super) fn new(number: u32, from: (BranchName, Seq)) -> Self {
        Self {
            number,
            from,
            plan: None,
            rolled: Vec::new(),
            executions: BTreeMap::new(),
            executed: Vec::new(),
            missed: Vec::new(),
            end: None,
        }
    }

    /// Returns `true` if it continues from an earlier position, to which all agreed to go back (PM-20).
    pub(crate) fn is_takeback(&self) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.is_takeback)
    }

    /// Returns the branch on which it is carried out. After a takeback this is unknown until the turn has a roll or an
    /// end.
    #[must_use]
    pub fn branch(&self) -> Option<&BranchName> {
        let end = self.end.as_ref().map(|end| &end.branch);
        let rolled = || self.rolled.first().map(|rolled| &rolled.branch);
        let same = || (!self.is_takeback()).then_some(&self.from.0);
        end.or_else(rolled).or_else(same)
    }
}

/// What to carry out in a ready turn. It does not change any more.
#[derive(Clone, Debug)]
pub struct TurnPlan {
    /// The turn; 0 before the first position.
    pub turn: u32,
    /// The branch and entry of the game from which the turn continues: its position or, after an agreed takeback, an
    /// earlier one.
    pub from: (BranchName, Seq),
    /// Whether it is an earlier position (PM-20).
    pub is_takeback: bool,
    /// What each asked seat does, in seat order.
    pub steps: Vec<SeatStep>,
    /// The seats that still play.
    pub living: Vec<Seat>,
    /// The seats that have left.
    pub gone: Vec<Seat>,
    /// Each seat's part in the rolls of the turn, with fair dice (FD-9).
    pub contributions: Vec<Contribution>,
    /// The number of the last roll before the turn, with fair dice (FD-7).
    pub last_roll: Option<u16>,
}

/// What an asked seat does in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatStep {
    /// The seat.
    pub seat: Seat,
    /// The digest of its order; without one `default` is played for it.
    pub order: Option<Digest>,
    /// The tag of its order (PM-2).
    tag: Option<Digest>,
    plays: Vec<String>,
}

impl TurnPlan {
    /// Reads the plan from a desk whose turn has just become ready. `paper_of` finds the papers on record by their digests.
    pub(crate) fn of<'a>(desk: &State, paper_of: impl Fn(&Digest) -> Option<&'a Paper>) -> Self {
        let due: BTreeMap<Seat, Digest> = desk.orders_due().into_iter().collect();
        let defaulted = desk.defaulted();
        let gone = desk.gone();
        let players = Desk::players(desk);
        let steps = players.iter().filter_map(|&seat| match due.get(&seat) {
            Some(digest) => Some(SeatStep::of_order(seat, *digest, paper_of(digest), desk)),
            None if defaulted.contains(&seat) => {
                Some(SeatStep { seat, order: None, tag: None, plays: Vec::new() })
            }
            None => None,
        });
        let back = desk.agreed_takeback();
        let from = match back.or(desk.stands_on()) {
            Some((branch, seq)) => (branch.clone(), seq),
            None => (BranchName::main(), 0),
        };
        Self {
            turn: desk.turn(),
            from,
            is_takeback: back.is_some(),
            steps: steps.collect(),
            living: players.iter().copied().filter(|seat| !gone.contains(seat)).collect(),
            gone,
            contributions: desk.contributions(),
            last_roll: desk.last_roll(),
        }
    }

    /// Returns the plan of a turn of a trial, in which all seats play (PM-37).
    pub(super) fn of_trial(turn: u32, players: &[Seat]) -> Self {
        Self {
            turn,
            from: (BranchName::main(), 0),
            is_takeback: false,
            steps: Vec::new(),
            living: players.to_vec(),
            gone: Vec::new(),
            contributions: Vec::new(),
            last_roll: None,
        }
    }

    /// Returns the idempotency key of a seat's entries (PM-2).
    #[must_use]
    pub fn key_of(&self, step: &SeatStep) -> TurnKey {
        match step.tag {
            Some(tag) => TurnKey::Order { tag, turn: self.turn },
            None => self.default_key(step.seat),
        }
    }

    /// Returns `true` for a seat for which `default` is played: it has no order, or others are asked in the same turn, which
    /// then ends for all of them (PM-80).
    #[must_use]
    pub const fn has_default(&self, step: &SeatStep) -> bool {
        step.order.is_none() || self.steps.len() > 1
    }

    /// Returns the idempotency key of what `default` plays for a seat.
    #[must_use]
    pub const fn default_key(&self, seat: Seat) -> TurnKey {
        TurnKey::Missed { turn: self.turn, seat }
    }

    /// Returns the idempotency key of the host's own entries and of those for gone seats.
    #[must_use]
    pub const fn host_key(&self) -> TurnKey {
        TurnKey::Host { turn: self.turn }
    }
}

impl SeatStep {
    fn of_order(seat: Seat, digest: Digest, paper: Option<&Paper>, desk: &State) -> Self {
        let plays = match paper.map(Paper::content) {
            Some(PaperContent::Order(order)) => order.plays(),
            // PM-42, PM-122: orders for later turns have the commands for this turn, or the reply whose condition came
            // true.
            Some(PaperContent::Ahead(ahead)) => {
                let mut replies = ahead.lines().iter().flatten();
                let answer = replies.find(|reply| Some(reply.play.digest()) == desk.ordered(seat));
                let of_turn = || ahead.turns().get(&desk.turn()).map_or(&[][..], Vec::as_slice);
                answer.map_or_else(of_turn, |reply| slice::from_ref(&reply.play))
            }
            _ => &[],
        };
        let plays = plays.iter().map(|play| play.as_str().to_owned()).collect();
        let tag = paper.map(Paper::order_tag);
        Self { seat, order: Some(digest), tag, plays }
    }

    /// Returns the commands of its order.
    pub fn plays(&self) -> impl Iterator<Item = &str> {
        self.plays.iter().map(String::as_str)
    }
}
