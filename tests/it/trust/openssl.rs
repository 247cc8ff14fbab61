//! OpenSSL on the bare signature of a checkpoint: no note, no tree, only Ed25519 over the text (TR-6).

use std::process::Command;

use turnfold_core::trust::VerifierKey;

use super::from_base64;
use super::world::{duel, key};
use turnfold_tests::sandbox::Sandbox;

/// What stands before the bytes of an Ed25519 key in DER: public (RFC 8410, section 4) and private (section 7).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PRIVATE: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Whether OpenSSL is here and signs what is not hashed before: from version 3 on.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_there() -> bool {
    let help = Command::new("openssl").args(["pkeyutl", "-help"]).output();
    let is_there = help
        .is_ok_and(|output| [output.stdout, output.stderr].concat().windows(6).any(|word| word == b"-rawin"));
    if !is_there {
        eprintln!("SKIPPED: there is no `openssl pkeyutl -rawin`");
    }
    is_there
}

fn openssl(sandbox: &Sandbox, line: &str) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.arg("pkeyutl").args(line.split(' ')).current_dir(sandbox.path("."));
    openssl.output().unwrap().status.success()
}

#[test]
fn tr_6_openssl_verifies_the_bare_signature_of_a_checkpoint_and_makes_the_same() {
    if !is_there() {
        return;
    }
    let sandbox = duel();
    let note = sandbox.ok("sign duel --key ann.key");
    let (text, line) = note.split_once("\n\n").unwrap();
    let text = format!("{text}\n");
    let signature = from_base64(line.trim_end().rsplit_once(' ').unwrap().1);
    let vkey = sandbox.ok("key show ann.key duel");
    let public = from_base64(vkey.trim_end().splitn(3, '+').last().unwrap());
    assert_eq!((signature.len(), public.len()), (4 + 64, 1 + 32));
    let id = vkey.trim_end().parse::<VerifierKey>().unwrap().id();
    assert_eq!(signature[..4], id.as_bytes()[..]);
    sandbox.write("text", &text);
    sandbox.write("signature", &signature[4..]);
    sandbox.write("public.der", [&PUBLIC, &public[1..]].concat());
    let verify = "-verify -rawin -pubin -keyform DER -inkey public.der -sigfile signature -in";
    assert!(openssl(&sandbox, &format!("{verify} text")));
    sandbox.write("changed", text.replacen("\n5\n", "\n6\n", 1));
    assert_ne!(sandbox.read("changed"), text);
    assert!(!openssl(&sandbox, &format!("{verify} changed")));
    // OpenSSL signs the text with the seed of the key file.
    let file = key(&sandbox, "ann.key").to_file();
    let private = from_base64(file.trim_end().splitn(5, '+').last().unwrap());
    sandbox.write("private.der", [&PRIVATE, &private[1..]].concat());
    assert!(openssl(&sandbox, "-sign -rawin -keyform DER -inkey private.der -in text -out theirs"));
    assert_eq!(std::fs::read(sandbox.path("theirs")).unwrap(), signature[4..]);
}
