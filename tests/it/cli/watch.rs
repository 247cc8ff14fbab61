//! `turnfold check --watch`, which checks again whenever something changes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::terminal::is_ignored;
use rustix::process::{Pid, Signal, kill_process};
use turnfold_tests::sandbox::{Sandbox, program, words, workspace};

/// A running watch, and its answer for each check.
struct Watching {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Watching {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        Self { child, said }
    }

    fn of(sandbox: &Sandbox, line: &str) -> Self {
        let line = words(line);
        Self::start(sandbox.command(line.iter().map(String::as_str)))
    }

    /// Waits for the next check.
    fn next(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Sends a signal, and returns the exit code and the answers of all checks.
    fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        // A process started in the background inherits that Ctrl-C is ignored.
        let signal = if signal == Signal::INT && is_ignored(2) { Signal::TERM } else { signal };
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut answers = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut answers).unwrap();
        (self.child.wait().unwrap().code(), answers)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_changed_golden_log_is_checked_again_and_ctrl_c_ends_with_the_code_of_the_last_check() {
    let sandbox = super::duel();
    fs::create_dir(sandbox.path("games")).unwrap();
    sandbox.ok("export duel -o games/duel.tfl");
    let good = sandbox.read("games/duel.tfl");
    let mut watching = Watching::of(&sandbox, "check games --watch");
    assert_eq!(watching.next(), "check 1: all good; watching 2 files, Ctrl-C ends");
    sandbox.write("games/duel.tfl", good.replace("selected unit=atlas", "ignored out_of_range"));
    let expected =
        "check 2 after a change of games/duel.tfl: something failed; watching 2 files, Ctrl-C ends";
    assert_eq!(watching.next(), expected);
    // A new file is checked, and a removed file is not an error.
    sandbox.write("games/duel.tfl", &good);
    sandbox.write("games/second.tfl", &good);
    assert!(watching.next().ends_with(": all good; watching 3 files, Ctrl-C ends"));
    fs::remove_file(sandbox.path("games/second.tfl")).unwrap();
    let expected = "check 4 after a change of games/second.tfl: all good; watching 2 files, Ctrl-C ends";
    assert_eq!(watching.next(), expected);
    sandbox.write("games/duel.tfl", "no replay");
    assert!(watching.next().contains("something failed"));
    let (code, answers) = watching.end(Signal::INT);
    assert_eq!(code, Some(1), "{answers}");
    let summaries: Vec<&str> = answers.lines().filter(|line| line.contains(" passed, ")).collect();
    let expected = [
        "1 passed, 0 failed (3 entries)",
        "0 passed, 1 failed (3 entries)",
        "2 passed, 0 failed (6 entries)",
        "1 passed, 0 failed (3 entries)",
        "0 passed, 1 failed (0 entries)",
    ];
    assert_eq!(summaries, expected);
}

#[test]
fn what_a_check_needs_is_watched_and_every_exit_code_is_that_of_the_last_check() {
    let sandbox = super::duel();
    sandbox.ok("export duel -o duel.tfl");
    // A module added next to the store, and the paths named for watching, in JSON.
    fs::create_dir_all(sandbox.path("notes/old")).unwrap();
    let line = "--format json check duel.tfl --watch --watch-path notes --watch-path=rules.txt";
    let mut watching = Watching::of(&sandbox, line);
    let said = watching.next();
    assert_eq!(said, r#"{"watch":{"check":1,"changed":null,"exit_code":0,"files":4}}"#);
    sandbox.write("notes/old/a.txt", "a");
    let said = watching.next();
    assert_eq!(said, r#"{"watch":{"check":2,"changed":"notes/old/a.txt","exit_code":0,"files":5}}"#);
    sandbox.write("rules.txt", "a");
    assert!(watching.next().contains(r#""changed":"rules.txt","exit_code":0"#));
    fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    let module = workspace().join("fixtures/modules/tictactoe.wasm");
    fs::copy(module, sandbox.path(".turnfold/modules/ttt.wasm")).unwrap();
    assert!(watching.next().contains("ttt.wasm\",\"exit_code\":0,\"files\":6"));
    fs::remove_file(sandbox.path("duel.tfl")).unwrap();
    let said = watching.next();
    assert!(said.contains("cannot read `duel.tfl`"), "{said}");
    assert!(watching.next().contains(r#""changed":"duel.tfl","exit_code":2"#));
    let (code, answers) = watching.end(Signal::TERM);
    assert_eq!((code, answers.lines().count()), (Some(2), 4), "{answers}");
    for (line, refused) in [
        ("check - --watch", "standard input cannot be watched"),
        ("check --watch --report json", "cannot be used with"),
        ("check --watch-path src", "required"),
    ] {
        let output = sandbox.run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(refused) && stderr.lines().count() == 1, "{line}: {stderr}");
    }
}

#[test]
fn a_changed_script_of_a_referee_is_asked_anew() {
    let sandbox = Sandbox::new();
    sandbox.add_program(&program("referee-under-test"), "sums");
    fs::create_dir_all(sandbox.path("game/lib")).unwrap();
    sandbox.write("game/run.sh", ". game/lib/rules.sh\nexec ./sums\n");
    sandbox.write("game/lib/rules.sh", "");
    // A file that a referee writes does not cause another check.
    sandbox.write("game/log.txt", "");
    let referee = "--referee \"sums=sh game/run.sh\"";
    sandbox.ok(&format!("{referee} new duel --rules sums"));
    sandbox.ok(&format!("{referee} play duel \"add 3\""));
    sandbox.ok(&format!("{referee} export duel -o duel.tfl"));
    let mut watching = Watching::of(&sandbox, &format!("{referee} check duel.tfl --watch"));
    // Watched are the program, the log and two scripts, and the shell if it is found on `PATH`.
    let said = watching.next();
    assert!(said.starts_with("check 1: all good; watching ") && !said.contains(" 3 files"), "{said}");
    sandbox.write("game/log.txt", "asked");
    sandbox.write("game/lib/rules.sh", "exit 1\n");
    let said = watching.next();
    assert!(said.starts_with("check 2 after a change of game/lib/rules.sh: something failed"), "{said}");
    sandbox.write("game/lib/rules.sh", "");
    let said = watching.next();
    assert!(said.starts_with("check 3 after a change of game/lib/rules.sh: all good"), "{said}");
    assert_eq!(watching.end(Signal::INT).0, Some(0));
}
