//! How to play, next to the board (VW-62): the rulebook, an offer to newcomers, and the rules of refusals.

use std::fs;

use serde_json::json;

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::installed;
use super::live::{LIVE, OFFERED, complaints, create, give, join, wait_for_entry};
use super::looks::{OVERFLOWING, SMALL, media, size};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// Opens the rulebook and waits until it is drawn.
fn open_book(browser: &Browser) {
    browser.run("document.querySelector('.rulebook').closest('details').open = true");
    browser.wait_until("return !!document.querySelector('.rulebook h2')");
}

#[test]
fn vw_62_a_newcomer_is_offered_three_sentences_and_what_can_be_done() {
    let Some(browser) = Browser::start_online("a newcomer") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    join(&browser, &service, "maya", "p1", service.origin());
    let is_offered = "return document.querySelector('.newcomer').checkVisibility()";
    browser.wait_until(is_offered);
    let text = browser.text(".newcomer p");
    assert!(
        text.starts_with("One to four players, p1 to p4, bring energies into harmony. A board has"),
        "{text}"
    );
    assert_eq!(text.matches(". ").count() + 1, 3, "{text}");
    for (width, height) in [(320, 640), (1280, 900)] {
        size(&browser, width, height);
        for (what, script) in [("overflowing", OVERFLOWING), ("small", SMALL)] {
            assert_eq!(browser.run(script), json!([]), "{what} at {width} pixels");
        }
    }
    size(&browser, 360, 740);
    browser.wait_until(&format!("return !!document.querySelector('{OFFERED}')"));
    assert_eq!(browser.run("return document.querySelector('.legal').checkVisibility()"), false);
    browser.run("[...document.querySelectorAll('.newcomer button')].find(({ textContent }) => textContent === 'Show me what I can do').click()");
    // The first piece that can be taken has the focus, and the explanation of every word is visible.
    browser.wait_until("return document.activeElement.matches('.picture .reach')");
    assert_eq!(browser.run("return document.querySelector('.legal small').checkVisibility()"), true);
    assert_eq!(browser.run(is_offered), false);
    // The rulebook is offered once for this game in this browser.
    browser.open(&format!("{}/m/maya", service.origin()));
    browser.wait_until(LIVE);
    browser.wait_until(&format!("return !!document.querySelector('{OFFERED}')"));
    assert_eq!(browser.run(is_offered), false);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_62_the_rulebook_of_a_game_stands_next_to_its_board() {
    let Some(browser) = Browser::start_online("rulebooks") else { return };
    let service = Running::alone();
    for ruleset in ["channel", "cycletap", "hexcapture", "initiative", "lifecycle"] {
        let book =
            fs::read_to_string(workspace().join(format!("core/games/src/{ruleset}/RULES.md"))).unwrap();
        let served = service.send("GET", &format!("/v1/rulesets/{ruleset}/rulebook"), service.admin(), "");
        assert_eq!(served.json()["text"], json!(book));
        let example = service.send("GET", "/v1/rulesets", "", "").json();
        let setup = example["items"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["ruleset"] == ruleset)
            .unwrap()["example"]
            .as_str()
            .unwrap()
            .to_owned();
        let host = create(&service, ruleset, ruleset, &setup);
        browser.open(&format!("{}/m/{ruleset}#t={host}", service.origin()));
        browser.wait_until(LIVE);
        open_book(&browser);
        let ids: Vec<_> = book
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert!(!ids.is_empty());
        let shown = browser.run("return [...document.querySelectorAll('.rulebook [data-rule]')].map(({ dataset }) => dataset.rule)");
        assert_eq!(shown, json!(ids), "{ruleset}");
        // No word of the rulebook is lost.
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let text = browser.text(".rulebook");
        // The browser draws the numbers of list items.
        let number_of = |line: &str| line.split_once(". ").map_or("", |(number, _)| number).to_owned();
        let is_number = |text: &String| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
        let numbered: usize = book.lines().map(number_of).filter(is_number).map(|number| number.len()).sum();
        let fences: usize = book.lines().filter_map(|line| line.strip_prefix("```")).map(letters).sum();
        assert_eq!(letters(&text), letters(&book) - fences - numbered, "{ruleset}");
    }
    if let Some(axe) = installed("axe-core on a rulebook", "axe-core/axe.min.js") {
        browser.run(&fs::read_to_string(axe).unwrap());
        assert_eq!(browser.run_until_done(FIND), json!([]));
        media(&browser, "", "dark");
        assert_eq!(browser.run_until_done(FIND_CONTRAST), json!([]));
    }
    assert_eq!(service.send("GET", "/v1/rulesets/no/rulebook", service.admin(), "").status, 404);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_62_a_command_that_is_refused_or_ignored_names_its_rule() {
    let Some(browser) = Browser::start_online("rules behind refusals") else { return };
    name_rules(&browser, &Running::alone());
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Gives commands that are refused or change nothing, and requires the page to name their rules.
pub(super) fn name_rules(browser: &Browser, service: &Running) {
    create(service, "maya", "channel", SETUP);
    join(browser, service, "maya", "p1", service.origin());
    // Two energies of different columns.
    give(browser, "take 1 1 2");
    browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done: ') && !!document.querySelector('.answer .rule')");
    assert_eq!(browser.text(".answer .rule"), "Rule CH-4");
    browser.click(".answer .rule");
    browser.wait_until("return document.activeElement.dataset.rule === 'CH-4'");
    assert!(browser.text(".rulebook [data-rule='CH-4']").starts_with("CH-4 "));
    // An ignored command is recorded, and the page explains why it changed nothing.
    let setup = fs::read_to_string(workspace().join("fixtures/cycletap/ford.toml")).unwrap();
    create(service, "ford", "cycletap", &setup);
    join(browser, service, "ford", "p1", service.origin());
    give(browser, "tap 99,99");
    wait_for_entry(browser, 1);
    browser.wait_until("return document.querySelector('.answer').textContent.startsWith('It changed nothing: ') && !!document.querySelector('.answer .rule')");
    assert_eq!(browser.text(".answer .rule"), "Rule CT-3");
    let why = "It changed nothing: None of your units stands on that hex. Rule CT-3";
    assert_eq!(browser.text(".answer"), why);
}
