//! The laws that every ruleset of turnfold keeps, tested along seeded random play from its setups.
//!
//! Nothing here knows a particular game. To test your own game, write a test such as this:
//!
//! ```no_run
//! use turnfold_laws::{Fixture, require_kept};
//!
//! let rules = turnfold_games::find("initiative").expect("it is registered");
//! require_kept(&*rules, &[Fixture::example(&*rules)]);
//! ```
//!
//! Here `rules` is a ruleset with its types erased, as `turnfold_core::any::erase::<MyGame>()` returns it. [`Law`]
//! lists what every ruleset promises. If a law is broken, the test panics with sentences that name the law, the setup,
//! the seed, the entry and the command, so that the case can be reproduced.
//!
//! The tests of turnfold check its own rulesets, and show that the laws catch a faulty game.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::missing_panics_doc, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use turnfold_core::{AnyRules, AnyState, Perspective};

mod commands;
mod description;
mod effects;
mod judging;
mod law_report;
mod leaks;
mod parts;
mod played;
mod random_matches;
mod replaying;
mod rolls;
mod secrecy;
mod setups;
mod shown;
mod targets;

use law_report::LawReport;
use random_matches::Choices;

pub use commands::{numbers, replaced};
pub use law_report::{Law, Watch};
pub use played::PlayedLaws;
pub use random_matches::{PlayedEntry, PlayedMatch, logged, verbs};
pub use secrecy::questions;

/// The seeds of the matches played from each setup.
const SEEDS: [u8; 3] = [1, 2, 3];
/// The number of entries in each match, unless no command is legal earlier.
const ENTRIES_MAX: usize = 60;
/// The number of commands that each seat tries at each moment, if there are too many to try all.
const SAMPLE: usize = 24;
/// The same for a referee, which is asked over pipes several times for each command.
const SAMPLE_OF_REFEREE: usize = 12;
/// The maximum number of commands in a match for which all are tried.
const EXHAUSTIVE_MAX: usize = 100;

/// A setup to test the laws with.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The name in reports.
    pub name: String,
    /// The setup as TOML.
    pub toml: String,
}

impl Fixture {
    /// Returns the example setup of a ruleset.
    #[must_use]
    pub fn example(rules: &dyn AnyRules) -> Self {
        Self { name: String::from("example"), toml: rules.example().into() }
    }

    /// Reads every `.toml` file of a folder, in the order of the names.
    ///
    /// # Errors
    /// Returns the error if the folder or one of its files cannot be read.
    pub fn read_all(folder: &Path) -> io::Result<Vec<Self>> {
        let mut paths = Vec::new();
        for file in fs::read_dir(folder)? {
            paths.push(file?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        let mut fixtures = Vec::new();
        for path in paths {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            fixtures.push(Self { name, toml: fs::read_to_string(&path)? });
        }
        Ok(fixtures)
    }
}

/// Returns all viewers of a match: its players, a spectator and the host.
fn viewers(state: &dyn AnyState) -> impl Iterator<Item = Perspective> {
    not_hosts(state).chain([Perspective::HOST])
}

/// Returns all viewers from whom something may be concealed.
fn not_hosts(state: &dyn AnyState) -> impl Iterator<Item = Perspective> {
    state.players().iter().copied().map(Perspective::Seat).chain([Perspective::Spectator])
}

/// A match at one point of its log: the state, and the commands tried there.
struct Moment<'a> {
    played: &'a PlayedMatch,
    /// The number of entries before the state.
    step: usize,
    state: &'a dyn AnyState,
    /// The state at the beginning of the match.
    start: &'a dyn AnyState,
    /// The commands to try, chosen from the candidates at any point of the match.
    tried: Vec<&'a str>,
}

/// Checks that a ruleset keeps every law along random play from these setups.
///
/// # Panics
/// If a law is broken, with all sentences that [`broken_laws`] returns.
pub fn require_kept(rules: &dyn AnyRules, fixtures: &[Fixture]) {
    let broken = broken_laws(rules, fixtures);
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}

/// Returns a sentence for each violation of a law that was found along random play from these setups.
#[must_use]
pub fn broken_laws(rules: &dyn AnyRules, fixtures: &[Fixture]) -> Vec<String> {
    tried(LawReport::new(rules), rules, fixtures).into_sentences()
}

/// The result of testing the laws for a limited time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedLaws {
    /// A sentence for each violation that was found.
    pub broken: Vec<String>,
    /// Whether all laws were tested, or a violation ended the tests.
    pub is_finished: bool,
    /// The number of matches that were played at random for the tests.
    pub matches: usize,
    /// The number of positions in these matches, including their beginnings.
    pub positions: usize,
    /// The number of these positions at which the laws were tested.
    pub positions_tried: usize,
}

/// Tests the laws like [`broken_laws`] while `watch`, which is called with the current place, returns `true`.
///
/// The first call of a module that exceeds its limit ends the tests, because another call would take as long.
#[must_use]
pub fn broken_laws_while(rules: &dyn AnyRules, fixtures: &[Fixture], watch: Watch<'_>) -> TriedLaws {
    let report = tried(LawReport::watched(rules, watch), rules, fixtures);
    TriedLaws {
        is_finished: report.is_finished(),
        matches: report.matches,
        positions: report.positions,
        positions_tried: report.positions_tried,
        broken: report.into_sentences(),
    }
}

fn tried<'w>(mut report: LawReport<'w>, rules: &dyn AnyRules, fixtures: &[Fixture]) -> LawReport<'w> {
    if fixtures.is_empty() {
        report.broke(Law::Setups, "there is no fixture to start from");
    }
    description::check(&mut report, rules);
    let mut matches = Vec::new();
    for fixture in fixtures {
        report.enter(&fixture.name, None);
        report.guard(|report| setups::check(report, rules, &fixture.toml));
        for seed in SEEDS {
            report.enter(&fixture.name, Some(seed));
            let played = report.guard(|report| random_matches::play(report, rules, fixture, seed));
            matches.extend(played.flatten());
        }
    }
    report.matches = matches.len();
    report.positions = matches.iter().map(|played| played.entries.len() + 1).sum();
    if report.has_ended() {
        return report;
    }
    // In the game's smallest match all commands are tried, however many there are. A referee is asked over pipes,
    // several times for each command at each moment. So if there are many, it is asked only for a sample.
    let mut all_max = EXHAUSTIVE_MAX;
    if !report.is_referee() {
        all_max = all_max.max(matches.iter().map(|played| played.commands.len()).min().unwrap_or_default());
    }
    for played in &matches {
        report.enter(&played.setup_name, Some(played.seed));
        let all = played.commands.len() <= all_max;
        report.guard(|report| check_match(report, rules, played, all));
    }
    if let Some(longest) = matches.iter().rev().max_by_key(|played| played.entries.len()) {
        report.enter(&longest.setup_name, Some(longest.seed));
        report.guard(|report| parts::check(report, rules, longest));
    }
    report.enter("any of them", None);
    report.guard(|report| leaks::check_all(report, rules, &matches));
    report
}

fn check_match(report: &mut LawReport<'_>, rules: &dyn AnyRules, played: &PlayedMatch, all: bool) {
    let Ok(mut state) = rules.start(&played.setup) else {
        report.broke(Law::Setups, "the setup starts a match once and then no more");
        return;
    };
    let start = state.fork();
    let mut choices = Choices::new(played.seed, 1);
    let mut round_tripped = BTreeSet::new();
    let sample = if report.is_referee() { SAMPLE_OF_REFEREE } else { SAMPLE };
    for step in 0..=played.entries.len() {
        if report.has_ended() {
            return;
        }
        let tried = if all { played.every_command() } else { choices.sample(&played.commands, sample) };
        let moment = Moment { played, step, start: &*start, state: &*state, tried };
        check_moment(report, rules, &moment, &mut round_tripped);
        let Some(entry) = played.entries.get(step) else { break };
        if state.fold(&[entry.logged()], &played.dice, &mut |_| {}).is_err() {
            report.broke(Law::Resuming, "an entry that was folded once is refused the second time");
            return;
        }
    }
    report.guard(|report| replaying::check_whole(report, rules, played));
    report.guard(|report| shown::check_whole(report, rules, played));
    report.guard(|report| leaks::check_whole(report, rules, played));
}

fn check_moment(
    report: &mut LawReport<'_>,
    rules: &dyn AnyRules,
    moment: &Moment<'_>,
    round_tripped: &mut BTreeSet<String>,
) {
    report.step(moment.step);
    report.guard(|report| judging::check(report, rules, moment, round_tripped));
    report.guard(|report| commands::check(report, rules, moment));
    report.guard(|report| rolls::check(report, moment));
    report.guard(|report| targets::check(report, moment));
    report.guard(|report| description::check_moment(report, rules, moment));
    report.guard(|report| replaying::check(report, rules, moment));
    report.guard(|report| secrecy::check(report, rules, moment));
    report.guard(|report| leaks::check(report, rules, moment));
    if !report.has_ended() {
        report.positions_tried += 1;
    }
}

/// Plays a random match from a fixture.
#[must_use]
pub fn random_match(rules: &dyn AnyRules, fixture: &Fixture, seed: u8) -> PlayedMatch {
    let mut report = LawReport::new(rules);
    let played = random_matches::play(&mut report, rules, fixture, seed).unwrap();
    report.require_nothing_broken();
    played
}

/// Checks the laws about accepted setups with the bytes of a setup.
pub fn check_setup(rules: &dyn AnyRules, setup: &[u8]) {
    let mut report = LawReport::new(rules);
    setups::check_accepted(&mut report, rules, setup);
    report.require_nothing_broken();
}
