//! Salvage: a new store of all that still verifies in a damaged one, and a list of what does not.

use std::path::Path;

use super::damaged::{self, Damaged};
use super::error::RescueError;
use super::new_store::{self, NewStore};
use super::part::{MatchPart, Part, Totals};
use super::plan::{MatchPlan, plan_match};
use super::rebuild::Rebuild;
use crate::backend::{Backend, Place, Watermark};
use crate::entry::Seq;
#[cfg(doc)]
use crate::error::StoreError;
use crate::key;
use crate::matches::name_in;
use crate::names::{BranchName, MatchName};
use crate::open::{Shared, Store};

/// What a salvage brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// What the new store holds.
    pub saved: Totals,
    /// What could not be saved; nothing, if all was.
    pub lost: Vec<LostEntries>,
}

/// Something that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostEntries {
    /// The match; `None` when it is not known, or when this concerns the store as a whole.
    pub match_name: Option<MatchName>,
    /// The branch; `None` when it concerns the match as a whole.
    pub branch: Option<BranchName>,
    /// The first entry that is lost, where it is known.
    pub from: Option<Seq>,
    /// The last, as far as anything still tells.
    pub to: Option<Seq>,
    /// Why.
    pub reason: String,
}

impl Store {
    /// Makes a new store in `new_dir` of everything that still verifies in `dir`, and lists what does not.
    ///
    /// The damaged store is copied first and never opened itself. Of every branch all entries up to the first that is
    /// damaged are saved: what follows a gap proves nothing. Rules are not asked. `observe` is told how far it is.
    ///
    /// # Errors
    /// [`RescueError::NotEmpty`], [`RescueError::NothingReadable`], [`StoreError::Locked`], and those of reading and
    /// writing files.
    pub fn salvage(
        dir: &Path,
        new_dir: &Path,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<Salvage, RescueError> {
        let new = NewStore::at(new_dir)?;
        let damaged = damaged::open(dir, &new.scratch())?;
        let store = new_store::create(&new.draft())?;
        let salvage = Salvager::new(&damaged, &store).run(observe)?;
        store.close()?;
        if salvage.saved.matches == 0 && !salvage.lost.is_empty() {
            let reason = salvage.lost.first().map_or_else(String::new, |lost| lost.reason.clone());
            return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason });
        }
        let Damaged { shared, .. } = damaged;
        drop(shared);
        new.publish()?;
        Ok(salvage)
    }

    /// Makes a new store in memory of everything that still verifies in a backend.
    ///
    /// # Errors
    /// As for [`salvage`](Store::salvage).
    #[doc(hidden)]
    pub fn salvage_in_memory(backend: Box<dyn Backend>) -> Result<(Self, Salvage), RescueError> {
        let (marked, notes) = damaged::marked(backend.watermark());
        let damaged = Damaged { shared: Shared::new(backend), marked, notes };
        let store = Self::in_memory();
        let salvage = Salvager::new(&damaged, &store).run(&mut |_| {})?;
        Ok((store, salvage))
    }
}

impl LostEntries {
    /// Something that concerns the store as a whole.
    pub(super) fn of_store(reason: impl Into<String>) -> Self {
        Self { match_name: None, branch: None, from: None, to: None, reason: reason.into() }
    }
}

struct Salvager<'a> {
    old: &'a Shared,
    rebuild: Rebuild<'a>,
    marked: Option<&'a Watermark>,
    lost: Vec<LostEntries>,
}

impl<'a> Salvager<'a> {
    fn new(damaged: &'a Damaged, store: &'a Store) -> Self {
        let (marked, lost) = (damaged.marked.as_ref(), damaged.notes.clone());
        Self { old: &damaged.shared, rebuild: Rebuild::new(store), marked, lost }
    }

    fn run(&mut self, observe: &mut dyn FnMut(Totals)) -> Result<Salvage, RescueError> {
        let mut found = 0;
        let mut last_is_accounted_for = false;
        let last = self.marked.and_then(|marked| marked.last.clone());
        let records = damaged::scan_leniently(self.old, &key::all_matches());
        for (key, value) in records {
            let Ok(name) = name_in(&key) else { continue };
            found += 1;
            let last = last.as_ref().filter(|last| last.match_name == name);
            last_is_accounted_for |= last.is_some();
            let MatchPlan { genesis, branches, lost } = plan_match(self.old, &name, (&key, &value), last);
            self.lost.extend(lost);
            let Some(genesis) = genesis else { continue };
            let branch_count = branches.len() as u64;
            self.rebuild.take(&Part::Match(MatchPart { name, branches: branch_count, genesis: &genesis }))?;
            for branch in &branches {
                self.rebuild.take(&Part::Branch(branch.part.clone()))?;
                branch.read(self.old, &mut |part| self.rebuild.take(part).map(|_| ()))?;
                observe(self.rebuild.totals());
            }
        }
        let saved = self.rebuild.totals();
        self.rebuild.take(&Part::End(saved))?;
        self.compare_counts(found);
        if let Some(Place { match_name, branch, seq }) = last.filter(|_| !last_is_accounted_for) {
            self.lost.push(LostEntries {
                match_name: Some(match_name),
                branch: Some(branch),
                from: (seq > 0).then_some(1),
                to: (seq > 0).then_some(seq),
                reason: "its match is gone".to_owned(),
            });
        }
        Ok(Salvage { saved, lost: std::mem::take(&mut self.lost) })
    }

    /// Says what the store should have held according to its own record and its watermark.
    fn compare_counts(&mut self, found: u64) {
        let record = match self.old.read_store() {
            Ok(record) => record,
            Err(error) => {
                let reason = format!("{}; what else is missing is not known", damaged::reason_of(error));
                self.lost.push(LostEntries::of_store(reason));
                return;
            }
        };
        if let Some(missing) = record.matches.checked_sub(found).filter(|missing| *missing > 0) {
            self.lost.push(LostEntries::of_store(format!(
                "{missing} of {} matches are gone with their names",
                record.matches
            )));
        }
        let Some(marked) = self.marked.filter(|marked| marked.commits > record.now.commits) else { return };
        let reason = format!(
            "{} of {} commits are missing, with {} of {} entries",
            marked.commits.saturating_sub(record.now.commits),
            marked.commits,
            marked.entries.saturating_sub(record.now.entries),
            marked.entries
        );
        self.lost.push(LostEntries::of_store(reason));
    }
}
