//! The layout of the pages of a service: everything is in its place, in the middle of games (VW-31).

use std::path::Path;
use std::{env, fs};

use serde_json::json;

use super::browser::Browser;
use super::games::{Golden, play};
use super::live::{LIVE, complaints, create, wait_for_entry};
use super::looks::{OVERFLOWING, SMALL, media, size};
use turnfold_tests::service::Running;

/// A golden log of each ruleset, and a number of entries after which it is p1's turn.
const GAMES: [(&str, usize); 5] = [
    ("channel/a-game-for-four.tfl", 100),
    ("cycletap/deploys.tfl", 3),
    ("hexcapture/seeded-game.tfl", 100),
    ("initiative/lance-against-star.tfl", 23),
    ("lifecycle/statuses.tfl", 8),
];

/// A script that returns overlapping or invisible parts that a player needs, and cut texts.
pub(super) const MISPLACED: &str = "
    const name = (one) => (one.id || one.getAttribute('aria-label') || one.textContent).slice(0, 40);
    const box = (one) => one.getBoundingClientRect();
    const meet = (one, other) => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1;
    const list = document.querySelector('.legal');
    const targets = [...document.querySelectorAll(':is(header, .dock) :is(button, input, select, summary)')]
      .filter((one) => one.checkVisibility() && !one.closest('details:not([open]) > .panel') && (!list.contains(one) || meet(box(one), box(list))));
    const found = targets.flatMap((one, index) => targets.slice(index + 1)
      .filter((other) => list.contains(one) === list.contains(other) && meet(box(one), box(other))).map((other) => `${name(one)} over ${name(other)}`));
    const [dock, stage, commands] = ['.dock', '.stage', '.commands'].map((one) => box(document.querySelector(one)));
    if (commands.top < 0 || dock.bottom > innerHeight || dock.right > innerWidth) found.push('the commands are not in sight');
    if (dock.top < stage.top + innerHeight / 3.5) found.push('the picture is not in sight');
    const board = document.querySelector('.field');
    if (board && box(board).top > stage.top + 60) found.push('the board is not at the top');
    const cut = targets.filter((one) => one.matches('button, summary') && one.scrollWidth > one.clientWidth + 1);
    return [...found, ...cut.map((one) => `${name(one)} is cut`)];";

/// Also writes screenshots, light and dark, to the folder that `TURNFOLD_SCREENSHOTS` names.
#[test]
fn vw_31_board_and_commands_are_in_sight_and_in_their_places() {
    let Some(browser) = Browser::start_online("the looks of live pages") else { return };
    let service = Running::alone();
    for (name, count) in GAMES {
        let Golden { ruleset, setup, commands } = Golden::read(name);
        let host = create(&service, &ruleset, &ruleset, &setup);
        play(&service, &ruleset, &host, &commands[..count]);
        let frames =
            service.send("GET", &format!("/v1/matches/{ruleset}/branches/main/frames?as=p1"), &host, "");
        let link = service.grant(&ruleset, r#"{"kind":"seat","seat":"p1"}"#);
        browser.open(link["link"].as_str().unwrap());
        browser.wait_until(LIVE);
        wait_for_entry(&browser, frames.json()["frames"].as_array().unwrap().len());
        browser.wait_until("return !!document.querySelector('.legal:not([aria-busy])')");
        for (width, height) in [(320, 640), (1280, 900)] {
            size(&browser, width, height);
            for (what, script) in [("overflowing", OVERFLOWING), ("small", SMALL), ("misplaced", MISPLACED)] {
                assert_eq!(browser.run(script), json!([]), "{what}: {name} at {width} pixels");
            }
            let Some(folder) = env::var_os("TURNFOLD_SCREENSHOTS") else { continue };
            for scheme in ["light", "dark"] {
                media(&browser, "", scheme);
                let picture = Path::new(&folder).join(format!("live-{ruleset}-{width}-{scheme}.png"));
                fs::write(picture, browser.screenshot()).unwrap();
            }
        }
        assert_eq!(complaints(&browser), Vec::<String>::new(), "{name}");
    }
}
