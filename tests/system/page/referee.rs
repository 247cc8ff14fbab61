//! A game from npm on the page: chess.js as a referee, which is independent of this project, played by clicks (RF-6,
//! VW-37).

use std::fs;

use serde_json::json;

use super::accessible::FIND;
use super::browser::Browser;
use super::chess::{check_looks, marked};
use super::installed;
use super::live::{complaints, create, give, join, wait_for_entry};
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::{Sandbox, program, workspace};
use turnfold_tests::service::Running;

/// Clicks squares once some are marked. Every command is on the board, so there are no buttons to wait for.
fn click(browser: &Browser, squares: &[&str]) {
    browser.wait_until("return !!document.querySelector('.picture .reach')");
    for at in squares {
        browser.click(&format!(".picture [data-at=\"{at}\"]"));
    }
}

#[test]
fn rf_6_chess_js_is_played_in_the_page_by_clicks() {
    let program = workspace().join("fixtures/referees/npm/chess.js");
    if !workspace().join("fixtures/referees/npm/node_modules/chess.js").exists() {
        return skipped(
            "chess.js in the page",
            "`npm ci --prefix fixtures/referees/npm` installs what is missing",
        );
    }
    let Some(white) = Browser::start_online("chess.js in the page") else { return };
    let Some(black) = Browser::start_online("chess.js in the page") else { return };
    let sandbox = Sandbox::new();
    let referee = format!("node '{}'", program.display());
    let service =
        Running::start_by(sandbox.command(["--referee", &referee, "serve", "--listen", "127.0.0.1:0"]));
    // The pawn at h7 may be promoted, and black is in check after it.
    let host = create(&service, "duel", "chessjs", "fen = \"5k2/4p2P/8/8/8/8/4P3/4K3 b - - 0 1\"");
    join(&white, &service, "duel", "p1", service.origin());
    join(&black, &service, "duel", "p2", service.origin());
    black.wait_until("return !!document.querySelector('.picture .reach')");
    assert_eq!(marked(&black, "reach"), "e7 f8");
    click(&black, &["e7"]);
    assert_eq!((marked(&black, "chosen"), marked(&black, "reach")), ("e7".into(), "e5 e6".into()));
    click(&black, &["e5"]);
    for browser in [&white, &black] {
        wait_for_entry(browser, 1);
        assert_eq!(marked(browser, "changed"), "e5 e7");
    }
    // Each player sees their own side at the bottom.
    let is_below = "const [one, eight] = ['e1', 'e8'].map((at) => document.querySelector(`.picture [data-at=\"${at}\"]`).getBoundingClientRect().top); return one > eight";
    assert_eq!([white.run(is_below), black.run(is_below)], [true, false]);
    click(&white, &["e2"]);
    check_looks(&white, "chess-js-chosen");
    if let Some(axe) = installed("axe-core on the board of a referee", "axe-core/axe.min.js") {
        white.run(&fs::read_to_string(axe).unwrap());
        assert_eq!(white.run_until_done(FIND), json!([]));
    }
    // A promotion asks for the piece.
    click(&white, &["h7", "h8"]);
    white.wait_until("return !!document.querySelector('.menu:popover-open')");
    let items = "return [...document.querySelectorAll('.menu button')].map((one) => one.textContent).sort().join(' ')";
    assert_eq!(white.run(items), "bishop knight queen rook");
    white.run(
        "[...document.querySelectorAll('.menu button')].find((one) => one.textContent === 'queen').click()",
    );
    for browser in [&white, &black] {
        wait_for_entry(browser, 2);
    }
    let label = "return document.querySelector('.picture [data-at=\"f8\"]').getAttribute('aria-label')";
    assert_eq!(black.run(label), "black king, !, can be chosen, changed, at f8");
    // Moves as people write them. A text that is not a move is refused, and the match continues.
    give(&black, "Kg9");
    black.wait_until("return document.querySelector('.answer').textContent.includes('Invalid move')");
    give(&black, "Kf7");
    wait_for_entry(&black, 3);
    let entries = super::live::entries(&service, "duel", &host);
    let commands: Vec<_> = entries.iter().map(|entry| entry["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["e7e5", "h7h8q", "f8f7"]);
    for browser in [&white, &black] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

#[test]
fn rf_6_the_page_says_that_a_referee_lists_no_commands() {
    let Some(browser) = Browser::start_online("a referee without `legal` in the page") else { return };
    let sandbox = Sandbox::new();
    let referee = format!("'{}' bare", program("referee-under-test").display());
    let service =
        Running::start_by(sandbox.command(["--referee", &referee, "serve", "--listen", "127.0.0.1:0"]));
    create(&service, "duel", "sums", "sum = 1");
    join(&browser, &service, "duel", "p1", service.origin());
    let says =
        "return document.querySelector('.hint').textContent === 'These rules list no commands: type one.'";
    browser.wait_until(says);
    give(&browser, "add 3");
    wait_for_entry(&browser, 1);
    browser.wait_until("return document.querySelector('.hint').textContent === ''");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
