//! The line that states whose turn it is (VW-39), and calls to a player who looks elsewhere (VW-40).

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::games::{Golden, play};
use super::live::{LIVE, complaints, create, give_first, join};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// Waits until the line with the turn is this text.
fn wait_for_turn(browser: &Browser, text: &str) {
    browser.wait_until(&format!(
        "return document.querySelector('.turn[role=status]')?.textContent === {text:?}"
    ));
}

fn open_as_guest(browser: &Browser, service: &Running, name: &str) {
    let guest = service.grant(name, r#"{"kind":"spectator"}"#);
    browser.open(guest["link"].as_str().unwrap());
}

#[test]
fn vw_39_the_page_shows_whose_turn_it_is() {
    let Some(first) = Browser::start_online("whose turn it is") else { return };
    let Some(second) = Browser::start_online("whose turn it is") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    join(&first, &service, "maya", "p1", service.origin());
    join(&second, &service, "maya", "p2", service.origin());
    first.wait_until("return document.querySelector('.turn').textContent.startsWith('Your turn: take')");
    wait_for_turn(&second, "Waiting for p1");
    assert_eq!(second.text(".access summary"), "You are: p2");
    give_first(&first);
    wait_for_turn(&first, "Waiting for p2");
    second.wait_until("return document.querySelector('.turn').textContent.startsWith('Your turn: ')");
    // The line claims nothing until the match is loaded.
    second.command("Network.enable", &json!({}));
    let slow = |latency: u32| json!({ "offline": false, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1 });
    second.command("Network.emulateNetworkConditions", &slow(700));
    open_as_guest(&second, &service, "maya");
    wait_for_turn(&second, "Loading…");
    second.command("Network.emulateNetworkConditions", &slow(0));
    wait_for_turn(&second, "Waiting for p2");
    // The host gives the commands of free seats. On another branch it is another seat's turn.
    let branches = json!({ "name": "again", "from": "main:0" }).to_string();
    assert_eq!(service.send("POST", "/v1/matches/maya/branches", &host, &branches).status, 201);
    second.open(&format!("{}/m/maya?branch=again", service.origin()));
    wait_for_turn(&second, "Waiting for p1");
    assert_eq!(complaints(&first), Vec::<String>::new());
}

#[test]
fn vw_39_a_match_waits_for_its_host_or_is_over() {
    let Some(browser) = Browser::start_online("hosts and ends") else { return };
    let service = Running::alone();
    let setup = fs::read_to_string(workspace().join("fixtures/initiative/small-board.toml")).unwrap();
    let host = create(&service, "dice", "initiative", &setup);
    join(&browser, &service, "dice", "p1", service.origin());
    wait_for_turn(&browser, "Waiting for the host");
    browser.open(&format!("{}/m/dice#t={host}", service.origin()));
    wait_for_turn(&browser, "Your turn: roll the dice");
    let golden = Golden::read("cycletap/the-last-unit-lost.tfl");
    let host = create(&service, "won", &golden.ruleset, &golden.setup);
    play(&service, "won", &host, &golden.commands);
    let shown = service.send("GET", "/v1/matches/won", &host, "").json();
    assert_eq!(shown["now"]["over"], true, "{shown}");
    assert_eq!(shown["now"]["turn"], json!([]));
    open_as_guest(&browser, &service, "won");
    wait_for_turn(&browser, &format!("Over: {}", winner(&shown["now"]["result"])));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Returns the text of a result without scores.
fn winner(result: &serde_json::Value) -> String {
    format!("{} won", result["winners"][0].as_str().unwrap())
}

/// A script that records notifications and sounds instead of playing them.
const RECORD_CALLS: &str = "
    window.calls = [];
    window.Notification = class {
      static permission = 'granted';
      static requestPermission = async () => 'granted';
      constructor(title, { body }) { calls.push(`${title}: ${body}`); }
    };
    window.AudioContext = class {
      currentTime = 0;
      resume = async () => {};
      createGain = () => ({ gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (next) => next });
      createOscillator = () => ({ frequency: {}, connect: (next) => next, start: () => calls.push('tone'), stop() {} });
    };";

/// Makes a page believe that it is hidden or visible.
fn hide(browser: &Browser, state: &str) {
    browser.run(&format!("Object.defineProperty(document, 'visibilityState', {{ configurable: true, get: () => {state:?} }}); calls.length = 0"));
}

#[test]
fn vw_40_a_player_who_looks_elsewhere_is_called_as_was_asked_for() {
    let Some(browser) = Browser::start_online("calls") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    join(&browser, &service, "maya", "p2", service.origin());
    wait_for_turn(&browser, "Waiting for p1");
    assert_eq!(browser.run("return document.title"), "Round <1>");
    let icon = "return document.querySelector('link[rel=icon]').getAttribute('href')";
    assert_eq!(browser.run(icon), "/assets/icon.svg");
    browser.run(RECORD_CALLS);
    let mut numbers = 1..;
    // Both seats play, p1 through the service and p2 on the page, until it is p2's turn again.
    let mut come_round = || {
        let number = numbers.next().unwrap();
        play(&service, "maya", &host, &[("p1".into(), format!("take 1 {number}"))]);
        browser.wait_until("return document.title === '● Your turn – Round <1>'");
        assert_eq!(browser.run(icon), "/assets/icon-turn.svg");
        let calls = browser.run("return new Promise((done) => setTimeout(() => done(calls), 50))");
        give_first(&browser);
        wait_for_turn(&browser, "Waiting for p1");
        calls
    };
    hide(&browser, "hidden");
    assert_eq!(come_round(), json!([]), "nothing was asked for");
    browser.run("document.querySelector('.access').open = true");
    browser.click("#call-sound");
    browser.click("#call-notification");
    browser.wait_until(
        "return localStorage.getItem('turnfold-calls') === '{\"sound\":true,\"notification\":true}'",
    );
    hide(&browser, "visible");
    assert_eq!(come_round(), json!([]), "the page is in sight");
    hide(&browser, "hidden");
    assert_eq!(come_round(), json!(["Your turn: Round <1>", "tone", "tone"]));
    // If the browser does not permit notifications, a message is shown and the box is unchecked again.
    browser.run("Notification.requestPermission = async () => 'denied'");
    browser.click("#call-notification");
    browser.click("#call-notification");
    browser
        .wait_until("return [...document.querySelectorAll('.access .note')].some((note) => note.textContent.includes('does not allow'))");
    assert_eq!(browser.run("return document.querySelector('#call-notification').checked"), false);
    browser.wait_until(LIVE);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_64_the_home_page_lists_first_the_matches_that_wait_for_me() {
    let Some(browser) = Browser::start_online("matches that wait for me") else { return };
    let service = Running::alone();
    for name in ["alpha", "beta", "gamma"] {
        create(&service, name, "channel", SETUP);
    }
    let golden = Golden::read("cycletap/the-last-unit-lost.tfl");
    let host = create(&service, "aaa", &golden.ruleset, &golden.setup);
    play(&service, "aaa", &host, &golden.commands);
    join(&browser, &service, "alpha", "p2", service.origin());
    join(&browser, &service, "gamma", "p1", service.origin());
    join(&browser, &service, "beta", "p1", service.origin());
    open_as_guest(&browser, &service, "aaa");
    browser.wait_until(LIVE);
    browser.open(&format!("{}/", service.origin()));
    let order =
        "return [...document.querySelectorAll('.matches a')].map((one) => one.pathname.slice(3)).join()";
    browser.wait_until(&format!("return (() => {{ {order} }})() === 'beta,gamma,alpha,aaa'"));
    assert_eq!(browser.run("return document.title"), "(2) turnfold");
    let icon = "return document.querySelector('link[rel=icon]').getAttribute('href')";
    assert_eq!(browser.run(icon), "/assets/icon-turn.svg");
    // While the page is hidden, a new turn is announced once, as requested.
    browser.run(RECORD_CALLS);
    browser.run(
        "document.querySelector('#call-sound').click(); document.querySelector('#call-notification').click()",
    );
    browser.wait_until(
        "return localStorage.getItem('turnfold-calls') === '{\"sound\":true,\"notification\":true}'",
    );
    hide(&browser, "hidden");
    super::live::play_as(&service, "alpha", "p1", "take 1 1");
    browser.run("document.dispatchEvent(new Event('visibilitychange'))");
    browser.wait_until("return document.title === '(3) turnfold' && calls.length === 3");
    browser.run("document.dispatchEvent(new Event('visibilitychange'))");
    browser.wait_until(&format!("return (() => {{ {order} }})() === 'alpha,beta,gamma,aaa'"));
    assert_eq!(browser.run("return calls"), json!(["Your turn: Round <1>", "tone", "tone"]));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
