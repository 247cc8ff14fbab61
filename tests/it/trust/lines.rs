//! Branches of a store: each has its own tree, origin and checkpoints (TR-1, TR-3, TR-4, TR-15, TR-19).
use turnfold_core::trust::{Checkpoint, SignedNote};
use turnfold_proof::bundle::{BundleFile, BundleRecords as _};

use super::world::{audit, duel, expect, refuses};
use turnfold_tests::sandbox::Sandbox;

/// Returns the checkpoints of a bundle, as branch and size.
fn checkpoints(sandbox: &Sandbox, bundle: &str) -> Vec<(String, u64)> {
    let bundle = BundleFile::read(&sandbox.path(bundle)).unwrap();
    let checkpoint = |note: &SignedNote| {
        let Checkpoint { origin, size, .. } = note.text().parse().unwrap();
        let (name, line) = origin.rsplit_once('/').unwrap();
        let (name, id) = name.rsplit_once('/').unwrap();
        assert!(name.starts_with("games.example/") && id.len() == 32, "TR-4: {origin}");
        (line.to_owned(), size)
    };
    bundle.outline().checkpoints.iter().map(checkpoint).collect()
}

fn owned(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(line, size)| ((*line).to_owned(), *size)).collect()
}

#[test]
fn tr_3_and_tr_15_every_line_has_a_tree_of_its_own_and_all_are_signed_at_once() {
    let sandbox = duel();
    sandbox.ok("new dusk --rules initiative");
    let output = sandbox.ok("checkpoint sign --key ann.key -o all.bundle");
    assert_eq!(output, "signed 4 branches to `all.bundle`\n");
    let bundle = BundleFile::read(&sandbox.path("all.bundle")).unwrap();
    assert!(bundle.outline().matches.is_empty(), "only checkpoints");
    // `edge` has no records of its own, but has the tree of the shared records (TR-1).
    let mut found = checkpoints(&sandbox, "all.bundle");
    found.sort();
    assert_eq!(found, owned(&[("edge", 4), ("flank", 4), ("main", 1), ("main", 5)]));
    let origin = |rev: &str| {
        let vkey = sandbox.ok(&format!("key show ann.key {rev}"));
        vkey.split('+').next().unwrap().to_owned()
    };
    let main = origin("duel");
    let flank = origin("duel@flank");
    assert_eq!(flank, main.replace("/main", "/flank"));
    assert_ne!(origin("dusk"), main);
    // The name of a match is not part of the origin, because it can change.
    sandbox.ok("rename duel final");
    assert_eq!(origin("final"), main);
    sandbox.ok("rename final duel");
    // Deleting a branch does not affect other branches. The audit finds only that the branch of a held checkpoint is
    // missing.
    sandbox.ok("branch --delete --force duel@flank");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("bundle duel dusk --key ann.key -o now.bundle");
    let line = "now.bundle --policy policy --held all.bundle";
    expect(&sandbox, line, "consistency", "fail", &format!("branch missing: `{flank}`"));
    sandbox.ok("checkpoint sign duel:4 duel@edge dusk --key ann.key -o others.bundle");
    let line = "now.bundle --policy policy --held others.bundle --require signature,consistency";
    expect(&sandbox, line, "consistency", "pass", "3 checkpoints");
    assert!(audit(&sandbox, line).0);
}

#[test]
fn tr_19_a_bundle_has_what_is_signed_now_what_was_signed_and_what_is_added() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o plain.bundle");
    assert_eq!(checkpoints(&sandbox, "plain.bundle"), [], "without a key nothing is signed");
    assert!(!sandbox.path("ann.key.seen").exists());
    sandbox.ok("checkpoint sign duel --key ann.key -o first");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("bundle duel --key ann.key -o signed.bundle");
    let expected = owned(&[("edge", 4), ("flank", 4), ("main", 5), ("main", 6)]);
    assert_eq!(checkpoints(&sandbox, "signed.bundle"), expected);
    // Checkpoints that others signed are included, from a note and from a bundle, each once.
    sandbox.ok("key new bob.key --name games.example/bob");
    sandbox.ok("checkpoint sign duel:1 --key bob.key -o theirs");
    sandbox.ok("bundle duel --key ann.key --add theirs --add signed.bundle --add theirs -o more.bundle");
    assert_eq!(checkpoints(&sandbox, "more.bundle"), [expected, owned(&[("main", 2)])].concat());
    assert!(sandbox.read("more.bundle").contains(&sandbox.read("theirs")));
    assert!(sandbox.read("more.bundle").contains(&sandbox.read("first")));
    // A file that is not a checkpoint is refused.
    refuses(&sandbox, 2, "bundle duel --add policy -o none.bundle", "`policy`");
    assert!(!sandbox.path("none.bundle").exists());
}
