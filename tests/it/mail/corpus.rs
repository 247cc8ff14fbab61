//! Mails as mail programs write them, and what is taken from each (PM-50, PM-51).
//!
//! `fixtures/mails` has a match with an open turn, `duel.bundle`, and mails with orders for it, created here from
//! papers with valid signatures. Its folder `plain` has replies in plain words. Its folder `answers` has replies that
//! quote a letter, and automatic mails. `SNAPSHOTS=overwrite` rewrites all of them, and `TAKEN.txt`, which states what
//! is taken from each.

mod mime;
mod parcels;
mod plain;
mod programs;
mod replies;
mod unreadable;

use std::path::PathBuf;
use std::{env, fs};

use turnfold_core::Seat::{self, P1, P2};
use turnfold_mail::MailedPaper;
use turnfold_proof::bundle::{StoreRecords, write_bundle};
use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::sandbox::workspace;

use super::post::{Post, day, fixture};
pub(super) use mime::Written;

/// The name of a mail, and a function that returns the mail with a paper.
pub(super) type Shape = (&'static str, fn(&Written) -> Vec<u8>);

const FOLDER: &str = "fixtures/mails";
const TERMS: &str =
    "together = true\nhurry = false\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\nhosted = []\n";
const BREAKS_LINES: [&str; 2] = ["thunderbird-flowed-at-60", "thunderbird-delsp"];
const ADDRESSES: &str = "p1 = ann@example.org\np2 = ben@example.org\nhost = games@example.org\n";

/// Returns the shapes for a reply in plain words: all that have it in the text and do not break its short lines.
pub(super) fn plain_shapes() -> Vec<&'static Shape> {
    programs::SHAPES.iter().filter(|(name, _)| !BREAKS_LINES.contains(name)).collect()
}

fn folder() -> PathBuf {
    workspace().join(FOLDER)
}

fn is_overwritten() -> bool {
    env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite")
}

fn shapes() -> impl Iterator<Item = (String, &'static Shape)> {
    let all = programs::SHAPES.iter().chain(parcels::SHAPES).chain(unreadable::SHAPES);
    (1..).zip(all).map(|(number, shape): (usize, _)| (format!("{number:02}-{}.eml", shape.0), shape))
}

/// Requires a file of the corpus to have these bytes, or writes it.
fn check(name: &str, bytes: &[u8]) {
    let path = folder().join(name);
    if is_overwritten() {
        fs::write(&path, bytes).unwrap();
    }
    let found = fs::read(&path).unwrap_or_default();
    assert!(found == bytes, "{name} differs from what the test makes; run it with SNAPSHOTS=overwrite");
}

#[test]
fn pm_50_the_corpus_is_made_from_papers_whose_signatures_hold() {
    let mails = || {
        fs::read_dir(folder())
            .unwrap()
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "eml"))
    };
    if is_overwritten() {
        mails().for_each(|path| fs::remove_file(path).unwrap());
        let post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), TERMS);
        post.run(day(1), &[]);
        let mut bundle = Vec::new();
        write_bundle(&mut bundle, &StoreRecords::of_all(&post.store).unwrap(), Vec::new()).unwrap();
        check("duel.bundle", &bundle);
    }
    let mut mailbox = imported();
    let known = mailbox.known();
    for (index, (file, (_, shape))) in shapes().enumerate() {
        let (seat, from, name) =
            if index % 2 == 0 { (P1, "ann@example.org", "Ann") } else { (P2, "ben@example.org", "Ben") };
        let signed = mailbox.players.order(&known, seat, &["tap 0,1", "tap 0,0", "switch"]);
        let paper = MailedPaper { signed, name: mailbox.players.key(seat).name().clone() }.write().unwrap();
        check(&file, &shape(&Written { paper, from, name, index: index + 1 }));
    }
    assert_eq!(mails().count(), shapes().count());
}

/// Imports the match of the corpus.
fn imported() -> Mailbox {
    let mailbox = Mailbox::new(TERMS);
    mailbox.sandbox.write("duel.bundle", fs::read(folder().join("duel.bundle")).unwrap());
    mailbox.sandbox.ok("import duel.bundle");
    mailbox.sandbox.write(".turnfold/addresses", ADDRESSES);
    mailbox
}

/// Imports the match of the corpus, and writes its mails.
fn mailbox() -> Mailbox {
    let mailbox = imported();
    for (name, _) in shapes() {
        mailbox.sandbox.write(&name, fs::read(folder().join(&name)).unwrap());
    }
    mailbox
}

#[test]
fn pm_50_the_real_binary_reads_each_mail_of_the_corpus() {
    let mailbox = mailbox();
    let files: Vec<_> = shapes().map(|(name, _)| name).collect();
    let output = mailbox.take(&files.join(" "));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]), "{stdout}");
    let taken: String =
        stdout.lines().filter(|line| !line.starts_with("letter ")).flat_map(|line| [line, "\n"]).collect();
    let subject = |letter: &str| {
        let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
        letter.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap().to_owned()
    };
    let letters =
        mailbox.letters().into_iter().filter(|name| super::reports::is_letter(name) && name.len() > 15);
    let mut subjects: Vec<_> =
        letters.map(|letter| subject(&letter)).filter(|subject| !subject.ends_with(": taken")).collect();
    subjects.sort();
    let taken = format!(
        "{taken}\nThe subjects of the letters to senders whose paper was not taken:\n{}\n",
        subjects.join("\n")
    );
    check("TAKEN.txt", taken.as_bytes());
    let applied = taken.lines().filter(|line| line.ends_with(": applied")).count();
    assert_eq!(
        applied,
        programs::SHAPES.len() + parcels::SHAPES.len(),
        "each paper of a mail with one is taken once"
    );
    assert!(applied >= 60, "{applied}");
}

#[test]
fn pm_50_no_mail_that_was_cut_or_damaged_stops_the_program() {
    for (at, (name, _)) in shapes().enumerate() {
        let whole = fs::read(folder().join(&name)).unwrap_or_default();
        for step in 1..40 {
            let cut = whole.len() * step / 40;
            let mut flipped = whole.clone();
            if let Some(byte) = flipped.get_mut(cut) {
                *byte ^= u8::try_from(1 + (at + step) % 255).unwrap();
            }
            for bytes in [&whole[..cut], &whole[cut..], &flipped] {
                let papers = turnfold_mail::ReceivedMail::read(bytes).papers();
                assert!(papers.len() <= 2, "{name}: {papers:?}");
            }
        }
    }
}

#[test]
fn pm_51_a_mail_without_a_paper_is_answered_once_in_a_turn() {
    let mailbox = mailbox();
    let name = |shape: &str| shapes().find(|(name, _)| name.contains(shape)).unwrap().0;
    let words = name("only-words.");
    let take = |file: &str| {
        let output = mailbox.take(file);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    };
    let first = take(&words);
    let letter = first.lines().find_map(|line| line.strip_prefix("letter ")).unwrap();
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
    let seat = if letter.contains("To: ann@") { Seat::P1 } else { Seat::P2 };
    assert!(letter.contains("\r\nSubject: [duel] turn 1: no paper in your mail\r\n"), "{letter}");
    assert!(
        letter.contains("\r\nIn-Reply-To: <mail-") && letter.contains("From: games@example.org\r\n"),
        "{letter}"
    );
    assert!(letter.contains(&format!("Dear {}.example,", seat.name())), "{letter}");
    assert_eq!(
        take(&words),
        format!("{words}: no paper in it\n"),
        "the same mail again is not answered again"
    );
    let text = mailbox.sandbox.read(&words);
    let count = (0..20).filter(|number| {
        mailbox.sandbox.write("again.eml", text.replace("I move", &format!("{number} I move")));
        take("again.eml").contains("letter ")
    });
    assert_eq!(count.count(), 0, "another mail that says nothing is not answered either");
    let file = name("from-a-stranger");
    let why = "`addresses` does not have its sender, so it gets no answer";
    assert_eq!(take(&file), format!("{file}: no paper in it; {why}\n"));
    for (shape, noted) in [
        ("a-notice-of-absence", "mail program sent a notice of absence"),
        ("a-bounce", "s letter bounced: user unknown"),
    ] {
        let file = name(shape);
        let printed = mailbox.sandbox.ok(&format!("mail take duel {file} --key host.key"));
        assert!(printed.starts_with(&format!("{file}: noted: p")) && printed.contains(noted), "{printed}");
        assert_eq!(printed.lines().count(), 1, "{printed}");
    }
}
