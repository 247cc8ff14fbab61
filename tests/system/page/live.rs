//! The pages of a service: people who play one match, each in their own browser (VW-13 to VW-23, VW-30).

use std::fs;

use serde_json::{Value, json};

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::gateway::Gateway;
use super::installed;
use super::looks::media;
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

/// The condition that the stream of a page is open.
pub(crate) const LIVE: &str = "return !!document.querySelector('.connection.live')";

/// The buttons for legal commands at the current entry of a page.
pub(crate) const OFFERED: &str = ".legal:not([aria-busy]) button";

/// Creates a match with recorded dice, and returns the token of its host.
pub(crate) fn create(service: &Running, name: &str, ruleset: &str, setup: &str) -> String {
    create_with(service, name, ruleset, setup, "recorded")
}

/// Creates a match, and returns the token of its host.
pub(crate) fn create_with(service: &Running, name: &str, ruleset: &str, setup: &str, dice: &str) -> String {
    let body =
        json!({ "name": name, "ruleset": ruleset, "setup": setup, "dice": dice, "title": "Round <1>" });
    let made = service.send("POST", "/v1/matches", service.admin(), &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
    made.json()["token"].as_str().unwrap().to_owned()
}

/// Accepts an invitation in a browser that reaches the service at an origin.
pub(crate) fn join(browser: &Browser, service: &Running, name: &str, seat: &str, origin: &str) {
    let grant = service.grant(name, &json!({ "kind": "invitation", "seat": seat }).to_string());
    browser.open(&grant["link"].as_str().unwrap().replace(service.origin(), origin));
    browser.wait_until("return !!document.querySelector('main button.primary')");
    assert_eq!(browser.run("return location.hash"), "", "the invitation is out of the address");
    browser.click("main button.primary");
    browser.wait_until(LIVE);
}

/// Gives a command with the field.
pub(crate) fn give(browser: &Browser, command: &str) {
    browser.run("document.querySelector('#command').value = ''");
    browser.type_into("#command", command);
    browser.click(".giving button:not([type])");
}

/// Waits until a page offers commands, and gives a command by clicking the first open part until it is complete.
pub(crate) fn give_first(browser: &Browser) {
    wait_for_offer(browser);
    for _ in 0..5 {
        browser.click(".picture .reach[role=button]");
        if browser.run("return !document.querySelector('.legal .back')") == true {
            return;
        }
    }
    panic!("five pieces make no command: {}", browser.text(".hint"));
}

/// Waits until a page offers commands for its current entry.
pub(crate) fn wait_for_offer(browser: &Browser) {
    browser.wait_until(&format!("return !!document.querySelector('{OFFERED}')"));
}

/// Waits until a page shows this entry as the last.
pub(crate) fn wait_for_entry(browser: &Browser, number: usize) {
    browser
        .wait_until(&format!("return document.querySelector('.status strong')?.textContent === '{number}'"));
}

/// Returns the messages of the console, except those about failed or refused requests, which these tests cause.
pub(crate) fn complaints(browser: &Browser) -> Vec<String> {
    // Firefox reports a stream that breaks off when a page is left.
    let of_requests = ["Failed to load resource", "net::ERR_", "Error in input stream"];
    let all = browser.console().into_iter();
    all.filter(|line| !of_requests.iter().any(|expected| line.contains(expected))).collect()
}

/// Plays as the player of a seat on another device.
pub(crate) fn play_as(service: &Running, name: &str, seat: &str, command: &str) {
    let grant = service.grant(name, &json!({ "kind": "seat", "seat": seat }).to_string());
    let path = format!("/v1/matches/{name}/branches/main/entries");
    let body = json!({ "commands": [command] }).to_string();
    let played = service.send("POST", &path, grant["token"].as_str().unwrap(), &body);
    assert_eq!(played.status, 201, "{}", played.body);
}

/// Returns the entries of a match as its host reads them.
pub(crate) fn entries(service: &Running, name: &str, host: &str) -> Vec<Value> {
    let read = service.send("GET", &format!("/v1/matches/{name}/branches/main/entries"), host, "");
    read.json()["items"].as_array().unwrap().clone()
}

#[test]
fn vw_30_two_people_play_in_two_browsers_through_the_death_of_the_service() {
    let Some(first) = Browser::start_online("two people in two browsers") else { return };
    let Some(second) = Browser::start_online("two people in two browsers") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    // The gateway keeps its address, whatever port the service has.
    let found = Gateway::before(service.origin());
    join(&first, &service, "maya", "p1", found.origin());
    join(&second, &service, "maya", "p2", found.origin());
    assert_eq!(first.text("h1"), "Round <1>");
    for (number, player) in (1..=4).zip([&first, &second].into_iter().cycle()) {
        give_first(player);
        for browser in [&first, &second] {
            wait_for_entry(browser, number);
        }
    }
    // VW-18: a refusal is shown, and the command stays in the field.
    give(&second, "take 1 1");
    second.wait_until("return document.querySelector('.answer').textContent.includes('another player')");
    assert_eq!(second.run("return document.querySelector('#command').value"), "take 1 1");
    // If the service dies during a command, the page sends the command again with its key until there is an answer.
    wait_for_offer(&first);
    drop(service);
    first.wait_until("return document.querySelector('.connection').textContent.includes('Trying again')");
    give_first(&first);
    first.wait_until("return document.querySelector('.answer').textContent.includes('Sending it again')");
    let service = Running::start(&sandbox);
    found.reach(service.origin());
    for browser in [&first, &second] {
        wait_for_entry(browser, 5);
    }
    for browser in [&first, &second] {
        browser.wait_until(LIVE);
    }
    assert_eq!(entries(&service, "maya", &host).len(), 5, "nothing is lost, nothing is there twice");
    // VW-19: a viewer at an earlier entry stays there, and is told about new entries.
    first.click("[aria-label=First]");
    give_first(&second);
    wait_for_entry(&second, 6);
    first.wait_until("return document.querySelector('.fresh').textContent === '1 new'");
    assert_eq!(first.text(".status strong"), "0");
    first.click(".fresh");
    wait_for_entry(&first, 6);
    for browser in [&first, &second] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

#[test]
fn vw_32_axe_finds_no_violation_in_the_pages_of_a_service() {
    let Some(axe) = installed("axe-core on the pages of a service", "axe-core/axe.min.js") else { return };
    let Some(browser) = Browser::start_online("axe-core on the pages of a service") else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let service = Running::alone();
    let host = create(&service, "hexes", "hexcapture", &fixture());
    let check = |what: &str| {
        media(&browser, "", "light");
        browser.run(&axe);
        assert_eq!(browser.run_until_done(FIND), json!([]), "{what}");
        media(&browser, "", "dark");
        assert_eq!(browser.run_until_done(FIND_CONTRAST), json!([]), "{what}, dark");
    };
    let grant = service.grant("hexes", r#"{"kind":"invitation","seat":"p1"}"#);
    browser.open(grant["link"].as_str().unwrap());
    browser.wait_until("return !!document.querySelector('main button.primary')");
    check("an invitation");
    browser.open(&format!("{}/m/hexes#t={host}", service.origin()));
    browser.run("localStorage.clear()");
    browser.open(&format!("{}/m/hexes#t={host}", service.origin()));
    browser.wait_until(LIVE);
    check("a match, as host");
    for fold in 0..6 {
        browser.run(&format!("document.querySelectorAll('.matchtools details')[{fold}].open = true"));
        browser.wait_until(
            "return document.querySelectorAll('details[open] :is(.who, .grants li, .branches li, .files, .rulebook h2)').length > 0",
        );
        check(&format!("its tools, {fold}"));
    }
    browser.command(
        "Emulation.setDeviceMetricsOverride",
        &json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true }),
    );
    check("a phone");
    assert_eq!(browser.run("return document.documentElement.scrollWidth"), 320, "no sideways scrolling");
    browser.open(&format!("{}/", service.origin()));
    browser.wait_until("return document.querySelectorAll('.matches a').length === 1");
    check("the home page");
    browser.run(&format!("sessionStorage.setItem('turnfold-admin', '{}')", service.admin()));
    browser.open(&format!("{}/", service.origin()));
    browser.run("document.querySelector('.fold').open = true");
    browser.wait_until("return !!document.querySelector('#setup')");
    check("a new match");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

fn fixture() -> String {
    fs::read_to_string(workspace().join("fixtures/hexcapture/small-world.toml")).unwrap()
}
