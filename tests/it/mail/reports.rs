//! Reports, answers and the spectators' bundle, from the logs alone (PM-16, PM-23, PM-29 to PM-31).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat;
use turnfold_core::paper::{Offer, PaperContent};
use turnfold_replay::mail::{AnswerOutcome, PaperAnswer};

use super::table::Table;
use crate::sandbox::workspace;

const TERMS: &str = "seats = 2\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

pub(super) fn ford(terms: &str) -> Table {
    let setup = fs::read_to_string(workspace().join("fixtures/cycletap/ford.toml")).unwrap();
    let mut table = Table::open("cycletap", &setup, &format!("{TERMS}{terms}"));
    table.report();
    table.join(Seat::P1);
    table.join(Seat::P2);
    table.host("clock 2026-12-01T18:00:00Z");
    table.stand(true, "p1,p2");
    table
}

/// The files of the outbox by name.
pub(super) fn letters(table: &Table) -> BTreeMap<String, String> {
    let Ok(listed) = fs::read_dir(table.outbox()) else { return BTreeMap::new() };
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
    };
    listed.map(read).collect()
}

/// The text of a letter, and the bundle that goes with it.
pub(super) fn opened(letter: &str) -> (String, String) {
    let (_, body) = letter.split_once("\r\n\r\n").unwrap();
    let (_, body) = body.split_once("\r\n\r\n").unwrap();
    let (text, rest) = body.split_once("--turnfold-").unwrap();
    let (_, attached) = rest.split_once("\r\n\r\n").unwrap();
    let (attached, _) = attached.split_once("--turnfold-").unwrap();
    let attached = STANDARD.decode(attached.replace("\r\n", "")).unwrap();
    (text.replace("\r\n", "\n"), String::from_utf8(attached).unwrap())
}

pub(super) fn is_letter(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "eml")
}

/// The words of a letter, however its lines are broken.
fn words(letter: &str) -> String {
    opened(letter).0.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pm_29_each_stand_deadline_offer_and_the_end_is_told_to_each_seat_once() {
    let mut table = ford("");
    assert_eq!(table.report(), ["00000005-p1.eml", "00000005-p2.eml"]);
    table.order(Seat::P1, &["switch"]);
    assert!(table.report().is_empty(), "an order is answered, it is no news");
    table.host("extend 2026-12-24T18:00:00Z the mail was down");
    assert_eq!(table.report(), ["00000007-p1.eml", "00000007-p2.eml"]);
    let offer = table.send(Seat::P1, PaperContent::Offer("end draw".parse::<Offer>().unwrap()));
    let to = offer.paper().digest();
    table.send(Seat::P2, PaperContent::Answer { to, agree: true });
    let names = ["00000008-p1.eml", "00000008-p2.eml", "00000009-p1.eml", "00000009-p2.eml"];
    assert_eq!(table.report(), names);
    let kept = letters(&table);
    assert_eq!(kept.len(), 2 + 2 + 2 + 4 + 1, "with the invitations and the bundle for spectators");
    assert!(table.report().is_empty());
    // Lost, they are written again as they were.
    fs::remove_dir_all(table.outbox()).unwrap();
    assert_eq!(table.report().len(), 10);
    assert_eq!(letters(&table), kept);
    for (name, letter) in kept.iter().filter(|(name, _)| is_letter(name)) {
        assert!(letter.is_ascii(), "{name}");
        assert!(opened(letter).0.lines().all(|line| line.len() <= 72), "{name}");
    }
}

#[test]
fn pm_16_a_turn_is_told_once_the_hosted_seat_has_sealed() {
    let mut table = ford("hosted = [\"p1\"]\n");
    assert_eq!(table.report(), ["00000005-p1.eml"], "who hosts has to seal");
    let order = table.order_of(&["switch"]);
    let order = table.paper(Seat::P1, PaperContent::Order(order));
    let (link, digest) = (table.link(), order.paper().digest());
    table.send(Seat::P1, PaperContent::Seal { link, digest });
    assert_eq!(table.report(), ["00000006-p1.eml", "00000006-p2.eml"]);
    let report = words(&letters(&table)["00000006-p2.eml"]);
    assert!(report.contains("Turn 1 began") && report.contains("p1 has sealed an order."), "{report}");
}

#[test]
fn pm_30_an_answer_says_what_became_of_a_paper() {
    let mut table = ford("");
    let order = table.order_of(&["switch"]);
    let paper = table.paper(Seat::P1, PaperContent::Order(order));
    let answer = |table: &Table, outcome| {
        let written = table.mail(|mail| mail.write_answer(&PaperAnswer { paper: paper.paper(), outcome }));
        written.unwrap().map(|name| letters(table)[&name.to_string()].clone())
    };
    let waits =
        AnswerOutcome::NotRecorded { code: "wait_for_seals", message: "another seat has to seal first" };
    let told = answer(&table, waits).unwrap();
    assert!(told.contains("Subject: [duel] your order 3: wait_for_seals\r\n"), "{told}");
    assert!(words(&told).contains("Nothing of it is on record."), "{told}");
    table.host("clock 2026-12-01T19:00:00Z");
    assert_eq!(answer(&table, waits), None, "the same answer again, from another desk, is no new letter");
    let seq = table.hand_in(&paper);
    let told = answer(&table, AnswerOutcome::Recorded(seq)).unwrap();
    assert!(told.contains("Subject: [duel] your order 3: taken\r\n"), "{told}");
    let told = words(&told);
    assert!(told.contains("It waits for p2, until Fri 4 Dec 2026, 18:00 UTC."), "{told}");
    assert_eq!(answer(&table, AnswerOutcome::Recorded(seq)), None);
    let old = table.order_of(&["switch"]);
    let old = table.paper(Seat::P1, PaperContent::Order(old));
    table.order(Seat::P1, &["switch"]);
    let outcome = AnswerOutcome::Recorded(table.hand_in(&old));
    let name = table.mail(|mail| mail.write_answer(&PaperAnswer { paper: old.paper(), outcome })).unwrap();
    let told = words(&letters(&table)[&name.unwrap().to_string()]);
    assert!(told.contains("changes nothing: outdated, a newer paper of this seat counts."), "{told}");
}
