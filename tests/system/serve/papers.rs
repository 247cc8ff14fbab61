//! Papers over HTTP (PM-31a): a match by mail that the service hosts.

use std::time::Duration;
use std::{fs, thread};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use turnfold_mail::MailedPaper;

use super::http::{Answer, Call, Events, main_of};
use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::service::Running;

const TERMS: &str =
    "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nhours = 1\n";
const PAPERS: &str = "/v1/matches/duel/papers";

/// Returns a mailbox in which two players have joined by mail and nothing was played.
pub(super) fn joined() -> Mailbox {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.ok(&open_line("cycletap", "ford.toml", ""));
    for seat in ["p1", "p2"] {
        mailbox.sandbox.ok(&format!("key new {seat}.key --name {seat}.example"));
        mailbox.save_bundle(&format!("00000001-{seat}.eml"), "invitation.bundle");
        mailbox.sandbox.ok(&format!(
            "mail write join {seat} --from invitation.bundle --key {seat}.key -o {seat}.join --force"
        ));
        mailbox.sandbox.ok(&format!("mail take duel {seat}.join --admit {seat} --key host.key"));
    }
    mailbox
}

/// Serves the store of a mailbox with the host's key.
pub(super) fn serve(mailbox: &Mailbox) -> Running {
    Running::start_by(mailbox.sandbox.command(["serve", "--listen", "127.0.0.1:0", "--key", "host.key"]))
}

/// Returns the newest report to a seat.
fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let listed = fs::read_dir(mailbox.sandbox.path(".turnfold/outbox")).unwrap();
    let names = listed.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let reports = names.filter(|name| name.len() == "00000001-p1.eml".len() && name.contains(seat));
    reports.max().unwrap()
}

/// Waits for a newer report to a seat.
fn wait(mailbox: &Mailbox, seat: &str, last: &str) -> String {
    for _ in 0..6000 {
        let report = newest(mailbox, seat);
        if report.as_str() > last {
            return report;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("no report to {seat} after {last}");
}

/// Writes an order based on a bundle.
fn order(mailbox: &Mailbox, seat: &str, bundle: &str, plays: &str) -> String {
    let file = format!("{seat}.txt");
    mailbox
        .sandbox
        .ok(&format!("mail write order {plays} --from {bundle} --key {seat}.key -o {file} --force"));
    mailbox.sandbox.read(&file)
}

fn order_from_report(mailbox: &Mailbox, seat: &str, report: &str, plays: &str) -> String {
    mailbox.save_bundle(report, "newest.bundle");
    order(mailbox, seat, "newest.bundle", plays)
}

fn post(service: &Running, paper: &str) -> Answer {
    Call::new("POST", PAPERS, "").body("text/plain", paper).to(service)
}

#[test]
fn pm_31a_a_match_over_http() {
    let mailbox = joined();
    let invitations = ["p1", "p2"].map(|seat| newest(&mailbox, seat));
    let service = serve(&mailbox);
    let mut reports = [("p1", &invitations[0]), ("p2", &invitations[1])]
        .map(|(seat, invitation)| wait(&mailbox, seat, invitation));
    let host = service.grant("duel", r#"{"kind":"host"}"#)["token"].as_str().unwrap().to_owned();
    let p1 = service.grant("duel", r#"{"kind":"seat","seat":"p1"}"#)["token"].as_str().unwrap().to_owned();
    let mut events = Events::open(&service, &Call::get(&main_of("duel", "events"), &p1));
    // A service with the state in memory sees the entries that come by mail.
    Call::get(&main_of("duel", "view"), &host).to(&service).is(200);
    for turn in 1..=3 {
        let plays = if turn == 1 { "\"tap 0,1\" switch" } else { "switch" };
        let paper = order_from_report(&mailbox, "p1", &reports[0], plays);
        let reply = post(&service, &paper).is(201).json();
        assert_eq!((&reply["seat"], &reply["kind"]), (&json!("p1"), &json!("order")), "{reply}");
        assert_eq!((&reply["outcome"], &reply["is_new"]), (&json!("applied"), &json!(true)), "{reply}");
        assert!(reply["checkpoint"].as_str().unwrap().contains("\u{2014} "), "{reply}");
        let bundle = STANDARD.decode(reply["bundle"].as_str().unwrap()).unwrap();
        mailbox.sandbox.write("receipt.bundle", bundle);
        // Other people have old papers, so a repeated paper returns no bundle.
        let again = post(&service, &paper).is(200).json();
        assert_eq!((&again["outcome"], &again["is_new"]), (&json!("applied"), &json!(false)));
        assert_eq!((&again["seq"], &again["bundle"]), (&reply["seq"], &json!(null)));
        let text = Call::new("POST", PAPERS, "").with("accept", "text/plain").body("text/plain", &paper);
        let text = text.to(&service).is(200).body;
        assert!(text.starts_with(&format!("p1 order {}: applied, as before\n", reply["number"])), "{text}");
        // The seat can continue from its bundle.
        let second = order(&mailbox, "p1", "receipt.bundle", plays);
        let reply = post(&service, &second).is(201).json();
        assert_eq!(reply["outcome"], json!("applied"), "{reply}");
        let paper = order_from_report(&mailbox, "p2", &reports[1], "switch");
        assert_eq!(post(&service, &paper).is(201).json()["outcome"], json!("applied"));
        reports = [("p1", &reports[0]), ("p2", &reports[1])].map(|(seat, last)| wait(&mailbox, seat, last));
        // The letters reach the outbox some milliseconds before the service has read the new entries.
        let head = 1 + 3 * turn;
        let mut seen_up_to = 0;
        while seen_up_to < head {
            seen_up_to = events.next().unwrap().id.unwrap();
        }
        let document = Call::get("/v1/matches/duel", &host).to(&service).is(200).json();
        assert_eq!(document["head"], json!(head));
        let listed = Call::get(&main_of("duel", "entries"), &host).to(&service).is(200).json();
        assert_eq!(listed["items"].as_array().unwrap().len() as u64, head);
        let tap = json!({"commands": ["switch"]});
        for token in [&p1, &host] {
            Call::post(&main_of("duel", "entries"), token, &tap).to(&service).problem(403, "forbidden");
        }
    }
    drop(service);
    assert!(mailbox.sandbox.ok("log duel").contains("p1 tap 0,1"));
    mailbox.sandbox.ok("verify duel duel.desk");
}

/// A service writes the letters of each match to the same place as the verbs (PM-29).
#[test]
fn pm_31a_a_service_keeps_the_letters_of_matches_apart() {
    let mailbox = joined();
    let open = open_line("cycletap", "ford.toml", "--format json").replace("open duel", "open other");
    let opened: serde_json::Value = serde_json::from_str(&mailbox.sandbox.ok(&open)).unwrap();
    let letters = opened["letters"].as_array().unwrap();
    let paths = letters.iter().map(|letter| mailbox.sandbox.path(letter.as_str().unwrap()));
    let paths: Vec<_> = paths.collect();
    assert_eq!(paths.len(), 2);
    let invitations = ["p1", "p2"].map(|seat| newest(&mailbox, seat));
    for path in &paths {
        fs::remove_file(path).unwrap();
    }
    let _service = serve(&mailbox);
    for (seat, invitation) in [("p1", &invitations[0]), ("p2", &invitations[1])] {
        wait(&mailbox, seat, invitation);
    }
    for _ in 0..6000 {
        if paths.iter().all(|path| path.exists()) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    for path in paths {
        let letter = fs::read_to_string(path).unwrap();
        assert!(letter.starts_with("Subject: [other] "), "{letter:.100}");
    }
}

#[test]
fn pm_31a_what_is_not_recorded_brings_a_problem_and_no_bundle() {
    let mailbox = joined();
    mailbox.sandbox.ok("new plain --rules cycletap --setup fixtures/cycletap/ford.toml");
    let invitation = newest(&mailbox, "p1");
    let service = serve(&mailbox);
    let report = wait(&mailbox, "p1", &invitation);
    let good = order_from_report(&mailbox, "p1", &report, "switch");
    // A paper recorded before the service started gets the original answer.
    assert_eq!(post(&service, &mailbox.sandbox.read("p1.join")).is(200).json()["bundle"], json!(null));
    let altered = good.replace("play: switch", "play: back");
    let answer = post(&service, &altered).problem(409, "rejected");
    assert!(answer.body.contains("p1 order 1: rejected bad_signature"), "{answer:?}");
    assert!(!answer.body.contains("bundle"), "{answer:?}");
    for body in ["", "hello", "#turnfold paper 1\n", &format!("{good}\n{good}")] {
        post(&service, body).problem(422, "malformed");
    }
    post(&service, &" ".repeat((64 << 10) + 1)).problem(413, "too_large");
    Call::post(PAPERS, "", &json!({})).to(&service).problem(415, "media_type");
    for name in ["nowhere", "plain", "duel.desk"] {
        let path = format!("/v1/matches/{name}/papers");
        Call::new("POST", &path, "").body("text/plain", &good).to(&service).problem(404, "not_found");
    }
    Call::new("POST", "/v1/matches/NO/papers", "")
        .body("text/plain", &good)
        .to(&service)
        .problem(400, "bad_request");
    // None of these papers counted. A paper may also come as a signed note (PM-4).
    let mailed = MailedPaper::find(good.as_bytes()).remove(0).paper.unwrap();
    let note = mailed.signed.note(mailed.name.as_str());
    assert_eq!(post(&service, &note).is(201).json()["outcome"], json!("applied"));
}

#[test]
fn pm_31a_a_join_needs_the_host_itself() {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.ok(&open_line("cycletap", "ford.toml", ""));
    mailbox.sandbox.ok("key new p1.key --name p1.example");
    mailbox.save_bundle("00000001-p1.eml", "invitation.bundle");
    mailbox.sandbox.ok("mail write join p1 --from invitation.bundle --key p1.key -o p1.join --force");
    let join = mailbox.sandbox.read("p1.join");
    let service = serve(&mailbox);
    post(&service, &join).problem(403, "forbidden");
    drop(service);
    assert!(mailbox.sandbox.ok("log duel.desk").trim().is_empty());
    // Without a key the service accepts no papers.
    let service = Running::start(&mailbox.sandbox);
    post(&service, &join).problem(403, "forbidden");
}

#[test]
fn pm_31a_a_turn_goes_on_when_its_deadline_passes() {
    let mailbox = joined();
    mailbox.sandbox.ok("mail run duel --key host.key --at 2020-01-01T00:00:00Z");
    let report = newest(&mailbox, "p1");
    let service = serve(&mailbox);
    wait(&mailbox, "p1", &report);
    drop(service);
    let log = mailbox.sandbox.ok("log duel");
    assert!(log.contains("p1 switch") && log.contains("p2 switch"), "{log}");
    assert!(mailbox.sandbox.ok("log duel.desk").contains("host clock"));
}
