//! Two processes on one store.

use std::io::Write;
use std::process::Stdio;

use snapbox::str;

use super::duel;

#[test]
fn the_second_process_cannot_write_to_a_locked_store_but_reads_it() {
    let sandbox = duel();
    let shown = sandbox.ok("show duel");
    // The first process waits for its script and has not opened the store yet, so the test holds the lock file instead.
    let lock = std::fs::File::options().read(true).write(true).open(sandbox.path(".turnfold/LOCK")).unwrap();
    lock.lock().unwrap();
    sandbox.check(str![[r#"
$ turnfold play duel confirm
exit 3| error: store `.turnfold` is locked by another process; wait for it to end, then try again; while `turnfold serve` has it, name the service with `--store URL`

"#]]);
    assert_eq!(sandbox.ok("show duel"), shown);
    drop(lock);
    sandbox.ok("play duel confirm");
}

#[test]
fn many_processes_at_once_lose_nothing() {
    let sandbox = duel();
    let before = sandbox.ok("log duel").lines().count();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = sandbox.command(["play", "duel", "cycle"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut acknowledged = 0;
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => acknowledged += 1,
            Some(3) => assert!(stderr.contains("locked"), "{stderr}"),
            code => panic!("exit {code:?}: {stderr}"),
        }
    }
    assert!(acknowledged > 0);
    assert_eq!(sandbox.ok("log duel").lines().count(), before + acknowledged);
    sandbox.ok("verify");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let sandbox = duel();
    let mut child = sandbox
        .command([
            "simulate",
            "--rules",
            "initiative",
            "--setup",
            "fixtures/initiative/no-units.toml",
            "--script",
            "-",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all("roll 1 1 2 2\nnext-turn\n".repeat(5_000).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}
