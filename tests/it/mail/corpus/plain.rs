//! Replies in plain words with the code of a letter, as mail programs send them (PM-43, PM-50).

use std::fs;

use turnfold_tests::mailbox::{Mailbox, open_line};

use super::{ADDRESSES, Written, check, folder, is_overwritten, plain_shapes};

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\nhurry = false\n";
const LINES: &str = "tap 0,1\ntap 0,0\nswitch\n";
pub(super) const SEATS: [(&str, &str, &str); 2] =
    [("p1", "ann@example.org", "Ann"), ("p2", "ben@example.org", "Ben")];

fn names() -> impl Iterator<Item = String> {
    (1..).zip(plain_shapes()).map(|(number, (name, _)): (usize, _)| format!("plain/{number:02}-{name}.eml"))
}

/// Returns the code in the newest letter to a seat.
pub(super) fn code(mailbox: &Mailbox, seat: &str) -> String {
    let newest = mailbox.letters().into_iter().rfind(|name| name.contains(&format!("-{seat}"))).unwrap();
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{newest}"));
    letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned()
}

/// Creates the match of the corpus, with an open turn.
fn make() -> Vec<u8> {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.ok(&open_line("cycletap", "ford.toml", ""));
    for (seat, _, name) in SEATS {
        let reply = format!("code {}\njoin {name}\n", code(&mailbox, seat));
        mailbox.sandbox.write("join.txt", reply);
        mailbox.sandbox.ok("mail take duel join.txt --key host.key");
    }
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox.sandbox.ok("bundle duel duel.desk -o duel.bundle");
    mailbox.sandbox.read("duel.bundle").into_bytes()
}

/// Imports the match of the corpus, with its letters.
pub(super) fn imported() -> Mailbox {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.write("duel.bundle", fs::read(folder().join("plain/duel.bundle")).unwrap());
    mailbox.sandbox.ok("import duel.bundle");
    mailbox.sandbox.write(".turnfold/addresses", ADDRESSES);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox
}

#[test]
fn pm_43_the_corpus_of_replies_has_the_codes_of_its_letters() {
    if is_overwritten() {
        let _ = fs::remove_dir_all(folder().join("plain"));
        fs::create_dir(folder().join("plain")).unwrap();
        check("plain/duel.bundle", &make());
    }
    let mailbox = imported();
    for (index, (name, (_, shape))) in names().zip(plain_shapes()).enumerate() {
        let (seat, from, sender) = SEATS[index % 2];
        let paper = format!("code {}\n{LINES}", code(&mailbox, seat));
        check(&name, &shape(&Written { paper, from, name: sender, index: index + 1 }));
    }
}

#[test]
fn pm_43_the_real_binary_reads_each_reply_of_the_corpus() {
    let mailbox = imported();
    fs::create_dir(mailbox.sandbox.path("plain")).unwrap();
    for name in names() {
        mailbox.sandbox.write(&name, fs::read(folder().join(&name)).unwrap());
    }
    let output = mailbox.take(&names().collect::<Vec<_>>().join(" "));
    let printed = String::from_utf8(output.stdout).unwrap();
    let taken: String =
        printed.lines().filter(|line| !line.starts_with("letter ")).flat_map(|line| [line, "\n"]).collect();
    check("plain/TAKEN.txt", taken.as_bytes());
    let applied = taken.lines().filter(|line| line.ends_with(": applied")).count();
    assert_eq!((output.status.code(), applied), (Some(0), plain_shapes().len()), "{taken}");
}
