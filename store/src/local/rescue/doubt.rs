//! Doubt: a log of which it takes all records to tell whether any is missing.

use super::check::check;
use crate::error::StoreError;
use crate::local::reader::records::Records;

/// Requires every record to be there, if the backend found something that may be damage.
pub(crate) fn require_no_loss(records: &Records) -> Result<(), StoreError> {
    let Some(doubt) = records.backend.doubt() else { return Ok(()) };
    tracing::info!(%doubt, "or a process ended while it was being replaced: auditing all records");
    let found = check(records, &mut |_| ())?;
    if found.damage.is_empty() { Ok(()) } else { Err(doubt.into()) }
}
