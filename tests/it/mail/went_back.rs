//! Letters after a takeback, when the game goes on beside the line that was told (PM-20, PM-30).

use std::fs;

use turnfold_core::Seat;
use turnfold_core::paper::PaperContent;
use turnfold_replay::mail::{Addresses, MailRoom, Outbox};

use super::post::{Post, day};
use super::reports::opened;
use super::writing::{Player, plays, send};
use crate::sandbox::workspace;

#[test]
fn pm_20_and_30_a_takeback_is_told_and_played_on_from_the_letter() {
    let setup = fs::read_to_string(workspace().join("fixtures/cycletap/ford.toml")).unwrap();
    let terms = "together = true\nspectators = 1\ndefault = [\"switch\"]\nbetween = [\"resolve\"]";
    let mut post = Post::begun("cycletap", &setup, terms);
    let outbox = tempfile::tempdir().unwrap();
    let written = |post: &Post| {
        let room = MailRoom {
            store: &post.store,
            registry: &post.registry,
            signers: &post.signers,
            addresses: &Addresses::default(),
            outbox: &Outbox::at(outbox.path()),
            game: &post.name,
        };
        room.write_reports().unwrap().into_iter().map(|name| name.to_string()).collect::<Vec<_>>()
    };
    post.run(day(1), &[]);
    for turn in [2, 3] {
        assert_eq!(post.order(Seat::P1, &["tap 0,1", "switch"]), "applied");
        assert_eq!(post.order(Seat::P2, &["switch"]), "applied");
        post.run(day(turn), &[]);
    }
    written(&post);
    // The stand of the second turn, behind the first three entries and what came between.
    let (line, seq) = ("main", post.desk().turns()[1].stand.game_seq);
    let offer = PaperContent::Offer(format!("takeback {line} {seq}").parse().unwrap());
    let offer = post.write(Seat::P1, offer, super::players::Unlike::default());
    assert_eq!(post.give(&offer), "applied");
    let to = offer.paper().digest();
    assert_eq!(post.hand_in(Seat::P2, PaperContent::Answer { to, agree: true }), "applied");
    post.run(day(4), &[]);
    let names = written(&post);
    let last = names.iter().rfind(|name| name.ends_with("-p1.eml")).unwrap();
    let (text, bundle) = opened(&fs::read_to_string(outbox.path().join(last)).unwrap());
    assert!(text.contains("The game went back to an earlier turn"), "{text}");
    assert!(bundle.contains(&format!("-- line takeback-1 main {} 0 ", seq + 1)), "{bundle}");
    // The player signs with the key that it joined with, and the host takes it.
    let mut player = Player::of(Seat::P1);
    fs::write(player.bundle(), bundle).unwrap();
    let order = player.write(&post, plays(&["tap 0,1", "switch"])).unwrap();
    assert_eq!(send(&post, &order), "applied");
    assert_eq!(post.order(Seat::P2, &["switch"]), "applied");
    post.run(day(5), &[]);
    assert!(!written(&post).is_empty());
    // Spectators are one stand behind, so they see the line that was begun and nothing of what was played on it.
    let spectators = fs::read_to_string(outbox.path().join("spectators.bundle")).unwrap();
    assert!(spectators.contains(&format!("-- line takeback-1 main {} 0 ", seq + 1)), "{spectators}");
}
