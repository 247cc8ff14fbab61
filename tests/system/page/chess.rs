//! A game on squares in the page: `examples/chess`, played by clicks and by keys (VW-36, VW-37).

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::json;
use tempfile::TempDir;

use super::accessible::FIND;
use super::browser::Browser;
use super::games::play;
use super::installed;
use super::live::{complaints, create, give, join, wait_for_entry, wait_for_offer};
use super::live_looks::MISPLACED;
use super::looks::{OVERFLOWING, SMALL, media, size};
use turnfold_tests::service::Running;

const DOWN: char = '\u{e015}';
const ENTER: char = '\u{e007}';

/// Serves a store in this folder with the program of the example.
pub(super) fn serve(dir: &TempDir) -> Running {
    let mut serve = Command::new(crate::example::program("chess"));
    serve.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(dir.path()).stdin(Stdio::null());
    serve.env_remove("TURNFOLD_STORE");
    Running::start_by(serve)
}

fn square(at: &str) -> String {
    format!(".picture [data-at=\"{at}\"]")
}

/// Clicks squares, one after another.
fn click(browser: &Browser, squares: &[&str]) {
    wait_for_offer(browser);
    for at in squares {
        browser.click(&square(at));
    }
}

/// Returns the squares with a mark, in order.
pub(super) fn marked(browser: &Browser, mark: &str) -> String {
    let script = format!(
        "return [...document.querySelectorAll('.squares .{mark}')].map((one) => one.dataset.at).sort().join(' ')"
    );
    browser.run(&script).as_str().unwrap().to_owned()
}

/// Requires everything to be in its place on screens of two widths. Also writes screenshots, light and dark, to the
/// folder that `TURNFOLD_SCREENSHOTS` names.
#[track_caller]
pub(super) fn check_looks(browser: &Browser, name: &str) {
    for (width, height) in [(320, 640), (1280, 900)] {
        size(browser, width, height);
        for (what, script) in [("overflowing", OVERFLOWING), ("small", SMALL), ("misplaced", MISPLACED)] {
            assert_eq!(browser.run(script), json!([]), "{what}: {name} at {width} pixels");
        }
        let Some(folder) = env::var_os("TURNFOLD_SCREENSHOTS") else { continue };
        for scheme in ["light", "dark"] {
            media(browser, "", scheme);
            let picture = Path::new(&folder).join(format!("{name}-{width}-{scheme}.png"));
            fs::write(picture, browser.screenshot()).unwrap();
        }
        media(browser, "", "light");
    }
}

#[test]
fn vw_37_chess_is_played_by_clicking_squares() {
    let Some(white) = Browser::start_online("chess by clicks") else { return };
    let Some(black) = Browser::start_online("chess by clicks") else { return };
    let dir = TempDir::new().unwrap();
    let service = serve(&dir);
    create(&service, "duel", "chess", "");
    join(&white, &service, "duel", "p1", service.origin());
    join(&black, &service, "duel", "p2", service.origin());
    wait_for_offer(&white);
    assert_eq!(marked(&white, "reach"), "a2 b1 b2 c2 d2 e2 f2 g1 g2 h2");
    // The first click chooses a piece and shows its targets. A click on another piece chooses that instead, and a
    // second click cancels the choice.
    click(&white, &["g1"]);
    assert_eq!((marked(&white, "chosen"), marked(&white, "reach")), ("g1".into(), "f3 h3".into()));
    click(&white, &["e2"]);
    assert_eq!((marked(&white, "chosen"), marked(&white, "reach")), ("e2".into(), "e3 e4".into()));
    assert_eq!(white.text(".hint"), "e2 … Choose what is marked.");
    click(&white, &["e2"]);
    assert_eq!(marked(&white, "chosen"), "");
    click(&white, &["e2", "e4"]);
    for browser in [&white, &black] {
        wait_for_entry(browser, 1);
        assert_eq!(marked(browser, "changed"), "e2 e4");
    }
    let label = "return document.querySelector('.picture [data-at=\"e4\"]').getAttribute('aria-label')";
    assert_eq!(white.run(label), "white pawn, changed, at e4");
    // Each player sees their own side at the bottom.
    let is_below = "const [one, eight] = ['e1', 'e8'].map((at) => document.querySelector(`.picture [data-at=\"${at}\"]`).getBoundingClientRect().top); return one > eight";
    assert_eq!([white.run(is_below), black.run(is_below)], [true, false]);
    // With keys: the board is one tab stop, and arrow keys move over the squares.
    black.run("document.querySelector('.squares [tabindex=\"0\"]').focus()");
    wait_for_offer(&black);
    let focused = "return document.activeElement.dataset.at";
    assert_eq!(black.run(focused), "e4", "VW-52: the focus begins at the last change");
    for _ in 0..3 {
        black.press(DOWN);
    }
    assert_eq!(black.run(focused), "e7");
    for key in [ENTER, '\u{e013}', '\u{e013}', ENTER] {
        black.press(key);
    }
    wait_for_entry(&black, 2);
    assert_eq!(marked(&black, "changed"), "e5 e7");
    // Typed text works too, and a refusal is shown.
    give(&black, "e8e7");
    black.wait_until("return document.querySelector('.answer').textContent.includes('the other player')");
    click(&white, &["f1"]);
    check_looks(&white, "chess-chosen");
    if let Some(axe) = installed("axe-core on a board of squares", "axe-core/axe.min.js") {
        white.run(&fs::read_to_string(axe).unwrap());
        assert_eq!(white.run_until_done(FIND), json!([]));
    }
    for browser in [&white, &black] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

/// A script that returns squares whose middle is invisible or covered, and how far anything was scrolled.
const OUT_OF_REACH: &str = "
    const hidden = [...document.querySelectorAll('.squares [data-at]')].filter((square) => {
      const { left, right, top, bottom } = square.getBoundingClientRect();
      return document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.closest('[data-at]') !== square;
    });
    const scrolled = [document.scrollingElement, ...document.querySelectorAll('.stage, .pan')].filter(({ scrollTop, scrollLeft }) => scrollTop || scrollLeft);
    return [...hidden.map(({ dataset }) => dataset.at), ...scrolled.map(({ className }) => `${className} scrolled`)]";

/// White's moves, and black's answers by clicks.
const GAME: [(&str, [&str; 2]); 5] = [
    ("e2e4", ["e7", "e5"]),
    ("g1f3", ["b8", "c6"]),
    ("f1c4", ["f8", "c5"]),
    ("e1g1", ["g8", "f6"]),
    ("d2d3", ["e8", "g8"]),
];

#[test]
fn vw_61_chess_as_black_is_played_on_a_phone_without_scrolling() {
    let Some(black) = Browser::start_online("chess on a phone") else { return };
    play_black(&black);
    // Other parts are shown on request, and can be hidden again.
    let is_shown = "return ['.giving', '.legal', '.controls'].map((one) => document.querySelector(one).checkVisibility()).join()";
    assert_eq!(black.run(is_shown), "false,false,false");
    black.click(".unfold");
    assert_eq!(black.run(is_shown), "true,true,true");
    assert_eq!(black.run("return document.querySelector('.unfold').getAttribute('aria-expanded')"), "true");
    if let Some(axe) = installed("axe-core on a phone", "axe-core/axe.min.js") {
        black.run(&fs::read_to_string(axe).unwrap());
        for _ in 0..2 {
            assert_eq!(black.run_until_done(FIND), json!([]));
            black.click(".unfold");
        }
    }
    assert_eq!(complaints(&black), Vec::<String>::new());
}

/// Plays chess as black on a phone, upright and on its side, only by clicks and without scrolling.
fn play_black(black: &Browser) {
    let dir = TempDir::new().unwrap();
    let service = serve(&dir);
    let host = create(&service, "duel", "chess", "");
    let phone = |width: u32, height: u32| {
        let screen = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": true });
        black.command("Emulation.setDeviceMetricsOverride", &screen);
    };
    phone(360, 740);
    join(black, &service, "duel", "p2", service.origin());
    for (number, (white, squares)) in (1..).step_by(2).zip(GAME) {
        play(&service, "duel", &host, &[("p1".into(), white.into())]);
        wait_for_entry(black, number);
        wait_for_offer(black);
        // Upright and on its side, everything that the board needs is visible, and the dock is one line.
        for (width, height) in [(740, 360), (360, 740)] {
            phone(width, height);
            black.wait_until(&format!(
                "return innerWidth === {width} && (() => {{ {OUT_OF_REACH} }})().length === 0"
            ));
        }
        let dock = black.run("return document.querySelector('.dock').offsetHeight / innerHeight");
        assert!(dock.as_f64().unwrap() < 0.12, "the dock takes {dock} of the height");
        for at in squares {
            assert_eq!(black.run(OUT_OF_REACH), json!([]), "before {at}");
            black.click(&square(at));
        }
        wait_for_entry(black, number + 1);
        assert_eq!(black.run(OUT_OF_REACH), json!([]));
    }
}

#[test]
fn vw_37_a_menu_has_the_words_and_resigning_asks_first() {
    let Some(white) = Browser::start_online("a promotion by clicks") else { return };
    let dir = TempDir::new().unwrap();
    let service = serve(&dir);
    create(&service, "pawn", "chess", "fen = \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"");
    join(&white, &service, "pawn", "p1", service.origin());
    click(&white, &["a7", "a8"]);
    white.wait_until("return !!document.querySelector('.menu:popover-open')");
    let items = "return [...document.querySelectorAll('.menu button')].map((one) => one.textContent).sort().join(' ')";
    assert_eq!(white.run(items), "bishop knight queen rook");
    check_looks(&white, "chess-promotion");
    white.run(
        "[...document.querySelectorAll('.menu button')].find((one) => one.textContent === 'rook').click()",
    );
    wait_for_entry(&white, 1);
    assert!(white.text(".status").contains("san=a8=R"), "{}", white.text(".status"));
    // The command to resign is a button. A menu asks for confirmation, and `No` leaves the match unchanged.
    let resign = "[...document.querySelectorAll('.legal button')].find((one) => one.querySelector('bdi').textContent === 'resign')";
    wait_for_offer(&white);
    for (answer, entry) in [("No", 1), ("Yes, resign", 2)] {
        let button = white.run(&format!("const found = {resign}; const {{ left, bottom, top }} = found.getBoundingClientRect(); found.click(); return [left, bottom, top]"));
        white.wait_until("return !!document.querySelector('.menu:popover-open')");
        // The question is next to the button, although the button is redrawn in the meantime.
        let is_there = format!(
            "const [left, bottom, top] = {button}; const menu = document.querySelector('.menu').getBoundingClientRect(); return Math.abs(menu.left - left) < 2 && (Math.abs(menu.top - bottom) < 2 || Math.abs(menu.bottom - top) < 2)"
        );
        assert_eq!(white.run(&is_there), true);
        white.run(&format!("[...document.querySelectorAll('.menu button')].find((one) => one.textContent === '{answer}').click()"));
        wait_for_entry(&white, entry);
    }
    assert!(white.text(".status").contains("winner=p2"), "{}", white.text(".status"));
    assert_eq!(complaints(&white), Vec::<String>::new());
}
