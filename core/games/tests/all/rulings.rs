//! The rulings of every ruleset: each line of `tests/rulings/<ruleset>/*.txt` has the result that it states.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use turnfold_core::AnyRules;
use turnfold_games::rulesets;

use crate::repository;

mod file;
mod play;
mod toml_text;

use file::Known;
use play::Play;

/// Runs the files of a folder and returns a report for each line with a different result.
fn run(rules: &dyn AnyRules, files: &[(String, String)]) -> Vec<String> {
    let (mut known, mut wrong, mut all) = (Known::default(), Vec::new(), Vec::new());
    for (name, text) in files {
        match known.read(text) {
            Ok(cases) if cases.is_empty() => wrong.push(format!("{name}: there is no case")),
            Ok(cases) => all.push((name, cases)),
            Err(report) => wrong.push(format!("{name}:{report}")),
        }
    }
    for (name, case) in all.iter().flat_map(|(name, cases)| cases.iter().map(move |case| (name, case))) {
        let mut play = match Play::of(rules, &known, case) {
            Ok(play) => play,
            Err(report) => {
                wrong.push(format!("{name}:{}: {report}", case.number));
                continue;
            }
        };
        let mut asserts = false;
        for line in &case.lines {
            match play.line(line) {
                Ok(is_assertion) => asserts |= is_assertion,
                Err(report) => {
                    wrong.push(format!("{name}:{}: {report}", line.number));
                    asserts = true;
                }
            }
        }
        if !asserts {
            wrong.push(format!("{name}:{}: the case asserts nothing", case.number));
        }
    }
    wrong
}

/// The ruleset whose rulings are scenes of signed papers; `turnfold-tests` plays them.
const SCENES: &str = "desk";

/// Reads the files of a ruleset's folder, sorted by name.
fn files_of(ruleset: &str) -> Vec<(String, String)> {
    let folder = format!("tests/rulings/{ruleset}");
    let files = fs::read_dir(repository(&folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let file = |path: PathBuf| {
        (format!("{folder}/{}", path.file_name().unwrap().display()), fs::read_to_string(&path).unwrap())
    };
    let mut files: Vec<_> = files.map(|entry| file(entry.unwrap().path())).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} is empty");
    files
}

#[test]
fn every_line_comes_out_as_it_says() {
    let played = rulesets().into_iter().filter(|rules| rules.name() != SCENES);
    let wrong: Vec<String> = played.flat_map(|rules| run(&*rules, &files_of(rules.name()))).collect();
    assert!(wrong.is_empty(), "{} lines do not come out as they say\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_ruleset_has_a_folder_and_every_folder_is_one_of_a_ruleset() {
    let items = fs::read_dir(repository("tests/rulings")).unwrap().map(|item| item.unwrap().file_name());
    let mut names: Vec<_> = items.filter(|name| name != "README.md").collect();
    names.sort();
    let registered: Vec<OsString> = rulesets().iter().map(|rules| rules.name().into()).collect();
    assert_eq!(names, registered);
}

/// A file in which each line marked with `✗` must fail, and no other line.
const FAILING: &str = "\
columns units id owner at
+++ two
radius = 3
units: a p1 0,1; b p2 0,-1
+++
== what is right
from two
host: roll 1 1 6 6
view active_player => \"p1\"
p1 confirm => selected unit=a
p2: click 0,0|9,9; stand => rejected not_your_turn
malformed \"stands\" \"\"
== wrong outcomes
from two
p1 cycle => rejected not_your_turn ✗
host: roll 1 1 1 1; next-turn ✗
host: roll 1 2 3; roll 0 1 2 3 => rejected roll_due ✗
p17 cycle => rejected wrong_seat ✗
== wrong answers
from two
view phase => \"movement\" ✗
view no/such => null ✗
ask order 1 1 => L1 ✗
legal p1 => stand ✗
canonical click 0,0 => click 1,1 ✗
malformed \"roll\" \"cycle\" ✗
by next-turn => p1 ✗
why p1 cycle => no reason ✗
nothing of the kind ✗
restored
host: roll 1 1 6 6
restored ✗
refused radius = 4 => radius: … ✗
accepted radius = 4 ✗
== a case that asserts nothing ✗
from two
host: roll 1 1 6 6
== a setup that there is none of ✗
from nothing
view phase => null
== a setup that is refused
- view phase => null ✗
  view turn => 1 ✗
";

#[test]
fn lines_that_are_wrong_fail_by_their_numbers() {
    let rules = turnfold_games::find("initiative").unwrap();
    let marked = (1..).zip(FAILING.lines()).filter(|(_, line)| line.ends_with('✗'));
    let expected: Vec<usize> = marked.map(|(number, _)| number).collect();
    let found = run(&*rules, &[("file".into(), FAILING.replace(" ✗", ""))]);
    let number = |report: &String| report.split(':').nth(1).unwrap().parse().unwrap();
    let mut numbers: Vec<usize> = found.iter().map(number).collect();
    numbers.dedup();
    assert_eq!(numbers, expected, "{}", found.join("\n"));
    assert_eq!(
        found[0],
        "file:15: p1 cycle\n  expected rejected not_your_turn\n  found    rejected roll_due"
    );
    for (text, report) in [
        ("", "file: there is no case"),
        ("p1 move\n", "file:1: a line before the first case"),
        ("+++ name\nradius = 1\n", "file:1: a setup without an end"),
    ] {
        assert_eq!(run(&*rules, &[("file".into(), text.into())]), [report]);
    }
}
