//! Rows of the table of play by mail with three seats: who is asked, who leaves, what they agree on (PM-14, PM-20, PM-21).

use turnfold_core::Seat::{self, P1, P2, P3};
use turnfold_core::paper::PaperContent;

use super::post::{Post, day};

fn begun(in_order: bool, terms: &str) -> Post {
    let terms = format!("seats = 3\ndefault = [\"speak\"]\nbetween = [\"close\"]\n{terms}");
    let post = Post::begun("council", &format!("seats = 3\nin_order = {in_order}"), &terms);
    post.run(day(1), &[]);
    post
}

fn speak(post: &mut Post, seats: &[Seat]) {
    for seat in seats {
        assert_eq!(post.order(*seat, &["speak"]), "applied", "{seat}");
    }
}

#[test]
fn pm_14_a_round_asks_all_and_then_those_who_have_not_played_in_it() {
    let mut post = begun(true, "together = true");
    assert_eq!(post.stands(), "main:0 p1,p2,p3");
    // p2's order is refused, and so is p3's behind it: p1 alone has played.
    speak(&mut post, &[P1, P3]);
    post.order(P2, &["close"]);
    post.run(day(2), &[]);
    assert_eq!(post.stands(), "main:1 p2,p3");
    speak(&mut post, &[P2]);
    post.order(P3, &["close"]);
    post.run(day(3), &[]);
    assert_eq!(post.stands(), "main:2 p3");
    speak(&mut post, &[P3]);
    post.run(day(4), &[]);
    assert_eq!(post.stands(), "main:4 p1,p2,p3", "the next round");
    post.audited();
    // Who misses has a default, and where that comes to nothing is asked again.
    speak(&mut post, &[P2]);
    post.order(P1, &["close"]);
    post.run(day(20), &[]);
    assert_eq!(post.stands(), "main:4 p1,p2,p3");
    post.audited();
    let mut post = begun(true, "");
    assert_eq!(post.stands(), "main:0 p1", "one after another");
    speak(&mut post, &[P1]);
    post.run(day(2), &[]);
    assert_eq!(post.stands(), "main:1 p2");
    post.audited();
}

#[test]
fn pm_21_who_leaves_is_played_for_and_the_last_one_wins() {
    let mut post = begun(true, "together = true");
    assert_eq!(post.hand_in(P1, PaperContent::Resign), "applied");
    assert_eq!(post.asked(), "p1=defaulted p2=none p3=none");
    speak(&mut post, &[P2, P3]);
    post.run(day(2), &[]);
    assert_eq!(post.game("main")[0], "p1 speak (turn:1:p1)");
    // The gone seat opens the next round, and is never asked.
    let expected = ["host close (turn:1:host)", "p1 speak (turn:1:host)"];
    assert_eq!(post.game("main")[3..], expected);
    assert_eq!(post.stands(), "main:5 p2,p3");
    post.audited();
    assert_eq!(post.order(P1, &["speak"]), "ignored gone");
    assert_eq!(post.hand_in(P3, PaperContent::Resign), "applied");
    assert_eq!(post.asked(), "p2");
    post.audited();
    let post = begun(false, "patience = 1");
    post.run(day(9), &[]);
    assert_eq!(post.asked(), "void", "all are gone");
}

#[test]
fn pm_20_all_who_live_have_to_agree() {
    let mut post = begun(false, "");
    let (_, draw) = post.offer(P1, "end draw");
    assert_eq!(post.answer(P2, draw, true), "applied");
    assert!(post.desk().state().is_open());
    assert_eq!(post.answer(P3, draw, true), "applied");
    assert_eq!(post.asked(), "draw");
    let mut post = begun(false, "");
    let (_, draw) = post.offer(P1, "end draw");
    assert_eq!(post.answer(P2, draw, true), "applied");
    assert_eq!(post.hand_in(P3, PaperContent::Resign), "applied");
    assert_eq!(post.asked(), "draw", "who is gone has no voice");
    post.audited();
}

#[test]
fn pm_14_a_takeback_asks_those_of_its_stand_who_still_play() {
    for in_order in [true, false] {
        let together = if in_order { "together = true" } else { "" };
        let mut post = begun(in_order, together);
        speak(&mut post, &[P1, P2, P3]);
        post.run(day(2), &[]);
        post.hand_in(P1, PaperContent::Resign);
        let (_, agreed) = post.offer(P2, "takeback main 0");
        assert_eq!(post.answer(P3, agreed, true), "applied");
        post.run(day(3), &[]);
        let played = if in_order { "takeback-1:1" } else { "takeback-1:0" };
        assert_eq!(post.stands(), format!("{played} p2,p3"), "{:?}", post.game("takeback-1"));
        post.audited();
    }
    // That asked only a seat now gone: its default is played, then others are asked.
    let mut post = begun(true, "");
    speak(&mut post, &[P1]);
    post.run(day(2), &[]);
    post.hand_in(P1, PaperContent::Resign);
    let (_, agreed) = post.offer(P2, "takeback main 0");
    assert_eq!(post.answer(P3, agreed, true), "applied");
    post.run(day(3), &[]);
    assert_eq!(post.game("takeback-1"), ["p1 speak (turn:2:host)"]);
    assert_eq!(post.stands(), "takeback-1:1 p2");
    post.audited();
}

#[test]
fn pm_13_the_last_stand_asks_nobody() {
    let mut post = begun(false, "");
    for turn in 1..=4 {
        speak(&mut post, &[P1, P2, P3]);
        post.run(day(turn + 1), &[]);
    }
    assert_eq!((post.asked().as_str(), post.stands().as_str()), ("played", "main:16 "));
    post.audited();
}
