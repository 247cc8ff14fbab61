//! Games that python-chess exports pass the importer of `examples/chess` with the same last positions.
//!
//! The test uses 30 games, and 10,000 with `TURNFOLD_LONG=1`, which takes about two minutes. `TURNFOLD_PYTHON_CHESS`
//! names the program folder of an environment with the package. Otherwise the package is installed from `PyPI`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use turnfold_tests::is_long;
use turnfold_tests::parts::{python, skipped};
use turnfold_tests::sandbox::{Sandbox, workspace};

use crate::example::program;

const PYTHON_CHESS: &str = "chess==1.11.2";

#[test]
fn games_of_python_chess_come_through_with_equal_positions() {
    let sandbox = Sandbox::new();
    let bin = match python(PYTHON_CHESS, "TURNFOLD_PYTHON_CHESS") {
        Ok(bin) => bin,
        Err(why) => return skipped("games of python-chess", why),
    };
    let count = if is_long() { 10_000 } else { 30 };
    let [games, positions, files] = ["games.pgn", "positions.txt", "files"].map(|name| sandbox.path(name));
    let made = Command::new(bin.join("python3"))
        .arg(workspace().join("tests/system/pgn/games.py"))
        .args([&count.to_string(), "1"])
        .args([&games, &positions])
        .status()
        .unwrap();
    assert!(made.success());
    let chess = program("chess");
    let importer = chess.with_file_name(format!("pgn{}", std::env::consts::EXE_SUFFIX));
    let read = Command::new(importer).arg(&games).arg("-o").arg(&files).output().unwrap();
    let messages = String::from_utf8_lossy(&read.stderr);
    let last = messages.lines().last().unwrap_or_default();
    assert!(
        read.status.success() && last.starts_with(&format!("written: {count} of {count} ")),
        "{messages}"
    );
    let table = sandbox.path("fields.csv");
    let fields = Command::new(chess)
        .args(["table", "fields", "--field", "/fen"])
        .arg(&files)
        .arg("-o")
        .arg(&table)
        .output()
        .unwrap();
    assert!(fields.status.success(), "{}", String::from_utf8_lossy(&fields.stderr));
    // The rows of a game and the names of the files are in order.
    let mut found = BTreeMap::new();
    for row in fs::read_to_string(table).unwrap().lines().skip(1) {
        let (place, fen) = row.rsplit_once(',').unwrap();
        let (source, _) = place.rsplit_once(',').unwrap();
        found.insert(source.to_owned(), fen.to_owned());
    }
    let expected = fs::read_to_string(positions).unwrap();
    assert_eq!(found.len(), count);
    for ((source, fen), expected) in found.iter().zip(expected.lines()) {
        assert_eq!(fen, expected, "{source}");
    }
}
