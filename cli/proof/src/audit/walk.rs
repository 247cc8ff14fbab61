//! One walk over all records: numbers and links, trees, rules and dice of every branch (TR-22, TR-26, TR-27).

use std::collections::{BTreeMap, BTreeSet};

use turnfold_core::{DicePolicy, Digest, Registry};
use turnfold_history::Revision;
use turnfold_history::golden::Finding;
use turnfold_store::{Genesis, Linker, OriginCheck};

use super::play::{FoldVerdict, Playing};
use super::rows::{AuditRow, FurtherRow, RowBuilder, RowName, counted};
use super::signed::Vouching;
use crate::bundle::sizes::{BranchFinder, BranchSize, revision};
use crate::bundle::{BranchIndex, BranchTrees, BundleOutline, BundleRecords, BundleRules, BundledRecord};
use crate::error::ProofError;

pub(super) struct Walked<'a> {
    pub(super) chain: AuditRow,
    pub(super) dice: RowBuilder,
    pub(super) rolls: u64,
    pub(super) has_dice: bool,
    pub(super) rules: AuditRow,
    pub(super) trees: BranchTrees<'a>,
}

/// Gets each record with its index on its branch, for a caller that audits more.
pub(super) type OnRecord<'a> = &'a mut dyn FnMut(BranchIndex, u64, &BundledRecord<'_>);

struct BranchState {
    /// The number of its records.
    size: u64,
    /// The link after the last record; `None` once records are left out.
    link: Option<Digest>,
    /// The first record with a number that is not its own.
    misplaced: Option<(u64, u64)>,
    playing: Playing,
}

pub(super) struct Walk<'a, 'r> {
    branches: &'a BranchFinder<'a>,
    outline: &'a BundleOutline,
    registry: &'a Registry,
    /// The modules that only the bundle brings, and the branches that were folded by one of them.
    brought: &'a BTreeSet<Digest>,
    brought_rules: Vec<(BranchIndex, Digest)>,
    linker: Linker,
    /// Where other branches begin, and how many are still to begin there.
    forks: BTreeMap<BranchSize, u64>,
    /// The states of branches at these forks.
    kept: BTreeMap<BranchSize, BranchState>,
    /// The branch whose records are being read.
    current: Option<(BranchIndex, BranchState)>,
    /// Checks that the current `main` has the entries of the match's origins.
    origins: Option<OriginCheck>,
    trees: BranchTrees<'a>,
    chain: RowBuilder,
    dice: RowBuilder,
    rules: RowBuilder,
    /// The modules that branches were folded by, in words (MD-10).
    modules: BTreeSet<String>,
    entries: u64,
    rolls: u64,
    has_dice: bool,
    /// The matches whose dice are judged elsewhere.
    dice_elsewhere: &'r BTreeSet<usize>,
    on_record: OnRecord<'r>,
}

impl<'a, 'r> Walk<'a, 'r> {
    pub(super) fn through(
        records: &'a dyn BundleRecords,
        branches: &'a BranchFinder<'a>,
        BundleRules { registry, unusable, brought }: &'a BundleRules,
        wanted: &[(BranchIndex, u64)],
        vouching: &Vouching<'_>,
        dice_elsewhere: &'r BTreeSet<usize>,
        on_record: OnRecord<'r>,
    ) -> Result<Walked<'a>, ProofError> {
        let outline = records.outline();
        let mut walk = Self {
            branches,
            outline,
            registry,
            brought,
            brought_rules: Vec::new(),
            linker: Linker::new(),
            forks: branches.forks(),
            kept: BTreeMap::new(),
            current: None,
            origins: None,
            trees: BranchTrees::of(branches, wanted),
            chain: RowBuilder::default(),
            dice: RowBuilder::default(),
            rules: RowBuilder::default(),
            modules: BTreeSet::new(),
            entries: 0,
            rolls: 0,
            has_dice: false,
            dice_elsewhere,
            on_record,
        };
        // MD-10: a module that cannot be used fails nothing, but its rules are not checked.
        for cause in unusable {
            walk.rules.not_checked(None, cause.clone());
        }
        let mut next = BranchIndex::default();
        records.each(&mut |branch, record| {
            while next <= branch {
                walk.begin(next)?;
                next = outline.after(next);
            }
            walk.take(branch, record)
        })?;
        while next.0 < outline.matches.len() {
            walk.begin(next)?;
            next = outline.after(next);
        }
        walk.end_branch();
        Ok(walk.finish(vouching))
    }

    fn genesis(&self, (match_index, _): BranchIndex) -> Option<&'a Genesis> {
        self.outline.matches.get(match_index).map(|bundled| &bundled.genesis)
    }

    fn begin(&mut self, index: BranchIndex) -> Result<(), ProofError> {
        self.end_branch();
        let (Some(branch), Some(genesis)) = (self.outline.branch(index), self.genesis(index)) else {
            return Ok(());
        };
        let state = if branch.parent.is_some() {
            let kept = self.branches.fork(index).and_then(|fork| self.kept_at(fork));
            kept.ok_or_else(|| ProofError::Changed("the bundle".into()))?
        } else {
            let playing = Playing::of(genesis, self.registry);
            if let Some(digest) = playing.module {
                let how = match (genesis.module, genesis.played_by) {
                    (Some(_), _) => "pinned",
                    (None, Some(_)) => "recorded",
                    (None, None) => "only",
                };
                let also = if playing.is_judged_by_built_in() { "the rules built in and by " } else { "" };
                let name = &genesis.ruleset;
                let version = genesis.ruleset_version;
                self.modules.insert(format!("{name} {version} by {also}the {how} module {digest}"));
            }
            self.origins = Some(OriginCheck::of(genesis));
            BranchState { size: 0, link: None, misplaced: None, playing }
        };
        self.current = Some((index, state));
        Ok(())
    }

    /// Returns the state that a branch begins with. The last branch to begin there takes it, the others get a copy.
    fn kept_at(&mut self, fork: BranchSize) -> Option<BranchState> {
        let waiting = self.forks.get_mut(&fork)?;
        *waiting = waiting.saturating_sub(1);
        if *waiting == 0 { self.kept.remove(&fork) } else { self.kept.get_mut(&fork).map(BranchState::fork) }
    }

    fn take(&mut self, branch: BranchIndex, record: BundledRecord<'_>) -> Result<(), ProofError> {
        let genesis = self.genesis(branch);
        let progress = match &mut self.current {
            Some((current, progress)) if *current == branch => progress,
            _ => return Err(ProofError::Changed("the bundle".into())),
        };
        let index = progress.size;
        progress.size += 1;
        self.trees.take(branch, record)?;
        (self.on_record)(branch, index, &record);
        match record {
            BundledRecord::LeftOut(_) => {
                progress.link = None;
                progress.playing.leave_out();
                self.origins = None;
            }
            BundledRecord::Shown(..) if index == 0 => progress.link = genesis.map(Genesis::link),
            BundledRecord::Shown(bytes, _) => {
                let entry = record.entry().ok().flatten();
                let entry = entry.ok_or_else(|| ProofError::Changed("the bundle".into()))?;
                if entry.seq != index {
                    progress.misplaced.get_or_insert((index, entry.seq));
                }
                progress.link = progress.link.map(|link| self.linker.link(&link, bytes));
                progress.playing.take(entry);
                if let Some(origins) = &mut self.origins {
                    origins.take(bytes);
                }
                self.entries += 1;
            }
        }
        let at = (branch, progress.size);
        if self.forks.contains_key(&at) {
            self.kept.insert(at, progress.fork());
        }
        Ok(())
    }

    fn end_branch(&mut self) {
        let Some((index, mut progress)) = self.current.take() else { return };
        let (Some(branch), Some(genesis)) = (self.outline.branch(index), self.genesis(index)) else { return };
        let place = revision(self.outline, index);
        let at = |seq: u64| place.as_ref().map(|place| place.at(seq));
        let last = branch.size().saturating_sub(1);
        match (progress.misplaced, progress.link) {
            (Some((expected, found)), _) => {
                self.chain.fail(at(expected), format!("expected entry {expected}, found entry {found}"));
            }
            (None, None) => self.chain.not_checked(place.clone(), "records are left out"),
            (None, Some(end)) if end != branch.link => {
                self.chain.fail(at(last), "the links of the records do not lead to the stated link");
            }
            (None, Some(_)) => {}
        }
        if let Some(origin) = self.origins.take().and_then(|origins| origins.first_wrong()) {
            self.chain.fail(at(origin.head), Finding::wrong_origin(&origin));
        }
        progress.playing.settle();
        match &progress.playing.verdict {
            // The auditor knows its own referee; to anyone else those rules prove nothing (RF-17).
            FoldVerdict::Sound => {
                if let Some(why) = &progress.playing.unproven {
                    self.rules.not_checked(place.clone(), why.clone());
                }
            }
            FoldVerdict::Unknown(reason) => self.rules.not_checked(place.clone(), reason.clone()),
            FoldVerdict::Rejected(seq, reason) => self.rules.fail(at(*seq), reason.clone()),
        }
        let playing = &progress.playing;
        if let Some(module) = playing.module.filter(|module| self.brought.contains(module))
            && playing.verdict == FoldVerdict::Sound
            && !playing.is_judged_by_built_in()
        {
            self.brought_rules.push((index, module));
        }
        if !self.dice_elsewhere.contains(&index.0) {
            self.judge_dice(genesis, progress, place.as_ref());
        }
    }

    fn judge_dice(&mut self, genesis: &Genesis, mut progress: BranchState, place: Option<&Revision>) {
        if let Some((seq, reason)) = progress.playing.wrong_roll.take() {
            self.dice.fail(place.map(|place| place.at(seq)), reason);
            return;
        }
        if !progress.playing.has_dice {
            return;
        }
        self.has_dice = true;
        let reason = match (genesis.dice, &progress.playing.verdict) {
            (DicePolicy::Recorded, _) => "values came from outside; range and count only".into(),
            (DicePolicy::Fair(_), _) => "fair dice are checked with the match's desk".into(),
            (DicePolicy::Seeded(_), FoldVerdict::Sound) => {
                self.rolls += progress.playing.rolls();
                return;
            }
            (DicePolicy::Seeded(_), FoldVerdict::Unknown(reason)) => reason.clone(),
            (DicePolicy::Seeded(_), FoldVerdict::Rejected(..)) => {
                "the rules reject an entry, so nothing is known of later rolls".into()
            }
        };
        self.dice.not_checked(place.cloned(), reason);
    }

    fn finish(self, vouching: &Vouching<'_>) -> Walked<'a> {
        let Self { brought_rules, trees, outline, entries, rolls, has_dice, modules, .. } = self;
        let Self { chain, mut dice, mut rules, .. } = self;
        for (branch, module) in brought_rules {
            let Some(found) = outline.matches.get(branch.0) else { continue };
            let is_pinned = found.genesis.only_module().is_some();
            let Some(why) = vouching.why_not(branch, &module, is_pinned, &trees) else { continue };
            let place = revision(outline, branch);
            // Without trusted rules nobody knows which rolls were due, so the dice are not checked either.
            if has_dice && matches!(found.genesis.dice, DicePolicy::Seeded(_)) {
                dice.not_checked(place.clone(), why.clone());
            }
            rules.not_checked(place, why);
        }
        let mut branches = 0;
        for bundled in &outline.matches {
            branches += bundled.branches.len() as u64;
        }
        let branches = counted(branches, "branch");
        Walked {
            chain: chain
                .row(RowName::Chain, || format!("{branches} linked from the first record to the last")),
            dice,
            rolls,
            has_dice,
            rules: rules.row(RowName::Rules, || {
                let entries = if entries == 1 { "1 entry".into() } else { format!("{entries} entries") };
                let mut checked = vec![format!("{entries} of {branches} folded from the setup")];
                checked.extend(modules);
                checked.join(", ")
            }),
            trees,
        }
    }
}

pub(super) fn dice_row(mut dice: RowBuilder, rolls: u64, has_dice: bool, further: FurtherRow) -> AuditRow {
    dice.absorb(further.found);
    if further.checked.is_none() && !has_dice {
        dice.not_applicable("there is no match with dice");
    }
    dice.row(RowName::Dice, || {
        let seeded = format!("{} computed again from the seed, which the host knew", counted(rolls, "roll"));
        match further.checked {
            None => seeded,
            Some(fair) if rolls == 0 => fair,
            Some(fair) => format!("{fair}; {seeded}"),
        }
    })
}

impl BranchState {
    fn fork(&mut self) -> Self {
        let Self { size, link, misplaced, playing } = self;
        Self { size: *size, link: *link, misplaced: *misplaced, playing: playing.fork() }
    }
}
