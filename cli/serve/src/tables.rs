//! The branches in use, each with its state in memory (SV-27).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turnfold_replay::Revision;
use turnfold_store::{BranchName, MatchName};

use crate::auth::Viewpoint;
use crate::metrics::Held;
use crate::problem::Answer;
use crate::table::Table;
use crate::world::World;

type Names = (MatchName, BranchName);

/// The branches in use. Least recently used ones go when their states take too much memory.
pub(crate) struct Tables {
    bytes_max: u64,
    clock: AtomicU64,
    by_name: Mutex<BTreeMap<Names, Arc<Table>>>,
}

impl Tables {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { bytes_max, clock: AtomicU64::new(0), by_name: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Names, Arc<Table>>> {
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

    /// Returns the table of a branch that a viewer may know of, if its state is in memory.
    pub(crate) fn in_memory(
        &self,
        view: Viewpoint,
        match_name: &MatchName,
        branch: &BranchName,
    ) -> Option<Arc<Table>> {
        // What those who look late may know of is read from the store.
        if view.delay_s > 0 {
            return None;
        }
        let names = (match_name.clone(), branch.clone());
        let table = self.lock().get(&names).filter(|table| table.bytes() > 0).cloned()?;
        table.use_at(self.clock.fetch_add(1, Ordering::Relaxed));
        Some(table)
    }

    /// Returns the table of a branch that a viewer may know of.
    pub(crate) fn get(
        &self,
        world: &World,
        view: Viewpoint,
        match_name: &MatchName,
        branch: &BranchName,
    ) -> Answer<Arc<Table>> {
        let names = (match_name.clone(), branch.clone());
        let found = self.lock().get(&names).cloned();
        if found.as_ref().is_none_or(|table| table.bytes() == 0) {
            self.make_room();
        }
        let table = if let Some(table) = found {
            table
        } else {
            let mut tables = self.lock();
            // Whoever deletes a branch takes its table out of the map afterwards, and says so to those who have it.
            let head = world.store.head(match_name, branch)?;
            let line = Revision { match_name: match_name.clone(), branch: branch.clone(), seq: None };
            Arc::clone(tables.entry(names).or_insert_with(|| Arc::new(Table::new(line, head))))
        };
        table.use_at(self.clock.fetch_add(1, Ordering::Relaxed));
        table.require_known(world, view)?;
        Ok(table)
    }

    /// Forgets a branch that is deleted, and tells whoever watches it.
    pub(crate) fn forget(&self, table: &Table) {
        self.lock().remove(&(table.line().match_name.clone(), table.line().branch.clone()));
        table.end();
    }
}
