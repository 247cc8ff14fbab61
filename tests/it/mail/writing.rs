//! `mail write`: the papers that a player's key writes from a bundle, and what it refuses (PM-16, PM-28, FD-8).

use std::fs;
use std::path::PathBuf;

use turnfold_core::Seat;
use turnfold_core::paper::{Nonce, PaperContent};
use turnfold_mail::{MailError, PaperRequest, PaperWords, ReceivedMail, WrittenPaper, write_paper};
use turnfold_proof::signing::KeyFile;

use super::false_desks::ended;
use super::post::{Post, day, fixture};
use super::reports::letters;
use turnfold_tests::mailbox::opened;
use turnfold_tests::players::key;

/// A player with a key and the last bundle received.
pub(super) struct Player {
    pub(super) key: KeyFile,
    folder: tempfile::TempDir,
    nonce: u64,
}

impl Player {
    pub(super) fn of(seat: Seat) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyFile::create(&folder.path().join("player.key"), key(seat.name())).unwrap();
        Self { key, folder, nonce: 0 }
    }

    pub(super) fn bundle(&self) -> PathBuf {
        self.folder.path().join("newest.bundle")
    }

    /// Saves the attachment of the newest report to a seat.
    fn receive(&self, post: &Post, seat: Seat) {
        fs::write(self.bundle(), newest(post, seat)).unwrap();
    }

    pub(super) fn write(&mut self, post: &Post, words: PaperWords) -> Result<WrittenPaper, String> {
        self.write_in(post, words, None)
    }

    fn write_in(
        &mut self,
        post: &Post,
        words: PaperWords,
        turn: Option<u32>,
    ) -> Result<WrittenPaper, String> {
        self.nonce += 2;
        let nonces = [self.nonce, self.nonce + 1];
        let nonces = nonces.map(|nonce| Nonce::new(u128::from(nonce).to_le_bytes()));
        let request = PaperRequest {
            bundle: &self.bundle(),
            key: &self.key,
            words,
            turn,
            is_untried: false,
            nonces,
            registry: &post.registry,
        };
        write_paper(&request).map_err(|error: MailError| error.to_string())
    }
}

/// Returns the bundle of the newest report to a seat.
pub(super) fn newest(post: &Post, seat: Seat) -> String {
    post.report();
    let letters = letters(post);
    let newest = letters.iter().rfind(|(name, _)| name.ends_with(&format!("-{seat}.eml")));
    opened(newest.unwrap().1).1
}

pub(super) fn plays(plays: &[&str]) -> PaperWords {
    PaperWords::Order { plays: plays.iter().map(|play| play.parse().unwrap()).collect(), wait: false }
}

fn seal(plays: &[&str]) -> PaperWords {
    PaperWords::Seal { plays: plays.iter().map(|play| play.parse().unwrap()).collect() }
}

/// Lets the host take what a player wrote, and returns the outcome.
pub(super) fn send(post: &Post, written: &WrittenPaper) -> String {
    let mail = format!("Hello,\n> {}\n-- \nyours", written.mail.replace('\n', "\n> "));
    let taken =
        post.host().unwrap().take(&ReceivedMail::read(mail.as_bytes()), &[Seat::P1, Seat::P2]).unwrap();
    taken.iter().map(|taken| taken.outcome.to_string()).collect::<Vec<_>>().join(", ")
}

/// Requires that nothing was written, with an error that contains these words.
pub(super) fn refused(result: Result<WrittenPaper, String>, expected: &str) {
    let error = result.map(|written| written.mail).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

/// Requires that the paper was written, and that the host applies it.
fn applied(post: &Post, written: Result<WrittenPaper, String>) -> WrittenPaper {
    let written = written.unwrap();
    assert_eq!(send(post, &written), "applied");
    written
}

const CYCLETAP: &str = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

fn opened_with(terms: &str) -> Post {
    let post = Post::new();
    post.open("cycletap", &fixture("cycletap/ford.toml"), terms).unwrap();
    post
}

/// Lets both players join only by letters, and begins the first turn.
fn begun(terms: &str) -> (Post, Player, Player) {
    let post = opened_with(terms);
    let mut players = [Seat::P1, Seat::P2].map(|seat| (seat, Player::of(seat)));
    for (seat, player) in &mut players {
        player.receive(&post, *seat);
        // Every join states the host's key, so the sent join does too.
        for _ in 0..2 {
            assert!(player.write(&post, PaperWords::Join(*seat)).unwrap().is_first);
        }
        applied(&post, player.write(&post, PaperWords::Join(*seat)));
    }
    post.run(day(1), &[]);
    let [(_, p1), (_, p2)] = players;
    p1.receive(&post, Seat::P1);
    p2.receive(&post, Seat::P2);
    (post, p1, p2)
}

fn number(written: &WrittenPaper) -> u32 {
    written.paper.signed.paper().head().number
}

#[test]
fn pm_28_papers_follow_from_the_bundle_and_the_key() {
    let (post, mut p1, mut p2) = begun(CYCLETAP);
    let first = p1.write(&post, plays(&["switch"])).unwrap();
    let second = p1.write(&post, plays(&["tap 9,9", "switch"])).unwrap();
    assert!(!first.is_first && number(&second) > number(&first), "no number twice, without a receipt");
    assert_eq!(second.without_effect, ["`tap 9,9` would change nothing: no_friendly_unit"]);
    assert_eq!(first.without_effect, [""; 0]);
    assert_eq!(send(&post, &second), "applied");
    assert_eq!(send(&post, &first), "ignored outdated");
    let offer = applied(
        &post,
        p2.write(&post, PaperWords::Announced(PaperContent::Offer("end draw".parse().unwrap()))),
    );
    p1.receive(&post, Seat::P1);
    let to = offer.paper.signed.paper().digest().to_string();
    applied(&post, p1.write(&post, PaperWords::Answer { to: to[..8].into(), agree: false }));
    applied(&post, p1.write(&post, PaperWords::Announced(PaperContent::Resign)));
}

#[test]
fn pm_28_what_could_not_count_is_not_written() {
    let (post, mut p1, mut p2) = begun(CYCLETAP);
    refused(p1.write(&post, plays(&["switch", "switch"])), "the game would refuse the order: not_your_turn");
    refused(p1.write(&post, PaperWords::Join(Seat::P2)), "has p1 already");
    refused(p1.write(&post, PaperWords::Answer { to: "00000000".into(), agree: true }), "no offer of turn 1");
    refused(p1.write(&post, PaperWords::Answer { to: "0".into(), agree: true }), "no open offer 0");
    refused(p1.write(&post, seal(&["switch"])), "no seal is asked of you");
    refused(p1.write_in(&post, plays(&["switch"]), Some(2)), "of turn 1, not 2");
    // With secret planning nothing is legal for p2 before p1 has played, so the order is not tried in the game.
    assert!(p2.write(&post, plays(&["switch"])).is_ok());
    let mut stranger = Player::of(Seat::P3);
    stranger.receive(&post, Seat::P1);
    refused(stranger.write(&post, plays(&["switch"])), "has no seat in this match");
    refused(stranger.write(&post, PaperWords::Join(Seat::P3)), "has no seat `p3`");
}

#[test]
fn pm_28_nothing_is_written_on_a_bundle_that_fails_its_audit() {
    let (post, mut p1, _) = begun(CYCLETAP);
    let good = fs::read_to_string(p1.bundle()).unwrap();
    let mut tried = |bundle: &str| {
        fs::write(p1.bundle(), bundle).unwrap();
        p1.write(&post, plays(&["switch"])).map(|_| ()).unwrap_err()
    };
    let error = tried(&good.replacen("-- line main", "-- line niam", 1));
    assert!(error.contains("bytes"), "{error}");
    // A bundle without a signature, with a matching last line.
    let (records, _) = good.split_once("-- checkpoint").unwrap();
    let error = tried(&ended(&format!("{records}-- end ")));
    assert!(error.contains("signature"), "{error}");
    fs::write(p1.bundle(), &good).unwrap();
    assert!(p1.write(&post, plays(&["switch"])).is_ok());
}

#[test]
fn pm_28_a_desk_that_takes_something_back_or_has_another_history_is_refused() {
    let (post, mut p1, _) = begun(CYCLETAP);
    let old = fs::read_to_string(p1.bundle()).unwrap();
    applied(&post, p1.write(&post, plays(&["switch"])));
    post.run(day(5), &[]);
    p1.receive(&post, Seat::P1);
    p1.write(&post, PaperWords::Announced(PaperContent::Offer("end draw".parse().unwrap()))).unwrap();
    fs::write(p1.bundle(), old).unwrap();
    refused(p1.write(&post, plays(&["switch"])), "rolled back");
    // The same players at a desk where p1 sent nothing and the clock advanced instead.
    let mut other = opened_with(CYCLETAP);
    for seat in [Seat::P1, Seat::P2] {
        other.join(seat);
    }
    for at in 1..9 {
        other.run(day(at), &[]);
    }
    p1.receive(&other, Seat::P1);
    refused(p1.write(&post, plays(&["switch"])), "another history");
    // The same id with other terms.
    let terms = opened_with("together = true\nhours = 5\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n");
    p1.receive(&terms, Seat::P1);
    refused(p1.write(&post, PaperWords::Announced(PaperContent::Resign)), "known with another beginning");
}

/// A false desk could trick a player into revealing a chain of dice, turn by turn.
#[test]
fn pm_28_an_order_long_after_the_last_has_to_be_meant() {
    let terms =
        "fair\nhours = 1\npatience = 0\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
    let (post, mut p1, _) = begun(terms);
    for at in 2..24 {
        post.run(day(at), &[]);
    }
    p1.receive(&post, Seat::P1);
    let turn = post.desk().state().turn();
    assert!(turn > 20);
    refused(p1.write(&post, plays(&["switch"])), &format!("add `--turn {turn}`"));
    let written = p1.write_in(&post, plays(&["switch"]), Some(turn)).unwrap();
    assert_eq!(send(&post, &written), "applied", "with the element of its turn (FD-8)");
    let PaperContent::Order(order) = written.paper.signed.paper().content().clone() else { panic!() };
    assert_eq!(
        order.dice(),
        Some(post.players.chain(&post.desk_view(), Seat::P1).element(u16::try_from(turn).unwrap()))
    );
    assert!(p1.write(&post, plays(&["switch"])).is_ok(), "now it is no jump any more");
}

#[test]
fn pm_16_sealed_orders_are_kept_next_to_the_key_until_all_have_sealed() {
    let (post, mut p1, mut p2) = begun(&format!("sealed = true\n{CYCLETAP}"));
    refused(p1.write(&post, plays(&["switch"])), "sealed first");
    applied(&post, p1.write(&post, seal(&["tap 0,1", "switch"])));
    refused(p1.write(&post, seal(&["switch"])), "another order was sealed");
    applied(&post, p2.write(&post, seal(&["switch"])));
    p1.receive(&post, Seat::P1);
    refused(p1.write(&post, plays(&["switch"])), "another order was sealed");
    let order = p1.write(&post, plays(&[])).unwrap();
    assert!(order.mail.contains("play: tap 0,1"), "{}", order.mail);
    assert_eq!(send(&post, &order), "applied");
}

#[test]
fn pm_35_a_sealed_order_that_was_lost_names_the_folder_to_restore() {
    let (post, mut p1, mut p2) = begun(&format!("sealed = true\n{CYCLETAP}"));
    applied(&post, p1.write(&post, seal(&["tap 0,1", "switch"])));
    applied(&post, p2.write(&post, seal(&["switch"])));
    p1.receive(&post, Seat::P1);
    let (memory, backup) = (p1.folder.path().join("player.key.seen"), p1.folder.path().join("backup"));
    fs::rename(&memory, &backup).unwrap();
    let lost = format!(
        "the order that you sealed in turn 1 is not in `{}`, the folder next to your key; restore that folder",
        memory.canonicalize().unwrap_or(memory.clone()).display()
    );
    refused(p1.write(&post, plays(&[])), &lost);
    refused(p1.write(&post, plays(&["tap 0,1", "switch"])), &lost);
    refused(p1.write(&post, seal(&["tap 0,1", "switch"])), &lost);
    fs::remove_dir_all(&memory).unwrap();
    fs::rename(&backup, &memory).unwrap();
    applied(&post, p1.write(&post, plays(&[])));
}

#[test]
fn pm_16_a_seal_is_missed_at_the_deadline_that_was_agreed() {
    let (mut post, mut p1, mut p2) = begun(&format!("sealed = true\n{CYCLETAP}"));
    applied(&post, p1.write(&post, seal(&["tap 0,1", "switch"])));
    let earlier = applied(
        &post,
        p1.write(
            &post,
            PaperWords::Announced(PaperContent::Offer("extend 2026-12-02T12:00:00Z".parse().unwrap())),
        ),
    );
    // An order that changes nothing is redacted in p1's bundle, and blocks nothing.
    assert_eq!(post.order(Seat::P2, &["switch"]), "ignored seal_first");
    p2.receive(&post, Seat::P2);
    let to = earlier.paper.signed.paper().digest().to_string();
    applied(&post, p2.write(&post, PaperWords::Answer { to, agree: true }));
    p1.receive(&post, Seat::P1);
    assert!(fs::read_to_string(p1.bundle()).unwrap().contains("\n#"), "something is left out");
    refused(p1.write(&post, plays(&[])), "p2 has not sealed");
    post.run(day(2), &[]);
    assert_eq!(post.asked(), "p1=sealed p2=defaulted");
    p1.receive(&post, Seat::P1);
    applied(&post, p1.write(&post, plays(&[])));
}

/// If orders of earlier turns are redacted, the desk cannot be folded.
#[test]
fn pm_16_no_seat_has_missed_a_seal_after_it_was_given_more_time() {
    for by_host in [true, false] {
        let (post, mut p1, mut p2) = begun(&format!("sealed = true\nsecret = \"match\"\n{CYCLETAP}"));
        for player in [&mut p1, &mut p2] {
            applied(&post, player.write(&post, seal(&["switch"])));
        }
        for (seat, player) in [(Seat::P1, &mut p1), (Seat::P2, &mut p2)] {
            player.receive(&post, seat);
            applied(&post, player.write(&post, plays(&[])));
        }
        post.run(day(2), &[]);
        p1.receive(&post, Seat::P1);
        p2.receive(&post, Seat::P2);
        assert!(fs::read_to_string(p1.bundle()).unwrap().contains("\n#"), "an order is left out");
        applied(&post, p1.write(&post, seal(&["switch"])));
        if by_host {
            post.decide("extend 2026-12-09T12:00:00Z the mail was down");
        } else {
            let offer =
                PaperWords::Announced(PaperContent::Offer("extend 2026-12-09T12:00:00Z".parse().unwrap()));
            let later = applied(&post, p2.write(&post, offer));
            p1.receive(&post, Seat::P1);
            let to = later.paper.signed.paper().digest().to_string();
            applied(&post, p1.write(&post, PaperWords::Answer { to, agree: true }));
        }
        // The original deadline of three days has passed.
        post.decide("clock 2026-12-06T12:00:00Z");
        applied(
            &post,
            p2.write(&post, PaperWords::Announced(PaperContent::Offer("end draw".parse().unwrap()))),
        );
        p1.receive(&post, Seat::P1);
        refused(p1.write(&post, plays(&[])), "p2 has not sealed");
        post.run(day(9), &[]);
        p1.receive(&post, Seat::P1);
        applied(&post, p1.write(&post, plays(&[])));
    }
}

#[test]
fn pm_22_a_new_key_knows_what_the_old_one_knew() {
    let (post, mut p1, _) = begun(CYCLETAP);
    let new = KeyFile::create(&p1.folder.path().join("new.key"), key("fresh")).unwrap();
    let rekey = applied(&post, p1.write(&post, PaperWords::Rekey(new.clone())));
    post.run(day(5), &[]);
    p1.receive(&post, Seat::P1);
    p1.key = new;
    let order = p1.write(&post, plays(&["switch"])).unwrap();
    assert!(!order.is_first && number(&order) > number(&rekey));
    assert_eq!(send(&post, &order), "applied");
}
