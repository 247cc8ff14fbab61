//! The real binary and the disk: what it syncs, how signals end it, and what its log must not disclose.

use std::fs;
use std::process::{Command, Stdio};

#[cfg(unix)]
use crate::terminal::is_ignored;
use turnfold_core::Seat;
use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{Sandbox, binary, words};

const SEED: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn seeded(name: &str) -> String {
    format!(
        "new {name} --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed {SEED}"
    )
}

/// Runs a command under strace in a sandbox. Returns these system calls up to the first output, or nothing if strace
/// may not trace.
#[cfg(target_os = "linux")]
fn calls_before_answer(sandbox: &Sandbox, calls: &str, line: &str) -> Vec<String> {
    // The store's own tests also count calls.
    if !can_trace_or_skips("the calls before an answer") {
        return Vec::new();
    }
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-e", &format!("trace={calls},write"), "-o", "trace"]);
    strace.arg(binary()).args(words(line)).current_dir(sandbox.path("")).env_clear();
    assert!(strace.stdout(Stdio::null()).status().unwrap().success());
    let trace = sandbox.read("trace");
    let acknowledged = trace.lines().position(|line| line.contains(" write(1<")).unwrap();
    trace.lines().take(acknowledged).map(Into::into).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn an_acknowledged_play_has_called_fdatasync_on_the_journal() {
    let sandbox = Sandbox::new();
    sandbox.ok(&seeded("duel"));
    let before = calls_before_answer(&sandbox, "pwrite64,fdatasync,fsync,sync_file_range", "play duel");
    let is_of = |line: &str, call: &str| line.contains(call) && line.contains("/journal/head.");
    let last = |call: &str| before.iter().rposition(|line| is_of(line, call));
    assert!(before.is_empty() || last(" pwrite64(").unwrap() < last(" fdatasync(").unwrap(), "{before:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn pm_34_an_acknowledged_letter_is_synced_before_its_rename_and_its_folder_after() {
    let mut mailbox = Mailbox::new("hosted = []\n");
    let open = open_line("initiative", "small-board.toml", "");
    check_letters(&mailbox, &open, &["00000001-p1.eml", "00000001-p2.eml"], "/.turnfold>");
    mailbox.join(&[Seat::P1, Seat::P2]);
    let run = "mail run duel --key host.key --roll 1 1 2 2";
    check_letters(&mailbox, run, &["00000005-p1.eml", "00000005-p2.eml"], "/.turnfold>");
    // A missing letter is written again.
    fs::remove_file(mailbox.sandbox.path(".turnfold/outbox/00000005-p1.eml")).unwrap();
    check_letters(&mailbox, run, &["00000005-p1.eml"], "/outbox>");
    // A run that finds all letters syncs the names that an interrupted run may have left unsynced.
    check_letters(&mailbox, run, &[], "/.turnfold>");
}

/// Requires a command to write these letters, and to sync them, the outbox and its parent folder `above` before it
/// answers.
#[cfg(target_os = "linux")]
fn check_letters(mailbox: &Mailbox, line: &str, letters: &[&str], above: &str) {
    let calls = calls_before_answer(&mailbox.sandbox, "fsync,rename", line);
    if calls.is_empty() {
        return;
    }
    let at = |found: &dyn Fn(&str) -> bool| {
        calls.iter().rposition(|call| found(call)).unwrap_or_else(|| panic!("{calls:#?}"))
    };
    // A call that another thread interrupts is listed where it begins. Calls of one thread keep their order.
    let synced = |file: &str| at(&|call| call.contains(" fsync(") && call.contains(file));
    let outbox = synced("/outbox>");
    assert!(synced(above) >= outbox, "{calls:#?}");
    for letter in letters {
        let renamed = at(&|call| call.contains(" rename(") && call.contains(&format!("/{letter}\"")));
        let draft = synced(&format!("/outbox/{letter}.new>"));
        assert!(draft < renamed && renamed < outbox, "{calls:#?}");
    }
}

/// Sends a signal to a shell that appends with many commands, and requires the store to contain every reported entry.
#[cfg(unix)]
fn check_signal(signal: &str, number: i32) {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;

    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\"");
    let before = sandbox.ok("log duel").lines().count();
    // One command would end before the signal arrives, so the signal must end the shell.
    let script = "while :; do \"$0\" play duel cycle || exit; done";
    // A process started in the background inherits that Ctrl-C is ignored.
    let mut shell = if is_ignored(number) { Command::new("env") } else { Command::new("sh") };
    if is_ignored(number) {
        shell.args([&format!("--default-signal={signal}"), "sh"]);
    }
    shell.args(["-c", &format!("exec 2>&1; {script}")]).arg(binary());
    shell.current_dir(sandbox.path("")).env_clear().stdout(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut child = shell.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut shown: Vec<_> = lines.by_ref().take(5).collect();
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args([&format!("-{signal}"), "--", &group]).status().unwrap().success());
    shown.extend(lines);
    assert_eq!(child.wait().unwrap().signal(), Some(number));
    assert!(shown.iter().all(|line| line.contains(" cycle => ")), "nothing but outcomes: {shown:?}");
    let after = sandbox.ok("log duel").lines().count();
    let lost = (before + shown.len()).saturating_sub(after);
    assert!(lost == 0 && after <= before + shown.len() + 1, "{before} and {} gave {after}", shown.len());
    sandbox.ok("verify");
}

#[cfg(unix)]
#[test]
fn sigterm_ends_it_and_loses_nothing() {
    check_signal("TERM", 15);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_and_loses_nothing() {
    check_signal("INT", 2);
}

#[test]
fn the_log_discloses_no_secrets() {
    let sandbox = Sandbox::new();
    let key = "a-key-that-no-one-else-may-know";
    let play = format!("play duel --once {key} cycle");
    let lines = [&seeded("duel"), "play duel", &play, &play, "verify", "log duel", "show duel"];
    let mut log = String::new();
    for line in lines {
        let output = sandbox.run(line);
        assert!(output.status.success(), "{line}");
        log.push_str(&String::from_utf8(output.stderr).unwrap());
    }
    // A different command with the same key, a locked store and a damaged one.
    log.push_str(&String::from_utf8(sandbox.run(&format!("play duel --once {key} confirm")).stderr).unwrap());
    let lock = fs::File::options().write(true).open(sandbox.path(".turnfold/LOCK")).unwrap();
    lock.lock().unwrap();
    log.push_str(&String::from_utf8(sandbox.run("play duel cycle").stderr).unwrap());
    drop(lock);
    assert!(sandbox.harm_journal(".turnfold", key.as_bytes()) > 0);
    let damaged = sandbox.run("verify");
    assert_eq!(damaged.status.code(), Some(3));
    log.push_str(&String::from_utf8(damaged.stderr).unwrap());
    assert!(log.lines().count() >= 3, "{log}");
    for secret in [SEED, &SEED[..16], key] {
        assert!(!log.contains(secret), "{log}");
    }
}
