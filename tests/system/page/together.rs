//! What players see of each other and do together: presence (VW-81), notes (VW-82), a rematch (VW-83), takebacks
//! (VW-84, VW-85).

use std::env;
use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::chess::serve;
use super::installed;
use super::live::{LIVE, complaints, create, give, give_first, join, wait_for_entry, wait_for_offer};
use super::looks::{OVERFLOWING, SMALL, media, size};
use super::seat::{invite, try_to_join, wait_for};
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// Returns `true` if an element is visible.
fn is_seen(browser: &Browser, selector: &str) -> bool {
    browser.run(&format!("return document.querySelector({selector:?}).checkVisibility()")) == true
}

#[test]
fn vw_81_vw_82_players_see_who_is_here_and_read_notes() {
    let Some(first) = Browser::start_online("who is here, and notes") else { return };
    let Some(second) = Browser::start_online("who is here, and notes") else { return };
    meet(&first, &second);
    check_everywhere(&first, "notes");
}

/// Requires everything to be in its place and readable on screens of all kinds. Also writes screenshots to the folder
/// that `TURNFOLD_SCREENSHOTS` names.
#[track_caller]
fn check_everywhere(browser: &Browser, name: &str) {
    let Some(axe) = installed("axe-core in what is done together", "axe-core/axe.min.js") else { return };
    browser.run(&fs::read_to_string(axe).unwrap());
    for (width, height) in [(360, 740), (740, 360), (768, 1024), (1440, 900)] {
        size(browser, width, height);
        for (scheme, find) in [("light", FIND), ("dark", FIND_CONTRAST)] {
            media(browser, "", scheme);
            assert_eq!(browser.run_until_done(find), json!([]), "{name} at {width} pixels, {scheme}");
            if let Some(folder) = env::var_os("TURNFOLD_SCREENSHOTS") {
                let picture = Path::new(&folder).join(format!("{name}-{width}-{scheme}.png"));
                fs::write(picture, browser.screenshot()).unwrap();
            }
        }
        media(browser, "", "light");
        for (what, script) in [("small", SMALL), ("overflowing", OVERFLOWING)] {
            assert_eq!(browser.run(script), json!([]), "{what}: {name} at {width} pixels");
        }
    }
}

/// Joins a match in two browsers, checks who is here, and writes public and private notes.
pub(super) fn meet(first: &Browser, second: &Browser) {
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    try_to_join(first, &invite(&service, "p1"), "Ann <i>");
    wait_for(first, "Ann <i> (p1)");
    try_to_join(second, &invite(&service, "p2"), "Bo");
    wait_for(second, "Bo (p2)");
    second.wait_until("return document.querySelector('.here').textContent === 'Also here: Ann <i>'");
    first.wait_until("return document.querySelector('.here').textContent === 'Also here: Bo'");
    let players =
        "return [...document.querySelectorAll('.players li')].map(({ textContent }) => textContent)";
    assert_eq!(first.run(players), json!(["p1: Ann <i>, you", "p2: Bo, here now"]));
    // VW-80: the reader is addressed as "You", and others by their names.
    give_first(first);
    for (browser, beginning) in [(first, "You took"), (second, "Ann <i> took")] {
        wait_for_entry(browser, 1);
        let sentence = browser.text(".entries [aria-current] .sentence");
        assert!(sentence.starts_with(beginning), "{sentence}");
        assert!(browser.text(".happened").starts_with(beginning));
        assert_eq!(browser.run("return document.querySelectorAll('.entries i, .happened i').length"), 0);
    }
    write(first, "entry", "all", "greedy <b>\nreally");
    write(first, "match", "me", "he bluffs");
    let notes = "return [...document.querySelectorAll('.notes li')].map((one) => one.querySelector('.notetext').textContent)";
    first.wait_until("return document.querySelectorAll('.notes li').length === 2");
    assert_eq!(first.run(notes), json!(["greedy <b>\nreally", "he bluffs"]));
    second.wait_until("return document.querySelectorAll('.notes li').length === 1");
    assert_eq!(second.run(notes), json!(["greedy <b>\nreally"]));
    for browser in [first, second] {
        assert_eq!(browser.text(".notes li bdi"), "Ann <i>");
        assert_eq!(browser.run("return document.querySelectorAll('.notes b').length"), 0);
        assert!(is_seen(browser, ".entries [aria-current] .noted"));
    }
    assert_eq!(second.run("return document.querySelectorAll('.notes li button').length"), 0);
    // Another entry shows only the notes about the match. Typed text stays in its field.
    second.run("document.querySelector('.newnote').open = true");
    second.type_into("#note-text", "half");
    second.click("[aria-label=First]");
    second.wait_until("return document.querySelectorAll('.notes li').length === 0");
    assert_eq!(second.run("return document.querySelector('#note-text').value"), "half");
    second.click("[aria-label=Last]");
    second.wait_until("return document.querySelectorAll('.notes li').length === 1");
    first.run("window.confirm = () => true; document.querySelector('.notes li button').click()");
    first.wait_until("return document.querySelectorAll('.notes li').length === 1");
    second.wait_until("return document.querySelectorAll('.notes li').length === 0");
    for browser in [first, second] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
    second.open(&format!("{}/", service.origin()));
    first.wait_until("return document.querySelector('.here').textContent === ''");
}

/// Writes a note on the page.
fn write(browser: &Browser, about: &str, readers: &str, text: &str) {
    browser.run(&format!(
        "document.querySelector('.newnote').open = true;
         document.querySelector('#note-about').value = {about:?};
         document.querySelector('#note-readers').value = {readers:?};
         document.querySelector('#note-text').value = {text:?};
         document.querySelector('.newnote form').requestSubmit()"
    ));
    browser.wait_until("return document.querySelector('#note-text').value === ''");
}

#[test]
fn vw_83_players_play_again_with_their_seats_changed() {
    let Some(white) = Browser::start_online("a rematch") else { return };
    let Some(black) = Browser::start_online("a rematch") else { return };
    play_again(&white, &black, |browser| check_everywhere(browser, "rematch"));
}

/// Ends a game of chess, calls `look` on the page that offers a rematch, and plays again in both browsers.
pub(super) fn play_again(white: &Browser, black: &Browser, look: impl Fn(&Browser)) {
    let dir = TempDir::new().unwrap();
    let service = serve(&dir);
    create(&service, "duel", "chess", "fen = \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"");
    join(white, &service, "duel", "p1", service.origin());
    join(black, &service, "duel", "p2", service.origin());
    assert!(!is_seen(white, ".again"));
    wait_for_offer(white);
    give(white, "resign");
    // The page asks first.
    white.wait_until("return !!document.querySelector('.menu:popover-open')");
    white.run("[...document.querySelectorAll('.menu button')].find((one) => one.textContent === 'Yes, resign').click()");
    for browser in [white, black] {
        browser.wait_until("return document.querySelector('.again').checkVisibility()");
    }
    assert_eq!(white.text(".again button"), "Rematch");
    look(white);
    white.click(".again button");
    white.wait_until("return location.pathname === '/m/duel-2'");
    white.wait_until(LIVE);
    wait_for(white, "p2");
    black.wait_until("return document.querySelector('.again button').textContent === 'Open the rematch'");
    black.click(".again button");
    black.wait_until("return location.pathname === '/m/duel-2'");
    black.wait_until(LIVE);
    wait_for(black, "p1");
    // The token is not in the address, and stays in this browser.
    assert_eq!(black.run("return location.hash + location.search"), "");
    black.wait_until("return document.querySelector('.turn').textContent.startsWith('Your turn')");
    black.open(&format!("{}/m/duel-2", service.origin()));
    wait_for(black, "p1");
    for browser in [white, black] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

#[test]
fn vw_84_vw_85_players_take_back_together() {
    let Some(white) = Browser::start_online("taking back") else { return };
    let Some(black) = Browser::start_online("taking back") else { return };
    let dir = TempDir::new().unwrap();
    let service = serve(&dir);
    take_back(&white, &black, &service);
    ask_to_take_back(&black);
    wait_for_question(&white, "p2 asks to go back to entry 1.");
    check_everywhere(&white, "takeback-asked");
    check_everywhere(&black, "takeback-asks");
    // On a phone, the question is visible without unfolding.
    size(&white, 360, 740);
    press(&white, ".takeback", "Decline");
    black.wait_until("return document.querySelector('.takeback').hidden");
}

/// Presses a button by its text.
fn press(browser: &Browser, within: &str, text: &str) {
    let button = format!(
        "[...document.querySelectorAll({within:?} + ' button')].find((one) => one.textContent === {text:?})"
    );
    browser.wait_until(&format!("return {button}?.checkVisibility()"));
    browser.run(&format!("{button}.click()"));
}

fn ask_to_take_back(browser: &Browser) {
    press(browser, ".offer", "Ask to take back my last move");
}

fn wait_for_question(browser: &Browser, text: &str) {
    browser
        .wait_until(&format!("return document.querySelector('.takeback > span')?.textContent === {text:?}"));
}

/// Waits until a page has this number of entries.
fn wait_for_length(browser: &Browser, count: u32) {
    browser.wait_until(&format!(
        "return document.querySelector('.status').textContent.startsWith('Entry {count} of {count}')"
    ));
}

/// Plays a few moves of chess and takes some of them back.
pub(super) fn take_back(white: &Browser, black: &Browser, service: &Running) {
    create(service, "duel", "chess", "");
    join(white, service, "duel", "p1", service.origin());
    join(black, service, "duel", "p2", service.origin());
    wait_for_offer(white);
    give(white, "e2e4");
    for browser in [white, black] {
        wait_for_entry(browser, 1);
    }
    // A takeback that is declined.
    ask_to_take_back(white);
    wait_for_question(white, "You asked to go back to the start. Waiting for p2.");
    wait_for_question(black, "p1 asks to go back to the start.");
    press(black, ".takeback", "Decline");
    white.wait_until("return document.querySelector('.takeback').hidden");
    ask_to_take_back(white);
    white.wait_until(
        "return document.querySelector('.offer .note').textContent.includes('that was answered')",
    );
    // A takeback that is agreed: both pages continue from there, and their addresses stay.
    give(black, "e7e5");
    wait_for_entry(white, 2);
    ask_to_take_back(black);
    wait_for_question(white, "p2 asks to go back to entry 1.");
    press(white, ".takeback", "Agree");
    for browser in [white, black] {
        wait_for_length(browser, 1);
        browser.wait_until(LIVE);
        assert_eq!(browser.run("return location.pathname + location.search"), "/m/duel");
        browser.wait_until(
            "return document.body.textContent.includes('Taken back: the match continues after entry 1.')",
        );
    }
    black.wait_until("return document.querySelector('.turn').textContent.startsWith('Your turn')");
    wait_for_offer(black);
    give(black, "d7d5");
    wait_for_entry(white, 2);
    // The old branch is kept, and states where the match continues.
    white.run(
        "[...document.querySelectorAll('summary')].find((one) => one.textContent === 'Branches').click()",
    );
    white.wait_until("return document.querySelector('.branches').textContent.includes('takeback-1 2 entries, from entry 1, the match continues here')");
    white.run(
        "[...document.querySelectorAll('.branches a')].find((one) => one.textContent === 'main').click()",
    );
    wait_for_question(white, "This is branch main. The match continues on takeback-1.");
    white.wait_until("return document.querySelector('.entries').textContent.includes('e5')");
    press(white, ".takeback", "Go there");
    wait_for_length(white, 2);
    white.wait_until(LIVE);
    // A page that is opened later shows the current branch, and so does the home page.
    black.open(&format!("{}/", service.origin()));
    black.wait_until(
        "return document.querySelector('.matches .note')?.textContent.includes('2 entries, waiting for')",
    );
    black.open(&format!("{}/m/duel", service.origin()));
    wait_for_length(black, 2);
    // A takeback to the current entry.
    white.run("location.hash = '#1'");
    press(white, ".offer", "Ask to go back to entry 1");
    wait_for_question(black, "p1 asks to go back to entry 1.");
    press(black, ".takeback", "Agree");
    for browser in [white, black] {
        wait_for_length(browser, 1);
    }
    wait_for_offer(black);
    give(black, "a7a5");
    wait_for_entry(black, 2);
    for browser in [white, black] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}
