//! A game as a replay file.

use chess::{Chess, Command, Setup, State};
use turnfold_core::{MatchResult, Rules, Seat};

use super::notation::{self, FaultKind, Game, Note, Word};
use super::position;
use super::spelling::{Spelled, spelled};

/// Values of the tag `Variant` for the game that the rules are of.
const STANDARD: [&str; 5] = ["standard", "normal", "chess", "from position", "orthodox"];

/// Words by which programs name an end that no player gave, in the tag `Termination` or in the last comment.
const NO_RESIGNATION: [&str; 10] = [
    "forfeit",
    "on time",
    "infraction",
    "illegal move",
    "invalid move",
    "adjudicat",
    "abandon",
    "disconnect",
    "stalled",
    "emergency",
];

/// The most characters of a name in a title, and of a comment that is quoted.
const QUOTED_MAX: usize = 60;

/// Returns the replay file of a game, and adds what its reader should know.
///
/// # Errors
/// What cannot be read, with its line.
pub fn replay(game: &Game, notes: &mut Vec<Note>) -> Result<String, Note> {
    notes.extend(game.notes.iter().map(|note| Note { line: note.line, text: note.text.clone() }));
    if let Some(tag) = game.tag("Variant")
        && !STANDARD.contains(&tag.value.to_lowercase().as_str())
    {
        let text = format!("this is `{}`, and only standard chess can be replayed", tag.value);
        return Err(Note { line: tag.line, text });
    }
    let (mut setup, mut fen) = (Setup::default(), String::new());
    let mut line = game.line;
    if let Some(tag) = game.tag("FEN") {
        line = tag.line;
        setup.fen = position::read(tag, notes).map_err(|text| Note { line, text })?;
        fen = format!("fen = \"{}\"\n", setup.fen);
    }
    let state = Chess::start(&setup).map_err(|error| Note { line, text: error.to_string() })?;
    let mut played = Played { state, entries: String::new(), count: 0, last: "the tags".into() };
    for word in &game.words {
        played.word(word).map_err(|text| Note { line: word.line, text })?;
    }
    if let Some(fault) = &game.fault {
        let last = &played.last;
        let text = match fault.kind {
            FaultKind::OpenComment => format!("the comment behind {last} is not closed"),
            FaultKind::OpenVariation => {
                format!("the variation that begins here is not closed, before or behind {last}")
            }
            FaultKind::Stray(bracket) => format!("the bracket `{bracket}` behind {last} has no counterpart"),
        };
        return Err(Note { line: fault.line, text });
    }
    let ending = played.end(game, notes)?;
    Ok(format!(
        "turnfold replay 2\n+++\nruleset = \"chess\"\nversion = {}\ndice = \"recorded\"\ntitle = \"{}{ending}\"\n\n[setup]\n{fen}+++\n{}",
        Chess::VERSION,
        title(game),
        played.entries,
    ))
}

/// Returns who played, where and when, as far as the tags have it.
fn title(game: &Game) -> String {
    let known = |name: &str| {
        let value = &game.tag(name)?.value;
        (!value.contains('?')).then(|| plain(value))
    };
    let player = |name| known(name).unwrap_or_else(|| "unknown".into());
    let mut title = format!("{} against {}", player("White"), player("Black"));
    for value in [known("Site"), known("Date")].into_iter().flatten() {
        title += ", ";
        title += &value;
    }
    title
}

/// Returns a text that can stand in the quotation marks of a title.
fn plain(text: &str) -> String {
    let plain = |character: char| match character {
        '"' | '\\' => '\'',
        _ if character.is_control() => ' ',
        _ => character,
    };
    let short: String = text.chars().take(QUOTED_MAX).map(plain).collect();
    if text.chars().count() > QUOTED_MAX { short + "…" } else { short }
}

/// A game as far as it is played.
struct Played {
    state: State,
    /// The lines of the entries.
    entries: String,
    count: usize,
    /// The last move with its number, for messages.
    last: String,
}

impl Played {
    fn word(&mut self, word: &Word) -> Result<(), String> {
        let text = match spelled(&word.text) {
            Spelled::Nothing => return Ok(()),
            Spelled::Null => {
                return Err(format!("{}: a null move, which chess does not have", self.named(&word.text)));
            }
            Spelled::Move(text) => text,
        };
        let named = self.named(&word.text);
        if let Some(result) = Chess::result(&self.state) {
            return Err(format!(
                "{named}: behind {} the match is over: {result}{}",
                self.last,
                ruled(&result)
            ));
        }
        let command = Chess::read(&self.state, &text).ok().filter(|read| matches!(read, Command::Move(_)));
        let command = command.ok_or_else(|| format!("{named}: no legal move is written so"))?;
        let seat = Chess::default_seat(&self.state, &command);
        self.give(seat, &command).map_err(|text| format!("{named}: {text}"))?;
        self.last = named;
        Ok(())
    }

    /// Names a move that is to be made, such as `` `4... O-O` ``.
    fn named(&self, word: &str) -> String {
        let dots = if Chess::active_seat(&self.state) == Some(Seat::P2) { "..." } else { "." };
        let word = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        format!("`{}{dots} {word}`", Chess::turn(&self.state).unwrap_or_default())
    }

    fn give(&mut self, seat: Seat, command: &Command) -> Result<(), String> {
        Chess::apply(&mut self.state, seat, command, &mut ()).map_err(|denied| denied.to_string())?;
        self.count += 1;
        self.entries += &format!("{} {seat} {command}\n", self.count);
        Ok(())
    }

    /// Ends the game as its result says. Returns what the title has to say about an end that the rules do not have.
    fn end(&mut self, game: &Game, notes: &mut Vec<Note>) -> Result<String, Note> {
        let tag = game.tag("Result").and_then(|tag| Some((tag.line, notation::result(&tag.value)?)));
        let behind = game.result.as_ref().map(|word| (word.line, word.text.as_str()));
        let mut note = |line, text| notes.push(Note { line, text });
        if let Some((line, behind)) = behind
            && let Some((_, tag)) = tag
            && tag != behind
        {
            note(line, format!("the tag has the result `{tag}`, and `{behind}` behind the moves is taken"));
        }
        let on_board = Chess::result(&self.state);
        let Some((line, result)) = behind.or(tag) else {
            if on_board.is_none() {
                note(game.line, "the game has no result".into());
            }
            return Ok(String::new());
        };
        if let Some(on_board) = on_board {
            if result != written(&on_board) {
                note(
                    line,
                    format!("the result `{result}` is not that of the board, which is taken: {on_board}"),
                );
            }
            return Ok(String::new());
        }
        if behind.is_none() {
            note(line, format!("no result is behind the moves; `{result}` is taken from the tag"));
        }
        let commands: &[(Seat, Command)] = match result {
            "1-0" => &[(Seat::P2, Command::Resign)],
            "0-1" => &[(Seat::P1, Command::Resign)],
            "1/2-1/2" => &[(Seat::P1, Command::Offer), (Seat::P2, Command::Accept)],
            _ => return Ok(String::new()),
        };
        if let Some(reason) = no_resignation(game) {
            let reason = plain(&reason);
            note(
                line,
                format!(
                    "`{result}` by `{reason}`, which is no command: the title has it, and the match stays open"
                ),
            );
            return Ok(format!(" ({result}, {reason})"));
        }
        for (seat, command) in commands {
            self.give(*seat, command).map_err(|text| Note { line, text: format!("`{result}`: {text}") })?;
        }
        Ok(String::new())
    }
}

/// Returns the result as a game has it.
fn written(result: &MatchResult) -> &'static str {
    match result.winners.first() {
        Some(&Seat::P1) => "1-0",
        Some(_) => "0-1",
        None => "1/2-1/2",
    }
}

/// Returns how the game ended, if neither a player gave up nor both agreed.
fn no_resignation(game: &Game) -> Option<String> {
    let tag = game.tag("Termination").map(|tag| tag.value.clone());
    tag.into_iter().chain(game.last_comments.iter().cloned()).find(|text| {
        let text = text.to_lowercase();
        NO_RESIGNATION.iter().any(|words| text.contains(words))
    })
}

/// Returns what the rules say of an end that no one had to claim.
fn ruled(result: &MatchResult) -> &'static str {
    match result.reason.as_deref() {
        Some("repetition" | "fifty moves") => "; by CS-4 no player has to claim it",
        Some("material") => "; by CS-3 no player has to claim it",
        _ => "",
    }
}
