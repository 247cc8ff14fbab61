//! The page of a seat: what a code opens, and what a token may do at the desk (PM-70 to PM-74).

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::service::{Reply, Running};

const ORIGIN: &str = "https://play.example";
const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\n";

/// Serves a match that no player has joined.
fn opened(terms: &str) -> (Mailbox, Running) {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", terms, &format!("--origin {ORIGIN}"));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--key", "host.key", "--origin", ORIGIN];
    let service = Running::start_by(mailbox.sandbox.command(serve));
    (mailbox, service)
}

/// Returns the code in the link of a letter.
fn code_of(mailbox: &Mailbox, letter: &str) -> Option<String> {
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
    let link = letter.lines().find_map(|line| line.trim().strip_prefix("https://play.example/m/duel#m="));
    link.map(str::to_owned)
}

/// Waits for the letter of the first turn, and returns its code.
fn code_of_turn(mailbox: &Mailbox, seat: &str) -> String {
    let end = format!("-{seat}.eml");
    let is_later = |name: &String| name.ends_with(&end) && !name.starts_with("00000001");
    for _ in 0..6000 {
        if let Some(letter) = mailbox.letters().iter().rfind(|name| is_later(name)) {
            return code_of(mailbox, letter).unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no letter of a turn to {seat}");
}

/// Returns a seat token that consists of one character.
fn token(of: char) -> String {
    format!("tf_s_{}A", String::from(of).repeat(42))
}

fn open(service: &Running, code: &str, token: &str) -> Reply {
    let body = json!({ "code": code, "token": token }).to_string();
    service.send("POST", "/v1/matches/duel/desk/access", "", &body)
}

fn desk(service: &Running, token: &str) -> Value {
    let shown = service.send("GET", "/v1/matches/duel/desk", token, "");
    assert_eq!(shown.status, 200, "{}", shown.body);
    shown.json()
}

fn submit(service: &Running, token: &str, (id, turn): (&str, u32), lines: &[&str]) -> Reply {
    let body = json!({ "id": id, "turn": turn, "lines": lines }).to_string();
    service.send("POST", "/v1/matches/duel/desk/lines", token, &body)
}

/// Waits until the desk is at a turn.
fn wait_for_turn(service: &Running, token: &str, turn: u32) {
    for _ in 0..6000 {
        if desk(service, token)["desk"]["turn"] == json!(turn) {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("turn {turn} does not begin");
}

/// Opens both pages and joins without keys.
fn joined(mailbox: &Mailbox, service: &Running) -> [String; 2] {
    let tokens = ["p1", "p2"].map(|seat| {
        let token = token(if seat == "p1" { 'a' } else { 'b' });
        let code = code_of(mailbox, &format!("00000001-{seat}.eml")).unwrap();
        let opened = open(service, &code, &token);
        assert_eq!((opened.status, &opened.json()["seat"]), (201, &json!(seat)), "{}", opened.body);
        let joined = submit(service, &token, ("join", 0), &[&format!("join {seat}.name")]);
        assert_eq!(joined.json()["papers"][0]["outcome"], json!("applied"), "{}", joined.body);
        token
    });
    wait_for_turn(service, &tokens[0], 1);
    tokens
}

#[test]
fn pm_70_a_code_opens_the_page_of_its_seat_and_no_other() {
    let (mailbox, service) = opened(TERMS);
    let code = code_of(&mailbox, "00000001-p1.eml").unwrap();
    for wrong in ["ABCD-EFG2-JKMN", ""] {
        assert_eq!(open(&service, wrong, &token('a')).status, 401, "{wrong}");
    }
    assert_eq!(service.send("GET", "/v1/matches/duel/desk", &token('a'), "").status, 401);
    let [p1, p2] = joined(&mailbox, &service);
    // The code for joining is spent, except for the browser that used it.
    assert_eq!(open(&service, &code, &p1).status, 200);
    let used = open(&service, &code, &token('c'));
    assert_eq!(used.status, 409);
    assert!(used.body.contains("This link was for joining, and p1.name has p1 now."), "{}", used.body);
    assert_eq!(open(&service, &code, &p2).status, 409, "a token of another seat");
    // The code in the letter of the turn opens the page in another browser, also only for reading.
    let code = code_of_turn(&mailbox, "p1");
    assert_eq!(open(&service, &code.to_lowercase(), &token('d')).status, 201);
    assert_eq!(desk(&service, &token('d'))["seat"], json!("p1"));
    // If there are too many browsers, the oldest loses its access.
    for of in 'e'..='l' {
        assert_eq!(open(&service, &code, &token(of)).status, 201, "{of}");
    }
    assert_eq!(service.send("GET", "/v1/matches/duel/desk", &p1, "").status, 401);
    assert_eq!(desk(&service, &token('l'))["seat"], json!("p1"));
}

#[test]
fn pm_73_lines_of_a_page_are_taken_once_and_for_their_turn_alone() {
    let (mailbox, service) = opened(TERMS);
    let [p1, p2] = joined(&mailbox, &service);
    let sent = submit(&service, &p1, ("one", 1), &["tap 0,1", "switch"]);
    let paper = &sent.json()["papers"][0];
    assert_eq!((&paper["kind"], &paper["outcome"]), (&json!("order"), &json!("applied")), "{}", sent.body);
    assert_eq!(submit(&service, &p1, ("one", 1), &["tap 0,1", "switch"]).body, sent.body);
    assert_eq!(desk(&service, &p1)["order"]["plays"], json!(["tap 0,1", "switch"]));
    // No seat sees the order of another (PM-23).
    let other = desk(&service, &p2);
    assert_eq!((&other["order"], other.to_string().contains("tap 0,1")), (&Value::Null, false), "{other}");
    let refused = submit(&service, &p1, ("two", 1), &["tap 9,9"]);
    assert_eq!(refused.json()["papers"], json!([]));
    assert!(refused.json()["faults"][0].as_str().unwrap().contains("Nothing was taken"), "{}", refused.body);
    assert_eq!(submit(&service, &p1, ("three", 2), &["switch"]).status, 409, "another turn");
    for (lines, status) in [(&[][..], 400), (&[" "], 422), (&["switch\nswitch"], 422)] {
        assert_eq!(submit(&service, &p1, ("four", 1), lines).status, status, "{lines:?}");
    }
    assert_eq!(
        submit(&service, &p2, ("one", 1), &["switch"]).json()["papers"][0]["outcome"],
        json!("applied")
    );
    wait_for_turn(&service, &p1, 2);
    assert_eq!(desk(&service, &p1)["order"], Value::Null);
    // The same request after the turn, because its answer was lost, does not order in the next turn.
    assert_eq!(submit(&service, &p1, ("one", 1), &["tap 0,1", "switch"]).status, 409);
}

#[test]
fn pm_70_no_page_where_orders_need_files() {
    for terms in ["hosted = []\nsealed = true\n", "hosted = [\"p1\"]\n"] {
        let mailbox = Mailbox::opened("cycletap", "ford.toml", terms, &format!("--origin {ORIGIN}"));
        assert_eq!(code_of(&mailbox, "00000001-p1.eml"), None, "{terms}");
    }
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.ok(&open_line("cycletap", "ford.toml", ""));
    assert!(!mailbox.sandbox.read(".turnfold/outbox/00000001-p1.eml").contains("In a browser"));
}

#[test]
fn pm_74_who_joins_closes_the_other_pages_of_the_seat() {
    let (mailbox, service) = opened(TERMS);
    let code = code_of(&mailbox, "00000001-p1.eml").unwrap();
    for of in ['c', 'd'] {
        assert_eq!(open(&service, &code, &token(of)).status, 201);
        assert_eq!(desk(&service, &token(of))["seat"], json!("p1"));
    }
    let [p1, _] = joined(&mailbox, &service);
    for of in ['c', 'd'] {
        let shown = service.send("GET", "/v1/matches/duel/desk", &token(of), "");
        assert_eq!((shown.status, &shown.json()["ended"]), (401, &json!("revoked")), "{}", shown.body);
    }
    assert_eq!(desk(&service, &p1)["seat"], json!("p1"));
}

#[test]
fn pm_74_a_player_who_was_replaced_sees_no_page_any_more() {
    let (mailbox, service) = opened(&format!("{TERMS}host_replaces = true\n"));
    let [p1, p2] = joined(&mailbox, &service);
    let before = code_of_turn(&mailbox, "p2");
    drop(service);
    mailbox.sandbox.ok("key new new.key --name cleo.example");
    let shown = mailbox.sandbox.ok("key show new.key");
    let key = shown.trim().splitn(3, '+').nth(2).unwrap();
    mailbox.sandbox.ok(&format!("play duel.desk \"replace p2 cleo.example {key} Ben is gone\""));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--key", "host.key", "--origin", ORIGIN];
    let service = Running::start_by(mailbox.sandbox.command(serve));
    // A request of another player also closes the page of the replaced player.
    assert_eq!(desk(&service, &p1)["desk"]["seats"][1]["name"], json!("cleo.example"));
    let shown = service.send("GET", "/v1/matches/duel/branches/main/view", &p2, "");
    assert_eq!((shown.status, &shown.json()["ended"]), (401, &json!("revoked")), "{}", shown.body);
    assert_eq!(open(&service, &before, &token('z')).status, 401, "the link of the same turn");
}

/// A name has the same letters on the page and in a file that a browser opens.
#[test]
fn pm_94_names_keep_all_letters_on_the_page_and_in_a_file() {
    let (mailbox, service) = opened(TERMS);
    let names = ["Jürgen Müßig", "Łukasz Ωmega 日本"];
    let tokens = [('a', "p1"), ('b', "p2")].map(|(sign, seat)| {
        let (code, token) = (code_of(&mailbox, &format!("00000001-{seat}.eml")).unwrap(), token(sign));
        assert_eq!(open(&service, &code, &token).status, 201);
        token
    });
    for (token, name) in tokens.iter().zip(names) {
        let joined = submit(&service, token, ("join", 0), &[&format!("join {name}")]);
        assert!(joined.status < 300, "{}", joined.body);
    }
    wait_for_turn(&service, &tokens[0], 1);
    let lines = ["press p2: Grüße, Łukasz – wie geht’s?"];
    assert!(submit(&service, &tokens[0], ("press", 1), &lines).status < 300);
    for token in &tokens {
        let seats = desk(&service, token)["desk"]["seats"].clone();
        let shown: Vec<_> =
            seats.as_array().unwrap().iter().map(|seat| seat["name"].as_str().unwrap()).collect();
        assert_eq!(shown, names);
    }
    drop(service);
    let sandbox = &mailbox.sandbox;
    sandbox.ok("export duel.desk --html -o desk.html");
    sandbox.ok("export duel.desk --html --as p2 -o p2.html");
    sandbox.ok("check desk.html");
    sandbox.ok("export duel.desk -o desk.tfl");
    for file in ["desk.html", "p2.html", "desk.tfl"] {
        let text = sandbox.read(file);
        for name in names {
            assert!(text.contains(name), "{name} in {file}");
        }
    }
}
