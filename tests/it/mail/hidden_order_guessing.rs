//! What everybody is told of a hidden order, against whoever tries a million of them (PM-5).

use turnfold_core::Seat;
use turnfold_core::paper::{Nonce, Order, Paper, PaperContent, PaperHead};
use turnfold_core::trust::TreeHash;
use turnfold_store::Entry;

use super::post::Post;

/// How many orders are tried; a million on request, as their hashes take a while in a build for tests.
fn guesses() -> u128 {
    let asked = std::env::var("TURNFOLD_GUESSES").ok().and_then(|count| count.parse().ok());
    asked.unwrap_or(4_000)
}

/// The rest of the paper is known: match, seat, number, turn, link, the history that was seen; the order is one of two.
#[test]
fn pm_5_the_nonce_hides_an_order_behind_its_digest_tag_and_leaf() {
    let setup =
        std::fs::read_to_string(turnfold_tests::sandbox::workspace().join("fixtures/cycletap/ford.toml"));
    let terms = "together = true\nsealed = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &setup.unwrap(), terms);
    post.run(super::post::day(1), &[]);
    let signed = post.write_order(Seat::P1, &["switch"]);
    let paper = signed.paper();
    let PaperContent::Order(order) = paper.content() else { panic!("it is an order") };
    let (digest, tag) = (paper.digest(), paper.order_tag());
    let entry = |text: &Paper| {
        let command = postcard::to_allocvec(&text.to_string()).unwrap();
        let key = format!("paper:{}", text.digest()).parse().ok();
        Entry { seq: 5, seat: Seat::P1, command, recorded_at_ms: 1, idempotency_key: key }.encode()
    };
    let leaf = TreeHash::of_record(&entry(paper));
    let of = |nonce: u128, plays: &str| {
        let head = PaperHead { nonce: Nonce::new(nonce.to_be_bytes()), ..paper.head().clone() };
        let order = Order::new(order.link(), false, None, vec![plays.parse().unwrap()]).unwrap();
        Paper::new(head, PaperContent::Order(order)).unwrap()
    };
    // With the nonce one guess is enough, so the guesses are the right ones.
    let nonce = u128::from_str_radix(&paper.head().nonce.to_string(), 16).unwrap();
    assert_eq!(of(nonce, "switch"), *paper);
    for guess in (0..guesses() / 2).filter(|guess| *guess != nonce) {
        for plays in ["switch", "tap 0,1"] {
            let guessed = of(guess, plays);
            let is_found = guessed.digest() == digest
                || guessed.order_tag() == tag
                || TreeHash::of_record(&entry(&guessed)) == leaf;
            assert!(!is_found, "guess {guess}");
        }
    }
}
