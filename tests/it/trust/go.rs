//! Go's `golang.org/x/mod` reads what this project writes, if it is installed (Debian: `golang-go`,
//! `golang-golang-x-mod-dev`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::vectors::{ORIGIN, leaves, root, signed, signer};
use turnfold_core::trust::{ConsistencyRequest, InclusionProof, ProofBuilder, SignatureLine, SignedNote};
use turnfold_tests::parts::skipped;

/// The folder of Go libraries in Debian.
const LIBRARIES: &str = "/usr/share/gocode";

/// Returns the oracle, which is built once, or `None` without Go or `x/mod`.
fn oracle() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let library = Path::new(LIBRARIES).join("src/golang.org/x/mod/sumdb/note");
        let version = Command::new("go").arg("version").output();
        if !library.is_dir() || !version.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let dir = TempDir::new().unwrap();
        let oracle = dir.path().join("oracle");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/it/trust/go/oracle.go");
        let mut build = Command::new("go");
        build.args(["build", "-o"]).arg(&oracle).arg(source).current_dir(dir.path());
        build.env("GO111MODULE", "off").env("GOPATH", LIBRARIES).env("GOFLAGS", "");
        build.env("GOCACHE", dir.path().join("cache"));
        let output = build.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some((dir, oracle))
    });
    built.as_ref().map(|(_, oracle)| oracle.as_path())
}

/// Returns what Go reports about a file, or `None` without Go.
pub(super) fn ask(kind: &str, vkey: &str, file: &Path, more: &[&str]) -> Option<Result<(), String>> {
    let Some(oracle) = oracle() else {
        skipped("notes read by Go", format_args!("`go` with golang.org/x/mod in {LIBRARIES} is not here"));
        return None;
    };
    let output = Command::new(oracle).args([kind, vkey]).arg(file).args(more).output().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    Some(if output.status.success() && answer == "ok\n" { Ok(()) } else { Err(answer) })
}

/// Requires Go to accept a text, and to refuse it with one changed byte in the middle.
fn accepted(kind: &str, text: &str, more: &[&str]) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("file");
    let vkey = signer().verifier().for_origin(ORIGIN).to_string();
    std::fs::write(&file, text).unwrap();
    let Some(answer) = ask(kind, &vkey, &file, more) else { return };
    assert_eq!(answer, Ok(()), "{text}");
    let mut spoilt = text.as_bytes().to_vec();
    let middle = spoilt.len() / 2;
    spoilt[middle] ^= 1;
    std::fs::write(&file, spoilt).unwrap();
    assert!(ask(kind, &vkey, &file, more).unwrap().is_err(), "{text}");
}

#[test]
fn go_opens_our_notes_and_checks_our_proofs() {
    let line = SignatureLine::sign(&signer(), ORIGIN, signed(5).text());
    accepted("note", &SignedNote::new(signed(5).text().into(), vec![line]).unwrap().to_string(), &[]);
    for size in [1, 2, 7, 64, 65] {
        let last = size - 1;
        let mut inclusion = ProofBuilder::inclusion(last, size).unwrap();
        leaves(size).for_each(|leaf| inclusion.push(leaf));
        let record = format!("leaf {last}").into_bytes();
        let proof = InclusionProof { record, index: last, hashes: inclusion.hashes(), note: signed(size) };
        accepted("inclusion", &proof.to_string(), &[]);
        for old in [1, size / 2 + 1, size] {
            let mut consistency = ProofBuilder::consistency(old, size).unwrap();
            leaves(size).for_each(|leaf| consistency.push(leaf));
            let request = ConsistencyRequest { old, hashes: consistency.hashes(), note: signed(size) };
            accepted("consistency", &request.to_string(), &[&root(old).to_string()]);
        }
    }
}
