//! The golden logs in `replays/`: they check, they cover every rule, and no change to them goes unnoticed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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

/// Gives every rule id such as `IN-7` in a text.
fn rule_ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !(character.is_ascii_alphanumeric() || character == '-'));
    let is_id = |word: &&str| {
        word.split_once('-').is_some_and(|(letters, number)| {
            letters.len() == 2
                && letters.bytes().all(|letter| letter.is_ascii_uppercase())
                && !number.is_empty()
                && number.bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    words.filter(is_id).map(ToString::to_string).collect()
}

fn text_of_folder(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text_of_folder(&path, text);
        } else if let Ok(content) = fs::read_to_string(&path) {
            text.push_str(&content);
        }
    }
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

#[test]
fn every_rule_id_stands_in_a_replay() {
    for rules in RULESETS {
        let mut code = String::new();
        text_of_folder(&workspace().join("core/src/rules").join(rules.name()), &mut code);
        let mut proofs = String::new();
        text_of_folder(&workspace().join("replays").join(rules.name()), &mut proofs);
        let (ids, proven) = (rule_ids(&code), rule_ids(&proofs));
        assert!(!ids.is_empty(), "`{}` names no rule", rules.name());
        let missing: Vec<_> = ids.difference(&proven).collect();
        assert!(missing.is_empty(), "no replay of `{}` names {missing:?}", rules.name());
    }
}

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
            for (number, line) in text.lines().enumerate().filter(|(_, line)| line.contains(" => ")) {
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
