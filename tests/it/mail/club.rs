//! A club: several matches of one store with one Maildir and one mailer (PM-100 to PM-108).

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use turnfold_core::Seat;
use turnfold_core::paper::SeatKey;
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::players::key;
use turnfold_tests::sandbox::copy_folder;
use turnfold_tests::service::Running;

/// Terms for players without keys, whose default is to switch.
const TERMS: &str =
    "together = true\nplain = [\"p1\", \"p2\"]\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

/// A host with a Maildir `post`, and matches of players without keys.
pub(super) struct Club {
    pub(super) mailbox: Mailbox,
    /// The number of delivered mails.
    count: usize,
}

impl Club {
    pub(super) fn new(terms: &str) -> Self {
        let mailbox = Mailbox::new(&format!("{TERMS}{terms}"));
        for folder in ["new", "cur", "tmp"] {
            fs::create_dir_all(mailbox.sandbox.path("post").join(folder)).unwrap();
        }
        Self { mailbox, count: 0 }
    }

    /// Opens a match of two players with these addresses, and lets them join.
    pub(super) fn open(&mut self, name: &str, players: [&str; 2]) {
        let [one, two] = players;
        self.mailbox.sandbox.ok(&format!(
            "mail open {name} --rules cycletap --setup fixtures/cycletap/ford.toml --desk desk.toml --key host.key \
             --to p1={one}@example.org --to p2={two}@example.org --to host=games@example.org"
        ));
        for (seat, player) in [("p1", one), ("p2", two)] {
            self.answer(name, seat, player, &format!("join {player}"));
        }
        let joined = self.mailbox.sandbox.ok(&format!("mail take {name} --maildir post --key host.key"));
        assert_eq!(joined.matches(": applied").count(), 2, "{joined}");
    }

    /// Returns the folder of a match, which contains its outbox.
    fn folder(&self, name: &str) -> PathBuf {
        let host = self.mailbox.sandbox.path(".turnfold");
        let others = fs::read_dir(host.join("mail")).unwrap().map(|entry| entry.unwrap().path());
        let folders = others.filter(|path| path.is_dir()).chain([host.clone()]);
        let is_of = |folder: &PathBuf| {
            let letters = fs::read_dir(folder.join("outbox"))
                .unwrap()
                .chain(fs::read_dir(folder.join("outbox/sent")).into_iter().flatten());
            let mut texts = letters.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
            texts.any(|text| text.contains(&format!("Subject: [{name}]")))
        };
        folders.into_iter().find(is_of).unwrap()
    }

    /// Returns the newest letter of a match to a seat, sent or not, with only line feeds as line ends.
    pub(super) fn newest(&self, name: &str, seat: &str) -> String {
        let folder = self.folder(name).join("outbox");
        let mut found: Vec<_> = [folder.clone(), folder.join("sent")]
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().contains(&format!("-{seat}")))
            .map(|path| (path.file_name().unwrap().to_owned(), path))
            .collect();
        found.sort();
        fs::read_to_string(&found.last().unwrap().1).unwrap().replace('\r', "")
    }

    /// Returns the letter of a match whose subject has these words.
    fn letter_with(&self, name: &str, words: &str) -> String {
        let letters = fs::read_dir(self.folder(name).join("outbox")).unwrap();
        let texts = letters.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok());
        let subject = format!("Subject: [{name}] {words}");
        let mut texts = texts.map(|text| text.replace('\r', ""));
        texts.find(|text| text.contains(&subject)).unwrap()
    }

    pub(super) fn code(&self, name: &str, seat: &str) -> String {
        let letter = self.newest(name, seat);
        let code = letter.lines().find_map(|line| line.trim().strip_prefix("code "));
        code.unwrap_or_else(|| panic!("no code: {letter}")).to_owned()
    }

    /// Delivers a player's answer to the newest letter of a match.
    pub(super) fn answer(&mut self, name: &str, seat: &str, player: &str, lines: &str) {
        let code = self.code(name, seat);
        self.deliver(player, "", &format!("code {code}\n{lines}\n(end)\n"));
    }

    /// Delivers a mail.
    pub(super) fn deliver(&mut self, player: &str, headers: &str, text: &str) -> String {
        self.count += 1;
        let name = format!("{}.M1P{}.host", 1_700_000_000 + self.count, self.count);
        let mail = format!(
            "From: {player}@example.org\nTo: games@example.org\nMessage-ID: <{name}@example.net>\n{headers}\n{text}"
        );
        self.mailbox.sandbox.write(&format!("post/new/{name}"), mail);
        name
    }

    fn waits(&self, name: &str) -> bool {
        self.mailbox.sandbox.path("post/new").join(name).exists()
    }

    /// Runs a command that may fail. Returns its exit code and output.
    fn run(&self, line: &str) -> (i32, String) {
        let output = self.mailbox.sandbox.run(line);
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code().unwrap(), printed)
    }
}

#[test]
fn pm_100_one_take_and_one_run_serve_all_matches_of_a_store() {
    let mut club = Club::new("");
    club.open("alpha", ["ann", "ben"]);
    club.open("beta", ["ben", "cleo"]);
    let (code, ran) = club.run("mail run --key host.key --at 2025-01-06T18:00:00Z");
    assert!(code == 0 && ran.contains("alpha: stood turn=1") && ran.contains("beta: stood turn=1"), "{ran}");
    // A plain reply for `beta` stays if only `alpha` is taken.
    club.answer("beta", "p1", "ben", "switch");
    let (_, taken) = club.run("mail take alpha --maildir post --key host.key");
    assert!(taken.is_empty() && club.waits("1700000005.M1P5.host"), "{taken}");
    let thread = club.newest("beta", "p2");
    let id = thread.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap().to_owned();
    // Assigned by the letter it answers, by its subject, by its sender, or not at all.
    let by_thread = club.deliver("cleo", &format!("In-Reply-To: {id}\n"), "What now?\n");
    let by_subject = club.deliver("ben", "Subject: Re: [alpha] turn 1\n", "What now?\n");
    let by_sender = club.deliver("ann", "Subject: hello\n", "What now?\n");
    let other = format!("In-Reply-To: <{}.00000005-p1.0a1b2c3d@games.example>\n", "9".repeat(16));
    let of_other_host = club.deliver("ann", &other, "code 2222-3333-4444\nswitch\n");
    let of_stranger = club.deliver("eve", "", "Buy now!\n");
    let (_, taken) = club.run("mail take --maildir post --key host.key");
    for expected in [
        "1700000005.M1P5.host:2: beta p1 order 1: applied".replace(":2:", ":1:"),
        format!("{by_thread}: beta no paper in it"),
        format!("{by_subject}: alpha no paper in it"),
        format!("{by_sender}: alpha no paper in it"),
    ] {
        assert!(taken.contains(&expected), "{expected}: {taken}");
    }
    let waits =
        [&by_thread, &by_subject, &by_sender, &of_other_host, &of_stranger].map(|name| club.waits(name));
    assert_eq!(waits, [false, false, false, true, true], "{taken}");
    // A file is taken for the match that it names, whether or not the command names the match.
    club.mailbox.sandbox.write("order.txt", format!("code {}\nswitch\n", club.code("alpha", "p2")));
    let (_, taken) = club.run("mail take order.txt --key host.key");
    assert!(taken.contains("order.txt:1: alpha p2 order 1: applied"), "{taken}");
    let (code, taken) = club.run("mail take gamma order.txt --key host.key");
    assert!(code == 2 && taken.contains("gamma"), "{taken}");
    let (_, ran) = club.run("mail run --key host.key --at 2025-01-09T18:00:00Z");
    assert!(ran.contains("alpha: missed seat=p1") && ran.contains("beta: missed seat=p2"), "{ran}");
}

#[test]
fn pm_101_no_deadline_passes_while_its_letter_waits_unsent() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    club.run("mail run alpha --key host.key --at 2025-01-06T18:00:00Z --send true");
    for day in ["07T19", "08T19", "09T19"] {
        let (code, ran) = club.run(&format!("mail run --key host.key --at 2025-01-{day}:00:00Z --send true"));
        let is_first = day == "07T19";
        assert_eq!((code, ran.contains("missed seat=p1 misses=1")), (0, is_first), "{ran}");
        if is_first {
            break;
        }
    }
    // The mailer is down from here on. The letters of turn 2 were sent, those of turn 3 are not.
    for (at, missed) in [("08T20", 2), ("09T21", 0), ("10T21", 0), ("12T21", 0)] {
        let (code, ran) = club.run(&format!("mail run --key host.key --at 2025-01-{at}:00:00Z --send false"));
        assert!(code == 1 && ran.contains("was not sent"), "{ran}");
        assert_eq!(ran.matches("missed seat=").count(), missed, "{at}: {ran}");
    }
    let status = club.mailbox.sandbox.ok("mail status alpha");
    assert!(status.contains("turn 3") && !status.contains("gone"), "{status}");
    let (code, ran) = club.run("mail run --key host.key --at 2025-01-12T22:00:00Z --send \"cat >> sent\"");
    assert!(code == 0 && ran.contains("alpha: extended until=2025-01-13T22:00:00Z"), "{ran}");
    let (_, ran) = club.run("mail run --key host.key --at 2025-01-13T21:59:59Z --send \"cat >> sent\"");
    assert!(!ran.contains("missed"), "{ran}");
    let (_, ran) = club.run("mail run --key host.key --at 2025-01-13T22:00:00Z --send true");
    assert!(ran.contains("missed seat=p1 misses=3"), "{ran}");
}

/// A letter that waits for the host's own seal does not exist yet (PM-16).
#[test]
fn pm_101_a_deadline_passes_where_the_seat_of_the_host_keeps_the_letters_back() {
    let terms = "hosted = [\"p1\"]\nsealed = true\nhours = 24\n";
    let to = "--to p2=ben@example.org --to host=games@example.org";
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", terms, to);
    mailbox.join(&[Seat::P1, Seat::P2]);
    for (at, misses) in [("01T12:00:00Z", false), ("02T12:00:00Z", true)] {
        let ran = mailbox.run(at, "--send true");
        let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(printed.contains("missed seat=p1"), misses, "{printed}");
    }
}

/// Only a late letter of a turn moves the deadline, not any other late letter.
#[test]
fn pm_101_a_letter_of_another_kind_moves_no_deadline() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    let refuse = "mailer() { m=$(cat); case \"$m\" in *'To: ann@'*) return 1;; esac; }; mailer";
    club.mailbox.sandbox.write("mailer.sh", format!("{refuse}\n"));
    let run = |club: &Club, at: &str| {
        club.run(&format!(
            "mail run --key host.key --at 2025-01-{at}:00:00Z --maildir post --send \"sh mailer.sh\""
        ))
    };
    run(&club, "06T18");
    club.answer("alpha", "p2", "ben", "tap 9,9");
    let (code, ran) = run(&club, "07T16");
    assert!(code == 1 && ran.contains("sent ") && !ran.contains("extended"), "{ran}");
    let (code, ran) = club.run("mail run --key host.key --at 2025-01-07T17:00:00Z --send true");
    assert!(code == 0 && ran.contains("alpha: extended until=2025-01-08T17:00:00Z"), "{ran}");
}

#[test]
fn pm_101_after_a_mailer_was_down_the_newest_letter_of_a_seat_has_all_news() {
    let mut club = Club::new("hours = 24\npress_at_once = true\n");
    club.open("alpha", ["ann", "ben"]);
    club.run("mail run alpha --key host.key --at 2025-01-06T18:00:00Z --send true");
    for word in ["first", "second", "third"] {
        club.answer("alpha", "p1", "ann", &format!("press p2: {word}"));
        club.run("mail run --key host.key --at 2025-01-06T19:00:00Z --maildir post --send false");
    }
    let (code, ran) = club.run("mail run --key host.key --at 2025-01-06T20:00:00Z --send \"cat >> sent\"");
    assert_eq!((code, ran.matches("-p2.eml").count()), (0, 1), "{ran}");
    let sent = club.mailbox.sandbox.read("sent");
    for word in ["first", "second", "third"] {
        assert!(sent.contains(&format!("p1 wrote to you: {word}")), "{word}: {sent}");
    }
    let (code, ran) = club.run("mail run --key host.key --at 2025-01-06T21:00:00Z --send \"cat >> sent\"");
    assert!(code == 0 && !ran.contains("letter ") && !ran.contains("sent "), "{ran}");
}

#[test]
fn pm_102_after_a_restored_backup_an_answer_to_a_lost_letter_is_not_played() {
    let mut club = Club::new("");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z");
    let sandbox = |name: &str| club.mailbox.sandbox.path(name);
    copy_folder(&sandbox(".turnfold"), &sandbox("backup"));
    copy_folder(&sandbox("host.key.seen"), &sandbox("backup.seen"));
    let turn = |club: &mut Club, order: &str| {
        club.answer("alpha", "p1", "ann", order);
        club.answer("alpha", "p2", "ben", "switch");
        club.run("mail take --maildir post --key host.key");
        club.mailbox.sandbox.ok("mail run --key host.key --at 2025-01-07T18:00:00Z");
    };
    turn(&mut club, "tap 0,1\nswitch");
    let (lost, lost_code) = (club.newest("alpha", "p1"), club.code("alpha", "p1"));
    // The store is from yesterday, but the outbox is current.
    let outbox = club.mailbox.sandbox.path(".turnfold/outbox");
    copy_folder(&outbox, &club.mailbox.sandbox.path("outbox.now"));
    let history = club.mailbox.sandbox.read(".turnfold/outbox.desk");
    for (from, to) in
        [("backup", ".turnfold"), ("backup.seen", "host.key.seen"), ("outbox.now", ".turnfold/outbox")]
    {
        let to = club.mailbox.sandbox.path(to);
        fs::remove_dir_all(&to).unwrap();
        copy_folder(&club.mailbox.sandbox.path(from), &to);
    }
    club.mailbox.sandbox.write(".turnfold/outbox.desk", history);
    turn(&mut club, "tap 0,0\nswitch");
    let new = club.newest("alpha", "p1");
    let id = |letter: &str| letter.lines().find(|line| line.starts_with("Message-ID: ")).unwrap().to_owned();
    assert!(id(&lost) != id(&new) && lost_code != club.code("alpha", "p1"), "{new}");
    club.deliver("ann", "", &format!("code {lost_code}\ntap 0,1\nswitch\n(end)\n"));
    let (_, taken) = club.run("mail take --maildir post --key host.key");
    assert!(taken.contains("unknown_code") && !taken.contains("applied"), "{taken}");
}

#[test]
fn pm_103_a_signed_join_from_the_address_of_its_seat_needs_no_hand() {
    let mut club = Club::new("");
    club.mailbox.sandbox.ok(
        "mail open duel --rules cycletap --setup fixtures/cycletap/ford.toml --desk desk.toml --key host.key \
         --to p1=ann@example.org --to p2=ben@example.org",
    );
    let join = |club: &mut Club, seat| {
        let paper = club.mailbox.players.join(&club.mailbox.known(), seat);
        club.mailbox.save("join.txt", &[paper]);
        club.mailbox.sandbox.read("join.txt")
    };
    let paper = join(&mut club, Seat::P1);
    club.deliver("ben", "", &paper);
    let (_, taken) = club.run("mail take --maildir post --key host.key");
    assert!(taken.contains("duel p1 join 0: needs_admit p1"), "{taken}");
    club.deliver("Ann", "", &paper);
    let (_, taken) = club.run("mail take --maildir post --key host.key");
    assert!(taken.contains("duel p1 join 0: applied"), "{taken}");
    // An audit needs no policy file.
    let sandbox = &club.mailbox.sandbox;
    sandbox.ok("bundle duel duel.desk --key host.key -o whole.bundle");
    let audit = |options: &str| {
        let printed = sandbox.run(&format!("audit whole.bundle {options}")).stdout;
        let printed = String::from_utf8(printed).unwrap();
        printed.lines().find(|line| line.starts_with("signature")).unwrap().to_owned()
    };
    sandbox.write("host.vkey", key("host").verifier().to_string());
    for options in ["--host-key host.vkey".to_owned(), format!("--host-key {}", key("host").verifier())] {
        assert!(audit(&options).starts_with("signature    PASS        2 branches"), "{}", audit(&options));
    }
    let other = format!("--host-key {}", key("p1").verifier());
    assert!(!audit(&other).contains("PASS"), "{}", audit(&other));
}

#[test]
fn pm_104_a_service_takes_and_sends_the_mails_and_keeps_its_key_to_itself() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    let line = "serve --listen 127.0.0.1:0 --key host.key --maildir post --send";
    let words = line.split(' ').chain(["cat >> sent"]);
    let mut service = Running::start_by(club.mailbox.sandbox.command(words));
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        for look in 0.. {
            if is_so() {
                break;
            }
            assert!(look < 900, "{what}");
            sleep(Duration::from_millis(100));
        }
    };
    let sent = club.mailbox.sandbox.path("sent");
    let has_sent = |text: &str| fs::read_to_string(&sent).is_ok_and(|sent| sent.contains(text));
    wait_for("the letters of turn 1", &|| has_sent("turn 1: your order, please"));
    for (seat, player) in [("p1", "ann"), ("p2", "ben")] {
        club.answer("alpha", seat, player, "switch");
    }
    let stray = club.deliver("eve", "", "Buy now!\n");
    wait_for("the letters of turn 2", &|| has_sent("turn 2: your order, please"));
    // PM-107: once a day, even across restarts of the service.
    wait_for("the letter of the day", &|| has_sent("your matches by mail"));
    assert!(club.waits(&stray));
    // The other process waits a moment, and then names the holder.
    let (code, taken) = club.run("mail take --maildir post --key host.key");
    assert!(code != 0 && taken.contains(&format!("process {} uses this key", service.pid())), "{taken}");
    service.kill();
    let words = line.split(' ').chain(["cat >> sent"]);
    let mut service = Running::start_by(club.mailbox.sandbox.command(words));
    club.answer("alpha", "p1", "ann", "who");
    wait_for("the answer of the other process", &|| has_sent("your question"));
    assert_eq!(fs::read_to_string(&sent).unwrap().matches("Subject: your matches by mail").count(), 1);
    service.kill();
}

#[test]
fn pm_105_an_order_without_a_key_is_answered_at_once_and_by_status_again() {
    let mut club = Club::new("");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z");
    assert!(club.newest("alpha", "p2").contains("\nDate: "), "every letter has a date");
    club.answer("alpha", "p1", "ann", "tap 0,1\nswitch");
    club.run("mail take --maildir post --key host.key");
    let expected = |letter: &str| {
        let letter = letter.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in
            ["tap 0,1; switch.", "The game after your order", "Thu 9 Jan 2025, 18:00 UTC", "To change it"]
        {
            assert!(letter.contains(part), "{part}: {letter}");
        }
    };
    let receipt = club.newest("alpha", "p1-");
    assert!(
        receipt.contains("Subject: [alpha] your order 1: taken\n") && !receipt.contains("\nCc: "),
        "{receipt}"
    );
    expected(&receipt);
    // After a mail from another address, both addresses get the answer.
    let code = club.code("alpha", "p1");
    club.deliver("ann.phone", "", &format!("code {code}\nstatus\n(end)\n"));
    club.run("mail take --maildir post --key host.key");
    let status = club.letter_with("alpha", "your question");
    assert!(status.contains("To: ann@example.org\nCc: ann.phone@example.org\n"), "{status}");
    expected(&status);
}

#[test]
fn pm_113_a_mail_is_late_to_the_second_of_its_arrival_whenever_the_host_takes_it() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z");
    let received = |at: &str| {
        format!(
            "Received: from mx.example by host.example; Tue, 7 Jan 2025 {at} +0000\n\
             Received: from ann by mx.example; Mon, 6 Jan 2025 19:00:00 +0000\n"
        )
    };
    let [one, two] = ["p1", "p2"].map(|seat| club.code("alpha", seat));
    club.deliver("ben", &received("18:00:00"), &format!("code {two}\ntap 0,-1\nswitch\n(end)\n"));
    club.deliver("ann", &received("17:59:59"), &format!("code {one}\ntap 0,1\nswitch\n(end)\n"));
    // The host was away for a day.
    let (_, ran) = club.run("mail run alpha --maildir post --key host.key --at 2025-01-08T18:00:00Z");
    assert!(ran.contains("p1 order 1: applied") && !ran.contains("p2 order"), "{ran}");
    assert!(ran.contains("missed seat=p2") && ran.contains("carried seat=p1"), "{ran}");
    assert!(ran.contains("This code was for turn 1, and the match is at turn 2."), "{ran}");
    let log = club.mailbox.sandbox.ok("log alpha");
    assert!(log.contains("p1 tap 0,1") && !log.contains("p2 tap"), "{log}");
    assert!(fs::read_dir(club.mailbox.sandbox.path("post/new")).unwrap().next().is_none());
}

/// PM-101, PM-113: while the letter of the turn is unsent, the deadline does not pass, and a mail that came after it is
/// neither in time nor late.
#[test]
fn pm_113_a_mail_that_came_after_a_deadline_waits_until_that_has_passed_or_moved() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z");
    let code = club.code("alpha", "p2");
    let received = "Received: from mx.example by host.example; Tue, 7 Jan 2025 19:00:00 +0000\n";
    club.deliver("ben", received, &format!("code {code}\ntap 0,-1\nswitch\n(end)\n"));
    let run = |club: &mut Club, send: &str, hour: &str| {
        let line = format!("mail run alpha --maildir post --key host.key --send {send} --at 2025-01-08T");
        club.run(&format!("{line}{hour}:00:00Z"))
    };
    let (code, ran) = run(&mut club, "false", "18");
    assert!(code == 1 && !ran.contains("p2 order") && !ran.contains("missed"), "{ran}");
    assert_eq!(fs::read_dir(club.mailbox.sandbox.path("post/new")).unwrap().count(), 1);
    run(&mut club, "true", "19");
    let (code, ran) = run(&mut club, "true", "20");
    let log = club.mailbox.sandbox.ok("log alpha.desk");
    assert!(code == 0 && log.contains("ordered seat=p2") && !log.contains("missed"), "{ran}{log}");
}

#[test]
fn pm_112_letters_and_days_keep_the_wall_clock_of_a_named_zone() {
    let mut club =
        Club::new("absences = 30\nhurry = false\nzones = [\"Europe/Berlin\", \"America/New_York\"]\n");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-03-27T17:00:00Z");
    // The turn of 72 hours ends after the change to daylight saving time in Berlin.
    let until = |club: &Club, seat: &str| {
        let letter = club.newest("alpha", seat);
        let text = letter.split_whitespace().collect::<Vec<_>>().join(" ");
        text.split("until ").nth(1).unwrap().split(" Since").next().unwrap().to_owned()
    };
    assert_eq!(until(&club, "p1"), "Sun 30 Mar 2025, 19:00 CEST.");
    assert_eq!(until(&club, "p2"), "Sun 30 Mar 2025, 13:00 EDT.");
    club.answer("alpha", "p1", "ann", "absent until 2025-03-30 18:00");
    club.answer("alpha", "p2", "ben", "offer extend 2025-04-10 09:30");
    let (code, taken) = club.run("mail take --maildir post --key host.key");
    assert_eq!(code, 0, "{taken}");
    let log = club.mailbox.sandbox.ok("log alpha.desk");
    assert!(log.contains("absent seat=p1 number=1 until=2025-03-30T16:00:00Z"), "{log}");
    assert!(log.contains("extend 2025-04-10T13:30:00Z"), "{log}");
    // A time zone that does not exist is refused before the match is created.
    let mailbox = Mailbox::new("zones = [\"Europe/Berlim\"]\n");
    let line = turnfold_tests::mailbox::open_line("cycletap", "ford.toml", "");
    let refused = String::from_utf8(mailbox.sandbox.run(&line).stderr).unwrap();
    assert!(refused.contains("zones[0]: expected a time zone such as `Europe/Berlin`"), "{refused}");
}

#[test]
fn pm_105_every_plain_answer_has_a_receipt_at_once() {
    let mut club = Club::new("hurry = false\nabsences = 30\n");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z --send true");
    let receipt = |club: &mut Club, player: &str, seat: &str, lines: &str, parts: &[&str]| {
        let code = club.code("alpha", seat);
        club.deliver(player, "", &format!("code {code}\n{lines}\n(end)\n"));
        let (status, taken) = club.run("mail take --maildir post --key host.key");
        assert_eq!(status, 0, "{lines}: {taken}");
        let name = taken
            .lines()
            .filter_map(|line| line.strip_prefix("letter "))
            .find(|name| name.contains(&format!("-{seat}-")));
        let letter = club.mailbox.sandbox.read(&format!(".turnfold/outbox/{}", name.expect(lines)));
        let letter = letter.replace('\r', "");
        let text = letter.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(text.contains(part), "{lines}: {part}: {text}");
        }
        letter
    };
    for (player, seat, lines, parts) in [
        (
            "ann",
            "p1",
            "if turn 2: switch",
            [
                "your order for later turns 1: taken",
                "if turn 2: switch",
                "Each stands until its turn begins",
                "`if none` takes them back",
            ]
            .as_slice(),
        ),
        ("ann", "p1", "if none", &["You have no orders for later turns now."]),
        ("ann", "p1", "if turn 3: switch", &["if turn 3: switch"]),
        (
            "ann",
            "p1",
            "absent until 2025-01-30",
            &[
                "your absence",
                "You have announced an absence until",
                "You then have the hours of a turn.",
                "6 more days",
            ],
        ),
        ("ann", "p1", "press p2: Hello", &["your message", "You wrote to p2: Hello", "cannot be taken back"]),
        ("ann", "p1", "draw", &["your offer", "You made offer 1: end draw.", "It stands until the others"]),
        ("ben", "p2", "decline 1", &["your answer", "You declined offer 1."]),
        ("ben", "p2", "offer extend 2025-02-15T00:00:00Z", &["You made offer 2: extend"]),
        ("ann", "p1", "switch", &["your order", "The game after your order", "To change it"]),
    ] {
        let letter = receipt(&mut club, player, seat, lines, parts);
        assert!(!letter.contains("\nCc: "), "{lines}: {letter}");
    }
    // After a mail from another address, both addresses get the receipt, and `status` shows everything again.
    let letter = receipt(&mut club, "ann.phone", "p1", "press all: from afar", &["You wrote to all"]);
    assert!(letter.contains("\nTo: ann@example.org\nCc: ann.phone@example.org\n"), "{letter}");
    receipt(
        &mut club,
        "ann",
        "p1",
        "status",
        &[
            "Your order for this turn: switch.",
            "To change it",
            "if turn 3: switch",
            "You are absent until",
            "offer 2, by p2: extend",
        ],
    );
    receipt(&mut club, "ben", "p2", "resign", &["your resignation", "It cannot be taken back."]);
}

#[test]
fn pm_106_the_letters_of_a_new_player_wait_for_an_address_and_show_no_words_from_before() {
    let mut club = Club::new("host_replaces = true\nhurry = false\n");
    club.open("alpha", ["ann", "ben"]);
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T18:00:00Z --send true");
    club.answer("alpha", "p1", "ann", "press p2: between us");
    club.answer("alpha", "p2", "ben", "switch");
    club.run("mail take --maildir post --key host.key");
    club.mailbox.sandbox.ok("mail run alpha --key host.key --at 2025-01-06T19:00:00Z --send true");
    let key = SeatKey::of(&key("p2")).unwrap();
    club.mailbox.sandbox.ok(&format!(
        "play alpha.desk \"replace p2 {} {} Ben has no time\"",
        key.name(),
        key.to_base64()
    ));
    let (code, ran) = club.run("mail run alpha --key host.key --at 2025-01-06T20:00:00Z --send true");
    assert!(code == 1 && ran.contains("`addresses` has no line such as `p2 = ann@example.org`"), "{ran}");
    let letter = club.newest("alpha", "p2");
    let text =
        letter.split("application/octet-stream").next().unwrap().replace("\n  ", " ").replace('\n', " ");
    assert!(!text.contains("ben@example.org") && !text.contains("between us"), "{text}");
    assert!(
        text.contains("The player who had your seat before you ordered for this turn: switch."),
        "{text}"
    );
    let addresses = club.mailbox.sandbox.read(".turnfold/addresses");
    assert!(addresses.contains("# former player of p2, replaced by record"), "{addresses}");
    club.mailbox.sandbox.write(".turnfold/addresses", format!("{addresses}p2 = dan@example.org\n"));
    let (code, ran) =
        club.run("mail run alpha --key host.key --at 2025-01-06T21:00:00Z --send \"cat >> sent\"");
    assert_eq!(code, 0, "{ran}");
    let sent = club.mailbox.sandbox.read("sent");
    assert!(sent.contains("To: dan@example.org") && !sent.contains("To: ben@example.org"), "{sent}");
}

#[test]
fn pm_110_the_letters_of_a_new_player_go_to_the_address_that_replace_is_given() {
    let mut club = Club::new("host_replaces = true\nhurry = false\n");
    club.open("alpha", ["ann", "ben"]);
    let run_at = |club: &Club, hour: &str| {
        let line = "mail run alpha --key host.key --send \"cat >> sent\" --at 2025-01-06T";
        club.mailbox.sandbox.ok(&format!("{line}{hour}:00:00Z"));
        let sent = club.mailbox.sandbox.read("sent").replace('\r', "");
        std::fs::remove_file(club.mailbox.sandbox.path("sent")).unwrap();
        sent
    };
    run_at(&club, "18");
    club.answer("alpha", "p1", "ann", "press p2: between us");
    club.answer("alpha", "p2", "ben", "switch");
    club.run("mail take --maildir post --key host.key");
    // The receipt of the order is unsent when the seat gets another player.
    let (code, replaced) = club
        .run("mail replace alpha p2 \"Dan Dahl\" \"Ben has no time\" --to dan@example.org --key host.key");
    assert!(code == 0 && replaced.contains("replaced seat=p2 name=Dan Dahl"), "{replaced}");
    assert!(replaced.contains("letter ") && replaced.contains("-p2.eml"), "{replaced}");
    let sent = run_at(&club, "20");
    let to_dan: Vec<_> =
        sent.split("\nFrom: ").filter(|letter| letter.contains("\nTo: dan@example.org\n")).collect();
    let [letter] = to_dan.as_slice() else { panic!("{sent}") };
    let letter = letter.replace("=\n", "").replace("\n  ", " ").replace('\n', " ");
    let inherited = "The player who had your seat before you ordered for this turn: switch.";
    assert!(letter.contains(inherited), "{letter}");
    assert!(letter.contains("The host writes: Ben has no time"), "{letter}");
    assert!(!letter.contains("between us"), "{letter}");
    // Letters written to Ben are sent to Ben.
    let to_ben = sent.split("\nFrom: ").find(|letter| letter.contains("\nTo: ben@example.org\n"));
    assert!(to_ben.is_some_and(|letter| letter.contains("your order 1: taken")), "{sent}");
    let addresses = club.mailbox.sandbox.read(".turnfold/addresses");
    assert!(addresses.contains("p2 = dan@example.org\n"), "{addresses}");
    assert!(addresses.contains("replaced by record"), "{addresses}");
    // The first answer of the new player counts, from the new address.
    club.answer("alpha", "p2", "dan", "tap 0,1\nswitch");
    let (_, taken) = club.run("mail take --maildir post --key host.key");
    assert!(taken.contains("p2 order 1: applied"), "{taken}");
    // A player who lost the key keeps the address.
    club.mailbox.save_key("p2");
    let shown = club.mailbox.sandbox.ok("key show p2.key");
    let shown = shown.trim();
    let (code, replaced) =
        club.run(&format!("mail replace alpha p2 \"{shown}\" \"a key\" --to dan@example.org --key host.key"));
    assert!(code == 0, "{replaced}");
    assert!(run_at(&club, "21").contains("\nTo: dan@example.org\n"));
    let (code, replaced) = club.run("mail replace alpha p2 \"J\u{fc}rgen Gro\u{df}\" back --key host.key");
    assert!(code == 0 && replaced.contains("replaced seat=p2 name=J\u{fc}rgen Gro\u{df}"), "{replaced}");
    // Refusals name the cause.
    for (words, why) in [
        ("p2 \"Dan Dahl\" \"again\"", "p2 was not given away"),
        ("p3 \"Someone\" \"why not\"", "p3 was not given away"),
        ("p2 \"Eve\" \"b\u{fc}se\"", "expected"),
        ("p2 \"Eve\" \"fine\" --to eve", "expected an address"),
    ] {
        let (code, refused) = club.run(&format!("mail replace alpha {words} --key host.key"));
        assert!(code != 0 && refused.contains(why), "{words}: {refused}");
    }
}

#[test]
fn pm_106_what_was_written_to_a_player_without_an_address_goes_to_no_one_else() {
    let mailbox = Mailbox::opened(
        "cycletap",
        "ford.toml",
        &format!("{TERMS}host_replaces = true\nhurry = false\n"),
        "--to p1=ann@example.org",
    );
    let code = |seat: &str| {
        let of_seat = mailbox.letters().into_iter().rfind(|name| name.ends_with(&format!("-{seat}.eml")));
        let text = mailbox.sandbox.read(&format!(".turnfold/outbox/{}", of_seat.unwrap()));
        text.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned()
    };
    let answer = |seat: &str, lines: &str| {
        mailbox.sandbox.write("reply.txt", format!("code {}\n{lines}\n", code(seat)));
        mailbox.sandbox.ok("mail take duel reply.txt --key host.key");
    };
    answer("p1", "join Ann");
    answer("p2", "join Ben");
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    answer("p2", "tap 0,1\nswitch\npress p1: between us");
    let replace = "mail replace duel p2 Cleo \"Ben has left\" --to cleo@example.org --key host.key";
    mailbox.sandbox.ok(replace);
    assert!(mailbox.run("01T13:00:00Z", "--send \"cat >> sent\"").status.success());
    let sent = mailbox.sandbox.read("sent");
    assert!(sent.contains("To: cleo@example.org") && !sent.contains("between us"), "{sent}");
    assert!(!sent.contains("Dear Ben"), "{sent}");
}

#[test]
fn pm_107_the_host_reads_whose_mail_bounces_and_who_waits_to_be_admitted() {
    let mut club = Club::new("");
    club.mailbox.sandbox.ok(
        "mail open duel --rules cycletap --setup fixtures/cycletap/ford.toml --desk desk.toml --key host.key \
         --to p1=ann@example.org --to p2=ben@example.org --to host=games@example.org",
    );
    let paper = club.mailbox.players.join(&club.mailbox.known(), Seat::P1);
    club.mailbox.save("join.txt", &[paper]);
    let paper = club.mailbox.sandbox.read("join.txt");
    club.deliver("eve", "", &paper);
    let letter = club.newest("duel", "p2");
    let id = letter.lines().find(|line| line.starts_with("Message-ID: ")).unwrap();
    let bounce = format!("550 5.1.1 user unknown\n\n{id}\nTo: ben@example.org\n");
    club.deliver("MAILER-DAEMON", "Subject: Undelivered Mail Returned to Sender\n", &bounce);
    let day = |day: u8| {
        format!("mail run --key host.key --maildir post --at 2025-01-0{day}T18:00:00Z --send \"cat >> sent\"")
    };
    let facts =
        ["p2's letter 1 bounced: user unknown", "p1.example <eve@example.org> waits to be admitted to p1"];
    let (_, ran) = club.run(&day(6));
    assert!(ran.contains("needs_admit p1") && ran.contains("letter 20250106-host.eml"), "{ran}");
    let summary = |club: &Club, day: u8| {
        let sent = club.mailbox.sandbox.read("sent").replace('\r', "");
        let letters = sent.split("From: ").filter(|letter| letter.contains("your matches by mail"));
        let of_day = letters.filter(|letter| letter.contains(&format!("{day} Jan 2025")));
        of_day.map(|letter| letter.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let [letter] = &summary(&club, 6)[..] else { panic!("one letter") };
    let (_, status) = club.run("mail status duel");
    for fact in facts {
        assert!(letter.contains(fact) && status.contains(fact), "{fact}: {letter} {status}");
    }
    // An admitted player is not listed as waiting, and a bounce is reported on one day only.
    club.run("mail take --maildir post --key host.key --admit p1");
    club.run(&day(7));
    club.run(&day(7));
    let [letter] = &summary(&club, 7)[..] else { panic!("one letter") };
    let (_, status) = club.run("mail status duel");
    assert!(!letter.contains("bounced"), "{letter}");
    assert!(!letter.contains("to be admitted") && !status.contains("to be admitted"), "{letter} {status}");
}

#[test]
fn pm_107_and_108_the_host_gets_a_letter_a_day_and_writes_to_all() {
    let mut club = Club::new("hours = 24\n");
    club.open("alpha", ["ann", "ben"]);
    club.open("beta", ["cleo", "dan"]);
    for day in ["06T18", "06T20", "07T18"] {
        club.run(&format!("mail run --key host.key --at 2025-01-{day}:00:00Z --send \"cat >> sent\""));
    }
    let (_, ran) = club.run("mail run --key host.key --at 2025-01-07T19:00:00Z --send \"cat >> sent\"");
    assert!(ran.contains("letter 20250107-host.eml") && ran.contains("sent 20250107-host.eml"), "{ran}");
    let sent = club.mailbox.sandbox.read("sent").replace('\r', "");
    let letter =
        sent.split("From: ").filter(|letter| letter.contains("your matches by mail")).last().unwrap();
    for part in
        ["To: games@example.org\n", "your matches by mail, Tue 7 Jan 2025", "alpha\n-----", "beta\n----"]
    {
        assert!(letter.contains(part), "{part}: {letter}");
    }
    assert_eq!(letter.matches("missed the deadline").count(), 4, "{letter}");
    let (code, wrote) = club.run("mail broadcast \"No turns at Christmas\" --key host.key");
    assert!(code == 0 && wrote.matches("letter ").count() == 4, "{wrote}");
    assert!(club.letter_with("beta", "words of the host").contains("No turns at Christmas"));
}
