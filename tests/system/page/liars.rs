//! Another player's secret roll on the page: `examples/liars`.

use serde_json::json;

use super::browser::Browser;
use super::live::{self, complaints, create_with, join};
use crate::liars::Liars;
use turnfold_tests::service::Running;

#[test]
fn the_page_shows_no_roll_of_anothers_own_until_the_cups_are_lifted() {
    let Some(browser) = Browser::start_online("dice under cups") else { return };
    let liars = Liars::build();
    let service = Running::start_by(liars.command("serve --listen 127.0.0.1:0"));
    let host = create_with(&service, "table", "liars", "players = 2\ndice = 2\n", "recorded");
    let entries = "/v1/matches/table/branches/main/entries";
    let give = |commands: &[&str]| {
        let played = service.send("POST", entries, &host, &json!({ "commands": commands }).to_string());
        assert_eq!(played.status, 201, "{}", played.body);
    };
    give(&["roll 2 2", "roll 1 4", "p1: bid 1 3"]);
    join(&browser, &service, "table", "p2", service.origin());
    browser.wait_until("return document.body.textContent.includes('roll ? ?')");
    assert_eq!(browser.run("return document.body.textContent.includes('roll 2 2')"), false);
    assert_eq!(browser.run("return document.body.textContent.includes('roll 1 4')"), true);
    live::give(&browser, "doubt");
    browser.wait_until("return document.body.textContent.includes('roll 2 2')");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
