//! Nothing that others get reveals what a player without a key sends, with the real binary. The tests vary the reply
//! code, words to another seat, and orders for later turns, and compare everything that the others get (PM-23, PM-38,
//! PM-41, PM-42).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat::P2;
use turnfold_store::Entry;

use super::secrecy::{masked, unhashed, unlinked};
use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str = "hosted = []\nplain = [\"p1\"]\nspectators = 1\nsecret = \"match\"\ntogether = true\n\
                     default = [\"switch\"]\nbetween = [\"resolve\"]\n";

/// What p1 sends in the first turn.
#[derive(Clone, Copy)]
struct Sent {
    /// Words to oneself stand for words to a third player, because in a match of two they are concealed from the other
    /// in the same way.
    words: &'static str,
    ahead: &'static str,
}

/// Reads the records of a bundle as text.
fn records(bundle: &str) -> String {
    let mut rules = turnfold_games::find("cycletap").unwrap();
    let lines = bundle.lines().take_while(|line| !line.starts_with("-- checkpoint")).map(|line| {
        if let Some(name) = line.strip_prefix("-- match ") {
            rules = turnfold_games::find(if name == "duel.desk" { "desk" } else { "cycletap" }).unwrap();
        }
        let bytes = line.strip_prefix('+').and_then(|record| STANDARD.decode(record).ok());
        match bytes.as_deref().map(Entry::decode) {
            Some(Ok(entry)) => {
                let key = entry.idempotency_key.map(String::from).unwrap_or_default().replace(':', " ");
                let command = rules.command_text(&entry.command).unwrap();
                unhashed(&masked(&format!("{} {} {command} {key}", entry.seq, entry.seat)))
            }
            // A Genesis contains the random id of the match.
            Some(Err(_)) => "genesis".into(),
            None if line.starts_with('#') => "#".into(),
            None => unhashed(&masked(line)),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the code of the newest letter to p1.
fn code(mailbox: &Mailbox) -> String {
    let name = mailbox.letters().into_iter().rfind(|name| name.contains("-p1")).unwrap();
    let (text, _) = opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")));
    text.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned()
}

/// Adds everything that p2 and spectators get now, and what the host's verbs print.
fn collect(mailbox: &Mailbox, stage: usize, got: &mut BTreeMap<String, String>) {
    for name in mailbox.letters() {
        let file = || mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"));
        // The name ends with the first digits of the digest of a paper of p2, which depend on the history that p2 saw.
        let short = format!("{stage} {name:.11}");
        if name.contains("-p2") {
            let letter = file();
            let (text, bundle) = opened(&letter);
            let headers = letter.split("MIME-Version").next().unwrap();
            // Before the first turn, the date is the date of the match.
            let headers = headers.lines().filter(|line| !line.starts_with("Date: ")).collect::<Vec<_>>();
            let headers = unhashed(&masked(&unlinked(&headers.join("\n"))));
            got.insert(short, format!("{headers}\n{}\n{}", unhashed(&masked(&text)), records(&bundle)));
        } else if name.starts_with("spectators") {
            got.insert(short, records(&file()));
        }
    }
    for game in ["duel", "duel.desk"] {
        for verb in ["show", "log", "legal", "export", "blame"] {
            for viewer in ["p2", "spectator"] {
                let line = format!("{verb} {game} --as {viewer}");
                let output = mailbox.sandbox.run(&line);
                let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
                got.insert(format!("{stage} {line}"), unhashed(&masked(&printed)));
            }
        }
    }
    mailbox.sandbox.ok("bundle duel duel.desk --as p2 --key host.key -o p2.bundle --force");
    got.insert(format!("{stage} bundle"), records(&mailbox.sandbox.read("p2.bundle")));
}

/// Plays two turns in which p1 sends `sent`. Returns everything that others got, and the codes.
fn got(sent: Sent) -> (BTreeMap<String, String>, Vec<String>) {
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    let (mut got, mut codes) = (BTreeMap::new(), vec![code(&mailbox)]);
    mailbox.sandbox.write("join.txt", format!("code {}\njoin Ann\n", codes[0]));
    let mut printed = mailbox.sandbox.ok("mail take duel join.txt --key host.key");
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    codes.push(code(&mailbox));
    let Sent { words, ahead } = sent;
    let mail =
        format!("code {}\ntap 0,1\ntap 0,0\nswitch\npress p1: {words}\nif turn 2: {ahead}\n", codes[1]);
    mailbox.sandbox.write("reply.txt", mail);
    printed += &mailbox.sandbox.ok("-v mail take duel reply.txt --key host.key");
    collect(&mailbox, 1, &mut got);
    mailbox.save_orders("other.txt", &[(P2, &["switch"])]);
    printed += &mailbox.sandbox.ok("mail take duel other.txt --key host.key");
    printed += &String::from_utf8(mailbox.run("02T12:00:00Z", "").stdout).unwrap();
    codes.push(code(&mailbox));
    collect(&mailbox, 2, &mut got);
    for code in &codes {
        let bare = code.replace('-', "");
        assert!(!printed.contains(code.as_str()) && !printed.contains(&bare), "{printed}");
    }
    // The names of letters contain digits of digests.
    let printed =
        printed.lines().filter(|line| !line.starts_with("letter ")).map(|line| unhashed(&masked(line)));
    got.insert("printed".into(), printed.collect::<Vec<_>>().join("\n"));
    (got, codes)
}

#[test]
fn pm_38_41_and_42_what_a_plain_player_sends_is_in_nothing_that_others_get() {
    let first = Sent { words: "attack at dawn", ahead: "tap 0,0; switch" };
    let (one, codes) = got(first);
    assert!(one.len() > 2 * (2 + 20 + 1), "{:?}", one.keys());
    let shows_orders = |name: &str| one[name].contains("ordered seat=p1") || one[name].contains("p1");
    assert!(shows_orders("2 log duel.desk --as p2"), "{}", one["2 log duel.desk --as p2"]);
    for (name, printed) in &one {
        assert!(!printed.contains("attack at dawn") && !printed.contains(&codes[1]), "{name}: {printed}");
    }
    for sent in [Sent { words: "retreat at six", ..first }, Sent { ahead: "tap 1,0; switch", ..first }] {
        let (again, other_codes) = got(sent);
        assert_ne!(codes, other_codes, "each match has other codes");
        for (name, printed) in &one {
            assert_eq!(again.get(name), Some(printed), "{name}");
        }
        assert_eq!(one.len(), again.len());
    }
}
