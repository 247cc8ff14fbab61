//! Compaction: the same store in fewer bytes.

use std::path::Path;

use super::new_store::{self, settle, wait_until_released};
use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::backup::rebuild::Rebuild;
use crate::backup::walk::walk;
use crate::error::StoreError;
use crate::local::dir::{format, swap};
use crate::local::layout::key;
use crate::local::reader::records::Records;
use crate::local::writer::branch_state::BranchState;
use crate::local::writer::engine::Local;
use crate::local::writer::open::{open_disk, require_clock};
use crate::writer::store::Store;

/// The most changes that are written without a flush.
const CHANGES_MAX: usize = 4096;

/// What a compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// What the store holds.
    pub totals: Totals,
    /// The bytes of its files before.
    pub bytes_before: u64,
    /// The bytes of its files now.
    pub bytes_after: u64,
}

impl Store {
    /// Writes a store anew, all entries on pages and nothing that is unreachable, and puts it in the place of the old
    /// one. Nothing else about it changes.
    ///
    /// It needs room for both. Where that brings nothing, the old store stays. After a crash the old or the new is
    /// there. `observe` receives the progress.
    ///
    /// # Errors
    /// Those of opening; what reading says of damage, after which the store is as it was; those of writing.
    pub fn compact(dir: &Path, observe: &mut dyn FnMut(Totals)) -> Result<Compacted, RescueError> {
        require_clock()?;
        let lock = format::hold_existing(dir)?;
        // The second handle keeps the directory locked while neither store is open.
        let still_locked = lock.try_clone().map_err(|source| RescueError::io("lock", dir, source))?;
        let old = Local::start(Box::new(open_disk(dir, lock)?), None)?;
        let draft = swap::draft(dir);
        let built = build(&old, &draft, observe);
        let totals = built.and_then(|totals| {
            old.close()?;
            wait_until_released(dir)?;
            let bytes_draft = Self::bytes_on_disk(&draft)?;
            Ok((totals, bytes_draft, Self::bytes_on_disk(dir)?.saturating_sub(bytes_draft)))
        });
        let (totals, bytes_draft, bytes_before) = totals.inspect_err(|_| {
            // The next to open the store would do it too.
            let _ = std::fs::remove_dir_all(&draft);
        })?;
        if bytes_draft >= bytes_before {
            // sled needs some room of its own for what it writes, so a dense store would only grow.
            std::fs::remove_dir_all(&draft).map_err(|source| RescueError::io("remove", &draft, source))?;
            return Ok(Compacted { totals, bytes_before, bytes_after: bytes_before });
        }
        swap::replace(dir).map_err(|source| RescueError::io("replace the records of", dir, source))?;
        let bytes_after = Self::bytes_on_disk(dir)?;
        drop(still_locked);
        Ok(Compacted { totals, bytes_before, bytes_after })
    }
}

/// Closes a store with all entries on pages, also where those are not full.
fn close_sealed(mut store: Local) -> Result<(), StoreError> {
    store.stop()?;
    seal_all(store.records())?;
    store.close()
}

fn build(old: &Local, draft: &Path, observe: &mut dyn FnMut(Totals)) -> Result<Totals, RescueError> {
    let new = new_store::create(draft)?;
    let mut rebuild = Rebuild::new(&new);
    walk(old.records(), &mut |part| {
        rebuild.take(part)?;
        observe(rebuild.totals());
        Ok(())
    })?;
    let totals = rebuild.totals();
    // They are no part of what a store is rebuilt of otherwise: who restores or salvages one invites anew.
    for found in old.records().found_matches(None)? {
        let of = found?;
        let grants = old.records().grants(&of)?;
        if !grants.is_empty() {
            new.keep_grants(&of.name, grants)?;
        }
    }
    close_sealed(new)?;
    settle(draft)?;
    Ok(totals)
}

fn seal_all(records: &Records) -> Result<(), StoreError> {
    let mut changes = Vec::new();
    for found in records.found_matches(None)? {
        let (of, branches) = records.branches_of(&found?.name)?;
        for branch in branches {
            if records.backend.last(&key::tails_of(branch.id))?.is_none() {
                continue;
            }
            let line = records.line(&of, branch)?;
            changes.extend(BranchState::load(records, &line)?.seal_all());
            if changes.len() >= CHANGES_MAX {
                records.backend.write(&std::mem::take(&mut changes))?;
                records.backend.flush()?;
            }
        }
    }
    records.backend.write(&changes)?;
    Ok(())
}
