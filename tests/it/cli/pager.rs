//! The pager on a terminal.

use super::duel;
use crate::terminal::{self, Running, is_ignored};
use turnfold_tests::sandbox::{Sandbox, words};

/// A pager that shows when it starts and when it has read everything.
const PAGER: &str = "echo '[paged]'; cat; echo '[end]'";

/// Runs a command on a terminal, and returns what the terminal shows and the exit code.
fn shown(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> Option<(String, Option<i32>)> {
    let words = words(line);
    let mut command = sandbox.command(words.iter().map(String::as_str));
    command.envs(variables.iter().copied());
    terminal::run(command, "")
}

/// Requires a command to use the pager or not, to exit with this code, and to print no error.
fn check(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)], is_paged: bool, code: i32) {
    let Some((text, found)) = shown(sandbox, line, variables) else { return };
    assert_eq!(found, Some(code), "{line}: {text}");
    let answer = text.strip_prefix("[paged]\n").and_then(|text| text.strip_suffix("[end]\n"));
    assert_eq!(answer.is_some(), is_paged, "{line} {variables:?}: {text}");
    assert!(!answer.unwrap_or(&text).is_empty(), "{line}");
    assert!(!text.contains("error"), "{line}: {text}");
}

#[test]
fn long_answers_are_paged_on_a_terminal_and_their_exit_codes_stay() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.write("pager", PAGER);
    let pager = [("TURNFOLD_PAGER", "sh pager")];
    for line in [
        "log duel",
        "replay duel",
        "replay duel.tfl",
        "diff duel duel",
        "blame duel /units/0/at",
        "rules initiative",
        "bless --check duel.tfl",
        "help mail-player",
    ] {
        check(&sandbox, line, &pager, true, 0);
    }
    check(&sandbox, "diff duel duel:1", &pager, true, 1);
    for line in ["show duel", "matches", "check duel.tfl", "log duel --format json", "log duel --no-pager"] {
        check(&sandbox, line, &pager, false, 0);
    }
}

#[test]
fn the_variables_choose_the_pager() {
    let sandbox = duel();
    sandbox.write("pager", PAGER);
    let ours = |value| ("TURNFOLD_PAGER", value);
    let general = |value| ("PAGER", value);
    let log = |variables: &[(&str, &str)], is_paged| check(&sandbox, "log duel", variables, is_paged, 0);
    log(&[general("sh pager")], true);
    log(&[ours("sh -c 'sh pager'"), general("cat")], true);
    for none in ["", "cat", "no-such-pager --at-all", "./pager"] {
        log(&[ours(none), general("sh pager")], false);
    }
}

#[test]
fn less_is_set_to_quit_on_one_screen_unless_it_has_options() {
    let sandbox = duel();
    sandbox.write("less", "#!/bin/sh\ncat > /dev/null\necho \"options $LESS\"\n");
    let less = sandbox.path("less");
    std::fs::set_permissions(&less, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", less.parent().unwrap().display());
    for (options, expected) in [(None, "FRX"), (Some("S"), "S"), (Some(""), "")] {
        let variables: Vec<_> =
            [("PATH", path.as_str())].into_iter().chain(options.map(|options| ("LESS", options))).collect();
        let Some((text, code)) = shown(&sandbox, "log duel", &variables) else { return };
        assert_eq!((text, code), (format!("options {expected}\n"), Some(0)));
    }
}

#[test]
fn colors_survive_the_pager() {
    let sandbox = duel();
    sandbox.write("pager", PAGER);
    let colored = |variables: &[(&str, &str)]| {
        shown(&sandbox, "diff duel duel:1", variables).map(|(text, _)| text.contains("\u{1b}["))
    };
    let pager = ("TURNFOLD_PAGER", "sh pager");
    let Some(found) = colored(&[pager]) else { return };
    assert!(found);
    assert_eq!(colored(&[pager, ("NO_COLOR", "1")]), Some(false));
}

#[test]
fn a_pager_that_is_closed_ends_the_answer_quietly() {
    let sandbox = duel();
    sandbox.write("script", "tick\n".repeat(3_000));
    sandbox.ok("new long --rules hexcapture --setup fixtures/hexcapture/generated-world.toml");
    sandbox.ok("play long --script script");
    let Some(found) = shown(&sandbox, "log long", &[("PAGER", "true")]) else { return };
    assert_eq!(found, (String::new(), Some(0)));
}

/// ST-16: the reader may take their time, because the store is free as soon as everything is read.
#[test]
fn while_the_pager_waits_for_the_person_the_store_is_free() {
    let sandbox = duel();
    sandbox.write("script", "tick\n".repeat(8_000));
    sandbox.ok("new long --rules hexcapture --setup fixtures/hexcapture/generated-world.toml");
    sandbox.ok("play long --script script");
    assert!(sandbox.ok("log long").len() > 300_000, "more than pipes and buffers hold");
    // The pager plays a command before it reads anything.
    let play = format!("'{}' play long tick > /dev/null", turnfold_tests::sandbox::binary().display());
    sandbox.write("pager", format!("sleep 1; {play} && echo '[played]'; cat > /dev/null"));
    let Some((text, code)) = shown(&sandbox, "log long", &[("PAGER", "sh pager")]) else { return };
    assert_eq!((text.as_str(), code), ("[played]\n", Some(0)));
}

/// Once the program has ended, its parent reads from the terminal again, and must be the only reader.
#[test]
fn a_signal_ends_the_answer_only_after_the_pager_has_ended() {
    let sandbox = duel();
    // When the pager has a line, the program has begun to write the whole answer.
    let pager = "read -r line; echo '[paged]'; while ! test -e go; do sleep 0.02; done; echo \"$line\"; cat; echo '[end]'";
    sandbox.write("pager", pager);
    // A process started in the background inherits that Ctrl-C is ignored.
    for (name, number) in
        [("INT", 2), ("TERM", 15), ("QUIT", 3)].into_iter().filter(|(_, number)| !is_ignored(*number))
    {
        let _ = std::fs::remove_file(sandbox.path("go"));
        let mut command = sandbox.command(["log", "duel"]);
        command.env("TURNFOLD_PAGER", "sh pager");
        let Some(mut running) = Running::start(command, "", 0) else { return };
        running.wait_for("[paged]");
        let kill = format!("kill -{name} {}", running.child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert_eq!(running.child.try_wait().unwrap(), None, "{name} ended it before its pager");
        }
        sandbox.write("go", "");
        let (text, status) = running.finish();
        assert!(text.contains("1 host") && text.ends_with("[end]\n"), "{text}");
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(number),
            "{name}: {status:?}"
        );
    }
}

#[test]
fn an_error_comes_after_the_pager_has_ended() {
    let sandbox = duel();
    sandbox.write("pager", PAGER);
    let Some((text, code)) = shown(&sandbox, "log nobody", &[("PAGER", "sh pager")]) else { return };
    assert_eq!(code, Some(2), "{text}");
    let (paged, error) = text.split_once("[end]\n").unwrap();
    assert_eq!(paged, "[paged]\n");
    assert!(error.contains("error:") && error.contains("nobody"), "{text}");
}

#[test]
fn nothing_is_paged_off_a_terminal() {
    let sandbox = duel();
    sandbox.write("pager", PAGER);
    let output = sandbox.command(["log", "duel"]).env("TURNFOLD_PAGER", "sh pager").output().unwrap();
    assert!(output.status.success());
    assert!(!String::from_utf8(output.stdout).unwrap().contains("[paged]"));
}

#[test]
fn a_terminal_shows_long_entries_on_several_lines() {
    let sandbox = duel();
    let line = |columns: u16, line: &str| {
        let words = words(line);
        let mut command = sandbox.command(words.iter().map(String::as_str));
        command.env("NO_COLOR", "1");
        Some(Running::start_in(command, "", (40, columns))?.finish().0)
    };
    let Some(narrow) = line(60, "log duel --no-pager -n 1") else { return };
    snapbox::assert_data_eq!(
        narrow,
        snapbox::str![[r#"
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1;
    cursor at=0,1;
    impulse_advanced index=1 player=p2 units=1
    #8bc3cdd5a21478a4

"#]]
    );
    let wide = line(1000, "log duel --no-pager").unwrap();
    snapbox::assert_data_eq!(wide, sandbox.ok("log duel"));
}

#[test]
fn a_pager_that_cannot_be_started_is_named_and_the_output_follows() {
    let sandbox = duel();
    for variable in ["TURNFOLD_PAGER", "PAGER"] {
        let Some((text, code)) = shown(&sandbox, "log duel", &[(variable, "no-such-pager --at-all")]) else {
            return;
        };
        let (warning, log) = text.split_once('\n').unwrap();
        let expected =
            "cannot start the pager `no-such-pager` (entity not found); its output follows unpaged";
        assert!(warning.contains(expected), "{variable}: {warning}");
        assert!(log.starts_with("1 host ") && code == Some(0), "{variable}: {log}");
    }
    // Without a variable that names a pager, there is no error about a missing one.
    let Some((text, _)) = shown(&sandbox, "log duel", &[]) else { return };
    assert!(!text.contains("pager"), "{text}");
}
