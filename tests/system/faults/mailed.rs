//! A process renames or deletes a match by mail and its desk, and is killed at any file operation: both change or
//! neither (PM-1).

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use turnfold_core::Seat::{P1, P2};
use turnfold_store::StoreReader;

use crate::fleet::postgres::shared;
use crate::fleet::url;
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{binary, words};

/// The files that a verb changes.
const CHANGED: [&str; 2] = [".turnfold", "host.key.seen"];
const CALLS: [&str; 8] = ["write", "pwrite64", "fsync", "fdatasync", "rename", "mkdir", "unlink", "openat"];

/// A match whose first turn is open, its desk, and the verb that changes both.
struct Changed {
    mailbox: Mailbox,
    line: &'static str,
}

impl Changed {
    fn by(line: &'static str) -> Self {
        let terms =
            "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nspectators = 1\n";
        let mut mailbox = Mailbox::opened("cycletap", "ford.toml", terms, "");
        mailbox.join(&[P1, P2]);
        assert!(mailbox.run("01T12:00:00Z", "").status.success());
        let sandbox = &mailbox.sandbox;
        fs::create_dir(sandbox.path("base")).unwrap();
        for name in CHANGED {
            fs::rename(sandbox.path(name), sandbox.path("base").join(name)).unwrap();
        }
        Self { mailbox, line }
    }

    fn reset(&self) {
        for name in CHANGED {
            let path = self.mailbox.sandbox.path(name);
            let _ = fs::remove_dir_all(&path);
            let base = self.mailbox.sandbox.path("base").join(name);
            assert!(Command::new("cp").arg("-r").args([base, path]).status().unwrap().success());
        }
    }

    /// Runs the verb under strace. Returns whether it finished, and the trace.
    fn strace(&self, call: &str, inject: Option<String>) -> (bool, String) {
        self.reset();
        let mut strace = Command::new("timeout");
        strace.args(["-s", "KILL", "60", "strace", "-f", "-o", "trace", "-e", &format!("trace={call}")]);
        if let Some(inject) = inject {
            strace.args(["-e", &format!("inject={call}:{inject}")]);
        }
        self.run_strace(strace, self.line)
    }

    fn run_strace(&self, mut strace: Command, line: &str) -> (bool, String) {
        let sandbox = &self.mailbox.sandbox;
        strace.arg(binary()).args(words(line)).current_dir(sandbox.path("."));
        let output = strace.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output().unwrap();
        (output.status.success(), sandbox.read("trace"))
    }
}

/// Requires a match and its desk to be both unchanged or both changed. Returns `true` if they changed.
fn is_done(names: &[&str], after: &[&str], what: &str) -> bool {
    assert!(names == ["duel", "duel.desk"] || names == after, "{what}: {names:?}");
    names == after
}

/// PM-1: a match by mail and its desk change in one commit, whichever file operation kills the process.
fn check_together(line: &'static str, after: &[&str]) {
    let run = Changed::by(line);
    let (mut before_commit, mut after_commit) = (0, 0);
    for call in CALLS {
        let (is_whole, trace) = run.strace(call, None);
        assert!(is_whole, "{line} {call}");
        let mut counts = BTreeMap::<&str, u32>::new();
        for traced in trace.lines().filter(|traced| traced.contains(&format!(" {call}("))) {
            *counts.entry(traced.split(' ').next().unwrap()).or_default() += 1;
        }
        for number in 1..=counts.into_values().max().unwrap_or(0) {
            run.strace(call, Some(format!("signal=KILL:when={number}")));
            let store = StoreReader::open(&run.mailbox.sandbox.path(".turnfold")).unwrap();
            let matches = store.matches().unwrap();
            let names: Vec<_> = matches.iter().map(|info| info.name.as_str()).collect();
            let is_done = is_done(&names, after, &format!("{line}, killed at {call} {number}"));
            *(if is_done { &mut after_commit } else { &mut before_commit }) += 1;
        }
    }
    assert!(before_commit > 2 && after_commit > 0, "{before_commit} before, {after_commit} after");
}

#[test]
fn pm_1_a_rename_killed_at_any_file_operation_renames_both_or_neither() {
    if can_trace_or_skips("calls of play by mail that fail") {
        check_together("rename duel final", &["final", "final.desk"]);
    }
}

#[test]
fn pm_1_a_delete_killed_at_any_file_operation_deletes_both_or_neither() {
    if can_trace_or_skips("calls of play by mail that fail") {
        check_together("delete --force duel", &[]);
    }
}

/// PM-1: the same in a database, for each message to the server.
#[test]
fn pm_1_in_a_database_a_match_and_its_desk_change_together() {
    let Some(server) = shared().filter(|_| can_trace_or_skips("calls of play by mail that fail")) else {
        return;
    };
    let run = Changed::by("matches");
    run.reset();
    let sandbox = &run.mailbox.sandbox;
    sandbox.ok("store backup all.tfb");
    for (verb, line, after) in [
        ("rename", "rename duel final", &["final", "final.desk"][..]),
        ("delete", "delete --force duel", &[]),
    ] {
        let (mut before_commit, mut number) = (0, 0);
        loop {
            number += 1;
            let url = url(server, &format!("together_{verb}_{number}"));
            sandbox.ok(&format!("store restore all.tfb {url}"));
            let mut strace = Command::new("strace");
            strace.args(["-f", "-o", "trace", "-e", "trace=sendto"]);
            strace.args(["-e", &format!("inject=sendto:signal=KILL:when={number}")]);
            let (is_whole, _) = run.run_strace(strace, &format!("--store {url} {line}"));
            let json = sandbox.ok(&format!("--store {url} --format json matches"));
            let names: Vec<_> = ["duel", "duel.desk", "final", "final.desk"]
                .into_iter()
                .filter(|name| json.contains(&format!("\"{name}\"")))
                .collect();
            if !is_done(&names, after, &format!("{line}, killed at message {number}")) {
                before_commit += 1;
            }
            if is_whole {
                break;
            }
        }
        assert!(before_commit > 3, "only {number} messages");
    }
}
