//! What a host and a guest can do with a match besides playing (VW-13, VW-15, VW-20, VW-33).

use serde_json::json;

use super::browser::Browser;
use super::live::{LIVE, complaints, create, give_first, join, wait_for_entry};
use turnfold_tests::service::Running;

/// A game of two without dice.
const SETUP: &str = "players = 2\nseed = 7";

/// Gives commands as the host, through the service.
pub(super) fn play(service: &Running, name: &str, host: &str, commands: &[&str]) {
    let body = json!({ "commands": commands }).to_string();
    let played = service.send("POST", &format!("/v1/matches/{name}/branches/main/entries"), host, &body);
    assert_eq!(played.status, 201, "{}", played.body);
}

#[test]
fn vw_20_a_host_starts_a_branch_from_an_entry() {
    let Some(browser) = Browser::start_online("branches") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    play(&service, "maya", &host, &["p1: take 1 1", "p2: take 1 10", "p1: take 1 11"]);
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    browser.wait_until(LIVE);
    browser.run("document.querySelector('.branches').closest('details').open = true");
    browser.type_into("#branch-name", "other");
    // The address that is left contains the entry, however soon it is left.
    browser.run(
        "document.querySelector('[aria-label=Previous]').click(); document.querySelector('#branch-name').closest('form').requestSubmit()",
    );
    browser.wait_until("return location.search === '?branch=other'");
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 2);
    // The host plays for free seats.
    give_first(&browser);
    wait_for_entry(&browser, 3);
    browser.wait_until("return document.querySelectorAll('.branches a').length === 2");
    // Going to a branch is a step in the browser history, and the previous address contains the entry that was shown
    // (VW-14).
    browser.run("history.back()");
    browser.wait_until(
        "return location.search + location.hash === '#2' && document.querySelector('.status').textContent.startsWith('Entry 2 of 3')",
    );
    browser.wait_until(LIVE);
    // The viewer: only the player of a seat has its tools.
    browser.run("const viewer = document.querySelector('[aria-label=\"Viewer\"]'); viewer.value = 'p2'; viewer.dispatchEvent(new Event('change'))");
    browser.wait_until("return document.querySelector('.commands').hidden");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_13_an_invitation_is_good_once_and_a_token_can_be_taken_back() {
    let Some(first) = Browser::start_online("invitations") else { return };
    let Some(second) = Browser::start_online("invitations") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    let invitation = service.grant("maya", r#"{"kind":"invitation","seat":"p1"}"#);
    let link = invitation["link"].as_str().unwrap();
    for browser in [&first, &second] {
        browser.open(link);
        browser.wait_until("return !!document.querySelector('main button.primary')");
    }
    first.click("main button.primary");
    first.wait_until(LIVE);
    second.click("main button.primary");
    second
        .wait_until("return document.querySelector('.note').textContent.includes('used on another device')");
    // A page saved by the player contains what the player saw, and forgetting this device leaves nothing behind.
    let grants = service.send("GET", "/v1/matches/maya/grants", &host, "").json();
    let seat = grants["items"].as_array().unwrap().iter().find(|grant| grant["kind"] == "seat").unwrap();
    let path = format!("/v1/matches/maya/grants/{}", seat["id"].as_str().unwrap());
    assert_eq!(service.send("DELETE", &path, &host, "").status, 204);
    first.wait_until(
        "return document.querySelector('.connection').textContent.includes('taken this access back')",
    );
}

#[test]
fn sv_24_a_spectator_looks_on_and_gives_no_commands() {
    let Some(browser) = Browser::start_online("a spectator") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    play(&service, "maya", &host, &["p1: take 1 1"]);
    let guest = json!({ "kind": "spectator" }).to_string();
    browser.open(service.grant("maya", &guest)["link"].as_str().unwrap());
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 1);
    assert_eq!(browser.run("return document.querySelector('.commands').hidden"), true);
}

#[test]
fn vw_33_whatever_text_a_match_holds_is_shown_as_text() {
    const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\u{202e}&lt;";
    let Some(browser) = Browser::start_online("hostile text") else { return };
    let service = Running::alone();
    let body =
        json!({ "name": "maya", "ruleset": "channel", "setup": SETUP, "dice": "recorded", "title": HOSTILE });
    let made = service.send("POST", "/v1/matches", service.admin(), &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
    let label = json!({ "kind": "seat", "seat": "p1", "label": "<b onclick=1>\u{202e}" }).to_string();
    service.grant("maya", &label);
    let host = made.json()["token"].as_str().unwrap().to_owned();
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    browser.wait_until(LIVE);
    assert_eq!(browser.text("h1"), HOSTILE.replace('\u{202e}', "\\u{202e}"));
    browser.run("document.querySelector('.grants').closest('details').open = true");
    browser.wait_until("return document.querySelectorAll('.grants li').length === 2");
    assert!(browser.text(".grants").contains("<b onclick=1>\\u{202e}"), "{}", browser.text(".grants"));
    super::live::give(&browser, "<img src=x onerror=alert(1)>");
    browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done')");
    assert_eq!(browser.run("return document.querySelectorAll('main img, header img, b[onclick]').length"), 0);
    assert_eq!(complaints(&browser), Vec::<String>::new());
    browser.open(&format!("{}/", service.origin()));
    browser.wait_until("return document.querySelectorAll('.matches a').length === 1");
    assert_eq!(browser.text(".matches a"), HOSTILE.replace('\u{202e}', "\\u{202e}"));
    // A user who already has a token and opens an invitation is asked like any other user.
    join(&browser, &service, "maya", "p2", service.origin());
}
