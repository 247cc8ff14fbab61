//! On disk: creating and reopening stores, directories that are not stores, and two processes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use turnfold_store::{BranchName, ErrorKind, Holder, NewEntry, Store, StoreError, StoreOptions};

use crate::child;
use crate::game::{branch, commands, genesis, labels, name, opaque};

pub(crate) fn dir() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    (parent, dir)
}

#[test]
fn a_store_reads_the_same_in_another_process() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), (1..=150).map(opaque).collect()).unwrap();
    let printed = child::run("locked", &dir);
    assert!(printed.contains(&format!("is locked by process {}", std::process::id())), "{printed}");
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Locked { holder: Holder::ThisProcess, .. }), "{error}");
    store.close().unwrap();
    assert_eq!(fs::read_to_string(dir.join("LOCK")).unwrap(), "");
    assert!(child::run("read", &dir).contains(&format!("read {:?}", (1..=150).collect::<Vec<_>>())));
    // And immediately in this process.
    for _ in 0..5 {
        let store = Store::open_or_create(&dir).unwrap();
        assert_eq!(store.head(&name("m"), &BranchName::main()).unwrap(), 150);
    }
    assert_eq!(fs::read_to_string(dir.join("FORMAT")).unwrap(), "turnfold store 4\n");
}

#[cfg(target_os = "linux")]
#[test]
fn the_error_about_a_lock_names_its_process_also_when_it_is_gone() {
    let check = |content: &str, expected: Holder| {
        let (_parent, dir) = dir();
        Store::open_or_create(&dir).unwrap().close().unwrap();
        let mut lock = fs::File::options().write(true).truncate(true).open(dir.join("LOCK")).unwrap();
        lock.write_all(content.as_bytes()).unwrap();
        lock.lock().unwrap();
        let error = Store::open(&dir).unwrap_err();
        let StoreError::Locked { holder, .. } = &error else { panic!("{error}") };
        assert_eq!(*holder, expected);
        assert!(error.to_string().ends_with(&holder.to_string()), "{error}");
    };
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    // Each waits a second for the lock.
    std::thread::scope(|scope| {
        scope.spawn(|| check(&format!("{}\n", child.id()), Holder::After(child.id())));
        scope.spawn(|| check("1\n", Holder::Process(1)));
        scope.spawn(|| check("1\npid:[4026531999] another-start\n", Holder::Elsewhere));
        for unknown in ["", "\n", "me", "-1", "99999999999999"] {
            scope.spawn(move || check(unknown, Holder::Unknown));
        }
    });
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_enter_the_folders_and_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let (parent, dir) = dir();
    let dir = dir.join("below");
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    store.close().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("journal")), mode(&dir.join("sled"))), (0o700, 0o700, 0o700));
    for file in ["FORMAT", "LOCK", "journal/head.a", "journal/head.b"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    // The store leaves the folders above it alone, and what its owner has permitted stays permitted.
    assert_ne!(mode(&parent.path().join("store")) & 0o055, 0);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(dir.join("journal/head.a"), fs::Permissions::from_mode(0o640)).unwrap();
    Store::open_or_create(&dir).unwrap().close().unwrap();
    assert_eq!((mode(&dir), mode(&dir.join("journal/head.a"))), (0o750, 0o640));
}

fn check_open(dir: &Path, expected: &str) {
    for result in [Store::open(dir), Store::open_or_create(dir)] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Trouble);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn what_is_no_store_is_named_and_left_alone() {
    let (parent, dir) = dir();
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }));
    assert!(error.to_string().starts_with("no store at `"), "{error}");
    assert!(!dir.exists());
    fs::create_dir(&dir).unwrap();
    assert!(matches!(Store::open(&dir).unwrap_err(), StoreError::Missing { .. }));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);

    fs::write(dir.join("letter.txt"), "dear").unwrap();
    check_open(&dir, "it has no file `FORMAT`");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);

    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    check_open(&file, "it is a file");
    check_open(&file.join("below"), "is not a turnfold store");
}

#[test]
fn other_formats_and_missing_files_are_named() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    store.close().unwrap();

    fs::write(dir.join("FORMAT"), "turnfold store 1\n").unwrap();
    check_open(&dir, "has the format `turnfold store 1`, this build knows `turnfold store 4`");
    fs::write(dir.join("FORMAT"), "turnfold").unwrap();
    check_open(&dir, "its file `FORMAT` does not say");
    fs::remove_file(dir.join("FORMAT")).unwrap();
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("it has no file `FORMAT`"), "{error}");
    let error = Store::open_or_create(&dir).unwrap_err();
    assert!(error.to_string().contains("it holds commits"), "{error}");
    fs::write(dir.join("FORMAT"), "turnfold store 4\n").unwrap();

    for head in ["journal/head.a", "journal/head.b"] {
        let bytes = fs::read(dir.join(head)).unwrap();
        fs::remove_file(dir.join(head)).unwrap();
        check_open(&dir, "is missing");
        for (other, expected) in [
            (Vec::new(), "has 0 bytes, it should have 262144"),
            (bytes[..9_000].to_vec(), "has 9000 bytes, it should have 262144"),
            (vec![0; bytes.len()], "does not begin as a head does"),
        ] {
            fs::write(dir.join(head), other).unwrap();
            check_open(&dir, expected);
        }
        fs::remove_file(dir.join(head)).unwrap();
        fs::create_dir(dir.join(head)).unwrap();
        check_open(&dir, "is not a regular file");
        fs::remove_dir(dir.join(head)).unwrap();
        fs::write(dir.join(head), bytes).unwrap();
    }
    assert_eq!(Store::open(&dir).unwrap().audit(&name("m")).unwrap().damage, []);
}

pub(crate) fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy_dir(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// ST-7, ST-15: damage to the index never affects the user. `TURNFOLD_FLIPS` sets how often each file is changed; `all`
/// changes every byte, which takes hours.
#[test]
fn damage_to_the_index_is_not_to_be_seen() {
    let (parent, dir) = dir();
    let store = StoreOptions::new().create().head_bytes(4096).open(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(300)).unwrap();
    store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 200, Vec::new()).unwrap();
    for head in 300..330 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head)], None).unwrap();
    }
    // sled keeps large values in separate files.
    for head in 330..338 {
        let large = NewEntry { command: vec![7; 60_000], ..opaque(head) };
        store.append(&name("m"), &BranchName::main(), head, vec![large], None).unwrap();
    }
    store.close().unwrap();
    let is_sound = |store: &Store, what: &str| {
        let audit = store.audit(&name("m")).unwrap();
        assert_eq!(audit.damage, [], "{what}");
        assert_eq!(
            audit.branches.iter().map(|found| found.entries).collect::<Vec<_>>(),
            [338, 200],
            "{what}"
        );
        assert_eq!(store.check(&mut |_| ()).unwrap().damage, [], "{what}");
    };
    let mut files = Vec::new();
    files_below(&dir.join("sled"), &mut files);
    assert!(files.iter().any(|file| file.ends_with("db")));
    assert!(files.iter().any(|file| file.parent().is_some_and(|folder| folder.ends_with("blobs"))));
    let copy = parent.path().join("copy");
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or_default() + 1;
        let file = copy.join(file.strip_prefix(&dir).unwrap());
        let rounds = match std::env::var("TURNFOLD_FLIPS").as_deref() {
            Ok("all") => used,
            Ok(flips) => flips.parse::<usize>().unwrap().min(used),
            Err(_) => 8,
        };
        for round in 0..rounds {
            copy_dir(&dir, &copy);
            let mut damaged = bytes.clone();
            match round % 4 {
                0 => damaged.truncate(used * round / rounds),
                _ => damaged[used * round / rounds] ^= 0x10,
            }
            let what = format!("{} round {round}", file.display());
            if round == 0 {
                fs::remove_file(&file).unwrap();
            } else {
                fs::write(&file, damaged).unwrap();
            }
            let reader = turnfold_store::StoreReader::open(&copy).unwrap();
            assert_eq!(reader.head(&name("m"), &BranchName::main()).unwrap(), 338, "{what}");
            let read = |branch| reader.read(&name("m"), branch, None).unwrap().entries.len();
            assert_eq!((read(&BranchName::main()), read(&branch("line"))), (338, 200), "{what}");
            drop(reader);
            // The next writer rebuilds what was damaged.
            Store::open(&copy).unwrap().close().unwrap();
            is_sound(&Store::open(&copy).unwrap(), &what);
            fs::remove_dir_all(&copy).unwrap();
        }
    }
    copy_dir(&dir, &copy);
    fs::remove_dir_all(copy.join("sled")).unwrap();
    is_sound(&Store::open(&copy).unwrap(), "without any index");
    // A process that dies while sled opens an index leaves a marker file.
    let mark = dir.join("sled/opening");
    fs::write(&mark, "").unwrap();
    is_sound(&Store::open(&dir).unwrap(), "after a death in sled");
    assert!(!mark.exists() && !dir.join("sled/1").exists(), "the index of that time is set aside");
}

fn files_below(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, files) } else { files.push(path) }
    }
}

/// ST-6: the file with the second lock is never replaced.
#[test]
fn a_store_whose_file_lock_is_gone_has_one_writer_all_the_same() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    fs::remove_file(dir.join("LOCK")).unwrap();
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Locked { holder: Holder::Unknown, .. }), "{error}");
    store.append(&name("m"), &BranchName::main(), 3, vec![opaque(3)], None).unwrap();
    store.close().unwrap();
    assert_eq!(Store::open(&dir).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 4);
}

#[test]
fn readers_see_whole_appends_while_others_write_and_pages_are_sealed() {
    const APPENDS: u64 = 100;
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    let matches = ["a", "b", "c"];
    for match_name in matches {
        store.create_match(&name(match_name), &genesis(), Vec::new()).unwrap();
    }
    std::thread::scope(|scope| {
        for match_name in matches {
            let store = &store;
            scope.spawn(move || {
                for head in (0..APPENDS * 3).step_by(3) {
                    let entries = (head + 1..=head + 3).map(opaque).collect::<Vec<_>>();
                    store.append(&name(match_name), &BranchName::main(), head, entries, None).unwrap();
                }
            });
            scope.spawn(move || {
                let mut seen = 0;
                while seen < APPENDS * 3 {
                    let found = labels(store, match_name, "main");
                    let head = found.len() as u64;
                    assert!(head >= seen && head.is_multiple_of(3));
                    assert_eq!(found, (1..=head).collect::<Vec<_>>());
                    seen = head;
                }
            });
        }
    });
    drop(store);
    let matches = Store::open(&dir).unwrap().matches().unwrap();
    assert!(matches.iter().all(|found| found.head == APPENDS * 3));
}

/// ST-22: opening waits for a handle that is about to be closed. If the handle stays open, it fails with `Locked` after
/// a second.
#[test]
fn an_open_waits_for_a_lock_that_is_about_to_go() {
    let (_parent, dir) = dir();
    for _ in 0..3 {
        let held = Store::open_or_create(&dir).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| Store::open(&dir).map(Store::close));
            std::thread::sleep(std::time::Duration::from_millis(200));
            held.close().unwrap();
            waits.join().unwrap().unwrap().unwrap();
        });
    }
    let held = Store::open(&dir).unwrap();
    assert!(matches!(Store::open(&dir), Err(StoreError::Locked { .. })));
    held.close().unwrap();
}
