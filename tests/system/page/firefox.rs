//! The main scenarios in Firefox (VW-55).

use tempfile::TempDir;

use super::browser::Browser;
use super::games::play;
use super::live::{LIVE, complaints, create, entries, give_first, join, wait_for_entry};
use super::{access, chess, hosted, reports, rulebook, seat, sentences, steps, together, word_by_word};
use turnfold_tests::is_long;
use turnfold_tests::parts::skipped;
use turnfold_tests::service::Running;

/// Why a test whose scenario Chromium plays, too, is left out.
const IN_LONG: &str = "it takes a minute, and Chromium plays the same; set TURNFOLD_LONG=1";

#[test]
fn vw_55_firefox_plays_and_keeps_access() {
    let Some(browser) = Browser::start_firefox("matches in Firefox") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p1", service.origin());
    // A command by clicks on pieces, and then a command of another seat.
    give_first(&browser);
    wait_for_entry(&browser, 1);
    play(&service, "maya", &host, &[("p2".into(), "meditate blue".into())]);
    wait_for_entry(&browser, 2);
    // The token is kept when the page is reopened, and is in no address.
    browser.open(&format!("{}/m/maya", service.origin()));
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 2);
    assert_eq!(browser.text(".access summary"), "You are: p1");
    assert_eq!(entries(&service, "maya", &host).len(), 2);
    access::keep_tokens(&browser);
    word_by_word::preview(&browser, || {
        browser.run("localStorage.setItem('turnfold-preview', 'on')");
    });
    browser.run("localStorage.removeItem('turnfold-preview')");
    assert_eq!(complaints(&browser), Vec::<String>::new());
    let Some(other) = Browser::start_firefox("a second device in Firefox") else { return };
    seat::save_link(&browser, &other);
}

#[test]
fn vw_55_firefox_shows_who_is_here_notes_and_the_rematch() {
    if !is_long() {
        return skipped("two players in Firefox", IN_LONG);
    }
    let Some(first) = Browser::start_firefox("two players in Firefox") else { return };
    let Some(second) = Browser::start_firefox("two players in Firefox") else { return };
    together::meet(&first, &second);
    together::play_again(&first, &second, |_| ());
}

#[test]
fn vw_55_firefox_takes_back() {
    if !is_long() {
        return skipped("taking back in Firefox", IN_LONG);
    }
    let Some(first) = Browser::start_firefox("taking back in Firefox") else { return };
    let Some(second) = Browser::start_firefox("taking back in Firefox") else { return };
    let dir = TempDir::new().unwrap();
    together::take_back(&first, &second, &chess::serve(&dir));
}

#[test]
fn vw_55_firefox_hosts_by_terms_names_rules_and_opens_links_to_entries() {
    if !is_long() {
        return skipped("terms, rules and links in Firefox", IN_LONG);
    }
    let Some(browser) = Browser::start_firefox("terms, rules and links in Firefox") else { return };
    let service = Running::alone();
    hosted::play_hosted(&browser, &service);
    rulebook::name_rules(&browser, &service);
    assert_eq!(complaints(&browser), Vec::<String>::new());
    let Some(guest) = Browser::start_firefox("a guest in Firefox") else { return };
    reports::link_to_entry(&browser, &guest);
}

#[test]
fn vw_55_firefox_opens_the_page_of_a_file_and_steps() {
    let Some(browser) = Browser::start_firefox("a file in Firefox") else { return };
    browser.show(&steps::page(), "");
    steps::step_by_keys(&browser);
    sentences::read_sentences(&browser);
    assert_eq!(browser.console(), [""; 0]);
}
