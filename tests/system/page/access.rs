//! Access to a match is not lost by a click or a link, and a page without access shows why (VW-38).

use serde_json::{Value, json};

use super::browser::Browser;
use super::gateway::Gateway;
use super::live::{LIVE, complaints, create, join};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// Waits until a page is live as this viewer.
fn wait_for(browser: &Browser, who: &str) {
    browser.wait_until(&format!(
        "return !!document.querySelector('.connection.live') && document.querySelector('.access summary').textContent === 'You are: {who}'"
    ));
}

/// Waits until a page without access shows this reason.
fn wait_for_refusal(browser: &Browser, why: &str) {
    browser.wait_until(&format!(
        "return document.querySelector('.noaccess [role=alert]')?.textContent.includes({why:?})"
    ));
    assert_eq!(browser.run("return !!document.querySelector('#token')"), true, "a field for a token");
}

/// Makes the page answer every question with `yes`, and keeps the last question in `window.asked`.
fn answer(browser: &Browser, yes: bool) {
    browser.run(&format!("window.confirm = (text) => ((window.asked = text), {yes})"));
}

/// Clicks the button with this text in an opened part.
fn press(browser: &Browser, text: &str) {
    browser.run(&format!(
        "[...document.querySelectorAll('button')].find(({{ textContent }}) => textContent === {text:?}).click()"
    ));
}

#[test]
fn vw_38_tokens_of_a_match_are_kept_next_to_each_other() {
    let Some(browser) = Browser::start_online("tokens next to each other") else { return };
    keep_tokens(&browser);
}

/// Adds tokens by links and invitations, and switches between them.
pub(super) fn keep_tokens(browser: &Browser) {
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    wait_for(browser, "host");
    // A link is pasted into the open page.
    let guest = service.grant("maya", r#"{"kind":"spectator"}"#)["token"].as_str().unwrap().to_owned();
    browser.run(&format!("location.hash = '#t={guest}'"));
    wait_for(browser, "spectator");
    assert_eq!(browser.run("return location.href.includes('tf_')"), false, "no secret in the address");
    let kept = "return JSON.parse(localStorage.getItem('turnfold:maya')).tokens.map(({ token }) => token)";
    assert_eq!(browser.run(kept), json!([host, guest]));
    press(browser, "Open as host");
    wait_for(browser, "host");
    // An invitation adds a seat, and states its purpose.
    join(browser, &service, "maya", "p2", service.origin());
    wait_for(browser, "p2");
    assert_eq!(browser.run(kept).as_array().unwrap().len(), 3);
    // Data that an earlier version of the page stored is still read.
    browser.run(&format!("localStorage.setItem('turnfold:maya', JSON.stringify({{ token: {host:?} }}))"));
    browser.open(&format!("{}/m/maya", service.origin()));
    wait_for(browser, "host");
    assert_eq!(browser.run(kept), json!([host]));
    // A truncated link is also removed from the address, and nothing is lost.
    browser.open(&format!("{}/m/maya#t={}", service.origin(), &guest[..20]));
    wait_for_refusal(browser, "This link is incomplete");
    assert_eq!(browser.run("return location.href.includes('tf_')"), false);
    press(browser, "Open as host");
    wait_for(browser, "host");
    assert_eq!(complaints(browser), Vec::<String>::new());
}

#[test]
fn vw_38_the_last_host_of_a_match_is_not_revoked() {
    let Some(browser) = Browser::start_online("the last host") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    service.grant("maya", r#"{"kind":"spectator","label":"aunt"}"#);
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    wait_for(&browser, "host");
    browser.run("document.querySelector('.grants').closest('details').open = true");
    let shown = "return [...document.querySelectorAll('.grants bdi')].map(({ textContent }) => textContent).sort().join()";
    let wait_for_grants = |expected: &str| {
        browser.wait_until(&format!("return (() => {{ {shown} }})() === {expected:?}"));
    };
    wait_for_grants("host,spectator aunt");
    answer(&browser, false);
    browser.run("document.querySelector('[aria-label=\"Call back spectator aunt\"]').click()");
    assert!(browser.run("return window.asked").as_str().unwrap().starts_with("Call back spectator aunt?"));
    answer(&browser, true);
    browser.run("document.querySelector('[aria-label=\"Call back host\"]').click()");
    browser.wait_until(
        "return [...document.querySelectorAll('.matchtools .note')].some(({ textContent }) => textContent.includes('is the last host grant'))",
    );
    wait_for_grants("host,spectator aunt");
    browser.run("document.querySelector('[aria-label=\"Call back spectator aunt\"]').click()");
    wait_for_grants("host");
}

#[test]
fn vw_38_a_page_without_access_shows_why_and_has_a_field_for_a_token() {
    let Some(browser) = Browser::start_online("pages without access") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let host = create(&service, "maya", "channel", SETUP);
    let found = Gateway::before(service.origin());
    let page = format!("{}/m/maya", found.origin());
    browser.open(&page);
    wait_for_refusal(&browser, "This browser has no access to maya.");
    // The field also accepts a whole link.
    browser.type_into("#token", &format!("{page}#t={host}"));
    browser.click(".noaccess .primary");
    wait_for(&browser, "host");
    browser.open(&format!("{page}?branch=nowhere"));
    wait_for_refusal(&browser, "There is no branch nowhere in this match.");
    browser.click(".noaccess a");
    wait_for(&browser, "host");
    let mut ends = Vec::<Value>::new();
    for (kind, why) in [
        (json!({"kind": "spectator"}), "The host or the admin has taken this access back."),
        (json!({"kind": "spectator", "expires": "1s"}), "This access has expired."),
    ] {
        let grant = service.grant("maya", &kind.to_string());
        browser.open(&format!("{page}#t={}", grant["token"].as_str().unwrap()));
        if kind["expires"].is_null() {
            wait_for(&browser, "spectator");
            let path = format!("/v1/matches/maya/grants/{}", grant["id"].as_str().unwrap());
            assert_eq!(service.send("DELETE", &path, &host, "").status, 204);
        }
        browser.wait_until(&format!("return document.body.textContent.includes({why:?})"));
        browser.open(&page);
        wait_for_refusal(&browser, why);
        ends.push(grant);
    }
    // An unknown token, and then a deleted match.
    browser.open(&format!("{page}#t=tf_h_{}", "A".repeat(43)));
    wait_for_refusal(&browser, "The service does not know this token.");
    press(&browser, "Open as host");
    browser.wait_until(LIVE);
    drop(service);
    sandbox.ok("delete --force maya");
    let service = Running::start(&sandbox);
    found.reach(service.origin());
    browser.open(&page);
    wait_for_refusal(&browser, "The match is gone");
}

#[test]
fn vw_38_an_invitation_states_what_it_is_for_and_has_no_button_once_it_is_used() {
    let Some(browser) = Browser::start_online("what an invitation is for") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    let invitation = service.grant("maya", r#"{"kind":"invitation","seat":"p2"}"#);
    browser.open(invitation["link"].as_str().unwrap());
    browser.wait_until("return !!document.querySelector('main button.primary')");
    let text = browser.text("main .panel");
    let at = service.origin().trim_start_matches("http://");
    let expected =
        format!("You are invited to play Round <1>, a match of channel, as p2, by the host at {at}.");
    assert!(text.contains(&expected), "{text}");
    let spent = service.send("POST", "/v1/join", invitation["token"].as_str().unwrap(), "{}");
    assert_eq!(spent.status, 201, "{}", spent.body);
    browser.open(invitation["link"].as_str().unwrap());
    browser.wait_until("return document.querySelector('.note').textContent.includes('has been used')");
    assert_eq!(browser.run("return document.querySelectorAll('main button.primary').length"), 0);
}
