//! Papers: their text, digest and signature, tested with the vector of `mail.md` and with changed texts (PM-4, PM-4a,
//! PM-5), and the requirements of PM-6 and PM-7.

use turnfold_core::Seat;
use turnfold_core::paper::{DeskTime, Nonce, Paper, PaperHead, PaperLine, SeatKey, SignedPaper};
use turnfold_core::trust::{KeyKind, PrivateKey, SignedNote, TreeHash};
use turnfold_store::Entry;

mod properties;

/// The text of the paper in `mail.md`.
macro_rules! vector {
    () => {
        "#turnfold paper 1
paper: order
match: 5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f
seat: p1
number: 7
turn: 2
link: 826f618eed31aac0826f618eed31aac0826f618eed31aac0826f618eed31aac0
seen: 7 WmH8K1T5z6cXdPJDIUPdQMbLKxGUf69lp9PaXLZRmcg
nonce: 000102030405060708090a0b0c0d0e0f
dice: f756d1c1a1e0137d9f59ce52f215d5693cf7672c5c32a46a73b1f7591b82af29
play: move 2,-3
play: stand
"
    };
}

pub(crate) use vector;

const VECTOR: &str = vector!();
pub(crate) const DIGEST: &str = "e836ef10f05f8005f35c5bd155b9b0670d639c6688cccefdf848e9c2f1d2a64c";
const VKEY: &str = "ann.example+0c459960+ASmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X";
const SIGNATURE: &str =
    "DEWZYBJ/OuMLgi8ISpNlVtn7qVzBMVPR4bL4wDllNJ8lAUhINSrQ6l7km/cZrafGETL7QH4+ajUof1mPA/YIL3xa0gk";

/// The key of the vector: seed 202122…3f.
pub(crate) fn ann() -> PrivateKey {
    let seed: Vec<u8> = (0x20..0x40).collect();
    PrivateKey::of_seed("ann.example".parse().unwrap(), KeyKind::Signer, &seed.try_into().unwrap())
}

#[test]
fn pm_4_and_pm_5_the_paper_of_the_page_has_its_digest_and_signature() {
    let paper: Paper = VECTOR.parse().unwrap();
    assert_eq!(paper.to_string(), VECTOR);
    assert_eq!(paper.digest().to_string(), DIGEST);
    // PM-2: the tag in the game's log is another hash of the same text.
    assert_ne!(paper.order_tag(), paper.digest());
    assert_eq!(ann().verifier().to_string(), VKEY);
    let signed = SignedPaper::sign(paper.clone(), &ann());
    assert_eq!(signed.signature().to_string(), SIGNATURE);
    let read = SignedPaper::new(paper, SIGNATURE.parse().unwrap());
    assert!(read.is_by(&SeatKey::of(&ann()).unwrap()));
    assert_eq!(read.to_string().parse(), Ok(read));
}

/// Match, seat, number, turn, link and history are known, and there are few possible orders. Only the nonce is unknown.
#[test]
fn pm_5_the_nonce_hides_an_order_behind_its_digest_tag_and_leaf() {
    let paper: Paper = VECTOR.parse().unwrap();
    let shown = |paper: &Paper| {
        let command = postcard::to_allocvec(&paper.to_string()).unwrap();
        let key = format!("paper:{}", paper.digest()).parse().ok();
        let entry = Entry { seq: 5, seat: Seat::P1, command, recorded_at_ms: 1, idempotency_key: key };
        [
            *paper.digest().as_bytes(),
            *paper.order_tag().as_bytes(),
            *TreeHash::of_record(&entry.encode()).as_bytes(),
        ]
    };
    let known = shown(&paper);
    for bit in 0..128 {
        let mut nonce: [u8; 16] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        nonce[bit / 8] ^= 1 << (bit % 8);
        let head = PaperHead { nonce: Nonce::new(nonce), ..paper.head().clone() };
        let other = shown(&Paper::new(head, paper.content().clone()).unwrap());
        assert!(known.iter().zip(&other).all(|(known, other)| known != other), "bit {bit}");
    }
}

#[test]
fn pm_4_a_signed_paper_is_a_note_of_c2sp() {
    let signed = SignedPaper::sign(VECTOR.parse().unwrap(), &ann());
    let note = SignedNote::read(signed.note("ann.example").as_bytes()).unwrap();
    assert_eq!(note.text(), VECTOR);
    assert_eq!(note.is_signed_by(&VKEY.parse().unwrap()), Ok(true));
}

#[test]
fn pm_4_a_changed_value_a_removed_added_or_moved_command_or_another_key_breaks_the_signature() {
    let by_ann = |text: &str| {
        let paper = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        SignedPaper::new(paper, SIGNATURE.parse().unwrap()).is_by(&SeatKey::of(&ann()).unwrap())
    };
    assert!(by_ann(VECTOR));
    for (from, to) in [
        ("match: 5", "match: 6"),
        ("seat: p1", "seat: p2"),
        ("number: 7", "number: 8"),
        ("turn: 2", "turn: 3"),
        ("link: 8", "link: 9"),
        ("seen: 7", "seen: 8"),
        ("7 Wm", "7 Xm"),
        ("nonce: 0", "nonce: 1"),
        ("dice: f", "dice: e"),
        ("2,-3", "2,-4"),
        ("nonce: 000102030405060708090a0b0c0d0e0f\n", "nonce: 000102030405060708090a0b0c0d0e0f\nwait: yes\n"),
        ("play: stand\n", ""),
        ("play: stand\n", "play: stand\nplay: stand\n"),
        ("play: move 2,-3\nplay: stand\n", "play: stand\nplay: move 2,-3\n"),
    ] {
        assert!(VECTOR.contains(from), "{from}");
        assert!(!by_ann(&VECTOR.replacen(from, to, 1)), "{from} → {to}");
    }
    let signed = SignedPaper::new(VECTOR.parse().unwrap(), SIGNATURE.parse().unwrap());
    let other = PrivateKey::of_seed("ann.example".parse().unwrap(), KeyKind::Signer, &[1; 32]);
    let renamed = PrivateKey::read(&ann().to_file()).unwrap();
    let seed: [u8; 32] = (0x20..0x40).collect::<Vec<u8>>().try_into().unwrap();
    let renamed_to = PrivateKey::of_seed("bob.example".parse().unwrap(), KeyKind::Signer, &seed);
    assert!(signed.is_by(&SeatKey::of(&renamed).unwrap()));
    assert!(!signed.is_by(&SeatKey::of(&other).unwrap()));
    assert!(!signed.is_by(&SeatKey::of(&renamed_to).unwrap()), "the key id holds the name");
}

fn malformed(text: &str) {
    assert!(text.parse::<Paper>().is_err(), "{text}");
}

#[test]
fn pm_4_text_of_any_other_form_is_malformed() {
    let lines: Vec<&str> = VECTOR.lines().collect();
    for (from, to) in [
        ("#turnfold paper 1", "#turnfold paper 2"),
        ("paper: order", "paper: orders"),
        ("paper: order", "Paper: order"),
        ("paper: order", "paper:order"),
        ("paper: order", "paper:  order"),
        ("match: 5f", "match: 5F"),
        ("match: 5f", "match: f"),
        ("seat: p1", "seat: host"),
        ("seat: p1", "seat: p17"),
        ("number: 7", "number: 07"),
        ("number: 7", "number: -7"),
        ("number: 7", "number: 4294967296"),
        ("turn: 2", "turn: 4294967296"),
        ("link: 826f", "link: 826F"),
        ("Rmcg", "Rmch"),
        ("Rmcg", "Rmcg="),
        ("seen: 7 ", "seen: 07 "),
        ("nonce: 00", "nonce: "),
        ("dice: f756", "dice: none"),
        ("dice: ", "wait: no\ndice: "),
        ("play: stand", "play: stand "),
        ("play: stand", "play: stand  still"),
        ("play: stand", "play: st=nd"),
        ("play: stand", "play: st|nd"),
        ("play: stand", "play: ständ"),
        ("play: stand", "play: st\tnd"),
        ("play: stand", "play: "),
        ("play: stand", "play: stand #still"),
        ("play: stand\n", "play: stand"),
        ("play: stand\n", "play: stand\n\n"),
        ("play: stand\n", "play: stand\r\n"),
        ("play: move 2,-3\nplay: stand\n", ""),
    ] {
        assert!(VECTOR.contains(from), "{from}");
        malformed(&VECTOR.replacen(from, to, 1));
    }
    // Drops, doubles or swaps each line. But a paper may have any number of commands in any order, and may lack the
    // element of fair dice.
    for place in 0..lines.len() {
        let (mut dropped, mut doubled, mut swapped) = (lines.clone(), lines.clone(), lines.clone());
        dropped.remove(place);
        doubled.insert(place, lines[place]);
        let text = |lines: &[&str]| lines.join("\n") + "\n";
        let is_free = lines[place].starts_with("play:");
        if !is_free && !lines[place].starts_with("dice:") {
            malformed(&text(&dropped));
        }
        if !is_free {
            malformed(&text(&doubled));
            swapped.swap(place, place + 1);
            malformed(&text(&swapped));
        }
    }
}

#[test]
fn pm_4a_orders_for_later_turns_are_malformed_in_version_1() {
    malformed(&VECTOR.replace("paper: order", "paper: cancel"));
    for reserved in ["if: due", "if: state 00", "uses: 3", "of: 00"] {
        malformed(&VECTOR.replace("play: move", &format!("{reserved}\nplay: move")));
        malformed(&format!("{VECTOR}{reserved}\n"));
    }
}

#[test]
fn pm_4_a_join_is_the_first_paper_and_a_paper_is_at_most_32_kib() {
    let key = "key: ASmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X\n";
    let join = VECTOR.split("link:").next().unwrap().replace("order", "join");
    let join = join.replace("number: 7", "number: 0").replace("turn: 2", "turn: 0");
    let seen =
        "seen: 7 WmH8K1T5z6cXdPJDIUPdQMbLKxGUf69lp9PaXLZRmcg\nnonce: 000102030405060708090a0b0c0d0e0f\n";
    let join = format!("{join}{seen}name: ann.example\n{key}");
    assert_eq!(join.parse::<Paper>().unwrap().to_string(), join);
    malformed(&join.replace("number: 0", "number: 1"));
    malformed(&join.replace("turn: 0", "turn: 1"));
    malformed(&join.replace("name: ann.example", &format!("name: {}", "a".repeat(65))));
    malformed(&join.replace("name: ann.example", "name: Ann"));
    // A key that only cosigns, a key that is not a point of the curve, and a key of small order.
    for other in [
        "BCmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X",
        "AQIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        malformed(&join.replace("ASmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X", other));
    }
    let play = |length: usize| VECTOR.replace("play: stand", &format!("play: {}", "a".repeat(length)));
    let most = 32 * 1024 - VECTOR.len() + "stand".len();
    assert_eq!(play(most).parse::<Paper>().unwrap().to_string().len(), 32 * 1024);
    malformed(&play(most + 1));
    let plays = |count: usize| VECTOR.replace("play: move 2,-3\n", &"play: a\n".repeat(count));
    assert!(plays(499).parse::<Paper>().is_ok());
    malformed(&plays(500));
}

#[test]
fn pm_7_commands_that_mailers_would_spoil_are_not_written() {
    let line = |text: &str| text.parse::<PaperLine>().unwrap();
    let longest = "a".repeat(66);
    for text in ["move 2,-3", "a >b: c", "paper order", longest.as_str(), "keyword:"] {
        let mailable = line(text).require_mailable();
        assert_eq!(mailable.is_ok(), !text.contains('>'), "{text}");
    }
    let too_long = "a".repeat(67);
    for text in ["say > x", "say play: x", "More: x", "sig:", "if: x", "OF: x", too_long.as_str()] {
        assert!(line(text).require_mailable().is_err(), "{text}");
    }
}

#[test]
fn pm_20_what_is_offered_has_one_spelling() {
    use turnfold_core::paper::Offer;
    for text in [
        "takeback main 12",
        "takeback takeback-1 0",
        "end draw",
        "end void",
        "end p8",
        "extend 2026-12-01T18:00:00Z",
        "replace p2 bob.example ASmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X",
    ] {
        assert_eq!(text.parse::<Offer>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "takeback",
        "takeback main",
        "takeback Main 1",
        "takeback main 01",
        "takeback main 1 2",
        "end",
        "end host",
        "end p17",
        "end p1 p2",
        "extend tomorrow",
        "replace p2 bob.example",
        "replace host bob.example ASmsuuFBvMrwsi4alNNNC8c2HlJtC/4SyJeUvJMilm3X",
        "give up",
    ] {
        assert!(text.parse::<Offer>().is_err(), "{text}");
    }
    assert_eq!(DeskTime::MAX.to_string(), "9999-12-31T23:59:59Z");
}
