//! Backups: a changed stream is refused, and a stream with valid checks gives a sound store or none.

use turnfold_history::golden::{FindingKind, verify};
use turnfold_store::{Store, Totals};

use super::{check_message, sample};

const DAMAGED: u8 = 0;
const FORGED: u8 = 1;

const MAGIC: &[u8] = b"turnfold backup 2 plain\n";
const CHECK_BYTES: usize = 32;

/// Reads the bytes after the first as a backup, or as the bodies of its frames.
pub fn backup(bytes: &[u8]) {
    match bytes.split_first() {
        Some((&DAMAGED, stream)) => restore(stream),
        Some((_, bodies)) => restore(&framed(bodies)),
        None => {}
    }
}

/// Restores a store, which must be sound and always give the same backup.
fn restore(stream: &[u8]) {
    let store = match Store::restore_in_memory(stream) {
        Ok(store) => store,
        Err(error) => return check_message(&error.to_string()),
    };
    for found in store.matches().unwrap() {
        let findings = verify(&store, &found.name, Some(&turnfold_games::standard())).unwrap().findings;
        // The rules may refuse what a forged backup contains, but nothing of it may be damaged.
        let damage = findings.iter().find(|finding| finding.kind == FindingKind::Damaged);
        assert_eq!(damage, None, "a restored store is sound");
    }
    let (again, totals) = backup_of(&store);
    let restored = Store::restore_in_memory(again.as_slice()).unwrap();
    assert_eq!(backup_of(&restored), (again, totals), "a restored store gives the same backup");
}

fn backup_of(store: &Store) -> (Vec<u8>, Totals) {
    let mut stream = Vec::new();
    let totals = store.backup(&mut stream, false, &mut |_| {}).unwrap();
    (stream, totals)
}

/// Returns a stream with valid checks from bodies, each after its length in two bytes.
fn framed(mut bodies: &[u8]) -> Vec<u8> {
    let mut stream = MAGIC.to_vec();
    let mut check = check_after(&[0; CHECK_BYTES], MAGIC);
    while let Some((length, rest)) = bodies.split_first_chunk::<2>() {
        let length = rest.len().min(usize::from(u16::from_le_bytes(*length)));
        let (body, rest) = rest.split_at(length);
        check = check_after(&check, body);
        stream.extend_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
        stream.extend_from_slice(body);
        stream.extend_from_slice(&check);
        bodies = rest;
    }
    stream
}

/// Returns a frame's check, as `FORMAT.md` specifies.
fn check_after(before: &[u8; CHECK_BYTES], body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 backup");
    hasher.update(before).update(&(body.len() as u64).to_le_bytes()).update(body);
    hasher.finalize().into()
}

/// Extracts the bodies of a stream in the form that [`framed`] takes.
fn bodies(stream: &[u8]) -> Vec<u8> {
    let mut bodies = Vec::new();
    let mut rest = &stream[MAGIC.len()..];
    while let Some((length, following)) = rest.split_first_chunk::<4>() {
        let length = u16::try_from(u32::from_le_bytes(*length)).unwrap();
        let (body, following) = following.split_at(usize::from(length));
        bodies.extend_from_slice(&length.to_le_bytes());
        bodies.extend_from_slice(body);
        rest = &following[CHECK_BYTES..];
    }
    bodies
}

/// Returns backups of small stores, as streams and as bodies.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for sample in [sample::small_backend(1), sample::backend()] {
        let store = Store::with_backend(Box::new(sample.unwrap())).unwrap();
        let mut compressed = Vec::new();
        store.backup(&mut compressed, true, &mut |_| {}).unwrap();
        let (plain, _) = backup_of(&store);
        assert_eq!(framed(&bodies(&plain)), plain, "frames are as `FORMAT.md` specifies");
        let parts = [(FORGED, bodies(&plain)), (DAMAGED, plain), (DAMAGED, compressed)];
        seeds.extend(parts.map(|(kind, bytes)| [&[kind], bytes.as_slice()].concat()));
    }
    seeds
}
