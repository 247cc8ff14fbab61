//! The laws that every ruleset of turnfold keeps, tried along seeded random play from its setups.
//!
//! Nothing here knows a game. A game of one's own is held to the laws by a test of its own:
//!
//! ```no_run
//! use turnfold_laws::{Fixture, require_kept};
//!
//! let rules = turnfold_games::find("initiative").expect("it is registered");
//! require_kept(&*rules, &[Fixture::example(&*rules)]);
//! ```
//!
//! Here `rules` is a ruleset with its types erased, as `turnfold_core::any::erase::<MyGame>()` returns it. [`Law`]
//! lists what every ruleset promises; a broken law panics with sentences that name the law, the setup, the seed, the
//! entry and the command, so that the case can be tried again.
//!
//! The tests of turnfold hold its own rulesets to the laws, and show that a game that breaks a law is caught.

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

use law_report::Report;
use random_matches::Choices;

pub use commands::{numbers, replaced};
pub use law_report::{Law, Watch};
pub use played::PlayedLaws;
pub use random_matches::{PlayedEntry, PlayedMatch, logged, verbs};
pub use secrecy::questions;

/// The seeds of the matches played from each setup.
const SEEDS: [u8; 3] = [1, 2, 3];
/// The entries of each match, unless nothing is legal before.
const ENTRIES_MAX: usize = 60;
/// The commands tried by each seat at each moment, where there are too many to try them all.
const SAMPLE: usize = 24;
/// As many of a program's, which is asked over pipes several times for each.
const SAMPLE_OF_REFEREE: usize = 12;
/// The commands that are few enough to try them all.
const EXHAUSTIVE_MAX: usize = 100;

/// A setup to try the laws on.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// What reports call it.
    pub name: String,
    /// Its text.
    pub toml: String,
}

impl Fixture {
    /// Returns the setup that the ruleset has for trying the game.
    #[must_use]
    pub fn example(rules: &dyn AnyRules) -> Self {
        Self { name: String::from("example"), toml: rules.example().into() }
    }

    /// Reads every `.toml` file of a folder, in the order of their names.
    ///
    /// # Errors
    /// Every error of reading the folder and its files.
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

/// Returns all who may look at a match: its players, a spectator and the host.
fn viewers(state: &dyn AnyState) -> impl Iterator<Item = Perspective> {
    not_hosts(state).chain([Perspective::HOST])
}

/// Returns all from whom something may be concealed.
fn not_hosts(state: &dyn AnyState) -> impl Iterator<Item = Perspective> {
    state.players().iter().copied().map(Perspective::Seat).chain([Perspective::Spectator])
}

/// A match at one point of its log: the state and what is tried there.
struct Moment<'a> {
    played: &'a PlayedMatch,
    /// How many entries led here.
    step: usize,
    state: &'a dyn AnyState,
    /// The state in which the match began.
    start: &'a dyn AnyState,
    /// The commands to try, of all that were candidates at any point of the match.
    tried: Vec<&'a str>,
}

/// Holds a ruleset to every law along random play from these setups.
///
/// # Panics
/// If a law is broken, with all that [`broken_laws`] returns.
pub fn require_kept(rules: &dyn AnyRules, fixtures: &[Fixture]) {
    let broken = broken_laws(rules, fixtures);
    assert!(broken.is_empty(), "{} broken laws:\n{}", broken.len(), broken.join("\n"));
}

/// Returns a sentence for each law that `rules` was seen to break along random play from these setups.
#[must_use]
pub fn broken_laws(rules: &dyn AnyRules, fixtures: &[Fixture]) -> Vec<String> {
    tried(Report::new(rules), rules, fixtures).into_sentences()
}

/// What became of laws that were tried for a limited time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedLaws {
    /// A sentence for each law that was seen to be broken.
    pub broken: Vec<String>,
    /// Whether all of them were tried, or one was broken that ends the tests.
    pub is_finished: bool,
    /// How many matches were played at random to try them on.
    pub matches: usize,
    /// How many positions these matches have, their beginnings included.
    pub positions: usize,
    /// At how many of these positions the laws were tried.
    pub positions_tried: usize,
}

/// Tries the laws like [`broken_laws`] while `watch`, which is passed where the tests are, returns `true`.
///
/// The first call of a module that takes more than one may ends the tests, because another would take as long.
#[must_use]
pub fn broken_laws_while(rules: &dyn AnyRules, fixtures: &[Fixture], watch: Watch<'_>) -> TriedLaws {
    let report = tried(Report::watched(rules, watch), rules, fixtures);
    TriedLaws {
        is_finished: report.is_finished(),
        matches: report.matches,
        positions: report.positions,
        positions_tried: report.positions_tried,
        broken: report.into_sentences(),
    }
}

fn tried<'w>(mut report: Report<'w>, rules: &dyn AnyRules, fixtures: &[Fixture]) -> Report<'w> {
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
    // However many commands a game has, they are all tried in its smallest match. A program is asked over pipes, at
    // each moment several times for each command, so that of many it is only asked for a sample.
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

fn check_match(report: &mut Report<'_>, rules: &dyn AnyRules, played: &PlayedMatch, all: bool) {
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
    report: &mut Report<'_>,
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

/// Plays a match at random from a fixture.
#[must_use]
pub fn random_match(rules: &dyn AnyRules, fixture: &Fixture, seed: u8) -> PlayedMatch {
    let mut report = Report::new(rules);
    let played = random_matches::play(&mut report, rules, fixture, seed).unwrap();
    report.require_nothing_broken();
    played
}

/// Holds a ruleset to the laws of setups that it accepts, given the bytes of one.
pub fn check_setup(rules: &dyn AnyRules, setup: &[u8]) {
    let mut report = Report::new(rules);
    setups::check_accepted(&mut report, rules, setup);
    report.require_nothing_broken();
}
