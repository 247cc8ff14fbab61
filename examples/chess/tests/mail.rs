//! Chess by mail: the host and two players, each with the program and files alone (PM-14).

mod program;

use std::fs;

use program::Program;

/// A match that the host `ann` opened with the terms that the game proposes, and that `p1` and `p2` have joined.
fn begun() -> Program {
    let chess = Program::new();
    fs::write(chess.path().join("start.toml"), "").unwrap();
    fs::write(chess.path().join("desk.toml"), "hosted = []\nmissed = \"second\"\ndefault = [\"resign\"]\n")
        .unwrap();
    for person in ["ann", "p1", "p2"] {
        chess.check(0, &format!("chess key new {person}.key --name {person}.example > {person}.vkey"), "");
    }
    let open = "chess mail open duel --rules chess --setup start.toml --desk desk.toml --key ann.key";
    chess.check(0, open, "2 seats");
    for seat in ["p1", "p2"] {
        save_newest(&chess, seat);
        let join =
            format!("chess mail write join {seat} --from {seat}.bundle --key {seat}.key -o {seat}.txt");
        chess.check(0, &join, "wrote");
    }
    let take = "chess mail take duel p1.txt p2.txt --admit p1 --admit p2 --key ann.key";
    chess.check(0, take, "p2 join 0: applied");
    run(&chess, 1, "seats=p1 ");
    chess
}

/// Saves what is attached to the newest letter to a seat; returns the letter.
fn save_newest(chess: &Program, seat: &str) -> String {
    let letter = format!("ls .turnfold/outbox/*-{seat}.eml | tail -1");
    let save = format!(
        "tr -d '\\r' < $({letter}) | sed -n '/filename=.*bundle/,/^--/p' | sed '1,2d;$d' | base64 -d > {seat}.bundle"
    );
    chess.check(0, &save, "");
    chess.run(&format!("tr -d '\\r' < $({letter})")).1
}

/// Has the host carry out what is ready on a day, and requires a text in what it prints.
#[track_caller]
fn run(chess: &Program, day: u32, expected: &str) {
    chess.check(0, &format!("chess mail run duel --key ann.key --at 2026-01-{day:02}T18:00:00Z"), expected);
}

/// Orders commands, which become the lines `play` of the paper, and has the host take the paper.
#[track_caller]
fn order(chess: &Program, seat: &str, commands: &str, plays: &[&str]) {
    let write = format!(
        "chess mail write order {commands} --from {seat}.bundle --key {seat}.key --force -o {seat}.txt && cat {seat}.txt"
    );
    let (code, paper) = chess.run(&write);
    let found: Vec<_> = paper.lines().filter_map(|line| line.strip_prefix("play: ")).collect();
    assert!(code == Some(0) && found == plays, "{write}: {paper}");
    chess.check(0, &format!("chess mail take duel {seat}.txt --key ann.key"), "applied");
}

#[test]
fn pm_14_a_game_by_mail_asks_the_player_to_move_and_ends_with_checkmate() {
    let chess = begun();
    let letter = save_newest(&chess, "p1");
    assert!(letter.contains("8 r n b q k b n r 8"), "{letter}");
    // Moves are ordered in Standard Algebraic Notation, too; the paper has what the log will have.
    order(&chess, "p1", "f3", &["f2f3"]);
    run(&chess, 2, "seats=p2 ");
    let letter = save_newest(&chess, "p2");
    assert!(letter.contains("p1: f2f3. p1 played f3."), "{letter}");
    let order_white = "chess mail write order e5 --from p1.bundle --key p1.key --force -o p1.txt";
    save_newest(&chess, "p1");
    chess.check(1, order_white, "p1 is not asked in turn 2");
    chess.check(1, "chess mail write order Ke7 --from p2.bundle --key p2.key --force -o p2.txt", "malformed");
    order(&chess, "p2", "e5", &["e7e5"]);
    run(&chess, 3, "seats=p1 ");
    // An offer of a draw asks neither player for more than the move.
    save_newest(&chess, "p1");
    order(&chess, "p1", "offer g4", &["offer", "g2g4"]);
    run(&chess, 4, "seats=p2 ");
    chess.check(0, "chess mail status duel", "duel waits for p2 since");
    chess.check(0, "chess matches --long", "turn 2 of p2");
    save_newest(&chess, "p2");
    order(&chess, "p2", "Qh4#", &["d8h4"]);
    run(&chess, 5, "over");
    chess.check(0, "chess log duel", "moved san=Qh4#; match_over by=checkmate winner=p2");
    let bundle = "(echo \"log $(cat ann.vkey)\"; echo 'quorum none') > policy && \
                  chess bundle duel duel.desk --key ann.key -o duel.bundle && \
                  chess audit duel.bundle --policy policy --held p2.bundle";
    chess.check(0, bundle, "authorship   PASS        5 commands by signed orders");
}

#[test]
fn pm_14_and_84_an_offer_is_accepted_in_the_own_turn_and_the_second_missed_deadline_resigns() {
    let chess = begun();
    save_newest(&chess, "p1");
    order(&chess, "p1", "offer e4", &["offer", "e2e4"]);
    run(&chess, 2, "seats=p2 ");
    save_newest(&chess, "p2");
    order(&chess, "p2", "accept", &["accept"]);
    run(&chess, 3, "over");
    chess.check(0, "chess matches --long", "over: draw (agreed)");
    let late = begun();
    run(&late, 9, "missed seat=p1 misses=1");
    late.check(0, "chess matches --long", "duel");
    run(&late, 13, "missed seat=p1 misses=2");
    late.check(0, "chess log duel", "p1 resign => match_over by=resignation winner=p2");
    late.check(0, "chess audit", "authorship   PASS        0 commands by signed orders, 1 by default for p1");
}

#[test]
fn pm_91_players_without_a_key_write_moves_as_people_do() {
    let chess = Program::new();
    fs::write(chess.path().join("start.toml"), "").unwrap();
    fs::write(
        chess.path().join("desk.toml"),
        "hosted = []\nplain = [\"p1\", \"p2\"]\ndefault = [\"resign\"]\n",
    )
    .unwrap();
    chess.check(0, "chess key new ann.key --name ann.example > ann.vkey", "");
    chess.check(
        0,
        "chess mail open duel --rules chess --setup start.toml --desk desk.toml --key ann.key",
        "2 seats",
    );
    let mail = |seat: &str, lines: &str| {
        let code = format!("ls .turnfold/outbox/*-{seat}*.eml | tail -1");
        format!(
            "{{ tr -d '\\r' < $({code}) | grep -oE 'code [A-Z0-9]+-[A-Z0-9-]+' | tail -1; printf '%s\\n' {lines}; }} > mail.txt && chess mail take duel mail.txt --key ann.key"
        )
    };
    for seat in ["p1", "p2"] {
        chess.check(0, &mail(seat, &format!("'join {seat}'")), "enter 0: applied");
    }
    run(&chess, 1, "seats=p1 ");
    chess.check(1, &mail("p2", "e5"), "It is not your turn, so `e5` was not taken.");
    let moves = ["'1. e4'", "E7E5", "G1-F3", "'*nc6*'", "'- bb5.'", "A7-A6", "'b5 x c6'"];
    for (day, line) in (2..).zip(moves) {
        let seat = if day % 2 == 0 { "p1" } else { "p2" };
        chess.check(0, &mail(seat, line), ": applied");
        run(&chess, day, "carried ");
    }
    chess.check(0, "chess log duel", "b5c6");
}

/// The newest letter to a seat, its text on one line.
fn newest(chess: &Program, seat: &str) -> String {
    let letter = chess.run(&format!("tr -d '\\r' < $(ls .turnfold/outbox/*-{seat}.eml | tail -1)")).1;
    letter.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pm_122_and_123_a_signed_order_holds_lines_of_answers_in_algebraic_notation() {
    let chess = begun();
    save_newest(&chess, "p1");
    let write = "chess mail write order e4 'if e5 then Nf3, if Nc6 then Bb5' 'if c5 then d4' --from p1.bundle --key p1.key \
                 --force -o p1.txt && cat p1.txt";
    let (code, paper) = chess.run(write);
    let lines: Vec<_> =
        paper.lines().filter(|line| line.starts_with("play: ") || line.starts_with("if: ")).collect();
    let expected = [
        "if: after e2e4",
        "if: play e7e5",
        "play: g1f3",
        "if: then b8c6",
        "play: f1b5",
        "if: play c7c5",
        "play: d2d4",
        "play: e2e4",
    ];
    assert!(code == Some(0) && lines == expected, "{paper}");
    chess.check(0, "chess mail take duel p1.txt --key ann.key", "p1 order 2: applied");
    run(&chess, 2, "seats=p2 ");
    let own = newest(&chess, "p1");
    assert!(own.contains("* if e7e5 then g1f3, if b8c6 then f1b5 * if c7c5 then d2d4"), "{own}");
    assert!(!newest(&chess, "p2").contains("g1f3 "), "another player reads no line");
    // Just what the line says is answered at once.
    save_newest(&chess, "p2");
    order(&chess, "p2", "e5", &["e7e5"]);
    run(&chess, 3, "seats=p2 ");
    chess.check(0, "chess log duel", "3 p1 g1f3 => moved san=Nf3");
    let (own, other) = (newest(&chess, "p1"), newest(&chess, "p2"));
    assert!(own.contains("if b8c6 then f1b5") && !own.contains("d2d4"), "{own}");
    assert!(other.contains("p1: g1f3. p1 played Nf3.") && !other.contains("f1b5"), "{other}");
    // Anything else ends the line, and the player is asked as usual.
    save_newest(&chess, "p2");
    order(&chess, "p2", "Nf6", &["g8f6"]);
    run(&chess, 4, "seats=p1 ");
    let own = newest(&chess, "p1");
    assert!(own.contains("your order, please") && !own.contains("f1b5"), "{own}");
    // The other player accepts a desk with a secret in it, and an audit of the whole match passes.
    save_newest(&chess, "p1");
    order(&chess, "p1", "Nxe5", &["f3e5"]);
    run(&chess, 5, "seats=p2 ");
    save_newest(&chess, "p2");
    order(&chess, "p2", "d6", &["d7d6"]);
    run(&chess, 6, "seats=p1 ");
    chess.check(0, "chess audit", "authorship   PASS        6 commands by signed orders");
    // A line that cannot be played is not written.
    save_newest(&chess, "p1");
    let write =
        "chess mail write order Nf3 'if Nxe4 then Qxe4' --from p1.bundle --key p1.key --force -o p1.txt";
    chess.check(1, write, "p1 cannot play `Qxe4`");
}
