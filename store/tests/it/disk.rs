//! On disk: creating, reopening, what is no store, and two processes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use turnfold_store::{BranchName, ErrorKind, Holder, Store, StoreError};

use crate::child;
use crate::game::{branch, commands, genesis, labels, name, opaque};

fn dir() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    (parent, dir)
}

#[test]
fn a_store_reads_the_same_in_another_process() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), (1..=150).map(opaque).collect()).unwrap();
    let told = child::run("locked", &dir);
    assert!(told.contains(&format!("is locked by process {}", std::process::id())), "{told}");
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Locked { holder: Holder::ThisProcess, .. }), "{error}");
    store.close().unwrap();
    assert_eq!(fs::read_to_string(dir.join("LOCK")).unwrap(), "");
    assert!(child::run("read", &dir).contains(&format!("read {:?}", (1..=150).collect::<Vec<_>>())));
    // And at once in this one.
    for _ in 0..5 {
        let store = Store::open_or_create(&dir).unwrap();
        assert_eq!(store.head(&name("m"), &BranchName::main()).unwrap(), 150);
    }
    assert_eq!(fs::read_to_string(dir.join("FORMAT")).unwrap(), "turnfold store 3\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_that_names_a_process_long_gone_is_told_as_such() {
    let (_parent, dir) = dir();
    Store::open_or_create(&dir).unwrap().close().unwrap();
    let check = |content: &str, expected: Holder| {
        let mut lock = fs::File::options().write(true).truncate(true).open(dir.join("LOCK")).unwrap();
        lock.write_all(content.as_bytes()).unwrap();
        lock.lock().unwrap();
        let error = Store::open(&dir).unwrap_err();
        let StoreError::Locked { holder, .. } = &error else { panic!("{error}") };
        assert_eq!(*holder, expected);
        assert!(error.to_string().contains("then try again"), "{error}");
    };
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    check(&format!("{}\n", child.id()), Holder::After(child.id()));
    check("1\n", Holder::Process(1));
    for unknown in ["", "\n", "me", "-1", "99999999999999"] {
        check(unknown, Holder::Unknown);
    }
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
    assert_eq!((mode(&dir), mode(&dir.join("sled"))), (0o700, 0o700));
    for file in ["FORMAT", "LOCK", "WATERMARK", "sled/db", "sled/conf"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    // Folders above it are no concern of the store's, and what its owner has allowed stays allowed.
    assert_ne!(mode(&parent.path().join("store")) & 0o055, 0);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    fs::set_permissions(dir.join("sled/db"), fs::Permissions::from_mode(0o640)).unwrap();
    Store::open_or_create(&dir).unwrap().close().unwrap();
    assert_eq!((mode(&dir), mode(&dir.join("sled/db"))), (0o750, 0o640));
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
    check_open(&dir, "has the format `turnfold store 1`, this build knows `turnfold store 3`");
    fs::write(dir.join("FORMAT"), "turnfold").unwrap();
    check_open(&dir, "its file `FORMAT` does not say");
    fs::remove_file(dir.join("FORMAT")).unwrap();
    let error = Store::open(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(error.to_string().contains("it has no file `FORMAT`"), "{error}");
    let error = Store::open_or_create(&dir).unwrap_err();
    assert!(error.to_string().contains("it holds 3 entries"), "{error}");
    fs::write(dir.join("FORMAT"), "turnfold store 3\n").unwrap();

    let watermark = fs::read(dir.join("WATERMARK")).unwrap();
    fs::remove_file(dir.join("WATERMARK")).unwrap();
    check_open(&dir, "the file `WATERMARK` is missing");
    for bytes in [Vec::new(), watermark[..1023].to_vec(), vec![b'0'; 1024]] {
        fs::write(dir.join("WATERMARK"), bytes).unwrap();
        check_open(&dir, "has no readable watermark");
    }
    fs::write(dir.join("WATERMARK"), watermark).unwrap();
    assert_eq!(Store::open(&dir).unwrap().audit(&name("m")).unwrap().damage, []);

    fs::rename(dir.join("sled/db"), dir.join("db")).unwrap();
    check_open(&dir, "is missing or empty");
}

fn copy_dir(from: &Path, to: &Path) {
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

#[test]
fn an_older_copy_of_the_database_is_noticed() {
    let (parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(5)).unwrap();
    store.close().unwrap();
    copy_dir(&dir.join("sled"), &parent.path().join("older"));
    let store = Store::open(&dir).unwrap();
    let more = commands(8).split_off(5);
    store.append(&name("m"), &BranchName::main(), 5, more, None).unwrap();
    store.close().unwrap();
    fs::remove_dir_all(dir.join("sled")).unwrap();
    copy_dir(&parent.path().join("older"), &dir.join("sled"));
    check_open(
        &dir,
        "match `m`, branch `main`, entries 6 to 8 are gone; 1 of 2 commits are missing, with 3 of 8 entries",
    );
}

#[test]
fn damage_to_the_files_of_sled_is_named_and_never_panics() {
    let (parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(300)).unwrap();
    store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 200).unwrap();
    store.close().unwrap();
    let db = fs::read(dir.join("sled/db")).unwrap();
    let used = db.iter().rposition(|byte| *byte != 0).unwrap_or_default() + 1;
    let mut unnoticed = 0;
    for round in 0..40 {
        let copy = parent.path().join(format!("copy-{round}"));
        copy_dir(&dir, &copy);
        let mut damaged = db.clone();
        if round % 4 == 0 {
            damaged.truncate(used * round / 40);
        } else {
            damaged[used * round / 40] ^= 0x10;
        }
        fs::write(copy.join("sled/db"), damaged).unwrap();
        match Store::open(&copy).and_then(|store| store.audit(&name("m"))) {
            Ok(audit) if audit.damage.is_empty() => {
                // Then nothing is missing either.
                assert_eq!(audit.branches.iter().map(|found| found.entries).collect::<Vec<_>>(), [300, 200]);
                unnoticed += 1;
            }
            // Then it is named.
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Trouble);
                let text = error.to_string();
                assert!(text.contains("match `m`, branch `") || text.contains("missing or empty"), "{text}");
            }
        }
    }
    assert!(unnoticed < 40, "no damage was noticed");
}

#[test]
fn a_snapshot_that_sled_was_writing_when_it_was_killed_does_no_harm() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), (1..=150).map(opaque).collect()).unwrap();
    store.close().unwrap();
    let read = || {
        let told = child::run("read", &dir);
        told.lines().find(|line| line.starts_with("read ")).map(ToString::to_string)
    };
    let before = read();
    assert!(before.is_some());
    let sled = dir.join("sled");
    let snapshots = fs::read_dir(&sled).unwrap().map(|file| file.unwrap().path());
    let is_snapshot = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("snap.");
    let whole = snapshots.filter(is_snapshot).map(|path| fs::read(path).unwrap()).next().unwrap();
    for length in [0, 5, whole.len() / 2, whole.len()] {
        // Beyond every number that sled has given, so that it is the one that sled would read.
        let unfinished = sled.join("snap.7FFFFFFFFFFFFFFF.generating");
        fs::write(&unfinished, &whole[..length]).unwrap();
        assert_eq!(read(), before, "{length} bytes");
        assert!(!unfinished.exists());
    }
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
                    let entries = (head + 1..=head + 3).map(opaque).collect();
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
    let told = Store::open(&dir).unwrap().matches().unwrap();
    assert!(told.iter().all(|found| found.head == APPENDS * 3));
}
