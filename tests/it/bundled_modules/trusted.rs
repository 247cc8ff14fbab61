//! Who vouches for the rules of a bundle: they are built in, the auditor's own, signed, listed in a policy, or only in
//! the bundle (TR-27, MD-10).

use std::fmt::Write as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use turnfold_core::{DicePolicy, Digest};
use turnfold_store::{Genesis, Store};
use turnfold_tests::sandbox::{Sandbox, workspace};

use super::{DIGEST, bundled_elsewhere, module, recorded, with_file};

/// Returns the result and the reason of the row `rules` of an audit.
fn rules_of(sandbox: &Sandbox, line: &str) -> (String, String) {
    let output = sandbox.run(&format!("--format json audit {line}"));
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{line}: {}", String::from_utf8_lossy(&output.stderr)));
    let mut rows = document["rows"].as_array().unwrap().iter();
    let row = rows.find(|row| row["row"] == "rules").unwrap();
    let text = |name: &str| row[name].as_str().unwrap().to_owned();
    (text("result"), text("reason"))
}

fn expect(sandbox: &Sandbox, line: &str, result: &str, reason: &str) {
    let (found, why) = rules_of(sandbox, line);
    assert!(found == result && why.contains(reason), "{line}: {found} {why}");
}

/// Adds a file to a bundle as a module.
fn with_module(bundle: &str, file: &[u8]) -> String {
    let (before, _) = bundle.rsplit_once("-- end ").unwrap();
    let mut text = format!("{before}-- module {}\n", file.len());
    for part in file.chunks(49_152) {
        writeln!(text, "+{}", STANDARD.encode(part)).unwrap();
    }
    let end = Digest::new(Sha256::digest(&text).into());
    text + &format!("-- end {end}\n")
}

/// Returns a module that claims the name of a game but answers differently.
fn impostor(name: &str, otherwise: &str) -> Vec<u8> {
    let described = format!(
        r##"{{"id":1,"ok":{{"name":"{name}","version":1,"summary":"a toy","example":"","rulebook":"# Toy\n\nNothing.\n","secrets":"none","encoding":"bytes","can":["see","choices"]}}}}"##
    );
    let started = r#"{"id":1,"ok":{"state":"AA==","status":{"players":["p1","p2"]}}}"#;
    let setup = r#"{"id":1,"ok":"AA=="}"#;
    let none = r#"{"id":1,"ok":[{"no":"there are no rolls"}]}"#;
    // A module that hangs does so in every operation that is not answered here.
    let (mut at, mut data, mut cases) = (16, String::new(), String::new());
    let answers =
        [("hell", described.as_str()), ("setu", setup), ("star", started), ("fold", started), ("comm", none)];
    let count = if otherwise.is_empty() { 5 } else { 4 };
    for (letters, answer) in answers.into_iter().take(count) {
        let bytes: Vec<String> = answer.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        write!(data, "(data (i32.const {at}) \"{}\")", bytes.concat()).unwrap();
        let op = u32::from_le_bytes(letters.as_bytes().try_into().unwrap());
        let is_asked = format!("(i32.eq (i32.load offset=14 (local.get 0)) (i32.const {op}))");
        let place = (at << 32) | answer.len();
        write!(cases, "(if {is_asked} (then (return (i64.const {place}))))").unwrap();
        at += answer.len();
    }
    let text = format!(
        r#"(module (memory (export "memory") 32) {data}
            (func (export "turnfold_abi") (result i32) (i32.const 2))
            (func (export "turnfold_alloc") (param i32) (result i32) (i32.const 1048576))
            (func (export "turnfold_call") (param i32 i32) (result i64) {cases} {otherwise} unreachable))"#
    );
    wat::parse_str(text).unwrap()
}

/// Returns a sandbox with a bundle of a match without entries that pins a module, including the module.
fn pinned_to(file: &[u8], ruleset: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    let genesis = Genesis {
        format: Genesis::FORMAT,
        ruleset: ruleset.into(),
        ruleset_version: 1,
        setup: vec![0],
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: "a match".into(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    };
    let genesis = genesis.pinned(Some(blake3::hash(file).into()));
    store.create_match(&"duel".parse().unwrap(), &genesis, Vec::new()).unwrap();
    store.close().unwrap();
    sandbox.ok("bundle duel --without-modules -o bare.bundle");
    with_file("duel.bundle", with_module(&sandbox.read("bare.bundle"), file).as_bytes())
}

/// A module in a bundle proves nothing until someone whom the auditor trusts vouches for it.
#[test]
fn rules_that_only_the_bundle_brings_are_not_checked() {
    let sandbox = bundled_elsewhere("");
    let brought = format!("rules brought by the bundle: module {DIGEST}, and no signature covers the pin");
    expect(&sandbox, "duel.bundle", "not_checked", &brought);
    // The auditor has the module already.
    sandbox.write("game.wasm", module());
    expect(&sandbox, "duel.bundle --modules .", "pass", &format!("by the pinned module {DIGEST}"));
    // A policy lists it, or lists another.
    sandbox.write("list", format!("quorum none\nmodule {DIGEST}\n"));
    expect(&sandbox, "duel.bundle --policy list", "pass", "by the pinned module");
    sandbox.write("other", format!("quorum none\nmodule {}\n", "0".repeat(64)));
    expect(&sandbox, "duel.bundle --policy other", "not_checked", "and the policy does not list it");
    for (bad, why) in [("module 12\n", "12"), (&*format!("module {DIGEST}\nmodule {DIGEST}\n"), "twice")] {
        sandbox.write("bad", format!("quorum none\n{bad}"));
        let output = sandbox.run("audit duel.bundle --policy bad");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(why), "{error}");
    }
}

/// The pin is in the first record, so whoever signs the match vouches for the digest.
#[test]
fn a_signature_of_the_policy_vouches_for_the_module_that_a_match_pins() {
    let sandbox = recorded();
    sandbox.write("ann.vkey", sandbox.ok("key new ann.key --name games.example/ann"));
    sandbox.ok("bundle duel --key ann.key -o duel.bundle");
    let elsewhere = with_file("duel.bundle", &fs::read(sandbox.path("duel.bundle")).unwrap());
    elsewhere.write("policy", format!("log {}quorum none\n", sandbox.read("ann.vkey")));
    expect(&elsewhere, "duel.bundle --policy policy", "pass", &format!("by the pinned module {DIGEST}"));
    expect(&elsewhere, "duel.bundle", "not_checked", "rules brought by the bundle");
    let other = Sandbox::new().ok("key new bob.key --name games.example/bob");
    elsewhere.write("policy", format!("log {other}quorum none\n"));
    expect(&elsewhere, "duel.bundle --policy policy", "not_checked", "no signature covers the pin");
}

/// Any module can claim the name of a built-in game.
#[test]
fn where_a_game_is_built_in_it_judges_and_a_module_of_its_name_does_not() {
    let evil = pinned_to(&impostor("initiative", ""), "initiative");
    expect(&evil, "duel.bundle", "fail", "the rules built in refuse the setup: ");
    // The same rules as a module agree with the built-in rules.
    let packed = fs::read(workspace().join("fixtures/modules/initiative.wasm")).unwrap();
    let sandbox = Sandbox::new();
    let digest = Digest::from(blake3::hash(&packed));
    fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.write(&format!(".turnfold/modules/{digest}.wasm"), &packed);
    sandbox.ok(&format!("new duel --module {digest}"));
    sandbox.ok("play duel \"roll 1 2 3 4\" confirm");
    sandbox.ok("bundle duel -o duel.bundle");
    let also = format!("initiative 1 by the rules built in and by the pinned module {digest}");
    expect(&sandbox, "duel.bundle", "pass", &also);
    let listed = sandbox.ok("game list");
    assert!(listed.contains("; warning: a game that is built in has its name and version"), "{listed}");
    let elsewhere = with_file("duel.bundle", &fs::read(sandbox.path("duel.bundle")).unwrap());
    expect(&elsewhere, "duel.bundle", "pass", &also);
}

/// A file that no match needs is not loaded.
#[test]
fn a_surplus_module_does_not_spoil_the_row() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative");
    sandbox.ok("bundle duel -o duel.bundle");
    let bundle = sandbox.read("duel.bundle");
    for surplus in [b"no module".to_vec(), module(), impostor("initiative", "")] {
        sandbox.write("more.bundle", with_module(&bundle, &surplus));
        expect(&sandbox, "more.bundle", "pass", "0 entries of 1 branch folded from the setup");
    }
    // A file that a match pins must load.
    let sandbox = pinned_to(b"no module", "tictactoe");
    expect(&sandbox, "duel.bundle", "not_checked", "no WebAssembly of a module");
}

/// A module of the bundle folds a match without a pin. This reveals errors but proves nothing.
#[test]
fn an_unpinned_match_gets_no_pass_by_the_module_that_the_bundle_brings() {
    let sandbox = recorded();
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    let pinned = store.genesis(&"duel".parse().unwrap()).unwrap();
    let unpinned = Genesis { match_id: [7; 16], ..pinned }.pinned(None);
    store.create_match(&"open".parse().unwrap(), &unpinned, Vec::new()).unwrap();
    store.close().unwrap();
    sandbox.ok("bundle open -o open.bundle");
    let bundle = with_module(&sandbox.read("open.bundle"), &module());
    let elsewhere = with_file("open.bundle", bundle.as_bytes());
    expect(&elsewhere, "open.bundle", "not_checked", &format!("module {DIGEST}, and the match pins none"));
    expect(&sandbox, "open.bundle", "pass", "by the only module");
}

/// All module calls of an audit, or of the laws in a check, share one time limit, however many there are.
#[test]
fn modules_that_hang_end_a_check_and_an_audit_in_their_time() {
    let endless = "(loop (br 0))";
    let sandbox = pinned_to(&impostor("hangs", endless), "hangs");
    sandbox.write("hangs.wasm", impostor("hangs", endless));
    let output = sandbox.run("game check hangs.wasm --seconds 1");
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{found}");
    assert_eq!(found, "hangs: the laws were not all tried within 1 s; `--seconds` gives them more\n");
    let output = sandbox.run("game add hangs.wasm --seconds 1");
    let found = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && found.contains("not all tried within 1 s"), "{found}");
    // The match has no entries; the module hangs when asked about a roll.
    let (_, why) = rules_of(&sandbox, "duel.bundle --seconds 1");
    assert!(why.contains("the modules have used up their 1 s"), "{why}");
}

/// Titles must obey their limit wherever they come from.
#[test]
fn a_title_beyond_its_limit_is_no_title_of_a_bundle() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative");
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    let known = store.genesis(&"duel".parse().unwrap()).unwrap();
    let titled = |title: &str, id: u8| Genesis { match_id: [id; 16], title: title.into(), ..known.clone() };
    for (name, title, id) in
        [("long", "x".repeat(201), 1), ("bell", "a\u{7}".into(), 2), ("good", "x".repeat(200), 3)]
    {
        store.create_match(&name.parse().unwrap(), &titled(&title, id), Vec::new()).unwrap();
    }
    store.close().unwrap();
    for name in ["long", "bell", "good"] {
        sandbox.ok(&format!("bundle {name} -o {name}.bundle"));
    }
    sandbox.ok("--store elsewhere import good.bundle");
    for name in ["long", "bell"] {
        let output = sandbox.run(&format!("--store elsewhere import {name}.bundle"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert_ne!(output.status.code(), Some(0));
        assert!(error.contains("expected a title of at most 200 characters"), "{error}");
    }
}

/// An unknown game may be in a file that does not load.
#[test]
fn new_names_the_module_that_does_not_load() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("games")).unwrap();
    sandbox.write("games/broken.wasm", "this is no WebAssembly");
    let output = sandbox.run("--modules games new duel --rules tictactoe");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let expected = "`games/broken.wasm` does not load: no WebAssembly of a module: it does not begin as WebAssembly does";
    assert!(error.contains("unknown ruleset `tictactoe`") && error.contains(expected), "{error}");
}
