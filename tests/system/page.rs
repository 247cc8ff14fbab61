//! The page of `export --html` in a real browser (VW-29): Chromium, driven over `WebDriver`. Firefox runs the main
//! scenarios (VW-55).
//!
//! Without `chromium` or `chromedriver`, each test reports SKIPPED. So do tests that need packages which `npm ci`
//! installs in `page/`.

mod access;
mod accessible;
mod admin;
mod analysis;
mod bidi;
mod board_alone;
pub(crate) mod browser;
mod chess;
mod dice;
mod downloads;
mod far;
mod firefox;
mod games;
mod gateway;
mod goldens;
mod hosted;
mod hostile;
mod large;
mod liars;
pub(crate) mod live;
mod live_looks;
mod looks;
mod mailed;
mod menu;
mod referee;
mod reports;
mod rulebook;
mod script;
mod seat;
mod sentences;
mod silence;
mod slips;
mod steps;
mod tabs;
mod together;
mod tools;
mod turn;
mod webdriver;
mod websocket;
mod word_by_word;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use turnfold_show::Page;
use turnfold_show::page::PAGE_BYTES_MAX;

use turnfold_tests::goldens::seat_history;
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::workspace;

/// A golden log of each ruleset with much to see.
const SHOWN: [&str; 5] = [
    "channel/a-game-for-four.tfl",
    "cycletap/deploys.tfl",
    "hexcapture/release-at-the-rim.tfl",
    "initiative/one-against-many.tfl",
    "lifecycle/frozen-from-the-start.tfl",
];

/// Returns the page of a golden log as a seat sees it.
fn page_of(golden: &str, viewer: &str) -> String {
    let path = workspace().join("replays").join(golden);
    let text = fs::read_to_string(&path).unwrap();
    Page::of(seat_history(Path::new("golden.tfl"), &text, viewer), None, PAGE_BYTES_MAX).unwrap().html
}

/// Splits a page into the text before its document, the document, and the text after it.
fn parts(html: &str) -> (&str, Value, &str) {
    let (before, rest) = html.split_once("id=\"turnfold\">").unwrap();
    let (json, after) = rest.split_once("</script>").unwrap();
    (before, serde_json::from_str(json).unwrap(), after)
}

/// Returns a page with another document.
fn with_document((before, _, after): (&str, Value, &str), document: &Value) -> String {
    let json = document.to_string().replace('<', "\\u003c");
    format!("{before}id=\"turnfold\">{json}</script>{after}")
}

/// Finds a file that `npm ci` installs. Without it, reports that `what` is skipped.
fn installed(what: &str, file: &str) -> Option<PathBuf> {
    let path = workspace().join("tests/system/page/node_modules").join(file);
    if !path.exists() {
        skipped(what, "`npm ci --prefix tests/system/page` installs what is missing");
        return None;
    }
    Some(path)
}
