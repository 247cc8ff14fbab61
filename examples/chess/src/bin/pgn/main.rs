//! Turns games in Portable Game Notation into replay files: `cargo run --bin pgn game.pgn > game.tfl`.
//!
//! `chess bless game.tfl` adds the outcomes and hashes. A game that was not over on the board ends with a resignation or
//! with a draw by agreement, as its result says.

mod notation;
mod position;
mod replay;
mod spelling;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use notation::Game;

const HELP: &str = "\
Turn games in Portable Game Notation into replay files

Usage: pgn [FILE]... [-o FOLDER]

Without FILE, standard input is read. A single game is written to standard output; `-o` writes a file for each game.
A game that cannot be read does not cost the others.
";

/// Why nothing, or not everything, was written.
enum Failure {
    /// Unusable arguments or input.
    Usage(String),
    /// A file that cannot be read or written.
    Io(PathBuf, io::Error),
}

impl From<Failure> for ExitCode {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Usage(text) => {
                say("error", &text);
                Self::from(2)
            }
            Failure::Io(path, error) => {
                say("error", &format!("`{}`: {error}", path.display()));
                Self::from(3)
            }
        }
    }
}

/// The arguments.
struct Args {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

/// A game and the file that it is from.
struct Found {
    game: Game,
    /// The file, or nothing for standard input.
    file: Option<PathBuf>,
    /// The name of its replay file.
    name: String,
}

fn main() -> ExitCode {
    if std::env::args_os().any(|arg| arg == "--help" || arg == "-h") {
        return write_out(HELP).map_or_else(Into::into, |()| ExitCode::SUCCESS);
    }
    run().unwrap_or_else(Into::into)
}

fn run() -> Result<ExitCode, Failure> {
    let Args { files, folder } = read_args(std::env::args_os().skip(1))?;
    let mut games = Vec::new();
    if files.is_empty() {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::Io("standard input".into(), error))?;
        games.extend(find_games(&bytes, None)?);
    }
    for file in files {
        let bytes = fs::read(&file).map_err(|error| Failure::Io(file.clone(), error))?;
        games.extend(find_games(&bytes, Some(&file))?);
    }
    let Some(folder) = folder else {
        let [found] = games.as_slice() else {
            let text = format!("the input has {} games; `-o FOLDER` writes a file for each", games.len());
            return Err(Failure::Usage(text));
        };
        let Some(text) = replay_of(found) else { return Ok(ExitCode::from(2)) };
        write_out(&text)?;
        return Ok(ExitCode::SUCCESS);
    };
    fs::create_dir_all(&folder).map_err(|error| Failure::Io(folder.clone(), error))?;
    let mut written = 0;
    for found in &games {
        let Some(text) = replay_of(found) else { continue };
        let path = folder.join(&found.name);
        let file = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        file.map_err(|error| Failure::Io(path, error))?;
        written += 1;
    }
    say("written", &format!("{written} of {} games to `{}`", games.len(), folder.display()));
    Ok(if written == games.len() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

fn read_args(mut args: impl Iterator<Item = OsString>) -> Result<Args, Failure> {
    let mut read = Args { files: Vec::new(), folder: None };
    while let Some(arg) = args.next() {
        if arg == "-o" {
            let folder = args.next().ok_or_else(|| Failure::Usage("`-o` needs a folder".into()))?;
            read.folder = Some(folder.into());
        } else if arg.to_string_lossy().starts_with('-') {
            let text = format!("unknown option `{}`; see `--help`", arg.display());
            return Err(Failure::Usage(text));
        } else {
            read.files.push(arg.into());
        }
    }
    Ok(read)
}

/// Finds the games of a file, or of standard input.
fn find_games(bytes: &[u8], file: Option<&Path>) -> Result<Vec<Found>, Failure> {
    let name = file.map_or("standard input".into(), |file| format!("`{}`", file.display()));
    let text = notation::decode(bytes).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let games = notation::games(&text);
    if games.is_empty() {
        return Err(Failure::Usage(format!("{name} has no game")));
    }
    let stem = file.and_then(Path::file_stem).map_or("game".into(), |stem| stem.to_string_lossy());
    let (count, width) = (games.len(), games.len().to_string().len());
    let found = |(index, game)| {
        let name =
            if count == 1 { format!("{stem}.tfl") } else { format!("{stem}-{:0width$}.tfl", index + 1) };
        Found { game, file: file.map(Path::to_owned), name }
    };
    Ok(games.into_iter().enumerate().map(found).collect())
}

/// Returns the replay file of a game. Prints what was noticed, or why there is none.
fn replay_of(found: &Found) -> Option<String> {
    let place = found.file.as_ref().map_or(String::new(), |file| format!("{}: ", file.display()));
    let mut notes = Vec::new();
    let replay = replay::replay(&found.game, &mut notes);
    for note in notes {
        say("warning", &format!("{place}{note}"));
    }
    replay.map_err(|note| say("error", &format!("{place}{note}"))).ok()
}

/// Writes a line to standard error. Someone who has closed it does not read it.
fn say(kind: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {text}");
}

fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::Io("standard output".into(), error))
}
