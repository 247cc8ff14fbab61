//! The golden logs in `replays/`: they check, they are blessed, and no change to them goes unnoticed.

use std::fs;

use turnfold_core::registry::rulesets;

use turnfold_tests::goldens::{goldens, replays_of};
use turnfold_tests::sandbox::Sandbox;

#[test]
fn every_golden_log_checks_and_is_blessed() {
    let sandbox = Sandbox::new();
    for rules in rulesets() {
        let files = replays_of(rules.name());
        assert!(!files.is_empty(), "`{}` has no replays", rules.name());
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap();
            sandbox.write(name, fs::read(&file).unwrap());
            sandbox.ok(&format!("check {name}"));
            assert_eq!(sandbox.ok(&format!("bless {name}")), format!("unchanged {name}\n"));
        }
    }
}

/// How many lines of a replay are changed, at most; of a longer one only every second or third and so on.
const CHANGES_A_FILE: usize = 24;

/// Changes one character into another of its kind.
fn other(character: char) -> char {
    match character {
        '0'..='8' | 'a'..='e' | 'g'..='y' => char::from(character as u8 + 1),
        '9' => '0',
        'f' => 'a',
        'z' => 'b',
        _ => 'x',
    }
}

#[test]
fn any_change_to_an_outcome_or_hash_fails_and_names_the_entry() {
    for file in goldens() {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path("changed")).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let outcomes = (0..lines.len()).filter(|number| lines[*number].contains(" => "));
        let every = outcomes.clone().count().div_ceil(CHANGES_A_FILE);
        let mut expected = Vec::new();
        for number in outcomes.step_by(every) {
            let line = lines[number];
            let (_, outcome) = line.split_once(" => ").unwrap();
            // The first word of the outcome, and the last digit of the hash or code.
            for at in [line.len() - outcome.len(), line.len() - 1] {
                let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
                let old = line[at..].chars().next().unwrap();
                changed[number].replace_range(at..at + old.len_utf8(), &other(old).to_string());
                let name = format!("changed/{number}-{at}.tfl");
                sandbox.write(&name, changed.join("\n") + "\n");
                let place = format!("{name}:{}:", number + 1);
                let entry = line.split(' ').next().filter(|_| !line.starts_with('!'));
                expected.push(entry.map_or(place.clone(), |seq| format!("{place} entry {seq} ")));
            }
        }
        let output = sandbox.run("check changed");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{}\n{stdout}", file.display());
        for finding in &expected {
            assert!(stdout.contains(finding.as_str()), "{}: {finding}\n{stdout}", file.display());
        }
        assert!(stdout.contains(&format!("\n0 passed, {} failed (", expected.len())), "{stdout}");
    }
}
