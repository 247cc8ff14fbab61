//! The contents of an index of a damaged store, and the sound commits of the journal behind them.

use std::path::Path;

use super::check::check;
use crate::local::backend::memory::MemoryBackend;
use crate::local::backend::{Backend, BackendError};
use crate::local::index::tree::IndexTree;
use crate::local::journal::commit::Salt;
use crate::local::journal::lenient::Remains;
use crate::local::layout::record::StoreRecord;
use crate::local::misfit::Misfit;
use crate::local::reader::records::Records;
use crate::local::replay::replay;
use crate::local::staging::Staging;

/// The sound records of an index, with the later sound commits replayed on top.
pub(crate) struct Indexed {
    pub(crate) records: Records,
    /// Whether all records of the index are sound, so that nothing up to its last commit is missing.
    pub(crate) is_sound: bool,
    pub(crate) misfits: Vec<(u64, Misfit)>,
}

impl Indexed {
    /// Reads an index, and the later commits of the journal if the journal has this salt.
    pub(crate) fn read(
        (tree, store): &(IndexTree, StoreRecord),
        journal: &Path,
        salt: &Salt,
    ) -> Result<Self, BackendError> {
        let memory = MemoryBackend::new();
        let (sound, is_all) = tree.sound_records();
        for (key, value) in sound {
            memory.tamper(&key, Some(value));
        }
        let records = Records::new(Box::new(memory.clone()), None);
        let is_sound = is_all && check(&records, &mut |_| {}).is_ok_and(|check| check.damage.is_empty());
        let mut found = Self { records, is_sound, misfits: Vec::new() };
        if let Some(remains) = Remains::find(journal).filter(|remains| remains.salt == *salt) {
            found.carry_on(remains, &memory, store.clone())?;
        }
        Ok(found)
    }

    /// Replays the sound commits that the index does not include.
    fn carry_on(
        &mut self,
        mut remains: Remains,
        memory: &MemoryBackend,
        mut store: StoreRecord,
    ) -> Result<(), BackendError> {
        let from = store.commits;
        remains.each_commit(&mut |point, _, body| {
            if point.number <= from {
                return Ok(());
            }
            let mut staging = Staging::over(memory, store.clone());
            replay(&mut staging, point, body, &mut |misfit| {
                self.misfits.push((point.number, misfit));
                Ok(())
            })?;
            let (changes, after) = staging.take_changes();
            store = after;
            memory.write(&changes)
        })
    }
}
