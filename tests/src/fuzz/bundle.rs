//! Bundles: a bundle that was read is written back unchanged, and its audit has all rows, whatever the records are.

use std::fs;

use sha2::{Digest as _, Sha256};
use turnfold_core::Digest;
use turnfold_mail::audit::audit;
use turnfold_proof::audit::AuditQuestion;
use turnfold_proof::bundle::{BundleFile, BundleRecords, StoreRecords, write_bundle};
use turnfold_store::Store;

use super::{check_message, sample};

/// The text before the hash at the end of a bundle.
const END: &[u8] = b"-- end ";

/// Returns bundles of small stores.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let bundled = |backend| {
        let store = Store::with_backend(Box::new(backend)).unwrap();
        let mut bytes = Vec::new();
        let records = StoreRecords::of(&store, &[sample::name("n")]).unwrap();
        write_bundle(&mut bytes, &records, Vec::new()).unwrap();
        bytes
    };
    vec![bundled(sample::small_backend(3).unwrap()), bundled(sample::small_backend(0).unwrap())]
}

/// Corrects the last line, because otherwise only its hash would ever be tested.
fn with_fitting_end(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.windows(END.len()).rposition(|window| window == END);
    let Some(body) = end.and_then(|end| bytes.get(..end)) else { return bytes.to_vec() };
    let digest = Digest::new(Sha256::digest(body).into());
    [body, END, format!("{digest}\n").as_bytes()].concat()
}

/// Reads the bytes as a bundle.
pub fn bundle(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fuzzed.bundle");
    for bytes in [bytes.to_vec(), with_fitting_end(bytes)] {
        fs::write(&path, &bytes).unwrap();
        let bundle = match BundleFile::read(&path) {
            Ok(bundle) => bundle,
            Err(error) => {
                check_message(&error.to_string());
                continue;
            }
        };
        let mut written = Vec::new();
        write_bundle(&mut written, &bundle, bundle.outline().checkpoints.clone()).unwrap();
        assert_eq!(written, bytes, "a bundle is written as it was read");
        let question = AuditQuestion {
            policy: None,
            held: &[],
            registry: &turnfold_games::standard(),
            accepts_brought_rules: false,
        };
        let rows = audit(&bundle, question).unwrap();
        assert_eq!(rows.len(), 8);
        for row in rows {
            check_message(&row.reason);
        }
    }
}
