//! The form of bundles, and their import (TR-18 to TR-21).

use std::fs;

use turnfold_proof::ProofError;
use turnfold_proof::audit::{RowResult, malformed};
use turnfold_proof::bundle::BundleFile;

use super::tampered_bundles::Edited;
use super::world::{audit, duel, refuses, with_key};
use turnfold_tests::sandbox::{Sandbox, without_links};

/// Requires a file to be refused because of its form, and every later row to be `not_checked`.
fn refused(sandbox: &Sandbox, what: &str, bytes: &[u8]) {
    let path = sandbox.path("broken.bundle");
    fs::write(&path, bytes).unwrap();
    match BundleFile::read(&path) {
        Err(ProofError::NotABundle(_)) => assert!(!bytes.starts_with(b"turnfold bundle 1\n"), "{what}"),
        Err(error @ ProofError::Malformed { .. }) => {
            let rows = malformed(&error);
            assert_eq!(rows[0].result, RowResult::Fail, "{what}");
            assert!(rows[1..].iter().all(|row| row.result == RowResult::NotChecked), "{what}");
            assert!(!rows[0].reason.contains(char::is_control), "{what}: {}", rows[0].reason);
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn tr_21_a_bundle_with_any_byte_changed_is_in_disorder() {
    let sandbox = duel();
    sandbox.ok("play duel \"p2: cycle\" --once k");
    sandbox.ok("bundle duel --key ann.key -o duel.bundle");
    let bytes = fs::read(sandbox.path("duel.bundle")).unwrap();
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        refused(&sandbox, &format!("byte {place} flipped"), &flipped);
        refused(&sandbox, &format!("the first {place} bytes"), &bytes[..place]);
    }
    for more in [b"\n".as_slice(), b" ", b"x", b"-- end\n"] {
        refused(&sandbox, "a byte appended", &[&bytes, more].concat());
    }
    // The binary prints every row, and none passes.
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    sandbox.write("broken.bundle", flipped);
    let (ok, rows) = audit(&sandbox, "broken.bundle --policy policy");
    assert!(
        !ok && rows[0].1.result == "fail" && rows[1..].iter().all(|(_, row)| row.result == "not_checked")
    );
    refuses(&sandbox, 2, "--store other import broken.bundle", "nothing was imported");
    assert!(!sandbox.path("other").exists());
}

#[test]
fn tr_18_a_bundle_has_one_form() {
    let sandbox = duel();
    sandbox.ok("new dusk --rules initiative");
    sandbox.ok("bundle dusk duel duel --key ann.key -o all.bundle");
    let text = sandbox.read("all.bundle");
    let headers: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("-- ")).collect();
    let words: Vec<_> =
        headers.iter().map(|line| line.split(' ').take(5).collect::<Vec<_>>().join(" ")).collect();
    let lines = [
        "match duel",
        "line main - 0 5",
        "line edge main 4 0",
        "line flank main 3 1",
        "match dusk",
        "line main - 0 1",
    ];
    assert_eq!(words[..6], lines);
    assert!(words[6..10].iter().all(|line| line.starts_with("checkpoint ")), "{words:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(sandbox.path("all.bundle")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "it holds what players keep from each other");
    }
    let honest = Edited::of(&{
        sandbox.ok("bundle duel -o duel.bundle");
        sandbox.read("duel.bundle")
    });
    let with = |change: &dyn Fn(&mut Edited)| {
        let mut edited = honest.clone();
        change(&mut edited);
        edited.text()
    };
    let text = honest.text();
    for (what, broken) in [
        ("another title", text.replacen("bundle 1", "bundle 2", 1)),
        ("lines in another order", with(&|edited| edited.lines.swap(1, 2))),
        ("a line twice", with(&|edited| edited.lines.push(edited.lines[1].clone()))),
        ("no main", with(&|edited| drop(edited.lines.remove(0)))),
        ("main that begins later", with(&|edited| edited.lines[0].first = 1)),
        ("main with a parent", with(&|edited| edited.lines[0].parent = "main".into())),
        ("a parent that is not there", with(&|edited| edited.lines[1].parent = "none".into())),
        ("a fork behind the end", with(&|edited| edited.lines[1].first = 6)),
        ("a fork before the setup", with(&|edited| edited.lines[1].first = 0)),
        ("a Genesis that is none", with(&|edited| edited.lines[0].records[0].push(0))),
        ("a record that is none", with(&|edited| edited.lines[0].records[1].push(0))),
        ("a name that is none", with(&|edited| edited.name = "Duel".into())),
        (
            "a note that is no checkpoint",
            with(&|edited| edited.notes.push("x\n\n\u{2014} a AAAAAAA=\n".into())),
        ),
        ("a note that is none", with(&|edited| edited.notes.push("x\n".into()))),
        ("no match", "turnfold bundle 1\n-- line main - 0 0\n".into()),
    ] {
        refused(&sandbox, what, broken.as_bytes());
    }
    sandbox.write("duel.crlf", text.replace('\n', "\r\n"));
    refused(&sandbox, "CRLF", text.replace('\n', "\r\n").as_bytes());
}

#[test]
fn tr_20a_a_bundle_keeps_identity_in_another_store() {
    let sandbox = duel();
    sandbox.ok(r#"play duel@flank "p2: cycle" --once k"#);
    sandbox.ok("bundle duel -o duel.bundle");
    let output = sandbox.ok("--store other import duel.bundle");
    let expected = "duel@main: imported, 4 entries\nduel@edge: imported, 0 entries after main:3\n\
                    duel@flank: imported, 2 entries after main:2\n";
    assert_eq!(output, expected);
    sandbox.ok("--store other verify");
    sandbox.ok("--store other store check");
    // Ids, times, keys and links are the same, so the bundle is too, and a signature from one store is valid for the
    // other.
    sandbox.ok("--store other bundle duel -o again.bundle");
    assert_eq!(sandbox.read("again.bundle"), sandbox.read("duel.bundle"));
    sandbox.ok("checkpoint sign duel --key ann.key");
    sandbox.ok("--store other checkpoint sign duel --key ann.key");
    let again = sandbox.ok("--store other import duel.bundle");
    assert_eq!(again.matches("already up to date").count(), 3, "{again}");
    // The other store also knows the key of a repeated append.
    let repeated = sandbox.ok(r#"--store other play duel@flank "p2: cycle" --once k"#);
    assert_eq!(sandbox.ok("--store other log duel@flank").lines().count(), 4, "{repeated}");
}

#[test]
fn tr_20a_two_who_trust_each_other_go_on_with_one_match() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("--store bob import duel.bundle");
    sandbox.ok(r#"--store bob play duel "p2: cycle" "p2: cycle" --once two"#);
    sandbox.ok(r#"--store bob play duel "p2: cycle""#);
    sandbox.ok("--store bob branch duel:6 late");
    sandbox.ok("--store bob bundle duel -o back.bundle");
    let output = sandbox.ok("import back.bundle");
    assert!(output.contains("duel@main: 3 entries added after entry 4\n"), "{output}");
    assert!(output.contains("duel@late: imported, 0 entries after main:6\n"), "{output}");
    sandbox.ok("verify");
    let heads = |store: &str| sandbox.ok(&format!("--store {store} branch duel"));
    assert_eq!(heads(".turnfold"), heads("bob"));
    // An older bundle is up to date. A bundle that diverges is refused with branch and entry, and can become a branch.
    assert!(sandbox.ok("import duel.bundle").contains("duel@main: already up to date"));
    sandbox.ok(r#"play duel "p2: cycle""#);
    sandbox.ok(r#"--store bob play duel "p2: confirm""#);
    sandbox.ok("--store bob bundle duel --force -o back.bundle");
    let before = without_links(&sandbox.ok("branch duel"));
    refuses(
        &sandbox,
        1,
        "import back.bundle",
        "`duel@main` diverges from the stored branch at entry 8; `--branch NAME`",
    );
    assert_eq!(without_links(&sandbox.ok("branch duel")), before);
    refuses(&sandbox, 1, "import back.bundle --branch late", "has a branch `late`");
    let output = sandbox.ok("import back.bundle --branch theirs");
    assert!(output.contains("duel@theirs: imported, 1 entry after main:7"), "{output}");
    sandbox.ok("verify");
    refuses(&sandbox, 1, "import duel.bundle --branch more", "no branch diverges");
}

#[test]
fn tr_20a_a_branch_that_begins_elsewhere_does_not_go_on() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("--store bob import duel.bundle");
    sandbox.ok("--store bob branch --delete --force duel@flank");
    sandbox.ok("--store bob branch duel:3 flank");
    sandbox.ok(r#"--store bob play duel@flank "p2: cycle" "p2: cycle""#);
    sandbox.ok("--store bob bundle duel -o back.bundle");
    let elsewhere = "`duel@flank` begins after entry 3 in the bundle and elsewhere in the store";
    refuses(&sandbox, 1, "import back.bundle --branch theirs", elsewhere);
}

#[test]
fn tr_20a_a_store_whose_creation_was_cut_short_takes_a_bundle_as_it_takes_a_new_match() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o duel.bundle");
    for verb in ["new other --rules cycletap", "import duel.bundle"] {
        let store = format!("cut-{}", verb.len());
        fs::create_dir(sandbox.path(&store)).unwrap();
        sandbox.write(&format!("{store}/LOCK"), "");
        sandbox.ok(&format!("--store {store} {verb}"));
        sandbox.ok(&format!("--store {store} verify"));
    }
    // Nothing is written to a folder that is not a store.
    fs::create_dir(sandbox.path("letters")).unwrap();
    sandbox.write("letters/mum.txt", "");
    refuses(&sandbox, 3, "--store letters import duel.bundle", "`letters` is not a turnfold store");
    assert_eq!(fs::read_dir(sandbox.path("letters")).unwrap().count(), 1);
}

#[test]
fn tr_20a_names_are_of_this_store() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("rename duel final");
    assert!(sandbox.ok("import duel.bundle").contains("final@main: already up to date"));
    refuses(&sandbox, 2, "import duel.bundle --name other", "has this match as `final`");
    sandbox.ok("--store other new duel --rules initiative");
    refuses(
        &sandbox,
        1,
        "--store other import duel.bundle",
        "another match has the name `duel`; give this one another with `--name`",
    );
    sandbox.ok("--store other import duel.bundle --name theirs");
    sandbox.ok("--store other verify");
    assert!(sandbox.ok("--store other import duel.bundle").contains("theirs@main: already up to date"));
}

#[test]
fn tr_20a_nothing_is_imported_that_is_wrong() {
    let sandbox = duel();
    sandbox.ok("bundle duel -o duel.bundle");
    let honest = Edited::of(&sandbox.read("duel.bundle"));
    let changed = honest.clone().with_entry(0, 2, |entry| entry.recorded_at_ms += 1);
    let against_rules =
        honest.clone().with_entry(0, 3, |entry| entry.seat = turnfold_core::Seat::P2).relinked();
    for (edited, why) in [(changed, "chain: duel:4: "), (against_rules, "rules: duel:3: ")] {
        sandbox.write("wrong.bundle", edited.text());
        refuses(&sandbox, 1, "--store other import wrong.bundle", why);
        assert!(!sandbox.path("other").exists());
    }
    // A match that this build cannot fold is imported unchanged.
    let later = honest.clone().with_genesis(|genesis| genesis.ruleset_version = 99).relinked();
    sandbox.write("later.bundle", later.text());
    let output = sandbox.ok("--store other import later.bundle");
    assert!(output.contains("not checked rules: duel: this build has version 1"), "{output}");
    // The same id with another setup.
    let other = honest.with_genesis(|genesis| genesis.title = "another".into()).relinked();
    sandbox.write("wrong.bundle", other.text());
    refuses(&sandbox, 1, "import wrong.bundle", "has the same id and another setup");
    refuses(&sandbox, 2, "import duel.tfl --branch x", "for bundles");
}

#[test]
fn tr_20_a_seats_bundle_leaves_out_what_it_may_not_know() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok(r#"play ford "tap 0,1" "tap 0,0" switch --once order:4f2a7791c0"#);
    sandbox.ok(r#"play ford "tap 1,-2""#);
    with_key(&sandbox);
    sandbox.ok("bundle ford --as p2 --key ann.key -o p2.bundle");
    let text = sandbox.read("p2.bundle");
    let marks: String = text.lines().skip(3).take(5).filter_map(|line| line.chars().next()).collect();
    assert_eq!(marks, "+###+", "p1's taps and its switch are left out:\n{text}");
    // Lines of a checkpoint may begin with the same character.
    for record in text.lines().skip(3).take(5).filter_map(|line| line.strip_prefix('+')) {
        let record = super::from_base64(record);
        assert!(!record.windows(5).any(|bytes| bytes == b"order"), "no key of theirs is there");
    }
    let (ok, rows) = audit(&sandbox, "p2.bundle --policy policy");
    let results: Vec<_> = rows.iter().map(|(_, row)| row.result.as_str()).collect();
    // The tree is complete, so redacted records are covered by the signature too.
    let expected = [
        "pass",
        "not_checked",
        "pass",
        "not_checked",
        "not_checked",
        "not_applicable",
        "not_checked",
        "not_checked",
    ];
    assert_eq!((ok, results), (true, expected.to_vec()), "{rows:?}");
    for place in [1, 6] {
        assert!(rows[place].1.reason.contains("records are left out"), "{rows:?}");
    }
    refuses(&sandbox, 1, "--store other import p2.bundle", "records are left out");
    // Nothing is redacted for a viewer who may know everything.
    sandbox.ok("bundle ford --as host -o host.bundle");
    sandbox.ok("bundle ford -o all.bundle");
    assert!(!sandbox.read("all.bundle").contains("\n#"));
}

#[test]
fn tr_20_a_seats_bundle_is_refused_where_what_is_left_out_could_be_guessed() {
    let sandbox = Sandbox::new();
    sandbox.ok("new plain --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok(r#"play plain "tap 0,1" "tap 0,0" switch"#);
    refuses(&sandbox, 1, "bundle plain --as p2 -o x", "entry 1 of `plain` has no key");
    sandbox.ok("new keyed --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok(r#"play keyed "tap 0,1" "tap 0,0" switch --once k"#);
    refuses(&sandbox, 1, "bundle keyed --as p2 -o x", "entry 1 of `keyed` has no key");
    sandbox.ok("new seeded --rules cycletap --setup fixtures/cycletap/ford.toml --dice seeded");
    refuses(&sandbox, 1, "bundle seeded --as p2 -o x", "has the seed of its dice");
    sandbox.ok("new dealt --rules channel --setup fixtures/channel/dealt-for-two.toml");
    refuses(&sandbox, 1, "bundle dealt --as p2 -o x", "the setup of `dealt` reveals what is dealt");
    // A refusal must not reveal whether p1 conceals anything.
    sandbox.ok("new shown --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok("play shown switch");
    refuses(&sandbox, 1, "bundle shown --as p2 -o x", "entry 1 of `shown` has no key");
    assert!(!sandbox.path("x").exists());
    sandbox.ok("bundle plain keyed seeded dealt shown -o x");
}
