//! A long match over a slow connection: the head is loaded first, earlier entries on demand, all compressed (VW-53).

use serde_json::json;

use super::browser::Browser;
use super::live::{LIVE, wait_for_entry};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const PAGE_DOWN: char = '\u{e00f}';

/// A script that returns the frames that the page requested, and whether each answer was compressed.
const ASKED: &str = "return performance.getEntriesByType('resource')
    .filter(({ name }) => name.includes('/frames'))
    .map(({ name, encodedBodySize, decodedBodySize }) => [new URL(name).search, encodedBodySize < decodedBodySize / 4])";

/// A script that returns the number of requested scripts, and the transferred bytes of scripts and styles.
const ASSETS: &str = "const assets = performance.getEntriesByType('resource').filter(({ name }) => /assets.*(js|css)$/.test(name));
    return [assets.filter(({ name }) => name.endsWith('js')).length, assets.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)]";

/// The maximum number of bytes of compressed scripts and styles (VW-23).
const ASSETS_BYTES_MAX: u64 = 72_000;

#[test]
fn vw_53_the_head_of_a_long_match_is_shown_before_its_history_is_read() {
    let Some(browser) = Browser::start_online("a long match over a slow line") else { return };
    let sandbox = Sandbox::new();
    sandbox.ok(
        "simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 5 --steps 1300 --into long",
    );
    let service = Running::start(&sandbox);
    let grant = service.grant("long", r#"{"kind":"spectator"}"#);
    browser.open(grant["link"].as_str().unwrap());
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 1300);
    assert_eq!(browser.run(ASKED), json!([["?last=500", true]]));
    let assets = browser.run(ASSETS);
    assert_eq!(assets[0], 2, "each script is a round trip");
    assert!((1..=ASSETS_BYTES_MAX).contains(&assets[1].as_u64().unwrap()), "{assets} bytes");

    // The setup is loaded with the entries after it, but not with everything in between.
    browser.click("[aria-label=First]");
    wait_for_entry(&browser, 0);
    assert_eq!(browser.run(ASKED), json!([["?last=500", true], ["?after=0&at=500", true]]));
    browser.click("[aria-label=Last]");
    wait_for_entry(&browser, 1300);
    // Stepping onto entries that are not loaded works, entry by entry.
    let go_to = |number: usize| {
        browser.run(&format!("document.querySelector('#go-to').value = '{number}'; document.querySelector('#go-to').form.requestSubmit()"));
        wait_for_entry(&browser, number);
    };
    go_to(495);
    browser.press(PAGE_DOWN);
    wait_for_entry(&browser, 505);
    assert_eq!(browser.run(ASKED)[2][0], "?after=500&at=755");
    go_to(801);
    browser.click("[aria-label=Previous]");
    wait_for_entry(&browser, 800);
    assert_eq!(browser.run(ASKED)[3][0], "?after=755&at=800");
    assert_eq!(browser.run(ASKED).as_array().unwrap().len(), 4);
    // Now everything is loaded, without gaps.
    let picture = "return [...document.querySelectorAll('.picture :is([data-at], .line)')].map((one) => `${one.dataset.at} ${one.getAttribute('class')} ${one.getAttribute('aria-label')} ${one.textContent}`).sort()";
    go_to(700);
    let by_parts = browser.run(picture);
    let log =
        "return [...document.querySelectorAll('.entries a')].map(({ textContent }) => textContent).join()";
    let log_by_parts = browser.run(log);
    assert!(!log_by_parts.as_str().unwrap().contains("not read yet"), "{log_by_parts}");

    // The address of an early entry loads entries from a little before it to a little after it.
    browser.open("about:blank");
    browser.open(&format!("{}/m/long#600", service.origin()));
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 600);
    let asked = browser.run(ASKED);
    assert_eq!(asked, json!([["?last=500", true], ["?after=350&at=800", true]]));
    go_to(700);
    assert_eq!(browser.run(picture), by_parts, "read in other parts, it is the same");
    // A search looks through all entries.
    browser.type_into("#search", "host roll");
    browser.click(".search [aria-label='Previous match']");
    browser.wait_until(
        "return document.querySelector('.tools [role=status]')?.textContent.startsWith('Match ')",
    );
    assert!(browser.run(ASKED).as_array().unwrap().iter().any(|one| one[0] == "?after=0&at=350"));
    go_to(700);
    assert_eq!(browser.run(picture), by_parts);

    // Playback from the last entry begins at the setup.
    browser.open("about:blank");
    browser.open(&format!("{}/m/long", service.origin()));
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 1300);
    browser.click("[aria-label=Play]");
    // An entry is shown for half a second, so the test may miss one.
    browser.wait_until(
        "const entry = Number(document.querySelector('.status strong')?.textContent); return 1 <= entry && entry < 100",
    );
    browser.click("[aria-label=Pause]");
}
