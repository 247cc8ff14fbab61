//! The host's verbs with the real binary: `mail open`, `mail take` and `mail run` (PM-25 to PM-27).

use std::fs;
use std::process::Output;

use turnfold_core::Seat;
use turnfold_core::paper::{PaperContent, SeenRoot};
use turnfold_core::trust::TreeHash;

use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::players::Unlike;
use turnfold_tests::sandbox::Sandbox;

const P1: Seat = Seat::P1;
const P2: Seat = Seat::P2;
const TERMS: &str = "hosted = []\ndefault = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";

/// Returns the exit code, standard output and standard error.
fn parts_of(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// Requires a verb to exit with this code and its output to begin with these words.
fn begins(output: &Output, code: i32, words: &str) {
    let (found, stdout, stderr) = parts_of(output);
    assert!(found == code && stdout.starts_with(words), "{found} {stdout}{stderr}");
}

/// Requires a command to fail with this code and to print this reason.
fn fails(mailbox: &Mailbox, code: i32, line: &str, why: &str) {
    let (found, _, stderr) = parts_of(&mailbox.sandbox.run(line));
    assert_eq!(found, code, "{line}: {stderr}");
    assert!(stderr.contains(why) && stderr.lines().count() == 1, "{line}: {stderr}");
}

fn begun() -> Mailbox {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    mailbox.join(&[P1, P2]);
    let (code, stdout, stderr) = parts_of(&mailbox.run("01T12:00:00Z", "--roll 1 1 2 2"));
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    mailbox
}

#[test]
fn pm_3_terms_that_do_not_fit_the_game_are_named() {
    for (terms, field) in [
        ("hosted = []\nseats = 3\n", "desk.toml: seats: expected 2"),
        ("hosted = []\nhours = 0\n", "desk.toml: hours: expected 1 to 8760"),
        ("hosted = [\"p3\"]\n", "desk.toml: hosted[0]: expected a seat"),
        ("hosted = []\ndefault = [\"stand\", \"dance\"]\n", "desk.toml: default[1]: expected"),
        ("hosted = []\nbetween = [\"dance\"]\n", "desk.toml: between[0]: expected"),
        ("hosted = []\nhead = \"00\"\n", "desk.toml: head: `mail open` fills it in"),
        ("hosted = []\nnonsense = 1\n", "desk.toml:2:1: "),
        ("hosted = []\nmissed = \"sometimes\"\n", "desk.toml:2:"),
    ] {
        let mailbox = Mailbox::new(terms);
        fails(&mailbox, 2, &open_line("initiative", "small-board.toml", ""), field);
        assert!(!mailbox.sandbox.ok("matches").contains("duel"), "{terms}");
    }
}

#[test]
fn pm_37_terms_that_the_file_leaves_out_are_those_that_the_game_names() {
    let mailbox = Mailbox::new("hosted = []\nhours = 5\n");
    mailbox.sandbox.ok(&open_line("cycletap", "ford.toml", ""));
    let setup = mailbox.sandbox.ok("export duel.desk");
    for line in ["hours = 5", "together = true", "default = [\"switch\"]", "between = [\"resolve\"]"] {
        assert!(setup.contains(line), "{line}: {setup}");
    }
    // Without a file, all terms come from the game, and no seat is hosted.
    let opened = mailbox
        .sandbox
        .ok("mail open small --rules initiative --setup fixtures/initiative/small-board.toml --key host.key");
    let terms = "terms of initiative: default = [\"cycle\", \"confirm\", \"stand\"], between = [\"next-turn\"], \
                 seats = 2";
    assert!(opened.contains(terms), "{opened}");
}

#[test]
fn pm_37_terms_by_which_the_game_would_stall_run_on_or_end_early_are_refused() {
    for (terms, why) in [
        ("default = []", "desk.toml: default: the game stalls in turn 1 of a trial: p1 missed the deadline"),
        (
            "default = [\"cycle\"]",
            "desk.toml: default: in turn 1 of a trial p1 missed the deadline, and 20 commands",
        ),
        ("between = []", "the game waits for no player, but is not over: host may still give `next-turn`"),
    ] {
        let mailbox = Mailbox::new(&format!("hosted = []\n{terms}\n"));
        fails(&mailbox, 2, &open_line("initiative", "small-board.toml", ""), why);
        assert!(!mailbox.sandbox.ok("matches").contains("duel"), "{terms}");
    }
    let book = Mailbox::new("").sandbox.ok("rules desk default");
    assert!(book.contains("default = [\"stand\"]") && book.contains("PM-37  Default and between"), "{book}");
}

#[test]
fn pm_25_what_would_disclose_secrets_is_refused() {
    let mailbox = Mailbox::new("hosted = []\n");
    fails(&mailbox, 2, &open_line("channel", "dealt-for-two.toml", ""), "its setup is in every bundle");
    fails(&mailbox, 2, &open_line("initiative", "small-board.toml", "--dice seeded"), "invalid value");
    let long = open_line("initiative", "small-board.toml", "").replace("duel", &"d".repeat(60));
    fails(&mailbox, 2, &long, "of at most 59 characters");
    mailbox.sandbox.ok(&open_line("initiative", "small-board.toml", "--dice fair"));
    fails(&mailbox, 2, &open_line("initiative", "small-board.toml", "--dice fair"), "already exists");
    fails(&mailbox, 2, "mail run duel --key host.key --roll 1 1 1 1", "`duel` has fair dice");
    mailbox.sandbox.ok("key new other.key --name other.example");
    fails(&mailbox, 2, "mail run duel --key other.key", "the host of `duel` signs with `host.example+");
    mailbox.sandbox.ok("new plain --rules initiative --setup fixtures/initiative/small-board.toml");
    fails(&mailbox, 2, "mail run plain --key host.key", "`plain` is not played by mail");
}

#[test]
fn pm_26_a_false_seen_among_good_papers_is_a_fork() {
    let mut mailbox = begun();
    let known = mailbox.known();
    let seen = Some(SeenRoot { size: 2, root: TreeHash::new([7; 32]) });
    let order = mailbox.players.order_with(&known, P1, &["confirm", "stand"], false);
    let unlike = Unlike { seen, ..Unlike::default() };
    let forked = mailbox.players.write(&known, P1, PaperContent::Order(order), unlike);
    let good = mailbox.players.order(&known, P1, &["confirm"]);
    mailbox.save("mail.txt", &[forked, good]);
    let (code, stdout, stderr) = parts_of(&mailbox.take("mail.txt"));
    assert_eq!(code, 1, "{stdout}");
    assert!(stderr.starts_with("error: fork: p1 has seen another history; keep that mail"), "{stderr}");
    let outcomes: Vec<_> = stdout.lines().filter(|line| line.starts_with("mail.txt")).collect();
    assert_eq!(outcomes.len(), 2, "{stdout}");
    assert!(outcomes[0].ends_with("p1 order 1: fork") && outcomes[1].ends_with("p1 order 2: applied"));
}

#[test]
fn pm_26_files_without_papers_are_reported_and_files_that_are_too_long_are_not_read() {
    let mut mailbox = begun();
    mailbox.save_orders("good.txt", &[(P1, &["confirm", "stand"])]);
    let good = mailbox.sandbox.read("good.txt");
    mailbox.sandbox.write("empty.txt", "Hello,\nI am on holiday.\n");
    mailbox.sandbox.write("cut.txt", good.replace("#turnfold end\n", ""));
    mailbox.sandbox.write("altered.txt", good.replace("play: confirm", "play: cancel"));
    mailbox.sandbox.write("more.txt", good.replace("play: confirm", "play: confirm\nplay: cycle"));
    mailbox.sandbox.write("long.txt", " ".repeat((1 << 20) + 1));
    let (code, stdout, _) = parts_of(&mailbox.take("empty.txt cut.txt altered.txt more.txt"));
    let lines: Vec<_> = stdout.lines().filter(|line| line.contains(".txt:")).collect();
    assert_eq!(code, 1);
    assert_eq!(lines[0], "empty.txt: no paper in it");
    assert!(lines[1].starts_with("cut.txt:1: malformed: "), "{stdout}");
    assert!(lines[2].ends_with("p1 order 1: rejected bad_signature"), "{stdout}");
    assert!(lines[3].ends_with("p1 order 1: rejected bad_signature"), "{stdout}");
    let long = "long.txt: no paper in it; it is longer than 1 MiB, so it was not read\n";
    begins(&mailbox.take("long.txt"), 1, long);
    // PM-29: however many papers a stranger sends, they cause one letter.
    let many = (0..200).map(|number| good.replace("play: confirm", &format!("play: dance {number}")));
    mailbox.sandbox.write("many.txt", many.collect::<String>());
    let (code, stdout, _) = parts_of(&mailbox.take("many.txt"));
    assert_eq!((code, stdout.matches("rejected bad_signature").count()), (1, 200), "{stdout}");
    assert_eq!(stdout.lines().filter(|line| line.starts_with("letter ")).count(), 1, "{stdout}");
    let quoted = good.replace('\n', "\r\n> > ");
    mailbox.sandbox.write("quoted.txt", format!("On Monday you wrote:\r\n> > {quoted}\r\n-- \r\nAnn\r\n"));
    let (code, stdout, _) = parts_of(&mailbox.take("quoted.txt"));
    assert!(code == 0 && stdout.contains("p1 order 1: applied"), "{stdout}");
}

#[test]
fn pm_27_a_time_to_come_needs_force() {
    let mailbox = begun();
    fails(&mailbox, 2, "mail run duel --key host.key --at 9999-01-01T00:00:00Z", "later than this machine's");
    fails(&mailbox, 2, "mail run duel --key host.key --at tomorrow", "expected a time");
    let (code, stdout, _) =
        parts_of(&mailbox.sandbox.run("mail run duel --key host.key --at 9999-01-01T00:00:00Z --force"));
    assert!(code == 0 && stdout.contains("missed seat=p1"), "{stdout}");
    // The match stays readable, and the clock never goes back.
    begins(&mailbox.run("02T12:00:00Z", ""), 0, "nothing is due");
}

#[test]
fn pm_27_values_of_a_table_are_checked() {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    mailbox.join(&[P1, P2]);
    for (values, why) in [("1 1 2", "expected 4 values in 1..=6"), ("1 1 2 7", "found [1, 1, 2, 7]")] {
        let (code, _, stderr) = parts_of(&mailbox.run("01T12:00:00Z", &format!("--roll {values}")));
        assert!(code == 2 && stderr.contains(why), "{stderr}");
    }
    let (code, _, stderr) = parts_of(&mailbox.run("01T12:00:00Z", "--roll 1 1 2 2 6"));
    assert!(code == 0 && stderr.contains("were not needed"), "{stderr}");
    assert!(mailbox.sandbox.ok("log duel").starts_with("1 host roll 1 1 2 2"));
}

#[test]
fn pm_29_letters_go_to_the_given_folder_and_addresses() {
    let mailbox = Mailbox::new(TERMS);
    fs::create_dir(mailbox.sandbox.path("post")).unwrap();
    mailbox.sandbox.write("post/addresses", "p1 = ann@example.org\n");
    mailbox.sandbox.ok(&open_line("initiative", "small-board.toml", "--output post"));
    let letter = mailbox.sandbox.read("post/outbox/00000001-p1.eml");
    assert!(letter.starts_with("To: ann@example.org\r\n"), "{letter:.200}");
    assert!(mailbox.letters().is_empty());
    mailbox.sandbox.write("post/addresses", "ann@example.org\n");
    fails(&mailbox, 2, "mail run duel --key host.key --output post", "`post/addresses`: line 1: expected");
}

/// Letters are named by desk size and seat, and addresses by seat, so two matches must not share them.
#[test]
fn pm_29_matches_of_one_store_share_no_outbox_and_no_addresses() {
    let mailbox = Mailbox::new(TERMS);
    let open = |name: &str| {
        open_line("initiative", "small-board.toml", "").replace("open duel", &format!("open {name}"))
    };
    mailbox.sandbox.ok("new plain --rules cycletap");
    mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@one.example\n");
    let printed = mailbox.sandbox.ok(&open("one"));
    assert!(printed.ends_with("letter 00000001-p1.eml\nletter 00000001-p2.eml\n"), "{printed}");
    let one = mailbox.sandbox.read(".turnfold/outbox/00000001-p1.eml");
    assert!(one.starts_with("To: ann@one.example\r\nSubject: [one] "), "{one:.100}");
    let folder_of = |printed: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix("letters and `addresses` are in "));
        line.unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    let printed = mailbox.sandbox.ok(&open("two"));
    let two = folder_of(&printed);
    assert!(printed.ends_with(&format!("letter {two}/outbox/00000001-p2.eml\n")), "{printed}");
    let letter = mailbox.sandbox.read(&format!("{two}/outbox/00000001-p1.eml"));
    assert!(letter.starts_with("Subject: [two] "), "{letter:.100}");
    assert!(two.starts_with(".turnfold/mail/") && !mailbox.sandbox.path(&two).join("addresses").exists());
    // A renamed match keeps its folder. A new match with the name of a deleted one gets another folder.
    mailbox.sandbox.ok("rename two three");
    fs::remove_dir_all(mailbox.sandbox.path(&two).join("outbox")).unwrap();
    mailbox.sandbox.write(&format!("{two}/addresses"), "p1 = ben@three.example\n");
    let printed = mailbox.sandbox.ok("mail run three --key host.key");
    assert!(printed.contains(&format!("letter {two}/outbox/00000001-p1.eml")), "{printed}");
    let letter = mailbox.sandbox.read(&format!("{two}/outbox/00000001-p1.eml"));
    assert!(letter.starts_with("To: ben@three.example\r\nSubject: [three] "), "{letter:.100}");
    mailbox.sandbox.ok("delete --force one");
    assert_ne!(folder_of(&mailbox.sandbox.ok(&open("one"))), two);
    assert_eq!(mailbox.sandbox.read(".turnfold/outbox/00000001-p1.eml"), one);
}

/// Copies folders of the sandbox to others.
fn copy(mailbox: &Mailbox, names: &[(&str, &str)]) {
    for (from, to) in names {
        let to = mailbox.sandbox.path(to);
        let _ = fs::remove_dir_all(&to);
        let copied =
            std::process::Command::new("cp").arg("-r").args([mailbox.sandbox.path(from), to]).status();
        assert!(copied.unwrap().success());
    }
}

#[cfg(unix)] // cp
#[test]
fn fd_18_a_desk_that_was_rolled_back_or_forked_goes_no_further() {
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "--dice fair");
    mailbox.join(&[P1, P2]);
    copy(&mailbox, &[(".turnfold", "earlier")]);
    mailbox.run("01T12:00:00Z", "");
    copy(&mailbox, &[(".turnfold", "later"), ("earlier", ".turnfold")]);
    for verb in ["mail run duel --key host.key", "mail take duel desk.toml --key host.key"] {
        fails(&mailbox, 1, verb, "`duel.desk` was rolled back");
        fails(&mailbox, 1, verb, "import a newer bundle, or use a new key");
    }
    // Another history of sufficient length.
    for minute in 10..30 {
        mailbox.sandbox.ok(&format!("play duel.desk \"host: clock 2026-11-30T12:{minute}:00Z\""));
    }
    for verb in ["mail run duel --key host.key", "mail take duel desk.toml --key host.key"] {
        fails(&mailbox, 1, verb, "`duel.desk` has another history");
    }
    // The missing entries are imported, and the match continues.
    copy(&mailbox, &[("earlier", ".turnfold")]);
    mailbox.sandbox.ok("--store later bundle duel duel.desk -o missing.bundle");
    mailbox.sandbox.ok("import missing.bundle");
    begins(&mailbox.run("02T12:00:00Z", ""), 0, "nothing is due");
}

#[cfg(feature = "postgres")]
#[test]
fn pm_29_a_store_in_a_database_needs_a_folder_for_letters() {
    let mailbox = begun();
    let line = "--store postgres://nobody@localhost/x mail run duel --key host.key";
    fails(&mailbox, 2, line, "a store in a database has no folder for letters; name one with `--output DIR`");
}

#[test]
fn mail_write_names_every_kind_of_paper_by_its_word() {
    let help = Sandbox::new().ok("mail write --help");
    for kind in ["join", "order", "seal", "offer", "answer", "resign", "rekey"] {
        assert!(help.contains(&format!("- {kind}: ")), "{kind}: {help}");
    }
}
