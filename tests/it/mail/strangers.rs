//! Letters that a reader can follow without any knowledge of turnfold (PM-54), and players who lost a file (PM-56).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat::P2;

use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str =
    "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nhours = 72\n";

fn invited() -> Mailbox {
    Mailbox::opened("cycletap", "ford.toml", TERMS, "--to p1=ann@example.org")
}

fn letter(mailbox: &Mailbox, name: &str) -> String {
    mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the commands to type in a letter, without the name of the program.
fn to_type(letter: &str) -> Vec<String> {
    let text = opened(letter).0;
    let typed = text.split("\n\n").filter(|paragraph| paragraph.starts_with("    turnfold"));
    typed.map(|lines| words(lines).split_once(' ').unwrap().1.to_owned()).collect()
}

#[test]
fn pm_54_an_invitation_explains_program_host_game_terms_and_the_next_step() {
    let mailbox = invited();
    let invitation = letter(&mailbox, "00000001-p1.eml");
    assert!(invitation.contains("\r\nSubject: [duel] an invitation to play by mail\r\n"), "{invitation}");
    let text = opened(&invitation).0;
    let found = words(&text);
    for expected in [
        "host.example invites you to a game by mail. The game is called `duel`, and seat p1 is reserved for you.",
        "turnfold, a program that carries games from turn to turn by mail.",
        "It is for 2 players. Its rules are in the attached file cycletap-rules.txt.",
        "* You have 3 days for each turn.",
        "* All players send orders at the same time. A turn ends once all orders are in.",
        "* If you miss a deadline, the host plays for you: switch.",
        "* If you miss 3 deadlines in a row, you are out.",
        "* You may announce absences of up to 14 days in all. Deadlines wait for you.",
        "* Players may write to each other through the host.",
        "get a clone of turnfold's repository, which the host names, and type `cargo install --path cli` in it.",
        "Answer this letter with the text of the file reply.txt, or attach the file.",
    ] {
        assert!(found.contains(expected), "{expected}: {text}");
    }
    let (_, attached) = invitation.split_once("filename=\"cycletap-rules.txt\"\r\n\r\n").unwrap();
    let attached = attached.split("--turnfold-").next().unwrap().replace("\r\n", "");
    let rules = String::from_utf8(STANDARD.decode(attached).unwrap()).unwrap();
    assert_eq!(rules, turnfold_games::find("cycletap").unwrap().rulebook());
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 72), "{text}");
}

#[test]
fn pm_54_what_letters_ask_to_type_works_as_it_stands_in_every_turn() {
    let mut mailbox = invited();
    let first = letter(&mailbox, "00000001-p1.eml");
    mailbox.save_bundle("00000001-p1.eml", "duel-1-p1.bundle");
    let [key, join] = &to_type(&first)[..] else { panic!("{first}") };
    mailbox.sandbox.ok(&key.replace("YOUR.NAME", "ann.example"));
    let wrote = mailbox.sandbox.ok(join);
    assert!(wrote.starts_with("wrote `reply.txt`: join 0 of p1"), "{wrote}");
    mailbox.sandbox.ok("mail take duel reply.txt --admit p1 --key host.key");
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    for (turn, at, plays) in
        [(1, "02T12:00:00Z", "\"tap 0,1\" \"switch\""), (2, "03T12:00:00Z", "\"switch\"")]
    {
        let newest =
            mailbox.letters().into_iter().rfind(|name| name.len() == 15 && name.contains("-p1")).unwrap();
        let size: u32 = newest.split('-').next().unwrap().parse().unwrap();
        mailbox.save_bundle(&newest, &format!("duel-{size}-p1.bundle"));
        let report = letter(&mailbox, &newest);
        let [order] = &to_type(&report)[..] else { panic!("{report}") };
        assert!(!order.contains(['\'', '\\']), "a shell of Windows has no such quotation marks: {order}");
        let output = mailbox.sandbox.run(&order.replace("\"COMMAND\" \"COMMAND\"", plays));
        assert!(output.status.success(), "{order}: {}", String::from_utf8_lossy(&output.stderr));
        mailbox.save_orders("other.txt", &[(P2, &["switch"])]);
        mailbox.sandbox.ok("mail take duel reply.txt other.txt --key host.key");
        assert!(mailbox.run(at, "").status.success());
        assert!(mailbox.sandbox.ok("show duel.desk").contains(&format!("turn {}", turn + 1)));
    }
}

#[test]
fn pm_54_a_warning_to_a_player_names_no_part_of_the_program() {
    let mut mailbox = invited();
    mailbox.join(&[P2]);
    mailbox.save_bundle("00000001-p1.eml", "first.bundle");
    mailbox.sandbox.ok("key new my.key --name ann.example");
    mailbox.sandbox.ok("mail write join p1 --from first.bundle --key my.key -o reply.txt");
    mailbox.sandbox.ok("mail take duel reply.txt --admit p1 --key host.key");
    mailbox.sandbox.ok("mail run duel --key host.key --force --at 9000-01-01T00:00:00Z");
    mailbox.save_bundle("00000005-p1.eml", "second.bundle");
    let line = "mail write order \"tap 9,9\" switch --from second.bundle --key my.key -o reply.txt --force";
    let output = mailbox.sandbox.run(line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let warnings = "warning: the host's clock shows 9000-01-01T00:00:00Z, more than an hour later than this machine's\n\
                    warning: `tap 9,9` would change nothing: no_friendly_unit\n";
    assert_eq!((output.status.code(), stderr.as_str()), (Some(0), warnings));
}

#[test]
fn pm_56_a_player_without_the_key_of_the_seat_learns_how_to_get_it_back() {
    let mut mailbox = invited();
    mailbox.join(&[turnfold_core::Seat::P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox.save_bundle("00000005-p1.eml", "turn.bundle");
    mailbox.sandbox.ok("key new other.key --name other.example");
    let output = mailbox.sandbox.run("mail write order switch --from turn.bundle --key other.key");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let why = "`other.example` has no seat in this match (p1 is of p1.example, p2 is of p2.example). If you lost the key of a \
               seat, ask another player to write `offer replace SEAT NAME KEY`";
    assert!(output.status.code() == Some(1) && stderr.contains(why), "{stderr}");
}

#[test]
fn pm_56_a_second_device_without_the_memory_of_the_key_writes_on() {
    let mut mailbox = invited();
    mailbox.save_bundle("00000001-p1.eml", "first.bundle");
    mailbox.sandbox.ok("key new my.key --name ann.example");
    mailbox.sandbox.ok("mail write join p1 --from first.bundle --key my.key -o reply.txt");
    mailbox.sandbox.ok("mail take duel reply.txt --admit p1 --key host.key");
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox.save_bundle("00000005-p1.eml", "turn.bundle");
    let write = |file: &str| {
        mailbox.sandbox.ok(&format!("mail write order switch --from turn.bundle --key my.key -o {file}"))
    };
    write("one.txt");
    std::fs::remove_dir_all(mailbox.sandbox.path("my.key.seen")).unwrap();
    let printed = write("two.txt");
    assert!(printed.contains("compare that with the key that the host publishes elsewhere"), "{printed}");
    let output = mailbox.take("one.txt two.txt");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(
        printed.contains("one.txt:1: p1 order 1: applied\ntwo.txt:1: p1 order 1: ignored outdated"),
        "{printed}"
    );
}

#[test]
fn pm_28_and_56_an_order_more_than_20_turns_after_the_last_needs_the_turn_from_the_host() {
    let terms = format!("{}hours = 1\npatience = 0\n", TERMS.replace("hours = 72\n", ""));
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", &terms, "");
    mailbox.save_bundle("00000001-p1.eml", "first.bundle");
    mailbox.sandbox.ok("key new my.key --name ann.example");
    mailbox.sandbox.ok("mail write join p1 --from first.bundle --key my.key -o reply.txt");
    mailbox.sandbox.ok("mail take duel reply.txt --admit p1 --key host.key");
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T00:00:00Z", "").status.success());
    let write = |file: &str, more: &str| {
        mailbox.sandbox.ok("bundle duel duel.desk --as p1 --key host.key -o turn.bundle --force");
        let line = format!("mail write order switch --from turn.bundle --key my.key {more} -o {file}");
        let output = mailbox.sandbox.run(&line);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(write("one.txt", "").0, Some(0));
    for hour in 1..=20 {
        let at = format!("{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24);
        assert!(mailbox.run(&at, "").status.success());
    }
    assert_eq!(write("at-20.txt", "").0, Some(0), "20 turns later needs nothing");
    for hour in 21..=41 {
        let at = format!("{:02}T{:02}:00:00Z", 1 + hour / 24, hour % 24);
        assert!(mailbox.run(&at, "").status.success());
    }
    let (code, stderr) = write("later.txt", "");
    let why = "your last order was of turn 21, long before turn 42; copy that folder from the device on which you played \
               before, or add `--turn 42` if the host confirms that turn";
    assert!(code == Some(1) && stderr.contains(why), "{stderr}");
    assert_eq!(write("later.txt", "--turn 42").0, Some(0));
    std::fs::remove_dir_all(mailbox.sandbox.path("my.key.seen")).unwrap();
    let (code, stderr) = write("lost.txt", "");
    let why = "my.key.seen`, the folder next to your key, has no order of this match; copy that folder";
    assert!(code == Some(1) && stderr.contains(why), "{stderr}");
}
