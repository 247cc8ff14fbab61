//! Bundles with modules that are damaged, belong to other matches, are hostile or break the laws (MD-7, MD-10).

use std::fmt::Write as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use turnfold_core::DicePolicy;
use turnfold_store::{Genesis, Store};
use turnfold_tests::sandbox::Sandbox;

use super::{bundled_elsewhere, module, with_file};

/// The replies of a game with two players and no commands.
const DESCRIBED: &str = r#"{"id":1,"ok":{"name":"toy","version":7,"summary":"a toy","example":"","rulebook":"","secrets":"none","encoding":"bytes","can":["see","choices"]}}"#;
const STARTED: &str = r#"{"id":1,"ok":{"state":"AA==","status":{"players":["p1","p2"]}}}"#;
const NO_ROLL: &str = r#"{"id":1,"ok":[{"no":"there are no rolls"}]}"#;

/// Returns a module that can only describe itself, and start and resume a match. It runs `instructions` before its
/// answer to the operation that begins with the letters `hostile`.
fn toy(hostile: &str, instructions: &str) -> Vec<u8> {
    let (mut texts, mut cases, mut at) = (String::new(), String::new(), 16);
    let ops = [("hell", DESCRIBED), ("comm", NO_ROLL), ("star", STARTED), ("fold", STARTED)];
    for (letters, text) in ops {
        let instructions = if letters == hostile { instructions } else { "" };
        let escaped: String = text.bytes().fold(String::new(), |hex, byte| hex + &format!("\\{byte:02x}"));
        writeln!(texts, "(data (i32.const {at}) \"{escaped}\")").unwrap();
        let op = u32::from_le_bytes(letters.as_bytes().try_into().unwrap());
        let answer = (at << 32) | text.len();
        let is_asked = format!("(i32.eq (i32.load offset=14 (local.get 0)) (i32.const {op}))");
        writeln!(cases, "(if {is_asked} (then {instructions} (return (i64.const {answer}))))").unwrap();
        at += text.len();
    }
    let text = format!(
        r#"(module
            (memory (export "memory") 32)
            {texts}
            (func (export "turnfold_abi") (result i32) (i32.const 2))
            (func (export "turnfold_alloc") (param i32) (result i32) (i32.const 1048576))
            (func (export "turnfold_call") (param i32 i32) (result i64) {cases} unreachable))"#
    );
    wat::parse_str(text).unwrap()
}

/// Bundles a match without entries that pins a module, and returns a sandbox with only the bundle.
fn bundle_of(module: &[u8]) -> Sandbox {
    let sandbox = Sandbox::new();
    let genesis = Genesis {
        format: Genesis::FORMAT,
        ruleset: "toy".into(),
        ruleset_version: 7,
        setup: Vec::new(),
        dice: DicePolicy::Recorded,
        match_id: [7; 16],
        title: String::new(),
        created_at_ms: 0,
        module: None,
        played_by: None,
        origins: Vec::new(),
    };
    let genesis = genesis.pinned(Some(blake3::hash(module).into()));
    let store = Store::open_or_create(&sandbox.path(".turnfold")).unwrap();
    store.create_match(&"duel".parse().unwrap(), &genesis, Vec::new()).unwrap();
    store.close().unwrap();
    fs::create_dir(sandbox.path(".turnfold/modules")).unwrap();
    sandbox.write(".turnfold/modules/toy.wasm", module);
    sandbox.ok("bundle duel -o duel.bundle");
    with_file("duel.bundle", &fs::read(sandbox.path("duel.bundle")).unwrap())
}

/// Replaces the modules of a bundle with these files, and its last line to match.
fn with_modules(bundle: &str, modules: &[&[u8]]) -> String {
    let mut text = bundle.split_once("-- module ").unwrap().0.to_owned();
    for module in modules {
        writeln!(text, "-- module {}", module.len()).unwrap();
        for part in module.chunks(49_152) {
            writeln!(text, "+{}", STANDARD.encode(part)).unwrap();
        }
    }
    let end =
        Sha256::digest(text.as_bytes()).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    text + "-- end " + &end + "\n"
}

/// Returns the rows of an audit, except those about checkpoints.
fn rows(sandbox: &Sandbox) -> Vec<String> {
    let audited = sandbox.run("audit duel.bundle --seconds 1");
    assert!(audited.stderr.is_empty(), "{}", String::from_utf8_lossy(&audited.stderr));
    let rows = String::from_utf8(audited.stdout).unwrap();
    let is_shown = |row: &&str| ["bytes", "rules"].iter().any(|name| row.starts_with(name));
    rows.lines().filter(is_shown).map(ToOwned::to_owned).collect()
}

fn row(sandbox: &Sandbox, name: &str) -> String {
    rows(sandbox).into_iter().find(|row| row.starts_with(name)).unwrap()
}

/// Requires `import` to refuse a bundle with one line of error, and to write nothing.
fn is_not_imported(sandbox: &Sandbox, expected: &str) {
    let refused = sandbox.run("import duel.bundle");
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty());
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{stderr}");
    assert!(!sandbox.path(".turnfold").exists(), "{expected}: something was written");
}

#[test]
fn md_10_a_damaged_module_damages_its_bundle() {
    let sandbox = bundled_elsewhere("");
    let bundle = sandbox.read("duel.bundle");
    let (place, _) = bundle.match_indices("AGFzbQ").next().unwrap();
    let damaged = [&bundle[..place], "AGFzbR", &bundle[place + 6..]].concat();
    sandbox.write("duel.bundle", damaged);
    assert!(row(&sandbox, "bytes").contains("FAIL        line"), "{}", row(&sandbox, "bytes"));
    is_not_imported(&sandbox, "the bytes above have a different hash");
}

#[test]
fn md_10_the_digest_of_a_module_is_computed_and_never_believed() {
    let sandbox = bundled_elsewhere("");
    let bundle = sandbox.read("duel.bundle");
    let missing = "NOT CHECKED duel: the module 7d7e68dac64fd2eaa2d593ef0f4bfac9a597ea043d7826bc2c11172b3fa50eee of \
                   `tictactoe` version 1 is missing";
    let mut changed = module();
    changed.extend(b"\0\x03\x02hi"); // an extra section, so that another file has the same game
    for surplus in [changed.as_slice(), b"no module"] {
        sandbox.write("duel.bundle", with_modules(&bundle, &[surplus]));
        assert!(row(&sandbox, "bytes").contains("PASS"));
        assert!(row(&sandbox, "rules").contains(missing), "{}", row(&sandbox, "rules"));
        // The import reports what it did not check, and does not add a module that plays no match.
        let imported = sandbox.ok("--store other import duel.bundle");
        assert!(imported.contains("not checked"), "{imported}");
        assert!(!sandbox.path("other/modules").exists());
        fs::remove_dir_all(sandbox.path("other")).unwrap();
    }
    // A further module next to the right one does no harm.
    let mut both = [changed, module()];
    both.sort_by_key(|module| blake3::hash(module).to_hex());
    sandbox.write("duel.bundle", with_modules(&bundle, &[&both[0], &both[1]]));
    assert!(row(&sandbox, "rules").contains("rules brought by the bundle: module 7d7e68dac64fd2ea"));
    sandbox.write("duel.bundle", with_modules(&bundle, &[&both[1], &both[0]]));
    assert!(row(&sandbox, "bytes").contains("expected the modules in the order of their digests, each once"));
    sandbox.write("duel.bundle", with_modules(&bundle, &[&[]]));
    assert!(row(&sandbox, "bytes").contains("expected modules of at most 16777216 bytes"));
}

#[test]
fn md_10_a_hostile_module_of_a_bundle_ends_in_one_line() {
    for (hostile, instructions, ends) in [
        ("hell", "(loop (br 0))", "module DIGEST: no module of a game: the modules have used up their 1 s"),
        ("star", "(unreachable)", "ruleset toy 7 (module DIGEST): trapped: wasm `unreachable`"),
    ] {
        let module = toy(hostile, instructions);
        let sandbox = bundle_of(&module);
        let end = ends.replace("DIGEST", &blake3::hash(&module).to_hex()[..16]);
        let rules = row(&sandbox, "rules");
        assert!(rules.contains(&end) && !rules.contains("PASS"), "{rules}");
        if hostile == "star" {
            is_not_imported(&sandbox, &end);
        }
    }
}

#[test]
fn md_10_a_module_that_breaks_a_law_is_not_imported() {
    let sandbox = bundle_of(&toy("star", ""));
    let rules = row(&sandbox, "rules");
    assert!(rules.contains("NOT CHECKED duel: rules brought by the bundle"), "{rules}");
    is_not_imported(&sandbox, "nothing was imported");
}
