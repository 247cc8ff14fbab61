//! Runs (FL-7): the entries of one append in a row, and the statement that inserts them.

use turnfold_core::Digest;

use crate::chain::Linker;
use crate::entry::{NewEntry, Seq, encode};
use crate::names::IdempotencyKey;
use crate::reader::found::Head;

macro_rules! insert {
    ($rows:literal) => {
        concat!(
            "INSERT INTO @run (match, branch, first, last, attempt, key, before, link, records) \
             SELECT n.match, n.branch, n.first, n.last, n.attempt, n.key, n.before, n.link, n.records FROM ",
            $rows,
            " AS n(match, branch, first, last, attempt, key, before, link, records, match_name, branch_name) \
             JOIN @match m ON m.id = n.match AND m.name = n.match_name \
             JOIN @branch b ON b.match = n.match AND b.no = n.branch AND b.name = n.branch_name \
             LEFT JOIN LATERAL (SELECT p.last, p.link FROM @run p WHERE p.match = n.match AND p.branch = n.branch \
             ORDER BY p.first DESC LIMIT 1) h ON true \
             WHERE coalesce(h.last, b.at) = n.first - 1 AND coalesce(h.link, b.before) = n.before \
             ORDER BY n.match, n.branch ON CONFLICT DO NOTHING RETURNING attempt"
        )
    };
}

/// FL-11: inserts runs, each where its branch ends under the name by which it was asked for. What comes back is durable.
pub(super) const INSERT: &str = insert!(
    "unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::uuid[], $6::text[], $7::bytea[], \
     $8::bytea[], $9::bytea[], $10::text[], $11::text[])"
);

/// The same for a run by itself, which costs the server a quarter less without arrays.
pub(super) const INSERT_ONE: &str = insert!(
    "(SELECT $1::uuid, $2::bigint, $3::bigint, $4::bigint, $5::uuid, $6::text, $7::bytea, $8::bytea, $9::bytea, \
     $10::text, $11::text)"
);

/// The most bytes of a run, unless it is of a single entry.
const RUN_BYTES_MAX: usize = 8 << 20;

/// Entries of one append that lie in one row, of which every byte is under the chain or compared with it (FL-9).
pub(super) struct Run {
    pub(super) first: Seq,
    pub(super) last: Seq,
    /// Only the first run of an append has its key.
    pub(super) key: Option<IdempotencyKey>,
    pub(super) before: Digest,
    pub(super) link: Digest,
    pub(super) records: Vec<u8>,
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
