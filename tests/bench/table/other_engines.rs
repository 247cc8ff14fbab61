//! Moves of a game compared with moves in boardgame.io, a framework for games in JavaScript.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use turnfold_core::{CommandSource, DicePolicy, Logged};

use crate::input::{Play, fixture};
use crate::measure::{Clock, fastest_of};
use crate::report::{Rate, Table, Time, count};
use crate::{Scale, row};

/// The measured package. `npm` installs it into a temporary folder, and only on request.
const PACKAGE: &str = "boardgame.io@0.50.2";

/// A short game of two players, which prints the time of its moves.
const GAME: &str = include_str!("boardgame_io.mjs");

/// Folds commands like a session: one at a time from text, each with its outcome and a hash of the state.
fn play(play: &Play, times: u32) {
    for _ in 0..times {
        let (mut state, mut hash, mut bytes) = (play.start(), None, 0);
        for (seq, entry) in (1..).zip(&play.entries) {
            let command = CommandSource::Text(&entry.text);
            let logged = Logged { seq, seat: entry.seat, command };
            let folded = state.fold(&[logged], &DicePolicy::Recorded, &mut |step| {
                bytes += step.outcome().to_string().len();
                hash = Some(step.state_hash());
            });
            folded.expect("the play folds");
        }
        assert!(
            hash == Some(play.state_hash) && bytes > play.entries.len(),
            "the play comes to the same end"
        );
    }
}

/// Returns the processor time of this number of moves, or the reason why it is missing.
fn boardgame_io(dir: &Path, moves: u32, rounds: usize, may_fetch: bool) -> Result<Duration, String> {
    let node = |args: &[&str]| Command::new("node").args(args).current_dir(dir).output();
    if node(&["--version"]).is_err() {
        return Err("SKIPPED: there is no `node`".into());
    }
    if !may_fetch {
        return Err("SKIPPED: `--npm` fetches the package".into());
    }
    let install = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE];
    let installed = Command::new("npm").args(install).current_dir(dir).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        return Err("SKIPPED: `npm` cannot fetch the package".into());
    }
    fs::write(dir.join("game.mjs"), GAME).expect("the game is written");
    let time = |_| {
        let output = node(&["game.mjs", &moves.to_string()]).expect("node starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let micros = String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number");
        Duration::from_micros(micros)
    };
    Ok((0..rounds).map(time).min().expect("there is a round at least"))
}

pub(crate) fn table(dir: &Path, scale: Scale, may_fetch: bool) -> Table {
    let ours = Play::simulate("cycletap", &fixture("cycletap", "ford"), 1, 1_000);
    let times = 10;
    let took = fastest_of(Clock::Thread, scale.rounds(), || play(&ours, times));
    let entries = count(ours.entries.len()) * times;
    let rate = Rate::of(entries, took);
    let moves = scale.choose(1_000, 10_000);
    let package = format!("{PACKAGE}, a trivial game of its own");
    let other = match boardgame_io(dir, moves, scale.rounds(), may_fetch) {
        Ok(took) => {
            let other = Rate::of(moves, took);
            row![package, moves, Time(took), other, format!("turnfold {}", rate.times(other))]
        }
        Err(skipped) => row![package, moves, skipped, "", ""],
    };
    Table {
        title: "Other engines",
        about: "Moves of a match in memory, in processor time. turnfold reads each command from text, writes its outcome \
                and hashes the state after it; boardgame.io's client, without a server, reduces each move with immer and \
                redux and keeps its log."
            .to_owned(),
        columns: &["engine", "moves", "time", "rate", "ratio"],
        rows: vec![row!["turnfold, `cycletap` ford", entries, Time(took), rate, ""], other],
    }
}
