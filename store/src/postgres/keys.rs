//! Idempotency keys (FL-6). The index has a number for each key; the entries have the key itself.

use std::ops::RangeInclusive;

use super::read::{Ask, ReadingEngine, column, get, number};
use super::run::{first_slot, next_slot};
use crate::entry::{COMMAND_BYTES_MAX, Entry, Seq};
use crate::error::StoreError;
use crate::names::IdempotencyKey;
use crate::reader::branch::Branch;

/// More bytes than the beginning of a run takes, up to the end of its first entry.
const FIRST_BYTES_MAX: i32 = 66_000;

const _: () = assert!(COMMAND_BYTES_MAX + 400 < FIRST_BYTES_MAX as usize, "a command, a key and numbers");

pub(super) enum Slot {
    /// The entries that were appended with the key.
    Taken(RangeInclusive<Seq>),
    /// No entries have the key; this slot is free for it.
    Free(i64),
}

impl<A: Ask> ReadingEngine<A> {
    /// Finds the entries of a key, or the slot that it can take. A run counts only if its first entry carries the key,
    /// because two keys can have the same hash.
    pub(super) fn find_slot(&self, branch: &Branch, key: &IdempotencyKey) -> Result<Slot, StoreError> {
        const KEYED: &str = "SELECT first, last, attempt, substr(records, 1, $3) FROM @run \
                             WHERE branch = $1 AND key = $2";
        const REST: &str = "SELECT last FROM @run WHERE branch = $1 AND first = $2 AND attempt = $3";
        let id = branch.found.id.cast_signed();
        let mut slot = first_slot(key);
        loop {
            let rows = self.0.rows(KEYED, &[&id, &slot, &FIRST_BYTES_MAX], None)?;
            let Some(row) = rows.first() else { return Ok(Slot::Free(slot)) };
            let first = number(row, 0)?;
            let mut last = number(row, 1)?;
            let attempt = get::<uuid::Uuid>(row, 2)?;
            let carried = first_key(get(row, 3)?).map_err(|error| branch.within(error.at(first)))?;
            if carried.as_ref() != Some(key) {
                slot = next_slot(slot);
                continue;
            }
            loop {
                let rest = self.0.rows(REST, &[&id, &column(last + 1), &attempt], None)?;
                let Some(row) = rest.first() else { return Ok(Slot::Taken(first..=last)) };
                last = number(row, 0)?;
            }
        }
    }
}

/// Returns the key that the first entry of a run carries. `records` is the beginning of the run: the number of entries,
/// then each entry after its length.
fn first_key(records: &[u8]) -> Result<Option<IdempotencyKey>, StoreError> {
    let reason = match postcard::take_from_bytes::<(u64, &[u8])>(records) {
        Ok(((_, first), _)) => match Entry::decode(first) {
            Ok(entry) => return Ok(entry.idempotency_key),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    };
    Err(StoreError::damaged(format!("its run: {reason}")))
}
