//! What `mail run` carries out, audited (PM-32, PM-33, FD-19): nothing is wrong with it at any time.

use turnfold_core::Rules;
use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::PaperContent;
use turnfold_core::rules::desk::Desk;

use super::post::{Post, day, fixture};

#[test]
fn pm_32_a_game_in_alternation() {
    let terms = "default = [\"stand\", \"confirm\", \"cycle\"]\nbetween = [\"next-turn\"]";
    let mut post = Post::begun("initiative", &fixture("initiative/small-board.toml"), terms);
    post.audited();
    post.run(day(1), &[1, 1, 2, 2]);
    post.order(P1, &["confirm", "stand"]);
    post.audited();
    post.run(day(1), &[]);
    post.order(P2, &["click 0,-2", "stand"]);
    post.run(day(2), &[]);
    // p1 misses.
    post.run(day(6), &[]);
    post.order(P2, &["click 1,-2", "stand"]);
    post.run(day(7), &[6, 6, 1, 1]);
    post.audited();
}

#[test]
fn pm_32_a_game_together_with_plans_in_secret() {
    let terms = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.run(day(1), &[]);
    // In every turn one of the two forgets `switch`, misses, or is refused; STATE and SEATS are as they have to be.
    let plans: [(&[&str], &[&str]); 6] = [
        (&["tap 0,2", "switch"], &["tap 1,-2", "switch"]),
        (&["tap 0,2"], &["switch"]),
        (&["switch"], &["switch"]),
        (&["switch"], &["tap 1,-2"]),
        (&[], &["switch"]),
        (&["switch"], &[]),
    ];
    for (turn, (first, second)) in (2..).zip(plans) {
        for (seat, plays) in [(P1, first), (P2, second)] {
            if !plays.is_empty() {
                post.order(seat, plays);
            }
        }
        post.audited();
        post.run(day(turn * 4), &[]);
        post.audited();
    }
}

#[test]
fn pm_32_a_game_that_is_taken_back_left_and_ended() {
    for is_fair in [false, true] {
        let begin = if is_fair { "fair\n" } else { "" };
        let terms = format!("{begin}default = [\"stay\"]\nbetween = [\"next\"]\npatience = 2");
        let mut post = Post::begun("siege", "begins_with_roll = true", &terms);
        let dice: &[i32] = if is_fair { &[] } else { &[1, 2, 1, 3, 2, 2, 2] };
        post.run(day(1), dice);
        post.order(P1, &["attack", "stay"]);
        post.order(P2, &["attack", "stay"]);
        post.run(day(2), dice);
        post.audited();
        post.order(P1, &["attack", "stay"]);
        let first = post.desk().positions().next().unwrap().clone();
        let offer = format!("takeback {} {}", first.line, first.game_seq).parse().unwrap();
        assert_eq!(post.hand_in(P1, PaperContent::Offer(offer)), "applied");
        let to = Desk::view(post.desk().state(), P2).offers[0].digest;
        assert_eq!(post.hand_in(P2, PaperContent::Answer { to, agree: true }), "applied");
        post.audited();
        post.run(day(3), dice);
        let rows = post.audited();
        assert_eq!(post.stands().split(':').next(), Some("takeback-1"), "{rows:?}");
        post.order(P1, &["stay"]);
        post.order(P2, &["attack", "stay"]);
        post.run(day(3), dice);
        // p2 is silent until it is gone, and so p1 has won.
        for turn in 2..5 {
            post.order(P1, &["stay"]);
            post.run(day(turn * 4), dice);
            post.audited();
        }
        assert!(!post.desk().state().is_open());
    }
}
