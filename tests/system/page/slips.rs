//! What was refused or mistyped costs nothing (VW-41), and small defects that people met.

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::games::play;
use super::live::{LIVE, complaints, create, create_with, give, join};
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
    // The service was started again with another admin token.
    browser.run("sessionStorage.setItem('turnfold-admin', 'tf_a_' + 'A'.repeat(43))");
    browser.click(".newmatch .primary");
    browser.wait_until(&format!(
        "return document.querySelector('{note}').textContent.startsWith('The admin token counts no more')"
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
    for values in ["1 1 1 1", "6 6 6 6"] {
        give(&browser, &format!("host: roll {values}"));
        browser.wait_until("return document.querySelector('.answer').textContent.startsWith('Not done: ')");
        let text = browser.text(".answer");
        assert!(text.ends_with("the seeded dice give another roll, and roll by themselves"), "{text}");
        browser.run("document.querySelector('.answer').textContent = ''");
    }
    // VW-16: what is blocked is marked once, above its coordinates.
    let blocked = "return [...document.querySelectorAll('.cell.blocked')].map((cell) => [...cell.querySelectorAll('text')].map(({ textContent }) => textContent).filter((text) => text === '##').length)";
    let counts = browser.run(blocked);
    assert!(!counts.as_array().unwrap().is_empty());
    assert!(counts.as_array().unwrap().iter().all(|count| *count == json!(1)), "{counts}");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
