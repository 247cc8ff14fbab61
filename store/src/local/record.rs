//! Records: the bodies of the small tables, and the check that every value carries.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use turnfold_core::{Digest, Seat};

use crate::decode::decode_exactly;
use crate::entry::encode;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::local::backend::{BackendError, RecordChange};
use crate::local::journal::commit::{Point, Salt};
use crate::reader::branch::Parent;

const CHECK_BYTES: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreRecord {
    /// The salt of the journal that the records are made from.
    pub(crate) journal: Salt,
    /// The last commit that the records include.
    pub(crate) end: Point,
    pub(crate) entries: u64,
    pub(crate) matches: u64,
    pub(crate) next_id: u64,
}

impl StoreRecord {
    /// The record of a store without any commit. The salt is zero, because a store in memory has no journal.
    pub(crate) const EMPTY: Self = Self {
        journal: [0; 16],
        end: Point { number: 0, digest: Digest::new([0; 32]) },
        entries: 0,
        matches: 0,
        next_id: 1,
    };

    pub(crate) fn before(salt: &Salt) -> Self {
        Self { journal: *salt, end: Point::start(salt), ..Self::EMPTY }
    }

    /// Reads a value that a backend has proven.
    pub(crate) fn read(value: &[u8]) -> Result<Self, BackendError> {
        read_body("the store's own record", without_check(value))
    }
}

/// The record of a match. If a module is recorded, its digest follows as the last 32 bytes of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MatchRecord {
    pub(crate) id: u64,
    pub(crate) branches: u64,
    pub(crate) genesis: Vec<u8>,
    pub(crate) module: Option<Digest>,
}

/// The first fields of every match record's body. The field order is the format.
type MatchFront<'a> = (u64, u64, &'a [u8]);

impl MatchRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let front: MatchFront<'_> = (self.id, self.branches, &self.genesis);
        let mut body = encode(&front);
        if let Some(module) = &self.module {
            body.extend(module.as_bytes());
        }
        body
    }

    pub(crate) fn read(what: &str, body: &[u8]) -> Result<Self, BackendError> {
        let mut front = body;
        let mut module = None;
        if let Ok((_, rest)) = postcard::take_from_bytes::<MatchFront<'_>>(body)
            && let Ok(digest) = <[u8; 32]>::try_from(rest)
        {
            module = Some(Digest::new(digest));
            front = body.get(..body.len() - rest.len()).unwrap_or_default();
        }
        let (id, branches, genesis): MatchFront<'_> = read_body(what, front)?;
        Ok(Self { id, branches, genesis: genesis.to_vec(), module })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BranchRecord {
    pub(crate) id: u64,
    pub(crate) parent: Option<Parent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdempotencyRecord {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrantRecord {
    /// The id matters, because a later match may have the same name.
    pub(crate) match_id: u64,
    pub(crate) grant: Grant,
}

/// The record that lists a grant of a match: the player's seat that the grant is for; `None` for other roles.
pub(crate) type MatchGrantRecord = Option<Seat>;

pub(crate) fn with_check(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    let check = check(key, &body);
    body.extend_from_slice(&check);
    body
}

pub(crate) fn put(key: Vec<u8>, record: &impl Serialize) -> RecordChange {
    let value = with_check(&key, encode(record));
    RecordChange { key, value: Some(value) }
}

pub(crate) fn body_of<'a>(key: &[u8], value: &'a [u8]) -> Result<&'a [u8], String> {
    let split = value.len().checked_sub(CHECK_BYTES).and_then(|at| value.split_at_checked(at));
    match split {
        Some((body, found)) if found == check(key, body) => Ok(body),
        Some(_) => Err("its bytes do not match their check".to_owned()),
        None => Err(format!("it has only {} bytes", value.len())),
    }
}

/// Returns the body of a value that is proven otherwise.
pub(crate) fn without_check(value: &[u8]) -> &[u8] {
    value.len().checked_sub(CHECK_BYTES).and_then(|at| value.get(..at)).unwrap_or_default()
}

pub(crate) fn checked<'a>(what: &str, key: &[u8], value: &'a [u8]) -> Result<&'a [u8], StoreError> {
    body_of(key, value).map_err(|reason| StoreError::damaged(format!("{what}: {reason}")))
}

pub(crate) fn read<'a, T: Deserialize<'a> + Serialize>(
    what: &str,
    key: &[u8],
    value: &'a [u8],
) -> Result<T, StoreError> {
    Ok(read_body(what, checked(what, key, value)?)?)
}

pub(crate) fn read_body<'a, T: Deserialize<'a> + Serialize>(
    what: &str,
    body: &'a [u8],
) -> Result<T, BackendError> {
    decode_exactly(body).map_err(|error| BackendError::Damaged(format!("{what}: {error}")))
}

/// A hasher that has the key of checks and no input. It is cloned for each record, because deriving the key costs as much as
/// hashing a short one.
static KEYED_HASHER: LazyLock<blake3::Hasher> =
    LazyLock::new(|| blake3::Hasher::new_derive_key("turnfold v1 record"));

fn check(key: &[u8], body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut hasher = KEYED_HASHER.clone();
    hasher.update(key).update(body).update(&(key.len() as u64).to_le_bytes());
    let mut check = [0; CHECK_BYTES];
    hasher.finalize_xof().fill(&mut check);
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md_9_a_match_record_ends_with_a_module_only_where_one_is_recorded() {
        let plain = MatchRecord { id: 1, branches: 2, genesis: b"g".to_vec(), module: None };
        assert_eq!(plain.encode(), [1, 2, 1, b'g']);
        let played = MatchRecord { module: Some(Digest::new([7; 32])), ..plain.clone() };
        assert_eq!(played.encode(), [&plain.encode()[..], &[7; 32]].concat());
        for record in [plain, played] {
            assert_eq!(MatchRecord::read("it", &record.encode()).unwrap(), record);
            assert!(MatchRecord::read("it", &[record.encode(), vec![0]].concat()).is_err());
            assert!(MatchRecord::read("it", &record.encode()[..record.encode().len() - 1]).is_err());
        }
    }

    #[test]
    fn a_value_belongs_to_its_key_and_every_bit_counts() {
        let value = with_check(b"t1", b"body".to_vec());
        assert_eq!(body_of(b"t1", &value), Ok(&b"body"[..]));
        assert!(body_of(b"t2", &value).is_err());
        assert!(body_of(b"t", &with_check(b"t1", b"body".to_vec())).is_err());
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(body_of(b"t1", &flipped).is_err(), "bit {bit}");
        }
        for length in 0..value.len() {
            assert!(body_of(b"t1", &value[..length]).is_err(), "length {length}");
        }
    }
}
