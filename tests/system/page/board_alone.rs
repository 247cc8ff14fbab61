//! Whole games of every ruleset, played only by clicks on the board and on words (VW-45).

use std::fs;

use serde_json::{Value, json};

use super::browser::Browser;
use super::live::{LIVE, complaints, create_with, entries};
use turnfold_tests::is_long;
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

/// Two setups of each ruleset.
const GAMES: [&str; 10] = [
    "channel/dealt-for-two",
    "channel/dealt-for-four-with-yinyang",
    "cycletap/close-quarters",
    "cycletap/small-board",
    "hexcapture/small-world",
    "hexcapture/generated-world",
    "initiative/small-board",
    "initiative/three-against-five",
    "lifecycle/duel",
    "lifecycle/skirmish",
];

/// The number of games at a time. A browser has at most this many streams, one for each match.
const AT_A_TIME: usize = 3;

/// Returns the number of entries to play, unless the game ends earlier.
fn entries_max() -> usize {
    if is_long() { 60 } else { 30 }
}

/// A script that plays in the page. It chooses a legal command by a seed, and clicks its parts. Each part must be
/// marked as open before the click. `window.played` has the commands and the number of clicks of each kind.
const PLAY: &str = include_str!("play_by_clicks.js");

/// Returns the name of the match of a fixture.
fn name_of(fixture: &str) -> String {
    fixture.replace('/', "-")
}

/// Opens a match in its own window, and starts the play there.
fn begin(browser: &Browser, service: &Running, fixture: &str, seed: u32) -> (String, String) {
    let (ruleset, name) = (fixture.split('/').next().unwrap(), &name_of(fixture));
    let setup = fs::read_to_string(workspace().join(format!("fixtures/{fixture}.toml"))).unwrap();
    let host = create_with(service, name, ruleset, &setup, "seeded");
    let window = browser.open_window();
    browser.open(&format!("{}/m/{name}#t={host}", service.origin()));
    browser.wait_until(LIVE);
    let values = json!({ "name": name, "token": host, "seed": seed, "entries": entries_max() });
    browser.run(&PLAY.replace("VALUES", &values.to_string()));
    (window, host)
}

/// Waits for a game to finish, and requires its entries to be what was clicked.
fn check(browser: &Browser, service: &Running, fixture: &str, window: &str, host: &str) -> Value {
    browser.switch_to(window);
    browser.wait_until("return !!window.played?.end");
    let played = browser.run("return window.played");
    assert_eq!(played["end"], "played", "{fixture}: {played}");
    let name = &name_of(fixture);
    let entries = entries(service, name, host);
    let is_over = service.send("GET", &format!("/v1/matches/{name}"), host, "").json()["now"]["over"] == true;
    assert!(entries.len() >= entries_max() || is_over, "{fixture}: {} entries", entries.len());
    // The service makes rolls when a button is pressed.
    let given = entries.iter().filter(|entry| !entry["command"].as_str().unwrap().starts_with("roll"));
    let given: Vec<_> = given
        .map(|entry| format!("{}: {}", entry["seat"].as_str().unwrap(), entry["command"].as_str().unwrap()))
        .collect();
    assert_eq!(played["given"], json!(given), "{fixture}");
    assert_eq!(browser.run("return document.querySelector('#command').value"), "", "{fixture}: the field");
    assert_eq!(complaints(browser), Vec::<String>::new(), "{fixture}");
    played["clicks"].clone()
}

/// The short form plays 30 entries of one game of each ruleset.
#[test]
fn vw_45_games_of_every_ruleset_are_played_by_the_board_alone() {
    let Some(browser) = Browser::start_online("games by the board alone") else { return };
    let service = Running::alone();
    let games: Vec<&str> = GAMES.into_iter().step_by(if is_long() { 1 } else { 2 }).collect();
    for games in games.chunks(AT_A_TIME) {
        let begun = games.iter().map(|fixture| (*fixture, begin(&browser, &service, fixture, 7)));
        for (fixture, (window, host)) in &begun.collect::<Vec<_>>() {
            let clicks = check(&browser, &service, fixture, window, host);
            let kind = if fixture.starts_with("lifecycle") || fixture.starts_with("channel") {
                "piece"
            } else {
                "place"
            };
            for kind in [kind, "word"] {
                assert!(clicks[kind].as_u64() > Some(5), "{fixture}: {clicks}");
            }
            browser.close_window();
        }
    }
}
