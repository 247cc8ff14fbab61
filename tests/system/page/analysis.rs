//! Trials from an entry, comparisons of branches, and the tools of the stepper on the page (VW-56 to VW-58).

use std::fs;

use serde_json::{Value, json};

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::live::{LIVE, complaints, create, entries, give, wait_for_entry, wait_for_offer};
use super::looks::{OVERFLOWING, SMALL, media, size};
use super::tools::play;
use super::{installed, page_of};
use turnfold_tests::fixture;
use turnfold_tests::secrets::CASES;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// Clicks a button of the tools by its text.
fn press(browser: &Browser, text: &str) {
    browser.run(&format!(
        "[...document.querySelectorAll('header button, .dock button')].find((one) => one.textContent === {text:?}).click()"
    ));
}

/// Requires that axe-core finds nothing in light and dark mode, if it is installed.
fn check_accessible(browser: &Browser, what: &str) {
    let Some(axe) = installed("axe-core on trials and comparisons", "axe-core/axe.min.js") else { return };
    media(browser, "", "light");
    browser.run(&fs::read_to_string(axe).unwrap());
    assert_eq!(browser.run_until_done(FIND), json!([]), "{what}");
    media(browser, "", "dark");
    assert_eq!(browser.run_until_done(FIND_CONTRAST), json!([]), "{what}, dark");
    media(browser, "", "light");
}

/// Begins a trial at the current entry of a page.
fn begin(browser: &Browser) {
    press(browser, "Try from here");
    browser.wait_until("return document.querySelector('.trying').checkVisibility()");
    wait_for_offer(browser);
}

/// Tries a command, and waits until this number of entries is shown.
fn try_command(browser: &Browser, command: &str, number: usize) {
    give(browser, command);
    wait_for_entry(browser, number);
    wait_for_offer(browser);
}

fn tried(browser: &Browser) -> Value {
    browser.run("return [...document.querySelectorAll('.tree button')].map(({ textContent, ariaCurrent }) => textContent + (ariaCurrent ? ' *' : ''))")
}

#[test]
fn vw_56_commands_are_tried_from_an_entry_and_recorded_nowhere() {
    let Some(browser) = Browser::start_online("trials") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    play(&service, "maya", &host, &["p1: take 1 1", "p2: take 1 10"]);
    let seat = service.grant("maya", r#"{"kind":"seat","seat":"p1"}"#);
    browser.open(seat["link"].as_str().unwrap());
    browser.wait_until(LIVE);
    browser.click("[aria-label=Previous]");
    wait_for_entry(&browser, 1);
    begin(&browser);
    assert!(browser.text(".trying h2").starts_with("Trial from entry 1: nothing is recorded"));
    assert_eq!(browser.text(".turn"), "Trial: p2 to play");
    // Commands of every seat, also by clicks; then another command from the same place.
    try_command(&browser, "p2: meditate blue", 2);
    browser.click(".picture .reach[role=button]");
    press(&browser, "Undo a word");
    press(&browser, "Undo");
    wait_for_entry(&browser, 1);
    wait_for_offer(&browser);
    try_command(&browser, "p2: take 1 10", 2);
    try_command(&browser, "p1: meditate red", 3);
    assert_eq!(tried(&browser), json!(["p2: meditate blue", "p2: take 1 10", "p1: meditate red *"]));
    browser.click(".tree li:first-child button");
    wait_for_entry(&browser, 2);
    browser.wait_until("return document.querySelector('.tree button').ariaCurrent === 'step'");
    // A refused command changes nothing.
    give(&browser, "p2: take 1 1");
    browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done: ')");
    check_accessible(&browser, "a trial");
    size(&browser, 320, 640);
    assert_eq!(browser.run(OVERFLOWING), json!([]));
    assert_eq!(browser.run(SMALL), json!([]));
    // The trial is there when this browser tries from the same entry again, and the address names the entry.
    press(&browser, "Leave");
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 1);
    assert_eq!(browser.run("return location.hash"), "#1");
    assert_eq!(browser.run("return document.querySelector('.trying').checkVisibility()"), false);
    browser.open(&format!("{}/m/maya#1", service.origin()));
    browser.wait_until(LIVE);
    begin(&browser);
    assert_eq!(tried(&browser), json!(["p2: meditate blue", "p2: take 1 10", "p1: meditate red"]));
    press(&browser, "Forget it");
    browser.wait_until("return document.querySelectorAll('.tree button').length === 0");
    assert_eq!(browser.run("return localStorage.getItem('turnfold-tried:maya')"), "{}");
    assert_eq!(entries(&service, "maya", &host).len(), 2, "nothing is recorded");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Whatever p1 plans in secret, p2 sees the same in a trial.
#[test]
fn vw_56_a_trial_shows_no_secret() {
    let Some(browser) = Browser::start_online("trials and secrets") else { return };
    let case = &CASES[0];
    let service = Running::alone();
    let shown = [1, 3].map(|secret| {
        let name = format!("secret-{secret}");
        let host = create(&service, &name, case.ruleset, &fixture("cycletap", "ford"));
        for commands in [case.secrets[secret], case.end, case.after] {
            play(&service, &name, &host, commands);
        }
        let seat = service.grant(&name, &json!({ "kind": "seat", "seat": case.viewer }).to_string());
        browser.open(seat["link"].as_str().unwrap());
        browser.wait_until(LIVE);
        begin(&browser);
        let mut shown = Vec::new();
        for command in ["p2: tap -1,-1", "p2: switch", "host: resolve"] {
            give(&browser, command);
            browser.wait_until("const tried = [...document.querySelectorAll('.tree button')].at(-1); return tried?.ariaCurrent === 'step' && document.querySelector('#command').value === ''");
            wait_for_offer(&browser);
            shown.push(browser.run("return document.querySelector('main').innerText"));
        }
        shown
    });
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn vw_57_two_branches_stand_next_to_each_other() {
    let Some(browser) = Browser::start_online("comparisons") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    play(&service, "maya", &host, &["p1: take 1 1", "p2: take 1 10", "p1: meditate red"]);
    let branch = json!({ "name": "other", "from": "main:1" }).to_string();
    assert_eq!(service.send("POST", "/v1/matches/maya/branches", &host, &branch).status, 201);
    let path = "/v1/matches/maya/branches/other/entries";
    let body = r#"{"commands":["p2: meditate blue"]}"#;
    assert_eq!(service.send("POST", path, &host, body).status, 201);
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    browser.wait_until(LIVE);
    browser.wait_until("return document.querySelectorAll('#other-branch option').length === 1");
    browser.run("document.querySelector('#other-branch').form.requestSubmit()");
    browser.wait_until("return document.querySelectorAll('.side .picture > *').length > 1");
    assert_eq!(browser.text(".compared"), "The branches first differ at entry 2.");
    assert_eq!(browser.text("h1"), "Round <1>");
    assert_eq!(browser.run("return document.title"), "main and other – Round <1>");
    let current = "return [...document.querySelectorAll('.current')].map(({ textContent }) => textContent)";
    let now = |expected: [&str; 2]| {
        let shown = browser.run(current);
        let shown = shown.as_array().unwrap().iter().map(|one| one.as_str().unwrap());
        assert!(shown.zip(expected).all(|(shown, expected)| shown.starts_with(expected)), "{expected:?}");
    };
    now(["2 of 3 p2 take 1 10", "2 of 2 p2 meditate blue"]);
    let parting = "return [...document.querySelectorAll('.entries .parting')].map(({ textContent }) => textContent.includes('parts') && textContent.includes('p2'))";
    assert_eq!(browser.run(parting), json!([true, true]), "marked in both logs");
    // Stepping moves both branches, each up to its end, and the address opens the same view.
    browser.press('\u{e014}');
    now(["3 of 3 p1 meditate red", "2 of 2 p2 meditate blue"]);
    browser.click("[aria-label=First]");
    now(["0 of 3 setup", "0 of 2 setup"]);
    browser.click("[aria-label=Next]");
    browser.wait_until("return location.search + location.hash === '?branch=main&compare=other#1'");
    browser.run("location.reload()");
    browser.wait_until("return document.querySelector('.current strong')?.textContent === '1'");
    check_accessible(&browser, "a comparison");
    size(&browser, 320, 640);
    assert_eq!(browser.run(OVERFLOWING), json!([]));
    assert_eq!(browser.run(SMALL), json!([]));
    // The error for a missing branch names it, and access is requested as on other pages.
    browser.open(&format!("{}/m/maya?branch=main&compare=nowhere", service.origin()));
    browser.wait_until("return !!document.querySelector('.noaccess [role=alert]')");
    check_accessible(&browser, "no access");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_58_the_tools_of_the_stepper_are_in_the_page() {
    let Some(browser) = Browser::start_online("tools of the stepper") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    play(&service, "maya", &host, &["p1: take 1 1", "p2: take 1 10", "p1: meditate red"]);
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    browser.wait_until(LIVE);
    browser.click("[aria-label=First]");
    browser.run("document.querySelector('#condition').closest('details').open = true");
    press(&browser, "Copy revision");
    let noted = |text: &str| {
        browser.wait_until(&format!(
            "return [...document.querySelectorAll('.matchtools .note')].some(({{ textContent }}) => textContent.includes({text:?}))"
        ));
    };
    noted("maya@main:0");
    press(&browser, "View as JSON");
    browser.wait_until("return document.querySelector('.json').checkVisibility()");
    let view: Value = serde_json::from_str(&browser.text(".json")).unwrap();
    assert_eq!((&view["ruleset"], &view["active"]), (&json!("channel"), &json!("p1")));
    check_accessible(&browser, "the view as JSON");
    browser.type_into("#condition", "/active == p2");
    browser.run("document.querySelector('#condition').form.requestSubmit()");
    wait_for_entry(&browser, 1);
    browser.run("document.querySelector('#condition').form.requestSubmit()");
    wait_for_entry(&browser, 3);
    browser.run("document.querySelector('#condition').form.requestSubmit()");
    noted("Entry 1, on from the start.");
    wait_for_entry(&browser, 1);
    browser.run("document.querySelector('#condition').value = '/active == p9'; document.querySelector('#condition').form.requestSubmit()");
    noted("No entry makes it true.");
    browser.click("[aria-label=First]");
    browser.run("document.querySelector('#condition').value = '/nowhere == 1'; document.querySelector('#condition').form.requestSubmit()");
    noted("`/nowhere` is nowhere in the view");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// This also works in the page of a file.
#[test]
fn vw_58_a_changed_field_leads_to_its_other_changes() {
    let Some(browser) = Browser::start("changes of a field") else { return };
    browser.show(&page_of("initiative/one-against-many.tfl", "host"), "");
    browser.press('\u{e011}');
    browser.press('\u{e014}');
    browser.click(".rawline summary");
    browser.wait_until("return document.body.classList.contains('raw')");
    let entries = "
        const { frames } = JSON.parse(document.getElementById('turnfold').textContent).frames;
        const path = document.querySelector('.steps button').value;
        return [path, frames.flatMap(({ fields }, index) => fields.some((field) => field.path === path || field.path.startsWith(path + '/') || path.startsWith(field.path + '/')) ? [index + 1] : [])]";
    let found = browser.run(entries);
    let path = found[0].as_str().unwrap();
    let changed: Vec<usize> = serde_json::from_value(found[1].clone()).unwrap();
    assert!(changed.len() > 2, "{path}: {changed:?}");
    let step = |name: &str| browser.click(&format!("[aria-label={:?}]", format!("{name} change of {path}")));
    for number in &changed[1..] {
        step("Next");
        assert_eq!(browser.text(".status strong"), number.to_string());
    }
    step("Next");
    assert_eq!(browser.text(".tools .note"), format!("{path} has no later change."));
    step("Previous");
    assert_eq!(browser.text(".status strong"), changed[changed.len() - 2].to_string());
    browser.check_quiet();
}
