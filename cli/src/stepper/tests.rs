//! Screens of every ruleset, drawn without a terminal (VW-9).

use std::path::Path;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Modifier;
use snapbox::assert_data_eq;
use turnfold_history::{SeatHistory, SourceName, Viewer};
use turnfold_referee::ModuleFolders;

use super::StepperScreen;
use super::draw::draw;
use crate::context::{StoreAddress, Workspace};

/// A golden log of each ruleset, and the entry that is looked at.
const LOOKED_AT: [(&str, &str); 5] = [
    ("cycletap/two-on-one-hex", "12"),
    ("channel/harmonising", "3"),
    ("hexcapture/release-straight", "9"),
    ("initiative/moves", "5"),
    ("lifecycle/statuses", "3"),
];

/// Columns and rows: a terminal as it opens, a large one, and one that is too small.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (39, 11)];

fn workspace() -> Workspace {
    let store = StoreAddress::Dir("nowhere".into());
    Workspace::new(store, None, turnfold_games::standard(), ModuleFolders::default()).unwrap()
}

fn seat_history(file: &str, viewer: Viewer, workspace: &Workspace) -> SeatHistory {
    let path = Path::new("../replays").join(file).with_extension("tfl");
    SeatHistory::load(viewer, &SourceName::of_file(&path), workspace).unwrap()
}

/// Presses keys, each a character.
fn press(app: &mut StepperScreen<'_>, keys: &str) {
    for key in keys.chars() {
        let code = if key == '\n' { KeyCode::Enter } else { KeyCode::Char(key) };
        app.press(KeyEvent::new(code, KeyModifiers::NONE)).unwrap();
    }
}

fn drawn(app: &mut StepperScreen<'_>, (columns, rows): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(frame, app)).unwrap();
    terminal.backend().buffer().clone()
}

/// Returns the lines of a screen without trailing spaces.
fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines = buffer
        .content
        .chunks(width)
        .map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>());
    lines.map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn vw_9_every_ruleset_has_its_screens() {
    let workspace = workspace();
    for (file, at) in LOOKED_AT {
        let mut app = StepperScreen::new(seat_history(file, Viewer::HOST, &workspace), &workspace).unwrap();
        press(&mut app, &format!(":{at}\n"));
        let screens = SIZES
            .map(|size| format!("{} columns, {} rows\n{}", size.0, size.1, text(&drawn(&mut app, size))));
        let ruleset = file.split('/').next().unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/stepper/screens")
            .join(ruleset)
            .with_extension("txt");
        assert_data_eq!(screens.join("\n"), snapbox::Data::read_from(&path, None).raw());
    }
}

#[test]
fn vw_6_what_changed_is_reversed_and_has_a_sign() {
    let workspace = workspace();
    let mut app =
        StepperScreen::new(seat_history("initiative/moves", Viewer::HOST, &workspace), &workspace).unwrap();
    let reversed = |buffer: &Buffer| {
        let board = buffer.content.iter().take(80 * 13).skip(80);
        board.filter(|cell| cell.modifier.contains(Modifier::REVERSED)).count()
    };
    assert_eq!(reversed(&drawn(&mut app, (80, 24))), 0, "at the setup nothing has changed");
    press(&mut app, ":11\n");
    let buffer = drawn(&mut app, (80, 24));
    assert!(reversed(&buffer) > 0);
    assert!(text(&buffer).contains('*'));
}

#[test]
fn vw_7_keys_lead_through_a_game() {
    let workspace = workspace();
    let mut app =
        StepperScreen::new(seat_history("initiative/moves", Viewer::HOST, &workspace), &workspace).unwrap();
    let head = app.stepper().history().head();
    let mut at = |keys: &str| {
        press(&mut app, keys);
        (app.stepper().at(), app.message.clone())
    };
    assert_eq!(at("lll").0, 3);
    assert_eq!(at("h\n").0, 3);
    assert_eq!(at("G"), (head, String::new()));
    assert_eq!(at("l").0, head);
    assert_eq!(at("g").0, 0);
    assert_eq!(at(":99999\n"), (0, format!("there is no entry 99999; the last is {head}")));
    assert_eq!(at(":x\n"), (0, "expected the number of an entry, found `x`".into()));
    assert_eq!(at("n"), (0, "type / and a text first".into()));
    let (hit, _) = at("/MOVED\n");
    assert!(hit > 0);
    let (next, _) = at("n");
    assert!(next > hit);
    assert_eq!(at("N").0, hit);
    let (last, message) = at("N");
    assert_eq!((last > hit, message.as_str()), (true, "the search went on from the end"));
    assert_eq!(at("/nowhere\n").1, "nothing has `nowhere` in it");
    assert_eq!(at("gw/turn\n").1, "expected ==, !=, <, <=, > or >= at the caret: `/turn^`");
    let (found, message) = at("w/phase == movement\n");
    assert!(found > 0, "{message}");
    assert!(at("gw/nowhere == 1\n").1.starts_with("`/nowhere` is nowhere in the view"));
    assert_eq!(at("g]").1, "choose a field that changed first, with ↑ and ↓");
    assert!(at("l]").0 > 1);
    assert_eq!(at("b").1, "a replay file has no branches");
    assert_eq!(at("s").1, "as p1 sees it, after entry 0".replace('0', &app.stepper().at().to_string()));
}

#[test]
fn vw_7_it_plays_by_itself_until_the_end() {
    let workspace = workspace();
    let mut app =
        StepperScreen::new(seat_history("initiative/moves", Viewer::HOST, &workspace), &workspace).unwrap();
    assert_eq!(app.playback(), None);
    press(&mut app, " +");
    let speed = app.playback().map(|(speed, _)| speed);
    assert_eq!((speed, app.message.as_str()), (Some(4), "4 a second"));
    let head = app.stepper().history().head();
    for _ in 0..head {
        assert!(app.playback().is_some());
        app.play_on().unwrap();
    }
    assert_eq!((app.playback(), app.stepper().at()), (None, head));
}

#[test]
fn vw_7_a_player_looks_as_itself_only() {
    let workspace = workspace();
    let viewer: Viewer = "p2".parse().unwrap();
    let mut app =
        StepperScreen::new(seat_history("cycletap/while-the-other-plans", viewer, &workspace), &workspace)
            .unwrap();
    press(&mut app, "lls");
    assert_eq!(app.message, "only this viewer is available here");
    assert_eq!(app.stepper().history().viewer(), viewer);
}
