//! The seeds of fuzzing: the fixtures, the golden logs, and results of random play.

use std::fs;
use std::path::Path;

use turnfold_games::rulesets;

use super::{choice, encoding};
use turnfold_laws::random_match;

use crate::fixtures;

/// The number of entries of random play that are used as seeds.
const ENTRIES: usize = 12;

/// Returns the texts of commands from random play.
pub(super) fn command_texts() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (place, rules) in rulesets().iter().enumerate() {
        let played = random_match(&**rules, &fixtures(rules.name())[0], 1);
        let texts = played.entries.iter().take(ENTRIES).map(|entry| entry.command.as_bytes());
        seeds.extend(texts.map(|text| [&[choice(place, 0, 1)], text].concat()));
    }
    seeds
}

/// Returns the bytes of the setup, of commands and of a state from random play.
pub(super) fn encodings() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (place, rules) in rulesets().iter().enumerate() {
        let fixture = &fixtures(rules.name())[0];
        let setup = rules.read_setup(&fixture.toml).unwrap();
        let mut state = rules.start(&setup).unwrap();
        let seed = |kind, bytes: &[u8]| [&[choice(place, kind, encoding::KINDS)], bytes].concat();
        seeds.push(seed(encoding::SETUP, &setup));
        let played = random_match(&**rules, fixture, 1);
        for entry in played.entries.iter().take(ENTRIES) {
            state.fold(&[entry.logged()], &played.dice, &mut |_| {}).unwrap();
            seeds.push(seed(encoding::COMMAND, &entry.command_bytes));
        }
        seeds.push(seed(encoding::STATE, &state.state_bytes()));
    }
    seeds
}

/// Returns the fixtures.
pub(super) fn setups() -> Vec<Vec<u8>> {
    let seeds = rulesets().into_iter().enumerate().map(|(place, rules)| {
        let fixtures = fixtures(rules.name()).into_iter();
        fixtures.map(move |fixture| [&[choice(place, 0, 1)], fixture.toml.as_bytes()].concat())
    });
    seeds.flatten().collect()
}

/// Returns the shorter golden logs.
pub(super) fn replay_files() -> Vec<Vec<u8>> {
    const BYTES_MAX: usize = 2500;
    let mut seeds = Vec::new();
    for rules in rulesets() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../replays").join(rules.name());
        let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        seeds.extend(files.into_iter().map(|file| fs::read(file).unwrap()));
    }
    seeds.retain(|seed| seed.len() <= BYTES_MAX);
    seeds
}
