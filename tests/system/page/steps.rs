//! Every key, button and field of the page (VW-7, VW-30).

use serde_json::json;

use super::browser::Browser;
use super::page_of;

const LEFT: char = '\u{e012}';
const UP: char = '\u{e013}';
const RIGHT: char = '\u{e014}';
const DOWN: char = '\u{e015}';
const PAGE_UP: char = '\u{e00e}';
const PAGE_DOWN: char = '\u{e00f}';
const END: char = '\u{e010}';
const HOME: char = '\u{e011}';
const ENTER: char = '\u{e007}';
const TAB: char = '\u{e004}';

/// Returns the number of the current entry, and requires slider, log and status to agree.
fn shown(browser: &Browser) -> String {
    let shown = browser.text(".status strong");
    assert_eq!(browser.run("return document.querySelector('[type=range]').value"), shown, "the slider");
    assert_eq!(browser.text("[aria-current] .number"), shown, "the log");
    shown
}

fn check(browser: &Browser, what: &str, expected: &str) {
    assert_eq!(shown(browser), expected, "{what}");
}

/// Returns the page of a file with 31 entries.
pub(super) fn page() -> String {
    page_of("initiative/one-against-many.tfl", "host")
}

fn start() -> Option<Browser> {
    let browser = Browser::start("keys and buttons of the page")?;
    browser.show(&page(), "");
    Some(browser)
}

/// The status line shows the turn and, at the end, the result, as the frames have them for every entry.
#[test]
fn vw_15_the_status_line_shows_turn_and_result() {
    let Some(browser) = Browser::start("turn and result in the status line") else { return };
    browser.show(&page_of("lifecycle/death-of-the-target.tfl", "host"), "");
    assert!(browser.text(".status").contains("p1 won"), "{}", browser.text(".status"));
    browser.press(HOME);
    browser.wait_until("return document.querySelector('.status').textContent.includes('turn 0')");
    browser.press(RIGHT);
    browser.wait_until("return document.querySelector('.status').textContent.includes('turn 1')");
}

#[test]
fn vw_30_every_key_steps() {
    let Some(browser) = start() else { return };
    step_by_keys(&browser);
    browser.check_quiet();
}

/// Presses every key in the current page.
pub(super) fn step_by_keys(browser: &Browser) {
    check(browser, "opened", "31");
    for (what, key, expected) in [
        ("home", HOME, "0"),
        ("left at the setup", LEFT, "0"),
        ("right", RIGHT, "1"),
        ("ten on", PAGE_DOWN, "11"),
        ("ten on", PAGE_DOWN, "21"),
        ("left", LEFT, "20"),
        ("ten back", PAGE_UP, "10"),
        ("end", END, "31"),
        ("right at the end", RIGHT, "31"),
        ("ten back", PAGE_UP, "21"),
    ] {
        browser.press(key);
        check(browser, what, expected);
    }
    browser.wait_until("return location.hash === '#21'");

    // On the board, the arrow keys move from hex to hex. In a field they work as usual.
    let focused = || browser.run("return document.activeElement.dataset.at ?? document.activeElement.id");
    browser.run(
        "const hex = document.querySelector('[data-at=\"0,0\"]'); const { x, y, width, height } = hex.getBoundingClientRect();
         hex.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX: x + width / 2, clientY: y + height / 2 }))",
    );
    assert_eq!(focused(), "0,0");
    for (key, expected) in [(UP, "0,-1"), (DOWN, "0,0"), (RIGHT, "1,0"), (LEFT, "0,0")] {
        browser.press(key);
        assert_eq!(focused(), expected);
    }
    check(browser, "the board's arrows", "21");
    // VW-52: the same holds for Home and End, and for ] and [, which go to changes and choices.
    for key in [HOME, END, ']', '['] {
        browser.press(key);
        check(browser, "the board's keys", "21");
        let label = "return document.activeElement.getAttribute('aria-label')";
        assert!(browser.run(label).as_str().unwrap().contains("changed"), "{}", browser.run(label));
    }
    browser.run("document.querySelector('#search').focus()");
    browser.press(LEFT);
    check(browser, "a field's arrows", "21");
}

#[test]
fn vw_30_every_button_and_field_works() {
    let Some(browser) = start() else { return };
    for (button, expected) in
        [("First", "0"), ("Next", "1"), ("Next", "2"), ("Previous", "1"), ("Last", "31")]
    {
        browser.click(&format!("button[aria-label={button}]"));
        check(&browser, button, expected);
    }
    // The slider with its own keys.
    browser.run("document.querySelector('[type=range]').focus()");
    browser.press(LEFT);
    check(&browser, "slider", "30");
    // Playback, which starts over if it is at the end, and stops at the end.
    let choose_speed = |speed: u8| {
        browser.run(&format!(
            "const speed = document.querySelector('select'); speed.value = '{speed}'; \
             speed.dispatchEvent(new Event('change'))"
        ))
    };
    choose_speed(16);
    browser.click("button[aria-label=Play]");
    browser.wait_until("return document.querySelector('.status strong').textContent === '31'");
    browser.wait_until("return document.querySelector('[aria-label=Play]') !== null");
    // A slow speed, so that playback does not reach the end before it is paused.
    choose_speed(2);
    browser.click("button[aria-label=Play]");
    browser.wait_until("return Number(document.querySelector('.status strong').textContent) > 0");
    browser.click("button[aria-label=Pause]");
    let paused = shown(&browser);
    assert!(paused.parse::<u32>().unwrap() < 31, "{paused}");
    // Search in both directions, wrapping around.
    browser.press(HOME);
    browser.type_into("#search", "STAND");
    browser.press(ENTER);
    let first = shown(&browser);
    assert!(browser.text("[aria-current]").contains("stand"), "{first}");
    browser.click("button[aria-label='Next match']");
    let next: u32 = shown(&browser).parse().unwrap();
    assert!(next > first.parse().unwrap());
    browser.click("button[aria-label='Previous match']");
    check(&browser, "previous match", &first);
    browser.click("button[aria-label='Previous match']");
    assert!(shown(&browser).parse::<u32>().unwrap() > next, "around the start");
    assert!(browser.text(".note").contains("back from the end"), "{}", browser.text(".note"));
    // Going to an entry, to a missing entry, and along the log.
    browser.type_into("#go-to", "12");
    browser.press(ENTER);
    check(&browser, "go to", "12");
    browser.run("document.querySelector('#go-to').value = '99'");
    browser.click(".go-to button");
    assert!(browser.text(".note").contains("no entry 99"), "{}", browser.text(".note"));
    browser.press(HOME);
    browser.click("[href='#2']");
    check(&browser, "a link of the log", "2");
    browser.press(DOWN);
    check(&browser, "the log's own arrows", "3");
    browser.press(TAB);
    // Larger and smaller.
    let width = || browser.run("return document.querySelector('svg.field').getBoundingClientRect().width");
    let before = width().as_f64().unwrap();
    browser.click("button[aria-label='Zoom in']");
    assert!(width().as_f64().unwrap() > before * 1.2);
    browser.click("button[aria-label='Zoom out']");
    assert!((width().as_f64().unwrap() - before).abs() < 2.0);
    browser.click(".copy");
    browser.wait_until("return document.querySelector('.note').textContent !== ''");
    browser.check_quiet();
}

#[test]
fn vw_30_a_finger_that_strokes_the_picture_steps() {
    let Some(browser) = start() else { return };
    browser.command("Emulation.setTouchEmulationEnabled", &json!({ "enabled": true }));
    let stroke = |from: i32, to: i32| {
        for (kind, x) in [("touchStart", Some(from)), ("touchMove", Some(to)), ("touchEnd", None)] {
            let points: Vec<_> = x.into_iter().map(|x| json!({ "x": x, "y": 400 })).collect();
            browser.command("Input.dispatchTouchEvent", &json!({ "type": kind, "touchPoints": points }));
        }
    };
    stroke(200, 320);
    check(&browser, "to the right", "30");
    stroke(200, 320);
    stroke(320, 200);
    check(&browser, "to the left", "30");
    browser.check_quiet();
}

#[test]
fn vw_14_the_address_names_the_entry_and_a_seat_counts_its_own() {
    let Some(browser) = Browser::start("addresses of entries") else { return };
    let page = page_of("initiative/one-against-many.tfl", "host");
    browser.show(&page, "#7");
    check(&browser, "#7", "7");
    for (fragment, expected) in [("#30", "30"), ("#0", "0"), ("#999", "31"), ("#x", "31")] {
        browser.run(&format!("location.hash = '{fragment}'"));
        browser.wait_until(&format!(
            "return document.querySelector('.status strong').textContent === '{expected}'"
        ));
    }
    browser.show(&page_of("cycletap/while-the-other-plans.tfl", "p2"), "#1");
    check(&browser, "as p2", "1");
    browser.press(END);
    let last = shown(&browser);
    assert!(last.parse::<u32>().unwrap() < 10, "{last}");
    browser.check_quiet();
}

#[test]
fn vw_17_what_changed_has_a_corner_and_is_named() {
    let Some(browser) = start() else { return };
    browser.run("document.querySelector('[aria-label=First]').click()");
    assert_eq!(browser.run("return document.querySelectorAll('.cell.changed').length"), 0, "the setup");
    browser.run(
        "for (let count = 31; count > 0 && !document.querySelector('.cell.changed'); count--) document.querySelector('[aria-label=Next]').click()",
    );
    let changed = browser.run(
        "return [...document.querySelectorAll('.cell.changed')].filter((cell) => cell.querySelector('.corner')
           && cell.getAttribute('aria-label').includes(', changed, at ')).map((cell) => cell.dataset.at).sort()",
    );
    let named = browser.text("#board-changes");
    let (_, named) = named.split_once("Changed: ").unwrap();
    let mut named: Vec<_> = named.trim_end_matches('.').split("; ").collect();
    named.sort_unstable();
    assert_eq!(changed, json!(named));
    assert_ne!(named, ["none"]);
}
