//! Links that give access and show an entry, and reports of problems for the tools (VW-63).

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::browser::Browser;
use super::games::{Golden, play};
use super::live::{LIVE, complaints, create, join, wait_for_entry};
use crate::serve::terms::{DAY, Simulated};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

#[test]
fn vw_63_one_link_carries_a_spectators_access_and_the_entry() {
    let Some(host) = Browser::start_online("a link to an entry") else { return };
    let Some(guest) = Browser::start_online("a link to an entry") else { return };
    link_to_entry(&host, &guest);
}

/// A host creates a link to an entry, and a guest opens it.
pub(super) fn link_to_entry(host: &Browser, guest: &Browser) {
    let service = Running::alone();
    let token = create(&service, "maya", "channel", "players = 2\nseed = 7");
    let commands = [("p1".into(), "take 1 1".into()), ("p2".into(), "meditate blue".into())];
    play(&service, "maya", &token, &commands);
    host.open(&format!("{}/m/maya#t={token}", service.origin()));
    host.wait_until(LIVE);
    wait_for_entry(host, 2);
    host.click("[aria-label=Previous]");
    wait_for_entry(host, 1);
    host.run("document.querySelector('.grants').closest('details').open = true");
    host.run(
        "for (const [field, value] of [['#grant-kind', 'spectator'], ['#grant-ends', '1d']]) {
           const found = document.querySelector(field);
           found.value = value;
           found.dispatchEvent(new Event('change'));
         }
         document.querySelector('#grant-here').checked = true;
         document.querySelector('#grant-kind').form.requestSubmit()",
    );
    host.wait_until("return document.querySelector('.panel .link[readonly]')?.value.includes('at=1')");
    let link = host.run("return document.querySelector('.panel .link[readonly]').value");
    let link = link.as_str().unwrap();
    assert!(link.starts_with(&format!("{}/m/maya?at=1#t=tf_v_", service.origin())), "{link}");
    let grants = service.send("GET", "/v1/matches/maya/grants", &token, "").json();
    let made = grants["items"].as_array().unwrap().iter().find(|one| one["kind"] == "spectator").unwrap();
    let day = made["expires_at_ms"].as_i64().unwrap() - made["created_at_ms"].as_i64().unwrap();
    assert_eq!(day, 24 * 60 * 60 * 1000);
    // The page opens at the entry. The address has the entry once, and does not have the secret.
    guest.open(link);
    guest.wait_until(LIVE);
    wait_for_entry(guest, 1);
    guest.wait_until("return location.pathname + location.search + location.hash === '/m/maya#1'");
    // When reopened or stepped, the page behaves like any other.
    guest.click("[aria-label=Next]");
    wait_for_entry(guest, 2);
    for browser in [host, guest] {
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

/// A link expires at the time that the host chose, also on an open page.
#[test]
fn vw_63_a_link_that_has_expired_says_so() {
    let Some(guest) = Browser::start_online("a link that expires") else { return };
    let simulated = Simulated::new();
    let service = simulated.serve();
    create(&service, "maya", "channel", "players = 2\nseed = 7");
    let made = service.grant("maya", &json!({"kind": "spectator", "expires": "1d"}).to_string());
    let link = made["link"].as_str().unwrap().replace("/m/maya", "/m/maya?at=0");
    guest.open(&link);
    guest.wait_until(LIVE);
    simulated.set(DAY + 1);
    guest.wait_until(
        "return document.querySelector('.connection').textContent === 'This access has expired.'",
    );
    guest.open(&link);
    guest.wait_until(
        "return document.querySelector('.noaccess [role=alert]')?.textContent === 'This access has expired.'",
    );
    assert_eq!(complaints(&guest), Vec::<String>::new());
}

#[test]
fn vw_63_a_report_holds_what_the_seat_may_know_and_opens_in_the_tools() {
    const SAID: &str = "The unit <b> moved twice";
    let Some(browser) = Browser::start_online("a report") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let Golden { ruleset, setup, commands } = Golden::read("cycletap/nobody-is-left.tfl");
    let host = create(&service, "secrets", &ruleset, &setup);
    // p1 is still planning, which is its secret.
    play(&service, "secrets", &host, &commands[..2]);
    join(&browser, &service, "secrets", "p2", service.origin());
    let folder = browser.dir().join("reports");
    fs::create_dir(&folder).unwrap();
    browser.command(
        "Browser.setDownloadBehavior",
        &json!({ "behavior": "allow", "downloadPath": folder, "eventsEnabled": false }),
    );
    browser.run("document.querySelector('#problem').closest('details').open = true");
    browser.type_into("#problem", SAID);
    browser.run("document.querySelector('#problem').form.requestSubmit()");
    browser.wait_until("return [...document.querySelectorAll('.matchtools .note')].some(({ textContent }) => textContent.startsWith('Saved secrets-'))");
    let number = browser.text(".status strong");
    let path = folder.join(format!("secrets-{number}.tfl"));
    let file = (0..600)
        .find_map(|_| {
            thread::sleep(Duration::from_millis(100));
            fs::read_to_string(&path).ok().filter(|text| !text.is_empty())
        })
        .expect("the browser saves the report");
    assert_eq!(complaints(&browser), Vec::<String>::new());
    drop(service);
    // The report is the output of `export --as`, followed by the entry.
    let exported = sandbox.ok("export secrets --as p2");
    let note = format!("# reported at secrets@main:{number}, as p2: {SAID}\n");
    assert_eq!(file, format!("{exported}{note}"));
    assert!(!file.contains("origin_selected") && !file.contains("seed ="), "{file}");
    sandbox.write("report.tfl", &file);
    assert_eq!(sandbox.ok("show report.tfl"), sandbox.ok("show secrets --as p2"));
    sandbox.ok("log report.tfl");
    sandbox.ok("replay report.tfl");
}
