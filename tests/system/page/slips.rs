//! Refused or mistyped input costs nothing (VW-41), and small defects that users met.

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::games::play;
use super::live::{
    LIVE, complaints, create, create_with, entries, give, join, play_as, wait_for_entry, wait_for_offer,
};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

#[test]
fn vw_41_a_wrong_admin_token_opens_nothing_and_loses_no_setup() {
    let Some(browser) = Browser::start_online("a wrong admin token") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    browser.open(&format!("{}/", service.origin()));
    browser.run("document.querySelector('.fold').open = true");
    let note = ".fold form:has(#admin) .note";
    for wrong in [host.as_str(), "tf_a_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        browser.type_into("#admin", wrong);
        browser.click("form:has(#admin) button");
        browser.wait_until(&format!(
            "return document.querySelector('{note}').textContent === 'That is not the admin token.' && document.querySelector('#admin').value === ''"
        ));
        assert_eq!(browser.run("return !!document.querySelector('#setup')"), false);
        browser.run(&format!("document.querySelector('{note}').textContent = ''"));
    }
    browser.type_into("#admin", service.admin());
    browser.click("form:has(#admin) button");
    browser.wait_until("return !!document.querySelector('#setup')");
    browser.type_into("#name", "second");
    browser.run("document.querySelector('#ruleset').value = 'channel'; document.querySelector('#setup').value = 'players = 2\\nseed = 9'");
    // The service was restarted with another admin token.
    browser.run("sessionStorage.setItem('turnfold-admin', 'tf_a_' + 'A'.repeat(43))");
    browser.click(".newmatch .primary");
    browser.wait_until(&format!(
        "return document.querySelector('{note}').textContent.startsWith('The admin token is no longer valid')"
    ));
    assert_eq!(browser.run("return document.querySelector('#setup').value"), "players = 2\nseed = 9");
    browser.type_into("#admin", service.admin());
    browser.click("form:has(#admin) button");
    browser.wait_until("return document.querySelector('form:has(#admin)').hidden");
    browser.click(".newmatch .primary");
    browser.wait_until(LIVE);
    assert_eq!(browser.run("return location.pathname"), "/m/second");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_41_a_refusal_goes_when_the_game_goes_on() {
    let Some(browser) = Browser::start_online("an old refusal") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p2", service.origin());
    give(&browser, "take 1 1");
    browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done: ')");
    assert_eq!(browser.run("return document.querySelector('#command').value"), "take 1 1");
    play(&service, "maya", &host, &[("p1".into(), "take 1 1".into())]);
    browser.wait_until("return document.querySelector('.answer').textContent === ''");
    // VW-15: the search has a button that submits it.
    browser.type_into("#search", "take");
    browser.click(".search [type=submit]");
    browser
        .wait_until("return document.querySelector('.tools .note').textContent.startsWith('Match 1 of 1')");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_18_a_host_of_seeded_dice_is_offered_roll_and_shown_no_values() {
    let Some(browser) = Browser::start_online("seeded dice") else { return };
    let service = Running::alone();
    let setup = fs::read_to_string(workspace().join("fixtures/initiative/small-board.toml")).unwrap();
    let host = create_with(&service, "seeded", "initiative", &setup, "seeded");
    browser.open(&format!("{}/m/seeded#t={host}", service.origin()));
    browser.wait_until("return document.querySelector('.turn').textContent === 'Your turn: roll the dice' && !document.querySelector('.legal[aria-busy]')");
    assert_eq!(browser.run("return document.querySelectorAll('.legal button').length"), 0);
    assert_eq!(browser.run("return document.querySelector('.giving [type=button]').checkVisibility()"), true);
    assert_eq!(browser.text(".giving .primary"), "Roll", "what is due stands out, and nothing else");
    for values in ["1 1 1 1", "6 6 6 6"] {
        give(&browser, &format!("host: roll {values}"));
        browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done: ')");
        let text = browser.text(".answer");
        assert!(text.ends_with("the seeded dice give another roll, and roll by themselves"), "{text}");
        browser.run("document.querySelector('.answer').textContent = ''");
    }
    // VW-16: a blocked hex is marked once, above its coordinates.
    let blocked = "return [...document.querySelectorAll('.cell.blocked')].map((cell) => [...cell.querySelectorAll('text')].map(({ textContent }) => textContent).filter((text) => text === '##').length)";
    let counts = browser.run(blocked);
    assert!(!counts.as_array().unwrap().is_empty());
    assert!(counts.as_array().unwrap().iter().all(|count| *count == json!(1)), "{counts}");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// A script that answers commands containing `zz` like a service whose module fails, and counts the requests.
const FAILING_MODULE: &str = "
    window.given = [];
    const ask = window.fetch;
    window.fetch = async (path, options) => {
      if (options?.method !== 'POST' || !String(path).includes('/entries')) return ask(path, options);
      window.given.push(JSON.parse(options.body).commands[0]);
      if (window.given.at(-1) !== 'zz') return ask(path, options);
      const problem = { type: 'urn:turnfold:problem:module', title: '', status: 503, detail: 'the module ran out of fuel' };
      return Response.json(problem, { status: 503 });
    };";

#[test]
fn vw_18_what_a_module_fails_on_is_not_sent_again() {
    let Some(browser) = Browser::start_online("a failing module") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p1", service.origin());
    wait_for_offer(&browser);
    browser.run(FAILING_MODULE);
    give(&browser, "zz");
    browser.wait_until(
        "return document.querySelector('.answer').textContent === 'Not done: the module ran out of fuel'",
    );
    // The page continues to work.
    give(&browser, "take 1 1");
    wait_for_entry(&browser, 1);
    assert_eq!(browser.run("return window.given"), json!(["zz", "take 1 1"]));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// A script that delays the frames of new entries.
const SLOW_FRAMES: &str = "
    const ask = window.fetch;
    window.held = new Promise((done) => (window.release = done));
    window.fetch = async (path, options) => {
      if (String(path).includes('/frames')) await window.held;
      return ask(path, options);
    };";

#[test]
fn vw_18_a_command_counts_for_the_board_that_was_shown() {
    let Some(browser) = Browser::start_online("an old board") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p1", service.origin());
    wait_for_offer(&browser);
    browser.run(SLOW_FRAMES);
    // Both seats move elsewhere. The page knows about it but still shows the setup.
    play_as(&service, "maya", "p1", "take 1 1");
    play_as(&service, "maya", "p2", "take 1 10");
    browser.wait_until("return performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/m/maya') || name.endsWith('/matches/maya')).length > 1");
    give(&browser, "take 1 4");
    browser.wait_until(
        "return document.querySelector('.answer').textContent.startsWith('The game has moved on')",
    );
    assert_eq!(entries(&service, "maya", &host).len(), 2);
    browser.run("window.release()");
    wait_for_entry(&browser, 2);
    // At an earlier entry nothing is sent, whether typed or clicked.
    browser.click("[aria-label=First]");
    give(&browser, "take 1 4");
    browser.wait_until(
        "return document.querySelector('.answer').textContent === 'Go to the last entry to play.'",
    );
    assert_eq!(entries(&service, "maya", &host).len(), 2);
    browser.click("[aria-label=Last]");
    wait_for_offer(&browser);
    browser.click(".giving button:not([type])");
    wait_for_entry(&browser, 3);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_42_a_page_without_a_network_is_not_live() {
    let Some(browser) = Browser::start_online("no network") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p1", service.origin());
    browser.command("Network.enable", &json!({}));
    let network = |offline: bool| {
        let conditions =
            json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        browser.command("Network.emulateNetworkConditions", &conditions);
    };
    network(true);
    browser.wait_until("return document.querySelector('.connection').textContent.includes('Trying again')");
    assert_eq!(browser.run(LIVE), false);
    network(false);
    browser.wait_until(LIVE);
}
