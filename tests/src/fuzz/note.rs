//! Notes, proofs, keys and policies: a value that was read is written back unchanged, and a refusal is one line.

use std::fmt::Display;
use std::str::FromStr;

use turnfold_core::Malformed;
use turnfold_core::trust::proof::note_within;
use turnfold_core::trust::{
    Checkpoint, ConsistencyRequest, InclusionProof, KeyKind, PrivateKey, SignatureLine, SignedNote,
    TrustPolicy, VerifierKey,
};

use super::check_message;

/// Returns a signed and cosigned checkpoint, a proof, a request, keys and a policy.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let key = |name: &str, kind, seed| PrivateKey::of_seed(name.parse().unwrap(), kind, &[seed; 32]);
    let (signer, witness) =
        (key("games.example/ann", KeyKind::Signer, 1), key("w.example", KeyKind::Witness, 2));
    let origin = "games.example/ann/5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f/main";
    let root = turnfold_core::trust::TreeHash::of_record(b"record");
    let text = Checkpoint { origin: origin.into(), size: 1, root }.to_string();
    let lines = vec![SignatureLine::sign(&signer, origin, &text), SignatureLine::cosign(&witness, &text, 5)];
    let note = SignedNote::new(text, lines).unwrap();
    let hashes = vec![root; 3];
    let request = ConsistencyRequest { old: 1, hashes: hashes.clone(), note: note.clone() };
    let proof = InclusionProof { record: b"record".to_vec(), index: 0, hashes, note: note.clone() };
    let (log, vkey) = (signer.verifier(), witness.verifier());
    let policy = format!("# a comment\nlog {log}\nwitness w {vkey}\ngroup g any w\nquorum g\n");
    let seeds =
        [note.to_string(), request.to_string(), proof.to_string(), policy, log.to_string(), signer.to_file()];
    seeds.into_iter().map(String::into_bytes).collect()
}

/// Reads the bytes as every format that is signed or signs.
pub fn note(bytes: &[u8]) {
    written_as_read(bytes, SignedNote::read(bytes));
    written_as_read(bytes, InclusionProof::read(bytes));
    written_as_read(bytes, ConsistencyRequest::read(bytes));
    if let Ok((note, proof)) = note_within(bytes) {
        let checkpoint = note.text().parse::<Checkpoint>();
        written_as_read(note.text().as_bytes(), checkpoint);
        if let Some(Err(error)) = proof.map(|proof| proof.checkpoint()) {
            check_message(&error.to_string());
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    parsed::<VerifierKey>(text);
    parsed::<SignatureLine>(text);
    if let Ok(key) = PrivateKey::read(text) {
        assert_eq!(key.to_file(), text, "a key is written as it was read");
    }
    if let Err(error) = TrustPolicy::read(text) {
        check_message(&error.to_string());
    }
}

fn parsed<T: Display + FromStr<Err = Malformed>>(text: &str) {
    written_as_read(text.as_bytes(), text.parse::<T>());
}

fn written_as_read(bytes: &[u8], read: Result<impl Display, Malformed>) {
    match read {
        Ok(value) => assert_eq!(value.to_string().as_bytes(), bytes, "it is written as it was read"),
        Err(error) => check_message(&error.to_string()),
    }
}
