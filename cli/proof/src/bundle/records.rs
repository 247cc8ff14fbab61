//! The records of branches, from any source that can be read repeatedly.

use std::collections::BTreeMap;

use turnfold_core::decode::DecodeError;
use turnfold_core::trust::{SignedNote, TreeHash};
use turnfold_history::in_order;
use turnfold_store::{BranchName, Entry, MatchName, Seq, StoreReader};

use super::outline::{BundleOutline, BundledBranch, BundledMatch, BundledModule};
use crate::error::ProofError;

/// A branch and its match, by their indexes in the outline: the match first.
pub type BranchIndex = (usize, usize);

/// A record of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundledRecord<'a> {
    /// The encoded Genesis or Entry, and the entry where the source has decoded it already.
    Shown(&'a [u8], Option<&'a Entry>),
    /// The leaf hash of a record that is left out (TR-20).
    LeftOut(TreeHash),
}

impl BundledRecord<'_> {
    /// Returns the hash of its leaf.
    #[must_use]
    pub fn leaf(&self) -> TreeHash {
        match self {
            Self::Shown(record, _) => TreeHash::of_record(record),
            Self::LeftOut(leaf) => *leaf,
        }
    }

    /// Returns the entry; `None` for a record that is left out.
    ///
    /// # Errors
    /// [`DecodeError`] for a record that is not an entry.
    pub fn entry(&self) -> Result<Option<Entry>, DecodeError> {
        match self {
            Self::Shown(_, Some(entry)) => Ok(Some((*entry).clone())),
            Self::Shown(record, None) => Entry::decode(record).map(Some),
            Self::LeftOut(_) => Ok(None),
        }
    }
}

/// Called with each record in turn.
pub type TakeRecord<'a> = dyn FnMut(BranchIndex, BundledRecord<'_>) -> Result<(), ProofError> + 'a;

/// Matches whose records can be read, branch after branch in the order of the outline.
pub trait BundleRecords {
    /// Returns the outline.
    fn outline(&self) -> &BundleOutline;

    /// Passes the own records of every branch to `take`.
    ///
    /// # Errors
    /// What cannot be read, and the error of `take`.
    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError>;
}

/// Some branches of a match, each up to an entry. The parents of a listed branch are listed, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPart {
    /// The match.
    pub name: MatchName,
    /// Its branches, and the last entry of each.
    pub branches: Vec<(BranchName, Seq)>,
}

/// Matches of a store.
pub struct StoreRecords<'a> {
    store: &'a StoreReader,
    outline: BundleOutline,
}

impl<'a> StoreRecords<'a> {
    /// Lists all branches of these matches, given in any order.
    ///
    /// # Errors
    /// [`StoreError`](turnfold_store::StoreError) for an unknown match, and for damage.
    pub fn of(store: &'a StoreReader, names: &[MatchName]) -> Result<Self, ProofError> {
        let mut names = names.to_vec();
        names.sort();
        names.dedup();
        let matches = names.into_iter().map(|name| outline_of(store, name)).collect::<Result<_, _>>()?;
        Ok(Self { store, outline: BundleOutline { matches, ..BundleOutline::default() } })
    }

    /// Lists only these branches, given in any order.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn of_parts(store: &'a StoreReader, parts: &[MatchPart]) -> Result<Self, ProofError> {
        let mut matches: Vec<_> =
            parts.iter().map(|part| part_of(store, part)).collect::<Result<_, ProofError>>()?;
        matches.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self { store, outline: BundleOutline { matches, ..BundleOutline::default() } })
    }

    pub(super) fn store(&self) -> &StoreReader {
        self.store
    }

    /// Adds checkpoints, as a bundle has them.
    #[must_use]
    pub fn with_checkpoints(mut self, checkpoints: Vec<SignedNote>) -> Self {
        self.outline.checkpoints = checkpoints;
        self
    }

    /// Adds modules, as a bundle has them (MD-10).
    #[must_use]
    pub fn with_modules(mut self, mut modules: Vec<BundledModule>) -> Self {
        modules.sort_by_key(BundledModule::digest);
        self.outline.modules = modules;
        self
    }

    /// Lists all matches of the store.
    ///
    /// # Errors
    /// [`StoreError`](turnfold_store::StoreError) for damage.
    pub fn of_all(store: &'a StoreReader) -> Result<Self, ProofError> {
        let names: Vec<_> = store.matches()?.into_iter().map(|info| info.name).collect();
        Self::of(store, &names)
    }
}

/// Lists the branches of a match. The size of a branch is one more than its head, because the Genesis is a record.
fn outline_of(store: &StoreReader, name: MatchName) -> Result<BundledMatch, ProofError> {
    let infos = store.branches(&name)?;
    let mut by_name = BTreeMap::new();
    let mut parents = BTreeMap::new();
    for info in &infos {
        by_name.insert(&info.name, info);
        parents.insert(info.name.clone(), info.parent.as_ref().map(|(parent, _)| parent.clone()));
    }
    let mut branches = Vec::new();
    let mut indexes = BTreeMap::new();
    for name in in_order(&parents).unwrap_or_default() {
        let Some(info) = by_name.get(&name) else { continue };
        let mut parent = None;
        let mut first = 0;
        if let Some((found, at)) = &info.parent {
            parent = indexes.get(found).copied();
            first = at.saturating_add(1);
        }
        let count = info.head.saturating_add(1).saturating_sub(first);
        indexes.insert(name.clone(), branches.len());
        branches.push(BundledBranch { name, parent, first, count, link: info.head_link, left_out: 0 });
    }
    Ok(BundledMatch { genesis: store.genesis(&name)?, name, branches })
}

fn part_of(store: &StoreReader, part: &MatchPart) -> Result<BundledMatch, ProofError> {
    let whole = outline_of(store, part.name.clone())?;
    let mut branches: Vec<BundledBranch> = Vec::new();
    let lasts: BTreeMap<_, _> = part.branches.iter().map(|(branch, last)| (branch, last)).collect();
    let mut indexes = BTreeMap::new();
    for (index, branch) in whole.branches.iter().enumerate() {
        let Some(last) = lasts.get(&branch.name) else { continue };
        let parent = branch.parent.and_then(|parent| indexes.get(&parent).copied());
        indexes.insert(index, branches.len());
        let link = store.links(&part.name, &branch.name, **last..=**last)?.pop().unwrap_or(branch.link);
        let count = last.saturating_add(1).saturating_sub(branch.first);
        branches.push(BundledBranch { parent, count, link, ..branch.clone() });
    }
    Ok(BundledMatch { branches, ..whole })
}

impl BundleRecords for StoreRecords<'_> {
    fn outline(&self) -> &BundleOutline {
        &self.outline
    }

    fn each(&self, take: &mut TakeRecord<'_>) -> Result<(), ProofError> {
        for (index, bundled) in self.outline.matches.iter().enumerate() {
            for (position, branch) in bundled.branches.iter().enumerate() {
                let branch_index = (index, position);
                if branch.first == 0 {
                    take(branch_index, BundledRecord::Shown(&bundled.genesis.encode(), None))?;
                }
                let to = branch.size().saturating_sub(1);
                for entry in self.store.entries(&bundled.name, &branch.name, branch.first.max(1)..=to)? {
                    let entry = entry?;
                    take(branch_index, BundledRecord::Shown(&entry.encode(), Some(&entry)))?;
                }
            }
        }
        Ok(())
    }
}
