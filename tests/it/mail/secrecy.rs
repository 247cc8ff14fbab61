//! Nothing that a seat gets reveals what it may not know. The tests vary what it may not know, and compare everything:
//! its letters, the bundle of spectators, the output of the verbs, and the answers of the service (PM-23, PM-30, PM-31,
//! PM-31a).

use std::collections::BTreeMap;
use std::process::Output;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::{AnyState, CommandSource, DicePolicy, Logged, Seat};
use turnfold_proof::bundle::{StoreRecords, write_bundle};
use turnfold_store::Entry;

use super::post::Post;
use super::reports::{ford, is_letter, letters};
use turnfold_tests::mailbox::opened;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// Returns different plays of p1 that the game accepts, all of one length.
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

/// Returns everything that p2 and spectators get, without hashes, signatures and texts derived from them.
fn seen_by_others(post: &Post) -> BTreeMap<String, String> {
    let is_for_others = |name: &str| name.contains("-p2") || name.starts_with("spectators");
    let files = letters(post).into_iter().filter(|(name, _)| is_for_others(name));
    let sent = files.map(|(name, file)| {
        let seen = if is_letter(&name) {
            let (text, bundle) = opened(&file);
            let (headers, _) = file.split_once("MIME-Version").unwrap();
            format!("{}\n{}\n{}", unlinked(headers), masked(&text), records(post, &bundle))
        } else {
            records(post, &file)
        };
        // The name ends with the first digits of the digest of p2's own paper, which depend on the history that p2 saw.
        let name = if name.len() > "00000012-p2.eml".len() && is_letter(&name) {
            name[..11].to_owned()
        } else {
            name
        };
        (name, seen)
    });
    sent.chain(shown(post)).collect()
}

/// Returns what verbs and service show to p2, with a copy of the store.
fn shown(post: &Post) -> Vec<(String, String)> {
    let sandbox = Sandbox::new();
    let mut bundle = Vec::new();
    write_bundle(&mut bundle, &StoreRecords::of_all(&post.store).unwrap(), Vec::new()).unwrap();
    sandbox.write("all.bundle", bundle);
    sandbox.ok("import all.bundle");
    let mut shown = Vec::new();
    for name in ["duel", "duel.desk"] {
        let diff = format!("diff {name}:0 {name}");
        for verb in ["show", "log", "legal", "export", "replay", "blame"].map(|verb| format!("{verb} {name}"))
        {
            shown.push(format!("{verb} --as p2"));
        }
        shown.extend([diff.clone() + " --as p2", diff + " --as p2 --format json"]);
        shown.extend(["show", "log", "legal"].map(|verb| format!("{verb} {name} --as p2 --format json")));
    }

    #[allow(unused_mut, reason = "without the service nothing is added")]
    let mut shown: Vec<_> =
        shown.into_iter().map(|line| (line.clone(), text_of(&sandbox.run(&line)))).collect();
    shown.extend(answered(&sandbox));
    shown.into_iter().map(|(what, text)| (what, unhashed(&text))).collect()
}

/// Returns what a service answers p2.
fn answered(sandbox: &Sandbox) -> Vec<(String, String)> {
    let service = Running::start(sandbox);
    let p2 = service.grant("duel", r#"{"kind":"seat","seat":"p2"}"#)["token"].as_str().unwrap().to_owned();
    let routes = [
        "view",
        "entries",
        "legal",
        "frames",
        "picture.svg",
        "replay.tfl",
        "replay.html",
        "diff?with=main:0",
    ];
    let routes = routes.map(|route| format!("/v1/matches/duel/branches/main/{route}"));
    let more = ["/v1/matches/duel", "/v1/matches/duel/branches"].map(String::from);
    let answer = |path: String| {
        let reply = service.send("GET", &path, &p2, "");
        // These contain everything, and only the host may read them while the match lasts.
        let status = if path.contains("replay.tfl") || path.contains("/diff") { 403 } else { 200 };
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        (path, reply.body)
    };
    routes.into_iter().chain(more).map(answer).collect()
}

fn text_of(output: &Output) -> String {
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{:?}\n{stdout}{stderr}", output.status.code())
}

/// Removes hashes anywhere: runs of hex or base64 of sufficient length.
pub(super) fn unhashed(text: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '/' | '=');
    let mut rest = text;
    let mut masked = String::new();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| is_part(character) != is_part(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        // One in a thousand hashes in base64 has no digit, but no word is as long as a hash.
        let is_hash = is_part(first)
            && (run.len() >= 43 || run.len() >= 16 && run.bytes().any(|byte| byte.is_ascii_digit()));
        masked.push_str(if is_hash { "HASH" } else { run });
        rest = after;
    }
    masked
}

/// Removes the beginnings of links from the ids of letters (PM-102).
pub(super) fn unlinked(headers: &str) -> String {
    let parts: Vec<&str> = headers.split('@').collect();
    let last = parts.len() - 1;
    let cut = |(place, part): (usize, &&str)| match part.rsplit_once('.') {
        Some((head, link))
            if place < last && link.len() == 8 && link.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            format!("{head}.LINK")
        }
        _ => (*part).to_owned(),
    };
    parts.iter().enumerate().map(cut).collect::<Vec<_>>().join("@")
}

/// Removes hashes and signatures: long words with digits.
pub(super) fn masked(text: &str) -> String {
    let is_hash = |word: &str| word.len() >= 32 && word.bytes().any(|byte| byte.is_ascii_digit());
    let mask = |word: &str| if is_hash(word) { "HASH".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split(' ').map(mask).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Reads the records of a bundle as text.
pub(super) fn records(post: &Post, bundle: &str) -> String {
    let mut lines = Vec::new();
    let mut rules = None;
    // The records are followed by checkpoints: roots and signatures of everything above.
    for line in bundle.lines().take_while(|line| !line.starts_with("-- checkpoint")) {
        if let Some(name) = line.strip_prefix("-- match ") {
            let game = post.mail_match().rules;
            rules = post.registry.find(if name == "duel.desk" { "desk" } else { game.name() });
        }
        let entry = line.strip_prefix('+').and_then(|record| {
            let bytes = STANDARD.decode(record).unwrap();
            Entry::decode(&bytes).ok()
        });
        lines.push(match (entry, line) {
            (Some(entry), _) => {
                let rules = rules.as_ref().unwrap();
                let command = rules.command_text(&entry.command).unwrap();
                let key = entry.idempotency_key.map(String::from).unwrap_or_default().replace(':', " ");
                let (seq, at) = (entry.seq, entry.recorded_at_ms);
                masked(&format!("{seq} {} {at} {command} {key}", entry.seat))
            }
            (None, line) if line.starts_with('#') => "#".into(),
            // The Genesis of the desk contains the link of the game's Genesis, which is the same here.
            (None, line) if line.starts_with('+') => line.into(),
            (None, line) => masked(line),
        });
    }
    lines.join("\n")
}

/// PM-23: p1 plans in secret while p2 has not ordered. `concealed_turns` tests orders that are refused on purpose.
#[test]
fn pm_23_and_30_what_p1_ordered_is_in_nothing_that_others_get() {
    let seen_after = |plays: &[String]| {
        let mut post = ford("spectators = 1\n");
        let plays: Vec<&str> = plays.iter().map(String::as_str).collect();
        post.report();
        post.order(Seat::P1, &plays);
        post.decide("extend 2026-12-05T18:00:00Z an order is in");
        post.report();
        post.decide("clock 2026-12-02T18:00:00Z");
        post.decide("extend 2026-12-06T18:00:00Z an order is still missing");
        post.report();
        seen_by_others(&post)
    };
    let post = ford("");
    let plays = plays(&post);
    assert!(plays.len() >= 6, "{plays:?}");
    let first = seen_after(&plays[0]);
    let letters: Vec<_> = first.keys().filter(|name| name.contains("-p2.eml")).collect();
    assert_eq!(letters.len(), 4, "{:?}", first.keys());
    // Others learn that p1 ordered, and that a record is redacted.
    let (middle, last) = (&first[letters[2]], &first[letters[3]]);
    assert!(middle.contains("p1 sent an order") && middle.contains("\n#\n"), "{middle}");
    assert!(last.contains("\n#\n"), "{last}");
    // All plays on request, otherwise an evenly spread selection.
    let step = if std::env::var_os("TURNFOLD_ALL_SECRETS").is_some() { 1 } else { plays.len().div_ceil(3) };
    for plays in plays[1..].iter().step_by(step) {
        let other = seen_after(plays);
        for (name, text) in &first {
            assert_eq!(other.get(name), Some(text), "{name} with {plays:?}");
        }
        assert_eq!(other.len(), first.len());
    }
}
