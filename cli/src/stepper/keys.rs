//! The keys (VW-7): what each does, and what is said of it.

use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// This number of entries forward, or back.
    By(i64),
    /// To the setup.
    First,
    /// To the last entry.
    Last,
    /// Asks for the number of an entry.
    AskNumber,
    /// Asks for a text to search for.
    AskText,
    /// Asks for a condition.
    AskCondition,
    /// The next hit, or the previous one.
    Again { back: bool },
    /// Chooses another of the changed fields.
    Choose(i64),
    /// The next, or the previous, entry that changed the chosen field.
    Change { back: bool },
    /// The next seat's seat.
    NextViewer,
    /// JSON instead of the board, or the board again.
    View,
    /// Plays by itself, or stops.
    Play,
    /// Faster, or slower.
    Speed(i64),
    /// Moves the board or the view within its panel.
    Scroll(i32, i32),
    /// Lists the branches.
    Branches,
    /// Prints the revision on leaving.
    Yield,
    /// Lists the keys.
    Help,
    /// Leaves.
    Quit,
}

/// Entries a second, and how long each is shown, while the history plays by itself (VW-7).
pub(super) const BEATS: [(u16, Duration); 5] = [
    (1, Duration::from_secs(1)),
    (2, Duration::from_millis(500)),
    (4, Duration::from_millis(250)),
    (8, Duration::from_millis(125)),
    (16, Duration::from_micros(62_500)),
];

/// What the help says.
pub(super) const HELP: &[(&str, &str)] = &[
    ("→ l Enter   ← h", "one entry on · back"),
    ("PgDn   PgUp", "ten entries on · back"),
    ("End G   Home g", "last entry · setup"),
    (": N Enter", "go to entry N"),
    ("/ TEXT Enter", "search command and outcome; n next, N previous"),
    ("w CONDITION Enter", "first entry from here that makes it true"),
    ("↑ ↓   ] [", "choose a changed field · its next, previous change"),
    ("s   v", "next seat's seat · view as JSON instead of board"),
    ("Space   + -", "play by itself · faster, slower"),
    ("H J K L", "move the board or the view in its panel"),
    ("b   y", "branches of the match · print the revision on leaving"),
    ("?   q Ctrl-C", "these keys · leave"),
];

/// What the last line says.
pub(super) const LINE: &str =
    "← → step  : go to  / search  w when  [ ] field  s seat  v view  ? keys  q leave";

/// Returns what a key asks for where nothing is being typed.
pub(super) fn action(key: KeyEvent) -> Option<Action> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Action::Quit);
    }
    Some(match key.code {
        KeyCode::Right | KeyCode::Enter | KeyCode::Char('l') => Action::By(1),
        KeyCode::Left | KeyCode::Char('h') => Action::By(-1),
        KeyCode::PageDown => Action::By(10),
        KeyCode::PageUp => Action::By(-10),
        KeyCode::End | KeyCode::Char('G') => Action::Last,
        KeyCode::Home | KeyCode::Char('g') => Action::First,
        KeyCode::Char(':') => Action::AskNumber,
        KeyCode::Char('/') => Action::AskText,
        KeyCode::Char('w') => Action::AskCondition,
        KeyCode::Char('n') => Action::Again { back: false },
        KeyCode::Char('N') => Action::Again { back: true },
        KeyCode::Down => Action::Choose(1),
        KeyCode::Up => Action::Choose(-1),
        KeyCode::Char(']') => Action::Change { back: false },
        KeyCode::Char('[') => Action::Change { back: true },
        KeyCode::Char('s') => Action::NextViewer,
        KeyCode::Char('v') => Action::View,
        KeyCode::Char(' ') => Action::Play,
        KeyCode::Char('+' | '=') => Action::Speed(1),
        KeyCode::Char('-') => Action::Speed(-1),
        KeyCode::Char('H') => Action::Scroll(-4, 0),
        KeyCode::Char('L') => Action::Scroll(4, 0),
        KeyCode::Char('K') => Action::Scroll(0, -2),
        KeyCode::Char('J') => Action::Scroll(0, 2),
        KeyCode::Char('b') => Action::Branches,
        KeyCode::Char('y') => Action::Yield,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}
