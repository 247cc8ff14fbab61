//! Letters at power cuts (PM-34): after each file operation of the host's verbs, every reported letter is on disk, even
//! if everything unsynced is lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use turnfold_core::Seat::{P1, P2};

use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{binary, words};

const TERMS: &str =
    "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nspectators = 1\n";
const CALLS: &str = "trace=openat,write,pwrite64,fsync,fdatasync,rename,mkdir";

/// Runs a verb under strace, and returns its file operations, one per line.
fn traced(mailbox: &Mailbox, line: &str) -> Vec<String> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-s", "4000", "-o", "trace", "-e", CALLS]);
    strace.arg(binary()).args(words(line)).current_dir(mailbox.sandbox.path("."));
    let output = strace.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let mut begun = BTreeMap::<String, String>::new();
    let mut all = Vec::new();
    for traced in mailbox.sandbox.read("trace").lines() {
        let Some((thread, call)) = traced.split_once(' ') else { continue };
        let call = call.trim_start();
        if let Some(begin) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(thread.to_owned(), begin.to_owned());
        } else if let Some((_, end)) = call.split_once(" resumed>") {
            all.push(begun.remove(thread).unwrap_or_default() + end);
        } else {
            all.push(call.to_owned());
        }
    }
    all
}

/// The files that would survive a power cut, which loses everything that was not synced.
struct Disk {
    folder: PathBuf,
    /// Whether syncing a folder writes the names in it to disk.
    syncs_names: bool,
    /// The written files and created folders, and whether their bytes and names are on disk.
    files: BTreeMap<PathBuf, Synced>,
}

#[derive(Clone, Copy, Default)]
struct Synced {
    bytes: bool,
    name: bool,
}

impl Disk {
    /// Applies a file operation.
    fn follow(&mut self, call: &str) {
        let (name, rest) = call.split_once('(').unwrap_or((call, ""));
        let of_file = || {
            rest.split_once('<')
                .and_then(|(_, rest)| rest.split_once('>'))
                .map(|(path, _)| PathBuf::from(path))
        };
        let named = |at: usize| rest.split('"').nth(at).map(|path| self.folder.join(path));
        match name {
            "write" | "pwrite64" => {
                if let Some(path) = of_file().filter(|path| path.is_absolute()) {
                    self.files.entry(path).or_default().bytes = false;
                }
            }
            "openat" if rest.contains("O_CREAT") && !rest.contains(" = -1 ") => {
                if let Some(path) = named(1) {
                    self.files.entry(path).or_default();
                }
            }
            "mkdir" if !rest.contains(" = -1 ") => {
                let made = Synced { bytes: true, name: false };
                self.files.extend(named(1).map(|path| (path, made)));
            }
            "fsync" | "fdatasync" => {
                let Some(path) = of_file() else { return };
                self.files.entry(path.clone()).or_default().bytes = true;
                for (file, synced) in &mut self.files {
                    synced.name |= self.syncs_names && file.parent() == Some(&path);
                }
            }
            "rename" if !rest.contains(" = -1 ") => {
                let (Some(from), Some(to)) = (named(1), named(3)) else { return };
                let mut moved = self.files.remove(&from).unwrap_or_default();
                // A renamed file keeps its old or its new name if the old name is on disk. A draft does not count as a
                // letter.
                let is_draft = from.extension().is_some_and(|end| end == "new");
                moved.name &= !is_draft;
                // A name on disk has the old file or the new file, and both are complete letters.
                moved.name |= self.files.get(&to).is_some_and(|old| old.name && old.bytes && moved.bytes);
                self.files.insert(to, moved);
            }
            _ => {}
        }
    }

    fn has(&self, path: &Path) -> bool {
        let is_there = |path: &Path| self.files.get(path).is_none_or(|synced| synced.name);
        let is_whole = self.files.get(path).is_some_and(|synced| synced.bytes);
        is_whole && path.ancestors().take_while(|path| *path != self.folder).all(is_there)
    }
}

/// Simulates power cuts after each file operation of verbs.
struct Cuts {
    disk: Disk,
    reported: Vec<String>,
    count: usize,
    /// How many reported letters were lost, over all cuts.
    lost: usize,
}

impl Cuts {
    fn of(mailbox: &Mailbox, syncs_names: bool) -> Self {
        let folder = mailbox.sandbox.path(".").canonicalize().unwrap();
        let disk = Disk { folder, syncs_names, files: BTreeMap::new() };
        Self { disk, reported: Vec::new(), count: 0, lost: 0 }
    }

    fn follow(&mut self, calls: &[String]) {
        let outbox = self.disk.folder.join(".turnfold/outbox");
        for call in calls {
            self.disk.follow(call);
            if call.starts_with("write(1<") {
                let printed = call.split('"').nth(1).unwrap_or_default().replace("\\n", "\n");
                let letters = printed.lines().filter_map(|line| line.strip_prefix("letter "));
                self.reported.extend(letters.map(Into::into));
            }
            self.count += 1;
            let is_lost = |name: &&String| {
                // A letter that a later letter replaced before it was sent is kept, too (PM-101).
                let folders = [outbox.clone(), outbox.join("sent"), outbox.join("replaced")];
                !folders.iter().any(|folder| self.disk.has(&folder.join(name)))
            };
            self.lost += self.reported.iter().filter(is_lost).count();
        }
    }
}

#[test]
fn pm_34_no_power_cut_loses_a_letter_that_was_reported() {
    if !can_trace_or_skips("letters whose calls fail") {
        return;
    }
    let mut mailbox = Mailbox::new(TERMS);
    let (mut cuts, mut without) = (Cuts::of(&mailbox, true), Cuts::of(&mailbox, false));
    let mut run = |mailbox: &Mailbox, lines: &[&str]| {
        for calls in lines.iter().map(|line| traced(mailbox, line)) {
            cuts.follow(&calls);
            without.follow(&calls);
        }
    };
    run(&mailbox, &[&open_line("cycletap", "ford.toml", "--to p1=ann@example.org --to p2=ben@example.org")]);
    for seat in [P1, P2] {
        let paper = mailbox.players.join(&mailbox.known(), seat);
        mailbox.save("join.txt", &[paper]);
        run(&mailbox, &[&format!("mail take duel join.txt --admit {seat} --key host.key")]);
    }
    run(&mailbox, &["mail run duel --key host.key --force --at 2026-12-01T12:00:00Z"]);
    mailbox.save_orders("orders.txt", &[(P1, &["tap 0,1", "switch"]), (P2, &["switch"])]);
    run(&mailbox, &["mail take duel orders.txt --key host.key"]);
    let second = "mail run duel --key host.key --force --at 2026-12-02T12:00:00Z";
    run(&mailbox, &[second, &format!("{second} --send \"cat >/dev/null\""), second]);
    let letters = cuts.reported.len();
    assert!(letters >= 8 && cuts.count > 500, "{letters} letters, {} cuts", cuts.count);
    assert_eq!(cuts.lost, 0, "of {letters} letters at {} cuts", cuts.count);
    assert!(without.lost > cuts.count, "without syncs of folders, letters are lost: {}", without.lost);
}
