//! Secret actions of p1 in a turn that p2 must not notice: orders that are incomplete, refused or replaced (PM-80,
//! PM-81).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat::{P1, P2};
use turnfold_store::Entry;

use super::secrecy::{masked, unhashed, unlinked};
use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str =
    "hosted = []\ntogether = true\nhurry = false\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

/// What p2 gets in a turn: the text of each letter, and the records of game and desk in its bundle.
#[derive(Debug, PartialEq, Eq)]
struct Got {
    texts: Vec<String>,
    game: Vec<Vec<String>>,
    desk: Vec<Vec<String>>,
}

/// Reads the records of game and desk as text; redacted records are `#`.
fn records(bundle: &str) -> [Vec<String>; 2] {
    let (mut rules, mut found) = (turnfold_games::find("cycletap").unwrap(), [Vec::new(), Vec::new()]);
    let mut place = 0;
    for line in bundle.lines().take_while(|line| !line.starts_with("-- checkpoint")) {
        if let Some(name) = line.strip_prefix("-- match ") {
            place = usize::from(name == "duel.desk");
            rules = turnfold_games::find(if place == 1 { "desk" } else { "cycletap" }).unwrap();
        }
        if line.starts_with('#') {
            found[place].push("#".to_owned());
        }
        let bytes = line.strip_prefix('+').and_then(|record| STANDARD.decode(record).ok());
        if let Some(Ok(entry)) = bytes.as_deref().map(Entry::decode) {
            let command = rules.command_text(&entry.command).unwrap();
            found[place].push(unhashed(&masked(&format!("{} {command}", entry.seat))));
        }
    }
    found
}

/// Returns a letter without hashes, and without the numbers of records and papers for auditors.
fn text_of(letter: &str) -> String {
    let text = letter.split("\nFor auditors").next().unwrap();
    // The name of the attached file contains the number of records.
    let words = text.split_whitespace().filter(|word| !word.ends_with("-p2.bundle"));
    unhashed(&masked(&words.collect::<Vec<_>>().join(" ")))
}

/// Plays a turn in which p1 sends these orders, the newest last. Returns what p2 gets before and after the end of the
/// turn.
fn got(orders: &[&[&str]], other: &[&str]) -> (Mailbox, Got) {
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    let before = mailbox.letters();
    mailbox.save_orders("other.txt", &[(P2, other)]);
    assert!(mailbox.take("other.txt").status.success());
    for order in orders {
        mailbox.save_orders("order.txt", &[(P1, order)]);
        let taken = String::from_utf8(mailbox.take("order.txt").stdout).unwrap();
        assert!(taken.contains(": applied"), "{taken}");
    }
    mailbox.sandbox.ok("play duel.desk \"extend 2026-12-05T12:00:00Z the mail is slow\"");
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    let ran = mailbox.run("06T12:00:00Z", "");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut got = Got { texts: Vec::new(), game: Vec::new(), desk: Vec::new() };
    let new = mailbox.letters().into_iter().filter(|name| !before.contains(name) && name.contains("-p2"));
    for name in new.collect::<Vec<_>>() {
        let (text, bundle) = opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")));
        let [game, desk] = records(&bundle);
        got.texts.push(text_of(&text));
        got.game.push(game);
        got.desk.push(desk);
    }
    assert!(got.texts.len() >= 2, "{:?}", mailbox.letters());
    (mailbox, got)
}

const PLAN: &[&str] = &["tap 0,1", "tap 0,0", "switch"];

#[test]
fn pm_80_a_turn_ends_for_all_however_much_of_its_plan_a_player_sent() {
    let (_, whole) = got(&[PLAN], &["switch"]);
    for (order, plan) in [
        // The default is played after an incomplete order, and instead of an order that the game refuses.
        (&PLAN[..2], PLAN),
        (&["switch", "switch"][..], &["switch"][..]),
    ] {
        let (mailbox, found) = got(&[order], &["switch"]);
        let shown = mailbox.sandbox.ok("show duel.desk");
        assert!(shown.contains("turn 2, open"), "{shown}");
        let last = found.game.last().unwrap();
        let played: Vec<_> =
            last.iter().filter(|line| line.starts_with("p1 ")).map(|line| &line[3..]).collect();
        assert_eq!(played, plan, "the turn is whole, and p2 is shown all of it: {last:?}");
        // Nothing differs before the end of the turn.
        assert_eq!((&found.texts[0], &found.game[0]), (&whole.texts[0], &whole.game[0]));
        assert_eq!(found.desk[0], whole.desk[0]);
        // After it, the same letters have arrived.
        assert_eq!(found.texts.len(), whole.texts.len());
        let rows = String::from_utf8(mailbox.sandbox.run("audit").stdout).unwrap();
        let row = rows.lines().find(|line| line.starts_with("authorship")).unwrap();
        assert!(row.contains("PASS") && row.contains("by default for p1"), "{rows}");
    }
}

#[test]
fn pm_80_an_order_refused_on_purpose_shows_no_plan_of_another() {
    // If p2's order is refused, its default is played in the same turn, so p2 cannot plan with the knowledge of what p1
    // sent.
    let (mailbox, found) = got(&[PLAN], &["switch", "switch"]);
    let last = found.game.last().unwrap();
    assert!(last.iter().any(|line| line == "host resolve"), "{last:?}");
    let view = mailbox.sandbox.ok("show duel.desk");
    assert!(view.contains("turn 2, open") && !view.contains("refused"), "{view}");
}

#[test]
fn pm_81_replaced_orders_are_concealed_for_ever_and_no_letter_counts_them() {
    let (_, once) = got(&[PLAN], &["switch"]);
    let (mailbox, thrice) = got(&[&["switch"], &["tap 1,0", "switch"], &["tap 0,0"], PLAN], &["switch"]);
    assert_eq!(thrice.texts, once.texts);
    assert_eq!(thrice.game, once.game);
    // Only the orders themselves are redacted at the desk. The rest is the same, before and after the end of the turn.
    for (more, less) in thrice.desk.iter().zip(&once.desk) {
        // A shown paper contains its own number and the size of the desk that its player saw.
        let is_bare = |field: &&str| !field.starts_with("number: ") && !field.starts_with("seen: ");
        let bare = |line: &String| line.split(" | ").filter(is_bare).collect::<Vec<_>>().join(" | ");
        let shown =
            |records: &[String]| records.iter().filter(|line| *line != "#").map(bare).collect::<Vec<_>>();
        assert_eq!(shown(more), shown(less));
        assert_eq!(more.len(), less.len() + 3);
    }
    // The same holds once the match is over, and the bundle still proves who gave which command.
    mailbox.sandbox.ok("play duel.desk \"close draw that is all\"");
    mailbox.sandbox.ok("bundle duel duel.desk --as p2 --key host.key -o p2.bundle");
    let [_, desk] = records(&mailbox.sandbox.read("p2.bundle"));
    assert_eq!(desk.iter().filter(|line| *line == "#").count(), 3, "{desk:?}");
    assert!(
        desk.iter().any(|line| line.contains("play: tap 0,1")),
        "the order that was carried out: {desk:?}"
    );
    let rows = String::from_utf8(mailbox.sandbox.run("audit p2.bundle").stdout).unwrap();
    let row = rows.lines().find(|line| line.starts_with("authorship")).unwrap();
    assert!(row.contains("PASS") && !rows.contains("FAIL"), "{rows}");
}

/// Plays a turn in which p1 replaces its order this many times, with a key or by plain mail. Returns the letters sent
/// to p2, each with the number of redacted records of the desk. Hashes are removed, and so is the size of the desk,
/// which is in the names of letters and attachments.
fn letters_after(replaced: usize, is_plain: bool) -> Vec<(String, usize)> {
    let terms = format!("{TERMS}plain = [\"p1\"]\n");
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", &terms, "");
    let newest = |mailbox: &Mailbox| {
        let name = mailbox.letters().into_iter().rfind(|name| name.contains("-p1")).unwrap();
        opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))).0
    };
    let plain = |mailbox: &Mailbox, lines: &str| {
        let letter = newest(mailbox);
        let code = letter.lines().find(|line| line.trim().starts_with("code ")).unwrap().to_owned();
        mailbox.sandbox.write("reply.txt", format!("{code}\n{lines}\n"));
        let taken = mailbox.sandbox.ok("mail take duel reply.txt --key host.key");
        assert!(taken.contains(": applied"), "{taken}");
    };
    if is_plain {
        plain(&mailbox, "join Ann");
    } else {
        mailbox.join(&[P1]);
    }
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox.save_orders("other.txt", &[(P2, &["switch"])]);
    assert!(mailbox.take("other.txt").status.success());
    let before = mailbox.letters();
    let others: [&[&str]; 3] = [&["switch"], &["tap 0,1", "switch"], &["tap 0,1"]];
    for (nth, order) in others.into_iter().cycle().take(replaced).chain([PLAN]).enumerate() {
        if is_plain {
            plain(&mailbox, &format!("{}\n(end)\nMail {nth}", order.join("\n")));
        } else {
            mailbox.save_orders("order.txt", &[(P1, order)]);
            assert!(mailbox.take("order.txt").status.success());
        }
    }
    // The new deadline and the next turn cause letters.
    mailbox.sandbox.ok("play duel.desk \"extend 2026-12-05T12:00:00Z the mail is slow\"");
    for day in ["02", "06"] {
        assert!(mailbox.run(&format!("{day}T12:00:00Z"), "").status.success());
    }
    let letters = mailbox.letters().into_iter().filter(|name| name.contains("-p2")).enumerate();
    let letters: Vec<(usize, String)> = letters.collect();
    let read = |(_, name): &(usize, String)| {
        let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"));
        let (text, bundle) = opened(&letter);
        let (headers, _) = letter.split_once("MIME-Version").unwrap();
        let mut sent = format!("{headers}{text}");
        for (nth, name) in &letters {
            let size: u64 = name.split('-').next().unwrap().parse().unwrap();
            for written in [format!("{size:08}-p2"), format!("-{size}-p2")] {
                sent = sent.replace(&written, &format!("letter {nth} to p2"));
            }
        }
        let [_, desk] = records(&bundle);
        // The line breaks depend on the length of the name.
        let sent = sent.split_whitespace().collect::<Vec<_>>().join(" ");
        (unhashed(&masked(&unlinked(&sent))), desk.iter().filter(|line| *line == "#").count())
    };
    letters.iter().filter(|(_, name)| !before.contains(name)).map(read).collect()
}

#[test]
fn pm_81_letters_are_the_same_however_often_another_seat_replaces_its_order() {
    for is_plain in [false, true] {
        let once = letters_after(0, is_plain);
        assert_eq!(once.len(), 2, "{once:?}");
        for replaced in [1, 2, 7] {
            let often = letters_after(replaced, is_plain);
            assert_eq!(often.len(), once.len());
            for ((sent, left_out), (other, before)) in often.iter().zip(&once) {
                assert_eq!(sent, other, "plain: {is_plain}, replaced: {replaced}");
                // PM-30: the signed log has a place for every record, so the bundle has a hash of each redacted record.
                assert_eq!(*left_out, before + replaced);
            }
        }
    }
}
