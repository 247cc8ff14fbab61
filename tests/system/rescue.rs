//! Rescue through the real binary: every golden log comes back byte for byte, and killed processes leave the source as
//! it was and the target whole or absent.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use turnfold_core::dice::DiceStream;
use turnfold_core::registry::rulesets;
use turnfold_core::{DicePolicy, Seat};
use turnfold_store::{BranchName, Genesis, NewEntry, Store};

use turnfold_tests::sandbox::{Sandbox, workspace};

fn goldens(ruleset: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(workspace().join("replays").join(ruleset)).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "tfl"));
    files.sort();
    files
}

/// Everything a store tells, in the order of names.
fn contents(dir: &Path) -> Vec<String> {
    let store = Store::open(dir).unwrap();
    let mut told = Vec::new();
    for info in store.matches_after(None).unwrap() {
        let name = info.unwrap().name;
        for branch in store.branches(&name).unwrap() {
            let log = store.read(&name, &branch.name, None).unwrap();
            told.push(format!("{name} {branch:?} {log:?}"));
        }
    }
    assert_eq!(store.check(&mut |_| {}).unwrap().damage, []);
    store.close().unwrap();
    told
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
    // A replay is made of nothing but the log; one match of each ruleset shows that it comes out the same.
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

/// A store that takes a while to copy.
fn large(dir: &Path) -> Vec<String> {
    let rules = rulesets().swap_remove(0);
    let genesis = |number: u8| Genesis {
        format: Genesis::FORMAT,
        ruleset: rules.name().to_owned(),
        ruleset_version: rules.version(),
        setup: Vec::new(),
        dice: DicePolicy::Recorded,
        match_id: [number; 16],
        title: String::new(),
        created_at_ms: 0,
        origins: Vec::new(),
    };
    let store = Store::open_or_create(dir).unwrap();
    for number in 0..40 {
        let entry = |label: u32| NewEntry {
            seat: Seat::P1,
            command: label.to_le_bytes().to_vec(),
            recorded_at_ms: 0,
        };
        let name = format!("m{number}").parse().unwrap();
        store.create_match(&name, &genesis(number), (0..250).map(entry).collect()).unwrap();
        store.create_branch(&name, &"line".parse().unwrap(), &BranchName::main(), 100).unwrap();
    }
    // Much that a compaction removes.
    let (name, line) = ("m0".parse().unwrap(), "passing".parse().unwrap());
    for _ in 0..20 {
        store.create_branch(&name, &line, &BranchName::main(), 1).unwrap();
        let entry = NewEntry { seat: Seat::P1, command: vec![7; 60_000], recorded_at_ms: 0 };
        store.append(&name, &line, 1, vec![entry], None).unwrap();
        store.delete_branch(&name, &line).unwrap();
    }
    store.close().unwrap();
    contents(dir)
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() { copy_dir(&path, &target) } else { _ = fs::copy(&path, &target).unwrap() }
    }
}

#[expect(clippy::disallowed_methods, reason = "decides when to kill, not whether the test passes")]
fn time_of(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Kills a command at many moments and looks at what is there each time; tells how often it was killed in time.
fn kill_often(sandbox: &Sandbox, line: &str, rounds: i32, mut look: impl FnMut(i32, bool)) {
    let words: Vec<_> = line.split(' ').collect();
    let whole_call = time_of(|| drop(sandbox.ok(line)));
    look(-1, true);
    let latest = i32::try_from(whole_call.as_micros() * 5 / 4).unwrap();
    let mut moments = DiceStream::new(&[7; 32], 0);
    for round in 0..rounds {
        let mut command = sandbox.command(words.iter().copied());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(u64::try_from(moments.draw(0, latest)).unwrap()));
        // On Unix this is SIGKILL.
        child.kill().unwrap();
        let is_done = child.wait().unwrap().success();
        look(round, is_done);
    }
}

#[test]
fn kill_9_during_backup_restore_and_compact_leaves_the_source_and_no_half_target() {
    const ROUNDS: i32 = 12;
    let sandbox = Sandbox::new();
    let original = large(&sandbox.path(".turnfold"));
    sandbox.ok("store backup whole.tfb");
    let whole = fs::read(sandbox.path("whole.tfb")).unwrap();

    kill_often(&sandbox, "store backup killed.tfb", ROUNDS, |round, is_done| {
        match fs::read(sandbox.path("killed.tfb")) {
            Ok(found) => assert!(found == whole, "round {round}"),
            Err(_) => assert!(!is_done, "round {round}"),
        }
        let _ = fs::remove_file(sandbox.path("killed.tfb"));
    });
    assert!(contents(&sandbox.path(".turnfold")) == original);

    kill_often(&sandbox, "store restore whole.tfb killed", ROUNDS, |round, is_done| {
        let dir = sandbox.path("killed");
        assert!(dir.exists() || !is_done, "round {round}");
        if dir.exists() {
            assert!(contents(&dir) == original, "round {round}");
            fs::remove_dir_all(&dir).unwrap();
        }
    });
    assert!(fs::read(sandbox.path("whole.tfb")).unwrap() == whole);

    copy_dir(&sandbox.path(".turnfold"), &sandbox.path("aside"));
    let mut compacted = 0;
    kill_often(&sandbox, "store compact", ROUNDS, |round, _| {
        let dir = sandbox.path(".turnfold");
        assert!(contents(&dir) == original, "round {round}");
        let left = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().contains("compact")), "round {round}");
        let head = |dir: &Path| fs::read(dir.join("journal/head.a")).unwrap();
        compacted += i32::from(head(&dir) != head(&sandbox.path("aside")));
        fs::remove_dir_all(&dir).unwrap();
        copy_dir(&sandbox.path("aside"), &dir);
    });
    assert!(compacted > 0, "none came to its end");
}

/// Every branch with its entries, as its name and how many there are.
fn lengths(dir: &Path) -> BTreeMap<String, u64> {
    let store = Store::open(dir).unwrap();
    let mut lengths = BTreeMap::new();
    for info in store.matches().unwrap() {
        for branch in store.branches(&info.name).unwrap() {
            lengths.insert(format!("{}@{}", info.name, branch.name), branch.head);
        }
    }
    store.close().unwrap();
    lengths
}

/// Flips a bit of a file in the used part of it, a part in a thousand from its beginning.
fn flip(file: &Path, per_mille: usize) {
    let mut bytes = fs::read(file).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    bytes[used * per_mille / 1000] ^= 4;
    fs::write(file, bytes).unwrap();
}

#[test]
fn salvage_of_a_damaged_journal_names_every_branch_that_is_not_whole() {
    let sandbox = Sandbox::new();
    let original = large(&sandbox.path(".turnfold"));
    let lengths_before = lengths(&sandbox.path(".turnfold"));
    let journal = fs::read_dir(sandbox.path(".turnfold/journal")).unwrap();
    let mut files: Vec<_> = journal.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    for (case, place) in [50, 180, 370, 520, 666, 777, 880, 990].into_iter().enumerate() {
        let dir = sandbox.path("damaged");
        copy_dir(&sandbox.path(".turnfold"), &dir);
        flip(&dir.join("journal").join(&files[case % files.len()]), place);
        let has_index = case % 2 == 0;
        if !has_index {
            fs::remove_dir_all(dir.join("sled")).unwrap();
        }
        let output = sandbox.run("store salvage damaged saved");
        let told = String::from_utf8(output.stdout).unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{place}: {told}");
        assert_eq!(code == Some(1), told.contains("lost"), "{place}: {told}");
        let saved = lengths(&sandbox.path("saved"));
        for (branch, length) in &lengths_before {
            let match_name = branch.split('@').next().unwrap();
            let is_named = told.contains(&format!("lost {branch}"))
                || told.contains(&format!("lost {match_name}:"))
                || told.contains("missing or unreadable") && !saved.contains_key(branch);
            assert!(saved.get(branch) == Some(length) || is_named, "{place}: {branch} is not named: {told}");
        }
        if code == Some(0) {
            assert!(told.starts_with("saved everything"), "{told}");
            assert!(contents(&sandbox.path("saved")) == original, "{place}");
        }
        fs::remove_dir_all(&dir).unwrap();
        fs::remove_dir_all(sandbox.path("saved")).unwrap();
    }
}
