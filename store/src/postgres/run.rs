//! Runs (FL-7): entries of one append, stored as one row.

use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use uuid::Uuid;

use super::held::Names;
use crate::chain::Linker;
use crate::entry::{PackedEntries, Seq, encode};
use crate::names::IdempotencyKey;
use crate::reader::branch::Head;

/// The maximum number of bytes of a run that has more than one entry.
const RUN_BYTES_MAX: usize = 8 << 20;

/// Consecutive entries of one append, stored in one row. Every byte of the row is covered by the chain or compared with
/// it (FL-9).
pub(super) struct Run {
    pub(super) first: Seq,
    pub(super) last: Seq,
    /// Only the first run of an append has the slot of its key.
    pub(super) slot: Option<i64>,
    pub(super) before: Digest,
    pub(super) link: Digest,
    pub(super) records: Vec<u8>,
}

impl Run {
    /// Packs the entries between two heads, without a key.
    fn of(begin: Head, end: Head, records: &Vec<Vec<u8>>) -> Self {
        let first = begin.seq + 1;
        Self {
            first,
            last: end.seq,
            slot: None,
            before: begin.link,
            link: end.link,
            records: encode(records),
        }
    }
}

pub(super) struct Runs {
    pub(super) names: Names,
    pub(super) branch: u64,
    pub(super) attempt: Uuid,
    /// The module to record for the match with these runs (MD-9).
    pub(super) module: Option<Digest>,
    /// The first entry of the run before these, if known.
    pub(super) after: Option<Seq>,
    pub(super) all: Vec<Run>,
}

pub(super) fn pack(
    head: Head,
    entries: &PackedEntries,
    key: Option<(&IdempotencyKey, i64)>,
    run_entries_max: usize,
) -> Vec<Run> {
    let mut linker = Linker::new();
    let (idempotency_key, slot) = key.unzip();
    let mut runs = Vec::new();
    let mut end = head;
    let mut begin = head;
    let mut bytes = 0;
    let mut records: Vec<Vec<u8>> = Vec::new();
    for entry in entries.iter() {
        let encoded = entry.number(end.seq + 1, idempotency_key).encode();
        if !records.is_empty() && (records.len() >= run_entries_max || bytes + encoded.len() > RUN_BYTES_MAX)
        {
            runs.push(Run::of(begin, end, &records));
            records.clear();
            begin = end;
            bytes = 0;
        }
        end = Head { seq: end.seq + 1, link: linker.link(&end.link, &encoded) };
        bytes += encoded.len();
        records.push(encoded);
    }
    if !records.is_empty() {
        runs.push(Run::of(begin, end, &records));
    }
    if let Some(first) = runs.first_mut() {
        first.slot = slot;
    }
    runs
}

/// Returns the first slot of an idempotency key (FL-6): the first 8 bytes of its SHA-256. If another key of the branch
/// has that slot, the next one is tried. A slot is never freed, so a search finds the key before it finds a free slot.
pub(super) fn first_slot(key: &IdempotencyKey) -> i64 {
    let hash = Sha256::digest(key.as_str());
    hash.iter().take(8).fold(0_u64, |slot, byte| slot << 8 | u64::from(*byte)).cast_signed()
}

pub(super) fn next_slot(slot: i64) -> i64 {
    slot.wrapping_add(1)
}

pub(super) fn end_of(runs: &[Run], head: Head) -> Head {
    runs.last().map_or(head, |run| Head { seq: run.last, link: run.link })
}
