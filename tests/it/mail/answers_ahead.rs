//! Answers ahead to what the other player may do, as in correspondence games (PM-122, PM-123).

use std::fs;

use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::sandbox::workspace;

/// A match of tic-tac-toe by plain mail, in which p2 begins.
struct Match(Mailbox);

impl Match {
    fn begun(terms: &str) -> Self {
        let mailbox =
            Mailbox::new(&format!("plain = [\"p1\", \"p2\"]\ndefault = []\nmissed = \"wait\"\n{terms}"));
        let sandbox = &mailbox.sandbox;
        fs::create_dir(sandbox.path("games")).unwrap();
        fs::copy(workspace().join("fixtures/modules/tictactoe.wasm"), sandbox.path("games/game.wasm"))
            .unwrap();
        sandbox.write("setup.toml", "first = \"p2\"\n");
        sandbox.ok("--modules games game check games/game.wasm");
        sandbox.ok("--modules games mail open duel --rules tictactoe --setup setup.toml --desk desk.toml --key host.key");
        let begun = Self(mailbox);
        for (seat, name) in [("p1", "Ann"), ("p2", "Ben")] {
            begun.answer(seat, &format!("join {name}"));
        }
        begun.run(6);
        begun
    }

    fn line(&self, line: &str) -> String {
        let output = self.0.sandbox.run(&format!("--modules games {line} --key host.key"));
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    }

    fn run(&self, day: u32) -> String {
        self.line(&format!("mail run duel --at 2025-01-{day:02}T12:00:00Z"))
    }

    /// Returns the letters to a seat, each as one line, the newest last.
    fn letters(&self, seat: &str) -> Vec<String> {
        let mine = format!("-{seat}");
        let names = self.0.letters().into_iter().filter(|name| name.contains(&mine));
        let read = |name| self.0.sandbox.read(&format!(".turnfold/outbox/{name}"));
        let texts =
            names.map(read).map(|letter| letter.split("application/octet-stream").next().unwrap().to_owned());
        texts.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    fn newest(&self, seat: &str) -> String {
        self.letters(seat).pop().unwrap()
    }

    /// Answers the newest letter that has a code.
    fn answer(&self, seat: &str, lines: &str) -> String {
        let mut codes = self.letters(seat).into_iter().filter_map(|letter| {
            let (_, rest) = letter.split_once(" code ")?;
            rest.split(' ').next().map(str::to_owned)
        });
        self.0.sandbox.write("reply.txt", format!("code {}\n{lines}\n(end)\n", codes.next_back().unwrap()));
        self.line("mail take duel reply.txt")
    }
}

#[test]
fn pm_122_an_answer_is_played_when_the_other_player_does_just_what_it_foresees() {
    let played = Match::begun("");
    let taken = played
        .answer("p2", "mark b2\nIf Mark A1 then mark c3, if mark b1 then mark a3\nif mark c1 then mark a1");
    assert!(taken.contains("p2 ahead 1: applied") && taken.contains("p2 order 2: applied"), "{taken}");
    let lines = "* if mark a1 then mark c3, if mark b1 then mark a3 * if mark c1 then mark a1";
    assert!(played.letters("p2").iter().any(|letter| letter.contains(lines)), "the receipt lists them");
    played.run(7);
    assert!(played.newest("p2").contains(lines), "{}", played.newest("p2"));
    played.answer("p1", "mark a1");
    let ran = played.run(8);
    assert_eq!(ran.matches("carried seat=").count(), 2, "{ran}");
    assert!(played.newest("p1").contains("turn 4: your order, please"), "{}", played.newest("p1"));
    let left = played.newest("p2");
    assert!(left.contains("* if mark b1 then mark a3") && !left.contains("mark c1"), "{left}");
    // Any other order ends the answers ahead, and the player is asked as usual.
    played.answer("p1", "mark c1");
    played.run(9);
    let asked = played.newest("p2");
    assert!(asked.contains("turn 5: your order, please") && !asked.contains("mark b1 then"), "{asked}");
    // No letter to the other player contains or mentions answers ahead.
    for letter in played.letters("p1") {
        assert!(!letter.contains("then mark") && !letter.contains("later turns were"), "{letter}");
    }
    let bundle = "bundle duel duel.desk --as p1 -o p1.bundle";
    played.line(bundle);
    let bundle = fs::read_to_string(played.0.sandbox.path("p1.bundle")).unwrap();
    let shown: Vec<_> = bundle.lines().filter_map(|line| line.strip_prefix('+')).collect();
    let has_line = |record: &&&str| {
        let bytes =
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, record).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains("if: play")
    };
    assert!(!shown.is_empty() && shown.iter().find(has_line).is_none(), "no line before the end");
    // Once the match is over, every player can check which answers were given ahead.
    played.answer("p2", "mark b3");
    played.run(10);
    played.answer("p1", "mark b1");
    assert!(played.run(11).contains("over"), "p1 has a row");
    played.line("bundle duel duel.desk -o whole.bundle");
    let audit = played.0.sandbox.run("--modules games audit whole.bundle");
    let audit = String::from_utf8(audit.stdout).unwrap();
    assert!(!audit.contains("FAIL") && audit.contains("authorship"), "{audit}");
}

#[test]
fn pm_122_a_newer_order_ends_the_lines_of_the_older_one() {
    let played = Match::begun("hurry = false\n");
    played.answer("p2", "mark b2\nif mark a1 then mark c3");
    let taken = played.answer("p2", "mark a2");
    assert!(taken.contains("p2 order 3: applied"), "{taken}");
    played.run(9);
    assert!(!played.newest("p2").contains("then mark c3"), "{}", played.newest("p2"));
    played.answer("p1", "mark a1");
    played.run(12);
    assert!(played.newest("p2").contains("turn 3: your order, please"), "{}", played.newest("p2"));
}

#[test]
fn pm_123_lines_that_cannot_be_played_cost_nothing_and_are_explained() {
    let played = Match::begun("");
    for (lines, why) in [
        ("mark b2\nif mark b2 then mark c3", "p1 cannot play `mark b2`"),
        ("mark b2\nif mark a1 then mark a1", "p2 cannot play `mark a1`"),
        (
            "mark b2\nif mark a1 then mark c3\nif mark a1 then mark a3",
            "expected one answer to `mark a1`, found two",
        ),
        ("if mark a1 then mark c3", "begins after your own move, so send both together"),
    ] {
        let taken = played.answer("p2", lines);
        assert!(
            taken.contains("not_taken") && taken.contains(why) && !taken.contains("applied"),
            "{lines}: {taken}"
        );
    }
    // The other player may also answer ahead while it is not to move.
    let taken = played.answer("p1", "if mark b2 then mark a1");
    assert!(taken.contains("p1 ahead 1: applied"), "{taken}");
    played.answer("p2", "mark b2");
    let ran = played.run(7);
    assert_eq!(ran.matches("carried seat=").count(), 2, "{ran}");
    // If orders are shown at once, answers ahead cannot be secret.
    let open = Match::begun("secret = \"no\"\n");
    let taken = open.answer("p2", "mark b2\nif mark a1 then mark c3");
    assert!(
        taken.contains("p2 order 1: applied") && taken.contains("ahead 1: rejected not_in_terms"),
        "{taken}"
    );
}
