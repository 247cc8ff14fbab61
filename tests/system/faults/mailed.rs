//! `mail run` and `mail take` killed at each of their file operations, and run again: the same bytes as undisturbed, no mail
//! twice and none missing (PM-26, PM-27, PM-29, FD-12). A match and its desk renamed or deleted: both or neither (PM-1).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use turnfold_core::Seat::{P1, P2};

use turnfold_store::StoreReader;

use super::can_trace;
use crate::fleet::postgres::shared;
use crate::fleet::url;
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::mailbox::opened;
use turnfold_tests::sandbox::{binary, words};

const TAKE: &str = "mail take duel mail.txt --key host.key";
const RUN: &str = "mail run duel --key host.key --force --at 2026-12-02T12:00:00Z";
/// What a run changes.
const CHANGED: [&str; 2] = [".turnfold", "host.key.seen"];
const CALLS: [&str; 8] = ["write", "pwrite64", "fsync", "fdatasync", "rename", "mkdir", "unlink", "openat"];

struct MailRun {
    mailbox: Mailbox,
    /// What is run, and its exit code.
    line: &'static str,
    code: i32,
}

fn is_letter(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "eml")
}

/// What must be the same: all records, all letters, and what the key remembers.
#[derive(PartialEq, Eq)]
struct Left {
    records: Vec<u8>,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

fn files_in(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

impl MailRun {
    /// A turn that is ready to be carried out, with orders, what comes between and letters to write.
    fn of_turn() -> Self {
        let mut mailbox = Self::begun();
        mailbox.save_orders("orders.txt", &[(P1, &["tap 0,2", "switch"]), (P2, &["tap 1,-2", "switch"])]);
        assert!(mailbox.take("orders.txt").status.success());
        Self::on(mailbox, RUN, 0)
    }

    /// A mail with an order of each seat, and some that are not signed by it.
    fn of_mail() -> Self {
        let mut mailbox = Self::begun();
        mailbox.save_orders("mail.txt", &[(P1, &["tap 0,2", "switch"]), (P2, &["tap 1,-2", "switch"])]);
        let good = mailbox.sandbox.read("mail.txt");
        let bad =
            ["tap 0,1", "tap 0,0"].map(|other| good.replace("tap 0,2", other).replace("tap 1,-2", other));
        mailbox.sandbox.write("mail.txt", format!("{good}\n{}", bad.join("\n")));
        Self::on(mailbox, TAKE, 1)
    }

    fn begun() -> Mailbox {
        let terms =
            "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nspectators = 1\n";
        let mut mailbox = Mailbox::opened("cycletap", "ford.toml", terms, "");
        mailbox.join(&[P1, P2]);
        assert!(mailbox.run("01T12:00:00Z", "").status.success());
        mailbox
    }

    fn on(mailbox: Mailbox, line: &'static str, code: i32) -> Self {
        let sandbox = &mailbox.sandbox;
        fs::create_dir(sandbox.path("base")).unwrap();
        for name in CHANGED {
            fs::rename(sandbox.path(name), sandbox.path("base").join(name)).unwrap();
        }
        Self { mailbox, line, code }
    }

    /// A match with its desk, which are to be changed together.
    fn of_match(line: &'static str) -> Self {
        Self::on(Self::begun(), line, 0)
    }

    fn reset(&self) {
        for name in CHANGED {
            let path = self.mailbox.sandbox.path(name);
            let _ = fs::remove_dir_all(&path);
            let base = self.mailbox.sandbox.path("base").join(name);
            assert!(Command::new("cp").arg("-r").args([base, path]).status().unwrap().success());
        }
    }

    /// Runs under strace; returns whether it came to its end, and the trace.
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
        (output.status.code() == Some(self.code), sandbox.read("trace"))
    }

    /// Runs undisturbed.
    fn run(&self) {
        assert_eq!(self.mailbox.sandbox.run(self.line).status.code(), Some(self.code));
    }

    fn left(&self) -> Left {
        let sandbox = &self.mailbox.sandbox;
        // When papers are taken is the machine's time, which stands in the records: there is left what they and letters say.
        if self.line == TAKE {
            let mut files = BTreeMap::new();
            files_in(&sandbox.path(".turnfold/outbox"), &mut files);
            let text = |file: Vec<u8>| opened(&String::from_utf8(file).unwrap()).0.into_bytes();
            let files = files.into_iter().filter(|(path, _)| is_letter(path));
            let files = files.map(|(path, file)| (path, text(file))).collect();
            return Left { records: sandbox.ok("log duel.desk").into_bytes(), files };
        }
        let _ = fs::remove_file(sandbox.path("all.bundle"));
        sandbox.ok("bundle duel duel.desk -o all.bundle");
        let mut files = BTreeMap::new();
        files_in(&sandbox.path(".turnfold/outbox"), &mut files);
        files_in(&sandbox.path("host.key.seen"), &mut files);
        Left { records: fs::read(sandbox.path("all.bundle")).unwrap(), files }
    }
}

#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn check(run: &MailRun, letters: usize) {
    run.reset();
    run.run();
    let expected = run.left();
    let written = expected.files.keys().filter(|path| is_letter(path));
    assert_eq!(written.count(), letters, "{:?}", expected.files.keys());
    let is_all = std::env::var_os("TURNFOLD_FAULTS").is_some();
    let mut killed = 0;
    for call in CALLS {
        let (is_whole, trace) = run.strace(call, None);
        assert!(is_whole, "{call}");
        // strace counts the calls of each thread by themselves.
        let mut counts = BTreeMap::<&str, u32>::new();
        for line in trace.lines().filter(|line| line.contains(&format!(" {call}("))) {
            *counts.entry(line.split(' ').next().unwrap()).or_default() += 1;
        }
        let last = counts.into_values().max().unwrap_or(0);
        let step = if is_all { 1 } else { last.max(1) };
        for number in (1 + last / 2 * u32::from(!is_all)..=last).step_by(usize::try_from(step).unwrap()) {
            let what = format!("killed at {call} {number} of {last}");
            let (is_whole, _) = run.strace(call, Some(format!("signal=KILL:when={number}")));
            killed += u32::from(!is_whole);
            run.run();
            let left = run.left();
            assert!(left.records == expected.records, "{what}: other records");
            let names = |left: &Left| left.files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&left), names(&expected), "{what}");
            let other = left.files.iter().find(|(path, bytes)| expected.files.get(*path) != Some(bytes));
            assert!(other.is_none(), "{what}: {:?} is another", other.map(|(path, _)| path));
        }
    }
    eprintln!("{killed} runs were killed");
    assert!(killed > 4, "only {killed} were killed");
}

#[test]
fn pm_27_a_run_killed_at_any_file_operation_and_run_again() {
    if can_trace() {
        check(&MailRun::of_turn(), 10);
    }
}

#[test]
fn pm_26_a_mail_killed_at_any_file_operation_and_taken_again() {
    if can_trace() {
        check(&MailRun::of_mail(), 10);
    }
}

/// Requires a match and its desk to be both as before or both as after; returns `true` for the latter.
fn is_done(names: &[&str], after: &[&str], what: &str) -> bool {
    assert!(names == ["duel", "duel.desk"] || names == after, "{what}: {names:?}");
    names == after
}

/// PM-1: a match by mail and its desk change in one commit, at whichever file operation the process is killed.
fn check_together(line: &'static str, after: &[&str]) {
    let run = MailRun::of_match(line);
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
    if can_trace() {
        check_together("rename duel final", &["final", "final.desk"]);
    }
}

#[test]
fn pm_1_a_delete_killed_at_any_file_operation_deletes_both_or_neither() {
    if can_trace() {
        check_together("delete --force duel", &[]);
    }
}

/// PM-1: the same in a database, at whatever is sent to it.
#[test]
fn pm_1_in_a_database_a_match_and_its_desk_change_together() {
    let Some(server) = shared().filter(|_| can_trace()) else { return };
    let run = MailRun::of_match("matches");
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
