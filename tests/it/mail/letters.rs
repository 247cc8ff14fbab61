//! Letters as a mail program reads them, and the outbox (PM-29).

use std::fs;
use std::process::Command;

use turnfold_core::{Digest, Seat};
use turnfold_mail::{Addresses, Attachment, Letter, LetterName, MailedPaper, Outbox, Thread};

use super::mailer_changes::VECTOR;
use turnfold_tests::parts::skipped;

/// Prints what Python's `email` reads from a letter: defects, headers, text and attachment.
const READER: &str = "
import email, email.policy, sys
letter = email.message_from_bytes(open(sys.argv[1], 'rb').read(), policy=email.policy.SMTP)
parts = list(letter.walk())
assert [part.get_content_type() for part in parts] == ['multipart/mixed', 'text/plain', 'application/octet-stream']
assert not any(part.defects for part in parts), [part.defects for part in parts]
print(letter['To'], letter['Subject'], letter['Date'], parts[2].get_filename(), sep='\\n')
print(letter['From'], letter['Reply-To'], letter['Message-ID'], letter['In-Reply-To'], letter['References'], sep='\\n')
open(sys.argv[2], 'wb').write(parts[1].get_content().encode())
open(sys.argv[3], 'wb').write(parts[2].get_content())
";

/// Writes a letter with an attachment.
fn eml(addresses: &Addresses, text: &str, bytes: &[u8]) -> String {
    let thread = Thread { id: "<c@x>".into(), references: vec!["<a@x>".into(), "<b@x>".into()] };
    let letter = Letter {
        route: addresses.route_to(Seat::P1),
        subject: "duel: turn 2\r\nBcc: all",
        date: Some("2026-12-01T18:00:00Z".parse().unwrap()),
        thread: &thread,
        text,
        attached: &[Attachment { file_name: "duel/p1.bundle", bytes, is_text: false }],
    };
    letter.to_eml()
}

#[test]
fn pm_29_a_mail_program_reads_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let addresses = "p1 = ann@example.org\nhost = ben@example.org".parse().unwrap();
    let attached: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let text = format!("Dear Ann \u{2014}\n.\nFrom here on:\n\n{VECTOR}");
    let letter = eml(&addresses, &text, &attached);
    assert!(
        letter.is_ascii()
            && letter.split_inclusive('\n').all(|line| line.ends_with("\r\n") && line.len() <= 78)
    );
    assert_eq!(letter.replace("\r\n", "").find(['\r', '\n']), None);
    assert_eq!(eml(&addresses, &text, &attached), letter, "the same letter is the same bytes");
    // A paper in the text of a letter is found in the whole letter.
    assert_eq!(
        MailedPaper::find(letter.as_bytes()).remove(0).paper,
        MailedPaper::find(VECTOR.as_bytes()).remove(0).paper
    );
    let no_one = Addresses::default();
    let letter_to_no_one = eml(&no_one, &text, &attached);
    assert!(!["\r\nTo:", "From:", "\r\nReply-To:"].iter().any(|name| letter_to_no_one.contains(name)));

    fs::write(path("letter.eml"), &letter).unwrap();
    let arguments = ["letter.eml", "text", "attached"].map(path);
    let Ok(read) = Command::new("python3").arg("-c").arg(READER).args(arguments).output() else {
        return skipped("a letter read by Python", "`python3` is not here");
    };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let headers = "ann@example.org\nduel: turn 2 Bcc: all\nTue, 01 Dec 2026 18:00:00 -0000\nduel_p1.bundle\n\
                   ben@example.org\nben@example.org\n<c@x>\n<b@x>\n<a@x> <b@x>\n";
    assert_eq!(String::from_utf8(read.stdout).unwrap(), headers);
    assert_eq!(fs::read(path("attached")).unwrap(), attached);
    let text = fs::read_to_string(path("text")).unwrap().replace("\r\n", "\n");
    assert_eq!(
        text,
        format!("Dear Ann -\n .\n From here on:\n\n{VECTOR}").trim_end(),
        "the last line end is MIME's"
    );
}

#[test]
fn pm_29_a_letter_is_written_once_and_counts_when_it_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let outbox = Outbox::at(&folder.path().join("outbox"));
    let report = LetterName { desk_size: 12, seat: Seat::P1, answers: None };
    let answer = LetterName { answers: Some(Digest::new([0x1a; 32])), ..report };
    let path = |name: &str| folder.path().join("outbox").join(name);
    assert!(outbox.put(report, "one").unwrap());
    assert!(outbox.put(answer, "two").unwrap());
    assert!(!outbox.put(report, "three").unwrap());
    assert_eq!(fs::read_to_string(path("00000012-p1.eml")).unwrap(), "one");
    assert_eq!(fs::read_to_string(path("00000012-p1-1a1a1a1a.eml")).unwrap(), "two");
    fs::create_dir(path("sent")).unwrap();
    fs::rename(path("00000012-p1.eml"), path("sent/00000012-p1.eml")).unwrap();
    assert!(!outbox.put(report, "four").unwrap());
    assert!(!path("00000012-p1.eml").exists());
    // A file left by a killed run is not a letter, and blocks nothing.
    fs::write(path("00000013-p2.eml.new"), "ha").unwrap();
    assert!(outbox.put(LetterName { desk_size: 13, seat: Seat::P2, answers: None }, "whole").unwrap());
    let names =
        fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    assert_eq!(names, ["00000012-p1-1a1a1a1a.eml", "00000013-p2.eml", "sent"]);
}
