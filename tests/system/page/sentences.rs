//! Entries as sentences of their game, and as raw lines (VW-80).

use super::browser::Browser;
use super::{SHOWN, page_of};

/// Returns `true` if an element is visible.
fn is_seen(browser: &Browser, selector: &str) -> bool {
    browser.run(&format!("return document.querySelector({selector:?}).checkVisibility()")) == true
}

#[test]
fn vw_80_players_read_sentences_and_developers_raw_lines() {
    let Some(browser) = Browser::start("sentences of entries") else { return };
    read_sentences(&browser);
    // Without sentences of the game, the raw line is shown.
    let page = page_of("cycletap/deploys.tfl", "host").replace("\"sentence\":", "\"nothing\":");
    browser.show(&page, "");
    browser.run("localStorage.clear()");
    browser.show(&page, "");
    for part in [".status .outcome", ".entries [aria-current] .command", ".happened .outcome"] {
        assert!(is_seen(&browser, part), "{part}");
    }
    browser.check_quiet();
}

/// Reads the entries of files as sentences and as raw lines.
pub(super) fn read_sentences(browser: &Browser) {
    for golden in SHOWN {
        browser.show(&page_of(golden, "host"), "");
        browser.run("localStorage.clear()");
        browser.show(&page_of(golden, "host"), "#2");
        let of_entry = browser.text(".happened");
        assert!(of_entry.ends_with('.') && !of_entry.contains('='), "{golden}: {of_entry}");
        assert_eq!(browser.text(".entries [aria-current] .sentence"), of_entry);
        let worded = [".status .sentence", ".entries [aria-current] .sentence"];
        let raw = [".status .outcome", ".entries [aria-current] .outcome", ".rawline li"];
        assert!(worded.iter().all(|part| is_seen(browser, part)), "{golden}");
        assert!(!raw.iter().any(|part| is_seen(browser, part)), "{golden}");
        browser.click(".rawline summary");
        browser.wait_until("return document.body.classList.contains('raw')");
        assert!(!worded.iter().any(|part| is_seen(browser, part)), "{golden}");
        assert!(raw.iter().all(|part| is_seen(browser, part)), "{golden}");
        // The choice stays while stepping, and in this browser.
        browser.press('\u{e014}');
        assert!(is_seen(browser, ".rawline p"), "{golden}");
        browser.show(&page_of(golden, "host"), "");
        assert!(is_seen(browser, ".status .outcome"), "{golden}");
    }
    // The search finds the text that is shown.
    browser.run("localStorage.clear()");
    browser.show(&page_of("initiative/one-against-many.tfl", "host"), "");
    browser.type_into("#search", "won the initiative");
    browser.press('\u{e007}');
    browser.wait_until("return document.querySelector('.tools .note').textContent.startsWith('Match 1 of')");
}
