//! Keys of records.

use std::ops::Range;
use std::str::FromStr;

use turnfold_core::Digest;

use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::note::NoteId;

pub(crate) const STORE: &[u8] = b"s";

pub(crate) fn of_match(name: &MatchName) -> Vec<u8> {
    [b"m", name.as_str().as_bytes()].concat()
}

pub(crate) fn of_branch(match_id: u64, name: &BranchName) -> Vec<u8> {
    [b"b", &match_id.to_be_bytes()[..], name.as_str().as_bytes()].concat()
}

pub(crate) fn of_head(branch_id: u64) -> Vec<u8> {
    [b"h", &branch_id.to_be_bytes()[..]].concat()
}

pub(crate) fn of_idempotency(branch_id: u64, key: &IdempotencyKey) -> Vec<u8> {
    [b"k", &branch_id.to_be_bytes()[..], key.as_str().as_bytes()].concat()
}

pub(crate) fn of_page(branch_id: u64, first: u64) -> Vec<u8> {
    [b"p", &branch_id.to_be_bytes()[..], &first.to_be_bytes()].concat()
}

pub(crate) fn of_grant(hash: &Digest) -> Vec<u8> {
    [b"a", &hash.as_bytes()[..]].concat()
}

pub(crate) fn of_match_grant(match_id: u64, hash: &Digest) -> Vec<u8> {
    [b"i", &match_id.to_be_bytes()[..], hash.as_bytes()].concat()
}

pub(crate) fn of_note(match_id: u64, id: NoteId) -> Vec<u8> {
    [b"n", &match_id.to_be_bytes()[..], &id.number().to_be_bytes()].concat()
}

pub(crate) fn notes_of(match_id: u64) -> Range<Vec<u8>> {
    within(b'n', match_id)
}

pub(crate) fn all_grants() -> Range<Vec<u8>> {
    b"a".to_vec()..b"b".to_vec()
}

pub(crate) fn all_matches() -> Range<Vec<u8>> {
    b"m".to_vec()..b"n".to_vec()
}

pub(crate) fn branches_of(match_id: u64) -> Range<Vec<u8>> {
    within(b'b', match_id)
}

pub(crate) fn grants_of(match_id: u64) -> Range<Vec<u8>> {
    within(b'i', match_id)
}

pub(crate) fn idempotency_of(branch_id: u64) -> Range<Vec<u8>> {
    within(b'k', branch_id)
}

pub(crate) fn pages_of(branch_id: u64) -> Range<Vec<u8>> {
    within(b'p', branch_id)
}

pub(crate) fn name_after<T: FromStr>(key: &[u8], prefix: usize) -> Option<T> {
    std::str::from_utf8(key.get(prefix..)?).ok()?.parse().ok()
}

pub(crate) fn hash_after(key: &[u8], prefix: usize) -> Option<Digest> {
    let hash = key.get(prefix..)?.try_into().ok()?;
    Some(Digest::new(hash))
}

pub(crate) const MATCH_PREFIX: usize = 1;

pub(crate) const GRANT_PREFIX: usize = 1;

/// The length of table and id: what precedes the name in keys of branches and idempotency keys, and the hash in keys of
/// a match's grants.
pub(crate) const ID_PREFIX: usize = 9;

pub(crate) fn id_of(key: &[u8]) -> Option<u64> {
    let id = key.get(1..ID_PREFIX)?.try_into().ok()?;
    Some(u64::from_be_bytes(id))
}

pub(crate) fn seq_of(key: &[u8]) -> Option<u64> {
    let seq = key.get(ID_PREFIX..)?.try_into().ok()?;
    Some(u64::from_be_bytes(seq))
}

fn within(table: u8, id: u64) -> Range<Vec<u8>> {
    let from = [&[table], &id.to_be_bytes()[..]].concat();
    // The range ends at the next id, or at the next table after the highest id.
    let until = match id.checked_add(1) {
        Some(next) => [&[table], &next.to_be_bytes()[..]].concat(),
        None => vec![table + 1],
    };
    from..until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_their_numbers_do_and_stay_in_their_range() {
        let seqs = [0, 1, 255, 256, u64::MAX];
        for id in [0, 7, u64::MAX] {
            let keys: Vec<_> = seqs.iter().map(|&seq| of_page(id, seq)).collect();
            assert!(keys.is_sorted());
            assert!(keys.iter().all(|key| pages_of(id).contains(key)));
            assert!(!pages_of(id).contains(&of_head(id)));
            assert_eq!(keys.iter().map(|key| seq_of(key).unwrap()).collect::<Vec<_>>(), seqs);
        }
        assert_eq!(seq_of(b"t123"), None);
    }
}
