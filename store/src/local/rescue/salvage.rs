//! Salvage: a new store of all that still verifies in a damaged one, and a list of what does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use super::damaged::{self, Damaged};
use super::lenient::scan_leniently;
use super::lost::LostEntries;
use super::marks::Marks;
use super::nameless;
use super::new_store::{self, NewStore};
use super::plan::{MatchPlan, Named, plan_match};
use crate::backup::error::RescueError;
use crate::backup::part::{MatchPart, Part, Totals};
use crate::backup::rebuild::Rebuild;
use crate::engine::Engine;
#[cfg(doc)]
use crate::error::StoreError;
use crate::local::backend::Backend;
use crate::local::layout::key;
use crate::local::reader::found::match_name_in;
use crate::local::reader::records::Records;
use crate::local::writer::open::in_memory;
use crate::names::MatchName;
use crate::writer::store::Store;

/// What else may be wrong where records were looked for one by one.
const ONE_BY_ONE: &str = "its records were looked for one by one, so the newest entries of a branch may be missing \
                          without a sign, and deleted branches may be back";

/// How many names an error lists.
const NAMES_MAX: usize = 8;

/// What a salvage brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// What the new store holds.
    pub saved: Totals,
    /// What could not be saved; nothing, if all was.
    pub lost: Vec<LostEntries>,
}

impl Store {
    /// Makes a new store in `new_dir` of everything that still verifies in `dir`, and lists what does not.
    ///
    /// The damaged store is copied first and never opened itself. Of every branch all entries up to the first that is
    /// damaged are saved: what follows a gap proves nothing. Rules are not asked. `observe` receives the progress.
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
            return Err(RescueError::NothingReadable { dir: dir.to_owned(), reason: salvage.reason() });
        }
        let Damaged { records, .. } = damaged;
        drop(records);
        new.publish()?;
        Ok(salvage)
    }

    /// Makes a new store in memory of everything that still verifies in a backend.
    ///
    /// # Errors
    /// As for [`salvage`](Store::salvage).
    #[doc(hidden)]
    pub fn salvage_in_memory(backend: Box<dyn Backend>) -> Result<(Self, Salvage), RescueError> {
        let marks = Marks::read(backend.watermark());
        let damaged = Damaged::of_records(Records::new(backend, None), marks);
        let store = in_memory();
        let salvage = Salvager::new(&damaged, &store).run(&mut |_| {})?;
        Ok((Self::of(store), salvage))
    }
}

impl Salvage {
    /// Says why nothing was saved, with the names of what there was.
    fn reason(&self) -> String {
        let mut reason = self.lost.first().map_or_else(String::new, |lost| lost.reason.clone());
        let names: BTreeSet<_> = self.lost.iter().filter_map(|lost| lost.match_name.as_ref()).collect();
        for (place, name) in names.iter().take(NAMES_MAX).enumerate() {
            let separator = if place == 0 { "; lost match" } else { "," };
            let _ = write!(reason, "{separator} `{name}`");
        }
        if let Some(more) = names.len().checked_sub(NAMES_MAX).filter(|more| *more > 0) {
            let _ = write!(reason, " and {more} more");
        }
        reason
    }
}

struct Salvager<'a> {
    damaged: &'a Damaged,
    rebuild: Rebuild<'a>,
    lost: Vec<LostEntries>,
    /// The ids of the matches and branches whose names are known.
    ids: BTreeSet<u64>,
}

impl<'a> Salvager<'a> {
    fn new(damaged: &'a Damaged, store: &'a dyn Engine) -> Self {
        let lost = damaged.marks.damage.iter().map(LostEntries::of_store).collect();
        Self { damaged, rebuild: Rebuild::new(store), lost, ids: BTreeSet::new() }
    }

    fn run(mut self, observe: &mut dyn FnMut(Totals)) -> Result<Salvage, RescueError> {
        let mut told = self.told();
        let mut found = 0;
        for (key, value) in scan_leniently(&self.damaged.records, &key::all_matches()) {
            let Ok(name) = match_name_in(&key) else { continue };
            found += 1;
            let told = told.remove(&name).unwrap_or_default();
            self.save_match(name, (&key, &value), &told, observe)?;
        }
        let saved = self.rebuild.totals();
        self.rebuild.take(&Part::End(saved))?;
        for (match_name, branches) in told {
            for (branch, seq) in branches {
                self.lost.push(LostEntries {
                    match_name: Some(match_name.clone()),
                    branch: Some(branch),
                    from: (seq > 0).then_some(1),
                    to: (seq > 0).then_some(seq),
                    reason: "its match is gone".to_owned(),
                });
            }
        }
        self.lost.extend(nameless::find(self.damaged, &self.ids));
        self.compare_counts(found, saved);
        if !self.lost.is_empty()
            && let Some(reason) = &self.damaged.reason
        {
            self.lost.insert(0, LostEntries::of_store(format!("{reason}; {ONE_BY_ONE}")));
        }
        Ok(Salvage { saved, lost: self.lost })
    }

    /// Returns how far the branches of every match went, as far as WATERMARK and old records tell.
    fn told(&self) -> BTreeMap<MatchName, Named> {
        let mut told: BTreeMap<MatchName, Named> = BTreeMap::new();
        for (commit, place) in &self.damaged.places {
            let Some(place) = self.damaged.gone.follow(place.clone(), *commit) else { continue };
            let seq = told.entry(place.match_name).or_default().entry(place.branch).or_default();
            *seq = place.seq.max(*seq);
        }
        told
    }

    fn save_match(
        &mut self,
        name: MatchName,
        record: (&[u8], &[u8]),
        told: &Named,
        observe: &mut dyn FnMut(Totals),
    ) -> Result<(), RescueError> {
        let old = &self.damaged.records;
        let MatchPlan { id, genesis, branches, lost, ids } = plan_match(old, &name, record, told);
        self.lost.extend(lost);
        self.ids.extend(ids);
        self.ids.extend(id);
        let Some(genesis) = genesis else { return Ok(()) };
        let branch_count = branches.len() as u64;
        self.rebuild.take(&Part::Match(MatchPart { name, branches: branch_count, genesis: &genesis }))?;
        for branch in &branches {
            self.rebuild.take(&Part::Branch(branch.part.clone()))?;
            branch.read(old, &mut |part| self.rebuild.take(part).map(|_| ()))?;
            observe(self.rebuild.totals());
        }
        Ok(())
    }

    /// Compares what was found with what the store should hold according to its own record and its watermark.
    fn compare_counts(&mut self, found: u64, saved: Totals) {
        let record = match self.damaged.records.store_record() {
            Ok(record) => record,
            Err(error) => {
                let reason = format!("{}; what else is missing is not known", error.reason());
                self.lost.push(LostEntries::of_store(reason));
                return;
            }
        };
        let expected = record.matches;
        match expected.checked_sub(found) {
            Some(0) => {}
            Some(missing) => self.lose(format!("{missing} of {expected} matches are gone with their names")),
            None => self.lose(format!(
                "it should hold {expected} matches, so some of these {found} may be deleted ones"
            )),
        }
        let newest = self.damaged.marks.newest();
        if let Some(marked) = newest.filter(|marked| marked.commits > record.now.commits) {
            return self.lose(format!(
                "{} of {} commits are missing, with {} of {} entries",
                marked.commits.saturating_sub(record.now.commits),
                marked.commits,
                marked.entries.saturating_sub(record.now.entries),
                marked.entries
            ));
        }
        if newest.is_some_and(|marked| *marked != record.now && *marked != record.marked) {
            self.lose("the file `WATERMARK` belongs to another history".to_owned());
        }
        let (ever, known) = (record.now.entries, saved.entries.saturating_add(self.damaged.gone.entries()));
        match ever.checked_sub(known) {
            Some(0) => {}
            Some(missing) => {
                self.lose(format!("{missing} of {ever} entries are neither saved nor recorded as deleted"));
            }
            None => self.lose(format!(
                "{} entries more are there than were recorded; deleted ones may be back",
                known - ever
            )),
        }
    }

    fn lose(&mut self, reason: String) {
        self.lost.push(LostEntries::of_store(reason));
    }
}
