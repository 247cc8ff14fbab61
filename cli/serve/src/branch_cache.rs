//! The branches in use, each with its state in memory (SV-27).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turnfold_replay::Revision;
use turnfold_store::{BranchHead, BranchName, MatchName, StoreError};

use crate::auth::Viewpoint;
use crate::metrics::Held;
use crate::open_branch::OpenBranch;
use crate::problem::ApiResult;
use crate::world::World;

/// A match's name and a branch's.
pub(crate) type Names = (MatchName, BranchName);

/// The branches in use. Least recently used ones go when their states take too much memory.
pub(crate) struct BranchCache {
    bytes_max: u64,
    clock: AtomicU64,
    by_name: Mutex<BTreeMap<Names, Arc<OpenBranch>>>,
}

impl BranchCache {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { bytes_max, clock: AtomicU64::new(0), by_name: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Names, Arc<OpenBranch>>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how much there is in memory.
    pub(crate) fn held(&self) -> Held {
        let tables = self.lock();
        Held { tables: tables.len() as u64, bytes: tables.values().map(|table| table.bytes()).sum() }
    }

    /// Makes room for what was loaded last: of branches that nobody waits for or watches nothing stays, of others what
    /// is watched.
    fn make_room(&self) {
        let mut tables = self.lock();
        let mut bytes: u64 = tables.values().map(|table| table.bytes()).sum();
        if bytes <= self.bytes_max {
            return;
        }
        let mut by_use: Vec<_> = tables.iter().map(|(names, table)| (table.used(), names.clone())).collect();
        by_use.sort();
        for (_, names) in by_use {
            let Some(table) = tables.get(&names).filter(|_| bytes > self.bytes_max) else { break };
            bytes -= table.bytes();
            if Arc::strong_count(table) == 1 {
                tables.remove(&names);
            } else if !table.is_awaited() {
                table.forget_if_idle();
            }
        }
    }

    /// Returns the tables that somebody follows.
    pub(crate) fn followed(&self) -> Vec<Arc<OpenBranch>> {
        self.lock().values().filter(|table| table.is_followed()).cloned().collect()
    }

    /// Returns the table of a branch that a viewer may know of, if its state is in memory.
    pub(crate) fn in_memory(
        &self,
        view: Viewpoint,
        match_name: &MatchName,
        branch: &BranchName,
    ) -> Option<Arc<OpenBranch>> {
        // What those who look late may know of is read from the store.
        if view.delay_s > 0 {
            return None;
        }
        let names = (match_name.clone(), branch.clone());
        let table = self.lock().get(&names).filter(|table| table.bytes() > 0).cloned()?;
        table.use_at(self.tick());
        Some(table)
    }

    /// Returns the table of a branch that a viewer may know of.
    pub(crate) fn get(
        &self,
        world: &World,
        view: Viewpoint,
        match_name: &MatchName,
        branch: &BranchName,
    ) -> ApiResult<Arc<OpenBranch>> {
        let names = (match_name.clone(), branch.clone());
        let found = self.lock().get(&names).cloned();
        if found.as_ref().is_none_or(|table| table.bytes() == 0) {
            self.make_room();
        }
        let table = match found {
            Some(table) if !world.store.is_shared() => table,
            None if !world.store.is_shared() => {
                let mut tables = self.lock();
                // Whoever deletes a branch takes its table out of the map afterwards, and says so to those who have it.
                let head = world.store.branch_head(match_name, branch)?;
                Arc::clone(tables.entry(names).or_insert_with_key(|names| self.made(names, head)))
            }
            _ => self.ask(world, &names)?,
        };
        table.use_at(self.tick());
        table.require_known(world, view)?;
        Ok(table)
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    fn made(&self, (match_name, branch): &Names, head: BranchHead) -> Arc<OpenBranch> {
        let line = Revision { match_name: match_name.clone(), branch: branch.clone(), seq: None };
        Arc::new(OpenBranch::new(line, head, self.tick()))
    }

    /// Asks the store which branch has a name now and where it ends, and returns its table, which knows of that (FL-18).
    /// The table of another branch that had the name before ends.
    pub(crate) fn ask(&self, world: &World, names: &Names) -> ApiResult<Arc<OpenBranch>> {
        loop {
            let began = self.tick();
            let asked = world.store.branch_head(&names.0, &names.1);
            let found = match asked {
                Ok(found) => Ok(found),
                Err(gone @ (StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. })) => Err(gone),
                Err(error) => return Err(error.into()),
            };
            let mut tables = self.lock();
            match tables.get(names) {
                Some(table) if found.as_ref().is_ok_and(|found| found.id == table.id()) => {
                    let table = Arc::clone(table);
                    drop(tables);
                    table.announce(found?.seq);
                    return Ok(table);
                }
                // Somebody asked and made it after we began to ask: what we were told may be older.
                Some(table) if table.made() > began => continue,
                _ => {}
            }
            let other = tables.remove(names);
            let table = found.map(|found| self.made(names, found));
            if let Ok(table) = &table {
                tables.insert(names.clone(), Arc::clone(table));
            }
            drop(tables);
            if let Some(other) = other {
                other.end();
            }
            return Ok(table?);
        }
    }

    /// Has the table of a branch, if there is one, know where it ends now, as others than its own commands wrote to it.
    pub(crate) fn hear(&self, world: &World, names: &Names) -> ApiResult<()> {
        let is_there = self.lock().contains_key(names);
        if is_there {
            // A line may have come to be one that is played by mail.
            self.ask(world, names)?.judge_with_care();
        }
        Ok(())
    }

    /// Forgets a branch that is deleted, and tells whoever watches it.
    pub(crate) fn forget(&self, table: &OpenBranch) {
        let names = (table.line().match_name.clone(), table.line().branch.clone());
        let mut tables = self.lock();
        if tables.get(&names).is_some_and(|there| there.id() == table.id()) {
            tables.remove(&names);
        }
        drop(tables);
        table.end();
    }
}
