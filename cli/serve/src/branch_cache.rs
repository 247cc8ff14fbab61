//! The branches in memory, as many as its limit allows (SV-27).

use std::sync::atomic::{AtomicU64, Ordering};

use lru::LruCache;

use crate::prelude::*;

pub(crate) type BranchNames = (MatchName, BranchName);

/// The most branches that one request looks at to make room; the next request continues.
const LOOKED_AT_MAX: usize = 64;

pub(crate) struct BranchCache {
    bytes_max: u64,
    pub(crate) memory: Memory,
    by_use: Mutex<LruCache<BranchNames, Arc<OpenBranch>>>,
}

impl BranchCache {
    pub(crate) fn new(bytes_max: u64) -> Self {
        let by_use = Mutex::new(LruCache::unbounded());
        Self { bytes_max, memory: Memory::default(), by_use }
    }

    pub(crate) fn count(&self) -> u64 {
        lock(&self.by_use).len() as u64
    }

    pub(crate) fn make_room(&self) {
        if self.memory.bytes() <= self.bytes_max {
            return;
        }
        // The branch that was used last stays.
        let others = lock(&self.by_use).len().saturating_sub(1).min(LOOKED_AT_MAX);
        for _ in 0..others {
            if self.memory.bytes() <= self.bytes_max {
                return;
            }
            let mut by_use = lock(&self.by_use);
            let Some((names, branch)) = by_use.pop_lru() else { return };
            // Dropping a large state may take long, so the lock is released first.
            if Arc::strong_count(&branch) == 1 {
                drop(by_use);
                continue;
            }
            // A branch in use stays, with what its streams watch.
            by_use.put(names, Arc::clone(&branch));
            drop(by_use);
            branch.make_room();
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<OpenBranch>> {
        // What is done with the branches may take long, so the lock is not held for it.
        lock(&self.by_use).iter().map(|(_, branch)| Arc::clone(branch)).collect()
    }

    pub(crate) fn in_use(&self, match_name: &MatchName, branch: &BranchName) -> Option<Arc<OpenBranch>> {
        let found = lock(&self.by_use).get(&(match_name.clone(), branch.clone())).cloned();
        self.make_room();
        found
    }

    fn opened(&self, names: &BranchNames, head: BranchHead) -> Arc<OpenBranch> {
        Arc::new(OpenBranch::new(names.clone(), head, &self.memory))
    }

    pub(crate) fn ask(&self, app: &App, names: &BranchNames) -> ApiResult<Arc<OpenBranch>> {
        loop {
            let known = lock(&self.by_use).peek(names).cloned();
            let head = known.as_ref().map_or(0, |known| known.known_head());
            // FL-18: the store knows which branch has the names now, and its head.
            let found = match app.store.branch_head(&names.0, &names.1) {
                found @ (Ok(_) | Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. })) => {
                    found
                }
                Err(error) => return Err(error.into()),
            };
            let mut by_use = lock(&self.by_use);
            let open = by_use.get(names).cloned();
            if open.as_ref().map(Arc::as_ptr) != known.as_ref().map(Arc::as_ptr) {
                // Another request opened or ended the branch in the meantime, so the answer here may be older.
                continue;
            }
            // In a restored database, the branch may have fewer entries. Then the open branch has another history, and
            // is replaced.
            if let (Some(open), Ok(found)) = (&open, &found)
                && found.id == open.id
                && found.seq >= head
            {
                drop(by_use);
                open.announce(found.seq);
                return Ok(Arc::clone(open));
            }
            by_use.pop(names);
            let new = found.map(|found| self.opened(names, found));
            if let Ok(new) = &new {
                by_use.put(names.clone(), Arc::clone(new));
            }
            drop(by_use);
            if let Some(open) = open {
                open.end();
            }
            return Ok(new?);
        }
    }

    /// Updates the head of a branch, if it is in memory, after something else than its own commands was appended.
    pub(crate) fn hear(&self, app: &App, names: &BranchNames) -> ApiResult<()> {
        let is_there = lock(&self.by_use).contains(names);
        if is_there {
            // The branch may have become a mail match.
            self.ask(app, names)?.note_judging(Duration::MAX);
        }
        Ok(())
    }

    pub(crate) fn forget(&self, branch: &OpenBranch) {
        let names = (branch.revision.match_name.clone(), branch.revision.branch.clone());
        let mut by_use = lock(&self.by_use);
        if by_use.peek(&names).is_some_and(|there| there.id == branch.id) {
            by_use.pop(&names);
        }
        drop(by_use);
        branch.end();
    }
}

impl App {
    pub(crate) fn branch(&self, match_name: &MatchName, branch: &BranchName) -> ApiResult<Arc<OpenBranch>> {
        let names = (match_name.clone(), branch.clone());
        let found = if self.store.is_shared() {
            self.branches.ask(self, &names)?
        } else {
            // If the branch is deleted now, the deletion waits for the lock, then removes and ends the open branch.
            let mut by_use = lock(&self.branches.by_use);
            let open = by_use.try_get_or_insert_with_key(names, |names| {
                let head = self.store.branch_head(match_name, branch)?;
                Ok::<_, StoreError>(self.branches.opened(names, head))
            })?;
            Arc::clone(open)
        };
        self.branches.make_room();
        Ok(found)
    }

    pub(crate) async fn find_branch(
        self: &Arc<Self>,
        match_name: MatchName,
        branch: BranchName,
    ) -> ApiResult<Arc<OpenBranch>> {
        match self.branches.in_use(&match_name, &branch) {
            Some(branch) => Ok(branch),
            None => self.block(move |app| app.branch(&match_name, &branch)).await,
        }
    }
}

/// The memory of an open branch without states: its names, locks, watches and its place in the cache.
pub(crate) const BRANCH_BYTES: u64 = 3_072;

/// The memory of a state: `STATE_BYTES`, and `STATE_TIMES` times its encoded bytes.
const STATE_BYTES: u64 = 1_024;
const STATE_TIMES: u64 = 4;

pub(crate) fn state_memory(bytes: u64) -> u64 {
    bytes.saturating_mul(STATE_TIMES).saturating_add(STATE_BYTES)
}

#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<AtomicU64>);

impl Memory {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn share(&self, bytes: u64) -> MemoryShare {
        // SV-27: all open branches count against one limit.
        self.0.fetch_add(bytes, Ordering::Relaxed);
        MemoryShare { bytes, memory: self.clone() }
    }
}

pub(crate) struct MemoryShare {
    pub(crate) bytes: u64,
    pub(crate) memory: Memory,
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.memory.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
