//! Every golden log in `replays/` folds to the outcomes and hashes in it.
//!
//! This test reads the lines without the library that reads and checks replay files, so that a change of a rule is
//! tested before anything else is compiled. `turnfold check` tests the header's mark and the digest of the log.

use std::fs;
use std::path::Path;

use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, FoldError, Logged, Seat};
use turnfold_games::rulesets;

use crate::repository;

/// A golden log: the state at the beginning, the dice, and the lines with their numbers in the file.
struct Golden<'a> {
    state: Box<dyn AnyState>,
    dice: DicePolicy,
    lines: Vec<(usize, &'a str)>,
}

impl<'a> Golden<'a> {
    fn read(rules: &dyn AnyRules, text: &'a str) -> Self {
        let (before, rest) = text.split_once("+++\n").unwrap();
        let (header, _) = rest.split_once("+++\n").unwrap();
        let table: toml::Table = header.parse().unwrap();
        assert_eq!(before, "turnfold replay 2\n");
        assert_eq!(table["ruleset"].as_str(), Some(rules.name()));
        assert_eq!(table["version"].as_integer(), Some(rules.version().into()));
        let digits = |key: &str| table[key].as_str().unwrap().to_owned();
        let dice = match table["dice"].as_str().unwrap() {
            "recorded" => DicePolicy::Recorded,
            "seeded" => DicePolicy::Seeded(digits("seed").parse().unwrap()),
            other => panic!("no golden log has {other} dice"),
        };
        let setup = rules.read_setup_of(header).unwrap();
        let skipped = before.lines().count() + header.lines().count() + 2;
        let lines = (1..).zip(text.lines()).skip(skipped);
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
        Self { state: rules.start(&setup).unwrap(), dice, lines }
    }

    /// Folds the log and returns a sentence for each line with a different
    /// result.
    fn differences(mut self) -> Vec<String> {
        let (mut wrong, mut count) = (Vec::new(), 0);
        let (last, lines) = self.lines.split_last().unwrap();
        for (number, line) in lines {
            let found = if let Some(attempt) = line.strip_prefix("! ") {
                let (seat, command, _) = parts(attempt);
                let refused = fold(&mut *self.state.fork(), &self.dice, count + 1, seat, command);
                format!("! {seat} {command} => {}", refused.unwrap_or_else(|outcome| outcome))
            } else {
                count += 1;
                let (_, entry) = line.split_once(' ').unwrap();
                let (seat, command, _) = parts(entry);
                let outcome = fold(&mut *self.state, &self.dice, count, seat, command);
                let outcome = outcome.unwrap_or_else(|refusal| refusal);
                format!("{count} {seat} {command} => {outcome}")
            };
            if found != *line {
                wrong.push(format!("{number}: {line}\n  found {found}"));
            }
        }
        let found = format!("= {count} state {} ", self.state.state_hash());
        if !last.1.starts_with(&found) {
            wrong.push(format!("{}: {}\n  found {found}", last.0, last.1));
        }
        wrong
    }
}

/// Returns the seat, the command and the rest of a line without a number.
fn parts(line: &str) -> (Seat, &str, &str) {
    let (seat, rest) = line.split_once(' ').unwrap();
    let (command, outcome) = rest.split_once(" => ").unwrap();
    (seat.parse().unwrap(), command, outcome)
}

/// Returns the outcome with the first digits of the hash.
///
/// # Errors
/// The rejection as it is written for an attempt.
fn fold(
    state: &mut dyn AnyState,
    dice: &DicePolicy,
    seq: u64,
    seat: Seat,
    command: &str,
) -> Result<String, String> {
    let mut folded = String::new();
    let entry = Logged { seq, seat, command: CommandSource::Text(command) };
    let result = state.fold(&[entry], dice, &mut |step| {
        folded = format!("{} #{:.16}", step.outcome(), step.state_hash());
    });
    match result {
        Ok(()) => Ok(folded),
        Err(FoldError::Rejected { rejected, .. }) => Err(format!("rejected {}", rejected.code)),
        Err(FoldError::Malformed { .. }) => Err("rejected malformed".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn check(name: &str, path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let version = text.lines().find_map(|line| line.strip_prefix("version = ")).unwrap();
    // A log is folded by the version of the rules that recorded it.
    let rules = turnfold_games::standard().resolve(name, version.parse().unwrap(), None).unwrap();
    let wrong = Golden::read(&*rules, &text).differences();
    wrong.into_iter().map(|wrong| format!("{}:{wrong}", path.display())).collect()
}

#[test]
fn every_golden_log_folds_to_what_is_written_in_it() {
    for rules in rulesets() {
        let folder = fs::read_dir(repository("replays").join(rules.name())).unwrap();
        let paths: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
        assert!(!paths.is_empty(), "`{}` has no golden logs", rules.name());
        let wrong: Vec<String> = paths.iter().flat_map(|path| check(rules.name(), path)).collect();
        assert!(wrong.is_empty(), "{} lines differ:\n{}", wrong.len(), wrong.join("\n"));
    }
}

#[test]
fn any_line_of_a_golden_log_that_is_changed_is_found() {
    let rules = turnfold_games::find("initiative").unwrap();
    let text = fs::read_to_string(repository("replays/initiative/moves.tfl")).unwrap();
    let asserted = |line: &&str| line.contains(" => ") || line.starts_with("= ");
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| asserted(line)) {
        let changed = if line.contains(" => ") {
            line.replace(" => ", " => x")
        } else {
            line.replace("state ", "state x")
        };
        let text = text.replace(&format!("\n{line}\n"), &format!("\n{changed}\n"));
        let wrong = Golden::read(&*rules, &text).differences();
        assert!(wrong.len() == 1 && wrong[0].starts_with(&format!("{number}: ")), "{changed}: {wrong:?}");
    }
}
