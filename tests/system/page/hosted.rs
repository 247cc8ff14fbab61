//! Matches that the service hosts, on the page: terms of a new match, deadlines, absences and the calendar (VW-66 to
//! VW-68).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::browser::Browser;
use super::live::{LIVE, complaints, join, play_as};
use turnfold_tests::fixture;
use turnfold_tests::service::Running;

/// A script with a function that returns the deadline from the line with the turn, on the home page or the page of a
/// match.
const DEADLINE: &str =
    "const until = (text) => /, until .*/.exec(text ?? '')?.[0].replace(/, you are .*/, '') ?? '';";

/// Creates a match on the home page by clicks, with the game's own terms except the hours.
fn make_match(browser: &Browser, service: &Running, name: &str) {
    browser.open(&format!("{}/", service.origin()));
    browser.run("sessionStorage.clear()");
    browser.open(&format!("{}/", service.origin()));
    browser.click(".fold summary");
    browser.type_into("#admin", service.admin());
    browser.click("form:has(#admin) button");
    browser.wait_until("return !!document.querySelector('#hosting')");
    let terms = "return document.querySelector('.newmatch .note').textContent";
    let hosting = "return document.querySelector('#hosting').value";
    // A game without terms has a person as host. A game with terms has the service as host, with three days for each
    // move.
    for (ruleset, value, shown) in [
        ("channel", "", ""),
        (
            "cycletap",
            "72",
            "At a deadline and between turns: default = [\"switch\"]; between = [\"resolve\"]",
        ),
    ] {
        browser.run(&format!(
            "const games = document.querySelector('#ruleset'); games.value = '{ruleset}'; games.dispatchEvent(new Event('change'))"
        ));
        assert_eq!(browser.run(hosting), value, "{ruleset}");
        assert_eq!(browser.run(terms), shown, "{ruleset}");
    }
    browser.run(
        "const by = document.querySelector('#hosting'); by.value = ''; by.dispatchEvent(new Event('change'))",
    );
    assert_eq!(browser.run(terms), "");
    browser.run("const by = document.querySelector('#hosting'); by.value = '24'; by.dispatchEvent(new Event('change'))");
    assert_ne!(browser.run(terms), "");
    browser.type_into("#name", name);
    browser.run(&format!("document.querySelector('#setup').value = {:?}", fixture("cycletap", "ford")));
    browser.click(".newmatch .primary");
    browser.wait_until(LIVE);
    assert_eq!(browser.run("return location.pathname"), format!("/m/{name}"));
}

/// Lets another player join elsewhere.
fn join_elsewhere(service: &Running, name: &str, seat: &str) {
    let invitation = service.grant(name, &json!({"kind": "invitation", "seat": seat}).to_string());
    let joined = service.send("POST", "/v1/join", invitation["token"].as_str().unwrap(), "{}");
    assert_eq!(joined.status, 201, "{}", joined.body);
}

fn hosting(service: &Running, name: &str) -> Value {
    service.send("GET", &format!("/v1/matches/{name}"), service.admin(), "").json()["hosting"].take()
}

/// Waits until the page shows a deadline in the browser's time zone.
fn wait_for_deadline(browser: &Browser, at: &Value) {
    browser.wait_until(&format!(
        "{DEADLINE} const words = new Intl.DateTimeFormat([], {{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }});
         return until(document.querySelector('.turn').textContent) === `, until ${{words.format(new Date({at}))}}`"
    ));
}

/// VW-66, VW-67: creates and joins a match with terms, and announces an absence, all on pages.
pub(super) fn play_hosted(browser: &Browser, service: &Running) {
    make_match(browser, service, "taps");
    assert_eq!(hosting(service, "taps")["terms"]["hours"], 24);
    join(browser, service, "taps", "p1", service.origin());
    // There is no deadline before all invited players have joined.
    join_elsewhere(service, "taps", "p2");
    browser.open(&format!("{}/m/taps", service.origin()));
    browser.wait_until(LIVE);
    let deadline = hosting(service, "taps")["deadlines"]["p1"].take();
    wait_for_deadline(browser, &deadline);
    let shown = browser.run(&format!("{DEADLINE} return until(document.querySelector('.turn').textContent)"));
    assert!(browser.text(".turn").starts_with("Your turn: "), "{}", browser.text(".turn"));
    browser.click(".access summary");
    assert_eq!(
        browser.text(".myseat > .note:not([role])"),
        "The service hosts this match. When no player is to move, it plays “resolve”. A turn lasts 24 hours. \
         At a missed deadline it plays “switch” for the seat. After 3 in a row it waits no longer."
    );
    // An absence longer than the terms permit is refused, and costs nothing.
    let note = "return document.querySelector('.absence .note').textContent";
    let day = |days: u32| {
        browser.run(&format!(
            "const day = new Date(Date.now() + {days} * 864e5);
             document.querySelector('#away').value = [day.getFullYear(), `${{day.getMonth() + 1}}`.padStart(2, '0'), `${{day.getDate()}}`.padStart(2, '0')].join('-')"
        ));
        browser.click(".absence button");
    };
    day(40);
    browser.wait_until(&format!("return (() => {{ {note} }})() !== ''"));
    assert_eq!(hosting(service, "taps")["absent"], json!({}));
    assert_eq!(hosting(service, "taps")["deadlines"]["p1"], deadline);
    day(3);
    browser.wait_until(&format!("return (() => {{ {note} }})().startsWith('Deadlines wait for you until ')"));
    let hosting = hosting(service, "taps");
    assert!(hosting["absent"]["p1"].is_i64(), "{hosting}");
    assert!(hosting["deadlines"]["p1"].as_i64() > deadline.as_i64(), "{hosting}");
    wait_for_deadline(browser, &hosting["deadlines"]["p1"]);
    let moved = browser.run(&format!("{DEADLINE} return until(document.querySelector('.turn').textContent)"));
    assert_ne!(moved, shown);
    // The home page shows the same.
    browser.open(&format!("{}/", service.origin()));
    browser.wait_until(&format!(
        "{DEADLINE} return until(document.querySelector('.matches .note')?.textContent) === {moved}"
    ));
    assert_eq!(browser.run("return document.title"), "(1) turnfold");
}

#[test]
fn vw_66_who_makes_a_match_chooses_its_host_and_vw_67_players_announce_absences() {
    let Some(browser) = Browser::start_online("a match that the service hosts") else { return };
    let service = Running::alone();
    play_hosted(&browser, &service);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Returns the summaries in a calendar, requested without a header as calendar programs do.
fn summaries(service: &Running, link: &str) -> BTreeSet<String> {
    let path = link.strip_prefix(service.origin()).unwrap();
    let calendar = service.send("GET", path, "", "");
    assert_eq!(calendar.status, 200, "{}", calendar.body);
    let lines = calendar.body.split("\r\n");
    lines.filter_map(|line| line.strip_prefix("SUMMARY:")).map(str::to_owned).collect()
}

#[test]
fn vw_68_one_calendar_has_the_deadlines_of_all_seats_of_a_browser() {
    let Some(browser) = Browser::start_online("a calendar of deadlines") else { return };
    let service = Running::alone();
    let make = |name: &str| {
        let body = json!({"name": name, "ruleset": "cycletap", "setup": fixture("cycletap", "ford"), "dice": "recorded", "terms": "hours = 24"});
        assert_eq!(service.send("POST", "/v1/matches", service.admin(), &body.to_string()).status, 201);
        join(&browser, &service, name, "p1", service.origin());
    };
    make("alpha");
    make("beta");
    browser.click(".access summary");
    let button = |text: &str| {
        browser.wait_until(&format!(
            "const button = [...document.querySelectorAll('.calendar button')].find((one) => one.textContent === '{text}'); button?.click(); return !!button"
        ));
    };
    button("Subscribe to deadlines");
    browser.wait_until("return !!document.querySelector('.calendar a')");
    let webcal = browser.run("return document.querySelector('.calendar a').href");
    let link = webcal.as_str().unwrap().replacen("webcal:", "http:", 1);
    assert!(link.starts_with(&format!("{}/v1/calendars/tf_c_", service.origin())), "{link}");
    assert_eq!(
        summaries(&service, &link),
        ["alpha", "beta"].map(|name| format!("{name}: your turn ends")).into()
    );
    button("Copy calendar link");
    browser.wait_until("return !!document.querySelector('.calendar .link') || document.querySelector('.calendar .note').textContent.startsWith('Copied')");
    // A match joined later is in the same calendar.
    make("gamma");
    for _ in 0..200 {
        if summaries(&service, &link).len() == 3 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    play_as(&service, "alpha", "p1", "switch");
    assert_eq!(
        summaries(&service, &link),
        ["beta", "gamma"].map(|name| format!("{name}: your turn ends")).into()
    );
    browser.click(".access summary");
    button("End calendar");
    browser.wait_until(
        "return document.querySelector('.calendar .note').textContent === 'The link no longer works.'",
    );
    assert_eq!(service.send("GET", link.strip_prefix(service.origin()).unwrap(), "", "").status, 404);
    button("Subscribe to deadlines");
    browser.wait_until("return !!document.querySelector('.calendar a')");
    assert_ne!(browser.run("return document.querySelector('.calendar a').href"), webcal);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
