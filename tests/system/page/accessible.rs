//! axe-core finds no violation in any state of the page (VW-32).

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::looks::media;
use super::{SHOWN, installed, page_of};

/// A script that returns the findings of axe-core, as rule and element.
pub(super) const FIND: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'] }).then(
      ({ violations }) => done(violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 150)}`))),
      (error) => done([String(error)]));";

/// The same only for contrast, because a color scheme changes nothing else.
pub(super) const FIND_CONTRAST: &str = "
    const done = arguments[arguments.length - 1];
    axe.run(document, { resultTypes: ['violations'], runOnly: ['color-contrast'] }).then(
      ({ violations }) => done(violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 150)}`))),
      (error) => done([String(error)]));";

#[test]
fn vw_32_axe_finds_no_violation_in_any_state() {
    let Some(axe) = installed("axe-core on the page", "axe-core/axe.min.js") else { return };
    let Some(browser) = Browser::start("axe-core on the page") else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let check = |what: &str| assert_eq!(browser.run_until_done(FIND), json!([]), "{what}");
    for golden in SHOWN {
        media(&browser, "", "light");
        browser.show(&page_of(golden, "host"), "");
        browser.run(&axe);
        check(golden);
        media(&browser, "", "dark");
        assert_eq!(browser.run_until_done(FIND_CONTRAST), json!([]), "{golden}, dark");
    }
    // Parts that the page shows only sometimes, tested on the last page.
    for (what, script) in [
        ("the setup", "document.querySelector('[aria-label=First]').click()"),
        (
            "a message",
            "document.querySelector('#search').value = 'nowhere'; document.querySelector('.search').requestSubmit()",
        ),
        ("a focused log", "document.querySelector('[aria-current]').focus()"),
        ("playing", "document.querySelector('[aria-label=Play]').click()"),
    ] {
        browser.run(script);
        check(what);
    }
    browser.command(
        "Emulation.setDeviceMetricsOverride",
        &json!({ "width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true }),
    );
    check("a phone");
}
