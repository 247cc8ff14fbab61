//! A file saved by a page is the same as the file written by the verb for the same viewer (VW-25, VW-26).

use std::fs;

use serde_json::json;

use super::browser::Browser;
use super::games::{Golden, play};
use super::live::{LIVE, complaints, create, join};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// Presses a button of the page, and returns the bytes of the file that is saved under this name.
pub(super) fn saved(browser: &Browser, button: &str, name: &str) -> Vec<u8> {
    let saved = browser.dir().join("saved");
    let behavior = json!({ "behavior": "allow", "downloadPath": saved });
    browser.command("Browser.setDownloadBehavior", &behavior);
    browser.run(&format!(
        "const button = [...document.querySelectorAll('.files button')].find((one) => one.textContent === {button:?});\n\
         button.closest('details')?.setAttribute('open', '');\n\
         button.click();"
    ));
    // Until the file is complete it has another name, and an empty file reserves this name.
    let path = saved.join(name);
    for _ in 0..3_000 {
        if let Some(bytes) = fs::read(&path).ok().filter(|bytes| !bytes.is_empty()) {
            fs::remove_file(&path).unwrap();
            return bytes;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("`{name}` is not saved: {}", browser.text("main"));
}

#[test]
fn vw_25_a_page_saves_what_the_verb_writes_for_that_seat() {
    const PAGE: &str = "Page of what you see (.html)";
    const REPLAY: &str = "Replay file (.tfl)";
    let Some(browser) = Browser::start_online("downloads") else { return };
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let Golden { ruleset, setup, commands } = Golden::read("cycletap/nobody-is-left.tfl");
    let host = create(&service, "secrets", &ruleset, &setup);
    // p1 is still planning, and the plan is secret.
    play(&service, "secrets", &host, &commands[..2]);
    browser.open(&format!("{}/m/secrets#t={host}", service.origin()));
    browser.wait_until(LIVE);
    let host_has =
        [(PAGE, "secrets.html"), (REPLAY, "secrets.tfl")].map(|(what, name)| saved(&browser, what, name));
    join(&browser, &service, "secrets", "p2", service.origin());
    let hidden = "return [...document.querySelectorAll('.files button')].filter((one) => one.hidden).map((one) => one.textContent)";
    assert_eq!(browser.run(hidden), json!([REPLAY]), "before it is over a player has no replay file");
    let player_has = saved(&browser, PAGE, "secrets.html");
    assert_eq!(complaints(&browser), Vec::<String>::new());
    drop(service);
    for (saved, line) in [
        (&host_has[0], "export secrets --html"),
        (&host_has[1], "export secrets"),
        (&player_has, "export secrets --html --as p2"),
    ] {
        assert!(*saved == sandbox.run(line).stdout, "{line}: the page saved {} bytes", saved.len());
    }
    assert!(!String::from_utf8(player_has).unwrap().contains("origin_selected"));
}
