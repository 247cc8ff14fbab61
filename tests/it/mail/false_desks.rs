//! Bundles with which a dishonest host would trick a player into writing papers, with the real binary (PM-28, TR-17).

use std::fmt::Write as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::{PaperContent, Press};
use turnfold_core::trust::{Checkpoint, KeyKind, PrivateKey, SignatureLine, SignedNote, TreeHash};
use turnfold_core::{Digest, Seat};
use turnfold_mail::PaperWords;
use turnfold_store::Entry;

use super::post::{Post, day};
use super::writing::{Player, newest, refused};
use turnfold_tests::mailbox::Mailbox;

const ALTERNATING: &str =
    "hosted = []\npatience = 0\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
const TOGETHER: &str = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

/// Returns the text of a bundle with a matching last line.
pub(super) fn ended(text: &str) -> String {
    let (before, _) = text.split_once("-- end ").unwrap();
    let end = Digest::new(Sha256::digest(before).into());
    format!("{before}-- end {end}\n")
}

/// Redacts records of a match in a bundle. Its trees, and so its signatures, stay the same.
fn without(bundle: &str, of: &str, leaves_out: impl Fn(&[u8]) -> bool) -> String {
    let mut is_in = false;
    let lines = bundle.lines().map(|line| {
        if let Some(name) = line.strip_prefix("-- match ") {
            is_in = name == of;
        }
        // A hash of a proof may also begin with a plus, but the rest of it is not base64.
        match line.strip_prefix('+').and_then(|record| STANDARD.decode(record).ok()) {
            Some(record) if is_in && leaves_out(&record) => format!("#{}\n", TreeHash::of_record(&record)),
            _ => format!("{line}\n"),
        }
    });
    ended(&lines.collect::<String>())
}

/// Returns a match of this game after some turns, with p1's bundle in `newest.bundle` and p1's key.
fn begun(rules: &str, setup: &str, terms: &str) -> Mailbox {
    let mut mailbox =
        Mailbox::opened(rules, setup, terms, if rules == "initiative" { "--dice fair" } else { "" });
    mailbox.join(&[P1, P2]);
    for day in 1..=4 {
        assert!(mailbox.run(&format!("{:02}T12:00:00Z", day * 4), "").status.success());
    }
    mailbox.save_key("p1");
    mailbox.sandbox.ok("bundle duel duel.desk --as p1 --key host.key -o newest.bundle");
    mailbox
}

/// Lets p1 resign with a bundle. Returns the exit code and standard error.
fn resigns(mailbox: &Mailbox, bundle: &str) -> (i32, String) {
    mailbox.sandbox.write("tried.bundle", bundle);
    let output = mailbox.sandbox.run("mail write resign --from tried.bundle --key p1.key -o reply.txt");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let is_written = mailbox.sandbox.path("reply.txt").exists();
    assert_eq!(is_written, output.status.success(), "{stderr}");
    (output.status.code().unwrap(), stderr)
}

fn is_clock(record: &[u8]) -> bool {
    let entry = Entry::decode(record);
    entry.is_ok_and(|entry| entry.seat == Seat::Host && entry.command.starts_with(&[1]))
}

#[test]
fn pm_28_nothing_is_left_out_of_a_game_without_secrets() {
    let mailbox = begun("initiative", "small-board.toml", ALTERNATING);
    let honest = mailbox.sandbox.read("newest.bundle");
    let is_roll = |record: &[u8]| Entry::decode(record).is_ok_and(|entry| entry.seq == 1);
    let (code, stderr) = resigns(&mailbox, &without(&honest, "duel", is_roll));
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("a record of branch `main` of `duel` is left out, where nothing can be concealed"),
        "{stderr}"
    );
    assert_eq!(resigns(&mailbox, &honest).0, 0);
}

/// Without the clock, no one sees that the turns in between were not played, and each order reveals more of a chain of
/// dice.
#[test]
fn pm_28_a_desk_leaves_out_nothing_but_orders_that_may_be_concealed() {
    for (rules, setup, terms) in
        [("initiative", "small-board.toml", ALTERNATING), ("cycletap", "ford.toml", TOGETHER)]
    {
        let mailbox = begun(rules, setup, terms);
        let honest = mailbox.sandbox.read("newest.bundle");
        let clocks =
            honest.matches("\n+").count() - without(&honest, "duel.desk", is_clock).matches("\n+").count();
        assert!(clocks >= 3, "{clocks}");
        let (code, stderr) = resigns(&mailbox, &without(&honest, "duel.desk", is_clock));
        assert_eq!(code, 1, "{stderr}");
        assert!(stderr.contains("of `duel.desk` is left out, where nothing can be concealed"), "{stderr}");
        assert_eq!(resigns(&mailbox, &honest).0, 0);
    }
}

/// A signature under a longer name would not be remembered, so two histories would both pass.
#[test]
fn pm_28_checkpoints_by_the_host_under_a_longer_name_do_not_count() {
    let mailbox = begun("cycletap", "ford.toml", TOGETHER);
    let honest = mailbox.sandbox.read("newest.bundle");
    let seed = blake3::derive_key("turnfold tests mail key", b"host");
    let longer = PrivateKey::of_seed("host.example/b".parse().unwrap(), KeyKind::Signer, &seed);
    let (records, notes) = honest.split_once("-- checkpoint ").unwrap();
    let (notes, _) = notes.split_once("-- end ").unwrap();
    let mut text = records.to_owned();
    for note in notes.split("-- checkpoint ") {
        let (_, note) = note.split_once('\n').unwrap();
        let checkpoint: Checkpoint = SignedNote::read(note.as_bytes()).unwrap().text().parse().unwrap();
        let origin = checkpoint.origin.replace("host.example/", "host.example/b/");
        let signed = Checkpoint { origin: origin.clone(), ..checkpoint }.to_string();
        let line = SignatureLine::sign(&longer, &origin, &signed);
        let note = SignedNote::new(signed, vec![line]).unwrap().to_string();
        write!(text, "-- checkpoint {}\n{note}", note.len()).unwrap();
    }
    let (code, stderr) = resigns(&mailbox, &ended(&(text + "-- end ")));
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("signature: ") && stderr.contains("no signature of a key of the policy covers"),
        "{stderr}"
    );
    assert_eq!(resigns(&mailbox, &honest).0, 0);
}

/// With words between other players, any record may be redacted. The desk must be the same without it.
#[test]
fn pm_62_a_desk_that_leaves_out_more_than_words_is_refused() {
    let setup = "seats = 3\nrounds = 4\nat_once = true\nresolved = true\nsecret = false";
    let terms = "fair\nseats = 3\ndefault = [\"done\"]\nbetween = [\"resolve\"]\n";
    let mut post = Post::begun("relay", setup, terms);
    post.run(day(1), &[]);
    let words = Press::new("p2".parse().unwrap(), vec!["shall we?".parse().unwrap()]).unwrap();
    assert_eq!(post.hand_in(Seat::P1, PaperContent::Press(words)), "applied");
    assert!(post.run(day(9), &[]).contains(&"missed seat=p3 misses=1".into()));
    let honest = newest(&post, Seat::P3);
    assert!(honest.contains("\n#"), "the words are left out: {honest}");
    let mut p3 = Player::of(Seat::P3);
    fs::write(p3.bundle(), &honest).unwrap();
    p3.write(&post, PaperWords::Announced(PaperContent::Resign)).unwrap();
    // Without the clock at which the seats missed, the turn is not ready.
    let begun = post.desk().positions().next().unwrap().seq;
    let is_later_clock = |record: &[u8]| {
        Entry::decode(record).is_ok_and(|entry| {
            entry.seat == Seat::Host && entry.command.starts_with(&[1]) && entry.seq > begun
        })
    };
    let shortened = without(&honest, "duel.desk", is_later_clock);
    assert_ne!(shortened, honest);
    fs::write(p3.bundle(), &shortened).unwrap();
    refused(
        p3.write(&post, PaperWords::Announced(PaperContent::Resign)),
        "does not follow from the records before it",
    );
}
