//! Trust: signatures and proofs of logs, tested with the vectors of the specification and with independent programs
//! (TR-1 to TR-30).

mod audits;
mod bundles;
mod go;
mod keys;
mod lines;
mod names;
mod nested;
mod notes;
mod offline_audit;
mod policy;
mod signing;
mod tampered_bundles;
mod trees;
mod vectors;
mod world;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn from_base64(text: &str) -> Vec<u8> {
    STANDARD.decode(text).unwrap()
}
