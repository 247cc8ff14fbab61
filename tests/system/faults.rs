//! The real binary while reads, writes and syncs fail. It succeeds or prints one line of error, loses nothing
//! acknowledged, and leaves nothing unfinished. strace makes the calls fail. `TURNFOLD_FAULTS=all` tries every call,
//! otherwise the tests try a few of each kind.
//!
//! `opening` tests failures while a store is opened.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Output};

use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{Sandbox, binary, words};

mod letters;
mod mailed;
mod opening;

const PLAY: &str = "play duel cycle";

/// A verb under test, and the file that it creates next to the store.
struct Verb {
    line: &'static str,
    makes: Option<&'static str>,
    /// A command that succeeds only if the created file is complete.
    proof: &'static str,
    /// Files whose reads fail, too.
    reads: &'static [&'static str],
}

const STORE_FILES: &[&str] = &["FORMAT", "journal/head.a", "journal/head.b"];

const VERBS: [Verb; 6] = [
    Verb { line: PLAY, makes: None, proof: "", reads: &[] },
    Verb { line: "store compact", makes: None, proof: "", reads: &[] },
    Verb {
        line: "store salvage .turnfold made",
        makes: Some("made"),
        proof: "--store made log duel",
        reads: STORE_FILES,
    },
    Verb {
        line: "store restore saved made",
        makes: Some("made"),
        proof: "--store made log duel",
        reads: &["../saved"],
    },
    Verb { line: "store backup made", makes: Some("made"), proof: "store restore made restored", reads: &[] },
    Verb { line: "export duel -o made.tfl", makes: Some("made.tfl"), proof: "check made.tfl", reads: &[] },
];

const WRITES: [&str; 2] = ["write", "pwrite64"];
const SYNCS: [&str; 2] = ["fsync", "fdatasync"];
const READS: [&str; 3] = ["read", "pread64", "copy_file_range"];

struct Rig {
    sandbox: Sandbox,
    /// The output of `log` before any failure.
    log: String,
    runs: u32,
    failures: BTreeMap<i32, u32>,
}

impl Rig {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
        sandbox.ok("play duel \"roll 1 2 3 4\" confirm \"move 0,1\"");
        sandbox.ok("store backup saved");
        let log = sandbox.ok("log duel");
        fs::create_dir(sandbox.path("base")).unwrap();
        for name in [".turnfold", "saved"] {
            fs::rename(sandbox.path(name), sandbox.path("base").join(name)).unwrap();
        }
        Self { sandbox, log, runs: 0, failures: BTreeMap::new() }
    }

    /// Resets the folder `work`.
    fn reset(&self) {
        let _ = fs::remove_dir_all(self.sandbox.path("work"));
        let (base, work) = (self.sandbox.path("base"), self.sandbox.path("work"));
        assert!(Command::new("cp").arg("-r").args([base, work]).status().unwrap().success());
    }

    fn run(&self, line: &str) -> Output {
        let words = words(line);
        let mut command = self.sandbox.command(words.iter().map(String::as_str));
        command.current_dir(self.sandbox.path("work")).output().unwrap()
    }

    /// Resets the folder, and runs a verb under strace. Returns its output and the trace of its calls.
    fn trace(&self, line: &str, call: &str, paths: &[&str], inject: Option<&str>) -> (Output, String) {
        self.reset();
        let mut options = vec!["-e".to_owned(), format!("trace={call}")];
        for path in paths {
            // strace prints a message for every path that it must resolve.
            let path = fs::canonicalize(self.sandbox.path("work/.turnfold").join(path)).unwrap();
            options.extend(["-P".to_owned(), path.to_str().unwrap().to_owned()]);
        }
        if let Some(inject) = inject {
            options.extend(["-e".to_owned(), format!("inject={call}:{inject}")]);
        }
        self.strace(line, &options)
    }

    /// Runs a verb under strace on the current folder. Returns its output and the trace of its calls.
    fn strace(&self, line: &str, options: &[String]) -> (Output, String) {
        let mut strace = Command::new("timeout");
        strace.args(["-s", "KILL", "60", "strace", "-f", "-o", "../trace"]).args(options);
        strace.arg(binary()).args(words(line)).current_dir(self.sandbox.path("work"));
        let output = strace.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").output().unwrap();
        (output, self.sandbox.read("trace"))
    }

    /// Makes one call after another fail in each of these ways, and checks the result after each.
    fn fail_each(&mut self, verb: &Verb, call: &str, paths: &[&str], faults: &[&str]) {
        let (output, trace) = self.trace(verb.line, call, paths, None);
        assert!(output.status.success(), "{}: {}", verb.line, String::from_utf8_lossy(&output.stderr));
        // strace counts the calls of each thread separately.
        let mut counts = BTreeMap::<&str, u32>::new();
        for line in trace.lines().filter(|line| line.contains(&format!(" {call}("))) {
            *counts.entry(line.split(' ').next().unwrap()).or_default() += 1;
        }
        let last = counts.into_values().max().unwrap_or(0);
        for fault in faults {
            self.fail_numbers(verb, call, paths, fault, last);
        }
    }

    /// Makes one call after another, up to `last`, fail in one way. Without the variable, only one call fails.
    fn fail_numbers(&mut self, verb: &Verb, call: &str, paths: &[&str], fault: &str, last: u32) {
        let numbers = if std::env::var_os("TURNFOLD_FAULTS").is_some() {
            (1..=last).collect()
        } else {
            Vec::from_iter((last > 0).then_some(1 + self.runs % last.max(1)))
        };
        for number in numbers {
            let what = format!("{} with {call} {number} {fault}", verb.line);
            let (output, trace) = self.trace(verb.line, call, paths, Some(&format!("{fault}:when={number}")));
            if trace.contains("(INJECTED)") {
                self.runs += 1;
                self.check(verb, &output, &what);
            }
        }
    }

    fn check(&mut self, verb: &Verb, output: &Output, what: &str) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        let what = format!("{what}: {:?}\n{stdout}{stderr}", output.status);
        let code = output.status.code().unwrap_or_else(|| panic!("{what}"));
        assert!(matches!(code, 0..=3), "{what}");
        *self.failures.entry(code).or_default() += 1;
        let errors = stderr.lines().filter(|line| line.starts_with("error: ")).count();
        assert_eq!(errors, usize::from(code > 1), "{what}");
        // If closing fails after all work is done, the verb prints a warning.
        assert!(stderr.lines().count() <= 1 && !stderr.contains("internal error"), "{what}");

        let verified = self.run("verify");
        assert!(verified.status.success(), "{what}\n{}", String::from_utf8_lossy(&verified.stderr));
        let log = String::from_utf8(self.run("log duel").stdout).unwrap();
        let added = log.strip_prefix(&self.log).unwrap_or_else(|| panic!("{what}\n{log}"));
        match added.lines().count() {
            0 => assert!(verb.line != PLAY || code != 0, "lost: {what}"),
            count => assert!(verb.line == PLAY && count == 1, "{what}\n{log}"),
        }
        let work = self.sandbox.path("work");
        let left = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.map(|name| name.into_string().unwrap()).collect();
        let expected = [".turnfold", "saved", verb.makes.unwrap_or_default()];
        assert!(left.iter().all(|name| expected.contains(&name.as_str())), "{what}\n{left:?}");
        let Some(made) = verb.makes else { return };
        // A failure after the last rename leaves a complete file.
        assert!(code > 1 || work.join(made).exists(), "{what}");
        if work.join(made).exists() && code != 1 {
            let proved = self.run(verb.proof);
            assert!(proved.status.success(), "{what}\n{}", String::from_utf8_lossy(&proved.stderr));
            let text = String::from_utf8(proved.stdout).unwrap();
            assert!(!verb.proof.contains("log") || text == self.log, "{what}\n{text}");
        }
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn whichever_call_fails_nothing_is_lost_and_one_line_reports_it() {
    if !can_trace_or_skips("calls that fail") {
        return;
    }
    let mut rig = Rig::new();
    for verb in &VERBS {
        for (calls, faults) in [
            (WRITES.as_slice(), ["error=EIO", "error=ENOSPC", "retval=0"].as_slice()),
            (SYNCS.as_slice(), &["error=EIO", "error=ENOSPC"]),
        ] {
            for call in calls {
                rig.fail_each(verb, call, &[], faults);
            }
        }
        for call in READS.iter().filter(|_| !verb.reads.is_empty()) {
            rig.fail_each(verb, call, verb.reads, &["error=EIO", "retval=0"]);
        }
    }
    eprintln!("{} calls failed, exit codes: {:?}", rig.runs, rig.failures);
    assert!(rig.runs > 20, "only {} calls failed", rig.runs);
}
