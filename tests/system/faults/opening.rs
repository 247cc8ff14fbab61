//! Opening a store while calls fail, while the process is killed, and on disks that cannot be written to. A failed open
//! leaves the bytes of every file unchanged, and after a crash every entry exists.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{PLAY, Rig};
use turnfold_tests::parts::{can_trace_or_skips, skipped};
use turnfold_tests::sandbox::{binary, words};

/// The verbs that only read, one for each way of reading the store.
const READING: [&str; 14] = [
    "log duel",
    "show duel",
    "legal duel",
    "matches",
    "branch duel",
    "verify",
    "blame duel /turn",
    "diff duel:1 duel:2",
    "game impact --matches",
    "bisect duel --when \"/turn > 1\"",
    "export duel -o made.tfl",
    "store check",
    "store size",
    "store backup made",
];

/// The calls that could change files.
const CHANGING: &str = "trace=?open,openat,?creat,write,pwrite64,writev,?pwritev,ftruncate,?truncate,?fallocate,\
    ?rename,renameat,renameat2,?unlink,unlinkat,?rmdir,?mkdir,mkdirat,?chmod,fchmod,fchmodat,?link,linkat,\
    ?symlink,symlinkat,utimensat,copy_file_range,sendfile";

/// The calls that read, and how they fail.
const READS: [(&str, &[&str]); 6] = [
    ("openat", &["error=EIO"]),
    ("read", &["error=EIO", "retval=0"]),
    ("pread64", &["error=EIO", "retval=0"]),
    ("lseek", &["error=EIO"]),
    ("statx", &["error=EIO"]),
    ("getdents64", &["error=EIO"]),
];

/// The calls that write, and how they fail.
const WRITES: [(&str, &[&str]); 7] = [
    ("write", &["error=EIO", "error=ENOSPC"]),
    ("pwrite64", &["error=EIO", "error=ENOSPC"]),
    ("fsync", &["error=EIO"]),
    ("fdatasync", &["error=EIO"]),
    ("rename", &["error=EIO"]),
    ("unlink", &["error=EIO"]),
    ("ftruncate", &["error=EIO"]),
];

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Returns whether to try every call instead of a few of each kind.
fn is_all() -> bool {
    std::env::var_os("TURNFOLD_FAULTS").is_some()
}

fn files_in(dir: &Path, found: &mut Files) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_in(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// Writes bytes after the end of the journal, like an unfinished commit.
fn tear(store: &Path) {
    let path = store.join("journal/head.b");
    let mut head = fs::read(&path).unwrap();
    let end = head.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    let at = end.next_multiple_of(512);
    let sound = head[at - 512..at].to_vec();
    head[at + 7..at + 519].copy_from_slice(&sound);
    fs::write(path, head).unwrap();
}

/// A rig whose store was interrupted during a commit, and the expected outcomes.
struct Opening {
    rig: Rig,
    /// The files that opening creates, by their paths in the store.
    made: Vec<PathBuf>,
    runs: u32,
    outcomes: BTreeMap<String, u32>,
}

impl Opening {
    fn new() -> Self {
        let rig = Rig::new();
        tear(&rig.sandbox.path("base/.turnfold"));
        let made = ["sled/opening", "LOCK"].map(PathBuf::from).to_vec();
        Self { rig, made, runs: 0, outcomes: BTreeMap::new() }
    }

    fn store(&self) -> PathBuf {
        self.rig.sandbox.path("work/.turnfold")
    }

    fn files(&self) -> Files {
        let mut found = Files::new();
        files_in(&self.store(), &mut found);
        // The lock contains the process id while it is held, and the index can be rebuilt.
        let (lock, sled) = (self.store().join("LOCK"), self.store().join("sled"));
        found.retain(|path, _| *path != lock && !path.starts_with(&sled));
        found
    }

    /// Runs a command while strace alters calls on the store's files. All paths are absolute, as strace requires.
    fn run(&self, line: &str, call: &str, inject: Option<&str>) -> (Output, String) {
        self.rig.reset();
        let store = fs::canonicalize(self.store()).unwrap();
        let mut files = Files::new();
        files_in(&store, &mut files);
        let folders = ["", "journal", "sled", "sled/1"].map(|folder| store.join(folder));
        let mut options = vec!["-y".to_owned(), "-e".to_owned(), format!("trace={call}")];
        let made = self.made.iter().map(|path| store.join(path));
        for path in files.into_keys().chain(folders).chain(made) {
            let path = path.to_str().unwrap().trim_end_matches('/').to_owned();
            options.extend(["-P".to_owned(), path]);
        }
        if let Some(inject) = inject {
            let faulty = call.split(',').next().unwrap();
            options.extend(["-e".to_owned(), format!("inject={faulty}:{inject}")]);
        }
        self.rig.strace(&format!("--store {} {line}", store.display()), &options)
    }

    /// Counts the calls of the first thread before its commit, and all of its calls.
    fn count(&self, line: &str, call: &str) -> (u32, u32) {
        let (output, trace) = self.run(line, &format!("{call},pwrite64"), None);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        let thread = trace.split(' ').next().unwrap();
        let calls: Vec<_> = trace.lines().filter(|line| line.starts_with(thread)).collect();
        let count = |calls: &[&str]| {
            let is_meant = |line: &&&str| line.contains(&format!(" {call}("));
            u32::try_from(calls.iter().filter(is_meant).count()).unwrap()
        };
        // Opening first writes the heads again.
        let is_write = |line: &&str| line.contains(" pwrite64(") && line.contains("/journal/head.");
        let opened = calls.iter().enumerate().filter(|(_, line)| is_write(line)).nth(1);
        let opened = opened.map_or(calls.len(), |(place, _)| place + 1);
        (count(&calls[..opened]), count(&calls))
    }

    /// Makes each of a verb's calls, or a few of them, fail in one way.
    fn fail_each(&mut self, line: &str, call: &str, fault: &str) {
        let (opening, all) = self.count(line, call);
        let last = if line == PLAY { opening } else { all };
        let step = if is_all() { 1 } else { last.div_ceil(2).max(1) };
        for number in (1..=last).step_by(usize::try_from(step).unwrap()) {
            let what = format!("{line} with {call} {number} of {last} {fault}");
            self.rig.reset();
            let before = self.files();
            let (output, trace) = self.run(line, call, Some(&format!("{fault}:when={number}")));
            if trace.contains("(INJECTED)") {
                self.runs += 1;
                self.check(line, &output, &before, &what);
            }
        }
    }

    fn check(&mut self, line: &str, output: &Output, before: &Files, what: &str) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let what = format!("{what}: {:?}\n{stderr}", output.status);
        let code = output.status.code().unwrap_or_else(|| panic!("{what}"));
        assert!(matches!(code, 0..=3) && stderr.lines().count() <= 1, "{what}");
        assert!(!stderr.contains("internal error") && !stderr.contains("panicked"), "{what}");
        *self
            .outcomes
            .entry(format!("{} {code}", if line == PLAY { line } else { "reading" }))
            .or_default() += 1;
        let next_steps =
            ["nothing was changed", "salvage DIR NEWDIR", "free some space", "use another directory"];
        if code > 1 {
            assert!(next_steps.iter().any(|step| stderr.contains(step)), "no next step: {what}");
        }
        if code != 0 || line != PLAY {
            let after = self.files();
            for (path, bytes) in before {
                assert!(after.get(path) == Some(bytes), "{} has changed: {what}", path.display());
            }
            let new = after.keys().find(|path| !before.contains_key(*path));
            assert_eq!(new, None, "{what}");
        }
        let added = self.require_whole(&what);
        assert_eq!(added, usize::from(line == PLAY && code == 0), "{what}");
    }

    /// Requires all entries to exist, and returns how many more exist.
    fn require_whole(&self, what: &str) -> usize {
        let verified = self.rig.run("verify");
        assert!(verified.status.success(), "{what}\n{}", String::from_utf8_lossy(&verified.stderr));
        let log = String::from_utf8(self.rig.run("log duel").stdout).unwrap();
        log.strip_prefix(&self.rig.log).unwrap_or_else(|| panic!("{what}\n{log}")).lines().count()
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn whichever_read_of_opening_fails_no_byte_changes() {
    if !can_trace_or_skips("openings that fail") {
        return;
    }
    let mut opening = Opening::new();
    let few = if is_all() { 4 } else { 2 };
    for line in [PLAY, "log duel", "show duel", "verify"].into_iter().take(few) {
        for (call, faults) in READS {
            for fault in faults {
                opening.fail_each(line, call, fault);
            }
        }
    }
    eprintln!("{} calls failed, exit codes: {:?}", opening.runs, opening.outcomes);
    assert!(
        opening.runs > 15 && opening.outcomes.contains_key("play duel cycle 3"),
        "{:?}",
        opening.outcomes
    );
}

#[test]
#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn whichever_write_of_opening_fails_no_byte_changes() {
    if !can_trace_or_skips("openings that fail") {
        return;
    }
    let mut opening = Opening::new();
    for (call, faults) in WRITES {
        for fault in faults {
            opening.fail_each(PLAY, call, fault);
        }
    }
    eprintln!("{} calls failed, exit codes: {:?}", opening.runs, opening.outcomes);
    assert!(opening.runs > 5, "{:?}", opening.outcomes);
}

#[test]
fn no_verb_that_reads_makes_a_call_that_could_change_the_journal() {
    if !can_trace_or_skips("openings that fail") {
        return;
    }
    let opening = Opening::new();
    for line in READING {
        opening.rig.reset();
        let before = opening.files();
        let options = ["-y", "-e", CHANGING].map(str::to_owned);
        let (output, trace) = opening.rig.strace(line, &options);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {stderr}");
        let is_ours = |call: &&str| call.contains(".turnfold/journal") || call.contains(".turnfold/FORMAT");
        let reads =
            |call: &str| call.contains("O_RDONLY") && !call.contains("O_CREAT") && !call.contains("O_TRUNC");
        let changing = trace.lines().filter(is_ours).find(|call| !reads(call));
        assert_eq!(changing, None, "{line}");
        assert!(trace.contains(".turnfold/journal/head.a"), "{line}: the trace shows nothing");
        assert!(opening.files() == before, "{line}");
    }
}

/// Runs a script in a namespace in which it can mount. Returns `None` if that is not possible.
fn mounted(rig: &Rig, script: &str) -> Option<Output> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .current_dir(rig.sandbox.path("work"));
        command.env("TURNFOLD", binary()).output()
    };
    let can_mount = unshare("mkdir ../mounted && mount -t tmpfs none ../mounted");
    can_mount.is_ok_and(|output| output.status.success()).then(|| unshare(script).unwrap())
}

#[test]
fn verbs_that_read_do_so_on_read_only_and_on_full_disks_and_play_changes_nothing_there() {
    let opening = Opening::new();
    opening.rig.reset();
    let before = opening.files();
    for prepare in [
        "mount --bind .turnfold .turnfold && mount -o remount,bind,ro .turnfold",
        "mount -t tmpfs -o size=4m none ../mounted && cp -r .turnfold/. ../mounted && \
         mount --bind ../mounted .turnfold && \
         { cat /dev/zero > .turnfold/ballast 2>/dev/null; true; }",
    ] {
        let reading = READING.map(|line| {
            let words: Vec<_> = words(line).iter().map(|word| format!("'{word}'")).collect();
            format!(
                "rm -f made* && \"$TURNFOLD\" {} >../printed 2>&1; [ $? -le 1 ] || {{ echo {line:?}; cat ../printed; exit 9; }}",
                words.join(" ")
            )
        });
        // A commit uses space that is already allocated, so only a read-only disk refuses it.
        let is_full = prepare.contains("size=");
        let refuses = if is_full { "true" } else { "exit 8" };
        // Closing writes the end of the journal into the header of the unused head file, so the comparison skips the
        // header.
        let passed_over = if is_full { 512 } else { 0 };
        let play = format!(
            "{{ \"$TURNFOLD\" {PLAY} && {refuses}; true; }} && \
             cmp .turnfold/FORMAT ../base/.turnfold/FORMAT && \
             cmp -i {passed_over} .turnfold/journal/head.a ../base/.turnfold/journal/head.a || exit 7"
        );
        let script = format!("{prepare} && {} && {play}", reading.join(" && "));
        let Some(output) = mounted(&opening.rig, &script) else {
            skipped("file systems that are full or fail", "no file system can be mounted here");
            return;
        };
        let (text, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{prepare}: {:?}\n{text}{errors}", output.status);
        let errors: Vec<_> = errors.lines().filter(|line| line.starts_with("error: ")).collect();
        assert_eq!(errors.len(), usize::from(!is_full), "{errors:?}");
        assert!(opening.files() == before, "{prepare}");
        fs::remove_dir(opening.rig.sandbox.path("mounted")).unwrap();
    }
}
