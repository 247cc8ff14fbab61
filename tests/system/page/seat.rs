//! A seat that its player keeps: the saved link, names, and what the host sees of players who joined (VW-59, VW-60).

use serde_json::{Value, json};

use super::browser::Browser;
use super::live::{complaints, create, give_first, wait_for_entry};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// A name that is markup if it is not escaped.
const HOSTILE: &str = "<img src=x onerror=alert(1)> 李";

/// Waits until a page is live as this viewer.
pub(super) fn wait_for(browser: &Browser, who: &str) {
    browser.wait_until(&format!(
        "return !!document.querySelector('.connection.live') && document.querySelector('.access summary').textContent === {:?}",
        format!("You are: {who}")
    ));
}

/// Creates an invitation and returns its link.
pub(super) fn invite(service: &Running, seat: &str) -> String {
    let grant = service.grant("maya", &json!({ "kind": "invitation", "seat": seat }).to_string());
    grant["link"].as_str().unwrap().to_owned()
}

/// Opens an invitation and tries to join under a name.
pub(super) fn try_to_join(browser: &Browser, link: &str, name: &str) {
    browser.open(link);
    browser.wait_until("return !!document.querySelector('main button.primary')");
    send_name(browser, name);
}

fn send_name(browser: &Browser, name: &str) {
    browser.run("document.querySelector('#player').value = ''");
    browser.type_into("#player", name);
    browser.click("main button.primary");
}

/// Waits until the page of an invitation shows this note.
fn wait_for_note(browser: &Browser, note: &str) {
    browser.wait_until(&format!(
        "return !!document.querySelector('.panel .note')?.textContent.includes({note:?})"
    ));
}

/// Reads the QR code of a page as a phone does.
fn read_code(browser: &Browser) -> String {
    const SCALE: usize = 4;
    let dark = browser.run(
        "const { width } = document.querySelector('.qr').viewBox.baseVal;
         return [width, ...[...document.querySelector('.qr path').getAttribute('d').matchAll(/M(\\d+) (\\d+)/g)].map(([, x, y]) => [+x, +y])]",
    );
    let dark = dark.as_array().unwrap();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let size = number(&dark[0]) * SCALE;
    let mut pixels = vec![255_u8; size * size];
    for square in &dark[1..] {
        let [left, top] = [0, 1].map(|at| number(&square[at]) * SCALE);
        for pixel in 0..SCALE * SCALE {
            pixels[(top + pixel / SCALE) * size + left + pixel % SCALE] = 0;
        }
    }
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(size, size, |x, y| pixels[y * size + x]);
    let codes = image.detect_grids();
    codes[0].decode().unwrap().1
}

#[test]
fn vw_59_the_saved_link_brings_a_seat_back_and_to_another_device() {
    let Some(browser) = Browser::start_online("a saved link") else { return };
    let Some(phone) = Browser::start_online("a saved link") else { return };
    save_link(&browser, &phone);
}

/// Joins, saves the link in every way, loses all data, and opens the link here and on another device.
pub(super) fn save_link(browser: &Browser, other: &Browser) {
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    try_to_join(browser, &invite(&service, "p1"), "Ann  Lee");
    wait_for(browser, "Ann Lee (p1)");
    let is_reminded = "return document.querySelector('.reminder').checkVisibility()";
    assert_eq!(browser.run(is_reminded), true);
    browser.click(".reminder");
    browser.wait_until("return document.querySelector('.access').open");
    let token = browser.run("return JSON.parse(localStorage.getItem('turnfold:maya')).tokens[0].token");
    let link = format!("{}/m/maya#t={}", service.origin(), token.as_str().unwrap());
    let mail =
        "return decodeURIComponent(new URL(document.querySelector('.mailto').href).searchParams.get('body'))";
    assert_eq!(browser.run(mail), json!(link));
    browser.run("[...document.querySelectorAll('.save button')].at(-1).click()");
    assert_eq!(read_code(browser), link);
    // The link is saved elsewhere now, so there is no reminder, even after a reload.
    assert_eq!(browser.run(is_reminded), false);
    browser.open(&format!("{}/m/maya", service.origin()));
    wait_for(browser, "Ann Lee (p1)");
    assert_eq!(browser.run(is_reminded), false);
    // If the browser does not let pages copy, the page shows the link instead.
    browser.run("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async () => Promise.reject(new Error()) } })");
    browser
        .run("document.querySelector('.access').open = true; document.querySelector('.save button').click()");
    browser.wait_until("return !!document.querySelector('.myseat .link')");
    assert_eq!(browser.run("return document.querySelector('.myseat .link').value"), json!(link));
    // All data of the browser is gone, and the link restores the seat.
    browser.run("localStorage.clear(); sessionStorage.clear()");
    browser.open(&format!("{}/m/maya", service.origin()));
    browser.wait_until("return !!document.querySelector('.noaccess')");
    browser.open(&link);
    wait_for(browser, "Ann Lee (p1)");
    other.open(&link);
    wait_for(other, "Ann Lee (p1)");
    assert_eq!(other.run(is_reminded), false, "who came by the link has it");
    give_first(other);
    for device in [browser, other] {
        wait_for_entry(device, 1);
        assert_eq!(complaints(device), Vec::<String>::new());
    }
}

#[test]
fn vw_59_a_host_who_made_a_match_on_the_page_is_reminded_too() {
    let Some(browser) = Browser::start_online("a host's link") else { return };
    let service = Running::alone();
    browser.open(&format!("{}/", service.origin()));
    browser.run(&format!("sessionStorage.setItem('turnfold-admin', {:?})", service.admin()));
    browser.open(&format!("{}/", service.origin()));
    browser.run("document.querySelector('.fold').open = true");
    browser.wait_until("return !!document.querySelector('#name')");
    browser.run("document.querySelector('#ruleset').value = 'channel'; document.querySelector('#ruleset').dispatchEvent(new Event('change'))");
    browser.type_into("#name", "maya");
    browser.click(".newmatch .primary");
    wait_for(&browser, "host");
    browser.click(".reminder");
    browser.run("[...document.querySelectorAll('.save button')].at(-1).click()");
    let link = read_code(&browser);
    browser.run("localStorage.clear(); sessionStorage.clear()");
    browser.open(&link);
    wait_for(&browser, "host");
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

#[test]
fn vw_60_the_first_to_join_has_the_seat_and_the_host_sees_who_joined() {
    let Some(first) = Browser::start_online("two invitations to a seat") else { return };
    let Some(second) = Browser::start_online("two invitations to a seat") else { return };
    let Some(host) = Browser::start_online("two invitations to a seat") else { return };
    let service = Running::alone();
    let token = create(&service, "maya", "channel", SETUP);
    let [one, other] = ["p1", "p1"].map(|seat| invite(&service, seat));
    // Both players open an invitation before either joins.
    second.open(&other);
    second.wait_until("return !!document.querySelector('main button.primary')");
    try_to_join(&first, &one, "Ann");
    wait_for(&first, "Ann (p1)");
    send_name(&second, "Bo");
    wait_for_note(&second, "Someone else joined first and has the seat.");
    assert_eq!(second.run("return document.querySelectorAll('main button.primary').length"), 0);
    second.open(&other);
    wait_for_note(&second, "Someone else joined first");
    // The host sees the player, and revokes the seat.
    host.open(&format!("{}/m/maya#t={token}", service.origin()));
    wait_for(&host, "host");
    host.run("document.querySelector('.grants').closest('details').open = true");
    let row = "[...document.querySelectorAll('.grants li')].find((one) => one.querySelector('bdi').textContent === 'seat p1 Ann')";
    host.wait_until(&format!("return !!{row}"));
    let text = host.run(&format!("return {row}.textContent"));
    let text = text.as_str().unwrap();
    assert!(text.contains("joined ") && text.contains("here now"), "{text}");
    host.run(&format!("window.confirm = () => true; {row}.querySelector('button').click()"));
    first.wait_until("return document.body.textContent.includes('has taken this access back')");
    host.wait_until(&format!("return !{row}"));
    // The other invitation is not spent, so it can take the seat and the name now.
    try_to_join(&second, &other, "ann");
    wait_for(&second, "ann (p1)");
}

#[test]
fn sv_41_names_are_seen_by_all_players_and_never_as_markup() {
    let Some(first) = Browser::start_online("names of players") else { return };
    let Some(second) = Browser::start_online("names of players") else { return };
    let service = Running::alone();
    create(&service, "maya", "channel", SETUP);
    try_to_join(&first, &invite(&service, "p1"), HOSTILE);
    wait_for(&first, &format!("{HOSTILE} (p1)"));
    // Neither a taken nor an invalid name spends the invitation.
    try_to_join(&second, &invite(&service, "p2"), &HOSTILE.to_uppercase());
    wait_for_note(&second, "Another player of this match has that name");
    send_name(&second, "p1");
    wait_for_note(&second, "A name has 1 to 32 visible characters");
    send_name(&second, "Bo");
    wait_for(&second, "Bo (p2)");
    second.wait_until(&format!(
        "return document.querySelector('.turn').textContent === {:?}",
        format!("Waiting for {HOSTILE}")
    ));
    give_first(&first);
    for browser in [&first, &second] {
        wait_for_entry(browser, 1);
        assert_eq!(browser.text(".status .seat"), HOSTILE);
        assert_eq!(browser.text(".entries [aria-current] .seat"), HOSTILE);
        let players = browser.run(
            "return [...document.querySelectorAll('.players bdi')].map(({ textContent }) => textContent)",
        );
        assert_eq!(players, json!([HOSTILE, "Bo"]));
        assert_eq!(browser.run("return document.querySelectorAll('img').length"), 0);
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
    first.wait_until("return document.querySelector('.turn').textContent === 'Waiting for Bo'");
    first.open(&format!("{}/", service.origin()));
    first.wait_until(
        "return !!document.querySelector('.matches .note')?.textContent.includes('waiting for Bo')",
    );
}

#[test]
fn vw_65_a_player_chooses_whether_and_where_to_be_called() {
    let Some(browser) = Browser::start_online("where to be called") else { return };
    let sandbox = Sandbox::new();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--notify", "cat >> calls.txt", "--notify-after", "0"];
    let service = Running::start_by(sandbox.command(serve));
    let host = create(&service, "maya", "channel", SETUP);
    try_to_join(&browser, &invite(&service, "p2"), "Bo");
    wait_for(&browser, "Bo (p2)");
    browser.run("document.querySelector('.access').open = true");
    browser.wait_until("return document.querySelector('.calls').checkVisibility()");
    browser.type_into("#call-to", "bo@example.org");
    browser.click(".calls button");
    browser.wait_until(
        "return document.querySelector('.calls .note').textContent === 'You are called there on your turns.'",
    );
    // It becomes the player's turn after the page is closed.
    let token = browser.run("return JSON.parse(localStorage.getItem('turnfold:maya')).tokens[0].token");
    browser.open("about:blank");
    let has_stream = || {
        let status = service.send("GET", "/v1/status", service.admin(), "");
        status.json()["streams"] != json!(0)
    };
    // The service notices the closed page when it next writes to the stream.
    for _ in 0..1200 {
        if !has_stream() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let commands = [("p1".into(), "take 1 1".into())];
    super::games::play(&service, "maya", &host, &commands);
    let called = (0..600).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        std::fs::read_to_string(sandbox.path("calls.txt")).ok().filter(|text| text.ends_with('\n'))
    });
    let called: Value = serde_json::from_str(&called.expect("the player is called")).unwrap();
    assert_eq!((&called["to"], &called["name"]), (&json!("bo@example.org"), &json!("Bo")));
    // An empty field ends the calls.
    browser.open(&format!("{}/m/maya", service.origin()));
    wait_for(&browser, "Bo (p2)");
    browser.run("document.querySelector('.access').open = true");
    browser.wait_until("return document.querySelector('#call-to')?.value === 'bo@example.org'");
    browser.run("document.querySelector('#call-to').value = ''");
    browser.click(".calls button");
    browser.wait_until("return document.querySelector('.calls .note').textContent === 'You are not called.'");
    let known = service.send("GET", "/v1/matches/maya/call", token.as_str().unwrap(), "");
    assert_eq!(known.json(), json!({"to": null}));
}
