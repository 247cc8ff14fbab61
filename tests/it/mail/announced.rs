//! Reminders, absences, words to players and orders for later turns (PM-39 to PM-42).

use std::collections::BTreeMap;

use turnfold_core::Seat;
use turnfold_core::paper::{OrdersAhead, PaperContent, Press};
use turnfold_tests::mailbox::{Mailbox, opened};

use super::post::{Post, day};
use super::reports::letters;
use super::secrecy::{masked, records};

/// Returns a match of three in memory, whose first turn asks all seats.
fn three() -> Post {
    three_with("press_at_once = true\n")
}

fn three_with(more: &str) -> Post {
    let setup = "seats = 3\nrounds = 4\nat_once = true\nresolved = true\nsecret = true";
    let terms = "seats = 3\ndefault = [\"done\"]\nbetween = [\"resolve\"]\nremind = [\"24h\"]\n\
                 zones = [\"+02:00\", \"-05:30\"]\n";
    let post = Post::begun("relay", setup, &format!("{terms}{more}"));
    post.run(day(1), &[]);
    post
}

fn press(to: &str, words: &str) -> PaperContent {
    PaperContent::Press(Press::new(to.parse().unwrap(), vec![words.parse().unwrap()]).unwrap())
}

fn ahead(turns: &[(u32, &[&str])]) -> PaperContent {
    let plays = |plays: &&[&str]| plays.iter().map(|play| play.parse().unwrap()).collect();
    PaperContent::Ahead(
        OrdersAhead::new(turns.iter().map(|(turn, list)| (*turn, plays(list))).collect()).unwrap(),
    )
}

/// Returns the texts of the letters to a seat.
fn texts(post: &Post, seat: &str) -> Vec<String> {
    let mine = format!("-{seat}");
    let files = letters(post).into_iter().filter(|(name, _)| name.contains(&mine));
    files.map(|(_, file)| opened(&file).0.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn pm_40_a_reminder_goes_to_the_seats_that_are_waited_for_once_and_in_their_time_zone() {
    let mut post = three();
    post.report();
    assert_eq!(post.order(Seat::P3, &["done"]), "applied");
    assert!(post.run(day(2), &[]).is_empty());
    // The deadline is at noon of the fourth day, UTC.
    let ran = post.run(day(3), &[]);
    assert_eq!(ran[1..], ["reminded seats=p1|p2 until=2026-12-04T12:00:00Z"], "{ran:?}");
    assert!(post.run(day(3), &[]).is_empty());
    let written = post.report();
    assert_eq!(written.len(), 2, "{written:?}");
    let last = |seat| texts(&post, seat).pop().unwrap();
    assert!(last("p1").contains("until Fri 4 Dec 2026, 14:00 UTC+02:00"), "{}", last("p1"));
    assert!(last("p2").contains("until Fri 4 Dec 2026, 06:30 UTC-05:30"), "{}", last("p2"));
    assert!(last("p3").contains("Fri 4 Dec 2026, 12:00 UTC"), "{}", last("p3"));
    post.audited();
}

#[test]
fn pm_39_a_deadline_waits_for_a_player_who_is_absent() {
    let mut post = three();
    for seat in [Seat::P2, Seat::P3] {
        post.order(seat, &["done"]);
    }
    let until = PaperContent::Absent("2026-12-09T12:00:00Z".parse().unwrap());
    assert_eq!(post.hand_in(Seat::P1, until), "applied");
    assert!(post.run(day(6), &[]).is_empty());
    post.report();
    assert!(texts(&post, "p2").pop().unwrap().contains("absent until"));
    // A player who was absent has a whole turn afterwards.
    assert!(post.run(day(9), &[]).is_empty());
    assert!(post.run(day(10), &[]).is_empty());
    let ran = post.run(day(12), &[]);
    assert!(ran.contains(&"missed seat=p1 misses=1".into()), "{ran:?}");
    post.audited();
}

#[test]
fn pm_41_words_come_at_once_to_their_readers_alone() {
    let mut post = three();
    post.report();
    assert_eq!(post.hand_in(Seat::P1, press("p2", "shall we take p3?")), "applied");
    assert_eq!(post.report().len(), 1);
    assert!(texts(&post, "p2").pop().unwrap().contains("p1 wrote to you: shall we take p3?"));
    post.hand_in(Seat::P3, press("all", "hello"));
    assert_eq!(post.report().len(), 2);
    assert!(texts(&post, "p1").pop().unwrap().contains("p3 wrote to all: hello"));
    assert!(!texts(&post, "p3").concat().contains("shall we"));
    assert!(post.audited().len() > 6);
}

#[test]
fn pm_61_words_wait_for_the_next_letter_to_their_reader() {
    let mut post = three_with("");
    post.report();
    assert_eq!(post.hand_in(Seat::P1, press("p2", "shall we take p3?")), "applied");
    assert!(post.report().is_empty());
    for seat in [Seat::P1, Seat::P2, Seat::P3] {
        post.order(seat, &["done"]);
    }
    post.run(day(2), &[]);
    assert_eq!(post.report().len(), 3);
    assert!(texts(&post, "p2").pop().unwrap().contains("p1 wrote to you: shall we take p3?"));
    assert!(!texts(&post, "p3").concat().contains("shall we"));
}

#[test]
fn pm_42_orders_for_later_turns_are_played_and_shown_in_the_next_letter() {
    let mut post = three();
    assert_eq!(post.hand_in(Seat::P1, ahead(&[(2, &["add 2", "done"]), (3, &["done"])])), "applied");
    for seat in [Seat::P1, Seat::P2, Seat::P3] {
        post.order(seat, &["done"]);
    }
    post.run(day(2), &[]);
    assert_eq!(post.asked(), "p1=ordered p2=none p3=none");
    post.report();
    let letter = texts(&post, "p1").pop().unwrap();
    assert!(
        letter.contains("Your orders for later turns") && letter.contains("if turn 2: add 2; done"),
        "{letter}"
    );
    for seat in [Seat::P2, Seat::P3] {
        post.order(seat, &["done"]);
    }
    post.run(day(3), &[]);
    assert!(post.game("main").contains(&"p1 add 2 (order 2)".into()), "{:?}", post.game("main"));
    // The latest orders ahead count, and empty ones withdraw them.
    assert_eq!(post.hand_in(Seat::P1, ahead(&[(9, &["done"])])), "applied");
    assert_eq!(post.hand_in(Seat::P1, ahead(&[])), "applied");
    // A turn for which all seats gave orders ahead is played in the same run.
    for seat in [Seat::P1, Seat::P2, Seat::P3] {
        let turn = post.desk().state().turn() + 1;
        assert_eq!(post.hand_in(seat, ahead(&[(turn, &["add 1", "done"])])), "applied");
    }
    let turn = post.desk().state().turn();
    for seat in [Seat::P1, Seat::P2, Seat::P3] {
        post.order(seat, &["done"]);
    }
    post.run(day(4), &[]);
    assert_eq!(post.desk().state().turn(), turn + 2);
    post.audited();
}

#[test]
fn pm_41_and_42_words_and_orders_ahead_change_nothing_that_others_get() {
    let printed = |words: &str, play: &str| {
        let mut post = three();
        post.report();
        post.hand_in(Seat::P1, press("p2", words));
        post.hand_in(Seat::P1, ahead(&[(2, &[play, "done"])]));
        post.report();
        for seat in [Seat::P1, Seat::P2, Seat::P3] {
            post.order(seat, &["done"]);
        }
        post.run(day(2), &[]);
        post.hand_in(Seat::P3, press("p1", "what now?"));
        post.report();
        let mine = letters(&post).into_iter().filter(|(name, _)| name.contains("-p3"));
        let printed = mine.map(|(name, file)| {
            let (text, bundle) = opened(&file);
            let printed = format!("{}\n{}", masked(&text), records(&post, &bundle));
            assert!(!printed.contains(words), "{printed}");
            (name, printed)
        });
        printed.collect::<BTreeMap<_, _>>()
    };
    let first = printed("attack", "add 1");
    assert!(first.len() >= 3, "{:?}", first.keys());
    assert_eq!(printed("retire", "add 2"), first);
}

#[test]
fn pm_39_to_42_a_player_with_a_key_writes_these_papers() {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", "hosted = []\n", "");
    mailbox.join(&[Seat::P1, Seat::P2]);
    mailbox.run("01T12:00:00Z", "--roll 1 1 2 2");
    let newest = mailbox.letters().into_iter().rfind(|name| name.contains("-p1")).unwrap();
    let (_, bundle) = opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{newest}")));
    mailbox.sandbox.write("letter.bundle", bundle);
    mailbox.save_key("p1");
    for (words, kind) in [
        ("press p2 \"shall we?\"", "press"),
        ("ahead \"3: confirm; stand\"", "ahead"),
        ("absent 2026-12-06T00:00:00Z", "absent"),
    ] {
        let line = format!("mail write {words} --from letter.bundle --key p1.key --force -o {kind}.txt");
        assert!(mailbox.sandbox.ok(&line).contains(&format!("{kind} ")), "{words}");
        let taken = mailbox.sandbox.ok(&format!("mail take duel {kind}.txt --key host.key"));
        assert!(taken.contains(&format!("p1 {kind}")) && taken.contains("applied"), "{taken}");
    }
}

#[test]
fn pm_40_a_watch_ends_with_the_match() {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", "hosted = []\npatience = 1\n", "");
    mailbox.join(&[Seat::P1, Seat::P2]);
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-01T12:00:00Z --roll 1 1 2 2");
    // The deadline passed long ago, so p1 misses and is out, and p2 wins.
    let ran = mailbox.sandbox.ok("mail run duel --key host.key --watch");
    assert!(ran.contains("gone seat=p1") && ran.contains("over result=p2"), "{ran}");
}
