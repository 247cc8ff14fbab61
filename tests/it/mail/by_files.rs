//! Players and host with only the real binary and files (PM-24, PM-28, PM-29).

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::reports::is_letter;
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::mailbox::opened;

const TERMS: &str =
    "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nspectators = 1\n";

/// Returns a match that two players have joined by mail, with the first turn open.
fn begun() -> Mailbox {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.ok("key new ann.key --name ann.example");
    mailbox.sandbox.ok("key new ben.key --name ben.example");
    mailbox.sandbox.ok(&turnfold_tests::mailbox::open_line("cycletap", "ford.toml", ""));
    mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@example.org\np2 = ben@example.org\n");
    for (seat, key) in [("p1", "ann.key"), ("p2", "ben.key")] {
        mailbox.save_bundle(&format!("00000001-{seat}.eml"), "invitation.bundle");
        let printed = mailbox
            .sandbox
            .ok(&format!("mail write join {seat} --from invitation.bundle --key {key} -o join.txt --force"));
        assert!(printed.contains("the host signs with host.example+"), "{printed}");
        mailbox.sandbox.ok(&format!("mail take duel join.txt --admit {seat} --key host.key"));
    }
    assert!(mailbox.run("01T18:00:00Z", "").status.success());
    mailbox
}

/// Writes an order of a seat from its newest letter, and lets the host take it.
fn order(mailbox: &Mailbox, seat: &str, key: &str, plays: &str) -> String {
    let is_report = |name: &&String| name.len() == "00000001-p1.eml".len() && name.contains(seat);
    let newest = mailbox.letters().iter().rfind(is_report).unwrap().clone();
    mailbox.save_bundle(&newest, "newest.bundle");
    let line = format!("mail write order {plays} --from newest.bundle --key {key} -o order.txt --force");
    mailbox.sandbox.ok(&line);
    mailbox.sandbox.ok("mail take duel order.txt --key host.key")
}

#[test]
fn pm_24_and_28_a_turn_with_the_players_verb() {
    let mailbox = begun();
    let waits = "duel waits for p1, p2 since 2026-12-01T18:00:00Z until 2026-12-04T18:00:00Z\n";
    let status = mailbox.sandbox.ok("mail status duel");
    assert!(status.starts_with(waits), "{status}");
    assert!(status.contains("p1  ann.example: asked"), "{status}");
    let printed = order(&mailbox, "p1", "ann.key", "\"tap 0,1\" switch");
    assert!(printed.starts_with("order.txt:1: p1 order 1: applied\n"), "{printed}");
    let status = mailbox.sandbox.ok("mail status duel");
    assert!(status.starts_with("duel waits for p2 since"), "{status}");
    order(&mailbox, "p2", "ben.key", "switch");
    assert!(mailbox.run("02T18:00:00Z", "").status.success());
    assert!(mailbox.sandbox.ok("log duel").contains("p1 tap 0,1"));
    let names = mailbox.letters();
    assert!(names.contains(&"spectators.bundle".to_owned()), "{names:?}");
}

#[test]
fn pm_34_letters_that_are_missing_are_written_again_as_they_were() {
    let mailbox = begun();
    order(&mailbox, "p1", "ann.key", "\"tap 0,1\" switch");
    order(&mailbox, "p2", "ben.key", "switch");
    assert!(mailbox.run("02T18:00:00Z", "").status.success());
    let outbox = mailbox.sandbox.path(".turnfold/outbox");
    // Invitations were written before the addresses were known.
    for name in ["00000001-p1.eml", "00000001-p2.eml"] {
        fs::remove_file(outbox.join(name)).unwrap();
    }
    assert!(mailbox.run("02T18:00:00Z", "").status.success());
    let read = |name: &String| (name.clone(), fs::read(outbox.join(name)).unwrap());
    let before: Vec<_> = mailbox.letters().iter().map(read).collect();
    let answers = before.iter().filter(|(name, _)| name.len() > "00000001-p1.eml".len() && is_letter(name));
    assert_eq!(answers.count(), 2, "two joins; reports are the receipts of orders");
    assert_eq!(
        mailbox.run("02T18:00:00Z", "").stdout,
        b"nothing is due: duel waits for p1, p2 since \
        2026-12-02T18:00:00Z until 2026-12-05T18:00:00Z\n"
    );
    for (name, bytes) in &before {
        fs::remove_file(outbox.join(name)).unwrap();
        let printed = String::from_utf8(mailbox.run("02T18:00:00Z", "").stdout).unwrap();
        assert_eq!(printed.contains(&format!("letter {name}\n")), is_letter(name), "{printed}");
        assert!(fs::read(outbox.join(name)).unwrap() == *bytes, "{name}");
    }
    fs::remove_dir_all(&outbox).unwrap();
    assert!(mailbox.run("02T18:00:00Z", "").status.success());
    assert!(mailbox.letters().iter().map(read).eq(before));
}

/// Runs with a command that sends letters. Returns the exit code, standard output and standard error.
fn send(mailbox: &Mailbox, command: &str) -> (i32, String, String) {
    let output = mailbox.run("01T18:00:00Z", &format!("--send \"{command}\""));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn pm_36_each_letter_is_sent_once_and_one_that_fails_stays_for_the_next_run() {
    let mailbox = begun();
    let unsent = || mailbox.letters().into_iter().filter(|name| is_letter(name)).collect::<Vec<_>>();
    let before = unsent();
    let refuse = "cat > mail; if grep -q 'ben@' mail; then exit 75; fi; cat mail >> sent.txt";
    let (code, printed, error) = send(&mailbox, refuse);
    assert_eq!(code, 1, "{printed}{error}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("sent ")).count(), 3, "{printed}");
    let first = "error: `00000001-p2.eml` was not sent (and 2 more): ";
    assert!(error.starts_with(first) && error.lines().count() <= 2, "{error}");
    assert_eq!(unsent(), before.iter().filter(|name| name.contains("-p2")).cloned().collect::<Vec<_>>());
    let sent = mailbox.sandbox.read("sent.txt");
    assert_eq!(
        sent.matches("To: ann@example.org\r\nSubject: ").count(),
        3,
        "also the invitation without `To:`"
    );
    let (code, printed, error) = send(&mailbox, "cat >> sent.txt");
    assert_eq!((code, printed.matches("sent ").count(), error.as_str()), (0, 3, ""), "{printed}");
    assert!(unsent().is_empty());
    let (code, printed, _) = send(&mailbox, "false");
    assert_eq!((code, printed.contains("letter ") || printed.contains("sent ")), (0, false), "{printed}");
    let sent = mailbox.sandbox.read("sent.txt");
    assert_eq!(sent.matches("To: ben@example.org\r\nSubject: ").count(), 3);
    assert_eq!(fs::read_dir(mailbox.sandbox.path(".turnfold/outbox/sent")).unwrap().count(), before.len());
}

#[test]
fn pm_36_a_run_killed_before_it_marks_a_letter_sends_only_that_letter_twice() {
    let mailbox = begun();
    let all = mailbox.letters().into_iter().filter(|name| is_letter(name)).count();
    let killed = mailbox.run("01T18:00:00Z", "--send \"cat >> sent.txt; kill -KILL $PPID\"");
    assert_eq!(killed.status.code(), None);
    assert_eq!(mailbox.sandbox.read("sent.txt").matches("Subject: ").count(), 1);
    assert_eq!(send(&mailbox, "cat >> sent.txt").0, 0);
    let sent = mailbox.sandbox.read("sent.txt");
    assert_eq!(sent.matches("Subject: ").count(), all + 1, "{sent}");
    let first = mailbox.sandbox.read(".turnfold/outbox/sent/00000001-p1.eml");
    assert_eq!(sent.matches(&first).count(), 2);
}

#[test]
fn pm_36_a_letter_without_an_address_waits_for_it() {
    let mailbox = begun();
    mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@example.org\n");
    fs::remove_file(mailbox.sandbox.path(".turnfold/outbox/00000005-p2.eml")).unwrap();
    let (code, _, error) = send(&mailbox, "cat >> sent.txt");
    assert_eq!(code, 1);
    assert!(error.contains("`addresses` has no line such as `p2 = ann@example.org`"), "{error}");
    mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@example.org\np2 = ben@example.org\n");
    assert_eq!(send(&mailbox, "cat >> sent.txt").0, 0);
}

#[test]
fn pm_29_addresses_and_keys_are_in_nothing_that_leaves_the_host() {
    let mailbox = begun();
    order(&mailbox, "p1", "ann.key", "\"tap 0,1\" switch");
    order(&mailbox, "p2", "ben.key", "switch");
    mailbox.run("02T18:00:00Z", "");
    let sandbox = &mailbox.sandbox;
    let mut secrets: Vec<Vec<u8>> = ["ann@example.org", "ben@example.org"].map(Into::into).into();
    for key in ["host.key", "ann.key", "ben.key"] {
        let key = sandbox.read(key);
        // `PRIVATE+KEY+NAME+ID+SEED`; base64 also uses the plus sign.
        let seed = key.trim_end().splitn(5, '+').nth(4).unwrap();
        secrets.push(seed.into());
        // The first byte is the type of the key.
        secrets.push(STANDARD.decode(seed).unwrap().split_off(1));
    }
    let check_no_secret = |what: &str, bytes: &[u8]| {
        for secret in &secrets {
            let is_there = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!is_there, "{what} contains `{}`", String::from_utf8_lossy(secret));
        }
    };
    for name in mailbox.letters() {
        let file = sandbox.read(&format!(".turnfold/outbox/{name}"));
        if !is_letter(&name) {
            check_no_secret(&name, file.as_bytes());
            continue;
        }
        let (text, bundle) = opened(&file);
        check_no_secret(&name, text.as_bytes());
        check_no_secret(&name, bundle.as_bytes());
        let to = file.lines().filter(|line| line.contains("@example.org")).count();
        assert!(to <= 1, "an address stands in `To:` alone");
        for line in bundle.lines().filter_map(|line| line.strip_prefix('+')) {
            check_no_secret(&name, &STANDARD.decode(line).unwrap_or_default());
        }
    }
    sandbox.ok("store backup store.backup");
    check_no_secret("the backup", &fs::read(sandbox.path("store.backup")).unwrap());
    for line in ["log duel --times", "log duel.desk", "mail status duel", "show duel.desk"] {
        check_no_secret(line, sandbox.ok(line).as_bytes());
    }
    assert!(Path::new(&sandbox.path(".turnfold/addresses")).exists());
}
