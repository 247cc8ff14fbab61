//! The input of the measurements: randomly played matches, the same in every run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnfold_core::simulate::Simulation;
use turnfold_core::{AnyRules, AnyState, CommandSource, DicePolicy, Digest, Logged, Seat};
use turnfold_store::{Genesis, NewEntry};

/// After this number of entries, the next match begins even if the match is not over.
const MATCH_ENTRIES_MAX: u64 = 5_000;

/// A simulated match.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) rules: Arc<dyn AnyRules>,
    pub(crate) setup: Vec<u8>,
    pub(crate) entries: Vec<PlayedEntry>,
    /// The hash of the state after the last entry.
    pub(crate) state_hash: Digest,
}

/// An entry of a simulated match.
#[derive(Clone)]
pub(crate) struct PlayedEntry {
    pub(crate) seat: Seat,
    pub(crate) command: Vec<u8>,
    pub(crate) text: String,
}

impl Play {
    /// Plays up to `count` entries under a ruleset.
    pub(crate) fn simulate(ruleset: &str, toml: &str, seed: u64, count: u64) -> Self {
        let rules = turnfold_games::find(ruleset).expect("the ruleset is registered");
        Self::simulate_by(rules, toml, seed, count)
    }

    /// Plays up to `count` entries under a ruleset that is not in the registry.
    pub(crate) fn simulate_by(rules: Arc<dyn AnyRules>, toml: &str, seed: u64, count: u64) -> Self {
        let setup = rules.read_setup(toml).expect("the setup can be played");
        let mut state = rules.start(&setup).expect("the setup can be played");
        let mut entries = Vec::new();
        let observe = &mut |step: &mut dyn turnfold_core::Step| {
            let (seat, command, text) = (step.seat(), step.command_bytes(), step.command());
            entries.push(PlayedEntry { seat, command, text });
        };
        let played = Simulation::new(seed).play(state.as_mut(), &DicePolicy::Recorded, 1, count, observe);
        played.expect("simulated play is accepted");
        Self { rules, setup, entries, state_hash: state.state_hash() }
    }

    /// Plays one match after another until they have `count` entries in total.
    pub(crate) fn simulate_many(ruleset: &str, toml: &str, count: u64) -> Vec<Self> {
        let mut plays = Vec::new();
        let mut missing = count;
        for seed in 1.. {
            if missing == 0 {
                break;
            }
            let play = Self::simulate(ruleset, toml, seed, missing.min(MATCH_ENTRIES_MAX));
            assert!(!play.entries.is_empty(), "a match that cannot be played makes no input");
            missing -= play.entries.len() as u64;
            plays.push(play);
        }
        plays
    }

    /// Returns a match of only the commands that begin with this text, all given by one seat.
    pub(crate) fn only(&self, seat: Seat, beginning: &str) -> Self {
        let chosen = self.entries.iter().filter(|entry| entry.text.starts_with(beginning));
        let entries = chosen.map(|entry| PlayedEntry { seat, ..entry.clone() }).collect();
        let mut play = Self { entries, ..self.clone() };
        let mut state = play.start();
        state.fold(&play.logged(), &DicePolicy::Recorded, &mut |_| {}).expect("the commands are accepted");
        play.state_hash = state.state_hash();
        play
    }

    /// Returns the entries in the form in which the fold reads them from a log.
    pub(crate) fn logged(&self) -> Vec<Logged<'_>> {
        let entries = (1..).zip(&self.entries);
        entries
            .map(|(seq, entry)| Logged {
                seq,
                seat: entry.seat,
                command: CommandSource::Bytes(&entry.command),
            })
            .collect()
    }

    pub(crate) fn start(&self) -> Box<dyn AnyState> {
        self.rules.start(&self.setup).expect("the setup can be played")
    }

    /// Returns the entries in the form that a store appends.
    pub(crate) fn new_entries(&self) -> Vec<NewEntry> {
        let entry = |entry: &PlayedEntry| NewEntry {
            seat: entry.seat,
            command: entry.command.clone(),
            recorded_at_ms: 1_700_000_000_000,
        };
        self.entries.iter().map(entry).collect()
    }

    /// Returns the genesis of a match for a store.
    pub(crate) fn genesis(&self, number: u64) -> Genesis {
        let mut match_id = [0; 16];
        match_id[..8].copy_from_slice(&number.to_le_bytes());
        Genesis {
            format: Genesis::FORMAT,
            ruleset: self.rules.name().into(),
            ruleset_version: self.rules.version(),
            setup: self.setup.clone(),
            dice: DicePolicy::Recorded,
            match_id,
            title: "a match to measure".into(),
            created_at_ms: 1_700_000_000_000,
            module: None,
            played_by: None,
            origins: Vec::new(),
        }
    }
}

/// Reads a setup from the workspace's fixtures.
pub(crate) fn fixture(ruleset: &str, name: &str) -> String {
    let path = workspace().join("fixtures").join(ruleset).join(name).with_extension("toml");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// Returns the folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
