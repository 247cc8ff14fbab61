//! Whole games, played by people in their own browsers and a host (VW-30).

use std::collections::BTreeMap;
use std::{env, fs};

use serde_json::{Value, json};

use super::browser::Browser;
use super::live::{LIVE, complaints, create, entries, wait_for_entry};
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

/// A short game of each ruleset.
const GAMES: [&str; 5] = [
    "channel/yin-yang.tfl",
    "cycletap/nobody-is-left.tfl",
    "hexcapture/timer-to-zero.tfl",
    "initiative/corridor.tfl",
    "lifecycle/coa-3-a-status-lasts-one-action-phase.tfl",
];

/// A golden log: its ruleset, its setup, and its commands with their seats.
pub(super) struct Golden {
    pub(super) ruleset: String,
    pub(super) setup: String,
    pub(super) commands: Vec<(String, String)>,
}

impl Golden {
    pub(super) fn read(name: &str) -> Self {
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

/// A script that gives commands with the field, each as soon as the previous one is answered. If the game has moved on
/// in the meantime, it looks and sends again, as the page requests.
const GIVE_ALL: &str = "
    const done = arguments[arguments.length - 1];
    const [form, field, send, answer] = ['.giving', '#command', '.giving button:not([type])', '.answer'].map((one) => document.querySelector(one));
    const give = (command) => new Promise((resolve) => {
      const observer = new MutationObserver(() => !send.disabled && (observer.disconnect(), resolve(answer.textContent)));
      field.value = command;
      form.requestSubmit(send);
      observer.observe(send, { attributes: true });
    });
    (async () => {
      for (const command of COMMANDS) {
        let answer;
        while ((answer = await give(command)).startsWith('The game has moved on')) await new Promise(requestAnimationFrame);
        if (answer && !answer.startsWith('It changed nothing:')) return `${command}: ${answer}`;
      }
      return '';
    })().then(done, (error) => done(String(error)));";

/// Gives all these commands in a page.
fn give_all(browser: &Browser, commands: &[&str]) {
    let answer = browser.run_until_done(&GIVE_ALL.replace("COMMANDS", &json!(commands).to_string()));
    assert_eq!(answer, "");
}

/// A script that returns the log of a page, one line for each entry.
const SHOWN_LOG: &str = "return [...document.querySelectorAll('.entries a')].map((row) => {
    const [number, seat, command, outcome] = [...row.children].map(({ textContent }) => textContent);
    return `${number} ${seat} ${command} => ${outcome}`;
}).slice(1)";

/// Gives commands as the host, by the service.
pub(super) fn play(service: &Running, name: &str, host: &str, given: &[(String, String)]) {
    let commands: Vec<_> = given.iter().map(|(seat, command)| format!("{seat}: {command}")).collect();
    let path = format!("/v1/matches/{name}/branches/main/entries");
    let played = service.send("POST", &path, host, &json!({ "commands": commands }).to_string());
    assert_eq!(played.status, 201, "{name}: {}", played.body);
}

#[test]
fn vw_30_whole_games_of_every_ruleset_are_played_in_browsers() {
    let Some(first) = Browser::start_online("whole games") else { return };
    let Some(second) = Browser::start_online("whole games") else { return };
    let service = Running::alone();
    for name in GAMES {
        let Golden { ruleset, setup, commands } = Golden::read(name);
        let host = create(&service, &ruleset, &ruleset, &setup);
        let mut players = BTreeMap::new();
        for (seat, browser) in [("p1", &first), ("p2", &second)] {
            if commands.iter().any(|(who, _)| who == seat) {
                let grant = service.grant(&ruleset, &json!({ "kind": "seat", "seat": seat }).to_string());
                browser.open(grant["link"].as_str().unwrap());
                browser.wait_until(LIVE);
                players.insert(seat, browser);
            }
        }
        for given in commands.chunk_by(|(one, _), (other, _)| one == other) {
            let seat = given.first().unwrap().0.as_str();
            if let Some(browser) = players.get(seat) {
                give_all(browser, &given.iter().map(|(_, command)| command.as_str()).collect::<Vec<_>>());
            } else {
                play(&service, &ruleset, &host, given);
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
fn vw_21_a_player_joins_and_plays_by_keyboard_alone() {
    const ENTER: char = '\u{e007}';
    const TAB: char = '\u{e004}';
    let Some(browser) = Browser::start_online("a keyboard alone") else { return };
    let service = Running::alone();
    let Golden { setup, .. } = Golden::read("cycletap/nobody-is-left.tfl");
    create(&service, "keys", "cycletap", &setup);
    let grant = service.grant("keys", r#"{"kind":"invitation","seat":"p1"}"#);
    browser.open(grant["link"].as_str().unwrap());
    browser.wait_until("return document.activeElement.matches('#player')");
    "Ann".chars().for_each(|key| browser.press(key));
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
    // The board's cursor is at 0,0, and p1's captain is one hex below.
    tab_to(".field");
    browser.press('\u{e015}');
    browser.press(ENTER);
    wait_for_entry(&browser, 1);
    assert!(browser.text(".status").contains("tap 0,1"), "{}", browser.text(".status"));
    tab_to("#command");
    "back".chars().for_each(|key| browser.press(key));
    browser.press(ENTER);
    wait_for_entry(&browser, 2);
}

/// The variable that sets the number of entries of a long match; VW-30 requires `TURNFOLD_LIVE_ENTRIES=10000`.
const ENTRIES: &str = "TURNFOLD_LIVE_ENTRIES";

#[test]
fn vw_30_a_match_that_no_one_answer_holds_is_read_to_its_end() {
    let Some(browser) = Browser::start_online("a long match") else { return };
    let sandbox = Sandbox::new();
    let count = env::var(ENTRIES).map_or(2_300, |count| count.parse().unwrap());
    sandbox.ok(&format!(
        "simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 5 --steps {count} --into long"
    ));
    let service = Running::start(&sandbox);
    let grant = service.grant("long", r#"{"kind":"host"}"#);
    browser.open(&format!("{}#1234", grant["link"].as_str().unwrap().split('#').next().unwrap()));
    browser.wait_until("return !!document.querySelector('#token')");
    browser.type_into("#token", grant["token"].as_str().unwrap());
    browser.click("main .primary");
    browser.wait_until(LIVE);
    assert_eq!(browser.text(".status strong"), "1234", "the address leads to an entry");
    browser.click("[aria-label=Last]");
    wait_for_entry(&browser, count);
}
