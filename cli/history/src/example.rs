//! Test data of this crate: a small match, and random play of every ruleset.

use std::fs;
use std::path::Path;

use turnfold_core::{DicePolicy, Simulation};

use crate::History;
use crate::tfl::{Replay, read};

/// One unit each on a board of radius 3, with recorded dice.
const HEADER: &str = r#"turnfold replay 2
+++
ruleset = "initiative"   # kept as it is
version = 1
dice = "recorded"
[setup]
radius = 3
[[setup.units]]
id = "a1"
owner = "p1"
at = [0, 3]
[[setup.units]]
id = "b1"
owner = "p2"
at = [0, -3]

+++
"#;

pub(crate) fn replay(body: &str) -> Replay {
    read("x.tfl", text(body).as_bytes(), &turnfold_games::standard()).unwrap()
}

pub(crate) fn text(body: &str) -> String {
    format!("{HEADER}{body}")
}

pub(crate) fn body(replay: &Replay) -> String {
    replay.to_string().strip_prefix(HEADER).expect("the header is kept").into()
}

pub(crate) fn random_play(seed: u64, count: u64) -> Vec<History> {
    let registry = turnfold_games::standard();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../replays");
    let mut lines = Vec::new();
    for rules in registry.iter() {
        let files = fs::read_dir(root.join(rules.name())).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for path in files.iter().step_by(files.len() / 2) {
            let replay = read(&path.to_string_lossy(), &fs::read(path).unwrap(), &registry).unwrap();
            let history = History::of_replay(path, &replay).unwrap();
            let mut state = history.start().unwrap();
            let mut commands = Vec::new();
            let played =
                Simulation::new(seed).play(state.as_mut(), &DicePolicy::Recorded, 1, count, &mut |step| {
                    commands.push((step.seat(), step.command()));
                });
            assert!(played.unwrap() > 0, "{}", path.display());
            lines.push(
                history.with_commands(commands.iter().map(|(seat, command)| (*seat, command.as_str()))),
            );
        }
    }
    lines
}
