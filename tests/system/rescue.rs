//! Rescue with the real binary: every golden log is recovered byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use turnfold_games::rulesets;
use turnfold_store::Store;

use turnfold_tests::sandbox::{Sandbox, workspace};

fn goldens(ruleset: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(workspace().join("replays").join(ruleset)).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "tfl"));
    files.sort();
    files
}

/// Returns the contents of a store in the order of names.
fn contents(dir: &Path) -> Vec<String> {
    let store = Store::open(dir).unwrap();
    let mut lines = Vec::new();
    for info in store.matches_after(None).unwrap() {
        let name = info.unwrap().name;
        for branch in store.branches(&name).unwrap() {
            let log = store.read(&name, &branch.name, None).unwrap();
            lines.push(format!("{name} {branch:?} {log:?}"));
        }
    }
    assert_eq!(store.check(&mut |_| {}).unwrap().damage, []);
    store.close().unwrap();
    lines
}

#[test]
fn all_goldens_come_back_byte_for_byte_restored_salvaged_and_compacted() {
    let sandbox = Sandbox::new();
    let mut exported = Vec::new();
    for rules in rulesets() {
        let ruleset = rules.name();
        let files = goldens(ruleset);
        for (place, file) in files.iter().enumerate() {
            let name = format!("{ruleset}.{place}");
            sandbox.ok(&format!("import {} --name {name}", file.display()));
            if place == 0 {
                exported.push(name);
            }
        }
    }
    for name in exported.clone() {
        sandbox.ok(&format!("branch {name}:1 line"));
        exported.push(format!("{name}@line"));
    }
    let stores = [".turnfold", "restored", "salvaged", "compacted"];
    sandbox.ok("store backup --compress all.tfb");
    sandbox.ok("store restore all.tfb restored");
    sandbox.ok("store restore all.tfb compacted");
    sandbox.ok("--store compacted store compact");
    sandbox.ok("store salvage .turnfold salvaged");
    let original = contents(&sandbox.path(".turnfold"));
    assert!(original.len() > 2 * rulesets().len());
    // A replay depends only on the log, so one match of each ruleset is enough.
    for dir in stores {
        assert!(contents(&sandbox.path(dir)) == original, "{dir}");
    }
    for name in exported {
        let export = |dir: &str| sandbox.ok(&format!("--store {dir} export {name}"));
        let original = export(".turnfold");
        for dir in stores {
            assert!(export(dir) == original, "{dir}: {name}");
        }
    }
}
