//! Rows of the tables of play by mail and of fair dice: the outcomes of papers and rolls in matches that the host
//! executes, each audited (PM-10 to PM-15, PM-22, PM-26, FD-7 to FD-16).

use turnfold_core::Digest;
use turnfold_core::Seat::{self, P1, P2};
use turnfold_core::dice::fair::Contribution;
use turnfold_core::paper::{
    MatchId, Nonce, Order, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::trust::TreeHash;

use super::post::{GAME_ID, Post};
use super::rows_of_turns::{fair, siege};
use turnfold_tests::players::{Unlike, key};

/// Writes an order of p1 that deviates from what it should state.
fn order_unlike(post: &mut Post, unlike: Unlike) -> SignedPaper {
    let order = post.players.order_with(&post.desk_view(), P1, &["stay"], false);
    post.write(P1, PaperContent::Order(order), unlike)
}

#[test]
fn pm_10_the_same_paper_again_is_one_entry_and_has_one_answer() {
    let mut post = siege("");
    let order = post.write_order(P1, &["stay"]);
    let first = post.take(&order);
    let head = post.desk().head();
    for _ in 0..2 {
        let again = post.take(&order);
        assert_eq!((again.outcome.clone(), again.seq), (first.outcome.clone(), first.seq));
        assert!(first.is_new && !again.is_new && post.desk().head() == head);
    }
    post.play("p2: stay / run 2");
    assert_eq!(post.give(&order), "applied", "as it was answered then");
    post.audited();
}

#[test]
fn pm_15_and_26_another_history_of_game_or_desk() {
    let mut post = siege("");
    let head = post.desk().head();
    let content = PaperContent::Seal { link: Digest::new([3; 32]), digest: Digest::new([4; 32]) };
    assert_eq!(post.hand_in(P1, content), "ignored stale_link");
    for (size, root) in [(3, TreeHash::new([7; 32])), (99, TreeHash::new([7; 32]))] {
        let seen = Some(SeenRoot { size, root });
        let forked = order_unlike(&mut post, Unlike { seen, ..Unlike::default() });
        assert_eq!(post.give(&forked), "fork");
    }
    assert_eq!(post.desk().head(), head + 1, "nothing else is recorded");
    // An order whose seen history lacks the position of the turn does not count.
    let seen = Some(SeenRoot { size: 2, root: post.desk().root(2).unwrap() });
    let unseen = order_unlike(&mut post, Unlike { seen, ..Unlike::default() });
    assert_eq!(post.give(&unseen), "rejected unseen_stand");
    post.play("p1: stay / audited");
    // A second desk of the game.
    let (mut one, mut other) = (siege(""), siege("hours = 24"));
    let order = one.write_order(P1, &["stay"]);
    assert_eq!(other.give(&order), "fork");
    other.play("p1: stay");
}

#[test]
fn pm_10_what_is_not_from_this_seat_or_match_is_not_recorded() {
    let post = siege("");
    let head = post.desk().head();
    let order = post.players.order_with(&post.desk_view(), P1, &["stay"], false);
    let seen = SeenRoot { size: head + 1, root: post.desk().root(head + 1).unwrap() };
    let p1 = post.players.key(P1);
    for (match_id, seat, by, expected) in [
        ([1; 16], P1, &p1, "rejected other_match"),
        (GAME_ID, P2, &p1, "rejected bad_signature"),
        (GAME_ID, P1, &key("host"), "rejected bad_signature"),
        (GAME_ID, Seat::P3, &p1, "rejected "),
    ] {
        let (match_id, nonce) = (MatchId::new(match_id), Nonce::new([1; 16]));
        let paper = PaperHead { match_id, seat, number: 9, turn: 1, seen, nonce };
        let paper = Paper::new(paper, PaperContent::Order(order.clone())).unwrap();
        let found = post.give(&SignedPaper::sign(paper, by));
        assert!(found.starts_with(expected), "{seat}: {found}");
    }
    assert_eq!(post.desk().head(), head);
}

#[test]
fn pm_26_a_seat_cannot_fill_the_bundles_of_all() {
    let mut post = siege("");
    for _ in 0..50 {
        post.play("p1: stay");
    }
    let head = post.desk().head();
    post.play("p1: stay => too_many");
    assert_eq!(post.desk().head(), head);
    post.play("p2: stay / run 1 / p1: stay / audited");
}

#[test]
fn pm_22_and_26_new_keys() {
    siege("").play(
        "p1 let @old: attack; stay / p1 rekey p1.new / send @old => rejected bad_signature / p1: stay / audited",
    );
    let mut post = siege("");
    let head = post.desk().head();
    let new = SeatKey::of(&key("carl")).unwrap();
    let offer = format!("replace p2 {} {}", new.name(), new.to_base64());
    post.play(&format!("p1 offer @carl {offer} => needs_admit p2"));
    assert_eq!(post.desk().head(), head);
    let paper = post.write(P1, PaperContent::Offer(offer.parse().unwrap()), Unlike::default());
    let taken = post.host().unwrap().take_paper(paper, &[P2]).unwrap();
    assert_eq!(taken.outcome.to_string(), "applied");
    post.play("p2: stay => rejected bad_signature");
    post.players.use_key(P2, key("carl"));
    post.play("p2: stay / audited");
}

fn contribution(post: &Post, seat: Seat) -> Contribution {
    post.desk().state().contributions().into_iter().find(|own| own.seat == seat).unwrap()
}

/// Writes an order of p1 with this element.
fn with_dice(post: &mut Post, dice: Option<Digest>) -> String {
    let link = post.desk().position().unwrap().link;
    let order = Order::new(link, false, dice, vec!["stay".parse().unwrap()]).unwrap();
    post.hand_in(P1, PaperContent::Order(order))
}

#[test]
fn fd_8_a_second_order_of_a_turn_changes_no_roll() {
    let roll = |orders: &str| {
        let mut post = fair();
        post.play(&format!("{orders} / p2: stay / run 2 / audited"));
        let rolls = post.game("main").into_iter().filter(|entry| entry.contains(" roll "));
        rolls.map(|entry| entry.split(" (").next().unwrap().to_owned()).nth(1).unwrap()
    };
    let first = roll("p1: attack");
    assert_eq!(roll("p1: stay / p1: attack; stay"), first);
    assert_eq!(roll("p1: stay / p1: stay / p1: attack; attack; stay"), first);
}

#[test]
fn fd_8_only_the_element_of_the_turn_is_taken() {
    let mut post = fair();
    let [own, of_p2] = [P1, P2].map(|seat| post.players.chain(&post.desk_view(), seat));
    for dice in [None, Some(own.element(2)), Some(of_p2.element(1))] {
        assert_eq!(with_dice(&mut post, dice), "ignored wrong_dice");
    }
    assert_eq!(with_dice(&mut post, Some(own.element(1))), "applied");
    // After turns without an order, the element of the turn is several steps along the chain.
    post.play("p2: attack; stay / run 8 / p2: attack; stay / run 12 / p2: attack; stay / run 16");
    assert_eq!(post.desk().state().last_number(P1), 4);
    post.audited();
}

#[test]
fn fd_9_and_13_a_silent_seat_keeps_its_contribution() {
    let mut post = fair();
    let head = post.players.chain(&post.desk_view(), P1).head();
    assert_eq!(contribution(&post, P1), Contribution { seat: P1, index: 0, element: head });
    post.play("p2: attack; stay / run 9");
    assert_eq!((contribution(&post, P1).index, contribution(&post, P2).index), (0, 1));
    post.play("p1: attack; stay / p2: stay / run 10");
    assert_eq!((contribution(&post, P1).index, contribution(&post, P2).index), (2, 2));
    post.audited();
}

#[test]
fn fd_7_and_16_a_roll_after_a_takeback_has_the_next_number() {
    let mut post = fair();
    let last = |post: &Post| post.desk().state().last_roll().unwrap();
    let before = last(&post);
    let first = post.desk().position().unwrap().game_seq;
    post.play(&format!("p1: attack; stay / p2: stay / run 2 => … rolled number={} …", before + 1));
    let made = last(&post);
    post.play(&format!("p1 offer @back takeback main {first} / p2 agree @back / run 3"));
    let line = post.game("main");
    post.play(&format!("p1: attack; stay / p2: stay / run 4 => … rolled number={} …", made + 1));
    assert_eq!(post.game("main"), line);
    // Both old and new rolls can be recomputed.
    post.audited();
}

#[test]
fn fd_11_an_analysis_with_rolls_of_its_own_stops_nothing() {
    let mut post = fair();
    let (name, branch) = (post.name.clone(), "what-if".parse().unwrap());
    post.store.create_branch(&name, &branch, &"main".parse().unwrap(), 0, Vec::new()).unwrap();
    post.append("what-if", "host roll 6");
    post.play("p1: attack; stay / p2: stay / run 2 / audited => … duel@what-if was not played …");
}

#[test]
fn fd_15_a_new_key_ends_the_chain_and_rolls_go_on() {
    let mut post = fair();
    post.play("p1: attack; stay / p2: stay / run 2");
    let kept = contribution(&post, P1);
    let old = post.players.chain(&post.desk_view(), P1);
    post.play("p1 rekey p1.new");
    assert_eq!(with_dice(&mut post, Some(old.element(2))), "ignored wrong_dice");
    post.play("p1: attack; stay / p2: stay / run 3 / audited => … the chain of p1 has ended …");
    assert_eq!(contribution(&post, P1), kept);
}
