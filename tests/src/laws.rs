//! The laws that every ruleset keeps, tried along seeded random play from every fixture.
//!
//! Nothing here knows a game: a new ruleset is under the laws as soon as it is registered and has a folder of
//! fixtures. The tests in `it/laws.rs` hold every ruleset to them, and show that one that breaks a law is caught.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use turnfold_core::{AnyRules, AnyState};

mod commands;
mod effects;
mod judging;
mod matches;
mod played;
mod replaying;
mod report;
mod rolls;
mod secrecy;
mod setups;

use matches::Choices;
use report::Report;

pub use commands::{numbers, replaced};
pub(crate) use matches::{Entry, Played, logged, verbs};
pub(crate) use played::PlayedLaws;
pub use report::Law;
pub(crate) use secrecy::questions;

/// The seeds of the matches played from each setup.
const SEEDS: [u8; 3] = [1, 2, 3];
/// The entries of each match, unless nothing is legal before.
const ENTRIES_MAX: usize = 60;
/// The commands tried by each seat at each moment, where there are too many to try them all.
const SAMPLE: usize = 24;
/// The commands that are few enough to try them all.
const EXHAUSTIVE_MAX: usize = 100;

/// A setup as a fixture has it.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The file's name without its ending.
    pub name: String,
    /// Its text.
    pub toml: String,
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
#[must_use]
pub fn broken_laws(rules: &dyn AnyRules, fixtures: &[Fixture]) -> Vec<String> {
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
    let mut choices = Choices::new(played.seed, 1);
    let mut round_tripped = BTreeSet::new();
    for step in 0..=played.entries.len() {
        let tried = if all { played.every_command() } else { choices.sample(&played.commands, SAMPLE) };
        check_moment(report, rules, &Moment { played, step, state: &*state, tried }, &mut round_tripped);
        let Some(entry) = played.entries.get(step) else { break };
        if state.fold(&[entry.logged()], &played.dice, &mut |_| {}).is_err() {
            report.broke(Law::Resuming, "an entry that was folded once is refused the second time");
            return;
        }
    }
    report.guard(|report| replaying::check_whole(report, rules, played));
}

/// Holds a ruleset to every law at one moment of a match.
fn check_moment(
    report: &mut Report,
    rules: &dyn AnyRules,
    moment: &Moment<'_>,
    round_tripped: &mut BTreeSet<String>,
) {
    report.step(moment.step);
    report.guard(|report| judging::check(report, moment, round_tripped));
    report.guard(|report| commands::check(report, moment));
    report.guard(|report| rolls::check(report, moment));
    report.guard(|report| replaying::check(report, rules, moment));
    report.guard(|report| secrecy::check(report, rules, moment));
}

/// Plays a match at random from a fixture.
pub(crate) fn random_match(rules: &dyn AnyRules, fixture: &Fixture, seed: u8) -> Played {
    let mut report = Report::new(rules.name());
    let played = matches::play(&mut report, rules, fixture, seed).unwrap();
    report.require_nothing_broken();
    played
}

/// Holds a ruleset to the laws of setups that it accepts, given the bytes of one.
pub(crate) fn check_setup(rules: &dyn AnyRules, setup: &[u8]) {
    let mut report = Report::new(rules.name());
    setups::check_accepted(&mut report, rules, setup);
    report.require_nothing_broken();
}

/// Reads the fixtures of a ruleset, in the order of their names.
#[must_use]
pub fn fixtures(ruleset: &str) -> Vec<Fixture> {
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
