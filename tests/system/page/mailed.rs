//! A match by mail that is played on the pages linked from its letters (PM-70 to PM-74).

use std::fs;

use serde_json::json;

use super::accessible::{FIND, FIND_CONTRAST};
use super::browser::Browser;
use super::installed;
use super::live::complaints;
use super::looks::{OVERFLOWING, SMALL, media, size};
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::service::Running;

/// The origin of the service in letters.
const ORIGIN: &str = "https://play.example";
/// The game of `replays/cycletap/the-last-unit-lost.tfl`: its setup, and the orders of both players in each turn.
const SETUP: &str = "radius = 2\n[[units]]\nowner = \"p1\"\nkind = \"captain\"\nat = [0, 1]\n\
                     [[units]]\nowner = \"p2\"\nkind = \"officer\"\nat = [0, 0]\n\
                     [[units]]\nowner = \"p2\"\nkind = \"officer\"\nat = [2, -2]\n";
const ORDERS: [[&[&str]; 2]; 3] = [
    [&["tap 0,1", "tap 0,0", "switch"], &["switch"]],
    [&["tap 0,0", "tap 1,-1", "switch"], &["tap 2,-2", "tap 2,-1", "switch"]],
    [&["tap 1,-1", "tap 2,-1", "switch"], &["switch"]],
];
/// A script that runs before a page's scripts, and makes the browser one without Ed25519.
const WITHOUT_ED25519: &str = "const make = self.SubtleCrypto?.prototype.generateKey;
    if (make) SubtleCrypto.prototype.generateKey = function (name, ...rest) {
      return name === 'Ed25519' ? Promise.reject(new DOMException('', 'NotSupportedError')) : make.call(this, name, ...rest);
    };";

/// A match, and the service that hosts it.
pub(super) struct Hosted {
    pub(super) mailbox: Mailbox,
    pub(super) service: Running,
}

impl Hosted {
    pub(super) fn opened(terms: &str) -> Self {
        let mailbox = Mailbox::new(terms);
        mailbox.sandbox.write("setup.toml", SETUP);
        mailbox.sandbox.ok(&format!(
            "mail open duel --rules cycletap --setup setup.toml --desk desk.toml --key host.key --origin {ORIGIN}"
        ));
        let serve = ["serve", "--listen", "127.0.0.1:0", "--key", "host.key", "--origin", ORIGIN];
        let service = Running::start_by(mailbox.sandbox.command(serve));
        Self { mailbox, service }
    }

    /// Returns the link in a letter, with the origin of this service.
    pub(super) fn link(&self, letter: &str) -> String {
        let letter = self.mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
        let link = letter.lines().map(str::trim).find(|line| line.starts_with(ORIGIN)).expect("a link");
        link.replace(ORIGIN, self.service.origin())
    }

    /// Opens the invitation of a seat and joins.
    pub(super) fn join(&self, browser: &Browser, seat: &str, name: &str) {
        browser.open(&self.link(&format!("00000001-{seat}.eml")));
        browser.wait_until("return document.querySelector('#player-name')?.checkVisibility() === true");
        assert_eq!(
            browser.run("return location.hash.includes('m=')"),
            false,
            "the code is out of the address"
        );
        browser.type_into("#player-name", name);
        browser.click(".order form .primary");
        browser.wait_until("return !document.querySelector('#player-name').checkVisibility()");
    }
}

/// Returns the condition that a page shows this text about an order.
fn noted(text: &str) -> String {
    format!("return document.querySelector('.order [role=status]').textContent.includes({text:?})")
}

/// Waits until a page asks for the order of a turn.
pub(super) fn wait_for_turn(browser: &Browser, turn: usize) {
    browser.wait_until(&format!(
        "return document.querySelector('.turn').textContent.startsWith('Turn {turn}: your order, until ') &&
           !!document.querySelector('.legal:not([aria-busy]) button')"
    ));
}

/// Chooses commands: places on the board, and words with their buttons.
pub(super) fn choose(browser: &Browser, plays: &[&str]) {
    for (index, play) in plays.iter().enumerate() {
        if let Some(place) = play.strip_prefix("tap ") {
            browser.click(&format!(".picture .reach[data-at='{place}']"));
        } else {
            browser.run(&format!(
                "[...document.querySelectorAll('.legal button')].find(({{ textContent }}) => textContent.startsWith({play:?})).click()"
            ));
        }
        let order = plays[..=index].join(",");
        browser.wait_until(&format!(
            "return [...document.querySelectorAll('.order li')].map(({{ textContent }}) => textContent).join() === {order:?} &&
               !document.querySelector('.legal[aria-busy]')"
        ));
    }
}

/// Sends the chosen order. Its receipt stays even if the order completes the turn.
pub(super) fn send(browser: &Browser) {
    browser.click(".order .files .primary");
    browser.wait_until(&noted("the host has your order: paper "));
}

/// Plays the whole game on two pages.
fn play(pages: [&Browser; 2]) {
    for (round, orders) in ORDERS.iter().enumerate() {
        for (browser, plays) in pages.iter().zip(orders) {
            wait_for_turn(browser, round + 1);
            choose(browser, plays);
            send(browser);
        }
    }
    for browser in pages {
        browser.wait_until("return document.querySelector('.turn').textContent.startsWith('Over: ')");
        assert_eq!(complaints(browser), Vec::<String>::new());
    }
}

/// Ends the service, and returns what an audit prints about the match.
fn audit(hosted: Hosted) -> String {
    let Hosted { mailbox, service } = hosted;
    drop(service);
    assert!(mailbox.sandbox.ok("log duel").contains("match_over"));
    String::from_utf8(mailbox.sandbox.run("audit").stdout).unwrap()
}

#[test]
fn pm_72_two_players_play_a_game_by_pages_alone_and_their_keys_sign_it() {
    let Some(first) = Browser::start_online("signed orders of pages") else { return };
    let Some(second) = Browser::start_online("signed orders of pages") else { return };
    let hosted = Hosted::opened("hosted = []\n");
    hosted.join(&first, "p1", "Ann Miller");
    hosted.join(&second, "p2", "Ben");
    play([&first, &second]);
    // The page shows what was signed, which is what was chosen.
    let signed = first.text(".json[aria-label='What was signed']");
    assert!(signed.starts_with("#turnfold paper 1\npaper: order\n"), "{signed}");
    assert!(
        signed.contains("\nplay: tap 1,-1\nplay: tap 2,-1\nplay: switch\n\n\u{2014} ann.miller "),
        "{signed}"
    );
    let printed = audit(hosted);
    assert!(printed.contains("authorship   PASS"), "{printed}");
    assert!(printed.contains("14 commands by signed orders"), "{printed}");
    for name in ["p1 of duel signs as ann.miller+", "p2 of duel signs as ben+"] {
        assert!(printed.contains(name), "{printed}");
    }
}

#[test]
fn pm_73_a_browser_without_ed25519_plays_a_seat_without_a_key() {
    let Some(first) = Browser::start_online("orders without a key") else { return };
    let Some(second) = Browser::start_online("orders without a key") else { return };
    let hosted = Hosted::opened("hosted = []\nplain = [\"p2\"]\n");
    for browser in [&first, &second] {
        browser.command("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": WITHOUT_ED25519 }));
    }
    // The page cannot join a seat that needs a key, and explains why.
    first.open(&hosted.link("00000001-p1.eml"));
    first.wait_until("return document.querySelector('#player-name')?.checkVisibility() === true");
    first.type_into("#player-name", "Ann");
    first.click(".order form .primary");
    first.wait_until(&noted("Not sent: this browser cannot make a key"));
    let Some(able) = Browser::start_online("orders without a key") else { return };
    hosted.join(&able, "p1", "Ann");
    hosted.join(&second, "p2", "Ben");
    play([&able, &second]);
    let printed = audit(hosted);
    assert!(printed.contains("p2 ordered by plain mail: the host vouches"), "{printed}");
}

#[test]
fn pm_71_key_and_draft_outlive_a_reload_and_no_secret_leaves_the_browser() {
    let Some(browser) = Browser::start_online("a reload of an order") else { return };
    let Some(other) = Browser::start_online("a reload of an order") else { return };
    let hosted = Hosted::opened("hosted = []\n");
    let code = hosted.link("00000001-p1.eml").split_once("#m=").unwrap().1.to_owned();
    hosted.join(&browser, "p1", "Ann");
    hosted.join(&other, "p2", "Ben");
    wait_for_turn(&browser, 1);
    choose(&browser, &["tap 0,1"]);
    browser.open(&format!("{}/m/duel", hosted.service.origin()));
    wait_for_turn(&browser, 1);
    browser.wait_until("return document.querySelector('.order li')?.textContent === 'tap 0,1'");
    send(&browser);
    browser.wait_until("return document.querySelector('.order > .note').textContent === 'Sent: tap 0,1.'");
    // The order can be replaced until the turn is played.
    wait_for_sent(&browser);
    choose(&browser, &["switch"]);
    send(&browser);
    browser.wait_until("return document.querySelector('.order > .note').textContent === 'Sent: switch.'");
    // Not even the page can read the key, and the code is stored nowhere.
    let key = browser.run_until_done(
        "const done = arguments[0];
         const opening = indexedDB.open('turnfold');
         opening.onsuccess = () => {
           const asked = opening.result.transaction('keys').objectStore('keys').get('duel p1');
           asked.onsuccess = () => {
             const { privateKey } = asked.result.pair;
             crypto.subtle.exportKey('pkcs8', privateKey).then(() => done('exported'), () => done(privateKey.extractable));
           };
         };",
    );
    assert_eq!(key, json!(false));
    let kept = browser.run(
        "return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, history.state])",
    );
    assert!(!kept.as_str().unwrap().contains(&code), "{kept}");
    let token = browser.run("return JSON.parse(localStorage['turnfold:duel']).tokens[0].token");
    assert_ne!(other.run("return JSON.parse(localStorage['turnfold:duel']).tokens[0].token"), token);
    // The link of a joined seat opens nothing in other browsers, but still works where it was opened.
    other.open(&hosted.link("00000001-p1.eml"));
    wait_for_turn(&other, 1);
    assert!(other.text(".access summary").ends_with("p2"), "{}", other.text(".access summary"));
    browser.open(&hosted.link("00000001-p1.eml"));
    wait_for_sent(&browser);
    assert_eq!(complaints(&browser), Vec::<String>::new());
}

/// Waits until a page confirms an order.
fn wait_for_sent(browser: &Browser) {
    browser.wait_until(
        "return document.querySelector('.turn').textContent.includes('your order is in. Waiting for p2, until') &&
           !!document.querySelector('.legal:not([aria-busy]) button')",
    );
}

#[test]
fn pm_71_the_page_by_mail_is_for_everyone_on_phones_and_screens() {
    let Some(axe) = installed("axe-core on the page by mail", "axe-core/axe.min.js") else { return };
    let Some(browser) = Browser::start_online("axe-core on the page by mail") else { return };
    let Some(other) = Browser::start_online("axe-core on the page by mail") else { return };
    let axe = fs::read_to_string(axe).unwrap();
    let hosted = Hosted::opened("hosted = []\n");
    let check = |what: &str| {
        for (width, height) in [(360, 740), (1440, 900)] {
            size(&browser, width, height);
            for scheme in ["light", "dark"] {
                media(&browser, "", scheme);
                let find = if scheme == "dark" { FIND_CONTRAST } else { FIND };
                assert_eq!(browser.run_until_done(find), json!([]), "{what}, {width} pixels, {scheme}");
            }
            assert_eq!(browser.run(OVERFLOWING), json!([]), "{what}, {width} pixels");
            assert_eq!(browser.run(SMALL), json!([]), "{what}, {width} pixels");
        }
    };
    browser.open(&hosted.link("00000001-p1.eml"));
    browser.wait_until("return document.querySelector('#player-name')?.checkVisibility() === true");
    browser.run(&axe);
    check("an invitation");
    browser.type_into("#player-name", "Ann");
    browser.click(".order form .primary");
    hosted.join(&other, "p2", "Ben");
    wait_for_turn(&browser, 1);
    check("a turn");
    choose(&browser, &["tap 0,1"]);
    check("an order that is chosen");
    send(&browser);
    wait_for_sent(&browser);
    check("an order that is sent");
    browser.run("[...document.querySelectorAll('.fold')].at(-1).open = true");
    check("the terms");
}
