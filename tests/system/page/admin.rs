//! The page of the admin: the service, its matches and their tokens.

use std::env;
use std::fs;
use std::path::Path;

use serde_json::json;

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::installed;
use super::live::{LIVE, complaints, create};
use super::looks::{OVERFLOWING, SMALL, media, size};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const LISTED: &str = "return document.querySelectorAll('tbody tr').length === 2";

/// Presses the button with this accessible name, and confirms.
fn press(browser: &Browser, name: &str) {
    browser.wait_until(&format!("return !!document.querySelector('[aria-label=\"{name}\"]')"));
    browser.run(&format!(
        "window.confirm = () => true; document.querySelector('[aria-label=\"{name}\"]').click()"
    ));
}

/// Opens the page with a token.
fn open(browser: &Browser, service: &Running, token: &str) {
    browser.open(&format!("{}/admin", service.origin()));
    browser.wait_until("return !!document.querySelector('#admin')");
    browser.type_into("#admin", token);
    browser.run("document.querySelector('form').requestSubmit()");
}

#[test]
fn the_admin_sees_the_service_takes_tokens_back_and_ends_matches() {
    let Some(browser) = Browser::start_online("the admin's page") else { return };
    let service = Running::alone();
    let host = create(&service, "first", "channel", "players = 2\nseed = 7");
    create(&service, "second", "channel", "players = 2\nseed = 8");
    let seat = service.grant("first", r#"{"kind":"seat","seat":"p1","label":"<b>Ann"}"#);
    let seat = seat["token"].as_str().unwrap();
    let reads = |token: &str| service.send("GET", "/v1/matches/first", token, "").status;

    open(&browser, &service, &host);
    browser.wait_until(
        "return document.querySelector('[role=status]').textContent === 'That is not the admin token.'",
    );
    for token in [host.as_str(), seat] {
        assert_eq!(service.send("GET", "/v1/status", token, "").status, 403);
    }

    open(&browser, &service, service.admin());
    browser.wait_until(LISTED);
    let facts = browser.text(".facts");
    for fact in ["accepts writes", "0 failed", "Streams", "free"] {
        assert!(facts.contains(fact), "{facts}");
    }
    press(&browser, "Show the tokens of first");
    assert_eq!((reads(&host), reads(seat)), (200, 200));
    press(&browser, "Take back seat p1 <b>Ann in first");
    browser.wait_until("return document.querySelectorAll('.grants li').length === 1");
    assert_eq!((reads(&host), reads(seat)), (200, 401));
    press(&browser, "End the match first");
    browser.wait_until("return document.querySelector('tbody tr td:last-child').textContent === 'ended'");
    assert_eq!((reads(&host), reads(service.admin())), (401, 200));
    // The host of the match reads why.
    browser.run(&format!("localStorage.setItem('turnfold:first', JSON.stringify({{ tokens: [{{ token: {host:?}, seat: 'host' }}] }}))"));
    browser.open(&format!("{}/m/first", service.origin()));
    browser.wait_until("return document.querySelector('.noaccess [role=alert]')?.textContent === 'The admin has ended this match, or another host has taken this access back.'");
    browser.run("localStorage.clear()");
    // A link leads to the other match, and the admin token stays in this tab.
    browser.open(&format!("{}/admin", service.origin()));
    browser.wait_until(LISTED);
    browser.click("tbody a[href='/m/second']");
    browser.wait_until(LIVE);
    assert_eq!(browser.text(".access summary"), "You are: admin");
    assert_eq!(browser.run("return localStorage.length"), json!(0));
    browser.open(&format!("{}/admin", service.origin()));
    browser.wait_until(LISTED);
    // The token stays only in this tab.
    browser.run("location.reload()");
    browser.wait_until(LISTED);
    assert_eq!(browser.run("return localStorage.length"), json!(0));
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn the_admin_downloads_a_backup_that_can_be_restored() {
    let Some(browser) = Browser::start_online("a backup from the admin's page") else { return };
    let service = Running::alone();
    create(&service, "first", "channel", "players = 2\nseed = 7");
    open(&browser, &service, service.admin());
    browser.wait_until("return document.querySelectorAll('tbody tr').length === 1");
    let backup = super::downloads::saved(&browser, "Download a backup", "turnfold.backup");
    let sandbox = Sandbox::new();
    sandbox.write("turnfold.backup", backup);
    sandbox.ok("store restore turnfold.backup restored");
    assert!(sandbox.ok("--store restored verify").contains("ok first@main: 0 entries"));
}

#[test]
fn vw_32_the_admin_page_is_for_everyone_on_phones_and_screens() {
    let Some(axe) = installed("axe-core on the admin's page", "axe-core/axe.min.js") else { return };
    let Some(browser) = Browser::start_online("axe-core on the admin's page") else { return };
    let service = Running::alone();
    create(&service, "first", "channel", "players = 2\nseed = 7");
    create(&service, "second", "channel", "players = 2\nseed = 8");
    open(&browser, &service, service.admin());
    browser.wait_until(LISTED);
    press(&browser, "Show the tokens of second");
    browser.wait_until("return !!document.querySelector('.grants li')");
    browser.run(&fs::read_to_string(axe).unwrap());
    for (width, height) in [(360, 740), (1440, 900)] {
        size(&browser, width, height);
        for (scheme, find) in [("light", FIND), ("dark", FIND_CONTRAST)] {
            media(&browser, "", scheme);
            assert_eq!(browser.run_until_done(find), json!([]), "{width} pixels, {scheme}");
            if let Some(folder) = env::var_os("TURNFOLD_SCREENSHOTS") {
                let picture = Path::new(&folder).join(format!("admin-{width}-{scheme}.png"));
                fs::write(picture, browser.screenshot()).unwrap();
            }
        }
        assert_eq!(browser.run(OVERFLOWING), json!([]), "{width} pixels");
        assert_eq!(browser.run(SMALL), json!([]), "{width} pixels");
        let beside = browser.run("return [...document.querySelectorAll('tbody td, tbody th')].filter((one) => one.getBoundingClientRect().right > innerWidth).length");
        assert_eq!(beside, json!(0), "every column is in sight at {width} pixels");
    }
}
