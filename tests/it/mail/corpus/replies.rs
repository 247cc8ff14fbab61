//! Answers to a letter that quote its code, and automatic mails (PM-90, PM-93), in the forms that mail programs use.

use std::fs;

use turnfold_mail::ReceivedMail;

use super::super::mailer_changes::mailers::{crlf, quoted};
use super::mime::*;
use super::plain::{SEATS, code, imported};
use super::{Written, check, folder, is_overwritten};

/// The letter that a mail answers.
struct Answered {
    /// The part of its text with the code.
    letter: String,
    id: String,
    from: &'static str,
    name: &'static str,
    index: usize,
}

type Make = fn(&Answered) -> Vec<u8>;
type Answer = (&'static str, Make);
/// The name of a mail, the kind of notice recorded, and the mail.
type Noticed = (&'static str, &'static str, Make);

const LINES: &str = "tap 0,1\ntap 0,0\nswitch\n";
const UTF_8: &str = "charset=\"UTF-8\"";

impl Answered {
    /// Returns a mail written by a person.
    fn mail(&self, agent: &str, part: &Part) -> Vec<u8> {
        let (from, name, index) = (self.from, self.name, 200 + self.index);
        mail(&Written { paper: String::new(), from, name, index }, agent, part)
    }

    fn marked(&self) -> String {
        quoted(&self.letter, "> ")
    }

    /// Returns a mail with exactly these header lines and this body.
    fn raw(&self, head: &str, body: &str) -> Vec<u8> {
        let Self { id, from, index, letter, .. } = self;
        let fill =
            |text: &str| text.replace("ADDRESS", from).replace("LETTER_ID", id).replace("LETTER", letter);
        let common = format!(
            "To: games@example.org\nDate: Tue, 1 Dec 2026 19:05:00 +0100\nMessage-ID: <notice-{index}@mx.example.net>\n"
        );
        crlf(&format!("{}{common}\n{}", fill(head), fill(body))).into_bytes()
    }
}

/// Returns a text as `gpg --clearsign` writes it, with another dash before lines that begin with a dash.
fn in_pgp_frame(words: &str) -> String {
    format!(
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n{words}-----BEGIN PGP SIGNATURE-----\n\n\
         iIYEARYIAC4WIQQ+OGOK59dil98oBqqp26lI4AHXrAUCawnYsxAcb25lQGV4YW1w\nbGUub3JnAAoJEKnbqUjgAdes3CIBAJpa\n\
         =ojJX\n-----END PGP SIGNATURE-----\n"
    )
}

/// Answers by people. Each contains the order in `LINES`.
const ORDERS: &[Answer] = &[
    ("gmail", |of| {
        let line = "On Tue, Dec 1, 2026 at 7:00 PM <games@example.org> wrote:\n";
        let quote = format!(
            "<div class=\"gmail_quote\"><div dir=\"ltr\" class=\"gmail_attr\">{line}<br></div><blockquote class=\"gmail_quote\">{}</blockquote></div>",
            broken_lines(&of.letter)
        );
        let html_text = format!("<div dir=\"ltr\">{}</div><br>{quote}", each_in("div", LINES));
        let plain = text(UTF_8, Plain, &format!("{LINES}\n{line}\n{}", of.marked()));
        of.mail("", &alternative("000000000000b7c1", plain, html(Quoted, &html_text)))
    }),
    ("gmail-in-german-with-a-wrapped-line", |of| {
        let line = "Am Di., 1. Dez. 2026 um 19:00 Uhr schrieb Turnfold Spielleitung im Verein <\ngames@example.org>:\n";
        of.mail("", &text(UTF_8, Quoted, &format!("Hallo,\n\n{LINES}\nGruß\nAnn\n\n{line}\n{}", of.marked())))
    }),
    ("outlook", |of| {
        let header = "From: games@example.org <games@example.org>\nSent: Tuesday, December 1, 2026 7:00 PM\nTo: Ann <ann@example.org>\nSubject: [duel] turn 1: your order, please\n";
        of.mail(
            "X-Mailer: Microsoft Outlook 16.0\n",
            &text("charset=\"us-ascii\"", Quoted, &format!("{LINES}\n{header}\n{}", of.letter)),
        )
    }),
    ("outlook-in-german-with-a-signature", |of| {
        let header = "Von: games@example.org <games@example.org>\nGesendet: Dienstag, 1. Dezember 2026 19:00\nAn: Ann <ann@example.org>\nBetreff: [duel] turn 1: your order, please\n";
        let words = format!("Hallo,\n\n{LINES}\nMit freundlichen Grüßen\nAnn\n\n{header}\n{}", of.letter);
        let html_text = format!("<html><body>{}</body></html>", each_in("p class=MsoNormal", &words));
        of.mail("X-Mailer: Microsoft Outlook 16.0\n", &html(Base64, &html_text))
    }),
    ("outlook-for-ios", |of| {
        let header = "From: games@example.org <games@example.org>\nSent: Tuesday, December 1, 2026 7:00:00 PM\nTo: Ann <ann@example.org>\nSubject: [duel] turn 1: your order, please\n";
        of.mail("", &text("charset=\"us-ascii\"", Quoted, &format!("{LINES}\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n{header}\n{}", of.letter)))
    }),
    ("apple-mail", |of| {
        let line = "> On 1. Dec 2026, at 19:00, games@example.org wrote:\n> \n";
        of.mail(
            "X-Mailer: Apple Mail (2.3826.300.87.4.3)\n",
            &text("charset=us-ascii", Plain, &format!("{LINES}\n\n{line}{}", of.marked())),
        )
    }),
    ("iphone-with-capitals-and-a-footer", |of| {
        let line = "> On Dec 1, 2026, at 7:00 PM, games@example.org wrote:\n> \n> \u{feff}";
        of.mail(
            "X-Mailer: iPhone Mail (23B85)\n",
            &text(
                "charset=utf-8",
                Base64,
                &format!("Tap 0,1\nTap 0,0\nSwitch\n\nSent from my iPhone\n\n{line}{}", of.marked()),
            ),
        )
    }),
    ("thunderbird", |of| {
        let line = "On 12/1/26 19:00, games@example.org wrote:\n";
        of.mail(
            "User-Agent: Mozilla Thunderbird\n",
            &text("charset=UTF-8; format=flowed", Plain, &format!("{LINES}\n\n{line}{}", of.marked())),
        )
    }),
    ("neomutt", |of| {
        let line = "On Tue, Dec 01, 2026 at 07:00:00PM -0000, games@example.org wrote:\n";
        of.mail(
            "User-Agent: NeoMutt/20220429\n",
            &text("charset=us-ascii", Plain, &format!("Hi host,\n\n{LINES}\n{line}{}\n\n", of.marked())),
        )
    }),
    ("alpine-below", |of| {
        let line = "On Tue, 1 Dec 2026, games@example.org wrote:\n\n";
        of.mail(
            "User-Agent: Alpine 2.26\n",
            &text("charset=US-ASCII; format=flowed", Plain, &format!("\n\n{line}{}{LINES}\n", of.marked())),
        )
    }),
    ("alpine-below-on-a-list", |of| {
        let line = "On Tue, 1 Dec 2026, games@example.org wrote:\n\n";
        let footer = "_______________________________________________\nDuel mailing list -- duel@lists.example.org\nTo unsubscribe send an email to duel-leave@lists.example.org\n";
        of.mail(
            "List-Id: <duel.lists.example.org>\nPrecedence: list\nReply-To: duel@lists.example.org\n",
            &text("charset=US-ASCII", Plain, &format!("\n{line}{}{LINES}\n{footer}", of.marked())),
        )
    }),
    ("pgp-around-the-text", |of| {
        let line = "On Tue, Dec 01, 2026 at 07:00:00PM -0000, games@example.org wrote:\n";
        let words = format!("{LINES}\n- -- \nAnn\n\n{line}{}", of.marked());
        of.mail("", &text("charset=us-ascii", Plain, &in_pgp_frame(&words)))
    }),
    ("pgp-around-the-text-below", |of| {
        let line = "On Tue, 1 Dec 2026, games@example.org wrote:\n\n";
        let words = format!("{line}{}{LINES}", of.marked());
        let list = "_______________________________________________\nDuel mailing list\n";
        of.mail("", &text("charset=us-ascii", Plain, &format!("{}{list}", in_pgp_frame(&words))))
    }),
    ("yahoo-without-marks", |of| {
        let line = "    On Tuesday, December 1, 2026 at 07:00:00 PM GMT+1, <games@example.org> wrote:\n\n";
        of.mail(
            "X-Mailer: WebService/1.1.21495 YMailNorrin\n",
            &text(UTF_8, Quoted, &format!("{LINES}\n{line}{}", of.letter)),
        )
    }),
];

/// Automatic mails, and the kind of notice recorded for each.
const NOTICES: &[Noticed] = &[
    ("absence-outlook", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: Automatic reply: [duel] turn 1: your order, please\nX-Auto-Response-Suppress: All\nAuto-Submitted: auto-generated\nIn-Reply-To: LETTER_ID\n",
        "I am out of the office until 7 December.\n")
    }),
    ("absence-outlook-in-german-without-marks", "absence", |of| {
        of.raw(
            "From: ADDRESS\nSubject: Automatische Antwort: [duel] turn 1: your order, please\n",
            "Ich bin bis 7. Dezember abwesend.\n\nLETTER\n",
        )
    }),
    ("absence-gmail", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: Away Re: [duel] turn 1: your order, please\nPrecedence: bulk\nX-Autoreply: yes\nAuto-Submitted: auto-replied\nIn-Reply-To: LETTER_ID\n",
        "I am on holiday.\n")
    }),
    ("absence-vacation", "absence", |of| {
        of.raw("Return-Path: <ADDRESS>\nFrom: ADDRESS\nSubject: away\n", "I am away until Monday.\n")
    }),
    ("absence-sieve", "absence", |of| {
        of.raw(
        "X-Sieve: Pigeonhole Sieve 0.5.19\nFrom: <ADDRESS>\nSubject: Auto: [duel] turn 1: your order, please\nIn-Reply-To: LETTER_ID\nAuto-Submitted: auto-replied (vacation)\nPrecedence: bulk\n",
        "I am away.\n")
    }),
    ("absence-notes", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: AUTO: Ann Lee is out of the office (returning 07.12.2026)\nX-Mailer: Lotus Domino Web Server\n",
        "I am out of the office until 07.12.2026.\n\nNote: This is an automated response to your message.\n")
    }),
    ("absence-groupwise", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: Out of Office: [duel] turn 1: your order, please (Away)\nX-Mailer: GroupWise 18\n", "Away.\n\n>>> games@example.org 12/01/26 19:00 >>>\nLETTER\n")
    }),
    ("absence-gmx", "absence", |of| {
        of.raw(
            "From: ADDRESS\nSubject: Abwesenheitsnotiz\nAuto-Submitted: auto-replied\n",
            "Ich bin im Urlaub.\n",
        )
    }),
    ("absence-zimbra", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: Out of Office Re: [duel] turn 1: your order, please\nPrecedence: bulk\nAuto-Submitted: auto-replied (zimbra; vacation)\n", "Away.\n")
    }),
    ("absence-in-french", "absence", |of| {
        of.raw("From: ADDRESS\nSubject: =?utf-8?Q?R=C3=A9ponse_automatique_:_[duel]?=\n", "Je suis absent.\n")
    }),
    ("absence-cpanel", "absence", |of| {
        of.raw(
            "From: ADDRESS\nSubject: I am away\nX-Autorespond: [duel]\nX-Precedence: auto_reply\n",
            "Away.\n",
        )
    }),
    ("absence-yahoo", "absence", |of| {
        of.raw(
        "From: ADDRESS\nSubject: Yahoo! Auto Response\nX-Yahoo-Newman: auto\nAuto-Submitted: auto-replied\n", "Away.\n")
    }),
    ("bounce-exim", "bounced: user unknown", |of| {
        of.raw(
        "Return-Path: <>\nX-Failed-Recipients: ADDRESS\nAuto-Submitted: auto-replied\nFrom: Mail Delivery System <Mailer-Daemon@example.org>\nContent-Type: multipart/report; report-type=delivery-status; boundary=b1\nMIME-Version: 1.0\nSubject: Mail delivery failed: returning message to sender\n",
        "--b1\nContent-type: text/plain; charset=us-ascii\n\nThis message was created automatically by mail delivery software.\n\n  ADDRESS\n    Unrouteable address\n\n--b1\nContent-type: message/delivery-status\n\nReporting-MTA: dns; example.org\n\nAction: failed\nFinal-Recipient: rfc822;ADDRESS\nStatus: 5.0.0\n\n--b1\nContent-type: message/rfc822\n\nFrom: games@example.org\nTo: ADDRESS\nMessage-ID: LETTER_ID\nSubject: [duel] turn 1: your order, please\n\nLETTER\n--b1--\n")
    }),
    ("bounce-postfix", "bounced: mailbox full", |of| {
        of.raw(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\nContent-Type: multipart/report; report-type=delivery-status; boundary=\"B2\"\n",
        "--B2\nContent-Type: text/plain; charset=us-ascii\n\n<ADDRESS>: host mx.example.net said: 552 5.2.2 Over quota\n\n--B2\nContent-Type: message/delivery-status\n\nFinal-Recipient: rfc822; ADDRESS\nAction: failed\nStatus: 5.2.2\n\n--B2\nContent-Type: text/rfc822-headers\n\nMessage-ID: LETTER_ID\nTo: ADDRESS\n--B2--\n")
    }),
    ("bounce-qmail", "bounced: user unknown", |of| {
        of.raw(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example.net\nSubject: failure notice\n",
        "Hi. This is the qmail-send program at mx.example.net.\n\n<ADDRESS>:\nSorry, no mailbox here by that name. (#5.1.1)\n\n--- Below this line is a copy of the message.\n\nMessage-ID: LETTER_ID\nTo: ADDRESS\n\nLETTER\n")
    }),
    ("bounce-sendmail", "bounced: user unknown", |of| {
        of.raw(
        "From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail: see transcript for details\nAuto-Submitted: auto-generated (failure)\n",
        "   ----- The following addresses had permanent fatal errors -----\n<ADDRESS>\n    (reason: 550 5.1.1 <ADDRESS>... User unknown)\n\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-exchange", "bounced: user unknown", |of| {
        of.raw(
        "From: Microsoft Outlook <postmaster@example.net>\nSubject: Undeliverable: [duel] turn 1: your order, please\nX-MS-Exchange-Message-Is-Ndr:\nContent-Type: text/plain\n",
        "Your message to ADDRESS couldn't be delivered.\nann wasn't found at example.org.\nOriginal Message Headers\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-gmail", "bounced: user unknown", |of| {
        of.raw(
        "Return-Path: <>\nFrom: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nX-Failed-Recipients: ADDRESS\nAuto-Submitted: auto-replied\nIn-Reply-To: LETTER_ID\nSubject: Delivery Status Notification (Failure)\n",
        "** Address not found **\n\nYour message wasn't delivered to ADDRESS because the address couldn't be found.\n\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-gmx-in-german", "bounced: mailbox full", |of| {
        of.raw(
        "From: mailer-daemon@gmx.example (GMX Mailer Daemon)\nSubject: Mail delivery failed: returning message to sender\n",
        "ADDRESS:\nSMTP error: Postfach voll / quota exceeded\n\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-notes", "bounced: user unknown", |of| {
        of.raw(
        "From: ADDRESS\nSubject: DELIVERY FAILURE: User ann (ann@example.org) not listed in Domino Directory: user unknown\nReturn-Path: <>\n",
        "Your message was not delivered to ADDRESS.\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-of-a-domain", "bounced: unknown domain", |of| {
        of.raw(
        "Return-Path: <>\nFrom: MAILER-DAEMON (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n",
        "<ADDRESS>: Host or domain name not found. Name service error\n\nMessage-ID: LETTER_ID\n")
    }),
    ("bounce-as-spam", "bounced: refused as spam", |of| {
        of.raw(
            "Return-Path: <>\nFrom: postmaster@mx.example.net\nSubject: Mail delivery failed\n",
            "<ADDRESS>: 554 5.7.1 Message blocked\n\nMessage-ID: LETTER_ID\n",
        )
    }),
    ("bounce-without-marks", "bounced: not delivered", |of| {
        of.raw(
            "From: MAILER-DAEMON@mx.example.net\nSubject: Mail\n",
            "We could not bring your mail to ADDRESS.\n",
        )
    }),
    ("delay-postfix", "is delayed", |of| {
        of.raw(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example.net\nSubject: Delayed Mail (still being retried)\nAuto-Submitted: auto-replied\n",
        "<ADDRESS>: connect to mx: Connection timed out\n\nMessage-ID: LETTER_ID\n")
    }),
];

fn name(number: usize, shape: &str) -> String {
    format!("answers/{number:02}-{shape}.eml")
}

fn names() -> Vec<String> {
    let orders = ORDERS.iter().map(|(name, _)| *name);
    let all = orders.chain(NOTICES.iter().map(|(name, ..)| *name));
    (1..).zip(all).map(|(number, shape)| name(number, shape)).collect()
}

#[test]
fn pm_90_the_corpus_of_answers_is_made_as_mail_programs_write_them() {
    if is_overwritten() {
        let _ = fs::remove_dir_all(folder().join("answers"));
        fs::create_dir(folder().join("answers")).unwrap();
    }
    let mailbox = imported();
    let makers = ORDERS.iter().map(|(_, make)| make).chain(NOTICES.iter().map(|(.., make)| make));
    for ((index, file), make) in names().iter().enumerate().zip(makers) {
        let (seat, from, name) = SEATS[index % 2];
        let letter = format!(
            "Dear {name},\n\n`duel` is at turn 1.\n\nYour answer\n-----------\n\nAnswer this letter. Write each command on a line of \
             its own,\nbetween these two lines:\n\n    code {}\n\n    (end)\n\nThe first command may be:\n\n    switch\n",
            code(&mailbox, seat)
        );
        let newest = mailbox.letters().into_iter().rfind(|name| name.contains(&format!("-{seat}"))).unwrap();
        let eml = mailbox.sandbox.read(&format!(".turnfold/outbox/{newest}"));
        let id = eml.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap().to_owned();
        check(file, &make(&Answered { letter, id, from, name, index: index + 1 }));
    }
}

#[test]
fn pm_93_the_real_binary_takes_the_orders_and_notes_the_notices() {
    let mailbox = imported();
    fs::create_dir(mailbox.sandbox.path("answers")).unwrap();
    for name in names() {
        mailbox.sandbox.write(&name, fs::read(folder().join(&name)).unwrap());
    }
    let output = mailbox.take(&names().join(" "));
    let printed = String::from_utf8(output.stdout).unwrap();
    let (letters, taken): (Vec<_>, Vec<_>) = printed.lines().partition(|line| line.starts_with("letter "));
    let taken: String = taken.into_iter().flat_map(|line| [line, "\n"]).collect();
    check("answers/TAKEN.txt", taken.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{taken}");
    for (number, (shape, ..)) in (1..).zip(ORDERS) {
        let line = taken.lines().find(|line| line.starts_with(&name(number, shape))).unwrap();
        assert!(line.ends_with(": applied"), "{line}");
    }
    let orders = mailbox.sandbox.ok("log duel.desk");
    let orders: Vec<_> = orders.lines().filter(|line| line.contains("paper: order")).collect();
    assert!(orders.iter().all(|order| order.contains(" | play: tap 0,1 | play: tap 0,0 | play: switch | ")));
    assert_eq!(orders.len(), ORDERS.len());
    for (number, (shape, what, _)) in (ORDERS.len() + 1..).zip(NOTICES) {
        let line = taken.lines().find(|line| line.starts_with(&name(number, shape))).unwrap();
        let is_seat = line.contains(&format!("noted: {}'s ", SEATS[(number - 1) % 2].0));
        assert!(is_seat && line.contains(what), "{what}: {line}");
    }
    // A notice is never answered.
    let answered = letters.iter().filter(|letter| {
        let letter =
            mailbox.sandbox.read(&format!(".turnfold/outbox/{}", letter.trim_start_matches("letter ")));
        letter.contains("In-Reply-To: <notice-")
    });
    assert_eq!(answered.count(), 0);
    let status = mailbox.sandbox.ok("mail status duel");
    assert!(
        status.contains("p1's mail bounces since ") && status.contains("p2's mail bounces since "),
        "{status}"
    );
    assert!(status.contains("p1's mail program sent a notice of absence"), "{status}");
}

#[test]
fn pm_51_a_player_without_a_key_reads_why_a_hidden_text_was_not_taken() {
    let wrapped = "signed it in a form that hides the text in an attachment named smime.p7m";
    let of = |kind: &str| {
        file(&format!("application/pkcs7-mime; smime-type={kind}"), "smime.p7m", Base64, b"0\x82\x01")
    };
    let armor = "-----BEGIN PGP MESSAGE-----\n\nhQGMA8zHaq+JwAE3AQv+\n=abcd\n-----END PGP MESSAGE-----\n";
    let mailbox = imported();
    for (index, (part, why)) in [
        (of("signed-data"), wrapped),
        (of("enveloped-data"), "but it is encrypted"),
        (text(UTF_8, Plain, armor), "but it is encrypted"),
    ]
    .into_iter()
    .enumerate()
    {
        let (_, from, name) = SEATS[0];
        mailbox
            .sandbox
            .write("mail.eml", mail(&Written { paper: String::new(), from, name, index }, "", &part));
        let output = mailbox.take("mail.eml");
        let printed = String::from_utf8(output.stdout).unwrap();
        let letter = printed.lines().find_map(|line| line.strip_prefix("letter ")).unwrap();
        let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
        let words = letter.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(why) && words.contains("Write its line `code` and your commands"), "{letter}");
        assert!(!words.contains("Your key signs"), "{letter}");
    }
}

#[test]
fn pm_100_the_letter_that_a_mail_answers_is_found_in_what_emacs_and_mailutils_write() {
    let id = "<8a5fe2747b43d184.00000005-p1.0effa3b4@games.example>";
    for line in [
        format!("In-Reply-To: {id}\n (host@club.example)"),
        format!("In-Reply-To: Your message of Mon, 6 Jan 2025 12:00:00 -0000\n\t{id}"),
        format!("In-Reply-To: \"host@club.example\"'s message of \"Mon, 6 Jan 2025 12:00:00 +0000\" {id}"),
        format!("References: <a@b>\n {id}"),
    ] {
        let mail = ReceivedMail::read(format!("From: one@example.org\n{line}\n\ntap 0,1\n").as_bytes());
        assert!(mail.follows.iter().any(|follows| follows == id), "{line}: {:?}", mail.follows);
    }
}
