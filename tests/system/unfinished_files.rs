//! Unfinished files of the real binary. Signals leave none behind, and the next verb removes the drafts of a killed
//! verb. No verb touches drafts in use or files of other programs.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{Sandbox, binary};

const PREFIX: &str = ".turnfold-draft-";

/// How often the tests check for an event, and the pause between checks.
const TRIES: u32 = 12_000;
const PAUSE: Duration = Duration::from_millis(5);

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\" confirm \"move 0,1\"");
    sandbox.ok("store backup saved");
    sandbox
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..TRIES {
        if is_so() {
            return;
        }
        thread::sleep(PAUSE);
    }
    panic!("{what}");
}

fn drafts(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut drafts: Vec<_> = names.filter(|name| name.starts_with(PREFIX)).collect();
    drafts.sort();
    drafts
}

/// Starts a program that ignores no signal, even if this process does.
fn start(sandbox: &Sandbox, program: &[&str]) -> Child {
    let mut command = Command::new("env");
    command.args(["--default-signal", "--"]).args(program).current_dir(sandbox.path("")).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TMPDIR", sandbox.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn kill(signal: &str, process: &str) {
    assert!(send(signal, process));
}

/// Returns `true` if the process still existed.
fn send(signal: &str, process: &str) -> bool {
    Command::new("kill")
        .args([&format!("-{signal}"), process])
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// Starts a restore, which creates its draft and waits for the second half of the backup.
fn half_a_restore(sandbox: &Sandbox, shell: &str, made: &str) -> (Child, ChildStdin, Vec<u8>) {
    let before = drafts(&sandbox.path(""));
    let line = format!("{shell} exec '{}' store restore - {made}", binary().display());
    let mut child = start(sandbox, &["sh", "-c", &line]);
    let mut stdin = child.stdin.take().unwrap();
    let backup = fs::read(sandbox.path("saved")).unwrap();
    let (first, second) = backup.split_at(backup.len() / 2);
    stdin.write_all(first).unwrap();
    wait_until("the restore makes a draft", || {
        let now = drafts(&sandbox.path(""));
        now.iter().any(|draft| !before.contains(draft) && sandbox.path(draft).join("store/FORMAT").exists())
    });
    (child, stdin, second.to_vec())
}

/// Delays the syncs of a verb.
const SLOW_SYNCS: &[&str] = &["inject=fsync,fdatasync:delay_enter=300000"];

/// Delays a verb after each directory that it creates, and its exit after it removes the draft.
const SLOW_END: &[&str] = &["inject=mkdir:delay_exit=80000", "inject=tgkill:delay_enter=700000"];

/// Ends a verb by a signal once its draft, or `made` in the draft, exists, while strace delays the verb.
fn check_signal(line: &str, made: &str, slow: &[&str], signal: &str, number: i32) {
    let what = format!("{line} by {signal} after `{made}`");
    // On a busy machine, a verb may finish before the signal despite any delay.
    let ended = (0..TRIES).find_map(|_| {
        let sandbox = sandbox();
        let status = signalled(&sandbox, line, made, slow, signal);
        (!status.success()).then_some((sandbox, status))
    });
    let (sandbox, status) = ended.expect(&what);
    assert_eq!(status.signal(), Some(number), "{what}: {status:?}");
    assert!(drafts(&sandbox.path("")).is_empty(), "{what}");
    assert!(!sandbox.path("made").exists(), "{what}");
    sandbox.ok("verify");
}

/// Sends a signal to a verb, and returns its exit status.
fn signalled(sandbox: &Sandbox, line: &str, made: &str, slow: &[&str], signal: &str) -> ExitStatus {
    let shell = format!("echo $$ > pid; exec '{}' {line}", binary().display());
    let strace = ["strace", "-f", "-qq", "-o", "trace"].into_iter();
    let strace: Vec<_> = strace.chain(slow.iter().flat_map(|what| ["-e", what])).collect();
    let mut child = start(sandbox, &[strace.as_slice(), &["sh", "-c", &shell]].concat());
    wait_until(line, || {
        let is_made = |draft: &String| sandbox.path(&format!("{draft}{made}")).exists();
        drafts(&sandbox.path("")).iter().any(is_made) || child.try_wait().unwrap().is_some()
    });
    send(signal, sandbox.read("pid").trim());
    // strace ends with the status of its child.
    child.wait().unwrap()
}

#[test]
fn a_signal_leaves_nothing_of_what_a_verb_was_making() {
    if !can_trace_or_skips("files of a verb that is held up") {
        return;
    }
    check_signal("store restore saved made", "", SLOW_SYNCS, "TERM", 15);
    check_signal("store salvage .turnfold made", "", SLOW_SYNCS, "INT", 2);
    check_signal("store backup made", "", SLOW_SYNCS, "HUP", 1);
    check_signal("export duel -o made", "", SLOW_SYNCS, "INT", 2);
    check_signal(
        "simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 1 --steps 5 -o made",
        "",
        SLOW_SYNCS,
        "USR1",
        10,
    );
    check_signal("tour > printed", "", SLOW_SYNCS, "TERM", 15);
}

#[test]
fn a_verb_that_goes_on_until_its_signal_ends_it_makes_nothing_again() {
    if !can_trace_or_skips("files of a verb that is held up") {
        return;
    }
    for made in ["", "/store", "/store/journal", "/store/sled"] {
        check_signal("store salvage .turnfold made", made, SLOW_END, "INT", 2);
    }
    for made in ["", "/store", "/store/sled", "/store/sled/1"] {
        check_signal("store restore saved made", made, SLOW_END, "TERM", 15);
    }
}

#[test]
fn each_signal_that_can_be_caught_ends_a_restore_as_it_would_and_removes_its_draft() {
    let sandbox = sandbox();
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("USR1", 10), ("ALRM", 14), ("TERM", 15)] {
        let (mut child, stdin, _) = half_a_restore(&sandbox, "ulimit -c 0;", "made");
        kill(signal, &child.id().to_string());
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{signal}");
        drop(stdin);
        assert!(drafts(&sandbox.path("")).is_empty() && !sandbox.path("made").exists(), "{signal}");
    }
}

#[test]
fn a_signal_that_a_restore_was_started_to_ignore_stays_ignored() {
    let sandbox = sandbox();
    let (child, mut stdin, rest) = half_a_restore(&sandbox, "trap '' INT HUP;", "made");
    for signal in ["INT", "HUP"] {
        kill(signal, &child.id().to_string());
    }
    thread::sleep(Duration::from_millis(200));
    stdin.write_all(&rest).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.ok("--store made verify");
}

#[test]
fn the_next_verb_removes_what_a_killed_one_left_and_nothing_else() {
    let sandbox = sandbox();
    let (mut killed, _stdin, _) = half_a_restore(&sandbox, "", "lost");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = drafts(&sandbox.path(""));
    let (working, mut stdin, rest) = half_a_restore(&sandbox, "", "made");
    let held = drafts(&sandbox.path(""));
    assert!(held.len() == 1 && held != left, "a restore removes what the other left: {left:?} {held:?}");

    // A leftover file, and files with similar names.
    let file = format!("{PREFIX}0123456789abcdefghij");
    let others = [
        ".turnfold-backup".to_string(),
        format!("{PREFIX}0123456789"),
        format!("{PREFIX}0123456789abcdefghij.txt"),
    ];
    for other in &others {
        fs::create_dir(sandbox.path(other)).unwrap();
    }
    for line in ["export duel -o again.tfl", "store backup again", "store salvage .turnfold anew"] {
        sandbox.write(&file, "half");
        sandbox.ok(line);
        assert!(!sandbox.path(&file).exists(), "{line}");
    }
    for other in others.iter().chain(&held) {
        assert!(sandbox.path(other).exists(), "{other}");
    }
    stdin.write_all(&rest).unwrap();
    drop(stdin);
    let output = working.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    sandbox.ok("--store made verify");
}
