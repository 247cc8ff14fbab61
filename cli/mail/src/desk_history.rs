//! The history of a desk: what each record did, the papers and their outcomes, and the turns.
//!
//! The host, letters, players and the audit all read a desk with this type. It uses nothing but the records, because
//! the audit compares the host's conclusions with them.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::decode::decode_strictly;
use turnfold_core::paper::{Order, OrdersAhead, PaperContent};
use turnfold_core::rules::desk::{Command, Desk, Effect, Setup, State};
use turnfold_core::trust::{Tree, TreeHash};
use turnfold_core::{Digest, FoldError, Rules, Seat, SetupError, Verdict};
use turnfold_history::SourceName;
use turnfold_history::history::{broken_entry, broken_setup};
use turnfold_proof::bundle::BundledRecord;
use turnfold_store::{BranchName, Entry, Seq, StoreReader};

use super::desk_turn::{AppliedEntry, DeskTurn, Execution, RolledEntry, TurnPlan, TurnRecord};
use super::pairing::MailMatch;
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
    /// The records that were left out of a bundle.
    left_out: Vec<Seq>,
    /// The first shown record that the desk could not apply.
    first_unapplied: Option<Seq>,
    /// The index in `entries` of each recorded paper, by digest.
    papers: BTreeMap<Digest, usize>,
    /// How many papers of each seat were recorded in this turn.
    papers_in_turn: BTreeMap<Seat, usize>,
    turns: Vec<DeskTurn>,
    current: DeskTurn,
}

impl DeskHistory {
    /// Reads the desk of a match to its end.
    ///
    /// # Errors
    /// Errors of the store, and a desk or an entry that is broken.
    pub fn read(store: &StoreReader, game: &MailMatch) -> Result<Self, MailError> {
        let log = store.read(&game.desk, &BranchName::main(), None)?;
        let name = SourceName::Revision(game.desk_branch());
        let mut desk =
            Self::start(&game.terms, &log.genesis.encode()).map_err(|cause| broken_setup(&name, cause))?;
        for entry in &log.entries {
            desk.take(entry).map_err(|cause| broken_entry(&name, cause))?;
        }
        Ok(desk)
    }

    /// Starts with the terms of play and the record of the desk's Genesis.
    pub(crate) fn start(terms: &Setup, genesis: &[u8]) -> Result<Self, SetupError> {
        let mut tree = Tree::default();
        tree.push(TreeHash::of_record(genesis));
        let start = Desk::start(terms)?;
        let main = BranchName::main();
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
            current: DeskTurn::new(0, (main, 0)),
        })
    }

    /// Applies the next entry, and returns it with what it did.
    ///
    /// # Errors
    /// [`FoldError`] for an entry that the desk does not accept; the desk is unchanged then.
    ///
    /// # Panics
    /// Never: the returned entry was just added.
    pub fn take(&mut self, entry: &Entry) -> Result<&AppliedEntry, FoldError> {
        let seq = entry.seq;
        let command: Command =
            decode_strictly(&entry.command).map_err(|cause| FoldError::Undecodable { seq, cause })?;
        let was_ready = self.state.is_ready();
        let mut effects = Vec::new();
        let verdict = Desk::apply(&mut self.state, entry.seat, &command, &mut effects);
        let ignored = match verdict {
            Ok(Verdict::Applied(())) => None,
            Ok(Verdict::Ignored(reason)) => Some(reason),
            Err(denied) => {
                return Err(FoldError::Rejected { seq, rejected: Box::new(denied.into()) });
            }
        };
        let owing_seals = self.state.awaited_seals();
        let applied = AppliedEntry { seq, seat: entry.seat, command, ignored, effects, owing_seals };
        self.count(seq, TreeHash::of_record(&entry.encode()));
        self.note(&applied);
        let is_position = applied.position().is_some();
        self.entries.push(applied);
        // PM-42: a turn whose orders were all given ahead is ready as soon as it begins.
        if self.state.is_ready() && (!was_ready || is_position) {
            let plan = TurnPlan::of(&self.state, |digest| self.paper(digest)?.command.paper());
            self.current.from.clone_from(&plan.from);
            self.current.plan = Some(plan);
        }
        Ok(self.entries.last().expect("an entry was pushed"))
    }

    /// Takes the next record of a bundle that may leave out records. A shown record that cannot be applied without them
    /// is listed with no effects.
    pub(super) fn take_record(&mut self, record: &BundledRecord<'_>) {
        let seq = self.head.saturating_add(1);
        let entry = record.entry().ok().flatten();
        if entry.as_ref().is_some_and(|entry| entry.seq == seq && self.take(entry).is_ok()) {
            return;
        }
        if matches!(record, BundledRecord::LeftOut(_)) {
            return self.pass(record.leaf());
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

    /// Counts a record that is left out.
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
        let seq = applied.seq;
        let turn = &mut self.current;
        match &applied.command {
            command @ (Command::Paper(_) | Command::Plain(_)) => {
                let Some(paper) = command.paper() else { return };
                self.papers.entry(paper.digest()).or_insert(self.entries.len());
                *self.papers_in_turn.entry(applied.seat).or_default() += 1;
            }
            Command::Carried { digest, count } => {
                turn.executions.insert(*digest, (seq, Execution::Carried((*count).into())));
            }
            Command::Refused { digest, code } => {
                turn.executions.insert(*digest, (seq, Execution::Refused(code.clone().into())));
            }
            Command::Rolled { number, element, branch, seq: game_seq } => turn.rolled.push(RolledEntry {
                desk_seq: seq,
                number: *number,
                element: *element,
                branch: branch.clone(),
                seq: *game_seq,
            }),
            Command::Stand { .. }
            | Command::Clock(_)
            | Command::Extend { .. }
            | Command::Close { .. }
            | Command::Remind(_)
            | Command::Replace { .. } => {}
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

    /// Returns the terms of play.
    #[must_use]
    pub const fn terms(&self) -> &Setup {
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
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.head.saturating_add(1)
    }

    /// Returns its entries, except those that are left out.
    #[must_use]
    pub fn entries(&self) -> &[AppliedEntry] {
        &self.entries
    }

    /// Returns the numbers of the records that are left out.
    #[must_use]
    pub fn left_out(&self) -> &[Seq] {
        &self.left_out
    }

    /// Returns the first shown record that could not be applied, because others are left out or it is forged.
    pub(crate) const fn first_unapplied(&self) -> Option<Seq> {
        self.first_unapplied
    }

    /// Returns the root of its tree at a size; `None` for 0 and for more than its size.
    #[must_use]
    pub fn root(&self, size: u64) -> Option<TreeHash> {
        let index = usize::try_from(size.checked_sub(1)?).ok()?;
        self.roots.get(index).copied()
    }

    /// Returns the entry that records a paper, if one does.
    #[must_use]
    pub fn paper(&self, digest: &Digest) -> Option<&AppliedEntry> {
        self.papers.get(digest).and_then(|place| self.entries.get(*place))
    }

    /// Returns the newest order of a seat that was applied in a turn, up to a size of the desk, and its entry.
    pub(super) fn order_of(&self, seat: Seat, turn: u32, size_max: u64) -> Option<(&AppliedEntry, &Order)> {
        let mut newest_first = self.entries.iter().rev().filter(|entry| entry.size() <= size_max);
        newest_first.find_map(|entry| {
            let paper = entry.command.paper().filter(|paper| paper.head().turn == turn)?;
            match paper.content() {
                PaperContent::Order(order) if entry.seat == seat && entry.ignored.is_none() => {
                    Some((entry, order))
                }
                _ => None,
            }
        })
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
        let is_it = |effect: &Effect| matches!(effect, Effect::Replaced { seat: of, .. } if *of == seat);
        let mut latest_first = self.entries.iter().rev().filter(|entry| entry.size() <= size_max);
        latest_first.find(|entry| entry.effects.iter().any(is_it)).map_or(0, AppliedEntry::size)
    }

    /// Returns how many papers of a seat were recorded since the last position.
    pub(crate) fn papers_in_turn(&self, seat: Seat) -> usize {
        self.papers_in_turn.get(&seat).copied().unwrap_or_default()
    }

    /// Returns the plan of the turn while the turn is ready.
    pub(crate) fn plan(&self) -> Option<&TurnPlan> {
        self.current.plan.as_ref().filter(|_| self.state.is_ready())
    }

    /// Returns the turns that ended, turn 0 first.
    #[must_use]
    pub fn turns(&self) -> &[DeskTurn] {
        &self.turns
    }

    /// Returns the turn that has not ended.
    #[must_use]
    pub const fn current(&self) -> &DeskTurn {
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

    /// Returns the link of the position with which a turn began; `None` for turn 0, in which players join.
    pub(super) fn link_of_turn(&self, turn: u32) -> Option<Digest> {
        let index = usize::try_from(turn.checked_sub(1)?).ok()?;
        self.positions().nth(index).map(|position| position.link)
    }

    /// Returns `true` if the match is over after this number of records.
    pub(crate) fn is_over_at(&self, size: u64) -> bool {
        let is_end = |effect: &Effect| matches!(effect, Effect::Over { .. });
        self.entries.iter().any(|entry| entry.size() <= size && entry.effects.iter().any(is_end))
    }

    /// Returns the state of the desk at each of these sizes.
    ///
    /// # Panics
    /// Never: the entries were applied before.
    #[must_use]
    pub fn states(&self, sizes: &BTreeSet<u64>) -> BTreeMap<u64, State> {
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
