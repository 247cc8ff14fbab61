//! `key`, `sign`, `prove` and `cosign` with the real binary (TR-9 to TR-16).

use std::fs;
use std::process::Stdio;

use turnfold_core::trust::{ConsistencyRequest, InclusionProof, SignedNote, VerifierKey};

use super::go::ask;
use super::vectors::{KEY_FILE, VKEY};
use super::world::{duel, failing, files, key, refuses, with_key};
use turnfold_tests::sandbox::Sandbox;

#[test]
fn tr_9_a_key_file_is_private_and_never_overwritten() {
    let sandbox = Sandbox::new();
    let vkey = sandbox.ok("key new ann.key --name games.example/ann");
    assert_eq!(sandbox.ok("key show ann.key"), vkey);
    let parsed: VerifierKey = vkey.trim_end().parse().unwrap();
    assert_eq!(parsed, key(&sandbox, "ann.key").verifier());
    let before = sandbox.read("ann.key");
    refuses(
        &sandbox,
        2,
        "key new ann.key --name games.example/ann",
        "`ann.key` exists; a key is never overwritten",
    );
    assert_eq!(sandbox.read("ann.key"), before);
    assert_ne!(sandbox.ok("key new bob.key --name games.example/ann"), vkey, "keys are made of chance");
    for name in ["Ann", "a b", "a+b", "/a", ""] {
        failing(&sandbox, 2, &format!("key new other.key --name \"{name}\""));
        assert!(!sandbox.path("other.key").exists());
    }
}

#[cfg(unix)]
#[test]
fn tr_9_a_key_that_cannot_be_written_whole_leaves_no_file() {
    let sandbox = Sandbox::new();
    let line = "key new ann.key --name games.example/ann";
    let output = sandbox.shell(&format!("trap '' XFSZ; ulimit -f 0; turnfold {line}"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write key file `ann.key`: ") && stderr.lines().count() == 1,
        "{stderr}"
    );
    let files: Vec<_> =
        fs::read_dir(sandbox.path("")).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["fixtures"]);
    sandbox.ok(line);
}

#[cfg(unix)]
#[test]
fn tr_9_a_key_that_others_may_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = duel();
    let mode = |mode| fs::set_permissions(sandbox.path("ann.key"), fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(fs::metadata(sandbox.path("ann.key")).unwrap().permissions().mode() & 0o777, 0o600);
    for open in [0o640, 0o604, 0o660, 0o644] {
        mode(open);
        refuses(&sandbox, 2, "checkpoint sign duel --key ann.key", "others may read it");
    }
    mode(0o400);
    sandbox.ok("checkpoint sign duel --key ann.key");
    assert_eq!(fs::metadata(sandbox.path("ann.key.seen")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[cfg(unix)]
#[test]
fn tr_9_only_whole_keys_of_known_types_are_read() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = duel();
    for (content, reason) in [
        (KEY_FILE.replace("f74b7821", "f74b7820"), "expected key id `f74b7821`, found `f74b7820`"),
        (KEY_FILE.replace("+AQAB", "+AgAB"), "found type 0x02"),
        (KEY_FILE.trim_end().to_owned(), "expected one line"),
        (String::new(), "expected one line"),
    ] {
        sandbox.write("x.key", content);
        fs::set_permissions(sandbox.path("x.key"), fs::Permissions::from_mode(0o600)).unwrap();
        let stderr = failing(&sandbox, 2, "checkpoint sign duel --key x.key");
        assert!(stderr.contains(reason) && !stderr.contains("AQAB"), "{stderr}");
    }
    sandbox.write("x.key", KEY_FILE);
    fs::set_permissions(sandbox.path("x.key"), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(sandbox.ok("key show x.key"), format!("{VKEY}\n"));
    // The key of a witness does not sign, a signing key does not cosign, and no key is in the store.
    sandbox.ok("key new w.key --name witness.example/w --witness");
    refuses(&sandbox, 2, "checkpoint sign duel --key w.key", "only cosigns");
    sandbox.ok("checkpoint sign duel --key ann.key --since 0 -o request");
    let log = sandbox.read("ann.vkey");
    refuses(&sandbox, 2, &format!("checkpoint cosign request --key ann.key --log {log}"), "a key of its own");
    refuses(&sandbox, 2, "checkpoint sign duel --key none.key", "there is no key file");
    refuses(&sandbox, 2, "checkpoint sign duel", "--key");
}

#[test]
fn tr_11_what_is_signed_again_is_the_same_and_a_line_that_goes_on_is_signed() {
    let sandbox = duel();
    let first = sandbox.ok("checkpoint sign duel --key ann.key");
    assert_eq!(sandbox.ok("checkpoint sign duel --key ann.key"), first);
    // A shorter size may be signed, and the memory stays unchanged.
    let memory = files(&sandbox, "ann.key.seen");
    let shorter = sandbox.ok("checkpoint sign duel:2 --key ann.key");
    assert!(shorter.contains("/main\n3\n"), "{shorter}");
    assert_eq!(files(&sandbox, "ann.key.seen"), memory);
    sandbox.ok(r#"play duel "p2: cycle""#);
    let longer = sandbox.ok("checkpoint sign duel --key ann.key");
    assert!(longer.contains("/main\n6\n"), "{longer}");
    let vkey: VerifierKey = sandbox.ok("key show ann.key duel").trim_end().parse().unwrap();
    for note in [&first, &shorter, &longer] {
        assert_eq!(SignedNote::read(note.as_bytes()).unwrap().is_signed_by(&vkey), Ok(true));
    }
    refuses(&sandbox, 2, "checkpoint sign duel:9 --key ann.key", "9");
}

#[test]
fn tr_10_what_was_not_handed_out_is_remembered_all_the_same() {
    let sandbox = duel();
    // The output fails after the memory was updated, as in a power cut between the two.
    failing(&sandbox, 3, "checkpoint sign duel --key ann.key -o none/duel.checkpoint");
    let memory = files(&sandbox, "ann.key.seen");
    let (_, note) = memory.iter().find(|(name, _)| name.ends_with("/checkpoint")).unwrap();
    assert_eq!(sandbox.ok("checkpoint sign duel --key ann.key").as_bytes(), note);
    assert_eq!(files(&sandbox, "ann.key.seen"), memory);
    // A remembered checkpoint of another log is not accepted for this log.
    sandbox.ok("checkpoint sign duel@flank --key ann.key");
    let of_flank = |(path, bytes): &&(String, Vec<u8>)| path.ends_with("/checkpoint") && bytes != note;
    let all = files(&sandbox, "ann.key.seen");
    let (path, _) = all.iter().find(of_flank).unwrap();
    fs::write(path, note).unwrap();
    refuses(&sandbox, 3, "checkpoint sign duel@flank --key ann.key", "it is of `games.example/ann/");
}

#[test]
fn tr_11_a_store_restored_from_an_older_backup_is_not_signed() {
    let sandbox = duel();
    sandbox.ok("store backup old.backup");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("checkpoint sign duel --key ann.key");
    sandbox.ok("store restore old.backup restored");
    let memory = files(&sandbox, "ann.key.seen");
    refuses(
        &sandbox,
        1,
        "--store restored checkpoint sign duel --key ann.key",
        "`duel` was rolled back: 6 records are signed, but it has 5",
    );
    sandbox.ok(r#"--store restored play duel "p2: confirm" --once k"#);
    refuses(
        &sandbox,
        1,
        "--store restored checkpoint sign duel --key ann.key",
        "`duel` has another history: its first 6 of 6 records",
    );
    // Not even a size that both histories share.
    failing(&sandbox, 1, "--store restored checkpoint sign duel:1 --key ann.key");
    failing(&sandbox, 1, "--store restored bundle duel --key ann.key -o x.bundle");
    assert_eq!(files(&sandbox, "ann.key.seen"), memory);
    // To recover, the store that lacks the later entries imports a bundle of the longer history.
    sandbox.ok("bundle duel -o since.bundle");
    sandbox.ok("store restore old.backup again");
    sandbox.ok("--store again import since.bundle");
    sandbox.ok("--store again checkpoint sign duel --key ann.key");
}

#[test]
fn tr_11_a_branch_made_again_under_its_name_is_not_signed() {
    let sandbox = duel();
    sandbox.ok("checkpoint sign duel@flank --key ann.key");
    sandbox.ok("branch --delete --force duel@flank");
    sandbox.ok("branch duel:2 flank");
    sandbox.ok(r#"play duel@flank "p1: cycle""#);
    refuses(&sandbox, 1, "checkpoint sign duel@flank --key ann.key", "`duel@flank` has another history");
    // Signing all branches of the store fails too, because it signs all or none.
    failing(&sandbox, 1, "checkpoint sign --key ann.key -o all.bundle");
    assert!(!sandbox.path("all.bundle").exists());
}

#[test]
fn tr_12_keys_of_one_name_sign_together() {
    let sandbox = duel();
    sandbox.ok("key new new.key --name games.example/ann");
    sandbox.ok("key new bob.key --name games.example/bob");
    let note = sandbox.ok("checkpoint sign duel --key ann.key --key new.key");
    let note = SignedNote::read(note.as_bytes()).unwrap();
    for file in ["ann.key", "new.key"] {
        let vkey = sandbox.ok(&format!("key show {file} duel"));
        assert_eq!(note.is_signed_by(&vkey.trim_end().parse().unwrap()), Ok(true), "{file}");
    }
    refuses(&sandbox, 2, "checkpoint sign duel --key ann.key --key bob.key", "have one name");
    // A key given by two paths signs once and has one memory.
    let twice = sandbox.ok("checkpoint sign duel@flank --key ann.key --key ./ann.key");
    assert_eq!(SignedNote::read(twice.as_bytes()).unwrap().signatures().len(), 1);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("ann.key", sandbox.path("link.key")).unwrap();
        assert_eq!(sandbox.ok("checkpoint sign duel@flank --key link.key"), twice);
        assert!(!sandbox.path("link.key.seen").exists());
    }
    // Each key remembers, so neither signs another history alone.
    sandbox.ok("store backup old.backup");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("checkpoint sign duel --key ann.key --key new.key");
    sandbox.ok("store restore old.backup old");
    for file in ["ann.key", "new.key"] {
        failing(&sandbox, 1, &format!("--store old checkpoint sign duel --key {file}"));
    }
}

#[test]
fn tr_10_processes_that_sign_at_once_wait_for_each_other() {
    let sandbox = duel();
    let spawn = || {
        let mut command = sandbox.command(["checkpoint", "sign", "duel", "--key", "ann.key"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(|_| spawn()).collect();
    let outputs: Vec<_> = running.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    for output in &outputs {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.stdout, outputs[0].stdout);
    }
}

#[test]
fn tr_13_and_tr_14_proofs_of_stored_lines_hold_and_go_accepts_them() {
    let sandbox = duel();
    let old = SignedNote::read(sandbox.ok("checkpoint sign duel:1 --key ann.key").as_bytes()).unwrap();
    sandbox.ok("checkpoint sign duel --key ann.key --since 2 -o duel.request");
    let request = ConsistencyRequest::read(sandbox.read("duel.request").as_bytes()).unwrap();
    assert_eq!(request.old, 2);
    let vkey = sandbox.ok("key show ann.key duel");
    let root = old.text().lines().nth(2).unwrap();
    let go = ask("consistency", vkey.trim_end(), &sandbox.path("duel.request"), &[root]);
    assert!(go.is_none_or(|answer| answer.is_ok()));
    for seq in 0..=4 {
        let file = format!("{seq}.tlog-proof");
        sandbox.ok(&format!("checkpoint prove duel:{seq} --key ann.key -o {file}"));
        let proof = InclusionProof::read(sandbox.read(&file).as_bytes()).unwrap();
        assert_eq!(proof.checkpoint().unwrap().size, 5);
        assert_eq!(proof.note.is_signed_by(&vkey.trim_end().parse().unwrap()), Ok(true));
        let go = ask("inclusion", vkey.trim_end(), &sandbox.path(&file), &[]);
        assert!(go.is_none_or(|answer| answer.is_ok()));
    }
    refuses(&sandbox, 2, "checkpoint prove duel:5 --key ann.key", "`duel` has no entry 5; its last is 4");
    refuses(&sandbox, 1, "checkpoint prove duel@flank:1 --key ann.key", "nothing of `duel@flank` is signed");
    refuses(&sandbox, 2, "checkpoint sign duel --key ann.key --since 6", "at most 5");
    sandbox.ok("play duel cycle");
    refuses(&sandbox, 1, "checkpoint prove duel:5 --key ann.key", "is signed up to entry 4, not 5");
}

#[test]
fn tr_16_a_witness_cosigns_one_history_and_remembers_it() {
    let sandbox = duel();
    sandbox.ok("key new w.key --name witness.example/w --witness");
    let log = sandbox.read("ann.vkey").trim_end().to_owned();
    let cosign = |request: &str| format!("checkpoint cosign {request} --key w.key --log {log}");
    sandbox.ok("checkpoint sign duel:2 --key ann.key --since 0 -o first");
    sandbox.ok("checkpoint sign duel:2 --key ann.key --since 3 -o same");
    sandbox.ok("checkpoint sign duel --key ann.key --since 3 -o next");
    sandbox.ok("checkpoint sign duel --key ann.key --since 2 -o wrong-old");
    sandbox.ok("checkpoint sign duel@flank --key ann.key --since 3 -o first-with-old");
    // The first checkpoint of a log that the witness sees, with a proof from another size.
    refuses(
        &sandbox,
        1,
        &cosign("first-with-old"),
        "expected a proof from size 0, found one from 3; nothing was cosigned",
    );
    let output = sandbox.run(&cosign("first"));
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("the witness has not seen `games.example/ann/"), "{stderr}");
    let memory = files(&sandbox, "w.key.seen");
    // Refused are a wrong old size, the same size with another root, a proof of another tree, and an unknown log.
    refuses(&sandbox, 1, &cosign("wrong-old"), "expected a proof from size 3, found one from 2");
    let other = Sandbox::new();
    other.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    other.ok(r#"play duel "roll 4 3 2 1" "p2: cycle" "p2: cycle" "p2: cycle""#);
    with_key(&other);
    let ours = SignedNote::read(sandbox.ok("checkpoint sign duel:2 --key ann.key").as_bytes()).unwrap();
    let origin = ours.text().lines().next().unwrap();
    let forged = |seq: u64, old: u64, hashes: &str| {
        // The same log and key, with the tree of another history.
        let note =
            SignedNote::read(other.ok(&format!("checkpoint sign duel:{seq} --key ann.key")).as_bytes())
                .unwrap();
        let text = note.text().lines().skip(1).fold(format!("{origin}\n"), |text, line| text + line + "\n");
        let line = turnfold_core::trust::SignatureLine::sign(&key(&sandbox, "ann.key"), origin, &text);
        format!("old {old}\n{hashes}\n{}", SignedNote::new(text, vec![line]).unwrap())
    };
    sandbox.write("other-root", forged(2, 3, ""));
    refuses(&sandbox, 1, &cosign("other-root"), "does not continue the cosigned one of size 3");
    let next = sandbox.read("next");
    let (head, _) = next.split_once("\n\n").unwrap();
    let hashes = head.lines().skip(1).map(|line| format!("{line}\n")).collect::<Vec<_>>().concat();
    sandbox.write("other-tree", forged(4, 3, &hashes));
    refuses(&sandbox, 1, &cosign("other-tree"), "does not continue the cosigned one of size 3");
    let unknown = format!("checkpoint cosign next --key w.key --log {}", other.read("ann.vkey"));
    refuses(&sandbox, 1, &unknown, "has not signed the checkpoint");
    other.ok("key new bob.key --name games.example/bob");
    let unknown = format!("checkpoint cosign next --key w.key --log {}", other.ok("key show bob.key"));
    refuses(&sandbox, 1, &unknown, "does not stand for the log");
    refuses(&sandbox, 2, &cosign("policy"), "expected");
    assert_eq!(files(&sandbox, "w.key.seen"), memory, "what is refused changes nothing");
    // The same size again, then a larger one.
    sandbox.ok(&cosign("same"));
    assert_eq!(files(&sandbox, "w.key.seen"), memory);
    sandbox.write("cosignature", sandbox.ok(&cosign("next")));
    refuses(&sandbox, 1, &cosign("same"), "expected a proof from size 5");
    sandbox.write("smaller", forged(2, 5, ""));
    refuses(&sandbox, 1, &cosign("smaller"), "size 3 comes after size 5");
    // The cosignature is added to the checkpoint in memory, and so is included in bundles.
    let line = format!("witness w {}quorum none\n", sandbox.ok("key show w.key"));
    sandbox.write("witnesses", line);
    let note = SignedNote::read(
        sandbox.ok("checkpoint sign duel --key ann.key --add cosignature --policy witnesses").as_bytes(),
    )
    .unwrap();
    assert_eq!(note.signatures().len(), 2);
    let witness = key(&sandbox, "w.key").verifier();
    assert!(note.cosigned_by(&witness).unwrap().is_some());
    assert_eq!(sandbox.ok("checkpoint sign duel --key ann.key"), note.to_string());
    sandbox.ok("bundle duel --key ann.key -o duel.bundle");
    assert!(sandbox.read("duel.bundle").contains(sandbox.read("cosignature").trim_end()));
    sandbox.write("no-cosignature", sandbox.read("ann.vkey"));
    refuses(
        &sandbox,
        2,
        "checkpoint sign duel --key ann.key --add no-cosignature --policy witnesses",
        "not a cosignature",
    );
}

/// TR-16: a cosignature that is late or altered never spoils a checkpoint.
#[test]
fn a_cosignature_goes_to_the_checkpoint_that_it_is_for_or_nowhere() {
    let sandbox = duel();
    sandbox.ok("key new w.key --name w.example --witness");
    let line =
        format!("log {}witness w {}quorum w\n", sandbox.read("ann.vkey"), sandbox.ok("key show w.key"));
    sandbox.write("witnesses", line);
    let ann = sandbox.read("ann.vkey");
    let cosign = |revision: &str, since: u64, to: &str| {
        sandbox.ok(&format!("checkpoint sign {revision} --key ann.key --since {since} -o {to}.request"));
        sandbox.write(
            to,
            sandbox.run(&format!("checkpoint cosign {to}.request --key w.key --log {ann}")).stdout,
        );
    };
    cosign("duel:2", 0, "first");
    let last = sandbox.ok("checkpoint sign duel --key ann.key");
    // A late cosignature is filed under its own checkpoint, and the last checkpoint stays unchanged.
    let late = sandbox.ok("checkpoint sign duel --key ann.key --add first --policy witnesses");
    let late = SignedNote::read(late.as_bytes()).unwrap();
    assert_eq!(late.text().lines().nth(1), Some("3"));
    assert!(late.cosigned_by(&key(&sandbox, "w.key").verifier()).unwrap().is_some());
    assert_eq!(sandbox.ok("checkpoint sign duel --key ann.key"), last);
    sandbox.ok("bundle duel --key ann.key -o late.bundle");
    let of_main = |bundle: &str| {
        let output = sandbox.run(&format!("audit {bundle} --policy witnesses"));
        String::from_utf8(output.stdout).unwrap().lines().nth(4).unwrap().to_owned()
    };
    assert!(
        of_main("late.bundle").contains("the quorum has not cosigned size 5"),
        "{}",
        of_main("late.bundle")
    );
    // An altered cosignature, and one of a witness that is not in the policy, are refused.
    cosign("duel", 3, "second");
    let line = sandbox.read("second");
    let middle = line.len() / 2;
    let other = if line.as_bytes()[middle] == b'A' { "B" } else { "A" };
    sandbox.write("altered", format!("{}{other}{}", &line[..middle], &line[middle + 1..]));
    let add = |line: &str, policy: &str| {
        format!("checkpoint sign duel --key ann.key --add {line} --policy {policy}")
    };
    refuses(&sandbox, 1, &add("altered", "witnesses"), "cosigns no checkpoint of `duel` up to entry 4");
    refuses(&sandbox, 1, &add("second", "policy"), "`w.example` is no witness of the policy");
    failing(&sandbox, 2, "checkpoint sign duel --key ann.key --add second");
    assert_eq!(sandbox.ok("checkpoint sign duel --key ann.key"), last);
    // The right cosignature is added, and a later one of the same witness replaces it.
    sandbox.ok(&add("second", "witnesses"));
    cosign("duel", 5, "third");
    let note = SignedNote::read(sandbox.ok(&add("third", "witnesses")).as_bytes()).unwrap();
    assert_eq!(note.signatures().len(), 2);
    sandbox.ok("bundle duel --key ann.key -o good.bundle");
    assert!(!of_main("good.bundle").contains("size 5"), "{}", of_main("good.bundle"));
}

#[test]
fn a_branch_that_the_usual_key_has_signed_is_deleted_by_force_only() {
    let sandbox = duel();
    sandbox.ok("checkpoint sign duel@flank --key ann.key");
    let with_key = |line: &str| {
        let words = turnfold_tests::sandbox::words(line);
        let mut command = sandbox.command(words.iter().map(String::as_str));
        command.env("TURNFOLD_KEY", "ann.key").output().unwrap()
    };
    let refused = with_key("branch --delete duel@flank");
    assert_eq!(refused.status.code(), Some(2));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(stderr.contains("`duel@flank` is signed") && stderr.contains("`--force` deletes it"), "{stderr}");
    assert!(with_key("branch --delete --force duel@edge").status.success(), "what is not signed goes");
    assert!(with_key("checkpoint sign duel").status.success(), "the variable names the key");
    assert!(with_key("branch --delete --force duel@flank").status.success());
}
