//! The eight rows of an audit, for each threat and case (TR-21 to TR-29).

use turnfold_core::trust::{KeyKind, PrivateKey};

use super::go::ask;
use super::tampered_bundles::Edited;
use super::vectors::seed;
use super::world::{audit, duel, expect, failing, key, refuses, row, with_key};
use turnfold_tests::sandbox::Sandbox;

/// Returns a signed bundle of `duel`, as a file in a sandbox and in editable form.
fn bundled() -> (Sandbox, Edited) {
    let sandbox = duel();
    sandbox.ok("bundle duel --key ann.key -o duel.bundle");
    let edited = Edited::of(&sandbox.read("duel.bundle"));
    assert_eq!(edited.text(), sandbox.read("duel.bundle"), "the test writes bundles as the product does");
    (sandbox, edited)
}

/// Requires these results of the rows `chain` and `signature` for a changed bundle.
fn check(sandbox: &Sandbox, what: &str, edited: &Edited, chain: (&str, &str), signature: &str) {
    sandbox.write("edited.bundle", edited.text());
    let (ok, rows) = audit(sandbox, "edited.bundle --policy policy");
    let row = |name: &str| &rows.iter().find(|(row, _)| row == name).unwrap().1;
    assert_eq!(row("bytes").result, "pass", "{what}");
    assert_eq!((row("chain").result.as_str(), row("chain").at.as_str()), chain, "{what}: {:?}", row("chain"));
    assert_eq!(row("signature").result, signature, "{what}: {:?}", row("signature"));
    assert_eq!(ok, rows.iter().all(|(_, row)| row.result != "fail"), "{what}");
}

#[test]
fn an_honest_bundle_passes_what_can_be_checked() {
    let (sandbox, _) = bundled();
    sandbox.ok("checkpoint sign duel:2 --key ann.key -o kept");
    let (ok, rows) =
        audit(&sandbox, "duel.bundle --policy policy --held kept --require bytes,chain,signature");
    assert!(ok);
    let results: Vec<_> = rows.iter().map(|(_, row)| row.result.as_str()).collect();
    let expected = ["pass", "pass", "pass", "pass", "not_checked", "not_checked", "pass", "not_checked"];
    assert_eq!(results, expected, "{rows:?}");
    // On request, the audit lists below the rows what no row can show (TR-30).
    let stderr = String::from_utf8(sandbox.run("-v audit duel.bundle").stderr).unwrap();
    assert!(stderr.contains("no row can say who sat at the keyboard"), "{stderr}");
    // TR-28: this match has no desk.
    assert_eq!(rows[7].1.reason, "the host alone says who gave which command");
    assert!(rows[5].1.reason.contains("values came from outside; range and count only"), "{rows:?}");
    // Go opens the checkpoint, and computes the same tree from the records in the bundle.
    sandbox.ok("bundle duel -o main.bundle --key ann.key");
    let mut main = Edited::of(&sandbox.read("main.bundle"));
    main.lines.truncate(1);
    main.notes.retain(|note| note.contains("/main\n"));
    sandbox.write("main.bundle", main.text());
    let vkey = sandbox.ok("key show ann.key duel");
    assert!(
        ask("bundle", vkey.trim_end(), &sandbox.path("main.bundle"), &[]).is_none_or(|answer| answer.is_ok())
    );
    main.lines[0].records[2].push(0);
    sandbox.write("main.bundle", main.text());
    assert!(
        ask("bundle", vkey.trim_end(), &sandbox.path("main.bundle"), &[])
            .is_none_or(|answer| answer.is_err())
    );
}

#[test]
fn tr_22_what_is_changed_breaks_the_chain() {
    let (sandbox, honest) = bundled();
    let changed = honest.clone().with_entry(0, 2, |entry| entry.recorded_at_ms += 1);
    check(&sandbox, "a record changed", &changed, ("fail", "duel@main:4"), "fail");
    let mut exchanged = honest.clone();
    exchanged.lines[0].records.swap(2, 3);
    check(&sandbox, "two exchanged", &exchanged, ("fail", "duel@main:2"), "fail");
    let mut shorter = honest.clone();
    shorter.lines[0].records.remove(4);
    check(&sandbox, "the end cut off", &shorter, ("fail", "duel@main:3"), "fail");
    let mut left_out = honest.clone();
    left_out.lines[0].records.remove(2);
    check(&sandbox, "one left out", &left_out, ("fail", "duel@main:2"), "fail");
    let mut inserted = honest.clone();
    let again = inserted.lines[0].records[3].clone();
    inserted.lines[0].records.insert(3, again);
    check(&sandbox, "one inserted", &inserted, ("fail", "duel@main:4"), "fail");
    let mut moved = honest.clone();
    let flank = moved.lines.iter().position(|line| line.branch == "flank").unwrap();
    moved.lines[flank].first = 2;
    check(&sandbox, "a branch moved to another fork", &moved, ("fail", "duel@flank:2"), "fail");
    let mut moved = honest.clone();
    let edge = moved.lines.iter().position(|line| line.branch == "edge").unwrap();
    moved.lines[edge].first = 3;
    check(&sandbox, "a branch without records moved", &moved, ("fail", "duel@edge:2"), "fail");
}

#[test]
fn tr_23_what_is_changed_with_fitting_links_has_no_signature() {
    let (sandbox, honest) = bundled();
    let sound = ("pass", "@");
    let changed = honest.clone().with_entry(0, 2, |entry| entry.recorded_at_ms += 1).relinked();
    check(&sandbox, "a record changed", &changed, sound, "fail");
    let mut shorter = honest.clone();
    shorter.lines[0].records.pop();
    check(&sandbox, "the end cut off", &shorter.relinked(), sound, "fail");
    let mut exchanged = honest.clone();
    exchanged.lines[0].records.swap(2, 3);
    check(&sandbox, "two exchanged", &exchanged.renumbered().relinked(), sound, "fail");
    let mut left_out = honest.clone();
    left_out.lines[0].records.remove(2);
    check(&sandbox, "one left out", &left_out.clone().renumbered().relinked(), sound, "fail");
    let mut moved = honest.clone();
    let flank = moved.lines.iter().position(|line| line.branch == "flank").unwrap();
    moved.lines[flank].first = 2;
    check(&sandbox, "a branch moved to another fork", &moved.renumbered().relinked(), sound, "fail");
    let mut longer = honest.clone();
    let again = longer.lines[0].records[4].clone();
    longer.lines[0].records.push(again);
    let longer = longer.with_entry(0, 5, |entry| entry.seq = 5).relinked();
    check(&sandbox, "one added", &longer, sound, "not_checked");
    let unsigned = row(&sandbox, "edited.bundle --policy policy", "signature");
    assert!(unsigned.reason.contains("covers record 5"), "{unsigned:?}");
    // Another key with the same name is unknown, so nothing counts as signed.
    let other = PrivateKey::of_seed("games.example/ann".parse().unwrap(), KeyKind::Signer, &seed(7));
    let forged = honest.clone().with_entry(0, 2, |entry| entry.recorded_at_ms += 1).relinked().signed(&other);
    check(&sandbox, "signed by a stranger", &forged, sound, "not_checked");
    let (ok, _) = audit(&sandbox, "edited.bundle --policy policy --require signature");
    assert!(!ok);
    // With the policy's key everything passes, because the audit trusts whomever the auditor trusts.
    let signed = honest.relinked().signed(&key(&sandbox, "ann.key"));
    check(&sandbox, "signed again", &signed, sound, "pass");
}

#[test]
fn tr_23_checkpoints_of_something_else_do_not_count() {
    let (sandbox, honest) = bundled();
    let own = key(&sandbox, "ann.key");
    let (main, flank) = (0, honest.lines.iter().position(|line| line.branch == "flank").unwrap());
    // A checkpoint of another host, whose name is not that of a log in the policy.
    let bob = PrivateKey::of_seed("games.example/bob".parse().unwrap(), KeyKind::Signer, &seed(7));
    check(&sandbox, "another host", &honest.clone().signed(&bob), ("pass", "@"), "not_checked");
    // A checkpoint of another branch, as if `flank` were `main`.
    let mut other = honest.clone();
    other.notes = vec![honest.checkpoint(flank, &own).to_string()];
    check(&sandbox, "another branch", &other, ("pass", "@"), "not_checked");
    // A checkpoint of another match that differs only in its id.
    let mut other = honest.clone();
    let elsewhere = honest.clone().with_genesis(|genesis| genesis.match_id = [9; 16]);
    other.notes = vec![elsewhere.checkpoint(main, &own).to_string()];
    check(&sandbox, "another match", &other, ("pass", "@"), "not_checked");
    // A signature line with the name of a known key over another text.
    let mut wrong = honest.clone();
    let signature = honest.checkpoint(main, &own).to_string();
    let (_, line) = signature.split_once("\n\n").unwrap();
    let text = honest.checkpoint(main, &own).text().replacen("\n5\n", "\n4\n", 1);
    wrong.notes = vec![format!("{text}\n{line}")];
    check(&sandbox, "a signature of something else", &wrong, ("pass", "@"), "fail");
    expect(&sandbox, "edited.bundle --policy policy", "signature", "fail", "is wrong");
}

#[test]
fn tr_24_held_checkpoints_find_what_was_rolled_back_or_exchanged() {
    let (sandbox, _) = bundled();
    let held_is =
        |line: &str, result: &str, reason: &str| expect(&sandbox, line, "consistency", result, reason);
    sandbox.ok("checkpoint sign duel --key ann.key -o same");
    sandbox.ok("checkpoint sign duel:2 --key ann.key -o smaller");
    sandbox.ok("checkpoint prove duel:1 --key ann.key -o proof");
    sandbox.ok("checkpoint sign duel@flank --key ann.key -o branch");
    sandbox.ok("key new bob.key --name games.example/bob");
    sandbox.ok("checkpoint sign duel --key bob.key -o unknown");
    sandbox.ok("checkpoint sign duel --key ann.key --since 2 -o request");
    for held in ["same", "smaller", "proof", "branch", "request", "duel.bundle"] {
        held_is(&format!("duel.bundle --policy policy --held {held}"), "pass", "held");
    }
    let line = "duel.bundle --policy policy --held unknown";
    held_is(line, "not_checked", "no held checkpoint is signed by a key of the policy");
    let line = "duel.bundle --policy policy --held unknown --held same";
    held_is(line, "pass", "1 of unknown keys ignored");
    held_is("duel.bundle --held same", "not_checked", "no policy");
    held_is("duel.bundle --policy policy", "not_checked", "no checkpoint is held");

    // The host restores an older store and continues from there. Another bundle lacks the branch.
    sandbox.ok("store backup old.backup");
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok("checkpoint sign duel --key ann.key -o later");
    sandbox.ok("store restore old.backup old");
    sandbox.ok("--store old bundle duel -o back.bundle");
    let line = "back.bundle --policy policy --held later";
    held_is(line, "fail", "duel: rolled back from 6 to 5");
    sandbox.ok(r#"--store old play duel "p2: confirm" --once k"#);
    sandbox.ok("--store old bundle duel --force -o back.bundle");
    held_is(line, "fail", "duel: another history: the first 6 records");
    sandbox.ok("branch --delete --force duel@flank");
    sandbox.ok("bundle duel -o without.bundle");
    let line = "without.bundle --policy policy --held branch";
    held_is(line, "fail", "branch missing: `games.example/ann/");
    // The store itself is audited in the same way as the bundle.
    held_is("--policy policy --held later", "pass", "1 checkpoint");
    held_is("--policy policy --held branch", "fail", "branch missing");
}

#[test]
fn tr_25_the_quorum_is_that_of_the_policy() {
    let (sandbox, _) = bundled();
    let quorum_is =
        |line: &str, result: &str, reason: &str| expect(&sandbox, line, "cosignatures", result, reason);
    for number in 1..=3 {
        sandbox.ok(&format!("key new w{number}.key --name w{number}.example --witness"));
    }
    let witnesses = (1..=3)
        .map(|number| format!("witness w{number} {}", sandbox.ok(&format!("key show w{number}.key"))))
        .collect::<Vec<_>>()
        .concat();
    let log = sandbox.read("ann.vkey");
    sandbox.write("quorum", format!("log {log}{witnesses}group two 2 w1 w2 w3\nquorum two\n"));
    sandbox.ok("branch --delete --force duel@flank");
    sandbox.ok("branch --delete --force duel@edge");
    let policy = "duel.bundle --policy quorum";
    let bundle = || sandbox.ok("bundle duel --key ann.key --force -o duel.bundle");
    let cosign = |number: u8| {
        sandbox.ok("checkpoint sign duel --key ann.key --since 0 --force -o request");
        let line = format!("checkpoint cosign request --key w{number}.key --log {log}");
        sandbox.write("cosignature", sandbox.run(&line).stdout);
        sandbox.ok("checkpoint sign duel --key ann.key --add cosignature --policy quorum");
        bundle();
    };
    bundle();
    quorum_is(policy, "fail", "the quorum has not cosigned size 5");
    quorum_is("duel.bundle --policy policy", "not_checked", "asks for no cosignatures");
    quorum_is("duel.bundle", "not_checked", "no policy");
    cosign(1);
    quorum_is(policy, "fail", "has not cosigned");
    cosign(3);
    quorum_is(policy, "pass", "between 20");
    // Two cosignatures of one witness count once.
    let mut twice = Edited::of(&sandbox.read("duel.bundle"));
    let lines: Vec<String> = twice.notes[0].lines().map(String::from).collect();
    let other = turnfold_core::trust::SignatureLine::cosign(&key(&sandbox, "w1.key"), &text_of(&lines), 5);
    twice.notes[0] = [&lines[..6], &[other.to_string()]].concat().join("\n") + "\n";
    sandbox.write("twice.bundle", twice.text());
    quorum_is("twice.bundle --policy quorum", "fail", "has not cosigned");
    // If witnesses cosigned at different times, the earliest and the latest time are named.
    let early = turnfold_core::trust::SignatureLine::cosign(&key(&sandbox, "w2.key"), &text_of(&lines), 5);
    twice.notes[0] = [&lines[..], &[early.to_string()]].concat().join("\n") + "\n";
    sandbox.write("twice.bundle", twice.text());
    quorum_is("twice.bundle --policy quorum", "pass", "between 1970-01-01T00:00:05Z and 20");
    // A wrong signature of a known witness.
    let wrong = turnfold_core::trust::SignatureLine::cosign(&key(&sandbox, "w2.key"), "another\n", 5);
    twice.notes[0] = [&lines[..], &[wrong.to_string()]].concat().join("\n") + "\n";
    sandbox.write("twice.bundle", twice.text());
    quorum_is("twice.bundle --policy quorum", "fail", "the signature of `w2.example` is wrong");
}

/// Returns the text of the checkpoint in these lines.
fn text_of(lines: &[String]) -> String {
    lines[..3].iter().map(|line| format!("{line}\n")).collect::<Vec<_>>().concat()
}

#[test]
fn tr_26_seeded_rolls_are_computed_again_in_a_row_of_their_own() {
    let sandbox = Sandbox::new();
    let seed = "01".repeat(32);
    let setup = "--rules initiative --setup fixtures/initiative/small-board.toml";
    sandbox.ok(&format!("new dice {setup} --dice seeded --seed {seed}"));
    sandbox.ok("play dice");
    with_key(&sandbox);
    sandbox.ok("bundle dice --key ann.key -o dice.bundle");
    let line = "dice.bundle --policy policy";
    expect(&sandbox, line, "dice", "pass", "1 roll computed again from the seed, which the host knew");
    let edited = Edited::of(&sandbox.read("dice.bundle"));
    let key = key(&sandbox, "ann.key");
    let rolled = edited.clone().with_entry(0, 1, |entry| {
        // The first value; each value is encoded as twice its number.
        let value = &mut entry.command[2];
        *value = if *value == 2 { 4 } else { 2 };
    });
    sandbox.write("rolled.bundle", rolled.relinked().signed(&key).text());
    let (ok, rows) = audit(&sandbox, "rolled.bundle --policy policy");
    let result = |name: &str| rows.iter().find(|(row, _)| row == name).unwrap().1.clone();
    assert!(!ok);
    assert_eq!(result("dice").result, "fail");
    assert_eq!(result("dice").at, "dice@main:1");
    assert!(result("dice").reason.contains("the seeded dice give"), "{rows:?}");
    assert_eq!([result("rules").result, result("chain").result, result("signature").result], ["pass"; 3]);
    // A value that no die has breaks the rules, whoever rolled.
    let outside = edited.with_entry(0, 1, |entry| entry.command[2] = 40);
    sandbox.write("outside.bundle", outside.relinked().signed(&key).text());
    assert_eq!(row(&sandbox, "outside.bundle --policy policy", "rules").at, "dice@main:1");
}

#[test]
fn tr_27_rules_are_this_builds_or_not_checked() {
    let (sandbox, honest) = bundled();
    let later = honest.clone().with_genesis(|genesis| genesis.ruleset_version = 99).relinked();
    sandbox.write("later.bundle", later.text());
    let line = "later.bundle --policy policy";
    expect(
        &sandbox,
        line,
        "rules",
        "not_checked",
        "this build has version 1 of the ruleset `initiative`, not 99",
    );
    expect(&sandbox, line, "chain", "pass", "3 branches");
    let unknown = honest.clone().with_genesis(|genesis| genesis.ruleset = "nonesuch".into()).relinked();
    sandbox.write("unknown.bundle", unknown.text());
    expect(&sandbox, "unknown.bundle", "rules", "not_checked", "does not have the ruleset `nonesuch`");
    let wrong = honest.clone().with_entry(0, 3, |entry| entry.seat = turnfold_core::Seat::P2).relinked();
    sandbox.write("wrong.bundle", wrong.text());
    let found = row(&sandbox, "wrong.bundle", "rules");
    assert_eq!((found.result.as_str(), found.at.as_str()), ("fail", "duel@main:3"), "{found:?}");
    let no_setup = honest.with_genesis(|genesis| genesis.setup = vec![7]).relinked();
    sandbox.write("setup.bundle", no_setup.text());
    assert_eq!(row(&sandbox, "setup.bundle", "rules").result, "fail");
}

#[test]
fn tr_29_what_is_no_bundle_and_an_unusable_policy_are_no_answers() {
    let (sandbox, _) = bundled();
    for (name, content) in
        [("empty", String::new()), ("text", "hello\n".into()), ("title", "turnfold bundle 2\n".into())]
    {
        sandbox.write(name, content);
        refuses(&sandbox, 2, &format!("audit {name}"), "is no bundle");
    }
    refuses(&sandbox, 2, "audit none", "none");
    sandbox.write("two", "quorum none\nquorum none\n");
    refuses(&sandbox, 2, "audit duel.bundle --policy two", "policy `two`: line 2: ");
    refuses(&sandbox, 2, "audit duel.bundle --held policy", "`policy`: expected");
    refuses(&sandbox, 2, "audit duel.bundle --require chains", "expected a row of an audit");
    failing(&sandbox, 3, "--store none audit");
    // An invalid proof is not accepted.
    sandbox.ok("checkpoint prove duel:1 --key ann.key -o proof");
    sandbox.write("proof", sandbox.read("proof").replace("index 1", "index 2"));
    refuses(&sandbox, 2, "audit duel.bundle --held proof", "does not lead to");
}
