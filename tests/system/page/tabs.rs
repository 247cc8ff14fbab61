//! Several tabs of one browser: they share one stream (VW-23), each keeps its own seat (VW-38), and the address follows
//! the match (VW-14).

use std::fs;
use std::net::TcpListener;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use super::browser::{Browser, find_program};
use super::live::{LIVE, complaints, create, entries, give, play_as, wait_for_entry, wait_for_offer};
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// The number of tabs: twice the number of connections that browsers open to an HTTP/1.1 server.
const TABS: usize = 12;

/// The condition that a page follows the match, by its own stream or that of another tab.
const FOLLOWING: &str =
    "return /^(Live|Asked)/.test(document.querySelector('.connection')?.textContent ?? '')";

fn link_of(service: &Running, name: &str, grant: &str, origin: &str) -> String {
    service.grant(name, grant)["link"].as_str().unwrap().replace(service.origin(), origin)
}

/// Returns the number of streams of a service.
fn streams(service: &Running) -> u64 {
    service.send("GET", "/v1/status", service.admin(), "").json()["streams"].as_u64().unwrap()
}

/// Waits until a service has the expected number of streams. A browser may end streams late, and a proxy passes that on
/// even later.
fn wait_for_streams(browser: &Browser, service: &Running, expected: RangeInclusive<u64>) {
    for _ in 0..200 {
        if expected.contains(&streams(service)) {
            return;
        }
        browser.run_until_done("setTimeout(arguments[arguments.length - 1], 50)");
    }
    panic!("{} streams instead of {expected:?}", streams(service));
}

/// Opens windows of one match as one player, and as many windows of different matches, and plays in the last one.
fn play_in_the_last_of_many(browser: &Browser, service: &Running, origin: &str) {
    let host = create(service, "maya", "channel", SETUP);
    let first = browser.window();
    browser.open(&link_of(service, "maya", r#"{"kind":"seat","seat":"p1"}"#, origin));
    browser.wait_until(LIVE);
    let mut windows = vec![first];
    for _ in 1..TABS {
        windows.push(browser.open_window());
        browser.open(&format!("{origin}/m/maya"));
        browser.wait_until(LIVE);
    }
    wait_for_streams(browser, service, 1..=1);
    wait_for_offer(browser);
    give(browser, "take 1 1");
    for window in &windows {
        browser.switch_to(window);
        wait_for_entry(browser, 1);
    }
    assert_eq!(entries(service, "maya", &host).len(), 1);
    // The tab that reads the stream is closed, and another tab takes over.
    browser.switch_to(&windows[0]);
    browser.close_window();
    play_as(service, "maya", "p2", "take 1 10");
    for window in &windows[1..] {
        browser.switch_to(window);
        wait_for_entry(browser, 2);
    }
    wait_for_streams(browser, service, 1..=1);
    // A different match in each window: there are few streams, and all pages are updated.
    for (number, window) in windows[1..].iter().enumerate() {
        let name = format!("maya{number}");
        create(service, &name, "channel", SETUP);
        browser.switch_to(window);
        browser.open(&link_of(service, &name, r#"{"kind":"seat","seat":"p1"}"#, origin));
        browser.wait_until(FOLLOWING);
    }
    wait_for_offer(browser);
    give(browser, "take 1 1");
    wait_for_entry(browser, 1);
    // Three streams are read, and one tab at a time asks for other news. The next tab may ask before the service has
    // noticed that the last one is done. So more than four streams are correct for a moment, but must not stay.
    for _ in 0..20 {
        wait_for_streams(browser, service, 3..=4);
        browser.run_until_done("setTimeout(arguments[arguments.length - 1], 50)");
    }
    assert_eq!(complaints(browser), Vec::<String>::new());
}

#[test]
fn vw_23_twelve_tabs_play_over_http_1() {
    let Some(browser) = Browser::start_online("twelve tabs") else { return };
    let service = Running::alone();
    let origin = service.origin().to_owned();
    play_in_the_last_of_many(&browser, &service, &origin);
}

/// nginx with the configuration of the guide, ended with the test.
struct Proxy(Child);

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Puts nginx in front of a service as in the guide, and returns its origin.
fn proxy(service: &Running, dir: &Path) -> Option<(Proxy, String)> {
    let Some(nginx) = find_program(&["nginx"])
        .or_else(|| Some("/usr/sbin/nginx".into()).filter(|path: &std::path::PathBuf| path.is_file()))
    else {
        skipped("tabs over HTTP/2", "`nginx` is not here");
        return None;
    };
    let guide = fs::read_to_string(workspace().join("docs/guide/operate.md")).unwrap();
    let (_, rest) = guide.split_once("```nginx\n").unwrap();
    let (server, _) = rest.split_once("```").unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tls = workspace().join("tests/system/serve/tls");
    let server = server
        .replace("listen 443 ", &format!("listen 127.0.0.1:{port} "))
        .replace("http://127.0.0.1:8017", service.origin())
        .replace("/etc/ssl/play.example.pem", &tls.join("localhost.pem").display().to_string())
        .replace("/etc/ssl/play.example.key", &tls.join("localhost.key").display().to_string());
    let at = dir.display();
    let config = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/errors; events {{}}\nhttp {{ access_log {at}/access; \
         log_format protocol '$server_protocol $uri'; access_log {at}/protocols protocol; client_body_temp_path {at}/body; \
         proxy_temp_path {at}/proxy; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u; scgi_temp_path {at}/s;\n{server}}}"
    );
    fs::write(dir.join("nginx.conf"), config).unwrap();
    let mut nginx = Command::new(nginx);
    nginx.arg("-p").arg(dir).arg("-c").arg(dir.join("nginx.conf")).arg("-e").arg(dir.join("errors"));
    let child = nginx.stdin(Stdio::null()).spawn().unwrap();
    Some((Proxy(child), format!("https://127.0.0.1:{port}")))
}

#[test]
fn vw_23_twelve_tabs_play_over_http_2_behind_the_proxy_of_the_guide() {
    let Some(browser) = Browser::start_online("twelve tabs over HTTP/2") else { return };
    let service = Running::alone();
    let dir = TempDir::new().unwrap();
    let Some((_proxy, origin)) = proxy(&service, dir.path()) else { return };
    play_in_the_last_of_many(&browser, &service, &origin);
    let protocols = fs::read_to_string(dir.path().join("protocols")).unwrap();
    assert!(protocols.lines().count() > 100, "{protocols}");
    assert!(protocols.lines().all(|line| line.starts_with("HTTP/2.0 ")), "{protocols}");
}

#[test]
fn vw_23_a_hidden_tab_has_no_stream_and_comes_back_to_what_is_new() {
    let Some(browser) = Browser::start_online("a hidden tab") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    browser.open(&link_of(&service, "maya", r#"{"kind":"seat","seat":"p2"}"#, service.origin()));
    browser.wait_until(LIVE);
    wait_for_streams(&browser, &service, 1..=1);
    let show = |state: &str| {
        browser.run(&format!(
            "Object.defineProperty(document, 'visibilityState', {{ configurable: true, get: () => {state:?} }}); document.dispatchEvent(new Event('visibilitychange'))"
        ));
    };
    show("hidden");
    wait_for_streams(&browser, &service, 0..=0);
    assert_eq!(browser.run(LIVE), false, "it does not claim to be live");
    play_as(&service, "maya", "p1", "take 1 1");
    show("visible");
    browser.wait_until(LIVE);
    wait_for_entry(&browser, 1);
    // Calls to a player who looks elsewhere still work, because a hidden tab asks now and then.
    browser.run("window.longTimeout = window.setTimeout; window.setTimeout = (act, ms) => longTimeout(act, ms === 30_000 ? 300 : ms)");
    show("hidden");
    play_as(&service, "maya", "p2", "take 1 10");
    play_as(&service, "maya", "p1", "take 1 4");
    browser.wait_until("return document.title.startsWith('● Your turn')");
    wait_for_entry(&browser, 3);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Waits until a page is live as this viewer.
fn wait_for_seat(browser: &Browser, who: &str) {
    browser.wait_until(&format!(
        "return !!document.querySelector('.connection.live') && document.querySelector('.access summary').textContent === 'You are: {who}'"
    ));
}

#[test]
fn vw_38_a_tab_keeps_its_seat_when_it_is_loaded_again() {
    let Some(browser) = Browser::start_online("two seats in two tabs") else { return };
    let service = Running::alone();
    let host = create(&service, "maya", "channel", SETUP);
    let first = browser.window();
    browser.open(&link_of(&service, "maya", r#"{"kind":"seat","seat":"p1"}"#, service.origin()));
    wait_for_seat(&browser, "p1");
    let second = browser.open_window();
    browser.open(&link_of(&service, "maya", r#"{"kind":"seat","seat":"p2"}"#, service.origin()));
    wait_for_seat(&browser, "p2");
    let third = browser.open_window();
    browser.open(&format!("{}/m/maya#t={host}", service.origin()));
    wait_for_seat(&browser, "host");
    for (window, who) in [(&first, "p1"), (&second, "p2"), (&third, "host")] {
        browser.switch_to(window);
        browser.run("location.reload()");
        wait_for_seat(&browser, who);
        assert_eq!(browser.text("header .note"), "");
    }
    // The viewer that the host chose also stays.
    browser.run("const seat = document.querySelector('#look-as'); seat.value = 'p2'; seat.dispatchEvent(new Event('change'))");
    wait_for_seat(&browser, "host, as p2");
    browser.run("location.reload()");
    wait_for_seat(&browser, "host, as p2");
    // A change is reported, both after another link is opened and after another tab forgets the token.
    browser.switch_to(&second);
    let guest = link_of(&service, "maya", r#"{"kind":"spectator"}"#, service.origin());
    browser.run(&format!("location.hash = '{}'", guest.split_once('#').unwrap().1));
    wait_for_seat(&browser, "spectator");
    assert_eq!(browser.text("header .note"), "You are spectator here now, no longer p2.");
    browser.run("const kept = JSON.parse(localStorage.getItem('turnfold:maya')); kept.tokens = kept.tokens.filter(({ seat }) => seat !== 'p1'); localStorage.setItem('turnfold:maya', JSON.stringify(kept))");
    browser.switch_to(&first);
    browser.run("location.reload()");
    wait_for_seat(&browser, "spectator");
    assert_eq!(browser.text("header .note"), "You are spectator here now, no longer p1.");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_14_who_follows_the_end_follows_it_when_the_page_is_loaded_again() {
    let Some(browser) = Browser::start_online("coming back") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    browser.open(&link_of(&service, "maya", r#"{"kind":"seat","seat":"p1"}"#, service.origin()));
    browser.wait_until(LIVE);
    wait_for_offer(&browser);
    give(&browser, "take 1 1");
    wait_for_entry(&browser, 1);
    browser.wait_until("return document.querySelector('.turn').textContent === 'Waiting for p2'");
    let address = browser.run("return new Promise((done) => setTimeout(() => done(location.href), 300))");
    assert_eq!(address, json!(format!("{}/m/maya", service.origin())), "following is no entry");
    browser.open("about:blank");
    play_as(&service, "maya", "p2", "take 1 10");
    browser.open(address.as_str().unwrap());
    wait_for_entry(&browser, 2);
    wait_for_offer(&browser);
    // An entry in the address stays, even the last one, and new entries are announced.
    browser.open(&format!("{}/m/maya#2", service.origin()));
    browser.wait_until(LIVE);
    play_as(&service, "maya", "p1", "take 1 4");
    browser.wait_until("return document.querySelector('.fresh').textContent === '1 new'");
    assert_eq!(browser.text(".status strong"), "2");
    browser.click(".fresh");
    wait_for_entry(&browser, 3);
    browser.wait_until("return location.hash === ''");
    // Stepping puts the entry into the address, and reaching the end follows the match again.
    browser.click("[aria-label=Previous]");
    browser.wait_until("return location.hash === '#2'");
    browser.click("[aria-label=Next]");
    browser.wait_until("return location.hash === ''");
    // A copied link names the entry.
    browser.run("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (window.copied = text) } }); document.querySelector('.copy').click()");
    browser.wait_until("return window.copied?.endsWith('/m/maya#3')");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}
