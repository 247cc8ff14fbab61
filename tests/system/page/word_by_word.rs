//! Commands that are built part by part, previewed before they are sent, and taken back (VW-43, VW-44, VW-47, VW-48).

use std::fs;

use serde_json::{Value, json};

use super::accessible::FIND;
use super::browser::Browser;
use super::installed;
use super::live::{LIVE, complaints, create, entries, join, wait_for_entry, wait_for_offer};
use turnfold_tests::service::Running;

const ENTER: char = '\u{e007}';
const SETUP: &str = "players = 2\nseed = 7";

/// Returns the texts of the buttons, without their explanations.
fn words(browser: &Browser) -> Value {
    browser.run("return [...document.querySelectorAll('.legal button')].map((one) => one.querySelector('bdi').textContent)")
}

fn press(browser: &Browser, word: &str) {
    browser.run(&format!("[...document.querySelectorAll('.legal button')].find((one) => one.querySelector('bdi').textContent === {word:?}).click()"));
}

/// Returns the names of the parts of a picture that have a mark.
fn marked(browser: &Browser, mark: &str) -> Vec<String> {
    let script = format!(
        "return [...document.querySelectorAll('.picture [data-target].{mark}[role=button]')].map((one) => one.dataset.target)"
    );
    let names = browser.run(&script);
    names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn named(name: &str) -> String {
    format!(".picture [data-target=\"{name}\"]")
}

#[test]
fn vw_43_a_command_is_built_part_by_part() {
    let Some(browser) = Browser::start_online("commands part by part") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    join(&browser, &service, "maya", "p1", service.origin());
    wait_for_offer(&browser);
    // VW-44: the first words with their explanations, not hundreds of commands.
    assert_eq!(words(&browser), json!(["take", "meditate"]));
    assert_eq!(
        browser.text(".legal small"),
        "Take one to three energies from a column of the maya into a row of your board."
    );
    let open = marked(&browser, "reach");
    assert!(open.iter().all(|name| name.starts_with("energy ")) && !open.is_empty(), "{open:?}");
    // With the keyboard: after the word, the focus is on the first piece, and Enter chooses the piece.
    browser.run("document.querySelector('.legal button').focus()");
    browser.press(ENTER);
    browser.wait_until("return document.activeElement.matches('.picture [data-target].reach')");
    let energy = browser.run("return document.activeElement.dataset.target").as_str().unwrap().to_owned();
    browser.press(ENTER);
    assert_eq!(marked(&browser, "chosen"), [energy.as_str()]);
    let rows: Vec<_> = marked(&browser, "reach").into_iter().filter(|name| name.contains("row ")).collect();
    assert!(rows.iter().all(|row| row.starts_with("p1 row ")) && rows.len() > 3, "{rows:?}");
    assert!(browser.text(".hint").starts_with(&format!("take {energy} …")), "{}", browser.text(".hint"));
    if let Some(axe) = installed("axe-core on chosen parts", "axe-core/axe.min.js") {
        browser.run(&fs::read_to_string(axe).unwrap());
        assert_eq!(browser.run_until_done(FIND), json!([]));
    }
    // Undoes one word, then the other.
    assert_eq!(words(&browser), json!(["Undo a word"]));
    press(&browser, "Undo a word");
    assert_eq!((marked(&browser, "chosen"), words(&browser)), (vec![], json!(["Undo a word"])));
    press(&browser, "Undo a word");
    assert_eq!(words(&browser), json!(["take", "meditate"]));
    // A word without a place in the picture is a button.
    press(&browser, "meditate");
    let colors = words(&browser);
    assert_eq!(colors.as_array().unwrap().len(), 8, "{colors}");
    press(&browser, "blue");
    wait_for_entry(&browser, 1);
    assert_eq!(entries(&service, "maya", &host)[0]["command"], "meditate blue");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_47_a_command_is_shown_before_it_is_sent() {
    let Some(browser) = Browser::start_online("previews") else { return };
    // On a touch screen the preview needs no setting.
    preview(&browser, || {
        browser.command("Emulation.setTouchEmulationEnabled", &json!({ "enabled": true }));
        browser.wait_until("return matchMedia('(pointer: coarse)').matches");
    });
}

/// Previews a command, cancels it, and sends it.
pub(super) fn preview(browser: &Browser, ask_for_previews: impl Fn()) {
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    join(browser, &service, "maya", "p1", service.origin());
    ask_for_previews();
    wait_for_offer(browser);
    let choose = || {
        let energy = marked(browser, "reach")[0].clone();
        browser.click(&named(&energy));
        browser.click(&named("p1 row 1"));
        browser.wait_until(
            "return document.querySelector('.answer').textContent.startsWith('As far as you know: ')",
        );
        energy
    };
    let energy = choose();
    let count = energy.split(' ').next_back().unwrap();
    assert_eq!(words(browser), json!([format!("Do it: take 1 {count}"), "Undo a word"]));
    let is_in_row = format!(
        "return !!document.querySelector('{}').closest('.row').querySelector('{}')",
        named("p1 row 1"),
        named(&energy)
    );
    assert_eq!(browser.run(&is_in_row), true, "the picture shows the energy where it would go");
    assert_eq!(entries(&service, "maya", &host).len(), 0);
    press(browser, "Undo a word");
    assert_eq!(browser.run(&is_in_row), false, "the picture is as it was");
    browser.click(&named("p1 row 1"));
    browser.wait_until(
        "return document.querySelector('.answer').textContent.startsWith('As far as you know: ')",
    );
    browser.click(&named("p1 row 1"));
    wait_for_entry(browser, 1);
    // Without the setting, a command is sent at once.
    browser.run("document.querySelector('.access').open = true");
    browser.wait_until("return document.querySelector('#preview').checked");
    browser.click("#preview");
    assert_eq!(browser.run("return localStorage.getItem('turnfold-preview')"), "off");
    assert_eq!(complaints(browser), Vec::<String>::new());
}

/// If a roll would follow the command, the preview does not make the roll.
#[test]
fn vw_47_a_preview_makes_no_roll() {
    let Some(browser) = Browser::start_online("previews without rolls") else { return };
    let service = Running::alone();
    let setup = "radius = 2\n[[units]]\nid = \"a\"\nowner = \"p1\"\nname = \"A\"\nat = [0, 0]\nmp = 1";
    let host = create(&service, "dice", "initiative", setup);
    browser.open(&format!("{}/m/dice#t={host}", service.origin()));
    browser.wait_until(LIVE);
    wait_for_offer(&browser);
    browser.run("localStorage.setItem('turnfold-preview', 'on'); window.asked = []; const ask = window.fetch; window.fetch = (path, options) => (String(path).endsWith('/trial') && window.asked.push(JSON.parse(options.body)), ask(path, options))");
    super::games::play(&service, "dice", &host, &[("host".into(), "roll 1 2 3 4".into())]);
    wait_for_entry(&browser, 1);
    wait_for_offer(&browser);
    browser.click(".picture [data-at=\"0,0\"]");
    browser.wait_until(
        "return document.querySelector('.answer').textContent.startsWith('As far as you know: ')",
    );
    assert_eq!(browser.run("return window.asked"), json!([{ "commands": ["p1: click 0,0"], "roll": false }]));
    browser.press(ENTER);
    wait_for_entry(&browser, 2);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_48_a_host_takes_back_the_last_entry_on_a_branch() {
    let Some(browser) = Browser::start_online("taking back") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    super::games::play(
        &service,
        "maya",
        &host,
        &[("p1".into(), "take 1 1".into()), ("p2".into(), "meditate blue".into())],
    );
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    browser.wait_until(LIVE);
    // The page asks the host whether the players agree, and without that nothing happens.
    let take_back = |agree: bool| {
        browser.run(&format!(
            "window.asked = null; window.confirm = (text) => ((window.asked = text), {agree})"
        ));
        browser.wait_until(
            "return document.querySelector('.offer button').textContent === 'Take back the last entry'",
        );
        browser.click(".offer button");
        browser.wait_until("return window.asked?.startsWith('Do all players agree')");
    };
    take_back(false);
    assert_eq!(browser.run("return location.search"), "");
    take_back(true);
    wait_for_entry(&browser, 1);
    browser.wait_until(
        "return document.body.textContent.includes('Taken back: the match continues after entry 1.')",
    );
    // The address stays that of the match, whichever branch is current (VW-85).
    assert_eq!(browser.run("return location.search"), "");
    assert_eq!(entries(&service, "maya", &host).len(), 2, "the first branch keeps its entries");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
