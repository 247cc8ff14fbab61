//! A whole turn by a substitute, with or without a key, who replaces a player with or without a key (PM-83).

use turnfold_core::Seat::P1;
use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n\
                     plain = [\"p2\"]\nhost_replaces = true\n";

/// Returns the name of the newest letter to p2.
fn newest(mailbox: &Mailbox) -> String {
    mailbox.letters().into_iter().rfind(|name| name.contains("-p2")).unwrap()
}

fn letter(mailbox: &Mailbox) -> String {
    opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{}", newest(mailbox)))).0
}

fn code(mailbox: &Mailbox) -> String {
    letter(mailbox).lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned()
}

/// Answers for p2 with the code of a letter.
fn reply(mailbox: &Mailbox, code: &str, lines: &str) -> String {
    mailbox.sandbox.write("reply.txt", format!("code {code}\n{lines}\n"));
    let output = mailbox.sandbox.run("mail take duel reply.txt --key host.key");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn run(mailbox: &Mailbox, at: &str) {
    let ran = mailbox.run(at, "");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Orders with a key, based on the bundle of the newest letter.
fn order_with(mailbox: &Mailbox, key: &str, plays: &str) -> String {
    mailbox.save_bundle(&newest(mailbox), "turn.bundle");
    mailbox
        .sandbox
        .ok(&format!("mail write order {plays} --from turn.bundle --key {key} -o reply.txt --force"));
    mailbox.sandbox.ok("mail take duel reply.txt --key host.key")
}

/// Plays a turn in which p2 gets another player after an order with a high number.
fn substituted(was_plain: bool, is_plain: bool) {
    let case = format!("plain before: {was_plain}, now: {is_plain}");
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    mailbox.join(&[P1]);
    if was_plain {
        let joined = reply(&mailbox, &code(&mailbox), "join Ben");
        assert!(joined.contains("p2 enter 0: applied"), "{case}: {joined}");
    } else {
        mailbox.join(&[turnfold_core::Seat::P2]);
        mailbox.save_key("p2");
    }
    run(&mailbox, "01T12:00:00Z");
    // Ben writes to Ann, orders for this turn and later ones, and orders again, so that his numbers are high.
    if was_plain {
        let code = code(&mailbox);
        for lines in ["press p1: burn this", "if turn 2: switch", "switch", "switch"] {
            let taken = reply(&mailbox, &code, lines);
            assert!(taken.contains(": applied"), "{case}: {taken}");
        }
    } else {
        for _ in 0..3 {
            assert!(order_with(&mailbox, "p2.key", "switch").contains(": applied"), "{case}");
        }
        mailbox.save_bundle(&newest(&mailbox), "turn.bundle");
        let write = "mail write press p1 \"burn this\" --from turn.bundle --key p2.key -o reply.txt --force";
        mailbox.sandbox.ok(write);
        mailbox.sandbox.ok("mail take duel reply.txt --key host.key");
    }
    mailbox.sandbox.ok("key new new.key --name cleo.example");
    let shown = mailbox.sandbox.ok("key show new.key");
    let name = if is_plain { "Cleo Smith" } else { "cleo.example" };
    let player = if is_plain { name } else { shown.trim() };
    let replace =
        format!("mail replace duel p2 \"{player}\" \"Ben has left\" --to cleo@example.org --key host.key");
    let replaced = mailbox.sandbox.ok(&replace);
    assert!(replaced.contains(&format!("replaced seat=p2 name={name}")), "{case}: {replaced}");
    assert!(letter(&mailbox).contains(&format!("Dear {name},")), "{case}: {}", letter(&mailbox));
    // Repeating the command changes nothing.
    let log = mailbox.sandbox.ok("log duel.desk");
    assert_eq!(mailbox.sandbox.ok(&replace), "", "{case}");
    assert_eq!(mailbox.sandbox.ok("log duel.desk"), log, "{case}");
    // p1's order does not cause Ben's order to be executed before Cleo has answered.
    mailbox.save_orders("other.txt", &[(P1, &["switch"])]);
    assert!(mailbox.take("other.txt").status.success());
    run(&mailbox, "01T13:00:00Z");
    assert!(mailbox.sandbox.ok("show duel.desk").contains("turn 1, open"), "{case}");
    let text = letter(&mailbox);
    assert!(!text.contains("burn this"), "{case}: {text}");
    let seen = mailbox.sandbox.ok("log duel.desk --as p2");
    assert!(!seen.contains("burn this"), "{case}: {seen}");
    // The first answer counts at once, so the turn is complete and is executed.
    let taken = if is_plain {
        reply(&mailbox, &code(&mailbox), "tap 1,0\nswitch")
    } else {
        order_with(&mailbox, "new.key", "\"tap 1,0\" switch")
    };
    assert!(taken.contains("p2 order ") && taken.contains(": applied"), "{case}: {taken}");
    run(&mailbox, "01T14:00:00Z");
    let shown = mailbox.sandbox.ok("show duel.desk");
    assert!(shown.contains("turn 2, open"), "{case}: {shown}");
    let log = mailbox.sandbox.ok("log duel");
    assert!(log.contains("p2 tap 1,0"), "{case}: {log}");
    let rows = String::from_utf8(mailbox.sandbox.run("audit").stdout).unwrap();
    assert!(!rows.contains("FAIL"), "{case}: {rows}");
}

#[test]
fn pm_83_a_player_with_a_key_takes_over_from_one_with_a_key() {
    substituted(false, false);
}

#[test]
fn pm_83_a_player_without_a_key_takes_over_from_one_with_a_key() {
    substituted(false, true);
}

#[test]
fn pm_83_a_player_with_a_key_takes_over_from_one_without() {
    substituted(true, false);
}

#[test]
fn pm_83_a_player_without_a_key_takes_over_from_one_without() {
    substituted(true, true);
}
