//! Rows of the table of fair dice that concern papers and runs (FD-7 to FD-16), each match audited.

use turnfold_core::Seat::{self, P1, P2};
use turnfold_core::dice::fair::Contribution;
use turnfold_core::paper::{Order, PaperContent, SeatKey};

use super::post::{Post, day};
use turnfold_tests::players::{Unlike, key};

const TERMS: &str = "fair\ndefault = [\"stay\"]\nbetween = [\"next\"]";

fn begun() -> Post {
    let post = Post::begun("siege", "begins_with_roll = true", TERMS);
    post.run(day(1), &[]);
    post
}

fn rolls(post: &Post, line: &str) -> Vec<String> {
    let rolls = post.game(line).into_iter().filter(|entry| entry.contains(" roll "));
    rolls.map(|entry| entry.split(" (").next().unwrap().to_owned()).collect()
}

fn contribution(post: &Post, seat: Seat) -> Contribution {
    post.desk().state().contributions().into_iter().find(|own| own.seat == seat).unwrap()
}

/// Writes an order of p1 with this element.
fn with_dice(post: &mut Post, dice: Option<turnfold_core::Digest>) -> String {
    let link = post.desk().position().unwrap().link;
    let order = Order::new(link, false, dice, vec!["stay".parse().unwrap()]).unwrap();
    let paper = post.write(P1, PaperContent::Order(order), Unlike::default());
    post.give(&paper)
}

#[test]
fn fd_8_a_second_order_of_a_turn_changes_no_roll() {
    let mut seen = Vec::new();
    for plays in [&["attack", "stay"][..], &["attack", "attack", "stay"], &["attack"]] {
        let mut post = begun();
        for number in 0..plays.len() {
            assert_eq!(post.order(P1, &["stay"]), "applied", "{number} orders before it");
        }
        assert_eq!(post.order(P1, plays), "applied");
        assert_eq!(post.order(P2, &["stay"]), "applied");
        post.run(day(2), &[]);
        post.audited();
        let first = rolls(&post, "main");
        seen.push((post.game("main").iter().position(|entry| entry.contains("attack")), first[1].clone()));
    }
    assert!(seen.iter().all(|(_, roll)| *roll == seen[0].1), "{seen:?}");
}

#[test]
fn fd_8_only_the_element_of_the_turn_is_taken() {
    let mut post = begun();
    let chain = post.players.chain(&post.desk_view(), P1);
    assert_eq!(with_dice(&mut post, None), "ignored wrong_dice");
    assert_eq!(with_dice(&mut post, Some(chain.element(2))), "ignored wrong_dice");
    let of_p2 = post.players.chain(&post.desk_view(), P2).element(1);
    assert_eq!(with_dice(&mut post, Some(of_p2)), "ignored wrong_dice");
    assert_eq!(with_dice(&mut post, Some(chain.element(1))), "applied");
    // After a silence the element of the turn follows in several steps.
    for turn in 2..=4 {
        post.order(P2, &["attack", "stay"]);
        post.run(day(turn * 4), &[]);
    }
    assert_eq!(post.desk().state().last_number(P1), 4);
    post.audited();
}

#[test]
fn fd_9_who_sends_nothing_keeps_its_contribution() {
    let mut post = begun();
    let head = post.players.chain(&post.desk_view(), P1).head();
    assert_eq!(contribution(&post, P1), Contribution { seat: P1, index: 0, element: head });
    post.order(P2, &["attack", "stay"]);
    post.run(day(9), &[]);
    assert_eq!((contribution(&post, P1).index, contribution(&post, P2).index), (0, 1));
    post.order(P1, &["attack", "stay"]);
    post.order(P2, &["stay"]);
    post.run(day(10), &[]);
    assert_eq!((contribution(&post, P1).index, contribution(&post, P2).index), (2, 2));
    post.audited();
}

#[test]
fn fd_7_and_16_a_roll_after_a_takeback_has_the_next_number() {
    let mut post = begun();
    let play = |post: &mut Post, at: u32| {
        post.order(P1, &["attack", "stay"]);
        post.order(P2, &["stay"]);
        let effects = post.run(day(at), &[]);
        let numbers = effects.iter().filter_map(|effect| effect.strip_prefix("rolled number="));
        let numbers = numbers.map(|rest| rest.split(' ').next().unwrap().parse().unwrap());
        numbers.collect::<Vec<u16>>()
    };
    let before = post.desk().state().last_roll().unwrap();
    let first = play(&mut post, 2);
    assert_eq!(first[0], before + 1);
    let stand = post.desk().positions().next().unwrap().clone();
    let (_, agreed) = post.offer(P1, &format!("takeback main {}", stand.game_seq));
    assert_eq!(post.answer(P2, agreed, true), "applied");
    post.run(day(3), &[]);
    let line = post.game("main");
    let again = play(&mut post, 4);
    assert_eq!(again[0], first.last().unwrap() + 1, "numbers are never set back");
    assert_eq!(post.game("main"), line);
    // Old and new both recompute.
    post.audited();
}

#[test]
fn fd_11_an_analysis_with_rolls_of_its_own_stops_nothing() {
    let mut post = begun();
    post.order(P1, &["attack", "stay"]);
    post.order(P2, &["stay"]);
    let (name, main) = (post.name.clone(), "main".parse().unwrap());
    let branch = "what-if".parse().unwrap();
    post.store.create_branch(&name, &branch, &main, 0).unwrap();
    let mut roll = post.store.read(&name, &main, Some(1)).unwrap().entries.remove(0);
    // A roll by hand, as a recorded one.
    *roll.command.last_mut().unwrap() = 6 << 1;
    let entry = turnfold_store::NewEntry { seat: roll.seat, command: roll.command, recorded_at_ms: 1 };
    post.store.append(&name, &branch, 0, vec![entry], None).unwrap();
    post.run(day(2), &[]);
    let rows = post.audited();
    assert!(rows.iter().any(|row| row.reason.contains("what-if")), "{rows:#?}");
}

#[test]
fn fd_15_a_new_key_ends_the_chain_and_rolls_go_on() {
    let mut post = begun();
    post.order(P1, &["attack", "stay"]);
    post.order(P2, &["stay"]);
    post.run(day(2), &[]);
    let kept = contribution(&post, P1);
    let old = post.players.chain(&post.desk_view(), P1);
    let new = key("p1.new");
    assert_eq!(post.hand_in(P1, PaperContent::Rekey(SeatKey::of(&new).unwrap())), "applied");
    post.players.use_key(P1, new);
    let turn = u16::try_from(post.desk().state().turn()).unwrap();
    assert_eq!(with_dice(&mut post, Some(old.element(turn))), "ignored wrong_dice");
    assert_eq!(post.order(P1, &["attack", "stay"]), "applied");
    post.order(P2, &["stay"]);
    post.run(day(3), &[]);
    assert_eq!(contribution(&post, P1), kept);
    post.audited();
}
