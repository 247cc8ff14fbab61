//! No verb reveals to a seat what it may not know: the output has the same bytes whatever the secret. So no guess about
//! a secret can be tested with the output.
//!
//! The test takes all verbs with `--as` from the grammar of the command line, and fails if a verb has no line here.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::thread;

use snapbox::str;

use super::documents::verbs_of_help;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::secrets::{CASES, SecretCase};

/// The commands that a player gives for each verb. MATCH and FILE are the history, SEAT is the player's seat, PLAIN is
/// a match without secrets, and FIRST and SECOND are the player's own commands. In `ask`, the question follows the
/// history.
const LINES: &str = r#"
show MATCH --as SEAT
show MATCH:1 --as SEAT
show MATCH:99 --as SEAT
show FILE --as SEAT
show MATCH --changed --reach --as SEAT
show MATCH MATCH:1 FILE MATCH:99 --as SEAT
legal MATCH --as SEAT
legal MATCH:2 --as SEAT
legal FILE --as SEAT
ask --as SEAT MATCH QUESTION
ask --as SEAT MATCH:1 QUESTION
ask --as SEAT MATCH what
log MATCH --as SEAT
log MATCH --as SEAT --times
log MATCH --as SEAT -n 2
log MATCH --as SEAT --seat p1 --grep tap
log MATCH:2 --as SEAT
log MATCH:99 --as SEAT
log FILE --as SEAT
log MATCH FILE PLAIN:1 MATCH:99 --as SEAT -n 2
export MATCH --as SEAT
export MATCH:1 --as SEAT
export MATCH:99 --as SEAT
export MATCH --html --as SEAT
export MATCH:1 --html --as SEAT
export FILE --html --as SEAT
export MATCH MATCH:1 MATCH:99 --as SEAT -o games --force
export MATCH FILE --html --as SEAT -o pages --force
bundle MATCH --as SEAT -o a.bundle
bundle MATCH PLAIN --as SEAT -o bundles/ --force
bundle MATCH PLAIN --as SEAT -o b.bundle
blame MATCH FIELD --as SEAT --all
blame MATCH SECRET --as SEAT --all
blame FILE FIELD --as SEAT
blame MATCH /nowhere --as SEAT
blame MATCH "SECRET != null || FIELD == VALUE" --as SEAT --all
blame FILE "count(SECRET) == 0" --as SEAT
find MATCH FILE --when "FIELD == VALUE" --as SEAT
find MATCH --when "SECRET != null || FIELD == VALUE" --as SEAT
find MATCH --when "count(SECRET) == 0" --as SEAT
find MATCH --command "*" --seat p1 --as SEAT
find MATCH:1 --seat p1 --as SEAT
find --matches --effect revealed --as SEAT
table matches MATCH FILE --as SEAT
table matches --matches --as SEAT
table entries MATCH FILE --as SEAT
table entries MATCH:1 --as SEAT
table effects MATCH --as SEAT
table fields MATCH FILE --field FIELD --as SEAT
table fields MATCH --field SECRET --as SEAT
table groups MATCH FILE --as SEAT
table groups --matches --by setup --as SEAT
table groups MATCH:1 --by title --as SEAT
bisect MATCH --when "FIELD == VALUE" --as SEAT -v
bisect MATCH --when "FIELD == VALUE" --as SEAT --linear
bisect FILE --when "SECRET != null" --as SEAT
bisect MATCH --when "FIELD == never" --as SEAT
bisect MATCH --run true --as SEAT
diff MATCH PLAIN --as SEAT
diff PLAIN MATCH --as SEAT --stat
diff MATCH MATCH:1 --as SEAT
diff MATCH FILE --as SEAT
replay MATCH --as SEAT
replay MATCH:1 --as SEAT --step
replay MATCH --as SEAT --to 99
replay FILE --as SEAT --step
simulate --rules RULES --setup SETUP --seat SEAT --state --views FIRST SECOND
simulate --rules RULES --setup SETUP --seat SEAT --keep-going back "p4: back"
play MATCH --seat SEAT "p4: back"
play MATCH --seat SEAT refused
play MATCH --seat SEAT tap
play MATCH --seat SEAT back -vv
play MATCH --seat SEAT --expect 99 FIRST
play MATCH:0 --seat SEAT FIRST
play MATCH --seat SEAT --once secret FIRST
play MATCH --seat SEAT
play MATCH --seat SEAT --once own FIRST -vv
play MATCH --seat SEAT --once own FIRST
play MATCH --seat SEAT SECOND SECOND
play MATCH --seat SEAT --dry-run FIRST
log MATCH --as SEAT
"#;

/// Returns each line with its verb.
fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    LINES.lines().filter_map(|line| Some((line.split_once(' ')?.0, line)))
}

/// Returns `true` if everything is compared, as in CI. Otherwise two secrets of a case are compared, in every third
/// line and one of its formats; the next cases have the other lines.
fn is_whole() -> bool {
    env::var_os("TURNFOLD_ALL_SECRETS").is_some()
}

/// Returns the secrets of a case that are compared.
fn compared(case: &SecretCase) -> &'static [&'static [&'static str]] {
    if is_whole() { case.secrets } else { &case.secrets[..2] }
}

/// Returns the formats in which the output of a line is compared: all of them, or in the short form the one that `turn`
/// selects.
fn formats(turn: usize, verb: &str, line: &str) -> Vec<&'static str> {
    let mut formats = if verb == "show" { vec!["text", "json", "svg"] } else { vec!["text", "json"] };
    // `--changed` marks pictures, which JSON does not have.
    formats.retain(|format| *format != "json" || !line.contains("--changed"));
    if is_whole() { formats } else { vec![formats[turn % formats.len()]] }
}

/// Creates a store with one secret, and returns what each line shows the viewer in the compared formats. `number` is
/// the index of the case in [`CASES`].
fn shown(number: usize, case: &SecretCase, secret: &[&str]) -> Vec<(String, String)> {
    let sandbox = Sandbox::new();
    let mut setup = "fixtures/cycletap/ford.toml";
    if let Some(text) = case.setup_with(secret) {
        setup = "setup.toml";
        sandbox.write(setup, text);
    }
    for name in ["secret", "plain"] {
        sandbox.ok(&format!("new {name} --rules {} --setup {setup}", case.ruleset));
    }
    let play = |key: &str, commands: &[&str]| {
        if !commands.is_empty() {
            let commands: Vec<_> = commands.iter().map(|command| format!("\"{command}\"")).collect();
            sandbox.ok(&format!("play secret {key} {}", commands.join(" ")));
        }
    };
    play("", case.before);
    play("--once secret", &[if case.is_in_setup() { &[] } else { secret }, case.end].concat());
    play("", case.after);
    sandbox.ok("export secret -o secret.tfl");
    let mut shown = Vec::new();
    let asked = lines().enumerate().filter(|(index, _)| is_whole() || (index + number).is_multiple_of(3));
    for (index, (verb, line)) in asked {
        for format in formats(index / 3 + number, verb, line) {
            let line = filled(line, case, format, setup);
            let output = sandbox.run(&line);
            let stdout = without_times(&String::from_utf8(output.stdout).unwrap());
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(!stderr.contains("setup.toml") && !stderr.contains("panic"), "{line}: {stderr}");
            shown.push((line, format!("{stdout}{stderr}exit {:?}\n", output.status.code())));
        }
    }
    shown
}

/// Replaces the words in capitals with those of a case.
fn filled(line: &str, case: &SecretCase, format: &str, setup: &str) -> String {
    let own = case.own.map(|command| format!("\"{command}\""));
    let words = [
        ("MATCH", "secret"),
        ("FILE", "secret.tfl"),
        ("PLAIN", "plain"),
        ("SETUP", setup),
        // A match has no view for a seat that no one plays.
        ("SEAT", if case.viewer == "p8" { "spectator" } else { case.viewer }),
        ("RULES", case.ruleset),
        ("QUESTION", case.question),
        ("FIELD", case.field[0]),
        ("VALUE", case.field[1]),
        ("SECRET", case.secret_field),
        ("FIRST", &own[0]),
        ("SECOND", &own[1]),
    ];
    let line = words.iter().fold(line.to_owned(), |line, (word, by)| line.replace(word, by));
    format!("--format {format} {line}")
}

/// Blanks out the times of entries, in milliseconds or as `log --times` prints them, and the durations of matches.
fn without_times(text: &str) -> String {
    let mut blanked = String::new();
    for line in text.lines().filter(|line| !line.starts_with("Duration:")) {
        let is_time =
            |line: &str| line.as_bytes().get(10) == Some(&b' ') && line.as_bytes().get(19) == Some(&b'Z');
        let (time, line) = if is_time(line) { line.split_at(20) } else { ("", line) };
        blanked += if time.is_empty() { "" } else { "TIME" };
        let (before, durations) = line.split_once("\"durations_ms\":").unwrap_or((line, ""));
        let after = durations.split_once('}').map_or("", |(_, after)| after);
        for part in [before, after].into_iter().flat_map(|part| part.split_inclusive([',', ':', '}'])) {
            let number = part.trim_end_matches([',', '}']);
            let is_time = number.len() == 13 && number.bytes().all(|byte| byte.is_ascii_digit());
            blanked += if is_time { "MS" } else { part };
        }
        blanked.push('\n');
    }
    blanked
}

/// Returns `true` if a text contains a state hash: 16 hex digits after a `#`, or 64 of them.
fn has_hash(text: &str) -> bool {
    let is_hex = |part: &str, length: usize| {
        part.len() >= length && part.bytes().take(length).all(|byte| byte.is_ascii_hexdigit())
    };
    let mut parts = text.split(['"', ',', '\n']);
    text.split('#').skip(1).any(|part| is_hex(part, 16)) || parts.any(|part| is_hex(part, 64))
}

#[test]
fn ct_19_ch_18_whatever_the_secret_every_verb_with_as_prints_the_same_bytes() {
    for (number, case) in CASES.iter().enumerate() {
        let shown = thread::scope(|scope| {
            let threads: Vec<_> =
                compared(case).iter().map(|secret| scope.spawn(|| shown(number, case, secret))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let (first, others) = shown.split_first().unwrap();
        for (other, secret) in others.iter().zip(&compared(case)[1..]) {
            for ((line, one), (_, two)) in first.iter().zip(other) {
                assert_eq!(one, two, "`{line}` distinguishes {:?} from {secret:?}", case.secrets[0]);
            }
        }
        for (line, text) in first {
            assert!(!has_hash(text), "`{line}` shows a hash: {text}");
        }
        // Refusals alone would prove nothing.
        let accepted = first.iter().filter(|(_, text)| text.contains("exit Some(0)")).count();
        assert!(accepted * 3 > first.len(), "{first:#?}");
    }
}

/// Returns the verbs that show what a seat may know: those with `--as`, or with `--seat` if they take commands.
fn verbs_with_as(sandbox: &Sandbox) -> BTreeSet<String> {
    let has_as = |verb: &String| {
        let help = sandbox.ok(&format!("{verb} --help"));
        help.contains("Give all commands as this seat")
            || help.lines().any(|line| line.trim_start().starts_with("--as "))
    };
    verbs_of_help(sandbox, "").into_iter().filter(has_as).collect()
}

#[test]
fn every_verb_with_as_is_among_those_compared() {
    let found = verbs_with_as(&Sandbox::new());
    let known: BTreeSet<String> = lines()
        .filter(|(_, line)| line.contains("--as SEAT") || line.contains("--seat SEAT"))
        .map(|(verb, _)| verb.to_owned())
        .collect();
    assert_eq!(found, known);
}

/// There are 256 plans of four taps on a few hexes, and a hash shown to p2 would distinguish them.
#[test]
fn ct_19_a_rejected_command_shows_no_state_hash() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok("play ford \"tap 0,1\" \"tap 0,0\"");
    sandbox.check(str![[r#"
$ turnfold play ford --seat p2 back
! p2 back => rejected not_your_turn (the other player is planning)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules cycletap not_your_turn` explains it
$ turnfold --format json play ford --seat p2 back
{"seq":null,"seat":"p2","command":"back","outcome":"rejected","reason":"not_your_turn","message":"the other player is planning","effects":[],"state_hash":null}
exit 1| {"error":{"kind":"negative","message":"the command was rejected; nothing was recorded","hint":"`turnfold rules cycletap not_your_turn` explains it","exit_code":1}}
$ turnfold play ford --seat p2 "p1: back"
exit 2| error: `p1: back` is a command of p1, but `--seat p2` gives all commands as p2; leave out `--seat` or the command
$ turnfold simulate --rules cycletap --setup fixtures/cycletap/ford.toml --seat p2 "p1: back"
exit 2| error: `p1: back` is a command of p1, but `--seat p2` gives all commands as p2; leave out `--seat` or the command
$ turnfold play ford "p2: back"
! p2 back => rejected not_your_turn (the other player is planning)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules cycletap not_your_turn` explains it

"#]]);
}

#[test]
fn seeds_are_shown_to_the_host_only() {
    let sandbox = Sandbox::new();
    for (name, digit) in [("one", "1"), ("other", "2")] {
        let seed = digit.repeat(64);
        sandbox.ok(&format!(
            "new {name} --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed {seed}"
        ));
    }
    let mut shown = String::new();
    for (viewer, is_shown) in [("", true), ("--as host", true), ("--as p2", false), ("--as spectator", false)]
    {
        for format in ["text", "json"] {
            let output = sandbox.run(&format!("--format {format} diff one other {viewer}"));
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            writeln!(shown, "{viewer} {format}: {text}").unwrap();
            let seeds = ["1", "2"].map(|digit| text.contains(&digit.repeat(32)));
            assert_eq!(seeds, [is_shown; 2], "{shown}");
            assert_eq!(output.status.code(), Some(i32::from(is_shown)), "{shown}");
        }
    }
}
