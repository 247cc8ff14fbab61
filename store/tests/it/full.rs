//! A full disk: acknowledged appends are there, other appends are there completely or not at all, and the error names
//! the cause.

use crate::child;
use crate::killed::{acknowledged, check, make};

#[test]
fn a_file_that_may_not_grow_any_more_is_a_full_disk() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    make(&dir);
    // The limit is in blocks of 512 bytes. Its signal is ignored, because it would end the process before it sees the
    // error.
    let output = child::command("append", &dir, "trap '' XFSZ; ulimit -f 3000;").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !errors.contains("panicked"), "{stdout}{errors}");
    let failures: Vec<_> = stdout.lines().filter_map(|line| line.split_once("failed ")).collect();
    assert!(failures.iter().any(|(_, error)| error.contains("the store's disk is full")), "{failures:?}");
    let acknowledged = acknowledged(stdout.lines());
    assert!(!acknowledged.is_empty(), "nothing was acknowledged");
    check(&dir, &acknowledged);
}
