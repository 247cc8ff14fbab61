//! A desk read turn by turn: what was asked, what came in, and what the host says that it carried out.

use std::collections::BTreeMap;

use turnfold_core::paper::{LineName, PaperContent, SeenRoot, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup, State};
use turnfold_core::{AnyRules, Digest, Rules, Seat, Verdict};
use turnfold_store::{Entry, Seq};

use super::kept::WholeLine;
use crate::mail::TurnPlan;

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
    pub(super) stand: Option<StandEntry>,
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

/// A `stand` of the desk (PM-13).
#[derive(Clone, Debug)]
pub(super) struct StandEntry {
    pub(super) desk_seq: Seq,
    pub(super) line: LineName,
    pub(super) seq: u64,
    pub(super) link: Digest,
    pub(super) state: Option<Digest>,
    pub(super) seats: Vec<Seat>,
}

/// What a paper that counted has seen of the desk (PM-33).
#[derive(Clone, Debug)]
pub(super) struct SeenBy {
    pub(super) desk_seq: Seq,
    pub(super) seat: Seat,
    pub(super) turn: u32,
    pub(super) root: SeenRoot,
}

impl DeskTurns {
    /// Folds the entries of a desk, up to the first that cannot be.
    pub(super) fn read(setup: &Setup, log: &WholeLine<'_>, rules: &dyn AnyRules) -> Self {
        let rejected = || Some("the rules reject an entry".into());
        let Ok(state) = Desk::start(setup) else { return Self { stuck: rejected(), ..Self::default() } };
        let mut reader = Reader { state, orders: BTreeMap::new(), found: Self::default(), now: first_turn() };
        reader.found.stuck = log.unusable.map(Into::into);
        for entry in &log.entries {
            let text = rules.command_text(&entry.command).ok();
            if text.and_then(|text| reader.take(entry, &text.parse().ok()?)).is_none() {
                reader.found.stuck = rejected();
                break;
            }
        }
        let Reader { state, mut found, now, .. } = reader;
        let has_chain = |seat: &Seat| state.key_of(*seat).is_none() || state.has_chain(*seat);
        found.ended_chains = Desk::players(&state).iter().copied().filter(|seat| !has_chain(seat)).collect();
        // What a turn is that the rest of the desk would end, nobody knows.
        if found.stuck.is_none() {
            found.turns.push(now);
        }
        found
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

struct Reader {
    state: State,
    /// The orders that counted.
    orders: BTreeMap<Digest, SignedPaper>,
    found: DeskTurns,
    now: DeskTurn,
}

impl Reader {
    fn take(&mut self, entry: &Entry, command: &Command) -> Option<()> {
        let was_ready = self.state.is_ready();
        let mut effects = Vec::new();
        let verdict = Desk::apply(&mut self.state, entry.seat, command, &mut effects).ok()?;
        let missed = effects.iter().filter_map(|effect| match effect {
            Effect::Missed { seat, .. } => Some(*seat),
            _ => None,
        });
        self.now.missed.extend(missed);
        match command {
            Command::Paper(signed) => self.paper(entry.seq, signed, verdict),
            Command::Carried { digest, count } => {
                let settlement = Settlement::Carried((*count).into());
                self.now.settled.insert(*digest, (entry.seq, settlement));
            }
            Command::Refused { digest, code } => {
                let settlement = Settlement::Refused(code.clone().into());
                self.now.settled.insert(*digest, (entry.seq, settlement));
            }
            Command::Rolled { element, line, seq, .. } => self.now.rolled.push(RolledEntry {
                desk_seq: entry.seq,
                number: self.state.last_roll().unwrap_or_default(),
                element: *element,
                line: line.clone(),
                seq: *seq,
            }),
            Command::Stand { line, seq, link, state, seats } => {
                let line = line.clone();
                let next = DeskTurn::new(self.now.number.saturating_add(1), (line.clone(), *seq));
                let mut ended = std::mem::replace(&mut self.now, next);
                ended.stand = Some(StandEntry {
                    desk_seq: entry.seq,
                    line,
                    seq: *seq,
                    link: *link,
                    state: *state,
                    seats: seats.as_slice().to_vec(),
                });
                self.found.turns.push(ended);
            }
            Command::Clock(_) | Command::Extend { .. } | Command::Close { .. } => {}
        }
        if !was_ready && self.state.is_ready() {
            self.become_ready();
        }
        Some(())
    }

    fn paper(&mut self, desk_seq: Seq, signed: &SignedPaper, verdict: Verdict<(), Reason>) {
        let paper = signed.paper();
        let (head, is_order) = (paper.head(), matches!(paper.content(), PaperContent::Order(_)));
        match verdict {
            Verdict::Applied(()) => {
                if is_order {
                    self.orders.insert(paper.digest(), signed.clone());
                }
                let (seat, turn, root) = (head.seat, head.turn, head.seen);
                self.found.seen.push(SeenBy { desk_seq, seat, turn, root });
            }
            Verdict::Ignored(Reason::Late) if is_order => self.now.late.push((head.seat, head.turn)),
            Verdict::Ignored(_) => {}
        }
    }

    fn become_ready(&mut self) {
        let plan = TurnPlan::of(&self.state, &self.orders);
        self.now.from.clone_from(&plan.from);
        self.now.is_takeback = plan.is_takeback;
        self.now.plan = Some(plan);
    }
}
