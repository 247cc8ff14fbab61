//! Text that contains markup or controls is shown as text (VW-33).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use turnfold_show::Page;
use turnfold_show::page::PAGE_BYTES_MAX;

use super::browser::Browser;
use super::{page_of, parts, with_document};
use turnfold_tests::goldens::seat_history;
use turnfold_tests::sandbox::workspace;

const HOSTILE: [&str; 6] = [
    "</script><script>document.title = 'lost'</script>",
    "<img src=x onerror=\"document.title='lost'\">",
    "<!--<script>{{title}}{{data}}",
    "a\u{202e}b\u{2066}c\u{0}d\u{1b}e\nf",
    "' onmouseover='x' style='color:red' \" & &lt; &#60;",
    "javascript:document.title='lost'",
];

/// Returns a text with controls and direction marks as they are shown.
fn shown(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\u{0}' | '\u{1b}' | '\n' | '\u{202e}' | '\u{2066}' => character.escape_unicode().to_string(),
            _ => character.into(),
        })
        .collect()
}

/// Returns a page in whose document every external text is replaced with this text.
fn with_texts(text: &str) -> String {
    let page = page_of("initiative/one-against-many.tfl", "host");
    let parts = parts(&page);
    let mut document = parts.1.clone();
    let frames = &mut document["frames"];
    for cell in frames["picture"][1]["cells"].as_array_mut().unwrap() {
        (cell[2], cell[3], cell[4]) = (json!(text), json!(text), json!(text));
    }
    for frame in frames["frames"].as_array_mut().unwrap() {
        frame["record"]["command"] = json!(text);
        frame["text"] = json!(text);
        frame["fields"] = json!([{ "path": text, "old": text, "new": { text: text } }]);
        for change in frame["changes"].as_array_mut().unwrap() {
            if change[1].is_number() {
                change[2] = json!([[text, "plain"], [text, text]]);
            } else if change[2].is_array() {
                change[2] = json!([text, text, text]);
            }
        }
    }
    with_document(parts, &document)
}

#[test]
fn vw_33_hostile_text_is_shown_as_text() {
    let Some(browser) = Browser::start("hostile text in the page") else { return };
    let long = "<b>0123456789</b>".repeat((64 << 10) / 17);
    for text in HOSTILE.into_iter().chain([long.as_str()]) {
        browser.show(&with_texts(text), "#5");
        let title = browser.run("return document.title");
        let (number, outcome) = (browser.text(".status strong"), browser.text(".rawline .outcome"));
        assert_eq!((number.as_str(), outcome.as_str()), ("5", shown(text).as_str()));
        assert_eq!(browser.text(".changes .path"), shown(text));
        assert!(browser.text("[aria-current] .command").starts_with(&shown(text)[..20]));
        browser.press('\u{e014}');
        assert_eq!(browser.run("return document.title"), title, "{text}");
        let added = browser.run("return document.querySelectorAll('img, b, script:not([type]), [onerror], [onmouseover], [style*=color]').length");
        assert_eq!(added, 0, "{text}");
        browser.check_quiet();
    }
}

#[test]
fn vw_33_a_hostile_title_is_shown_as_text() {
    let Some(browser) = Browser::start("hostile titles of pages") else { return };
    let path = workspace().join("replays/initiative/one-against-many.tfl");
    let text = fs::read_to_string(path).unwrap();
    let (_, rest) = text.split_once("title = ").unwrap();
    let (title, _) = rest.split_once('\n').unwrap();
    for hostile in HOSTILE {
        let toml: String = hostile
            .chars()
            .map(|character| match character {
                '"' | '\\' => format!("\\{character}"),
                _ if character.is_control() => format!("\\u{:04X}", u32::from(character)),
                _ => character.into(),
            })
            .collect();
        let text = text.replace(title, &format!("\"{toml}\""));
        let page =
            Page::of(seat_history(Path::new("x.tfl"), &text, "host"), None, PAGE_BYTES_MAX).unwrap().html;
        browser.show(&page, "");
        assert_eq!(browser.run("return document.title.replace(/\\s+/g, ' ')"), shown(hostile).as_str());
        assert_eq!(browser.text("h1"), shown(hostile));
        browser.check_quiet();
    }
}

#[test]
fn vw_24_a_page_runs_and_loads_nothing_that_it_was_not_made_with() {
    let Some(browser) = Browser::start("the policy of pages") else { return };
    let added = "<style>h1 { color: #ff0000 }</style><script>document.title = 'lost'</script>\
                 <img src=\"http://127.0.0.1:9/x.png\" alt=\"\"><h2 onclick=\"x\" style=\"color: #ff0000\">x</h2>\
                 <form action=\"http://127.0.0.1:9/\"></form></body>";
    let page = page_of("cycletap/deploys.tfl", "host");
    browser.show(&page.replace("</body>", added), "");
    let color =
        "return [...document.querySelectorAll('h1, footer + * , h2')].map((e) => getComputedStyle(e).color)";
    assert!(!browser.run(color).to_string().contains("rgb(255, 0, 0)"));
    assert_ne!(browser.run("return document.title"), "lost");
    assert_eq!(browser.text(".status strong"), "27", "the page itself works");
    let refused = browser.console();
    for what in ["script-src", "style-src", "default-src"] {
        assert!(refused.iter().any(|message| message.contains(what)), "{what}: {refused:?}");
    }
}

#[test]
fn a_damaged_page_reports_the_damage() {
    let Some(browser) = Browser::start("damaged pages") else { return };
    let page = page_of("cycletap/deploys.tfl", "host");
    let parts = parts(&page);
    browser.show(&with_document(parts, &Value::Null), "");
    assert!(browser.text("[role=alert]").starts_with("This file is damaged"));
}
