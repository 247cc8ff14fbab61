//! `mail run` and `mail take` killed at each of their file operations, and run again: the same bytes as undisturbed, no mail
//! twice and none missing (PM-26, PM-27, PM-29, FD-12).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use turnfold_core::Seat::{P1, P2};

use super::can_trace;
use crate::mail::mailbox::Mailbox;
use crate::mail::reports::opened;
use crate::sandbox::{binary, words};

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
        let sandbox = &self.mailbox.sandbox;
        let mut strace = Command::new("timeout");
        strace.args(["-s", "KILL", "60", "strace", "-f", "-o", "trace", "-e", &format!("trace={call}")]);
        if let Some(inject) = inject {
            strace.args(["-e", &format!("inject={call}:{inject}")]);
        }
        strace.arg(binary()).args(words(self.line)).current_dir(sandbox.path("."));
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
