//! Copies a match: creates one with given branches and entries, in one commit.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::store::Store;
use crate::chain::Linker;
use crate::engine::{InitialBranch, KeyedBatch, NewMatch};
use crate::entry::{Entry, NewEntry, PackedEntries, Seq};
use crate::error::StoreError;
use crate::genesis::Genesis;
use crate::names::{BranchName, MatchName};
use crate::reader::branch::Head;

/// A branch for [`Store::copy_match`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCopy {
    /// Its name.
    pub name: BranchName,
    /// The parent branch, and the entry after which this one begins; `None` for `main`.
    pub parent: Option<(BranchName, Seq)>,
    /// Its own entries.
    pub entries: Vec<Entry>,
}

impl Store {
    /// Creates a match with existing branches and entries, all or nothing. The entries keep their times and idempotency
    /// keys, and are numbered from the start of their branch.
    ///
    /// The first branch is `main`, whatever its name. A parent must come before its children.
    ///
    /// # Errors
    /// Returns [`StoreError::AlreadyExists`], [`StoreError::NoSuchBranch`] or [`StoreError::NoSuchSeq`] if a branch has
    /// no such parent or parent entry, [`StoreError::BranchExists`], [`StoreError::TooLarge`], or any error of writing.
    pub fn copy_match(
        &self,
        name: &MatchName,
        genesis: &Genesis,
        branches: Vec<BranchCopy>,
    ) -> Result<(), StoreError> {
        let mut copied = CopiedBranches { match_name: name, genesis, known: BTreeMap::new() };
        let branches =
            branches.into_iter().map(|branch| copied.next(branch)).collect::<Result<Vec<_>, _>>()?;
        self.create(NewMatch { branches, ..NewMatch::of(name, genesis, PackedEntries::default()) })
    }
}

struct CopiedBranches<'a> {
    match_name: &'a MatchName,
    genesis: &'a Genesis,
    /// For each branch: its parent, the entry after which it begins, and the links there and after each own entry.
    known: BTreeMap<BranchName, (Option<BranchName>, Seq, Vec<Digest>)>,
}

impl CopiedBranches<'_> {
    fn next(&mut self, branch: BranchCopy) -> Result<InitialBranch, StoreError> {
        let BranchCopy { name, parent, entries } = branch;
        let (name, parent) = if self.known.is_empty() { (BranchName::main(), None) } else { (name, parent) };
        if self.known.contains_key(&name) {
            return Err(StoreError::BranchExists { match_name: self.match_name.clone(), branch: name });
        }
        let before = match &parent {
            _ if self.known.is_empty() => Head { seq: 0, link: self.genesis.link() },
            Some((parent, at)) => Head { seq: *at, link: self.link_at(parent, *at)? },
            None => return Err(self.missing(&name)),
        };
        let mut linker = Linker::new();
        let mut links = vec![before.link];
        let mut batches = Vec::<KeyedBatch>::new();
        let mut link = before.link;
        for (seq, Entry { seat, command, recorded_at_ms, idempotency_key, .. }) in
            (before.seq + 1..).zip(entries)
        {
            let entry = NewEntry { seat, command, recorded_at_ms };
            entry.check_size()?;
            link = linker.link(&link, &entry.clone().number(seq, idempotency_key.as_ref()).encode());
            links.push(link);
            match batches.last_mut().filter(|batch| batch.idempotency_key == idempotency_key) {
                Some(batch) => batch.entries.push(&entry),
                None => batches.push(KeyedBatch { idempotency_key, entries: vec![entry].into() }),
            }
        }
        let from = parent.map(|(parent, _)| parent);
        self.known.insert(name.clone(), (from.clone(), before.seq, links));
        Ok(InitialBranch { name, from, before, batches })
    }

    fn link_at(&self, branch: &BranchName, seq: Seq) -> Result<Digest, StoreError> {
        let mut name = branch;
        while let Some((from, at, links)) = self.known.get(name) {
            match (seq.checked_sub(*at), from) {
                (Some(own), _) => {
                    let link = usize::try_from(own).ok().and_then(|own| links.get(own));
                    let head = at + links.len() as u64 - 1;
                    return link.copied().ok_or_else(|| StoreError::NoSuchSeq {
                        match_name: self.match_name.clone(),
                        branch: branch.clone(),
                        seq,
                        head,
                    });
                }
                (None, Some(from)) => name = from,
                (None, None) => break,
            }
        }
        Err(self.missing(name))
    }

    fn missing(&self, branch: &BranchName) -> StoreError {
        StoreError::NoSuchBranch { match_name: self.match_name.clone(), branch: branch.clone() }
    }
}
