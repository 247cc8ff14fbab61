//! A key of the same seed with a longer name, which a host could use to get two histories signed and cosigned (TR-11,
//! TR-16, TR-17).

use std::fs;

use turnfold_core::trust::{KeyKind, PrivateKey};

use super::from_base64;
use super::world::{duel, expect, failing, files, refuses};
use turnfold_tests::sandbox::Sandbox;

/// Writes a key with the seed of `ann.key` and another name.
fn same_seed(sandbox: &Sandbox, file: &str, name: &str) -> PrivateKey {
    let line = sandbox.read("ann.key");
    let seed = from_base64(line.trim_end().splitn(5, '+').last().unwrap());
    let seed = <[u8; 32]>::try_from(&seed[1..]).unwrap();
    let key = PrivateKey::of_seed(name.parse().unwrap(), KeyKind::Signer, &seed);
    fs::copy(sandbox.path("ann.key"), sandbox.path(file)).unwrap();
    sandbox.write(file, key.to_file());
    key
}

/// Returns a sandbox with `duel` in the store and another history of `duel` in the store `other`. It has a witness
/// `w.key`, a policy that requires the witness, and the key `b.key` with a longer name.
fn two_histories() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("store backup old.backup");
    sandbox.ok("store restore old.backup other");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok(r#"--store other play duel "p2: confirm""#);
    let witness = sandbox.ok("key new w.key --name witness.example/w --witness");
    let log = sandbox.read("ann.vkey");
    sandbox.write("policy", format!("log {log}witness w {witness}quorum w\n"));
    same_seed(&sandbox, "b.key", "games.example/ann/b");
    sandbox
}

#[test]
fn tr_16_and_17_one_witness_does_not_cosign_two_histories_by_a_longer_name() {
    let sandbox = two_histories();
    let [ann, b] =
        ["ann.key", "b.key"].map(|file| sandbox.ok(&format!("key show {file}")).trim_end().to_owned());
    sandbox.ok("checkpoint sign duel@main --key ann.key --since 0 -o a.request");
    sandbox.ok("--store other checkpoint sign duel@main --key b.key --since 0 -o b.request");
    sandbox.ok("--store other checkpoint sign duel@main --key b.key --since 6 -o b-6.request");
    let cosignature = sandbox.ok(&format!("checkpoint cosign a.request --key w.key --log {ann}"));
    let memory = files(&sandbox, "w.key.seen");
    let refused = |request: &str, log: &str, why: &str| {
        refuses(&sandbox, 1, &format!("checkpoint cosign {request} --key w.key --log {log}"), why);
        assert_eq!(files(&sandbox, "w.key.seen"), memory, "what is refused changes nothing");
    };
    // TR-17: the policy's key is not valid for the longer name.
    refused("b.request", &ann, "does not stand for the log");
    // TR-16: under its own name, the request has another history of the same branch.
    refused("b.request", &b, "expected a proof from size 6 of `games.example/ann/");
    refused(
        "b-6.request",
        &b,
        "another history: the tree of size 6 does not continue the cosigned one of size 6 of `",
    );
    // The other history with a cosignature from elsewhere proves nothing.
    sandbox.write("cosignature", cosignature);
    sandbox.ok("checkpoint sign duel@main --key ann.key --add cosignature --policy policy");
    for branch in ["edge", "flank"] {
        sandbox.ok(&format!("checkpoint sign duel@{branch} --key ann.key --since 0 -o {branch}.request"));
        sandbox.write(
            branch,
            sandbox.ok(&format!("checkpoint cosign {branch}.request --key w.key --log {ann}")),
        );
        sandbox.ok(&format!("checkpoint sign duel@{branch} --key ann.key --add {branch} --policy policy"));
    }
    sandbox.ok("bundle duel --key ann.key -o a.bundle");
    sandbox.ok("--store other bundle duel --key b.key -o b.bundle");
    sandbox.ok("audit a.bundle --policy policy --require signature,cosignatures");
    let line = "b.bundle --policy policy --require signature,cosignatures";
    expect(&sandbox, line, "signature", "not_checked", "no signature of a key of the policy covers");
    expect(&sandbox, line, "cosignatures", "not_checked", "no signed checkpoint");
}

#[test]
fn tr_16_a_witness_goes_on_with_one_history_under_a_new_name() {
    let sandbox = two_histories();
    let [ann, b] =
        ["ann.key", "b.key"].map(|file| sandbox.ok(&format!("key show {file}")).trim_end().to_owned());
    sandbox.ok("checkpoint sign duel@main --key ann.key --since 0 -o a.request");
    sandbox.ok(&format!("checkpoint cosign a.request --key w.key --log {ann}"));
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("checkpoint sign duel@main --key b.key --since 6 -o b.request");
    sandbox.ok(&format!("checkpoint cosign b.request --key w.key --log {b}"));
    // The first name must continue from there, too.
    refuses(
        &sandbox,
        1,
        &format!("checkpoint cosign a.request --key w.key --log {ann}"),
        "expected a proof from size 7 of `games.example/ann/b/",
    );
    sandbox.ok("checkpoint sign duel@main --key ann.key --since 7 -o a-7.request");
    sandbox.ok(&format!("checkpoint cosign a-7.request --key w.key --log {ann}"));
}

#[test]
fn tr_11_a_key_that_is_given_another_name_signs_no_second_history() {
    let sandbox = two_histories();
    sandbox.ok("checkpoint sign duel@main --key ann.key");
    let memory = files(&sandbox, "ann.key.seen");
    same_seed(&sandbox, "ann.key", "games.example/ann/b");
    for line in ["checkpoint sign duel@main", "checkpoint sign", "bundle duel -o x.bundle"] {
        let output = failing(&sandbox, 1, &format!("--store other {line} --key ann.key"));
        assert!(
            output.contains("`duel` has another history") || output.contains("`duel` has diverged"),
            "{output}"
        );
    }
    assert_eq!(files(&sandbox, "ann.key.seen"), memory);
    // The signed history continues under the new name.
    sandbox.ok("checkpoint sign duel@main --key ann.key");
    sandbox.ok("checkpoint prove duel:3 --key ann.key");
}

/// Versions that remembered only by origin wrote neither `FORMAT` nor lists of origins.
#[test]
fn tr_10_memory_of_earlier_versions_goes_on_working() {
    let sandbox = two_histories();
    let [ann, b] =
        ["ann.key", "b.key"].map(|file| sandbox.ok(&format!("key show {file}")).trim_end().to_owned());
    sandbox.ok("checkpoint sign duel@main --key ann.key --since 0 -o a.request");
    sandbox.ok("--store other checkpoint sign duel@main --key b.key --since 6 -o b.request");
    sandbox.ok(&format!("checkpoint cosign a.request --key w.key --log {ann}"));
    for folder in ["ann.key.seen", "w.key.seen"] {
        for (path, _) in files(&sandbox, folder) {
            if path.ends_with("/FORMAT") || path.ends_with("/origins") {
                fs::remove_file(path).unwrap();
            }
        }
    }
    refuses(&sandbox, 1, &format!("checkpoint cosign b.request --key w.key --log {b}"), "another history");
    let output = failing(&sandbox, 1, "--store other checkpoint sign duel@main --key ann.key");
    assert!(
        output.contains("`duel` has another history") || output.contains("`duel` has diverged"),
        "{output}"
    );
    same_seed(&sandbox, "ann.key", "games.example/ann/b");
    failing(&sandbox, 1, "--store other checkpoint sign duel@main --key ann.key");
    // Unreadable memory is named, and nothing is signed.
    sandbox.write("w.key.seen/FORMAT", "turnfold key memory 3\n");
    let output = failing(&sandbox, 3, &format!("checkpoint cosign a.request --key w.key --log {ann}"));
    assert!(output.contains("FORMAT") && output.contains("unknown format"), "{output}");
}
