//! Reports, answers and the spectators' bundle, from the logs alone (PM-16, PM-23, PM-29 to PM-31).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat;
use turnfold_core::paper::{Offer, PaperContent, SignedPaper};
use turnfold_replay::mail::{PaperOutcome, TakenPaper};

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

fn taken(paper: &SignedPaper, seq: u64) -> TakenPaper {
    let (paper, outcome) = (Some(paper.clone()), PaperOutcome::Applied);
    TakenPaper { line: 1, paper, outcome, seq: Some(seq), is_new: true }
}

fn not_taken(paper: &SignedPaper, code: &'static str, message: &str) -> TakenPaper {
    let outcome = PaperOutcome::Rejected { code, message: message.into() };
    TakenPaper { line: 1, paper: Some(paper.clone()), outcome, seq: None, is_new: false }
}

/// Writes the answers to a mail; returns the letters that were written now.
fn answer(table: &Table, mail: &[TakenPaper]) -> Vec<String> {
    let written = table.mail(|room| room.write_answers(mail)).unwrap();
    written.iter().map(|name| letters(table)[&name.to_string()].clone()).collect()
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
    let waits = not_taken(&paper, "wait_for_seals", "another seat has to seal first");
    let told = answer(&table, std::slice::from_ref(&waits)).remove(0);
    assert!(told.contains("Subject: [duel] your order 3: wait_for_seals\r\n"), "{told}");
    assert!(words(&told).contains("Nothing of it is on record."), "{told}");
    table.host("clock 2026-12-01T19:00:00Z");
    let again = answer(&table, &[waits.clone(), waits]);
    assert!(again.is_empty(), "the same answer again, from another desk, is no new letter");
    let seq = table.hand_in(&paper);
    let told = answer(&table, &[taken(&paper, seq)]).remove(0);
    assert!(told.contains("Subject: [duel] your order 3: taken\r\n"), "{told}");
    let told = words(&told);
    assert!(told.contains("It waits for p2, until Fri 4 Dec 2026, 18:00 UTC."), "{told}");
    assert!(answer(&table, &[taken(&paper, seq)]).is_empty());
    let old = table.order_of(&["switch"]);
    let old = table.paper(Seat::P1, PaperContent::Order(old));
    table.order(Seat::P1, &["switch"]);
    let seq = table.hand_in(&old);
    let told = words(&answer(&table, &[taken(&old, seq)])[0]);
    assert!(told.contains("changes nothing: outdated, a newer paper of this seat counts."), "{told}");
}

#[test]
fn pm_29_a_mail_of_many_bad_papers_is_answered_by_one_letter_to_each_seat() {
    let mut table = ford("");
    let mut written = |seat| {
        let order = PaperContent::Order(table.order_of(&["switch"]));
        table.paper(seat, order)
    };
    let many: Vec<_> = (0..30).map(|_| written(Seat::P1)).collect();
    let (of_p2, good, of_nobody) = (written(Seat::P2), written(Seat::P1), written(Seat::P3));
    let bad = |paper: &SignedPaper| not_taken(paper, "bad_signature", "it is not signed by the seat's key");
    let mut mail: Vec<_> = many.iter().chain([&of_p2, &of_nobody, &many[7]]).map(bad).collect();
    mail.push(taken(&good, table.hand_in(&good)));
    let told = answer(&table, &mail);
    assert_eq!(told.len(), 3, "a receipt, and a letter to each of p1 and p2");
    assert!(told[0].contains("Subject: [duel] your order 34: taken\r\n"), "{}", told[0]);
    assert!(told[1].contains("Subject: [duel] 30 papers: not taken\r\n"), "{}", told[1]);
    assert!(told[2].contains("Subject: [duel] your order 33: bad_signature\r\n"), "{}", told[2]);
    let text = words(&told[1]);
    for (index, paper) in many.iter().enumerate() {
        let line = format!("digest {:.16}: bad_signature, it is not", paper.paper().digest());
        assert_eq!(text.contains(&line), index < 20, "{text}");
    }
    assert!(text.contains("* and 10 more. Nothing of them is on record."), "{text}");
    assert!(opened(&told[1]).0.lines().all(|line| line.len() <= 72), "{text}");
    // The same mail again is no new letter, from another desk neither; what was lost is written as it was.
    let kept = letters(&table);
    assert!(answer(&table, &mail).is_empty());
    fs::remove_dir_all(table.outbox()).unwrap();
    assert_eq!(answer(&table, &mail), told);
    assert_eq!(letters(&table).len(), 3);
    assert!(letters(&table).iter().all(|(name, letter)| kept[name] == *letter));
    table.host("clock 2026-12-01T19:00:00Z");
    assert!(answer(&table, &mail).is_empty());
    // One more paper, or another outcome of one, is told of.
    assert_eq!(answer(&table, &mail[1..]).len(), 1);
    mail[0] = not_taken(&many[0], "not_yet", "the turn has not begun");
    assert_eq!(answer(&table, &mail).len(), 1);
}
