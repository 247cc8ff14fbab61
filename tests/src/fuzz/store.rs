//! The bytes of a store: whatever replaces its records, the store gives an error or the truth.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use turnfold_store::Store;
use turnfold_store::backend::MemoryBackend;
use turnfold_store::backend::StoredRecord;

use super::sample;
use answers::Answers;

mod answers;

/// The maximum number of replaced records.
const CHANGES_MAX: usize = 8;

/// The length of the check at the end of a record's value.
const CHECK_BYTES: usize = 8;

/// The first byte of the body of a page.
const PAGE_VERSION: u8 = 1;

/// Changes records of a sound store as the bytes choose, and then makes every request.
pub fn store(bytes: &[u8]) {
    let mut choices = Unstructured::new(bytes);
    let backend = SAMPLE.backend.copy();
    // A changed record with a valid check is a forgery, not damage. The store may believe it, but it must do no harm.
    let forged = choices.ratio(1, 2).unwrap_or_default();
    for _ in 0..CHANGES_MAX {
        if choices.is_empty() || change(&mut choices, &backend, forged).is_err() {
            break;
        }
    }
    let answers = Answers::of(&backend);
    if forged {
        answers.check_errors();
        answers.check_numbers();
        return;
    }
    answers.check_truth(&SAMPLE.answers);
    let found = backend.records();
    let damaged = SAMPLE.records.iter().any(|record| found.binary_search(record).is_err());
    assert!(!(damaged && answers.are_good()), "damage goes unnoticed");
}

/// A store with everything in it, and its answers.
struct Sample {
    backend: MemoryBackend,
    records: Vec<StoredRecord>,
    answers: Answers,
}

static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
    let backend = sample::backend().unwrap();
    let (records, answers) = (backend.records(), Answers::of(&backend));
    assert!(answers.are_good(), "the store to be damaged is sound");
    Sample { backend, records, answers }
});

/// Replaces a record, removes it, or writes it under another key.
fn change(choices: &mut Unstructured<'_>, backend: &MemoryBackend, forged: bool) -> Result<()> {
    let (key, value) = choices.choose(&SAMPLE.records)?;
    let mut key = key.clone();
    let mut body = value.clone();
    if forged {
        body.truncate(value.len() - CHECK_BYTES);
    }
    match choices.int_in_range(0..=6)? {
        0 => {
            backend.tamper(&key, None);
            return Ok(());
        }
        1 => body.truncate(choices.choose_index(body.len())?),
        2 => {
            let place = choices.choose_index(body.len())?;
            body[place] = choices.arbitrary()?;
        }
        3 => {
            let place = choices.choose_index(body.len() + 1)?;
            body.splice(place..place, some_bytes(choices)?);
        }
        4 => body = some_bytes(choices)?,
        5 => key.clone_from(&choices.choose(&SAMPLE.records)?.0),
        _ => {
            let place = choices.choose_index(key.len())?;
            key[place] = choices.arbitrary()?;
        }
    }
    let value = if forged { sealed(&key, body) } else { body };
    backend.tamper(&key, Some(value));
    Ok(())
}

fn some_bytes(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = choices.int_in_range(0..=40)?;
    let length = choices.len().min(length);
    choices.bytes(length).map(<[u8]>::to_vec)
}

/// Reads the bytes as an entry or a Genesis in a store whose chain matches exactly these bytes.
pub fn entry(bytes: &[u8]) {
    match bytes.split_first() {
        Some((0..=127, rest)) => check_entry(rest),
        Some((_, rest)) => check_genesis(rest),
        None => {}
    }
}

fn check_entry(bytes: &[u8]) {
    let backend = SMALL.copy();
    let before = link("turnfold v1 genesis", &[&sample::genesis().encode()]);
    let after = link("turnfold v1 entry", &[&before, bytes]);
    replace(&backend, b'p', postcard::to_allocvec(&(PAGE_VERSION, after, [bytes].as_slice())).unwrap());
    replace(&backend, b'h', postcard::to_allocvec(&(1_u64, after)).unwrap());
    let answers = Answers::of(&backend);
    answers.check_errors();
    answers.check_numbers();
    let store = Store::with_backend(Box::new(backend)).unwrap();
    if let Ok(log) = store.read(&sample::name("n"), &turnfold_store::BranchName::main(), None) {
        let [entry] = log.entries.as_slice() else { panic!("{} entries", log.entries.len()) };
        let key = entry.idempotency_key.as_ref().map(turnfold_store::IdempotencyKey::as_str);
        let fields = (entry.seq, entry.seat, &entry.command, entry.recorded_at_ms, key);
        assert_eq!(postcard::to_allocvec(&fields).unwrap(), bytes, "an entry is encoded as it was decoded");
    }
}

fn check_genesis(bytes: &[u8]) {
    let backend = EMPTY.copy();
    let record = backend.records().into_iter().find(|(key, _)| key[0] == b'm').unwrap();
    let (id, branches, _): (u64, u64, &[u8]) = postcard::from_bytes(&record.1).unwrap();
    replace(&backend, b'm', postcard::to_allocvec(&(id, branches, bytes)).unwrap());
    let after = link("turnfold v1 genesis", &[bytes]);
    replace(&backend, b'h', postcard::to_allocvec(&(0_u64, after)).unwrap());
    let answers = Answers::of(&backend);
    answers.check_errors();
    answers.check_numbers();
    let store = Store::with_backend(Box::new(backend)).unwrap();
    if let Ok(genesis) = store.genesis(&sample::name("n")) {
        let again = genesis.encode();
        assert_eq!(again, bytes, "a Genesis is encoded as it was decoded");
        assert_eq!(genesis.link().as_bytes(), &after);
    }
}

/// A store with a match of one entry.
static SMALL: LazyLock<MemoryBackend> = LazyLock::new(|| sample::small_backend(1).unwrap());

/// A store with a match without entries.
static EMPTY: LazyLock<MemoryBackend> = LazyLock::new(|| sample::small_backend(0).unwrap());

/// Replaces the body of the only record in a table.
fn replace(backend: &MemoryBackend, table: u8, body: Vec<u8>) {
    let (key, _) = backend.records().into_iter().find(|(key, _)| key[0] == table).unwrap();
    let value = sealed(&key, body);
    backend.tamper(&key, Some(value));
}

/// Adds the check to a record's body, as `FORMAT.md` specifies.
fn sealed(key: &[u8], mut body: Vec<u8>) -> Vec<u8> {
    let check = link("turnfold v1 record", &[key, &body, &(key.len() as u64).to_le_bytes()]);
    body.extend_from_slice(&check[..CHECK_BYTES]);
    body
}

/// Hashes bytes in derive-key mode, as `FORMAT.md` specifies.
fn link(context: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns the bytes of an entry and of a Genesis, for [`entry`].
pub(super) fn entry_seeds() -> Vec<Vec<u8>> {
    let genesis = sample::genesis();
    let migrated = genesis.migrated(2, genesis.origin(0, genesis.link()), &[]);
    let records = SMALL.records();
    let (_, page) = records.iter().find(|(key, _)| key[0] == b'p').unwrap();
    let page = postcard::from_bytes(&page[..page.len() - CHECK_BYTES]);
    let (_, _, entries): (u8, [u8; 32], Vec<&[u8]>) = page.unwrap();
    let keyed = (1_u64, turnfold_core::Seat::Host, &[0, 4, 2, 2, 2, 2][..], 5_i64, Some("a-key"));
    let keyed = postcard::to_allocvec(&keyed).unwrap();
    vec![
        [&[0], entries[0]].concat(),
        [&[0], keyed.as_slice()].concat(),
        [&[255], genesis.encode().as_slice()].concat(),
        [&[255], migrated.encode().as_slice()].concat(),
    ]
}
