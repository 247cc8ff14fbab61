//! Reports, answers and the spectators' bundle, written only from the logs (PM-16, PM-23, PM-29 to PM-31).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use turnfold_core::Seat;
use turnfold_core::paper::{PaperContent, SignedPaper};
use turnfold_mail::{PaperOutcome, TakenPaper};

use super::post::{Post, fixture, time};
use turnfold_tests::mailbox::opened;
use turnfold_tests::players::key;

const TERMS: &str = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

pub(super) fn ford(terms: &str) -> Post {
    let mut post = Post::new();
    post.open("cycletap", &fixture("cycletap/ford.toml"), &format!("{TERMS}{terms}")).unwrap();
    post.report();
    for seat in [Seat::P1, Seat::P2] {
        post.join(seat);
    }
    post.run(time("2026-12-01T18:00:00Z"), &[]);
    post
}

/// Returns the files of the outbox by name.
pub(super) fn letters(post: &Post) -> BTreeMap<String, String> {
    let Ok(listed) = fs::read_dir(post.outbox()) else { return BTreeMap::new() };
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
    };
    listed.map(read).collect()
}

pub(super) fn is_letter(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "eml")
}

/// Returns the words of a letter, regardless of its line breaks.
fn words(letter: &str) -> String {
    opened(letter).0.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn not_taken(paper: &SignedPaper, code: &'static str, message: &str) -> TakenPaper {
    let outcome = PaperOutcome::Rejected { code, message: message.into() };
    TakenPaper { line: 1, paper: Some(paper.paper().clone()), outcome, seq: None, is_new: false }
}

/// Writes the answers to a mail, and returns the letters written now.
fn answer(post: &Post, mail: &[TakenPaper]) -> Vec<String> {
    let written = post.mail(|room| room.write_answers(mail)).unwrap();
    written.iter().map(|name| letters(post)[&name.to_string()].clone()).collect()
}

#[test]
fn pm_29_each_stand_deadline_offer_and_the_end_is_reported_to_each_seat_once() {
    let mut post = ford("");
    assert_eq!(post.report(), ["00000005-p1.eml", "00000005-p2.eml"]);
    post.order(Seat::P1, &["switch"]);
    assert!(post.report().is_empty(), "an order is answered, it is no news");
    post.decide("extend 2026-12-24T18:00:00Z the mail was down");
    assert_eq!(post.report(), ["00000007-p1.eml", "00000007-p2.eml"]);
    let (_, to) = post.offer(Seat::P1, "end draw");
    post.answer(Seat::P2, to, true);
    let names = ["00000008-p1.eml", "00000008-p2.eml", "00000009-p1.eml", "00000009-p2.eml"];
    assert_eq!(post.report(), names);
    let kept = letters(&post);
    assert_eq!(kept.len(), 2 + 2 + 2 + 4 + 1, "with the invitations and the bundle for spectators");
    assert!(post.report().is_empty());
    // Lost letters are written again unchanged.
    fs::remove_dir_all(post.outbox()).unwrap();
    assert_eq!(post.report().len(), 10);
    assert_eq!(letters(&post), kept);
    for (name, letter) in kept.iter().filter(|(name, _)| is_letter(name)) {
        assert!(letter.is_ascii(), "{name}");
        assert!(opened(letter).0.lines().all(|line| line.len() <= 72), "{name}");
    }
}

#[test]
fn pm_16_a_turn_is_reported_once_the_hosted_seat_has_sealed() {
    let mut post = ford("hosted = [\"p1\"]\n");
    assert_eq!(post.report(), ["00000005-p1.eml"], "who hosts has to seal");
    let digest = post.write_order(Seat::P1, &["switch"]).paper().digest();
    let link = post.desk().position().unwrap().link;
    assert_eq!(post.hand_in(Seat::P1, PaperContent::Seal { link, digest }), "applied");
    assert_eq!(post.report(), ["00000006-p1.eml", "00000006-p2.eml"]);
    let report = words(&letters(&post)["00000006-p2.eml"]);
    assert!(report.contains("Turn 1 began") && report.contains("p1 has sealed an order."), "{report}");
}

#[test]
fn pm_30_an_answer_reports_what_became_of_a_paper() {
    let mut post = ford("");
    let paper = post.write_order(Seat::P1, &["switch"]);
    let waits = not_taken(&paper, "wait_for_seals", "another seat has to seal first");
    let output = answer(&post, std::slice::from_ref(&waits)).remove(0);
    assert!(output.contains("Subject: [duel] your order 1: not taken, wait_for_seals\r\n"), "{output}");
    assert!(words(&output).contains("It was not recorded."), "{output}");
    post.decide("clock 2026-12-01T19:00:00Z");
    let again = answer(&post, &[waits.clone(), waits]);
    assert!(again.is_empty(), "the same answer again, from another desk, is no new letter");
    // PM-64: the next report is the receipt of a paper that counts.
    assert!(answer(&post, &[post.take(&paper)]).is_empty());
    let old = post.write_order(Seat::P1, &["switch"]);
    post.order(Seat::P1, &["switch"]);
    let output = words(&answer(&post, &[post.take(&old)])[0]);
    assert!(
        output.contains("has no effect: a newer paper of this seat counts (outdated). If you play on two"),
        "{output}"
    );
    post.order(Seat::P2, &["switch"]);
    post.run(time("2026-12-02T18:00:00Z"), &[]);
    post.report();
    let report = letters(&post).into_iter().rfind(|(name, _)| name.ends_with("-p1.eml")).unwrap().1;
    let report = words(&report);
    for expected in [
        "Your order was received: switch.",
        "* You: switch.",
        "For auditors ------------ Your papers are these records of the desk in the attached bundle",
        &paper.paper().digest().to_string(),
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
}

#[test]
fn pm_35_a_second_join_is_answered_with_the_way_back_to_a_taken_seat() {
    let mut post = ford("");
    let known = post.desk_view();
    post.players.use_key(Seat::P1, key("newcomer"));
    let join = post.players.join(&known, Seat::P1);
    let letter = answer(&post, &[post.take(&join)]).remove(0);
    assert!(letter.contains("Subject: [duel] your join 0: not taken, the match has begun\r\n"), "{letter}");
    let words = words(&letter);
    let why = "was not taken: the match has begun and p1 is taken. To replace a lost key, the other players must \
               `offer replace`. It was not recorded.";
    assert!(words.contains(why), "{words}");
}

#[test]
fn pm_35_a_join_for_a_taken_seat_of_a_match_that_has_not_begun_names_the_seat() {
    let mut post = Post::new();
    post.open("cycletap", &fixture("cycletap/ford.toml"), TERMS).unwrap();
    post.join(Seat::P1);
    let known = post.desk_view();
    post.players.use_key(Seat::P1, key("newcomer"));
    let join = post.players.join(&known, Seat::P1);
    let letter = words(&answer(&post, &[post.take(&join)])[0]);
    assert!(letter.contains("was not taken: p1 is taken; join another seat (not_asked)."), "{letter}");
}

#[test]
fn pm_29_a_mail_of_many_bad_papers_is_answered_by_one_letter_to_each_seat() {
    let mut post = ford("");
    let mut written = |seat| post.write_order(seat, &["switch"]);
    let many: Vec<_> = (0..30).map(|_| written(Seat::P1)).collect();
    let (of_p2, good, of_p3) = (written(Seat::P2), written(Seat::P1), written(Seat::P3));
    let bad = |paper: &SignedPaper| not_taken(paper, "bad_signature", "it is not signed by the seat's key");
    let mut mail: Vec<_> = many.iter().chain([&of_p2, &of_p3, &many[7]]).map(bad).collect();
    mail.push(post.take(&good));
    let output = answer(&post, &mail);
    assert_eq!(output.len(), 2, "a letter to each of p1 and p2");
    assert!(output[0].contains("Subject: [duel] 30 papers: not taken\r\n"), "{}", output[0]);
    assert!(
        output[1].contains("Subject: [duel] your order 1: not taken, bad_signature\r\n"),
        "{}",
        output[1]
    );
    let text = words(&output[0]);
    for (index, paper) in many.iter().enumerate() {
        let line = format!(
            "digest {:.16}: it is not signed by the seat's key (bad_signature)",
            paper.paper().digest()
        );
        assert_eq!(text.contains(&line), index < 20, "{text}");
    }
    assert!(text.contains("* and 10 more. They were not recorded."), "{text}");
    assert!(opened(&output[0]).0.lines().all(|line| line.len() <= 72), "{text}");
    // The same mail causes no new letter, even at another desk. A lost letter is written again unchanged.
    let kept = letters(&post);
    assert!(answer(&post, &mail).is_empty());
    fs::remove_dir_all(post.outbox()).unwrap();
    assert_eq!(answer(&post, &mail), output);
    assert_eq!(letters(&post).len(), 2);
    assert!(letters(&post).iter().all(|(name, letter)| kept[name] == *letter));
    post.decide("clock 2026-12-01T19:00:00Z");
    assert!(answer(&post, &mail).is_empty());
    // One paper more, or another outcome of a paper, causes a new letter.
    assert_eq!(answer(&post, &mail[1..]).len(), 1);
    mail[0] = not_taken(&many[0], "not_yet", "the turn has not begun");
    assert_eq!(answer(&post, &mail).len(), 1);
}
