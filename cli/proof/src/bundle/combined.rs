//! Several bundles of the same matches combined: a record that one leaves out may be in another (PM-111).

use std::collections::BTreeMap;

use turnfold_core::Digest;
use turnfold_core::trust::TreeHash;
use turnfold_history::in_order;
use turnfold_store::{BranchName, Genesis, Linker, MatchName, Seq};

use super::outline::{BundleOutline, BundledBranch, BundledMatch, BundledModule};
use super::records::{BundleRecords, BundledRecord, TakeRecord};
use crate::error::ProofError;

enum HeldRecord {
    Shown(Vec<u8>),
    LeftOut(TreeHash),
}

impl HeldRecord {
    fn of(record: BundledRecord<'_>) -> Self {
        match record {
            BundledRecord::Shown(bytes, _) => Self::Shown(bytes.to_vec()),
            BundledRecord::LeftOut(leaf) => Self::LeftOut(leaf),
        }
    }

    fn record(&self) -> BundledRecord<'_> {
        match self {
            Self::Shown(bytes) => BundledRecord::Shown(bytes, None),
            Self::LeftOut(leaf) => BundledRecord::LeftOut(*leaf),
        }
    }

    const fn is_shown(&self) -> bool {
        matches!(self, Self::Shown(_))
    }
}

struct HeldBranch {
    parent: Option<BranchName>,
    first: Seq,
    records: Vec<HeldRecord>,
}

impl HeldBranch {
    /// Returns the number of its records, including those of its parents.
    fn size(&self) -> u64 {
        self.first + self.records.len() as u64
    }
}

type HeldBranches = BTreeMap<BranchName, HeldBranch>;

/// The records of several bundles.
#[derive(Default)]
pub struct Combination {
    matches: BTreeMap<MatchName, (Genesis, HeldBranches)>,
    modules: BTreeMap<Digest, BundledModule>,
}

/// The part of a branch from the first record that no bundle has.
pub struct MissingRecords {
    /// The match.
    pub match_name: MatchName,
    /// The branch.
    pub branch: BranchName,
    /// The first record that is missing.
    pub first: Seq,
    /// The last known record of the branch.
    pub last: Seq,
}

impl Combination {
    /// Adds the records of a bundle or store.
    ///
    /// # Errors
    /// [`ProofError::Refused`] for a different history of a match, and what cannot be read.
    pub fn add(&mut self, source: &dyn BundleRecords) -> Result<(), ProofError> {
        let outline = source.outline();
        self.modules.extend(outline.modules.iter().map(|module| (module.digest(), module.clone())));
        for bundled in &outline.matches {
            let (genesis, branches) = self
                .matches
                .entry(bundled.name.clone())
                .or_insert_with(|| (bundled.genesis.clone(), HeldBranches::new()));
            if genesis.link() != bundled.genesis.link() {
                return Err(ProofError::Refused(format!("`{}` is another match of that name", bundled.name)));
            }
            for branch in &bundled.branches {
                let parent = bundled.parent_of(branch).map(|parent| parent.name.clone());
                let held = branches.entry(branch.name.clone()).or_insert_with(|| HeldBranch {
                    parent: parent.clone(),
                    first: branch.first,
                    records: Vec::new(),
                });
                if held.parent != parent || held.first != branch.first {
                    return Err(two_histories(&bundled.name, &branch.name, branch.first));
                }
            }
        }
        let mut next = (None, 0);
        source.each(&mut |index, record| {
            if next.0 != Some(index) {
                next = (Some(index), 0);
            }
            let place = next.1;
            next.1 += 1;
            let Some(bundled) = outline.matches.get(index.0) else { return Ok(()) };
            let Some(branch) = bundled.branches.get(index.1) else { return Ok(()) };
            let Some((_, branches)) = self.matches.get_mut(&bundled.name) else { return Ok(()) };
            let Some(held) = branches.get_mut(&branch.name) else { return Ok(()) };
            match held.records.get_mut(place) {
                None => held.records.push(HeldRecord::of(record)),
                Some(known) if known.record().leaf() != record.leaf() => {
                    return Err(two_histories(&bundled.name, &branch.name, held.first + place as u64));
                }
                Some(known) if !known.is_shown() => *known = HeldRecord::of(record),
                Some(_) => {}
            }
            Ok(())
        })
    }

    /// Returns the branches with records that no bundle has.
    #[must_use]
    pub fn missing(&self) -> Vec<MissingRecords> {
        let mut missing = Vec::new();
        for (match_name, (_, branches)) in &self.matches {
            for (branch, held) in branches {
                if let Some(place) = held.records.iter().position(|record| !record.is_shown()) {
                    missing.push(MissingRecords {
                        match_name: match_name.clone(),
                        branch: branch.clone(),
                        first: held.first + place as u64,
                        last: held.size() - 1,
                    });
                }
            }
        }
        missing
    }

    fn held(&self, match_name: &MatchName, branch: &BranchName) -> Option<&HeldBranch> {
        self.matches.get(match_name)?.1.get(branch)
    }

    /// Returns the entries of a branch that some bundle has, encoded.
    #[must_use]
    pub fn entries(&self, match_name: &MatchName, branch: &BranchName) -> Vec<(Seq, &[u8])> {
        let mut entries = Vec::new();
        let Some(held) = self.held(match_name, branch) else { return entries };
        for (seq, record) in (held.first..).zip(&held.records) {
            if let HeldRecord::Shown(bytes) = record {
                entries.push((seq, bytes.as_slice()));
            }
        }
        entries
    }

    /// Returns how many records a branch has, its parents' included; 0 if there is no such branch.
    #[must_use]
    pub fn size(&self, match_name: &MatchName, branch: &BranchName) -> u64 {
        self.held(match_name, branch).map_or(0, HeldBranch::size)
    }

    /// Cuts a branch to a number of records, and drops the branches that begin behind the cut.
    pub fn cut(&mut self, match_name: &MatchName, branch: &BranchName, size: u64) {
        let Some((_, branches)) = self.matches.get_mut(match_name) else { return };
        let Some(held) = branches.get_mut(branch) else { return };
        let own = usize::try_from(size.saturating_sub(held.first)).unwrap_or(usize::MAX);
        held.records.truncate(own);
        let mut lost = Vec::new();
        for (name, other) in branches.iter() {
            if other.parent.as_ref() == Some(branch) && other.first > size {
                lost.push(name.clone());
            }
        }
        for name in lost {
            self.cut(match_name, &name, 0);
            if let Some((_, branches)) = self.matches.get_mut(match_name) {
                branches.remove(&name);
            }
        }
    }

    /// Returns the records as those of one bundle.
    ///
    /// # Errors
    /// [`ProofError::Refused`] for branches without a parent.
    pub fn into_records(self) -> Result<CombinedRecords, ProofError> {
        let mut matches = Vec::new();
        let mut records = Vec::new();
        for (name, (genesis, mut branches)) in self.matches {
            let parents = branches.iter().map(|(name, held)| (name.clone(), held.parent.clone())).collect();
            let order = in_order(&parents)
                .ok_or_else(|| ProofError::Refused(format!("branches of `{name}` begin on no other")))?;
            let mut listed: Vec<BundledBranch> = Vec::new();
            for branch in &order {
                let Some(held) = branches.get(branch) else { continue };
                let parent = order.iter().position(|other| Some(other) == held.parent.as_ref());
                let link = link_after(&genesis, &branches, branch, held.size());
                let left_out = held.records.iter().filter(|record| !record.is_shown()).count() as u64;
                let name = branch.clone();
                let count = held.records.len() as u64;
                let link = link.unwrap_or_else(|| genesis.link());
                listed.push(BundledBranch { name, parent, first: held.first, count, link, left_out });
            }
            records.push(order.iter().filter_map(|name| Some(branches.remove(name)?.records)).collect());
            matches.push(BundledMatch { name, genesis, branches: listed });
        }
        let modules = self.modules.into_values().collect();
        let outline = BundleOutline { matches, modules, ..BundleOutline::default() };
        Ok(CombinedRecords { outline, records })
    }
}

fn two_histories(match_name: &MatchName, branch: &BranchName, record: Seq) -> ProofError {
    ProofError::Refused(format!("`{match_name}@{branch}` has another history: record {record} differs"))
}

/// Computes the link after the first `size` records of a branch; `None` if one of them is left out.
fn link_after(genesis: &Genesis, branches: &HeldBranches, branch: &BranchName, size: u64) -> Option<Digest> {
    let held = branches.get(branch)?;
    let own = usize::try_from(size.saturating_sub(held.first)).ok()?;
    let mut records = held.records.get(..own)?.iter();
    let mut link = genesis.link();
    match &held.parent {
        Some(parent) if size <= held.first => return link_after(genesis, branches, parent, size),
        Some(parent) => link = link_after(genesis, branches, parent, held.first)?,
        // The Genesis has the first link.
        None => drop(records.next()),
    }
    let mut linker = Linker::new();
    for record in records {
        let HeldRecord::Shown(bytes) = record else { return None };
        link = linker.link(&link, bytes);
    }
    Some(link)
}

/// The records of several bundles as those of one.
pub struct CombinedRecords {
    outline: BundleOutline,
    /// By match and branch, in the order of the outline.
    records: Vec<Vec<Vec<HeldRecord>>>,
}

impl BundleRecords for CombinedRecords {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        for (match_index, branches) in self.records.iter().enumerate() {
            for (branch, records) in branches.iter().enumerate() {
                for record in records {
                    take((match_index, branch), record.record())?;
                }
            }
        }
        Ok(())
    }
}
