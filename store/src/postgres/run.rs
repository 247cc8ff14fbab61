//! Runs (FL-7): the entries of one append in a row.

use turnfold_core::Digest;
use uuid::Uuid;

use super::held::Names;
use crate::chain::Linker;
use crate::entry::{NewEntry, Seq, encode};
use crate::names::IdempotencyKey;
use crate::reader::found::{Head, MatchId};

/// The most bytes of a run, unless it is of a single entry.
const RUN_BYTES_MAX: usize = 8 << 20;

/// Entries of one append that lie in one row; every byte of it is under the chain or compared with it (FL-9).
pub(super) struct Run {
    pub(super) first: Seq,
    pub(super) last: Seq,
    /// Only the first run of an append has its key.
    pub(super) key: Option<IdempotencyKey>,
    pub(super) before: Digest,
    pub(super) link: Digest,
    pub(super) records: Vec<u8>,
}

/// The runs of one append, and whose it is.
pub(super) struct Runs {
    pub(super) names: Names,
    pub(super) of: MatchId,
    pub(super) branch: u64,
    pub(super) attempt: Uuid,
    pub(super) all: Vec<Run>,
}

/// Numbers entries from a head on, chains them and packs them into runs.
pub(super) fn pack(
    head: Head,
    entries: &[NewEntry],
    idempotency_key: Option<&IdempotencyKey>,
    run_entries_max: usize,
) -> Vec<Run> {
    let linker = Linker::new();
    let (mut runs, mut end, mut begin, mut bytes) = (Vec::new(), head, head, 0);
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut close = |records: &mut Vec<Vec<u8>>, begin: Head, end: Head| {
        let key = idempotency_key.filter(|_| runs.is_empty()).cloned();
        let (first, last, before, link) = (begin.seq + 1, end.seq, begin.link, end.link);
        runs.push(Run { first, last, key, before, link, records: encode(records) });
        records.clear();
    };
    for entry in entries {
        let encoded = entry.clone().number(end.seq + 1, idempotency_key).encode();
        if !records.is_empty() && (records.len() >= run_entries_max || bytes + encoded.len() > RUN_BYTES_MAX)
        {
            close(&mut records, begin, end);
            (begin, bytes) = (end, 0);
        }
        end = Head { seq: end.seq + 1, link: linker.link(&end.link, &encoded) };
        bytes += encoded.len();
        records.push(encoded);
    }
    if !records.is_empty() {
        close(&mut records, begin, end);
    }
    runs
}

/// Returns the head after runs.
pub(super) fn end_of(runs: &[Run], head: Head) -> Head {
    runs.last().map_or(head, |run| Head { seq: run.last, link: run.link })
}
