//! Due rolls on the page of a player (VW-18).

use std::fs;

use super::browser::Browser;
use super::live::{complaints, create_with, join};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const BUTTON: &str = "return document.querySelector('.hint').textContent === 'A roll is due.' \
     && [...document.querySelectorAll('.giving button')].some((one) => one.textContent === 'Roll' && one.checkVisibility())";

/// Opens the page of a player in a match that begins with a roll.
fn open(browser: &Browser, service: &Running, name: &str, dice: &str) -> String {
    let setup = fs::read_to_string(workspace().join("fixtures/initiative/small-board.toml")).unwrap();
    let host = create_with(service, name, "initiative", &setup, dice);
    join(browser, service, name, "p1", service.origin());
    browser.wait_until(BUTTON);
    host
}

#[test]
fn vw_18_a_due_roll_has_a_button() {
    let Some(browser) = Browser::start_online("a due roll") else { return };
    let service = Running::alone();
    let host = open(&browser, &service, "seeded", "seeded");
    browser.click(".giving [type=button]");
    // A tie is rolled again at once, so there may be several entries.
    browser.wait_until("return Number(document.querySelector('.status strong')?.textContent) > 0");
    browser.wait_until(&format!("return !(() => {{ {BUTTON} }})()"));
    let read = service.send("GET", "/v1/matches/seeded/branches/main/entries", &host, "").json();
    let command = read["items"][0]["command"].as_str().unwrap();
    assert!(command.starts_with("roll "), "{command}");
    // Recorded dice are rolled on a table at the host, so no one else can roll them.
    let host = open(&browser, &service, "recorded", "recorded");
    browser.click(".giving [type=button]");
    browser.wait_until(
        "return document.querySelector('.answer').textContent === 'The host rolls the dice of this match.'",
    );
    let read = service.send("GET", "/v1/matches/recorded/branches/main/entries", &host, "").json();
    assert_eq!(read["items"].as_array().unwrap().len(), 0);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
