//! Nothing that a seat may not know is in anything it gets, by varying what it may not know (PM-23, PM-30, PM-31).

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};
use turnfold_store::Entry;

use super::post::{Post, time};
use super::reports::{ford, is_letter, letters};
use turnfold_tests::mailbox::opened;

/// Returns plays of p1 that the game accepts, all of one length, that differ.
fn plays(post: &Post) -> Vec<Vec<String>> {
    let of = post.mail_match();
    let start = of.rules.start(&of.genesis.setup).unwrap();
    let taps = |state: &dyn AnyState| {
        state.legal(Seat::P1).into_iter().filter(|play| play.starts_with("tap")).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for first in taps(start.as_ref()) {
        let mut state = start.fork();
        let logged = Logged { seq: 1, seat: Seat::P1, command: CommandSource::Text(&first) };
        state.fold(&[logged], &DicePolicy::Recorded, &mut |_| {}).unwrap();
        for second in taps(state.as_ref()) {
            found.push(vec![first.clone(), second, "switch".to_owned()]);
        }
    }
    found
}

/// Everything that p2 and spectators get, but for hashes, signatures and what is made of them.
fn told_to_others(post: &Post) -> BTreeMap<String, String> {
    let is_for_others = |name: &str| name.contains("-p2") || name.starts_with("spectators");
    let files = letters(post).into_iter().filter(|(name, _)| is_for_others(name));
    let told = files.map(|(name, file)| {
        let told = if is_letter(&name) {
            let (text, bundle) = opened(&file);
            let (headers, _) = file.split_once("MIME-Version").unwrap();
            format!("{headers}\n{}\n{}", masked(&text), records(post, &bundle))
        } else {
            records(post, &file)
        };
        // The first digits of a digest of p2's own paper, which names the history that it saw.
        let name = if name.len() > "00000012-p2.eml".len() && is_letter(&name) {
            name[..11].to_owned()
        } else {
            name
        };
        (name, told)
    });
    told.collect()
}

/// Leaves out hashes and signatures: words so long and so mixed.
fn masked(text: &str) -> String {
    let is_hash = |word: &str| word.len() >= 32 && word.bytes().any(|byte| byte.is_ascii_digit());
    let mask = |word: &str| if is_hash(word) { "HASH".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split(' ').map(mask).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads the records of a bundle as text.
fn records(post: &Post, bundle: &str) -> String {
    let mut told = Vec::new();
    let mut rules = None;
    // What follows the records are checkpoints: roots and signatures of all that stands above.
    for line in bundle.lines().take_while(|line| !line.starts_with("-- checkpoint")) {
        if let Some(name) = line.strip_prefix("-- match ") {
            rules = post.registry.find(if name == "duel.desk" { "desk" } else { "cycletap" });
        }
        let entry = line.strip_prefix('+').and_then(|record| {
            let bytes = STANDARD.decode(record).unwrap();
            Entry::decode(&bytes).ok()
        });
        told.push(match (entry, line) {
            (Some(entry), _) => {
                let command = rules.unwrap().command_text(&entry.command).unwrap();
                let key = entry.idempotency_key.map(String::from).unwrap_or_default().replace(':', " ");
                let (seq, at) = (entry.seq, entry.recorded_at_ms);
                masked(&format!("{seq} {} {at} {command} {key}", entry.seat))
            }
            (None, line) if line.starts_with('#') => "#".into(),
            // The Genesis of the desk has the link of the game's, which is the same here.
            (None, line) if line.starts_with('+') => line.into(),
            (None, line) => masked(line),
        });
    }
    told.join("\n")
}

/// PM-23: p1 plans in secret, and its order is carried out, while p2 has its own refused on purpose.
#[test]
fn pm_23_and_30_what_p1_ordered_is_in_nothing_that_others_get() {
    let told = |plays: &[String]| {
        let mut post = ford("spectators = 1\n");
        let plays: Vec<&str> = plays.iter().map(String::as_str).collect();
        post.report();
        post.order(Seat::P1, &plays);
        post.decide("extend 2026-12-05T18:00:00Z an order is in");
        post.report();
        post.order(Seat::P2, &["switch", "switch"]);
        post.run(time("2026-12-02T18:00:00Z"), &[]);
        post.report();
        assert!(letters(&post)["spectators.bundle"].contains("-- line main - 0 1 "), "the first stand");
        post.decide("clock 2026-12-03T18:00:00Z");
        post.order(Seat::P2, &["switch", "switch"]);
        post.run(time("2026-12-04T18:00:00Z"), &[]);
        post.report();
        told_to_others(&post)
    };
    let post = ford("");
    let plays = plays(&post);
    assert!(plays.len() >= 6, "{plays:?}");
    let first = told(&plays[0]);
    assert_eq!(first.len(), 1 + 4 + 1, "{:?}", first.keys());
    // That p1 ordered is told, and how many records are left out.
    let last = &first["00000017-p2.eml"];
    assert!(last.contains("The game refused your order"), "{last}");
    assert!(last.contains("\n#\n#\n#\n-- match duel.desk"), "of the game nothing: {last}");
    assert!(first["00000012-p2.eml"].contains("p1's order was carried out"));
    // All of them on request, some from here and there otherwise.
    let step = if std::env::var_os("TURNFOLD_ALL_SECRETS").is_some() { 1 } else { plays.len().div_ceil(3) };
    for plays in plays[1..].iter().step_by(step) {
        let other = told(plays);
        for (name, told) in &first {
            assert_eq!(other.get(name), Some(told), "{name} with {plays:?}");
        }
        assert_eq!(other.len(), first.len());
    }
}
