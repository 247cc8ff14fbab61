//! The laws that every ruleset keeps, tried along seeded random play from every fixture.
//!
//! Nothing here knows a game: a new ruleset is under the laws as soon as it is registered and has a folder of
//! fixtures. [`toy`] shows that a ruleset that breaks a law is caught.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::thread;

use turnfold_core::registry::RULESETS;
use turnfold_core::{AnyRules, AnyState};

mod commands;
mod effects;
mod judging;
mod matches;
mod replaying;
mod report;
mod rolls;
mod secrecy;
mod setups;
mod toy;

pub(crate) use commands::{numbers, replaced};
use matches::Played;
use report::{Law, Report};

/// The seeds of the matches played from each setup.
const SEEDS: [u8; 3] = [1, 2, 3];
/// The entries of each match, unless nothing is legal before.
const ENTRIES_MAX: usize = 60;
/// The commands tried by each seat at each moment, where there are too many to try them all.
const SAMPLE: usize = 24;
/// The commands that are few enough to try them all.
const EXHAUSTIVE_MAX: usize = 100;

/// A setup as a fixture has it.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) toml: String,
}

/// A match at one point of its log: the state and what is tried there.
struct Moment<'a> {
    played: &'a Played,
    /// How many entries led here.
    step: usize,
    state: &'a dyn AnyState,
    /// The commands to try, of all that were candidates at any point of the match.
    tried: Vec<&'a str>,
}

/// Gives a sentence for each law that `rules` was seen to break, starting from these setups.
pub(crate) fn broken_laws(rules: &dyn AnyRules, fixtures: &[Fixture]) -> Vec<String> {
    let mut report = Report::new(rules.name());
    if fixtures.is_empty() {
        report.broke(Law::Setups, "there is no fixture to start from");
    }
    let mut matches = Vec::new();
    for fixture in fixtures {
        report.enter(&fixture.name, None);
        report.guard(|report| setups::check(report, rules, &fixture.toml));
        for seed in SEEDS {
            report.enter(&fixture.name, Some(seed));
            let played = report.guard(|report| matches::play(report, rules, fixture, seed));
            matches.extend(played.flatten());
        }
    }
    // However many commands a game has, they are all tried in its smallest match.
    let fewest = matches.iter().map(|played| played.commands.len()).min().unwrap_or_default();
    for played in &matches {
        report.enter(&played.setup_name, Some(played.seed));
        let all = played.commands.len() <= EXHAUSTIVE_MAX.max(fewest);
        check_match(&mut report, rules, played, all);
    }
    report.into_sentences()
}

fn check_match(report: &mut Report, rules: &dyn AnyRules, played: &Played, all: bool) {
    let Ok(mut state) = rules.start(&played.setup) else {
        report.broke(Law::Setups, "the setup starts a match once and then no more");
        return;
    };
    let mut choices = matches::Choices::new(played.seed, 1);
    let mut round_tripped = BTreeSet::new();
    for step in 0..=played.entries.len() {
        report.step(step);
        let tried = if all { played.every_command() } else { choices.sample(&played.commands, SAMPLE) };
        let moment = Moment { played, step, state: &*state, tried };
        report.guard(|report| judging::check(report, &moment, &mut round_tripped));
        report.guard(|report| commands::check(report, &moment));
        report.guard(|report| rolls::check(report, &moment));
        report.guard(|report| replaying::check(report, rules, &moment));
        report.guard(|report| secrecy::check(report, rules, &moment));
        let Some(entry) = played.entries.get(step) else { break };
        if state.fold(&[entry.logged()], &played.dice, &mut |_| {}).is_err() {
            report.broke(Law::Resuming, "an entry that was folded once is refused the second time");
            return;
        }
    }
    report.guard(|report| replaying::check_whole(report, rules, played));
}

/// Reads the fixtures of a ruleset, in the order of their names.
pub(crate) fn fixtures(ruleset: &str) -> Vec<Fixture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(ruleset);
    let Ok(files) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: &PathBuf| Fixture {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        toml: fs::read_to_string(path).unwrap(),
    };
    paths.iter().map(read).collect()
}

#[test]
fn every_registered_ruleset_keeps_every_law() {
    assert!(!RULESETS.is_empty());
    let broken: Vec<String> = thread::scope(|scope| {
        let check =
            |rules: &'static &dyn AnyRules| scope.spawn(|| broken_laws(*rules, &fixtures(rules.name())));
        let checks: Vec<_> = RULESETS.iter().map(check).collect();
        checks.into_iter().flat_map(|check| check.join().unwrap()).collect()
    });
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn a_ruleset_without_fixtures_breaks_a_law() {
    for rules in RULESETS {
        assert_eq!(broken_laws(*rules, &fixtures("no such ruleset")).len(), 1);
    }
}
