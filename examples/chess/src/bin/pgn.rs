//! Turns a game in Portable Game Notation into a replay file: `cargo run --bin pgn < game.pgn > game.tfl`.
//!
//! `chess bless game.tfl` adds the outcomes and hashes. A game that was not over on the board ends with a resignation or
//! with a draw by agreement, as its result says.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use chess::{Chess, Command, Setup, State};
use turnfold_core::{Rules, Seat};

fn main() -> ExitCode {
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let written = read
        .and_then(|_| replay(&text))
        .and_then(|replay| io::stdout().write_all(replay.as_bytes()).map_err(|error| error.to_string()));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the replay file of a game.
fn replay(pgn: &str) -> Result<String, String> {
    let (tags, moves): (Vec<&str>, Vec<&str>) = pgn.lines().partition(|line| line.starts_with('['));
    let tag = |name: &str| {
        tags.iter().find_map(|line| {
            let value = line.strip_prefix('[')?.strip_prefix(name)?.trim().strip_prefix('"')?;
            value.strip_suffix("\"]").map(str::to_owned)
        })
    };
    let known =
        |name: &str| tag(name).filter(|value| !value.contains('?')).unwrap_or_else(|| "unknown".into());
    let title =
        format!("{} against {}, {}, {}", known("White"), known("Black"), known("Site"), known("Date"));
    let fen = tag("FEN").map_or_else(|| Ok(Setup::default().fen), |fen| fen.parse());
    let fen = fen.map_err(|error| format!("fen: {error}"))?;
    let setup = tag("FEN").map_or_else(String::new, |_| format!("fen = \"{fen}\"\n"));
    let state = Chess::start(&Setup { fen, ..Setup::default() }).map_err(|error| error.to_string())?;
    let entries = entries(state, &words(&moves.join("\n"))?)?;
    Ok(format!(
        "turnfold replay 2\n+++\nruleset = \"chess\"\nversion = {}\ndice = \"recorded\"\ntitle = \"{}\"\n\n[setup]\n{setup}+++\n{entries}",
        Chess::VERSION,
        title.replace(['"', '\\'], "'"),
    ))
}

/// Returns the moves and the result, without numbers, comments, variations and signs.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut kept, mut depth, mut is_line) = (String::new(), 0_usize, false);
    for character in text.chars() {
        match character {
            '\n' => is_line = false,
            _ if is_line => continue,
            ';' if depth == 0 => {
                is_line = true;
                continue;
            }
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.checked_sub(1).ok_or("a bracket is closed that was not opened")?,
            _ => {}
        }
        kept.push(if depth > 0 || matches!(character, ')' | '}') { ' ' } else { character });
    }
    let word = |word: &str| {
        // `1.e4` has its move behind the number, `1-0` is a result.
        let (number, rest) = word.rsplit_once('.').unwrap_or(("", word));
        let is_move = number.chars().all(|character| character.is_ascii_digit() || character == '.');
        let rest = if is_move { rest } else { word }.trim_end_matches(['!', '?']);
        (!rest.is_empty() && !rest.starts_with('$')).then(|| rest.to_owned())
    };
    Ok(kept.split_whitespace().filter_map(word).collect())
}

/// Returns the lines of the entries.
fn entries(mut state: State, words: &[String]) -> Result<String, String> {
    let mut lines = String::new();
    let mut give = |state: &mut State, seat: Seat, command: &Command| {
        Chess::apply(state, seat, command, &mut ())
            .map_err(|denied| format!("{seat} {command}: {denied}"))?;
        let number = lines.lines().count() + 1;
        lines += &format!("{number} {seat} {command}\n");
        Ok::<(), String>(())
    };
    for word in words {
        let ended: &[(Seat, Command)] = match word.as_str() {
            "1-0" => &[(Seat::P2, Command::Resign)],
            "0-1" => &[(Seat::P1, Command::Resign)],
            "1/2-1/2" => &[(Seat::P1, Command::Offer), (Seat::P2, Command::Accept)],
            "*" => &[],
            san => {
                let command = Chess::read(&state, san).map_err(|error| error.to_string())?;
                let seat = Chess::default_seat(&state, &command);
                give(&mut state, seat, &command)?;
                continue;
            }
        };
        for (seat, command) in ended {
            if !Chess::over(&state) {
                give(&mut state, *seat, command)?;
            }
        }
    }
    Ok(lines)
}
