//! The log of a desk, folded: what each entry did, papers and what became of them, turns, and the turn of now.
//!
//! Host, letters and audit all read a desk here; what the audit holds the host to is recorded, never what the host found.

use std::collections::BTreeMap;

use turnfold_core::decode::decode_strictly;
use turnfold_core::outcome::Ruled;
use turnfold_core::paper::{PaperContent, SignedPaper};
use turnfold_core::rules::desk::{Command, Desk, Effect, Reason, Setup, State};
use turnfold_core::trust::{Tree, TreeHash};
use turnfold_core::{Digest, FoldError, Rules, Seat, Verdict, paper::LineName};
use turnfold_store::{BranchName, Entry, Seq, StoreReader};

use super::error::MailError;
use super::pairing::MailMatch;
use super::steps::TurnPlan;
use crate::history::{broken_entry, broken_setup};
use crate::revision::SourceName;

/// A desk up to some entry.
pub struct DeskHistory {
    state: State,
    /// The number of the last entry.
    head: Seq,
    tree: Tree,
    /// The roots of all its sizes, from that with the Genesis alone.
    roots: Vec<TreeHash>,
    papers: BTreeMap<Digest, RecordedPaper>,
    /// The orders of this turn that were applied.
    orders: BTreeMap<Digest, SignedPaper>,
    /// How many papers of a seat came since the last stand.
    since_stand: BTreeMap<Seat, usize>,
    /// What there is to carry out, from when the turn became ready until the next stand.
    plan: Option<TurnPlan>,
    /// The seats whose orders were carried out since then.
    carried: Vec<Seat>,
    turns: Vec<EndedTurn>,
}

/// What became of a paper that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPaper {
    /// Its entry.
    pub seq: Seq,
    /// Why it is ignored, if it is.
    pub ignored: Option<&'static str>,
}

/// A turn that was carried out, turn 0 before the first stand included, and the stand that followed.
#[derive(Clone, Debug)]
pub struct EndedTurn {
    /// What there was to carry out.
    pub plan: TurnPlan,
    /// The seats whose orders were carried out.
    pub carried: Vec<Seat>,
    /// The stand.
    pub stand: TurnRecord,
}

/// A stand of the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRecord {
    /// Its entry.
    pub seq: Seq,
    /// The line of the game.
    pub line: LineName,
    /// The entry of the game.
    pub game_seq: Seq,
    /// The link after that entry.
    pub link: Digest,
    /// The game's state hash, unless something is concealed.
    pub state: Option<Digest>,
    /// Who is asked.
    pub seats: Vec<Seat>,
}

/// An entry, and what came of it.
#[derive(Clone, Debug)]
pub struct AppliedEntry {
    /// Its number.
    pub seq: Seq,
    /// Who gave it.
    pub seat: Seat,
    /// What was given.
    pub command: Command,
    /// Why it is ignored, if it is.
    pub ignored: Option<Reason>,
    /// What happened.
    pub effects: Vec<Effect>,
    /// The seats that have to seal and have not, after it (PM-16).
    pub owing_seals: Vec<Seat>,
}

impl AppliedEntry {
    /// Returns the number of records of the desk up to this one (TR-1).
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.seq.saturating_add(1)
    }
}

impl DeskHistory {
    /// Reads the desk of a match to its end.
    ///
    /// # Errors
    /// What is wrong with the store, the desk or an entry.
    pub fn read(store: &StoreReader, of: &MailMatch) -> Result<Self, MailError> {
        let log = store.read(&of.desk, &BranchName::main(), None)?;
        let name = SourceName::Revision(of.desk_line());
        let mut desk =
            Self::start(&of.terms, &log.genesis.encode()).map_err(|cause| broken_setup(&name, cause))?;
        for entry in &log.entries {
            desk.take(entry).map_err(|cause| broken_entry(&name, cause))?;
        }
        Ok(desk)
    }

    /// Begins at the terms of play and the record of the desk's Genesis.
    ///
    /// # Errors
    /// What is wrong with the terms.
    pub fn start(terms: &Setup, genesis: &[u8]) -> Result<Self, turnfold_core::SetupError> {
        let mut tree = Tree::default();
        tree.push(TreeHash::of_record(genesis));
        Ok(Self {
            state: Desk::start(terms)?,
            head: 0,
            roots: vec![tree.root()],
            tree,
            papers: BTreeMap::new(),
            orders: BTreeMap::new(),
            since_stand: BTreeMap::new(),
            plan: None,
            carried: Vec::new(),
            turns: Vec::new(),
        })
    }

    /// Takes the next entry.
    ///
    /// # Errors
    /// [`FoldError`] for one that the desk does not accept; nothing has changed then.
    pub fn take(&mut self, entry: &Entry) -> Result<AppliedEntry, FoldError> {
        let seq = entry.seq;
        let command: Command =
            decode_strictly(&entry.command).map_err(|cause| FoldError::Undecodable { seq, cause })?;
        let (was_ready, mut effects) = (self.state.is_ready(), Vec::new());
        let verdict = Desk::apply(&mut self.state, entry.seat, &command, &mut effects);
        let ignored = match verdict {
            Ok(Verdict::Applied(())) => None,
            Ok(Verdict::Ignored(reason)) => Some(reason),
            Err(denied) => {
                return Err(FoldError::Rejected { seq, code: denied.code(), message: denied.to_string() });
            }
        };
        let owing_seals = self.state.awaited_seals();
        let heard = AppliedEntry { seq, seat: entry.seat, command, ignored, effects, owing_seals };
        self.count(seq, TreeHash::of_record(&entry.encode()));
        self.note(&heard);
        if self.state.is_ready() && !was_ready {
            self.plan = Some(TurnPlan::of(&self.state, &self.orders));
        }
        Ok(heard)
    }

    /// Takes the leaf of a redacted entry. It counts as a record, and does nothing.
    pub(super) fn pass(&mut self, leaf: TreeHash) {
        self.count(self.head.saturating_add(1), leaf);
    }

    fn count(&mut self, seq: Seq, leaf: TreeHash) {
        self.head = seq;
        self.tree.push(leaf);
        self.roots.push(self.tree.root());
    }

    fn note(&mut self, heard: &AppliedEntry) {
        let seq = heard.seq;
        match &heard.command {
            Command::Paper(paper) => {
                let digest = paper.paper().digest();
                let ignored = heard.ignored.map(|reason| reason.ruling().code);
                if ignored.is_none() && matches!(paper.paper().content(), PaperContent::Order(_)) {
                    self.orders.insert(digest, paper.as_ref().clone());
                }
                self.papers.entry(digest).or_insert(RecordedPaper { seq, ignored });
                *self.since_stand.entry(heard.seat).or_default() += 1;
            }
            Command::Stand { line, seq: game_seq, link, state, seats } => {
                self.orders.clear();
                self.since_stand.clear();
                let (line, seats) = (line.clone(), seats.as_slice().to_vec());
                let stand = TurnRecord { seq, line, game_seq: *game_seq, link: *link, state: *state, seats };
                let carried = std::mem::take(&mut self.carried);
                self.turns.extend(self.plan.take().map(|plan| EndedTurn { plan, carried, stand }));
            }
            _ => {}
        }
        for effect in &heard.effects {
            if let Effect::Carried { seat, .. } = effect {
                self.carried.push(*seat);
            }
        }
    }

    /// Returns where the desk stands.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Returns the number of its last entry.
    #[must_use]
    pub const fn head(&self) -> Seq {
        self.head
    }

    /// Returns the root of its tree at a size, if it has that size and more than nothing.
    #[must_use]
    pub fn root(&self, size: u64) -> Option<TreeHash> {
        let index = usize::try_from(size.checked_sub(1)?).ok()?;
        self.roots.get(index).copied()
    }

    /// Returns what became of a paper, if it was recorded.
    #[must_use]
    pub fn paper(&self, digest: &Digest) -> Option<&RecordedPaper> {
        self.papers.get(digest)
    }

    /// Returns how many papers of a seat were recorded since the last stand.
    #[must_use]
    pub fn papers_since_stand(&self, seat: Seat) -> usize {
        self.since_stand.get(&seat).copied().unwrap_or_default()
    }

    /// Returns what there is to carry out while the turn is ready.
    #[must_use]
    pub fn plan(&self) -> Option<&TurnPlan> {
        self.plan.as_ref().filter(|_| self.state.is_ready())
    }

    /// Returns the seats whose orders of this turn were carried out.
    #[must_use]
    pub fn carried(&self) -> &[Seat] {
        &self.carried
    }

    /// Returns the turns that were carried out, turn 0 first.
    #[must_use]
    pub fn turns(&self) -> &[EndedTurn] {
        &self.turns
    }

    /// Returns the last stand.
    #[must_use]
    pub fn stand(&self) -> Option<&TurnRecord> {
        self.turns.last().map(|turn| &turn.stand)
    }
}
