//! `turnfold audit` of a match by mail with the real binary: a store, the host's bundle and a seat's bundle (PM-32,
//! FD-19, FD-20).

use turnfold_core::Seat::{P1, P2};

use turnfold_tests::mailbox::Mailbox;

const ALTERNATING: &str =
    "hosted = []\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
const TOGETHER: &str = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

fn row(rows: &str, name: &str) -> String {
    let found = rows.lines().find(|line| line.starts_with(name)).unwrap();
    found.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
}

/// Returns a match with fair dice and a turn in which p1 ordered.
fn fair() -> Mailbox {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", ALTERNATING, "--dice fair");
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    let who = mailbox.known().desk.position().unwrap().seats[0];
    mailbox.save_orders("orders.txt", &[(who, &["confirm", "stand"])]);
    assert!(mailbox.take("orders.txt").status.success());
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    mailbox
}

#[test]
fn fd_19_and_20_the_store_and_its_bundle_recompute_the_rolls() {
    let mailbox = fair();
    mailbox.sandbox.ok("bundle duel duel.desk -o duel.bundle");
    for source in ["", "duel.bundle"] {
        let rows = mailbox.sandbox.ok(&format!("audit {source} --require dice,rules,authorship"));
        let dice = row(&rows, "dice");
        assert!(dice.starts_with("PASS ") && dice.contains(" recomputed; "), "{rows}");
        let authorship = row(&rows, "authorship");
        assert!(authorship.starts_with("PASS 2 commands by signed orders, "), "{rows}");
        // An auditor who compares the keys knows whose orders they are.
        for seat in [P1, P2] {
            let key = mailbox.players.key(seat).verifier();
            assert!(rows.contains(&format!("\n{:24} {seat} of duel signs as {key}\n", "")), "{rows}");
        }
        assert!(
            rows.ends_with("\nproven: bytes, chain, dice, rules, authorship; not proven: signature, consistency, cosignatures\n"),
            "{rows}"
        );
        assert!(
            row(&rows, "consistency").ends_with("; the history that 3 papers named is this one"),
            "{rows}"
        );
        let output = mailbox.sandbox.run(&format!("-v audit {source}"));
        let stderr = String::from_utf8(output.stderr).unwrap();
        let rolls = stderr.lines().filter(|line| line.contains(" is roll ")).count();
        assert_eq!(
            format!("{rolls} roll"),
            dice.split(' ').skip(1).take(2).collect::<Vec<_>>().join(" ").trim_end_matches('s')
        );
        assert!(stderr.contains("duel:1 is roll 1: host 1 ") && stderr.contains("; key "), "{stderr}");
    }
    // Without the desk no one else can check who gave the orders.
    mailbox.sandbox.ok("bundle duel -o game.bundle");
    let rows = mailbox.sandbox.ok("audit game.bundle");
    assert_eq!(row(&rows, "dice"), "NOT CHECKED duel: fair dice are checked with the match's desk");
    assert_eq!(row(&rows, "authorship"), "NOT CHECKED the host alone says who gave which command");
}

#[test]
fn pm_32_a_seat_s_bundle_is_checked_up_to_what_is_left_out() {
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", TOGETHER, "");
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    let orders: [(_, &[&str]); 2] = [(P1, &["tap 0,2", "switch"]), (P2, &["tap 1,-2", "switch"])];
    mailbox.save_orders("orders.txt", &orders);
    assert!(mailbox.take("orders.txt").status.success());
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    let orders: [(_, &[&str]); 1] = [(P1, &["switch"])];
    mailbox.save_orders("orders.txt", &orders);
    assert!(mailbox.take("orders.txt").status.success());
    for (options, authorship) in [
        ("", "PASS 4 commands by signed orders, 1 by the host"),
        ("--as p1", "PASS 4 commands by signed orders, 1 by the host"),
        ("--as p2", "NOT CHECKED duel.desk: records are left out"),
    ] {
        mailbox.sandbox.ok(&format!("bundle duel duel.desk {options} -o seat.bundle"));
        let rows = mailbox.sandbox.ok("audit seat.bundle");
        assert_eq!(row(&rows, "authorship"), authorship, "{rows}");
        assert_eq!(row(&rows, "dice"), "NOT APPLICABLE there is no match with dice");
        std::fs::remove_file(mailbox.sandbox.path("seat.bundle")).unwrap();
    }
    // This game has no dice, so none can be wrong.
    let rows = mailbox.sandbox.run("audit --require authorship,chain,rules,bytes,dice");
    assert!(rows.status.success());
}

#[test]
fn tr_28_matches_without_a_desk_are_named_next_to_one_with() {
    let mailbox = fair();
    mailbox.sandbox.ok("new other --rules cycletap --setup fixtures/cycletap/ford.toml");
    let rows = mailbox.sandbox.ok("audit");
    assert_eq!(row(&rows, "authorship"), "NOT CHECKED other: the host alone says who gave which command");
    assert!(row(&rows, "dice").starts_with("PASS "), "a game without dice changes nothing: {rows}");
}
