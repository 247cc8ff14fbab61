//! A full disk: what was acknowledged is there, what was not is wholly there or wholly absent, and the error says why.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use turnfold_store::Store;

use crate::child;
use crate::killed::{acknowledged, check, make};

/// Requires a writer to have told of a full disk after some acknowledged entries, and the store to hold those.
fn check_told<'a>(dir: &Path, told: impl Iterator<Item = &'a str> + Clone, expected: &str) {
    let failures: Vec<_> = told.clone().filter_map(|line| line.split_once("failed ")).collect();
    assert!(failures.iter().any(|(_, error)| error.contains(expected)), "{failures:?}");
    let acknowledged = acknowledged(told);
    assert!(!acknowledged.is_empty(), "nothing was acknowledged");
    check(dir, &acknowledged);
}

/// Runs a task in a process that a shell has limited, and gives what it told.
fn run_limited(task: &str, dir: &Path, shell: &str) -> String {
    let output = child::command(task, dir, shell).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !errors.contains("panicked"), "{told}{errors}");
    told
}

#[test]
fn a_file_that_may_not_grow_any_more_is_a_full_disk() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    make(&dir);
    // The limit is in blocks of 512 bytes. Its signal would end the process before it sees the error.
    let told = run_limited("append", &dir, "trap '' XFSZ; ulimit -f 3000;");
    check_told(&dir, told.lines(), "the store's disk is full");
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that does not run says so")]
fn a_full_file_system_is_a_full_disk() {
    let parent = tempfile::tempdir().unwrap();
    // A small file system that only this process sees, and that ends with it.
    let mount = "mount -t tmpfs -o size=16m tmpfs \"$TURNFOLD_STORE_DIR\" &&";
    let unshare = "unshare --user --map-root-user --mount";
    let can_mount = child::command("nothing", parent.path(), &format!("{unshare} sh -c '{mount} true' &&"));
    if !{ can_mount }.output().unwrap().status.success() {
        eprintln!("SKIPPED: no file system can be mounted here");
        return;
    }
    let enter = format!(
        "[ \"$INSIDE\" ] || INSIDE=1 exec {unshare} sh -c '{mount} exec \"$0\" \"$@\"' \"$0\" \"$@\";"
    );
    run_limited("fill", parent.path(), &enter);
}

/// Fills the small file system at `mounted`, frees some of it again and goes on.
pub(crate) fn fill(mounted: &Path) {
    let dir = mounted.join("store");
    make(&dir);
    let ballast = mounted.join("ballast");
    fs::write(&ballast, vec![1; 8 << 20]).unwrap();
    let told = Mutex::new(Vec::new());
    let store = Store::open(&dir).unwrap();
    child::append(&store, &|line| told.lock().unwrap().push(line));
    assert!(store.close().is_err());
    fs::remove_file(&ballast).unwrap();
    let told = told.into_inner().unwrap();
    check_told(&dir, told.iter().map(String::as_str), "the store's disk is full");
}
