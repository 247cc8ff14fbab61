//! The processes that turnfold starts (RF-3, RF-17). It starts the referee that the user named when it folds a match of
//! that game. It starts nothing that a store, a bundle, a replay file or a letter names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::parts::can_trace_or_skips;
use turnfold_tests::sandbox::{Sandbox, binary, program, words};

/// The program that a hostile text names. It leaves a file behind if it runs.
const EVIL: &str = "./evil";

/// The terms of a match by mail.
const TERMS: &str = "hosted = []\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";

/// Runs a command, and returns the programs that it starts or tries to start, in order.
fn started(sandbox: &Sandbox, line: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", "trace"]);
    strace.arg(binary()).args(words(line)).current_dir(sandbox.path("")).env_clear();
    strace.env("PATH", "/usr/local/bin:/usr/bin:/bin").envs(variables.iter().copied()).output().unwrap();
    let trace = sandbox.read("trace");
    let calls = trace.lines().filter(|line| line.contains("execve"));
    let programs: Vec<String> =
        calls.map(|line| line.split('"').nth(1).unwrap_or_else(|| panic!("{line}")).to_owned()).collect();
    assert_eq!(programs.first().map(String::as_str), binary().to_str(), "{line}: {trace}");
    programs[1..].to_vec()
}

/// Creates a folder in which every file that someone else could have written names a command.
fn hostile() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::copy(program("referee-under-test"), sandbox.path("sums")).unwrap();
    sandbox.write("evil", "#!/bin/sh\ntouch evil-ran\n");
    fs::set_permissions(sandbox.path("evil"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(sandbox.path("turnfold")).unwrap();
    let setup = "sum = 1\nreferee = \"./evil\"\ncommand = [\"./evil\"]\n";
    sandbox.write("setup.toml", setup);
    sandbox.ok("--referee ./sums new duel --rules sums --setup setup.toml \"--title=--referee ./evil\"");
    sandbox.ok("--referee ./sums play duel \"think $(./evil)\" \"think --referee=./evil\" \"add 3\"");
    sandbox.ok("--referee ./sums export duel -o duel.tfl");
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("new night --rules lifecycle");
    let tfl = sandbox.read("duel.tfl").replacen(
        "+++\n1 ",
        "+++\n# referee = \"./evil\" TURNFOLD_REFEREES=./evil\n1 ",
        1,
    );
    sandbox.write("duel.tfl", tfl);
    // Files of this name count only in the user's configuration folder.
    for place in ["referees.toml", ".turnfold/referees.toml", "turnfold/referees.toml"] {
        sandbox.write(place, "[sums]\ncommand = [\"./evil\"]\n\n[lifecycle]\ncommand = [\"./evil\"]\n");
    }
    sandbox
}

#[test]
fn rf_3_nothing_that_someone_sends_starts_a_process() {
    if !can_trace_or_skips("what starts a process") {
        return;
    }
    let sandbox = hostile();
    for line in [
        "matches --long",
        "log duel",
        "log duel --raw",
        "show duel",
        "verify",
        "check duel.tfl",
        "replay duel.tfl",
        "game impact duel.tfl",
        "import duel.tfl --name again",
        "audit duel.bundle",
        "--store other import duel.bundle",
        "bundle duel -o again.bundle",
        "diff duel night",
        "log duel.bundle",
        "show night",
        "game list",
        "mail take duel duel.tfl",
        "store check",
        "store doctor",
    ] {
        assert_eq!(started(&sandbox, line, &[]), Vec::<String>::new(), "{line}");
    }
    assert!(!sandbox.path("evil-ran").exists());
}

/// RF-3: letters cannot name programs, and `mail` accepts referees only from its own command line.
#[test]
fn rf_3_letters_start_no_process() {
    if !can_trace_or_skips("what starts a process") {
        return;
    }
    let mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    let sandbox = &mailbox.sandbox;
    sandbox.write("evil", "#!/bin/sh\ntouch evil-ran\n");
    sandbox.write("evil.toml", "[initiative]\ncommand = [\"./evil\"]\n\n[desk]\ncommand = [\"./evil\"]\n");
    sandbox.write(
        "letter.txt",
        "Subject: --referee ./evil\n\nreferee = \"./evil\"\n$(./evil)\n`./evil`\n> ./evil\n",
    );
    let variables = [("TURNFOLD_REFEREES", "evil.toml")];
    for line in
        ["mail take duel letter.txt --key host.key", "mail run duel --key host.key", "serve --listen nowhere"]
    {
        assert_eq!(started(sandbox, line, &variables), Vec::<String>::new(), "{line}");
    }
}

/// RF-3: the user's referee starts only when a match of its game is folded.
#[test]
fn rf_3_a_referee_starts_when_its_game_is_folded() {
    if !can_trace_or_skips("what starts a process") {
        return;
    }
    let sandbox = hostile();
    sandbox.write("mine.toml", "[sums]\ncommand = [\"./sums\"]\n\n[other]\ncommand = [\"./evil\"]\n");
    for (line, expected) in [
        ("matches", 0),
        ("matches --long", 1),
        ("log duel", 1),
        ("log duel --raw", 0),
        ("show night", 0),
        ("game list", 0),
        ("game show sums", 1),
        ("verify night", 0),
        // Checks start a second child.
        ("check duel.tfl", 2),
        ("game impact duel.tfl", 2),
        ("--store other import duel.bundle", 0),
        ("bundle duel -o other.bundle", 0),
        ("legal duel", 1),
    ] {
        let line = format!("--referees mine.toml {line}");
        assert_eq!(started(&sandbox, &line, &[]), vec!["./sums"; expected], "{line}");
    }
    // Completion starts no referee, whichever word is completed.
    let complete = [("TURNFOLD_COMPLETE", "fish"), ("TURNFOLD_REFEREES", "mine.toml")];
    for line in [
        "-- turnfold show \"\"",
        "-- turnfold play duel \"\"",
        "-- turnfold new x --rules \"\"",
        "-- turnfold game show \"\"",
    ] {
        assert_eq!(started(&sandbox, line, &complete), Vec::<String>::new(), "{line}");
    }
    assert!(!sandbox.path("evil-ran").exists(), "{EVIL} ran");
}
