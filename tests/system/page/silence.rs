//! The page notices a silent service, and tries again as soon as that may help (VW-42).

use rustix::process::{Pid, Signal, kill_process};

use super::browser::Browser;
use super::games::play;
use super::live::{LIVE, create, entries, give, join, wait_for_entry};
use turnfold_tests::service::Running;

/// A script that shortens the page's waits: 1 s instead of 15 s, and 3 s instead of 45 s.
const SHORT: &str = "window.longTimeout = window.setTimeout;
    window.setTimeout = (act, ms) => longTimeout(act, ms === 45_000 ? 3_000 : ms === 15_000 ? 1_000 : ms);";

#[test]
fn vw_42_a_silent_service_is_noticed_and_asked_again_when_the_network_is_back() {
    let Some(browser) = Browser::start_online("a silent service") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", "players = 2\nseed = 7");
    join(&browser, &service, "maya", "p2", service.origin());
    browser.run(SHORT);
    // The next byte of the stream restarts the wait.
    play(&service, "maya", &host, &[("p1".into(), "take 1 1".into())]);
    wait_for_entry(&browser, 1);
    let process = i32::try_from(service.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    give(&browser, "take 1 10");
    browser.wait_until("return document.querySelector('.connection').textContent.includes('Trying again')");
    browser.wait_until("return document.querySelector('.answer').textContent.includes('Sending it again')");
    browser.run("window.setTimeout = window.longTimeout");
    kill_process(process, Signal::CONT).unwrap();
    // A wait of a minute ends when the network is back, or when the page is visible again.
    for event in
        ["window.dispatchEvent(new Event('online'))", "document.dispatchEvent(new Event('visibilitychange'))"]
    {
        browser.run(&format!("{event}; return true"));
        browser.wait_until(LIVE);
    }
    wait_for_entry(&browser, 2);
    assert_eq!(entries(&service, "maya", &host).len(), 2, "the command was sent again with its key");
}
