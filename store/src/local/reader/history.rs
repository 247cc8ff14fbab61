//! History: what the records say of themselves, held against the watermark.

use super::found::find_store_record;
use super::records::Records;
use crate::error::StoreError;
use crate::local::backend::{Backend, Watermark};
use crate::local::layout::record::StoreRecord;
use crate::snapshots::Snapshots;

/// Requires what a backend holds to be what its watermark saw; returns the store's own record too, with `marked` as it
/// is on disk.
pub(crate) fn checked(
    backend: Box<dyn Backend>,
    snapshots: Option<Snapshots>,
) -> Result<(Records, StoreRecord), StoreError> {
    let records = Records::new(backend, snapshots);
    let marked = records.backend.watermark()?;
    let record = find_store_record(records.backend.as_ref())?;
    check_history(record.as_ref(), marked.as_ref()).map_err(|error| locate_loss(&records, error))?;
    let (Some(record), Some(marked)) = (record, marked) else {
        return Err(StoreError::damaged("the store's own record is missing"));
    };
    Ok((records, StoreRecord { marked, ..record }))
}

/// Adds how much is left of the branch that was written to last.
fn locate_loss(records: &Records, mut error: StoreError) -> StoreError {
    if let StoreError::Lost { last: Some(last), held, .. } = &mut error {
        // What cannot be found there any more is lost as a whole.
        *held = records.find(&last.match_name, &last.branch).map_or(0, |line| line.head.seq);
    }
    error
}

/// Requires what sled holds to be what the watermark saw, or a continuation of it.
pub(crate) fn check_history(
    record: Option<&StoreRecord>,
    marked: Option<&Watermark>,
) -> Result<(), StoreError> {
    let Some(marked) = marked else {
        return Err(StoreError::damaged("the file `WATERMARK` is missing"));
    };
    let now = record.map_or(&Watermark::NOTHING, |record| &record.now);
    if now.commits < marked.commits {
        return Err(StoreError::Lost {
            expected_commits: marked.commits,
            found_commits: now.commits,
            expected_entries: marked.entries,
            found_entries: now.entries,
            last: marked.last.clone(),
            held: 0,
        });
    }
    if record.is_some_and(|record| *marked != record.now && *marked != record.marked) {
        return Err(StoreError::damaged("its watermark belongs to another history than its records"));
    }
    Ok(())
}
