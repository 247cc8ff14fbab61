//! Letters after a takeback, when the game continues on another branch than the reported one (PM-20, PM-30).

use std::fs;

use turnfold_core::Seat;

use super::post::{Post, fixture};
use super::writing::{Player, plays, send};
use turnfold_tests::mailbox::opened;

#[test]
fn pm_20_and_30_a_takeback_is_reported_and_played_on_from_the_letter() {
    let terms = "together = true\nspectators = 1\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), terms);
    post.play("run 1 / p1: tap 0,1; switch / p2: switch / run 2 / p1: tap 0,1; switch / p2: switch / run 3");
    post.report();
    // The position of the second turn, after the first three entries and those in between.
    let seq = post.desk().positions().nth(1).unwrap().game_seq;
    post.play(&format!("p1 offer @back takeback main {seq} / p2 agree @back / run 4"));
    let names = post.report();
    let last = names.iter().rfind(|name| name.ends_with("-p1.eml")).unwrap();
    let (text, bundle) = opened(&fs::read_to_string(post.outbox().join(last)).unwrap());
    assert!(text.contains("The game went back to an earlier turn"), "{text}");
    assert!(bundle.contains(&format!("-- line takeback-1 main {} 0 ", seq + 1)), "{bundle}");
    // The player signs with the key it joined with, and the host accepts the order.
    let mut player = Player::of(Seat::P1);
    fs::write(player.bundle(), bundle).unwrap();
    let order = player.write(&post, plays(&["tap 0,1", "switch"])).unwrap();
    assert_eq!(send(&post, &order), "applied");
    post.play("p2: switch / run 5");
    assert!(!post.report().is_empty());
    // Spectators are one turn position behind, so they see the new branch but nothing that was played on it.
    let spectators = fs::read_to_string(post.outbox().join("spectators.bundle")).unwrap();
    assert!(spectators.contains(&format!("-- line takeback-1 main {} 0 ", seq + 1)), "{spectators}");
}
