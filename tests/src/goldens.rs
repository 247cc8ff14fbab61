//! The golden logs in `replays/`, and what a viewer sees of one.

use std::fs;
use std::path::{Path, PathBuf};

use turnfold_games::rulesets;
use turnfold_history::tfl::Replay;
use turnfold_history::{History, SeatHistory};

use crate::sandbox::workspace;

/// Lists the golden logs of a ruleset, in the order of their names.
pub fn replays_of(ruleset: &str) -> Vec<PathBuf> {
    let folder = workspace().join("replays").join(ruleset);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "tfl"));
    files.sort();
    files
}

/// Lists the golden logs of every ruleset.
pub fn goldens() -> Vec<PathBuf> {
    rulesets().iter().flat_map(|rules| replays_of(rules.name())).collect()
}

/// Returns the history of a replay file as a seat sees it.
pub fn seat_history(path: &Path, text: &str, viewer: &str) -> SeatHistory {
    let replay =
        Replay::read_also_seen(&path.display().to_string(), text.as_bytes(), &turnfold_games::standard());
    let history = History::of_replay(path, &replay.unwrap()).unwrap();
    SeatHistory::of(viewer.parse().unwrap(), history).unwrap()
}

/// Returns the viewers of a match: the host, its players, and a seat that does not play.
pub fn viewers(path: &Path, text: &str) -> Vec<String> {
    let start = seat_history(path, text, "host").start().unwrap();
    let players = start.players().iter().map(ToString::to_string);
    players.chain(["host".into(), "p8".into()]).collect()
}
