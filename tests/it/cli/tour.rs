//! `turnfold tour`.

use std::fs;

use serde_json::Value;

use turnfold_tests::sandbox::{Sandbox, workspace};

/// Returns an empty folder with a subfolder for temporary files.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::installed();
    fs::create_dir(sandbox.path("tmp")).unwrap();
    sandbox
}

/// Runs the tour with these arguments, and requires it to leave no files.
fn tour(sandbox: &Sandbox, args: &[&str]) -> String {
    let mut command = sandbox.command(["tour"].into_iter().chain(args.iter().copied()));
    // A CI machine sets `CI`, and then `bless` refuses.
    let output = command
        .env("TMPDIR", sandbox.path("tmp"))
        .env("XDG_CACHE_HOME", sandbox.path("cache"))
        .env("CI", "true")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    require_no_traces(sandbox);
    String::from_utf8(output.stdout).unwrap()
}

fn require_no_traces(sandbox: &Sandbox) {
    let left: Vec<_> = fs::read_dir(sandbox.path("tmp")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!sandbox.path(".turnfold").exists() && !sandbox.path("cache").exists());
}

#[test]
fn the_tour_finds_a_bug_and_leaves_no_traces() {
    let text = tour(&sandbox(), &[]);
    let printed_by_verbs = ["281 ", "  281 ", "3 p1", "shrunk ", "exported ", "ok bug.html"];
    for line in text.lines().filter(|line| line.chars().count() > 80) {
        assert!(printed_by_verbs.iter().any(|begin| line.starts_with(begin)), "{line}");
    }
    snapbox::assert_data_eq!(text, snapbox::file!["tour.txt"].raw());
}

/// Every command of the tour prints the same and has the same exit code when it is run in a folder with the same files.
#[test]
fn the_tour_prints_what_its_commands_print() {
    let (touring, sandbox) = (sandbox(), Sandbox::installed());
    for (from, to) in [
        ("report.tfl", "report.tfl"),
        ("flank-wrong.wasm", "today/flank.wasm"),
        ("flank.wasm", "mended/flank.wasm"),
    ] {
        fs::create_dir_all(sandbox.path(to).parent().unwrap()).unwrap();
        fs::copy(workspace().join("cli/tour").join(from), sandbox.path(to)).unwrap();
    }
    let mut verbs = Vec::new();
    for line in tour(&touring, &["--format", "json"]).lines() {
        let step: Value = serde_json::from_str(line).unwrap();
        let words: Vec<_> =
            step["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let output = sandbox.command(words.iter().copied()).output().unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(step["output"], stdout, "{words:?}");
        assert_eq!(step["errors"], stderr, "{words:?}");
        assert_eq!(step["exit_code"], output.status.code().unwrap(), "{words:?}");
        verbs.push(words[0].to_owned());
    }
    let hunt = ["check", "bisect", "show", "blame", "shrink", "log", "bless", "check", "export", "check"];
    assert_eq!(verbs, hunt);
}

#[cfg(all(unix, feature = "stepper"))] // input to pseudo-terminals
mod on_a_terminal {
    use std::num::NonZero;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use rustix::process::{Pid, Signal, kill_process};

    use super::{Sandbox, fs, require_no_traces, sandbox};
    use crate::terminal::{Running, is_ignored};

    const PROMPT: &str = "`q` ends: ";
    const END: &str = "The files of the tour are removed.";
    const ROWS: u16 = 24;
    const COLUMNS: u16 = 80;

    fn start(sandbox: &Sandbox, args: &[&str], typed: &str) -> Option<Running> {
        let mut command = sandbox.command(["tour"].into_iter().chain(args.iter().copied()));
        command.env("NO_COLOR", "1").env("TMPDIR", sandbox.path("tmp")).env("PATH", sandbox.path("bin"));
        Running::start_in(command, typed, (ROWS, COLUMNS))
    }

    /// Runs the tour with this input, and requires it to leave no files.
    fn finished(args: &[&str], typed: &str) -> Option<(String, ExitStatus)> {
        let sandbox = sandbox();
        let finished = start(&sandbox, args, typed)?.finish();
        require_no_traces(&sandbox);
        Some(finished)
    }

    /// Returns what the terminal shows after it received these bytes.
    fn screen(sent: &[u8]) -> String {
        let length = |length| NonZero::new(length).unwrap();
        let mut parser = vt100::Parser::new(length(ROWS), length(COLUMNS), 0);
        parser.process(sent);
        parser.screen().contents()
    }

    #[test]
    fn each_step_waits_for_enter_and_fits_on_a_screen() {
        let sandbox = sandbox();
        let Some(mut running) = start(&sandbox, &[], "") else { return };
        for step in 1..=7 {
            running.wait_for(&format!("{step}/7 "));
            loop {
                let screen = screen(running.sent());
                if screen.trim_end().ends_with(PROMPT.trim_end()) {
                    assert!(screen.contains(&format!("{step}/7 ")), "{screen}");
                    break;
                }
                assert!(running.read(), "{screen}");
            }
            running.type_in("\n");
        }
        let (text, status) = running.finish();
        let screen = screen(text.replace('\n', "\r\n").as_bytes());
        assert!(status.success() && screen.contains("Your own game") && screen.contains(END), "{screen}");
        require_no_traces(&sandbox);
    }

    #[test]
    fn the_tour_ends_at_q_or_with_the_input() {
        for typed in ["q\n", "\n\nq\n", "\x04"] {
            let Some((text, status)) = finished(&[], typed) else { return };
            assert!(status.success() && !text.contains(END), "{text}");
            assert_eq!(text.matches(PROMPT).count(), typed.matches('\n').count().max(1), "{text}");
        }
    }

    #[test]
    fn without_pauses_the_tour_asks_nothing() {
        let Some((text, status)) = finished(&["--no-pause"], "") else { return };
        assert!(status.success() && text.contains(END) && !text.contains(PROMPT), "{text}");
    }

    #[test]
    fn ctrl_c_leaves_no_traces() {
        let sandbox = sandbox();
        let Some(mut running) = start(&sandbox, &[], "") else { return };
        running.wait_for(PROMPT);
        assert_eq!(fs::read_dir(sandbox.path("tmp")).unwrap().count(), 1, "there is something to remove");
        // A process started in the background inherits that Ctrl-C is ignored.
        let signal = if is_ignored(2) { Signal::TERM } else { Signal::INT };
        kill_process(Pid::from_child(&running.child), signal).unwrap();
        let (text, status) = running.finish();
        assert_eq!(status.signal(), Some(signal.as_raw()), "{text}");
        require_no_traces(&sandbox);
    }

    /// A script replaces the browser and keeps its argument.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_page_is_opened_if_someone_asks_for_it() {
        use std::os::unix::fs::PermissionsExt;
        let sandbox = sandbox();
        fs::create_dir(sandbox.path("bin")).unwrap();
        sandbox.write(
            "bin/xdg-open",
            "#!/bin/sh\n/bin/cp \"$1\" \"$0.part\" && /bin/mv \"$0.part\" opened.html\n",
        );
        fs::set_permissions(sandbox.path("bin/xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
        let Some(mut running) = start(&sandbox, &[], &("\n".repeat(6) + "o\n")) else { return };
        running.wait_for("until the tour ends.");
        for _ in 0..300 {
            if sandbox.path("opened.html").exists() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        running.type_in("\n");
        let (text, status) = running.finish();
        assert!(status.success() && text.contains(END), "{text}");
        assert!(sandbox.read("opened.html").contains("<!DOCTYPE html>"));
        require_no_traces(&sandbox);
    }

    #[test]
    fn without_a_browser_the_tour_shows_where_the_page_is() {
        let Some((text, status)) = finished(&[], &("\n".repeat(6) + "o\n\n")) else { return };
        assert!(status.success() && text.contains("No browser was found. Open"), "{text}");
        assert!(text.contains("/bug.html`"), "{text}");
    }
}
