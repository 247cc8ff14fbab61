//! A host whose mails arrive in a Maildir, and letters that mail programs show in threads (PM-52, PM-53, PM-65, PM-66).

use std::fs;
use std::path::Path;

use turnfold_core::Seat::{P1, P2};
use turnfold_core::paper::PaperContent;

use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::players::Unlike;

const TERMS: &str = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
const TAKE: &str = "mail take duel --maildir post --key host.key";

/// Returns a match with an empty Maildir, `post`.
fn opened() -> Mailbox {
    let mailbox = Mailbox::opened(
        "cycletap",
        "ford.toml",
        TERMS,
        "--to p1=ann@example.org --to host=games@example.org",
    );
    for folder in ["new", "cur", "tmp"] {
        fs::create_dir_all(mailbox.sandbox.path("post").join(folder)).unwrap();
    }
    mailbox
}

fn begun() -> Mailbox {
    let mut mailbox = opened();
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox
}

/// Delivers a mail with this text.
fn deliver(mailbox: &Mailbox, name: &str, from: &str, text: &str) {
    let mail = format!("From: {from}\nSubject: Re: duel\nMessage-ID: <{name}@example.net>\n\n{text}");
    mailbox.sandbox.write(&format!("post/new/{name}"), mail);
}

/// Lists the mails of the Maildir, as `cur/NAME`.
fn mails(mailbox: &Mailbox) -> Vec<String> {
    let list = |folder: &'static str| {
        let listed = fs::read_dir(mailbox.sandbox.path("post").join(folder)).unwrap();
        listed.map(move |mail| format!("{folder}/{}", mail.unwrap().file_name().to_string_lossy()))
    };
    let mut all: Vec<_> = list("cur").chain(list("new")).collect();
    all.sort();
    all
}

/// Takes the mails. Returns the exit code and the output about papers.
fn take(mailbox: &Mailbox, options: &str) -> (i32, String) {
    let output = mailbox.sandbox.run(&format!("{TAKE} {options}"));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let papers = stdout.lines().filter(|line| !line.starts_with("letter ")).map(|line| format!("{line}\n"));
    (output.status.code().unwrap(), papers.collect())
}

#[test]
fn pm_53_mails_that_were_taken_move_to_cur_and_are_not_taken_again() {
    let mut mailbox = begun();
    mailbox.save_orders("p1.txt", &[(P1, &["tap 0,1", "switch"])]);
    mailbox.save_orders("p2.txt", &[(P2, &["switch"])]);
    let order = |file: &str| mailbox.sandbox.read(file);
    deliver(&mailbox, "1001.a.host", "ann@example.org", &order("p1.txt"));
    deliver(&mailbox, "1002.b.host", "ben@example.org", &order("p2.txt"));
    // A mail program has shown this mail, and the user has flagged it.
    fs::rename(
        mailbox.sandbox.path("post/new/1002.b.host"),
        mailbox.sandbox.path("post/cur/1002.b.host:2,F"),
    )
    .unwrap();
    mailbox.sandbox.write("post/cur/1000.old.host:2,RS", "From: ann@example.org\n\nan old mail\n");
    let printed =
        "post/new/1001.a.host:5: p1 order 1: applied\npost/cur/1002.b.host:2,F:5: p2 order 1: applied\n";
    let printed = printed.replace(":5:", ":1:");
    assert_eq!(take(&mailbox, ""), (0, printed));
    let all = ["cur/1000.old.host:2,RS", "cur/1001.a.host:2,S", "cur/1002.b.host:2,FS"];
    assert_eq!(mails(&mailbox), all);
    assert_eq!(take(&mailbox, ""), (0, String::new()));
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    assert!(mailbox.sandbox.ok("log duel").contains("p1 tap 0,1"));
}

#[test]
fn pm_53_a_run_that_was_killed_before_it_moved_a_mail_takes_it_again_without_harm() {
    let mut mailbox = begun();
    mailbox.save_orders("p1.txt", &[(P1, &["tap 0,1", "switch"])]);
    deliver(&mailbox, "1001", "ann@example.org", &mailbox.sandbox.read("p1.txt"));
    deliver(&mailbox, "1002", "ann@example.org", "I tap 0,1.\n");
    assert_eq!(take(&mailbox, "").0, 1, "one has no paper");
    let (letters, log) = (mailbox.letters(), mailbox.sandbox.ok("log duel.desk"));
    for killed in [vec!["1001", "1002"], vec!["1002"]] {
        for name in killed {
            let path = |name: String| mailbox.sandbox.path("post").join(name);
            fs::rename(path(format!("cur/{name}:2,S")), path(format!("new/{name}"))).unwrap();
        }
        let (code, printed) = take(&mailbox, "");
        assert!(code == 1 && printed.ends_with("1002: no paper in it\n"), "{printed}");
        assert_eq!(mails(&mailbox), ["cur/1001:2,S", "cur/1002:2,S"]);
        assert_eq!((mailbox.letters(), mailbox.sandbox.ok("log duel.desk")), (letters.clone(), log.clone()));
    }
}

#[test]
fn pm_53_a_mail_stays_while_its_paper_can_be_taken_later() {
    let mut mailbox = opened();
    let join = mailbox.players.join(&mailbox.known(), P1);
    mailbox.save("join.txt", &[join]);
    deliver(&mailbox, "1001", "dan@example.org", &mailbox.sandbox.read("join.txt"));
    for _ in 0..2 {
        assert_eq!(take(&mailbox, ""), (1, "post/new/1001:1: p1 join 0: needs_admit p1\n".into()));
        assert_eq!(mails(&mailbox), ["new/1001"]);
    }
    assert_eq!(take(&mailbox, "--admit p1"), (0, "post/new/1001:1: p1 join 0: applied\n".into()));
    assert_eq!(mails(&mailbox), ["cur/1001:2,S"]);
    mailbox.join(&[P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    let (known, unlike) = (mailbox.known(), Unlike { turn: Some(2), ..Unlike::default() });
    let order = mailbox.players.order_with(&known, P1, &["switch"], false);
    let early = mailbox.players.write(&known, P1, PaperContent::Order(order), unlike);
    mailbox.save("early.txt", &[early]);
    deliver(&mailbox, "1002", "ann@example.org", &mailbox.sandbox.read("early.txt"));
    assert_eq!(take(&mailbox, ""), (1, "post/new/1002:1: p1 order 1: rejected not_yet\n".into()));
    assert_eq!(mails(&mailbox), ["cur/1001:2,S", "new/1002"]);
}

#[test]
fn pm_53_mails_for_another_match_and_from_strangers_stay_as_they_are() {
    let mut other = begun();
    other.save_orders("order.txt", &[(P1, &["switch"])]);
    let mailbox = begun();
    deliver(&mailbox, "1001", "ann@example.org", &other.sandbox.read("order.txt"));
    deliver(&mailbox, "1002", "dan@example.org", "Buy now!\n");
    mailbox.sandbox.write("post/new/1003", " ".repeat((1 << 20) + 1));
    let stranger =
        "post/new/1002: no paper in it; `addresses` does not have its sender, so it gets no answer\n";
    let long = "post/new/1003: no paper in it; it is longer than 1 MiB, so it was not read\n";
    assert_eq!(take(&mailbox, ""), (1, format!("{stranger}{long}")));
    assert_eq!(mails(&mailbox), ["new/1001", "new/1002", "new/1003"]);
    let none = mailbox.sandbox.run("mail take duel --maildir fixtures --key host.key");
    let error = String::from_utf8(none.stderr).unwrap();
    assert!(error.contains("`fixtures` is no Maildir: it has no folders `new` and `cur`"), "{error}");
}

#[test]
fn pm_52_addresses_are_made_by_open_and_checked() {
    let mailbox = Mailbox::new(TERMS);
    let open = |options: &str| mailbox.sandbox.run(&open_line("cycletap", "ford.toml", options));
    for (options, why) in [
        ("--to ann@example.org", "expected a line such as `p1 = ann@example.org`, found `ann@example.org`"),
        ("--to p1=ann", "expected an address such as `ann@example.org`, found `ann`"),
        ("--to bank=ann@example.org", "expected `host` or a seat from `p1` to `p16`"),
        ("--to p3=ann@example.org", "`--to`: the match has 2 players, and no seat p3"),
        (
            "--to p1=ann@example.org --to p1=ben@example.org",
            "`--to`: expected one address of p1, found another",
        ),
    ] {
        let output = open(options);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && error.contains(why), "{options}: {error}");
        assert!(!Path::new(&mailbox.sandbox.path(".turnfold/addresses")).exists());
    }
    fs::create_dir(mailbox.sandbox.path(".turnfold")).ok();
    assert!(open("--to p2=ben@example.org --to host=games@example.org").status.success());
    assert_eq!(
        mailbox.sandbox.read(".turnfold/addresses"),
        "p2 = ben@example.org\nhost = games@example.org\n"
    );
    let letter = mailbox.sandbox.read(".turnfold/outbox/00000001-p2.eml");
    let route = "From: games@example.org\r\nReply-To: games@example.org\r\nTo: ben@example.org\r\nSubject: ";
    assert!(letter.starts_with(route), "{letter:.200}");
}

#[test]
fn pm_52_letters_to_a_seat_are_a_thread_and_keep_their_ids() {
    let mut mailbox = begun();
    mailbox.save_orders("orders.txt", &[(P1, &["tap 0,1", "switch"]), (P2, &["switch"])]);
    assert!(mailbox.take("orders.txt").status.success());
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    let outbox = mailbox.sandbox.path(".turnfold/outbox");
    let letters = || mailbox.letters().into_iter().filter(|name| name.contains("-p1"));
    let head = |name: String| {
        let letter = fs::read_to_string(outbox.join(&name)).unwrap();
        let head = letter.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
        let field = |name: &str| {
            let value = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            value.unwrap_or_default().to_owned()
        };
        (name, ["Message-ID", "In-Reply-To", "References", "Auto-Submitted"].map(field))
    };
    let before: Vec<_> = letters().map(head).collect();
    let ids: Vec<_> = before.iter().map(|(_, [id, ..])| id.as_str()).collect();
    let [invitation, join, first, second] = ids[..] else { panic!("{before:#?}") };
    assert!(invitation.ends_with(".00000001-p1@host.example>"), "{invitation}");
    let place = |at: usize| [before[at].1[1].as_str(), before[at].1[2].as_str()];
    let both = format!("{invitation} {first}");
    assert_eq!([0, 1, 2].map(place), [["", ""], [invitation, invitation], [invitation, invitation]]);
    assert_eq!(place(3), [first, both.as_str()]);
    assert!(join != second && before.iter().all(|(_, head)| head[3] == "auto-generated"));
    fs::remove_dir_all(&outbox).unwrap();
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    assert_eq!(letters().map(head).collect::<Vec<_>>(), before);
}

/// Returns the words of the newest letter to p1.
fn newest_letter(mailbox: &Mailbox) -> String {
    let mut files: Vec<_> = fs::read_dir(mailbox.sandbox.path(".turnfold/outbox"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("-p1-"))
        .collect();
    files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let letter = fs::read_to_string(files.last().unwrap()).unwrap();
    letter.split("application/octet-stream").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pm_65_a_mail_that_is_too_long_is_answered_once_and_not_looked_at_again() {
    let mailbox = begun();
    deliver(&mailbox, "1001", "ann@example.org", &"a picture\n".repeat(200_000));
    let (code, printed) = take(&mailbox, "");
    assert_eq!(
        (code, printed.as_str()),
        (1, "post/new/1001: no paper in it; it is longer than 1 MiB, so it was not read\n")
    );
    assert_eq!(mails(&mailbox), ["cur/1001:2,S"]);
    let letter = newest_letter(&mailbox);
    assert!(
        letter.contains("Subject: [duel] turn 1: your mail is too long")
            && letter.contains("it is longer than 1 MiB, so it was not read")
            && letter.contains("Please send the text alone"),
        "{letter}"
    );
    let letters = mailbox.letters();
    assert_eq!(take(&mailbox, ""), (0, String::new()));
    assert_eq!(mailbox.letters(), letters);
}

#[test]
fn pm_65_a_player_whose_outlook_hides_the_paper_learns_how_to_send_it() {
    let mailbox = begun();
    let mail = "From: ann@example.org\nMessage-ID: <r@example.net>\nMIME-Version: 1.0\n\
                Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nHello.\n--b\n\
                Content-Type: application/ms-tnef; name=\"winmail.dat\"\nContent-Transfer-Encoding: base64\n\
                Content-Disposition: attachment; filename=\"winmail.dat\"\n\neJ8+IgMHAQaQCAAEAAAAAAAB\n--b--\n";
    mailbox.sandbox.write("post/new/1001", mail);
    assert_eq!(take(&mailbox, ""), (1, "post/new/1001: no paper in it\n".into()));
    let letter = newest_letter(&mailbox);
    assert!(
        letter.contains("your mail is in a format that only Outlook reads")
            && letter.contains("an attachment named winmail.dat")
            && letter.contains("choose Format Text, then Plain Text"),
        "{letter}"
    );
}

#[test]
fn pm_66_a_run_takes_the_mails_of_a_maildir_first() {
    let mut mailbox = begun();
    mailbox.save_orders("p1.txt", &[(P1, &["tap 0,1", "switch"])]);
    mailbox.save_orders("p2.txt", &[(P2, &["switch"])]);
    deliver(&mailbox, "1001", "ann@example.org", &mailbox.sandbox.read("p1.txt"));
    deliver(&mailbox, "1002", "ben@example.org", &mailbox.sandbox.read("p2.txt"));
    deliver(&mailbox, "1003", "eve@example.org", "hello");
    let output = mailbox.run("02T12:00:00Z", "--maildir post --send true");
    let printed = String::from_utf8(output.stdout).unwrap();
    for expected in
        ["1001:1: p1 order 1: applied\n", "1002:1: p2 order 1: applied\n", "stood turn=2 ", "sent "]
    {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert_eq!(mails(&mailbox), ["cur/1001:2,S", "cur/1002:2,S", "new/1003"]);
    let missing = mailbox.run("02T12:00:00Z", "--maildir nowhere");
    assert!(String::from_utf8(missing.stderr).unwrap().contains("`nowhere` is no Maildir"));
}

#[test]
fn pm_66_a_watch_takes_the_mails_that_wait() {
    let terms = "hosted = []\nplain = [\"p1\", \"p2\"]\n";
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", terms, "");
    mailbox.join(&[P1, P2]);
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-01T12:00:00Z --roll 1 1 2 2");
    for folder in ["new", "cur", "tmp"] {
        fs::create_dir_all(mailbox.sandbox.path("post").join(folder)).unwrap();
    }
    // This paper ends the match, and with it the watch.
    let known = mailbox.known();
    let resign = mailbox.players.write(&known, P1, PaperContent::Resign, Unlike::default());
    mailbox.save("resign.txt", &[resign]);
    deliver(&mailbox, "1001", "ann@example.org", &mailbox.sandbox.read("resign.txt"));
    let ran = mailbox.sandbox.ok("mail run duel --key host.key --watch --maildir post");
    assert!(ran.contains("p1 resign ") && ran.contains(": applied"), "{ran}");
    assert_eq!(mails(&mailbox), ["cur/1001:2,S"]);
}
