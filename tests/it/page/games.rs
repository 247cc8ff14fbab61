//! Whole games, played by people in browsers of their own beside a host (VW-30).

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::browser::Browser;
use super::live::{LIVE, complaints, create, entries, give, join, wait_for_entry};
use super::recorder::Recorder;
use crate::sandbox::{Sandbox, workspace};
use crate::serve::running::Running;

/// A short game of each ruleset.
const GAMES: [&str; 5] = [
    "channel/yin-yang.tfl",
    "cycletap/nobody-is-left.tfl",
    "hexcapture/timer-to-zero.tfl",
    "initiative/corridor.tfl",
    "lifecycle/coa-3-a-status-lasts-one-action-phase.tfl",
];

/// A golden log: its ruleset, its setup, and who gave which command.
struct Golden {
    ruleset: String,
    setup: String,
    commands: Vec<(String, String)>,
}

impl Golden {
    fn read(name: &str) -> Self {
        let text = fs::read_to_string(workspace().join("replays").join(name)).unwrap();
        let mut parts = text.splitn(3, "+++\n");
        let (header, log) = (parts.nth(1).unwrap(), parts.next().unwrap());
        let (_, setup) = header.split_once("[setup]\n").unwrap();
        let setup = setup.replace("[[setup.", "[[").replace("[setup.", "[");
        let commands = log.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        let commands = commands.map(|line| {
            let mut words = line.split(" => ").next().unwrap().splitn(3, ' ').skip(1).map(str::to_owned);
            (words.next().unwrap(), words.next().unwrap())
        });
        let ruleset = name.split('/').next().unwrap().to_owned();
        Self { ruleset, setup, commands: commands.collect() }
    }
}

/// The log as a page shows it, a line an entry.
const SHOWN_LOG: &str = "return [...document.querySelectorAll('.entries a')].map((row) => {
    const [number, seat, command, outcome] = [...row.children].map(({ textContent }) => textContent);
    return `${number} ${seat} ${command} => ${outcome}`;
}).slice(1)";

#[test]
fn vw_30_whole_games_of_every_ruleset_are_played_in_browsers() {
    let Some(first) = Browser::start_online("whole games") else { return };
    let Some(second) = Browser::start_online("whole games") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    for name in GAMES {
        let Golden { ruleset, setup, commands } = Golden::read(name);
        let host = create(&service, &ruleset, &ruleset, &setup);
        let mut players = BTreeMap::new();
        for (seat, browser) in [("p1", &first), ("p2", &second)] {
            if commands.iter().any(|(who, _)| who == seat) {
                join(browser, &service, &ruleset, seat, service.origin());
                players.insert(seat, browser);
            }
        }
        for (count, (seat, command)) in (1..).zip(&commands) {
            if let Some(browser) = players.get(seat.as_str()) {
                give(browser, command);
                browser.wait_until("return document.querySelector('.answer').textContent === ''");
            } else {
                let body = json!({ "commands": [format!("{seat}: {command}")] }).to_string();
                let path = format!("/v1/matches/{ruleset}/branches/main/entries");
                let played = service.send("POST", &path, &host, &body);
                assert_eq!(played.status, 201, "{name} {count}: {}", played.body);
            }
        }
        assert_eq!(entries(&service, &ruleset, &host).len(), commands.len(), "{name}");
        for (seat, browser) in players {
            let path = format!("/v1/matches/{ruleset}/branches/main/frames?as={seat}");
            let frames = service.send("GET", &path, &host, "").json();
            wait_for_entry(browser, frames["frames"].as_array().unwrap().len());
            let expected = frames["frames"].as_array().unwrap().iter().map(|frame| {
                let record = &frame["record"];
                let word = |value: &Value| value.as_str().unwrap().to_owned();
                let [seat, command, text] = [&record["seat"], &record["command"], &frame["text"]].map(word);
                Value::from(format!("{} {seat} {command} => {text}", record["seq"]))
            });
            assert_eq!(browser.run(SHOWN_LOG), expected.collect::<Value>(), "{name} as {seat}");
            assert_eq!(complaints(browser), Vec::<String>::new(), "{name} as {seat}");
        }
    }
}

#[test]
fn vw_30_no_answer_tells_a_page_what_its_player_may_not_know() {
    let Some(first) = Browser::start_online("secrets in answers") else { return };
    let Some(second) = Browser::start_online("secrets in answers") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let Golden { setup, commands, .. } = Golden::read("cycletap/nobody-is-left.tfl");
    let host = create(&service, "plans", "cycletap", &setup);
    let recorder = Recorder::before(service.origin());
    join(&first, &service, "plans", "p1", service.origin());
    join(&second, &service, "plans", "p2", recorder.origin());
    let plans: Vec<_> = commands.iter().take_while(|(seat, _)| seat == "p1").collect();
    for (count, (_, command)) in (1..).zip(plans) {
        give(&first, command);
        wait_for_entry(&first, count);
    }
    // The end of p1's planning is no secret, so p2 has heard of something; of the plans it has not.
    second.wait_until("return document.querySelector('.legal').textContent !== ''");
    let page = second.run(
        "return document.documentElement.outerHTML + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)",
    );
    let all = recorder.heard() + page.as_str().unwrap();
    assert!(all.contains("\"viewer\":\"p2\""), "the answers are recorded");
    for secret in ["origin_selected", "order_placed", "\"seat\":\"p1\",\"command\":\"tap"] {
        assert!(!all.contains(secret), "{secret}");
    }
    assert!(entries(&service, "plans", &host).len() > 1);
}

#[test]
fn vw_21_a_player_joins_and_plays_by_keyboard_alone() {
    const ENTER: char = '\u{e007}';
    const TAB: char = '\u{e004}';
    let Some(browser) = Browser::start_online("a keyboard alone") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let Golden { setup, .. } = Golden::read("cycletap/nobody-is-left.tfl");
    create(&service, "keys", "cycletap", &setup);
    let grant = service.grant("keys", r#"{"kind":"invitation","seat":"p1"}"#);
    browser.open(grant["link"].as_str().unwrap());
    browser.wait_until("return document.activeElement.matches('button.primary')");
    browser.press(ENTER);
    browser.wait_until(LIVE);
    let tab_to = |selector: &str| {
        for _ in 0..60 {
            browser.press(TAB);
            if browser.run(&format!("return document.activeElement.closest({selector:?}) !== null")) == true {
                return;
            }
        }
        panic!("the key Tab does not lead to `{selector}`");
    };
    // The board's cursor is at 0,0; p1's captain is one below.
    tab_to(".hexes");
    browser.press('\u{e015}');
    browser.press(ENTER);
    wait_for_entry(&browser, 1);
    assert!(browser.text(".status").contains("tap 0,1"), "{}", browser.text(".status"));
    tab_to("#command");
    "back".chars().for_each(|key| browser.press(key));
    browser.press(ENTER);
    wait_for_entry(&browser, 2);
}

#[test]
fn vw_10_a_match_that_no_one_answer_holds_is_read_to_its_end() {
    let Some(browser) = Browser::start_online("a long match") else { return };
    let sandbox = Sandbox::new();
    sandbox.ok("simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 5 --steps 2300 --into long");
    let service = Running::start(&sandbox);
    let grant = service.grant("long", r#"{"kind":"host"}"#);
    browser.open(&format!("{}#1234", grant["link"].as_str().unwrap().split('#').next().unwrap()));
    browser.wait_until("return !!document.querySelector('#token')");
    browser.type_into("#token", grant["token"].as_str().unwrap());
    browser.click("main .primary");
    browser.wait_until(LIVE);
    assert_eq!(browser.text(".status strong"), "1234", "the address leads to an entry");
    browser.click("[aria-label=Last]");
    wait_for_entry(&browser, 2300);
}
