//! Offers have numbers that players use to answer, with or without a key (PM-82).

use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\n";

/// Returns the text of the newest letter to a seat.
fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let mine = format!("-{seat}");
    let name = mailbox.letters().into_iter().rfind(|name| name.contains(&mine)).unwrap();
    opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))).0
}

/// Answers the newest letter to a seat, and returns the output.
fn reply(mailbox: &Mailbox, seat: &str, lines: &str) -> String {
    let letter = newest(mailbox, seat);
    let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
    mailbox.sandbox.write("reply.txt", format!("code {code}\n{lines}\n"));
    let output = mailbox.sandbox.run("mail take duel reply.txt --key host.key");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn run(mailbox: &Mailbox, at: &str) {
    mailbox.sandbox.ok(&format!("mail run duel --key host.key --at 2025-01-{at}T12:00:00Z"));
}

fn begun() -> Mailbox {
    let mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    for (seat, name) in [("p1", "Ben"), ("p2", "Cleo")] {
        reply(&mailbox, seat, &format!("join {name}"));
    }
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-06T12:00:00Z --roll 1 1 2 2");
    mailbox
}

#[test]
fn pm_82_players_without_keys_offer_and_answer_whoever_is_on_move() {
    let mailbox = begun();
    // p2 is not asked, and offers a draw in one word.
    let printed = reply(&mailbox, "p2", "draw");
    assert!(printed.contains("p2 offer 1: applied"), "{printed}");
    run(&mailbox, "07");
    let letter = newest(&mailbox, "p1");
    assert!(letter.contains("offer 1, by p2: end draw") && letter.contains("`agree 1`"), "{letter}");
    assert!(!letter.contains("answer 1 agree"), "no line of a player with a key: {letter}");
    let printed = reply(&mailbox, "p1", "agree 7");
    assert!(printed.contains("No such offer is open. Open: offer 1 by p2: end draw."), "{printed}");
    // A single open offer needs no number.
    let printed = reply(&mailbox, "p1", "decline");
    assert!(printed.contains("p1 answer 1: applied"), "{printed}");
    let log = mailbox.sandbox.ok("log duel.desk");
    assert!(log.contains("declined seat=p1 number=1 nth=1"), "{log}");
    let printed = reply(&mailbox, "p1", "agree");
    assert!(printed.contains("No offer is open."), "{printed}");
    // The previous turn, by its number.
    reply(&mailbox, "p1", "confirm\nstand");
    run(&mailbox, "08");
    let printed = reply(&mailbox, "p1", "takeback 9");
    assert!(printed.contains("The match has no earlier turn 9."), "{printed}");
    let printed = reply(&mailbox, "p1", "takeback 1");
    assert!(printed.contains("p1 offer 3: applied"), "{printed}");
    run(&mailbox, "09");
    let printed = reply(&mailbox, "p2", "AGREE 2");
    assert!(printed.contains("p2 answer 2: applied"), "{printed}");
    run(&mailbox, "09");
    let shown = mailbox.sandbox.ok("show duel.desk");
    assert!(shown.contains("the game stands on takeback-1"), "{shown}");
    let printed = reply(&mailbox, "p2", "resign");
    assert!(printed.contains("applied"), "{printed}");
    assert!(mailbox.sandbox.ok("show duel.desk").contains("result: p1"));
    let rows = String::from_utf8(mailbox.sandbox.run("audit").stdout).unwrap();
    assert!(!rows.contains("FAIL"), "{rows}");
}

#[test]
fn pm_82_a_player_with_a_key_answers_a_player_without_one_by_number() {
    let mut mailbox =
        Mailbox::opened("initiative", "small-board.toml", "hosted = []\nplain = [\"p1\"]\n", "");
    reply(&mailbox, "p1", "join Ben");
    mailbox.join(&[turnfold_core::Seat::P2]);
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-06T12:00:00Z --roll 1 1 2 2");
    reply(&mailbox, "p1", "draw");
    run(&mailbox, "07");
    let name = mailbox.letters().into_iter().rfind(|name| name.contains("-p2")).unwrap();
    mailbox.save_bundle(&name, "p2.bundle");
    mailbox.save_key("p2");
    assert!(newest(&mailbox, "p2").contains("answer 1 agree"), "{}", newest(&mailbox, "p2"));
    let write = |offer: &str| {
        format!("mail write answer {offer} agree --from p2.bundle --key p2.key -o reply.txt --force")
    };
    let output = mailbox.sandbox.run(&write("2"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("there is no open offer 2 that p2 may answer"), "{stderr}");
    mailbox.sandbox.ok(&write("1"));
    let taken = mailbox.sandbox.ok("mail take duel reply.txt --key host.key");
    assert!(taken.contains("p2 answer 1: applied"), "{taken}");
    assert!(mailbox.sandbox.ok("show duel.desk").contains("result: draw"));
}
