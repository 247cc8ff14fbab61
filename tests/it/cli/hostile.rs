//! Input that is malicious or enormous must give a clear error, with bounded memory, no hang, and no raw bytes on a
//! terminal.
//!
//! Each limit is next to the code that reads the input; the guide `limits` lists them. The laws test nesting, sizes and
//! numbers within one process; here the whole program runs with little memory.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::{Command, Output, Stdio};

use snapbox::str;
use turnfold_games::rulesets;

use turnfold_laws::{numbers, replaced};
use turnfold_tests::fixtures;
use turnfold_tests::sandbox::{Sandbox, binary};

/// The memory limit of every hostile run in KiB, which is far less than its input.
const MEMORY_KIB: u32 = 600_000;

const BOARD: &str = "fixtures/initiative/small-board.toml";
const HEAD: &str =
    "turnfold replay 2\n+++\nruleset = \"initiative\"\nversion = 1\ndice = \"recorded\"\nsetup.radius = 2\n";

/// Returns a command that runs with this memory limit.
fn frugal(sandbox: &Sandbox, words: &[&str]) -> Command {
    let plain = sandbox.command([]);
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY_KIB} && exec \"$@\""), "sh"]).arg(binary()).args(words);
    command.current_dir(plain.get_current_dir().unwrap()).env_clear().stdin(Stdio::null());
    command
}

/// Requires a refusal with this message in one line.
fn check_refused(sandbox: &Sandbox, words: &[&str], expected: &str) {
    check_error(&frugal(sandbox, words).output().unwrap(), words, expected);
}

fn check_error(output: &Output, words: &[&str], expected: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {stderr}");
    assert_eq!(stderr, format!("error: {expected}\n"), "{words:?}");
}

/// Requires an answer, whatever it is, without control sequences in either output.
fn check_harmless(output: &Output, what: &str) {
    let printed = [output.stdout.as_slice(), &output.stderr].concat();
    let printed = String::from_utf8(printed).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(matches!(output.status.code(), Some(0..=2)), "{what}: {:?} {printed}", output.status);
    assert!(!printed.contains("internal error"), "{what}: {printed}");
    let raw = printed.chars().find(|character| character.is_control() && *character != '\n');
    assert!(raw.is_none() && !printed.contains('\u{202e}'), "{what}: {raw:?} in {printed:?}");
}

#[test]
fn a_line_of_a_gigabyte_is_not_read_to_its_end() {
    let sandbox = Sandbox::new();
    File::create(sandbox.path("line.tfl")).unwrap().set_len(1_000_000_000).unwrap();
    let replay = "line.tfl:1: expected at most 67108864 bytes in a line";
    for verb in ["show", "replay", "bless", "import"] {
        check_refused(&sandbox, &[verb, "line.tfl"], replay);
    }
    check_refused(
        &sandbox,
        &["simulate", "--rules", "initiative", "--setup", "line.tfl", "cycle"],
        "`line.tfl`: expected at most 4194304 bytes in a setup",
    );
    let script = ["simulate", "--rules", "initiative", "--setup", BOARD, "--script"];
    let words = [script.as_slice(), &["line.tfl"]].concat();
    check_refused(&sandbox, &words, "`line.tfl`: expected at most 67108864 bytes in a script");
    let mut endless = frugal(&sandbox, &[script.as_slice(), &["-"]].concat());
    endless.stdin(File::open("/dev/zero").unwrap());
    let output = endless.output().unwrap();
    check_error(&output, &["--script", "-"], "<stdin>:1: expected at most 65536 bytes in a line");
}

#[test]
fn ten_million_lines_are_too_many() {
    let sandbox = Sandbox::new();
    sandbox.write("lines.tfl", format!("{HEAD}+++\n") + &"\n".repeat(10_000_000));
    check_refused(
        &sandbox,
        &["show", "lines.tfl"],
        "lines.tfl:4000001: expected at most 4000000 lines in a replay",
    );
    check_refused(
        &sandbox,
        &["simulate", "--rules", "initiative", "--setup", BOARD, "--script", "lines.tfl"],
        "lines.tfl:1000001: expected at most 1000000 lines in a script",
    );
}

#[test]
fn toml_nested_deeply_is_refused() {
    let sandbox = Sandbox::new();
    let deep = 100_000;
    let setups = [
        format!("radius = {}{}\n", "[".repeat(deep), "]".repeat(deep)),
        format!("radius = {}1{}\n", "{a=".repeat(deep), "}".repeat(deep)),
        format!("radius{} = 1\n", ".a".repeat(deep)),
        format!("[radius{}]\n", ".a".repeat(deep)),
    ];
    for setup in setups {
        sandbox.write("deep.toml", &setup);
        sandbox.write("deep.tfl", HEAD.replace("setup.radius = 2\n", &setup) + "+++\n");
        for words in [
            ["simulate", "--rules", "initiative", "--setup", "deep.toml", "cycle"].as_slice(),
            &["show", "deep.tfl"],
        ] {
            let output = frugal(&sandbox, words).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("recursion") || stderr.contains("recurse"), "{stderr}");
        }
    }
}

#[test]
fn what_is_no_file_is_not_read() {
    let sandbox = Sandbox::new();
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe.tfl")).status().unwrap().success());
    sandbox.check(str![[r#"
$ turnfold show pipe.tfl
exit 2| error: cannot read replay `pipe.tfl`: it is a pipe, a socket or a device; name a regular file
$ turnfold check pipe.tfl
failed cannot read replay `pipe.tfl`: it is a pipe, a socket or a device; name a regular file
0 passed, 1 failed (0 entries)
exit 1
$ turnfold bless /dev/zero
exit 2| error: cannot read replay `/dev/zero`: it is a pipe, a socket or a device; name a regular file
$ turnfold import fixtures --name duel
exit 2| error: no replay files (`*.tfl`) under `fixtures`; nothing was checked
$ turnfold new duel --rules initiative --setup pipe.tfl
exit 2| error: cannot read setup `pipe.tfl`: it is a pipe, a socket or a device; name a regular file
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --script /dev/zero
exit 2| error: cannot read script `/dev/zero`: it is a pipe, a socket or a device; name a regular file
$ turnfold --store pipe.tfl matches
exit 3| error: `pipe.tfl` is not a turnfold store: it is a file; use another directory
$ turnfold --store fixtures/initiative/small-board.toml matches
exit 3| error: `fixtures/initiative/small-board.toml` is not a turnfold store: it is a file; use another directory

"#]]);
}

#[test]
fn names_with_control_characters_are_escaped() {
    let sandbox = Sandbox::new();
    let evil = "\u{1b}[2J\u{7}\u{9b}31m\u{202e}\n";
    fs::copy(sandbox.path(BOARD), sandbox.path(&format!("{evil}.toml"))).unwrap();
    let mut title = String::new();
    for character in evil.chars() {
        write!(title, "\\U{:08X}", u32::from(character)).unwrap();
    }
    let tfl = format!("{evil}.tfl");
    sandbox.write(&tfl, format!("{HEAD}title = \"{title}\"\n+++\n1 host roll 6 6 1 1\n"));
    let setup = format!("{evil}.toml");
    let path = format!("./{tfl}");
    let new = ["new", "duel", "--rules", "initiative", "--setup"];
    assert!(sandbox.command(["show", &path]).output().unwrap().status.success(), "the title is readable");
    for format in ["text", "json"] {
        let lines: [&[&str]; 14] = [
            &["check", &path],
            &["bless", &path],
            &["show", &path],
            &["replay", &path],
            &["log", &path],
            &["diff", &path, &path],
            &["import", &path],
            &["import", &path, "--name", "duel"],
            &["ask", &path, evil],
            &["simulate", "--rules", evil, "--setup", BOARD],
            &["simulate", "--rules", "initiative", "--setup", BOARD, "--keep-going", evil, "p1: cycle\u{1b}"],
            &[&new[..], &[BOARD, "--title", evil]].concat(),
            &[&new[..], &[evil]].concat(),
            &[evil, evil],
        ];
        for words in lines {
            let mut command = sandbox.command(["--format", format]);
            check_harmless(&command.args(words).output().unwrap(), &format!("{words:?}"));
        }
        let played = sandbox
            .command(["simulate", "--rules", "initiative", "--setup", &setup, "roll 1 2 3 4"])
            .output();
        check_harmless(&played.unwrap(), "a setup with such a name");
    }
}

#[test]
fn what_turns_the_direction_of_writing_is_escaped_in_boards_entries_and_differences() {
    let sandbox = Sandbox::new();
    let named = fs::read_to_string(sandbox.path(BOARD)).unwrap().replace("Turret", "T\u{202e}urret");
    sandbox.write("turned.toml", named);
    sandbox.ok(
        "new plain --rules initiative --setup fixtures/initiative/small-board.toml --title \"a\u{202e}b\"",
    );
    sandbox.ok("new turned --rules initiative --setup turned.toml");
    for line in
        ["show turned", "matches", "diff plain turned", "--format json show turned", "--format json matches"]
    {
        let output = sandbox.run(line);
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(stdout.contains("u{202e}") || stdout.contains("\\u202e"), "{line}: {stdout}");
        check_harmless(&output, line);
    }
}

/// Numbers at and beyond the limits of fields and arguments.
const EXTREMES: [&str; 6] = [
    "255",
    "-2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
];

#[test]
fn numbers_at_every_limit_of_a_setup_are_played_or_refused() {
    for rules in rulesets() {
        let sandbox = Sandbox::new();
        let smallest = fixtures(rules.name()).into_iter().min_by_key(|fixture| fixture.toml.len()).unwrap();
        let in_word = |character: char| character.is_alphanumeric() || "_-+.".contains(character);
        let numbers = numbers(&smallest.toml, in_word);
        assert!(!numbers.is_empty(), "{}", smallest.name);
        for (place, range) in numbers.iter().enumerate() {
            // The laws test every number with every extreme. Here each number is tested with one, in a process of its
            // own.
            let extreme = EXTREMES[place % EXTREMES.len()];
            sandbox.write("extreme.toml", replaced(&smallest.toml, range, extreme));
            let words = ["simulate", "--rules", rules.name(), "--setup", "extreme.toml"];
            let what = format!("{extreme} at byte {} of {}", range.start, smallest.name);
            check_harmless(&frugal(&sandbox, &words).output().unwrap(), &what);
        }
    }
}

#[test]
fn numbers_at_every_limit_of_a_command_are_answered() {
    let verbs =
        ["roll", "click", "move", "tap", "tick", "take", "channel", "meditate", "stick", "attack", "skill"];
    let mut script = String::new();
    for verb in verbs {
        for extreme in EXTREMES {
            writeln!(script, "{verb} {extreme}\n{verb} {extreme},{extreme}\n{verb} {extreme} {extreme}")
                .unwrap();
            writeln!(script, "p1: {verb} 1 {extreme}\nhost: {verb} {extreme} 1 1 1").unwrap();
        }
    }
    for rules in rulesets() {
        for fixture in fixtures(rules.name()) {
            let sandbox = Sandbox::new();
            sandbox.write("extreme.txt", &script);
            let setup = format!("fixtures/{}/{}.toml", rules.name(), fixture.name);
            let run =
                ["--format", "json", "simulate", "--rules", rules.name(), "--setup", &setup, "--keep-going"];
            let words = [run.as_slice(), &["--script", "extreme.txt"]].concat();
            let output = frugal(&sandbox, &words).output().unwrap();
            check_harmless(&output, &setup);
            assert!(String::from_utf8_lossy(&output.stdout).lines().count() >= script.lines().count());
        }
    }
}
