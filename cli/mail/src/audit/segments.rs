//! Collects the records of games and desks, and splits a game's entries into turns (PM-1, PM-32).

use std::collections::BTreeMap;

use turnfold_core::paper::MatchId;
use turnfold_core::rules::desk::{self, Desk};
use turnfold_core::trust::TreeHash;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry, Rules};
use turnfold_history::{LogEntry, Revision, recorded_rules};
use turnfold_proof::bundle::sizes::{BranchFinder, revision};
use turnfold_proof::bundle::{BranchIndex, BundledMatch, BundledRecord};
use turnfold_store::{Entry, Genesis, Linker};

use crate::desk_history::{DeskHistory, DeskTurn};

#[derive(Clone, Debug)]
pub(super) struct Pairing {
    pub(super) game: usize,
    pub(super) desk: usize,
    pub(super) setup: desk::Setup,
}

impl Pairing {
    pub(super) fn all(finder: &BranchFinder<'_>, registry: &Registry) -> Vec<Self> {
        let mut pairings = Vec::new();
        for (desk, bundled) in finder.outline.matches.iter().enumerate() {
            if let Some(setup) = desk_setup(&bundled.genesis, registry)
                && let Ok(match_id) = setup.match_id.parse::<MatchId>()
                && let Some(game) = finder.match_of(match_id.as_bytes())
            {
                pairings.push(Self { game, desk, setup });
            }
        }
        pairings
    }

    pub(super) fn last(&self) -> usize {
        self.game.max(self.desk)
    }

    pub(super) const fn has(&self, match_index: usize) -> bool {
        self.game == match_index || self.desk == match_index
    }
}

fn desk_setup(genesis: &Genesis, registry: &Registry) -> Option<desk::Setup> {
    if genesis.ruleset != Desk::NAME {
        return None;
    }
    registry.resolve(Desk::NAME, genesis.ruleset_version, None).ok()?;
    desk::Setup::decode(genesis.ruleset_version, &genesis.setup).ok()
}

pub(super) const LEFT_OUT: &str = "records are left out";

#[derive(Debug)]
pub(super) struct CollectedMatch {
    branches: BTreeMap<usize, OwnEntries>,
    /// Whether it is a desk, which can be read without the records that are left out.
    is_desk: bool,
}

#[derive(Debug, Default)]
struct OwnEntries {
    /// The branch's own entries, up to the first that cannot be used.
    entries: Vec<Entry>,
    /// PM-81: the leaves of a desk's records that are left out, by index.
    left_out: BTreeMap<u64, TreeHash>,
    unusable: Option<&'static str>,
}

impl CollectedMatch {
    pub(super) const fn new(is_desk: bool) -> Self {
        Self { branches: BTreeMap::new(), is_desk }
    }

    pub(super) fn take(&mut self, branch: usize, index: u64, record: &BundledRecord<'_>) {
        let own = self.branches.entry(branch).or_default();
        match record {
            _ if own.unusable.is_some() || index == 0 => {}
            BundledRecord::LeftOut(_) if self.is_desk => drop(own.left_out.insert(index, record.leaf())),
            BundledRecord::LeftOut(_) => own.unusable = Some(LEFT_OUT),
            BundledRecord::Shown(..) => match record.entry() {
                Ok(Some(entry)) if entry.seq == index => own.entries.push(entry),
                _ => own.unusable = Some("the numbers of entries are in disorder"),
            },
        }
    }

    /// Applies the records of a desk to its Genesis, up to the first that cannot be applied. Returns the reason if the
    /// desk is incomplete. Records left out of an earlier turn changed nothing (PM-62, PM-81).
    pub(super) fn read_desk(&self, mut desk: DeskHistory) -> (DeskHistory, Option<&'static str>) {
        let Some(own) = self.branches.get(&0) else { return (desk, None) };
        let mut left_out = own.left_out.iter().peekable();
        for entry in &own.entries {
            while let Some((_, leaf)) = left_out.next_if(|(seq, _)| **seq < entry.seq) {
                desk.pass(*leaf);
            }
            if desk.take(entry).is_err() {
                let reason = if desk.left_out().is_empty() { "the rules reject an entry" } else { LEFT_OUT };
                return (desk, Some(reason));
            }
        }
        for (_, leaf) in left_out {
            desk.pass(*leaf);
        }
        let turn = desk.position().map_or(0, |position| position.seq);
        let mut reason = own.unusable;
        if let Some(last) = desk.left_out().last()
            && *last > turn
        {
            reason = reason.or(Some(LEFT_OUT));
        }
        (desk, reason)
    }

    pub(super) fn whole(&self, finder: &BranchFinder<'_>, branch: BranchIndex) -> WholeBranch<'_> {
        let mut whole = WholeBranch::default();
        for ((_, holder), size) in finder.parts(branch, u64::MAX) {
            if let (Some(own), None) = (self.branches.get(&holder), whole.unusable) {
                whole.entries.extend(&own.entries);
                whole.unusable = own.unusable;
            }
            whole.cut(size);
        }
        whole
    }
}

#[derive(Debug, Default)]
pub(super) struct WholeBranch<'a> {
    pub(super) entries: Vec<&'a Entry>,
    pub(super) unusable: Option<&'static str>,
    /// The links from the Genesis on; empty until [`linked`](Self::linked) computes them.
    links: Vec<Digest>,
}

impl WholeBranch<'_> {
    pub(super) fn linked(mut self, genesis: &Genesis) -> Self {
        let mut linker = Linker::new();
        let mut link = genesis.link();
        self.links.push(link);
        for entry in &self.entries {
            link = linker.link(&link, &entry.encode());
            self.links.push(link);
        }
        self
    }

    pub(super) fn link_after(&self, seq: u64) -> Option<Digest> {
        self.links.get(usize::try_from(seq).ok()?).copied()
    }

    fn cut(&mut self, size: u64) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.entries.len() >= size.saturating_sub(1) {
            self.unusable = None;
        }
        self.entries.truncate(size.saturating_sub(1));
    }

    pub(super) fn head(&self) -> u64 {
        self.entries.len() as u64
    }

    pub(super) fn between(&self, from: u64, to: u64) -> &[&Entry] {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let to = usize::try_from(to).unwrap_or(usize::MAX).min(self.entries.len());
        self.entries.get(from..to).unwrap_or_default()
    }
}

pub(super) struct AuditedPair<'a> {
    pub(super) finder: &'a BranchFinder<'a>,
    pub(super) registry: &'a Registry,
    pub(super) pairing: &'a Pairing,
    pub(super) game: &'a CollectedMatch,
    pub(super) desk: &'a CollectedMatch,
}

pub(super) struct TurnSegment<'a> {
    pub(super) turn: &'a DeskTurn,
    pub(super) at: Revision,
    pub(super) whole: &'a WholeBranch<'a>,
    pub(super) beginning: &'a dyn AnyState,
    pub(super) rules: &'a dyn AnyRules,
    pub(super) link: Option<Digest>,
    /// Whether the branch begins where the turn continues from, as it must after a takeback.
    pub(super) begins_there: bool,
    pub(super) start: Box<dyn AnyState>,
    pub(super) entries: &'a [&'a Entry],
    pub(super) end: SegmentEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    Position,
    /// The next position is not recorded yet, and the host may be executing the turn.
    Unfinished,
    /// The next position is not recorded, and there is nothing to execute yet.
    Idle,
    /// The branch is shorter than the position requires.
    Short,
    Unusable(&'static str),
}

pub(super) type Stuck = (Option<Revision>, String);

impl AuditedPair<'_> {
    /// Passes each turn with its entries to `take`, in order and as far as possible. Returns each played branch with
    /// its last played entry and its head.
    pub(super) fn each_segment(
        &self,
        game: &BundledMatch,
        turns: &[&DeskTurn],
        take: &mut dyn FnMut(&TurnSegment<'_>),
    ) -> Result<Vec<(Revision, u64, u64)>, Stuck> {
        let Ok(rules) = recorded_rules(&game.genesis, self.registry) else {
            return Err(self.stuck(0, "this build does not have the rules of the game"));
        };
        let Ok(beginning) = rules.start(&game.genesis.setup) else {
            return Err(self.stuck(0, "the rules reject the setup"));
        };
        let mut wholes: BTreeMap<usize, WholeBranch<'_>> = BTreeMap::new();
        let mut played: BTreeMap<usize, u64> = BTreeMap::new();
        let mut last: Option<(usize, u64, Box<dyn AnyState>)> = None;
        for turn in turns.iter().copied() {
            // After a takeback the branch is unknown until the turn has rolls or an end.
            let Some(name) = turn.branch() else { break };
            let Some(found) = self.finder.branch(self.pairing.game, name.as_str()) else {
                return Err(self.stuck(0, &format!("there is no branch `{name}`")));
            };
            let whole = &*wholes.entry(found).or_insert_with(|| {
                self.game.whole(self.finder, (self.pairing.game, found)).linked(&game.genesis)
            });
            let mut state = match last.take() {
                Some((on, seq, state)) if (on, seq) == (found, turn.from.1) => state,
                _ => {
                    let mut state = beginning.fork();
                    if whole.head() < turn.from.1 {
                        return Err(self.stuck(found, whole.unusable.unwrap_or("the branch is too short")));
                    }
                    self.fold(state.as_mut(), whole.between(0, turn.from.1), found)?;
                    state
                }
            };
            let to = turn.end.as_ref().map_or(whole.head(), |end| end.game_seq);
            let end = match (&turn.end, whole.unusable) {
                (Some(_), _) if whole.head() >= to => SegmentEnd::Position,
                (_, Some(reason)) => SegmentEnd::Unusable(reason),
                (Some(_), None) => SegmentEnd::Short,
                (None, None) if turn.plan.is_some() => SegmentEnd::Unfinished,
                (None, None) => SegmentEnd::Idle,
            };
            let entries = whole.between(turn.from.1, to);
            let Some(at) = self.place(found) else { break };
            take(&TurnSegment {
                turn,
                at,
                whole,
                beginning: beginning.as_ref(),
                rules: &*rules,
                link: whole.link_after(to),
                begins_there: self.begins_there(game, found, turn),
                start: state.fork(),
                entries,
                end,
            });
            played.insert(found, to);
            match end {
                SegmentEnd::Position => {}
                SegmentEnd::Unfinished | SegmentEnd::Idle => break,
                SegmentEnd::Short => return Err(self.stuck(found, "the branch is too short")),
                SegmentEnd::Unusable(reason) => return Err(self.stuck(found, reason)),
            }
            self.fold(state.as_mut(), entries, found)?;
            last = Some((found, to, state));
        }
        let mut ends = Vec::new();
        for (branch, to) in played {
            if let (Some(at), Some(whole)) = (self.place(branch), wholes.get(&branch)) {
                ends.push((at, to, whole.head()));
            }
        }
        Ok(ends)
    }

    fn place(&self, branch: usize) -> Option<Revision> {
        revision(self.finder.outline, (self.pairing.game, branch))
    }

    fn stuck(&self, branch: usize, reason: &str) -> Stuck {
        (self.place(branch), reason.into())
    }

    fn fold(&self, state: &mut dyn AnyState, entries: &[&Entry], branch: usize) -> Result<(), Stuck> {
        let folded =
            state.fold(&LogEntry::stored(entries.iter().copied()), &DicePolicy::Recorded, &mut |_| {});
        folded.map_err(|_| self.stuck(branch, "the rules reject an entry"))
    }

    fn begins_there(&self, game: &BundledMatch, branch: usize, turn: &DeskTurn) -> bool {
        let (from, seq) = &turn.from;
        let of = self.pairing.game;
        let Some(found) = game.branches.get(branch) else { return false };
        let (Some(parent), Some(from)) = (found.parent, self.finder.branch(of, from.as_str())) else {
            return false;
        };
        found.first.checked_sub(1) == Some(*seq)
            && self.finder.holder((of, parent), *seq) == self.finder.holder((of, from), *seq)
    }
}
