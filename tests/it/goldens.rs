//! The golden logs in `replays/`: they check, they are blessed, and no change to them goes unnoticed.

use std::fs;
use std::path::PathBuf;

use turnfold_core::registry::RULESETS;

use crate::sandbox::{Sandbox, workspace};

fn replays_of(ruleset: &str) -> Vec<PathBuf> {
    let folder = workspace().join("replays").join(ruleset);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tfl"));
    files.sort();
    files
}

/// Lists the golden logs of every ruleset.
pub(crate) fn goldens() -> Vec<PathBuf> {
    RULESETS.iter().flat_map(|rules| replays_of(rules.name())).collect()
}

#[test]
fn every_golden_log_checks_and_is_blessed() {
    let sandbox = Sandbox::new();
    for rules in RULESETS {
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
    let sandbox = Sandbox::new();
    for rules in RULESETS {
        for file in replays_of(rules.name()) {
            let text = fs::read_to_string(&file).unwrap();
            let lines = text.lines().enumerate().filter(|(_, line)| line.contains(" => "));
            let every = lines.clone().count().div_ceil(CHANGES_A_FILE);
            for (number, line) in lines.step_by(every) {
                let (_, outcome) = line.split_once(" => ").unwrap();
                let start = line.len() - outcome.len();
                // The first word of the outcome, and the last digit of the hash or code.
                for at in [start, line.len() - 1] {
                    let mut changed: Vec<String> = text.lines().map(ToString::to_string).collect();
                    let old = line[at..].chars().next().unwrap();
                    changed[number].replace_range(at..at + old.len_utf8(), &other(old).to_string());
                    sandbox.write("changed.tfl", changed.join("\n") + "\n");
                    let output = sandbox.run("check changed.tfl");
                    let stdout = String::from_utf8(output.stdout).unwrap();
                    assert_eq!(output.status.code(), Some(1), "{}:{number}\n{stdout}", file.display());
                    assert!(stdout.contains(&format!("changed.tfl:{}", number + 1)), "{stdout}");
                    if !line.starts_with('!') {
                        let seq = line.split(' ').next().unwrap();
                        assert!(stdout.contains(&format!("entry {seq}")), "{stdout}");
                    }
                }
            }
        }
    }
}
