//! The history of a desk: what each record did, the papers and their outcomes, and the turns (PM-13, PM-19, PM-27).
//!
//! The host, letters, players and the audit all read a desk with this type. It uses nothing but the records, because
//! the audit compares the host's conclusions with them.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use turnfold_core::decode::decode_strictly;
use turnfold_core::dice::fair::Contribution;
use turnfold_core::paper::{Order, OrdersAhead, Paper, PaperContent, Press, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup, State};
use turnfold_core::trust::{Tree, TreeHash};
use turnfold_core::{Digest, FoldError, Rules, Seat, SetupError, Verdict};
use turnfold_history::{ReplayError, SourceName};
use turnfold_proof::bundle::BundledRecord;
use turnfold_store::{BranchName, Entry, Seq, StoreReader};

use super::pairing::{MailMatch, TurnKey};
use crate::error::MailError;

/// A desk up to some record.
pub struct DeskHistory {
    terms: Setup,
    start: State,
    state: State,
    /// The number of the last record; the Genesis has number 0.
    head: Seq,
    tree: Tree,
    /// The root at each size, from size 1, which is the Genesis alone.
    roots: Vec<TreeHash>,
    entries: Vec<AppliedEntry>,
    left_out: Vec<Seq>,
    /// The first shown record that the desk could not apply.
    first_unapplied: Option<Seq>,
    /// The index in `entries` of each recorded paper, by digest.
    papers: BTreeMap<Digest, usize>,
    papers_in_turn: BTreeMap<Seat, usize>,
    turns: Vec<DeskTurn>,
    current: DeskTurn,
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
    pub(crate) owing_seals: Vec<Seat>,
}

/// A position: where the game stands when a turn begins (PM-13).
#[derive(Clone, Debug)]
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

/// A turn, from its position to the next one. Turn 0 comes before the first position.
#[derive(Clone)]
pub(crate) struct DeskTurn {
    pub(crate) number: u32,
    /// The branch and entry of the game from which it continues.
    pub(crate) from: (BranchName, Seq),
    /// What to carry out, once the turn is ready (PM-18).
    pub(crate) plan: Option<TurnPlan>,
    pub(crate) rolled: Vec<RolledEntry>,
    /// The recorded execution of each order with its entry at the desk, by the order's digest.
    pub(crate) executions: BTreeMap<Digest, (Seq, Execution)>,
    pub(crate) executed: Vec<Seat>,
    pub(crate) missed: Vec<Seat>,
    /// The position with which it ended, and from which the next turn begins.
    pub(crate) end: Option<TurnRecord>,
}

/// A `rolled` of the desk (FD-10).
#[derive(Clone)]
pub(crate) struct RolledEntry {
    pub(crate) desk_seq: Seq,
    pub(crate) number: u32,
    pub(crate) element: Digest,
    /// The entry of the game, and its branch.
    pub(crate) branch: BranchName,
    pub(crate) seq: Seq,
}

/// The recorded execution of an order (PM-19).
#[derive(Clone)]
pub(crate) enum Execution {
    Carried(u16),
    Refused(String),
}

#[derive(Clone)]
pub(crate) struct TurnPlan {
    /// The turn; 0 before the first position.
    pub(crate) turn: u32,
    /// The branch and entry of the game from which the turn continues: its position or, after an agreed takeback, an
    /// earlier one (PM-20).
    pub(crate) from: (BranchName, Seq),
    pub(crate) is_takeback: bool,
    pub(crate) steps: Vec<SeatStep>,
    /// The seats that still play, and those that have left.
    pub(crate) living: Vec<Seat>,
    pub(crate) gone: Vec<Seat>,
    /// Each seat's part in the rolls of the turn, with fair dice (FD-9).
    pub(crate) contributions: Vec<Contribution>,
    /// The number of the last roll before the turn, with fair dice (FD-7).
    pub(crate) last_roll: Option<u16>,
}

#[derive(Clone)]
pub(crate) struct SeatStep {
    pub(crate) seat: Seat,
    /// The digest of its order; without one `default` is played for it.
    pub(crate) order: Option<Digest>,
    tag: Option<Digest>,
    plays: Vec<String>,
}

impl AppliedEntry {
    /// Returns the number of records of the desk up to this one (TR-1).
    pub(crate) const fn size(&self) -> u64 {
        self.seq.saturating_add(1)
    }

    pub(crate) fn position(&self) -> Option<TurnRecord> {
        let Command::Stand { branch, seq: game_seq, link, state, seats } = &self.command else { return None };
        let branch = branch.clone();
        let seats = seats.as_slice().to_vec();
        Some(TurnRecord { seq: self.seq, branch, game_seq: *game_seq, link: *link, state: *state, seats })
    }

    /// Returns the message that it records, if this seat wrote it or may read it (PM-41).
    pub(crate) fn press_to(&self, seat: Seat) -> Option<&Press> {
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
    fn new(number: u32, from: (BranchName, Seq)) -> Self {
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
    pub(crate) fn branch(&self) -> Option<&BranchName> {
        if let Some(end) = &self.end {
            return Some(&end.branch);
        }
        if let Some(rolled) = self.rolled.first() {
            return Some(&rolled.branch);
        }
        if self.is_takeback() { None } else { Some(&self.from.0) }
    }
}

impl TurnPlan {
    fn of(desk: &DeskHistory) -> Self {
        let state = &desk.state;
        let players = Desk::players(state);
        let orders: BTreeMap<Seat, Digest> = state.orders_due().into_iter().collect();
        let defaulted = state.defaulted();
        let mut steps = Vec::new();
        for &seat in players {
            if let Some(digest) = orders.get(&seat) {
                let paper = desk.paper(digest).and_then(|entry| entry.command.paper());
                steps.push(SeatStep::of_order(seat, *digest, paper, state));
            } else if defaulted.contains(&seat) {
                steps.push(SeatStep { seat, order: None, tag: None, plays: Vec::new() });
            }
        }
        let back = state.agreed_takeback();
        let from = match back.or(state.stands_on()) {
            Some((branch, seq)) => (branch.clone(), seq),
            None => (BranchName::main(), 0),
        };
        let gone = state.gone();
        let mut living = players.to_vec();
        living.retain(|seat| !gone.contains(seat));
        Self {
            turn: state.turn(),
            from,
            is_takeback: back.is_some(),
            steps,
            living,
            gone,
            contributions: state.contributions(),
            last_roll: state.last_roll(),
        }
    }

    /// Returns the idempotency key of a seat's entries (PM-2).
    pub(crate) fn key_of(&self, step: &SeatStep) -> TurnKey {
        match step.tag {
            Some(tag) => TurnKey::Order { tag, turn: self.turn },
            None => self.default_key(step.seat),
        }
    }

    /// Returns `true` for a seat for which `default` is played: it has no order, or others are asked in the same turn, which
    /// then ends for all of them (PM-80).
    pub(crate) const fn has_default(&self, step: &SeatStep) -> bool {
        step.order.is_none() || self.steps.len() > 1
    }

    pub(crate) const fn default_key(&self, seat: Seat) -> TurnKey {
        TurnKey::Missed { turn: self.turn, seat }
    }

    pub(crate) const fn host_key(&self) -> TurnKey {
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
                match replies.find(|reply| Some(reply.play.digest()) == desk.ordered(seat)) {
                    Some(reply) => slice::from_ref(&reply.play),
                    None => ahead.turns().get(&desk.turn()).map_or(&[][..], Vec::as_slice),
                }
            }
            _ => &[],
        };
        let plays = plays.iter().map(|play| play.as_str().to_owned()).collect();
        Self { seat, order: Some(digest), tag: paper.map(Paper::order_tag), plays }
    }

    pub(crate) fn plays(&self) -> impl Iterator<Item = &str> {
        self.plays.iter().map(String::as_str)
    }
}

impl DeskHistory {
    /// Reads the desk of a match to its end.
    ///
    /// # Errors
    /// Errors of the store, and a desk or an entry that is broken.
    pub fn read(store: &StoreReader, game: &MailMatch) -> Result<Self, MailError> {
        let log = store.read(&game.desk, &BranchName::main(), None)?;
        let name = SourceName::Revision(game.desk_branch());
        let mut desk = Self::start(&game.terms, &log.genesis.encode())
            .map_err(|cause| ReplayError::Setup(name.clone(), cause))?;
        for entry in &log.entries {
            desk.take(entry).map_err(|cause| ReplayError::Entry(name.clone(), cause))?;
        }
        Ok(desk)
    }

    pub(crate) fn start(terms: &Setup, genesis: &[u8]) -> Result<Self, SetupError> {
        let mut tree = Tree::default();
        tree.push(TreeHash::of_record(genesis));
        let start = Desk::start(terms)?;
        Ok(Self {
            terms: terms.clone(),
            state: start.clone(),
            start,
            head: 0,
            roots: vec![tree.root()],
            tree,
            entries: Vec::new(),
            left_out: Vec::new(),
            first_unapplied: None,
            papers: BTreeMap::new(),
            papers_in_turn: BTreeMap::new(),
            turns: Vec::new(),
            current: DeskTurn::new(0, (BranchName::main(), 0)),
        })
    }

    /// Applies the next entry, and returns it with what it did. The desk is unchanged by an entry that it does not
    /// accept.
    pub(crate) fn take(&mut self, entry: &Entry) -> Result<&AppliedEntry, FoldError> {
        let seq = entry.seq;
        let command: Command =
            decode_strictly(&entry.command).map_err(|cause| FoldError::Undecodable { seq, cause })?;
        let was_ready = self.state.is_ready();
        let mut effects = Vec::new();
        let ignored = match Desk::apply(&mut self.state, entry.seat, &command, &mut effects) {
            Ok(Verdict::Applied(())) => None,
            Ok(Verdict::Ignored(reason)) => Some(reason),
            Err(denied) => return Err(FoldError::Rejected { seq, rejected: Box::new(denied.into()) }),
        };
        let owing_seals = self.state.awaited_seals();
        let applied = AppliedEntry { seq, seat: entry.seat, command, ignored, effects, owing_seals };
        self.count(seq, TreeHash::of_record(&entry.encode()));
        self.note(&applied);
        let is_position = applied.position().is_some();
        self.entries.push(applied);
        // PM-42: a turn whose orders were all given ahead is ready as soon as it begins.
        if self.state.is_ready() && (!was_ready || is_position) {
            let plan = TurnPlan::of(self);
            self.current.from.clone_from(&plan.from);
            self.current.plan = Some(plan);
        }
        Ok(self.entries.last().expect("an entry was pushed"))
    }

    /// Takes the next record of a bundle that may leave out records. A shown record that cannot be applied without them
    /// is listed with no effects.
    pub(crate) fn take_record(&mut self, record: &BundledRecord<'_>) {
        if let BundledRecord::LeftOut(leaf) = record {
            return self.pass(*leaf);
        }
        let seq = self.head.saturating_add(1);
        let entry = record.entry().ok().flatten();
        if let Some(entry) = &entry
            && entry.seq == seq
            && self.take(entry).is_ok()
        {
            return;
        }
        self.count(seq, record.leaf());
        self.first_unapplied = self.first_unapplied.or(Some(seq));
        if let Some(Entry { seq, seat, command, .. }) = entry
            && let Ok(command) = decode_strictly(&command)
        {
            let effects = Vec::new();
            let owing_seals = Vec::new();
            self.entries.push(AppliedEntry { seq, seat, command, ignored: None, effects, owing_seals });
        }
    }

    pub(crate) fn pass(&mut self, leaf: TreeHash) {
        let seq = self.head.saturating_add(1);
        self.count(seq, leaf);
        self.left_out.push(seq);
    }

    fn count(&mut self, seq: Seq, leaf: TreeHash) {
        self.head = seq;
        self.tree.push(leaf);
        self.roots.push(self.tree.root());
    }

    fn note(&mut self, applied: &AppliedEntry) {
        let turn = &mut self.current;
        let desk_seq = applied.seq;
        if let Some(paper) = applied.command.paper() {
            self.papers.entry(paper.digest()).or_insert(self.entries.len());
            *self.papers_in_turn.entry(applied.seat).or_default() += 1;
        }
        match &applied.command {
            Command::Carried { digest, count } => {
                turn.executions.insert(*digest, (desk_seq, Execution::Carried((*count).into())));
            }
            Command::Refused { digest, code } => {
                turn.executions.insert(*digest, (desk_seq, Execution::Refused(code.clone().into())));
            }
            Command::Rolled { number, element, branch, seq } => {
                let branch = branch.clone();
                turn.rolled.push(RolledEntry {
                    desk_seq,
                    number: *number,
                    element: *element,
                    branch,
                    seq: *seq,
                });
            }
            _ => {}
        }
        for effect in &applied.effects {
            match effect {
                Effect::Carried { seat, .. } => turn.executed.push(*seat),
                Effect::Missed { seat, .. } => turn.missed.push(*seat),
                _ => {}
            }
        }
        if let Some(end) = applied.position() {
            self.papers_in_turn.clear();
            let next = DeskTurn::new(turn.number.saturating_add(1), (end.branch.clone(), end.game_seq));
            let ended = std::mem::replace(turn, next);
            self.turns.push(DeskTurn { end: Some(end), ..ended });
        }
    }

    pub(crate) const fn terms(&self) -> &Setup {
        &self.terms
    }

    /// Returns the state of the desk.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Returns the number of its last record.
    #[must_use]
    pub const fn head(&self) -> Seq {
        self.head
    }

    /// Returns the number of its records (TR-1).
    pub(crate) const fn size(&self) -> u64 {
        self.head.saturating_add(1)
    }

    /// Returns its entries, except those that are left out.
    #[must_use]
    pub fn entries(&self) -> &[AppliedEntry] {
        &self.entries
    }

    pub(crate) fn left_out(&self) -> &[Seq] {
        &self.left_out
    }

    pub(crate) const fn first_unapplied(&self) -> Option<Seq> {
        self.first_unapplied
    }

    /// Returns the root of its tree at a size; `None` for 0 and for more than its size.
    #[must_use]
    pub fn root(&self, size: u64) -> Option<TreeHash> {
        let index = usize::try_from(size.checked_sub(1)?).ok()?;
        self.roots.get(index).copied()
    }

    pub(crate) fn paper(&self, digest: &Digest) -> Option<&AppliedEntry> {
        self.entries.get(*self.papers.get(digest)?)
    }

    /// Returns the order of a seat that counts in this turn, and its entry.
    #[must_use]
    pub fn order_now(&self, seat: Seat) -> Option<(&AppliedEntry, &Order)> {
        self.order_of(seat, self.state.turn(), self.size())
    }

    pub(super) fn order_of(&self, seat: Seat, turn: u32, size_max: u64) -> Option<(&AppliedEntry, &Order)> {
        for entry in self.entries.iter().rev() {
            if let Some(paper) = entry.command.paper()
                && let PaperContent::Order(order) = paper.content()
                && paper.head().turn == turn
                && entry.size() <= size_max
                && entry.seat == seat
                && entry.ignored.is_none()
            {
                return Some((entry, order));
            }
        }
        None
    }

    /// Returns the orders for later turns that count in a state of the desk (PM-42), and the size of the desk with them.
    pub(super) fn ahead(&self, state: &State, seat: Seat) -> Option<(u64, &OrdersAhead)> {
        let entry = self.paper(&state.orders_ahead(seat)?)?;
        match entry.command.paper()?.content() {
            PaperContent::Ahead(ahead) => Some((entry.size(), ahead)),
            _ => None,
        }
    }

    /// Returns the size of the desk at which a seat was last given to another player, up to a size; 0 if it never was.
    pub(super) fn came(&self, seat: Seat, size_max: u64) -> u64 {
        let mut came = 0;
        for entry in &self.entries {
            for effect in &entry.effects {
                if let Effect::Replaced { seat: replaced, .. } = effect
                    && *replaced == seat
                    && entry.size() <= size_max
                {
                    came = entry.size();
                }
            }
        }
        came
    }

    pub(crate) fn papers_in_turn(&self, seat: Seat) -> usize {
        self.papers_in_turn.get(&seat).copied().unwrap_or_default()
    }

    pub(crate) fn plan(&self) -> Option<&TurnPlan> {
        if self.state.is_ready() { self.current.plan.as_ref() } else { None }
    }

    pub(crate) fn turns(&self) -> &[DeskTurn] {
        &self.turns
    }

    pub(crate) const fn current(&self) -> &DeskTurn {
        &self.current
    }

    /// Returns the positions, the oldest first.
    #[must_use]
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = &TurnRecord> {
        self.turns.iter().filter_map(|turn| turn.end.as_ref())
    }

    /// Returns the position of the current turn.
    #[must_use]
    pub fn position(&self) -> Option<&TurnRecord> {
        self.turns.last()?.end.as_ref()
    }

    /// Returns the position with which a turn began; `None` for turn 0, in which players join.
    pub(crate) fn position_of_turn(&self, turn: u32) -> Option<&TurnRecord> {
        self.positions().nth(usize::try_from(turn.checked_sub(1)?).ok()?)
    }

    pub(super) fn link_of_turn(&self, turn: u32) -> Option<Digest> {
        Some(self.position_of_turn(turn)?.link)
    }

    pub(crate) fn is_over_at(&self, size: u64) -> bool {
        for entry in &self.entries {
            if entry.size() <= size
                && entry.effects.iter().any(|effect| matches!(effect, Effect::Over { .. }))
            {
                return true;
            }
        }
        false
    }

    pub(crate) fn states(&self, sizes: &BTreeSet<u64>) -> BTreeMap<u64, State> {
        let mut state = self.start.clone();
        let mut found = BTreeMap::new();
        if sizes.contains(&1) {
            found.insert(1, state.clone());
        }
        let last = sizes.last().copied().unwrap_or_default();
        for entry in self.entries.iter().take_while(|entry| entry.size() <= last) {
            let applied = Desk::apply(&mut state, entry.seat, &entry.command, &mut ());
            applied.expect("an entry that was applied is applied again");
            if sizes.contains(&entry.size()) {
                found.insert(entry.size(), state.clone());
            }
        }
        found
    }
}
