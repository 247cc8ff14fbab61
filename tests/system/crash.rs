//! Processes killed at any moment lose nothing that was acknowledged.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use turnfold_core::dice::DiceStream;

use turnfold_tests::sandbox::Sandbox;

const ROUNDS: i32 = 60;

/// Tells how long something takes, so that kills fall before, into and after it on any machine.
#[expect(clippy::disallowed_methods, reason = "decides when to kill, not whether the test passes")]
fn time_of(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

#[test]
fn kill_9_during_a_loop_of_plays_loses_no_acknowledged_entry() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\"");
    // The longest of a few calls, so that no single lucky one makes every kill come too early.
    let call = |_| time_of(|| drop(sandbox.ok("play duel cycle confirm cancel")));
    let whole_call = (0..3).map(call).max().unwrap();
    let latest = i32::try_from(2 * whole_call.as_micros()).unwrap();
    let mut moments = DiceStream::new(&[9; 32], 0);
    let (mut entries, mut killed) = (10, 0);
    for round in 0..ROUNDS {
        let mut child = sandbox
            .command(["play", "duel", "cycle", "confirm", "cancel"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(u64::try_from(moments.draw(0, latest)).unwrap()));
        // On Unix this is SIGKILL.
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let acknowledged = output.status.success();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        killed += i32::from(!acknowledged);
        let log = sandbox.ok("log duel");
        let found = log.lines().count();
        // A call that was not acknowledged is wholly there or wholly absent.
        let whole = found == entries + 3 || (!acknowledged && found == entries);
        assert!(whole, "round {round}: {found} entries after {entries}, acknowledged: {acknowledged}");
        entries = found;
    }
    sandbox.ok("verify");
    assert!(killed > 0 && killed < ROUNDS, "{killed} of {ROUNDS} calls were killed");
}

#[test]
fn kill_9_during_an_amendment_leaves_the_whole_branch_or_none() {
    let sandbox = Sandbox::new();
    sandbox.ok("new long --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.write("script.txt", "roll 1 1 2 2\nnext-turn\n".repeat(100));
    sandbox.ok("play long --script script.txt");
    let original = sandbox.ok("log long");
    let amend = |branch: &str| format!("amend long:51 \"roll 3 3 4 4\" --branch {branch}");
    let call = |branch| time_of(|| drop(sandbox.ok(&amend(branch))));
    let whole_call = ["a", "b", "c"].map(call).into_iter().max().unwrap();
    let latest = i32::try_from(2 * whole_call.as_micros()).unwrap();
    let mut moments = DiceStream::new(&[10; 32], 0);
    let mut killed = 0;
    for round in 0..ROUNDS {
        let branch = format!("line-{round}");
        let mut child = sandbox
            .command(["amend", "long:51", "roll 3 3 4 4", "--branch", &branch])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_micros(u64::try_from(moments.draw(0, latest)).unwrap()));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        let acknowledged = output.status.success();
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        killed += i32::from(!acknowledged);
        let branches = sandbox.ok("branches long");
        let found = branches.lines().find(|line| line.starts_with(&format!("{branch} ")));
        match found {
            Some(line) => assert!(line.contains(" 200 entries, from main:50 "), "round {round}: {line}"),
            None => assert!(!acknowledged, "round {round}: {branch} is missing"),
        }
    }
    assert_eq!(sandbox.ok("log long"), original);
    sandbox.ok("verify long");
    assert!(killed > 0 && killed < ROUNDS, "{killed} of {ROUNDS} calls were killed");
}
