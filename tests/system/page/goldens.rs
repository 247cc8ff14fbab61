//! Steps through every golden log in the browser, and compares each picture with that of `show --format svg`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use turnfold_games::rulesets;
use turnfold_show::Page;
use turnfold_show::drawing::{Highlights, svg};
use turnfold_show::page::PAGE_BYTES_MAX;
use turnfold_show::page::frames::changed_spots;

use super::browser::Browser;
use turnfold_tests::goldens::goldens;
use turnfold_tests::goldens::seat_history;
use turnfold_tests::is_long;

const FACTS: &str = include_str!("facts.js");

/// A script that steps from the setup to the end, and returns the facts of each position.
const STEP: &str = "
    const press = (key) => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    const picture = () => DESCRIBE(document.querySelector('.picture'));
    press('Home');
    const found = [picture()];
    for (let count = Number(document.querySelector('[type=range]').max); count > 0; count--) {
      press('ArrowRight');
      found.push(picture());
    }
    return found;";

/// Returns what `show --format svg` draws at each position, with changes marked as by `--changed`.
fn drawings(path: &Path, text: &str) -> Vec<String> {
    let seat_history = seat_history(path, text, "host");
    let mut before = seat_history.viewer().picture(seat_history.start().unwrap().as_ref());
    let mut drawings = vec![svg::document(&before, &Highlights::default())];
    seat_history
        .fold(&mut |seen| {
            let picture = seen.picture();
            let changed = changed_spots(&before, &picture);
            drawings.push(svg::document(&picture, &Highlights { changed, ..Highlights::default() }));
            before = picture;
        })
        .unwrap();
    drawings
}

/// A function that reduces the facts of a picture to one number.
const DIGEST: &str = "((picture) => digest(facts(picture)))";

/// Returns what a function in the page `drawn` returns for each drawing, log by log.
fn expected(browser: &Browser, drawn: &str, describe: &str) -> Value {
    browser.open(drawn);
    browser.run(&format!(
        "{FACTS}\nconst of = ({{ content }}) => [...content.querySelectorAll('svg.picture')].map((one) => {describe}(one));\n\
         return [...document.querySelectorAll('template')].map(of);"
    ))
}

/// Returns what a function returns for each position of the current page.
fn found(browser: &Browser, describe: &str) -> Value {
    browser.run(&format!("{FACTS}\n{}", STEP.replace("DESCRIBE", describe)))
}

/// The short form takes every sixth log of each ruleset.
#[test]
fn vw_16_every_golden_log_is_in_the_browser_what_show_draws_at_every_position() {
    let Some(browser) = Browser::start("golden logs in a browser") else { return };
    for rules in rulesets() {
        let is_of_rules = |path: &PathBuf| path.parent().unwrap().ends_with(rules.name());
        let logs = goldens().into_iter().filter(is_of_rules);
        let paths: Vec<_> = logs.step_by(if is_long() { 1 } else { 6 }).collect();
        let texts: Vec<_> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        // The drawings are in templates, because these are not laid out. Without an encoding, the browser would guess
        // one from the first bytes, whose number differs in each run.
        let mut drawn = "<!DOCTYPE html><meta charset=\"utf-8\">".to_owned();
        for (path, text) in paths.iter().zip(&texts) {
            writeln!(drawn, "<template>{}</template>", drawings(path, text).concat()).unwrap();
        }
        let drawn = browser.file("drawn.html", &drawn);
        let expected = expected(&browser, &drawn, DIGEST);
        for (index, (path, text)) in paths.iter().zip(&texts).enumerate() {
            let page = Page::of(seat_history(path, text, "host"), None, PAGE_BYTES_MAX).unwrap();
            browser.show(&page.html, "");
            if found(&browser, DIGEST) != expected[index] {
                let found = found(&browser, "facts");
                let expected = self::expected(&browser, &drawn, "facts");
                compare(&path.display().to_string(), &found, &expected[index]);
                panic!("{}: facts that are the same have digests that are not", path.display());
            }
            browser.check_quiet();
        }
    }
}

fn compare(place: &str, found: &Value, expected: &Value) {
    let (found, expected) = (found.as_array().unwrap(), expected.as_array().unwrap());
    assert_eq!(found.len(), expected.len(), "{place}: positions");
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        let (found, expected) = (found.as_array().unwrap(), expected.as_array().unwrap());
        assert!(expected.len() > 2, "{place}: {expected:?}");
        let differing: Vec<_> =
            found.iter().zip(expected).filter(|(found, expected)| found != expected).take(5).collect();
        assert!(
            differing.is_empty() && found.len() == expected.len(),
            "{place}, position {position}: {} parts, of the drawing {}; first that differ, page and drawing: {differing:#?}",
            found.len(),
            expected.len()
        );
    }
}
