//! Whole games by mail, in memory: alternating, together, hosted, with recorded and with fair dice (PM-27).

use turnfold_core::Seat;
use turnfold_core::paper::PaperContent;

use super::post::{Post, day, fixture};

const P1: Seat = Seat::P1;
const P2: Seat = Seat::P2;

#[test]
fn pm_27_a_game_in_alternation_with_recorded_dice() {
    let terms = "default = [\"stand\", \"confirm\", \"cycle\"]\nbetween = [\"next-turn\"]";
    let mut post = Post::begun("initiative", &fixture("initiative/small-board.toml"), terms);
    // The roll is due before the first stand.
    let happened = post.run(day(1), &[1, 1, 2, 2]);
    assert_eq!(post.game("main"), ["host roll 1 1 2 2 (turn:0:host)"]);
    assert_eq!(post.stands(), "main:1 p1");
    assert_eq!(happened.len(), 2, "{happened:?}");
    assert_eq!(post.order(P2, &["confirm"]), "ignored not_due");
    assert_eq!(post.order(P1, &["confirm", "stand"]), "applied");
    post.run(day(1), &[]);
    assert_eq!(post.stands(), "main:3 p2");
    assert_eq!(post.order(P2, &["click 0,-2", "stand"]), "applied");
    post.run(day(2), &[]);
    // p1 misses, and its default plays all there is to play.
    assert_eq!(post.stands(), "main:5 p1");
    assert!(post.run(day(3), &[]).is_empty(), "nothing comes before the deadline");
    post.run(day(6), &[]);
    assert_eq!(post.stands().split(' ').nth(1), Some("p2"));
    let played = post.game("main");
    assert!(played.iter().any(|entry| entry == "p1 stand (turn:3:p1)"), "{played:?}");
    assert_eq!(post.order(P2, &["click 1,-2", "stand"]), "applied");
    // With the last unit the turn of the game ends, and the next begins with a roll.
    post.run(day(7), &[6, 6, 1, 1]);
    let played = post.game("main");
    let end = &played[played.len() - 2..];
    assert_eq!(end, ["host next-turn (turn:4:host)", "host roll 6 6 1 1 (turn:4:host)"]);
}

#[test]
fn pm_27_a_game_together_where_all_order_at_once() {
    let terms = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.run(day(1), &[]);
    assert_eq!(post.stands(), "main:0 p1,p2");
    assert_eq!(post.order(P2, &["tap 1,-2", "switch"]), "applied");
    assert_eq!(post.order(P1, &["tap 0,2", "switch"]), "applied");
    post.run(day(1), &[]);
    let expected = [
        "p1 tap 0,2 (order 1)",
        "p1 switch (order 1)",
        "p2 tap 1,-2 (order 1)",
        "p2 switch (order 1)",
        "host resolve (turn:1:host)",
    ];
    assert_eq!(post.game("main"), expected);
    assert_eq!(post.stands(), "main:5 p1,p2");
    // p1 forgets `switch`, and so p2's order is refused: both are asked again, and nobody is told the state.
    assert_eq!(post.order(P1, &["tap 0,2"]), "applied");
    assert_eq!(post.order(P2, &["switch"]), "applied");
    let happened = post.run(day(2), &[]);
    assert!(happened.iter().any(|effect| effect.contains("not_your_turn")), "{happened:?}");
    assert_eq!(post.stands(), "main:6 p1,p2");
    // p1 misses, p2 has ordered: p1's default first, then p2's order.
    assert_eq!(post.order(P2, &["switch"]), "applied");
    post.run(day(9), &[]);
    let played = post.game("main");
    let end = ["p1 switch (turn:3:p1)", "p2 switch (order 3)", "host resolve (turn:3:host)"];
    assert_eq!(played[played.len() - 3..], end);
    // p2 alone forgets it: only p2 is asked.
    assert_eq!(post.order(P1, &["switch"]), "applied");
    assert_eq!(post.order(P2, &["tap 1,-2"]), "applied");
    post.run(day(9), &[]);
    assert_eq!(post.stands().split(' ').nth(1), Some("p2"));
}

#[test]
fn pm_16_the_hosted_seat_seals_before_anybody_orders() {
    let terms = "together = true\nhosted = [\"p2\"]\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.run(day(1), &[]);
    let hosted = post.write_order(P2, &["switch"]);
    assert_eq!(post.order(P1, &["switch"]), "rejected wait_for_seals");
    let link = post.desk().position().unwrap().link;
    let digest = hosted.paper().digest();
    assert_eq!(post.hand_in(P2, PaperContent::Seal { link, digest }), "applied");
    assert_eq!(post.order(P1, &["switch"]), "applied");
    assert_eq!(post.give(&hosted), "applied");
    post.run(day(2), &[]);
    assert_eq!(post.stands(), "main:3 p1,p2");
}

#[test]
fn fd_10_a_game_with_fair_dice() {
    let terms = "fair\ndefault = [\"stay\"]\nbetween = [\"next\"]";
    let mut post = Post::begun("siege", "begins_with_roll = true", terms);
    let mut rolls = 0;
    for turn in 1..=3_u32 {
        let happened = post.run(day(turn), &[]);
        rolls += happened.iter().filter(|effect| effect.starts_with("rolled")).count();
        assert_eq!(post.order(P1, &["attack", "stay"]), "applied", "{turn}");
        assert_eq!(post.order(P2, &["attack", "stay"]), "applied", "{turn}");
    }
    let happened = post.run(day(4), &[]);
    rolls += happened.iter().filter(|effect| effect.starts_with("rolled")).count();
    let made = post.game("main").iter().filter(|entry| entry.contains(" roll ")).count();
    assert_eq!(rolls, made);
    assert_eq!(usize::from(post.desk().state().last_roll().unwrap()), made);
    assert!(happened.iter().any(|effect| effect.contains("over")), "{happened:?}");
}
