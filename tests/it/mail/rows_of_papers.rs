//! Rows of the table of play by mail that tell what becomes of papers (PM-10, PM-15, PM-26).

use turnfold_core::Digest;
use turnfold_core::Seat::{self, P1, P2};
use turnfold_core::paper::{MatchId, Nonce, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper};
use turnfold_core::trust::TreeHash;

use super::post::{Post, day};
use turnfold_tests::players::{Unlike, key};

/// A match in which p1 and p2 order at once, whose first turn is open.
fn begun(terms: &str) -> Post {
    let post = Post::begun("siege", "begins_with_roll = false", &format!("default = [\"stay\"]\n{terms}"));
    post.run(day(1), &[]);
    post
}

/// Writes an order of p1 that says something else beside its plays.
fn order_unlike(post: &mut Post, unlike: Unlike) -> SignedPaper {
    let order = post.players.order_with(&post.desk_view(), P1, &["stay"], false);
    post.write(P1, PaperContent::Order(order), unlike)
}

fn of_desk(post: &Post) -> u64 {
    post.desk().head()
}

#[test]
fn pm_10_the_same_paper_again_is_one_entry_and_has_one_answer() {
    let mut post = begun("");
    let order = post.write_order(P1, &["stay"]);
    let first = post.take(&order);
    let head = of_desk(&post);
    for _ in 0..2 {
        let again = post.take(&order);
        assert_eq!((again.outcome.clone(), again.seq), (first.outcome.clone(), first.seq));
        assert!(first.is_new && !again.is_new && of_desk(&post) == head);
    }
    post.order(P2, &["stay"]);
    post.run(day(2), &[]);
    assert_eq!(post.give(&order), "applied", "as it was answered then");
    post.audited();
}

#[test]
fn pm_10_the_newer_order_counts_whichever_comes_first() {
    let mut post = begun("");
    let (older, newer) = (post.write_order(P1, &["stay"]), post.write_order(P1, &["attack", "stay"]));
    assert_eq!(post.give(&newer), "applied");
    assert_eq!(post.give(&older), "ignored outdated");
    let same = order_unlike(&mut post, Unlike { number: Some(2), ..Unlike::default() });
    assert_eq!(post.give(&same), "ignored outdated", "two papers with one number");
    post.order(P2, &["stay"]);
    post.run(day(1), &[2]);
    assert_eq!(post.game("main")[0], "p1 attack (order 1)");
    post.audited();
}

#[test]
fn pm_12_late_is_what_stands_behind_the_tick() {
    let mut post = begun("");
    let (on_time, late) = (post.write_order(P2, &["stay"]), post.write_order(P1, &["attack", "stay"]));
    // Written at any time, it is there before the tick.
    assert_eq!(post.give(&on_time), "applied");
    post.run(day(5), &[]);
    assert_eq!(post.game("main"), ["p1 stay (turn:1:p1)", "p2 stay (order 1)"]);
    assert_eq!(post.asked(), "played");
    assert_eq!(post.give(&late), "rejected match_over");
    let mut post = begun("between = [\"next\"]");
    let late = post.write_order(P1, &["attack", "stay"]);
    post.order(P2, &["stay"]);
    post.run(day(5), &[]);
    assert_eq!(post.give(&late), "ignored late");
    let next = order_unlike(&mut post, Unlike { turn: Some(3), ..Unlike::default() });
    assert_eq!(post.give(&next), "rejected not_yet");
    post.audited();
}

#[test]
fn pm_15_another_history_of_game_or_desk() {
    let mut post = begun("between = [\"next\"]");
    let head = of_desk(&post);
    let known = post.desk_view();
    let content = PaperContent::Seal { link: Digest::new([3; 32]), digest: Digest::new([4; 32]) };
    let stale = post.players.write(&known, P1, content, Unlike::default());
    assert_eq!(post.give(&stale), "ignored stale_link");
    for (size, root) in [(3, TreeHash::new([7; 32])), (99, TreeHash::new([7; 32]))] {
        let forked =
            order_unlike(&mut post, Unlike { seen: Some(SeenRoot { size, root }), ..Unlike::default() });
        assert_eq!(post.give(&forked), "fork");
    }
    assert_eq!(of_desk(&post), head + 1, "nothing else is recorded");
    // Who has not seen the stand of the turn names no history that counts for it.
    let root = post.desk().root(2).unwrap();
    let early = Some(SeenRoot { size: 2, root });
    let unseen = order_unlike(&mut post, Unlike { seen: early, ..Unlike::default() });
    assert_eq!(post.give(&unseen), "rejected unseen_stand");
    assert_eq!(post.order(P1, &["stay"]), "applied");
    post.audited();
}

#[test]
fn pm_10_what_is_not_from_this_seat_or_match_is_not_recorded() {
    let post = begun("");
    let head = of_desk(&post);
    let order = post.players.order_with(&post.desk_view(), P1, &["stay"], false);
    let (size, root) = (head + 1, post.desk().root(head + 1).unwrap());
    let of = |match_id: [u8; 16], seat: Seat| PaperHead {
        match_id: MatchId::new(match_id),
        seat,
        number: 9,
        turn: 1,
        seen: SeenRoot { size, root },
        nonce: Nonce::new([1; 16]),
    };
    let paper = |head| Paper::new(head, PaperContent::Order(order.clone())).unwrap();
    let p1 = post.players.key(P1);
    let other = SignedPaper::sign(paper(of([1; 16], P1)), &p1);
    assert_eq!(post.give(&other), "rejected other_match");
    let as_p2 = SignedPaper::sign(paper(of(super::post::GAME_ID, P2)), &p1);
    assert_eq!(post.give(&as_p2), "rejected bad_signature");
    let by_host = SignedPaper::sign(paper(of(super::post::GAME_ID, P1)), &key("host"));
    assert_eq!(post.give(&by_host), "rejected bad_signature");
    let nobody = SignedPaper::sign(paper(of(super::post::GAME_ID, Seat::P3)), &p1);
    assert!(post.give(&nobody).starts_with("rejected "));
    assert_eq!(of_desk(&post), head);
}

#[test]
fn pm_26_a_seat_cannot_fill_everybodys_bundles() {
    let mut post = begun("between = [\"next\"]");
    for number in 0..50 {
        assert_eq!(post.order(P1, &["stay"]), "applied", "{number}");
    }
    let head = of_desk(&post);
    assert_eq!(post.order(P1, &["stay"]), "too_many");
    assert_eq!(of_desk(&post), head);
    assert_eq!(post.order(P2, &["stay"]), "applied");
    post.run(day(1), &[]);
    assert_eq!(post.order(P1, &["stay"]), "applied", "behind the next stand");
    post.audited();
}

#[test]
fn pm_22_a_new_key_signs_at_once_and_the_old_one_never_again() {
    let mut post = begun("between = [\"next\"]");
    let old = post.write_order(P1, &["attack", "stay"]);
    let new = key("p1.new");
    let rekey = PaperContent::Rekey(SeatKey::of(&new).unwrap());
    assert_eq!(post.hand_in(P1, rekey), "applied");
    post.players.use_key(P1, new);
    assert_eq!(post.give(&old), "rejected bad_signature");
    assert_eq!(post.order(P1, &["stay"]), "applied");
    post.audited();
}

#[test]
fn pm_26_a_replacement_needs_the_host() {
    let mut post = begun("between = [\"next\"]");
    let head = of_desk(&post);
    let new = SeatKey::of(&key("carl")).unwrap();
    let offer = format!("replace p2 {} {}", new.name(), new.to_base64());
    let (told, _) = post.offer(P1, &offer);
    assert_eq!((told.as_str(), of_desk(&post)), ("needs_admit p2", head));
    let paper = post.write(P1, PaperContent::Offer(offer.parse().unwrap()), Unlike::default());
    let taken = post.host().unwrap().take_paper(paper, &[P2]).unwrap();
    assert_eq!(taken.outcome.to_string(), "applied");
    assert_eq!(post.order(P2, &["stay"]), "rejected bad_signature");
    post.players.use_key(P2, key("carl"));
    assert_eq!(post.order(P2, &["stay"]), "applied");
    post.audited();
}

#[test]
fn pm_26_a_second_desk_of_a_game_is_a_fork() {
    let mut one = begun("");
    let order = one.write_order(P1, &["stay"]);
    let mut other = begun("hours = 24");
    assert_eq!(other.give(&order), "fork");
    assert_eq!(other.order(P1, &["stay"]), "applied");
}
