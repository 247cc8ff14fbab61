//! A desk read turn by turn: what was asked, what came in, and what the host says that it carried out.

use std::collections::BTreeMap;

use turnfold_core::paper::{LineName, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup};
use turnfold_core::{Digest, Rules, Seat};
use turnfold_store::{Genesis, Seq};

use super::kept::WholeLine;
use crate::mail::{AppliedEntry, DeskHistory, TurnPlan, TurnRecord};

/// What a desk says of its turns.
#[derive(Debug, Default)]
pub(super) struct DeskTurns {
    /// Turn 0, which ends with the first stand, and so on; the last has no stand at its end yet.
    pub(super) turns: Vec<DeskTurn>,
    /// What the papers that counted have seen.
    pub(super) seen: Vec<SeenBy>,
    /// Why they end before the desk does.
    pub(super) stuck: Option<String>,
    /// The seats whose chains of fair dice were ended by a new key (FD-15).
    pub(super) ended_chains: Vec<Seat>,
    /// The keys that seats have at the end.
    pub(super) keys: Vec<(Seat, SeatKey)>,
}

/// From one stand to the next.
#[derive(Clone, Debug)]
pub(super) struct DeskTurn {
    pub(super) number: u32,
    /// Where the game goes on from.
    pub(super) from: (LineName, u64),
    /// It is an earlier stand, to which all agreed to go back (PM-20).
    pub(super) is_takeback: bool,
    /// What there is to carry out, once that is known (PM-18).
    pub(super) plan: Option<TurnPlan>,
    pub(super) rolled: Vec<RolledEntry>,
    pub(super) settled: BTreeMap<Digest, (Seq, Settlement)>,
    pub(super) missed: Vec<Seat>,
    /// The seats with an order that came too late, and its turn.
    pub(super) late: Vec<(Seat, u32)>,
    /// How it ended.
    pub(super) stand: Option<TurnRecord>,
}

/// A `rolled` of the desk (FD-10).
#[derive(Clone, Debug)]
pub(super) struct RolledEntry {
    pub(super) desk_seq: Seq,
    pub(super) number: u16,
    pub(super) element: Digest,
    pub(super) line: LineName,
    pub(super) seq: u64,
}

/// What the desk says became of an order (PM-19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Settlement {
    Carried(u16),
    Refused(String),
}

/// What a paper that counted has seen of the desk (PM-33).
#[derive(Clone, Debug)]
pub(super) struct SeenBy {
    pub(super) desk_seq: Seq,
    pub(super) seat: Seat,
    pub(super) turn: u32,
    pub(super) root: SeenRoot,
    /// Whether it is the desk's before it.
    pub(super) is_true: bool,
}

impl DeskTurns {
    /// Folds the entries of a desk, up to the first that cannot be.
    pub(super) fn read(setup: &Setup, genesis: &Genesis, log: &WholeLine<'_>) -> Self {
        let rejected = || Some("the rules reject an entry".into());
        let Ok(mut desk) = DeskHistory::start(setup, &genesis.encode()) else {
            return Self { stuck: rejected(), ..Self::default() };
        };
        let mut found = Self { stuck: log.unusable.map(Into::into), ..Self::default() };
        let mut now = first_turn();
        for entry in &log.entries {
            let Ok(heard) = desk.take(entry) else {
                found.stuck = rejected();
                break;
            };
            found.hear(&heard, &desk, &mut now);
        }
        let state = desk.state();
        let seats = Desk::players(state).iter();
        found.keys = seats.filter_map(|seat| Some((*seat, state.key_of(*seat)?.clone()))).collect();
        let has_chain = |seat: &Seat| state.key_of(*seat).is_none() || state.has_chain(*seat);
        found.ended_chains = Desk::players(state).iter().copied().filter(|seat| !has_chain(seat)).collect();
        // What a turn is that the rest of the desk would end, nobody knows.
        if found.stuck.is_none() {
            found.turns.push(now);
        }
        found
    }

    /// Takes what came of an entry, and the desk after it.
    fn hear(&mut self, heard: &AppliedEntry, desk: &DeskHistory, now: &mut DeskTurn) {
        now.missed.extend(heard.effects.iter().filter_map(|effect| match effect {
            Effect::Missed { seat, .. } => Some(*seat),
            _ => None,
        }));
        match &heard.command {
            Command::Paper(signed) => self.paper(heard, signed, desk, now),
            Command::Carried { digest, count } => {
                now.settled.insert(*digest, (heard.seq, Settlement::Carried((*count).into())));
            }
            Command::Refused { digest, code } => {
                now.settled.insert(*digest, (heard.seq, Settlement::Refused(code.clone().into())));
            }
            Command::Rolled { element, line, seq, .. } => now.rolled.push(RolledEntry {
                desk_seq: heard.seq,
                number: desk.state().last_roll().unwrap_or_default(),
                element: *element,
                line: line.clone(),
                seq: *seq,
            }),
            Command::Stand { line, seq, .. } => {
                let next = DeskTurn::new(now.number.saturating_add(1), (line.clone(), *seq));
                let ended = std::mem::replace(now, next);
                self.turns.push(DeskTurn { stand: desk.stand().cloned(), ..ended });
            }
            Command::Clock(_) | Command::Extend { .. } | Command::Close { .. } => {}
        }
        if let (None, Some(plan)) = (&now.plan, desk.plan()) {
            now.from.clone_from(&plan.from);
            now.is_takeback = plan.is_takeback;
            now.plan = Some(plan.clone());
        }
    }

    fn paper(&mut self, heard: &AppliedEntry, signed: &SignedPaper, desk: &DeskHistory, now: &mut DeskTurn) {
        let PaperHead { seat, turn, seen: root, .. } = *signed.paper().head();
        let is_order = matches!(signed.paper().content(), PaperContent::Order(_));
        match heard.ignored {
            None => {
                let is_true = root.size <= heard.seq && desk.root(root.size) == Some(root.root);
                self.seen.push(SeenBy { desk_seq: heard.seq, seat, turn, root, is_true });
            }
            Some(Reason::Late) if is_order => now.late.push((seat, turn)),
            Some(_) => {}
        }
    }
}

fn first_turn() -> DeskTurn {
    let main = "main".parse().expect("`main` is the name of a line");
    DeskTurn::new(0, (main, 0))
}

impl DeskTurn {
    const fn new(number: u32, from: (LineName, u64)) -> Self {
        Self {
            number,
            from,
            is_takeback: false,
            plan: None,
            rolled: Vec::new(),
            settled: BTreeMap::new(),
            missed: Vec::new(),
            late: Vec::new(),
            stand: None,
        }
    }

    /// Returns the line on which it is carried out, as far as the desk tells.
    pub(super) fn line(&self) -> Option<&LineName> {
        let stand = self.stand.as_ref().map(|stand| &stand.line);
        let rolled = || self.rolled.first().map(|rolled| &rolled.line);
        let same = || (!self.is_takeback).then_some(&self.from.0);
        stand.or_else(rolled).or_else(same)
    }
}
