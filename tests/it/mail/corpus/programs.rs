//! Shapes of mails that mail programs send with a paper in the text.

use super::super::mailer_changes::mailers::{capital, no_break, quoted, trailing, wrapped};
use super::Shape;
use super::mime::*;

/// The letter that a reply quotes.
const LETTER: &str =
    "Dear player,\n\n`duel` is at turn 1. The match is waiting for your order.\n\nYour answer\n-----------\n";
const GMAIL: &str = "On Tue, Dec 1, 2026 at 7:00 PM <games@example.org> wrote:\n\n";
const OUTLOOK: &str = "From: games@example.org <games@example.org>\nSent: Tuesday, December 1, 2026 7:00 PM\n\
                       To: Ann <ann@example.org>\nSubject: [duel] turn 1: your order, please\n\n";
const IPHONE: &str = "X-Mailer: iPhone Mail (23B85)\n";
const OUTLOOK_AGENT: &str =
    "X-Mailer: Microsoft Outlook 16.0\nThread-Index: AQJ2m1bK\nContent-Language: en-us\n";
const APPLE: &str = "X-Mailer: Apple Mail (2.3826.300.87.4.3)\n";
const THUNDERBIRD: &str = "User-Agent: Mozilla Thunderbird\nContent-Language: en-US\n";
const UTF_8: &str = "charset=\"UTF-8\"";
const FLOWED: &str = "charset=UTF-8; format=flowed";

fn reply(top: &str, line: &str) -> String {
    format!("{top}\n{line}{}", quoted(LETTER, "> "))
}

/// A paper as Word shows it.
fn word(text: &str) -> String {
    let style = "<style><!-- p.MsoNormal { margin: 0cm } --></style>";
    format!(
        "<html><head>{style}</head><body><div class=\"WordSection1\">{}</div></body></html>",
        each_in("p class=MsoNormal", text)
    )
}

pub(super) const SHAPES: &[Shape] = &[
    ("gmail-web", |of| {
        let html_text = format!("<div dir=\"ltr\">{}</div>", broken_lines(&of.paper));
        mail(
            of,
            "",
            &alternative("000000000000a1b2c3", text(UTF_8, Plain, &of.paper), html(Plain, &html_text)),
        )
    }),
    ("gmail-web-top-posted", |of| {
        let quote = format!(
            "<div class=\"gmail_quote\">{GMAIL}<blockquote class=\"gmail_quote\">{}</blockquote></div>",
            broken_lines(LETTER)
        );
        let html_text = format!("<div dir=\"ltr\">{}</div>{quote}", broken_lines(&of.paper));
        mail(
            of,
            "",
            &alternative(
                "000000000000d4e5f6",
                text(UTF_8, Plain, &reply(&of.paper, GMAIL)),
                html(Quoted, &html_text),
            ),
        )
    }),
    ("gmail-web-bottom-posted", |of| {
        mail(of, "", &text(UTF_8, Plain, &format!("{GMAIL}{}\n{}", quoted(LETTER, "> "), of.paper)))
    }),
    ("gmail-web-forwarded", |of| {
        let words = format!(
            "---------- Forwarded message ---------\nFrom: {0} <{0}>\nDate: Tue, Dec 1, 2026\nSubject: my move\nTo: me\n\n{1}",
            of.from, of.paper
        );
        mail(of, "", &text(UTF_8, Quoted, &words))
    }),
    ("gmail-android", |of| {
        let html_text = format!("<div dir=\"auto\">{}</div>", each_in("div dir=\"auto\"", &of.paper));
        mail(of, "", &alternative("0000000000002a", text(UTF_8, Base64, &of.paper), html(Base64, &html_text)))
    }),
    ("gmail-android-in-the-quotation", |of| {
        let words = format!("here is my move\n\n{GMAIL}{}", quoted(&of.paper, "> "));
        mail(of, "", &text(UTF_8, Quoted, &words))
    }),
    ("gmail-ios-html-wins", |of| {
        // The plain text part has lost its line ends.
        let flat = of.paper.replace('\n', " ");
        mail(
            of,
            "",
            &alternative("00000000000077", text(UTF_8, Plain, &flat), html(Plain, &broken_lines(&of.paper))),
        )
    }),
    ("outlook-plain", |of| mail(of, OUTLOOK_AGENT, &text("charset=\"us-ascii\"", Quoted, &of.paper))),
    ("outlook-word", |of| {
        let boundary = "----=_NextPart_000_0012_01DC6302.5B1F4AC0";
        let plain = part(
            "text/plain; charset=\"Windows-1252\"",
            Plain,
            of.paper.replace('\n', "\r\n\r\n").as_bytes(),
        );
        mail(of, OUTLOOK_AGENT, &alternative(boundary, plain, html(Quoted, &word(&of.paper))))
    }),
    ("outlook-top-posted", |of| {
        mail(
            of,
            OUTLOOK_AGENT,
            &text("charset=\"us-ascii\"", Quoted, &format!("{}\n{OUTLOOK}{LETTER}", of.paper)),
        )
    }),
    ("outlook-original-message", |of| {
        mail(
            of,
            OUTLOOK_AGENT,
            &text(
                "charset=\"iso-8859-1\"",
                Plain,
                &format!("{}\n-----Original Message-----\n{OUTLOOK}{LETTER}", of.paper),
            ),
        )
    }),
    ("outlook-web-base64", |of| {
        let boundary = "_000_DB9PR04MB8461A1B2_";
        mail(
            of,
            "X-MS-Has-Attach:\nAccept-Language: de-DE\n",
            &alternative(
                boundary,
                text("charset=\"utf-8\"", Base64, &of.paper),
                html(Base64, &word(&of.paper)),
            ),
        )
    }),
    ("outlook-html-only", |of| {
        mail(of, OUTLOOK_AGENT, &html(Quoted, &word(&of.paper.replace(' ', "&nbsp;"))))
    }),
    ("outlook-mac", |of| {
        mail(of, "User-Agent: Microsoft-MacOutlook/16.90\n", &text(UTF_8, Quoted, &trailing(&of.paper)))
    }),
    ("outlook-ios", |of| {
        let words = format!(
            "{}\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n{OUTLOOK}{LETTER}",
            of.paper
        );
        mail(
            of,
            "",
            &alternative(
                "_000_AM0PR_",
                text("charset=\"us-ascii\"", Quoted, &words),
                html(Quoted, &word(&words)),
            ),
        )
    }),
    ("apple-mail", |of| mail(of, APPLE, &text("charset=us-ascii", Plain, &of.paper))),
    ("apple-mail-reply", |of| {
        let words = format!(
            "{}\n\n> On 1. Dec 2026, at 19:00, games@example.org wrote:\n> \n{}",
            of.paper,
            quoted(LETTER, "> ")
        );
        mail(of, APPLE, &text("charset=utf-8", Quoted, &words))
    }),
    ("apple-mail-rich", |of| {
        let html_text = format!(
            "<html><body>{}<blockquote type=\"cite\">{}</blockquote></body></html>",
            each_in("div", &of.paper),
            each_in("div", LETTER)
        );
        mail(
            of,
            APPLE,
            &alternative(
                "Apple-Mail=_3F",
                text("charset=us-ascii", Plain, "My move is in the rich text.\n"),
                html(Plain, &html_text),
            ),
        )
    }),
    ("iphone", |of| {
        mail(
            of,
            IPHONE,
            &text("charset=utf-8", Quoted, &format!("{}\n\nSent from my iPhone", no_break(&of.paper))),
        )
    }),
    ("iphone-capital-keywords", |of| mail(of, IPHONE, &text("charset=utf-8", Quoted, &capital(&of.paper)))),
    ("iphone-bottom-posted", |of| {
        let words = format!(
            "> On Dec 1, 2026, at 7:00 PM, games@example.org wrote:\n> \n> \u{feff}{}\n{}",
            LETTER.lines().next().unwrap(),
            of.paper
        );
        mail(of, IPHONE, &text("charset=utf-8", Base64, &words))
    }),
    ("thunderbird", |of| mail(of, THUNDERBIRD, &text(FLOWED, Plain, &of.paper))),
    ("thunderbird-flowed-at-60", |of| {
        mail(of, THUNDERBIRD, &text(FLOWED, Plain, &soft(&wrapped(&of.paper, 60))))
    }),
    ("thunderbird-delsp", |of| {
        mail(
            of,
            THUNDERBIRD,
            &text(
                "charset=UTF-8; format=flowed; delsp=yes",
                Plain,
                &soft(&wrapped(&of.paper, 50)).replace(" \n", "  \n"),
            ),
        )
    }),
    ("thunderbird-html", |of| {
        let html_text = format!(
            "<html><body><p>Hi,</p><pre class=\"moz-quote-pre\" wrap=\"\">{}</pre></body></html>",
            of.paper
        );
        mail(of, THUNDERBIRD, &html(Plain, &html_text))
    }),
    ("thunderbird-forwarded-inline", |of| {
        let words = format!(
            "-------- Forwarded Message --------\nSubject: \tmove\nDate: \tTue, 1 Dec 2026\nFrom: \t{}\n\n{}",
            of.from, of.paper
        );
        mail(of, THUNDERBIRD, &text(FLOWED, Plain, &words))
    }),
    ("thunderbird-saved-from-a-mailbox", |of| {
        let saved = mail(of, THUNDERBIRD, &text(FLOWED, Plain, &of.paper));
        [b"From - Tue Dec 01 19:03:11 2026\r\nX-Mozilla-Status: 0001\r\n".as_slice(), &saved].concat()
    }),
    ("mutt", |of| mail(of, "User-Agent: Mutt/2.2.12\n", &text("charset=us-ascii", Plain, &of.paper))),
    ("mutt-quoted-twice", |of| {
        mail(of, "User-Agent: Mutt/2.2.12\n", &text("charset=utf-8", Plain, &quoted(&of.paper, "> > ")))
    }),
    ("mutt-space-stuffed", |of| {
        mail(
            of,
            "User-Agent: Mutt/2.2.12\n",
            &text("charset=us-ascii; format=flowed", Plain, &quoted(&of.paper, " ")),
        )
    }),
    ("alpine", |of| {
        mail(of, "User-Agent: Alpine 2.26\n", &text("charset=US-ASCII; format=flowed", Plain, &of.paper))
    }),
    ("k-9", |of| {
        mail(
            of,
            "User-Agent: K-9 Mail for Android\n",
            &text(
                "charset=utf-8",
                Quoted,
                &format!("{}\n-- \nDiese Nachricht wurde von meinem Gerät gesendet.", of.paper),
            ),
        )
    }),
    ("k-9-wrapped-at-60", |of| {
        mail(of, "User-Agent: K-9 Mail for Android\n", &text("charset=utf-8", Plain, &wrapped(&of.paper, 60)))
    }),
    ("fairemail-html-only", |of| {
        mail(
            of,
            "X-Mailer: FairEmail\n",
            &html(Base64, &format!("<div dir=\"auto\">{}</div>", broken_lines(&of.paper))),
        )
    }),
    ("yahoo", |of| {
        let indented = quoted(&of.paper, "  ");
        let html_text = format!("<div class=\"yahoo-style-wrap\">{}</div>", each_in("div", &of.paper));
        mail(
            of,
            "X-Mailer: WebService/1.1.21495 YMailNorrin\n",
            &alternative("----=_Part_42_17", text(UTF_8, Plain, &indented), html(Plain, &html_text)),
        )
    }),
    ("yahoo-reply", |of| {
        let words = format!(
            "{}\n   On Tuesday, December 1, 2026, 7:00 PM, games@example.org wrote:\n {LETTER}",
            of.paper
        );
        mail(of, "X-Mailer: WebService/1.1.21495 YMailNorrin\n", &text(UTF_8, Quoted, &words))
    }),
    ("protonmail", |of| {
        let words = format!("{}\n\nSent with [Proton Mail](https://proton.me/mail) secure email.", of.paper);
        mail(
            of,
            "X-Pm-Message-ID: 1f\n",
            &alternative(
                "b1=_x",
                text("charset=utf-8", Base64, &words),
                html(Base64, &each_in("div style=\"font-size: 14px\"", &words)),
            ),
        )
    }),
    ("samsung", |of| {
        let words = format!("{}\n\nSent from my Galaxy", of.paper);
        let html_text =
            format!("<html><body dir=\"auto\">{}</body></html>", each_in("div dir=\"auto\"", &words));
        mail(
            of,
            "",
            &alternative(
                "--_com.samsung.android.email_1",
                text("charset=\"utf-8\"", Base64, &words),
                html(Base64, &html_text),
            ),
        )
    }),
    ("samsung-html-only", |of| mail(of, "", &html(Base64, &each_in("p dir=\"ltr\"", &of.paper)))),
    ("evolution-no-break-spaces", |of| {
        mail(of, "User-Agent: Evolution 3.52\n", &text(UTF_8, Quoted, &no_break(&of.paper)))
    }),
    ("kmail", |of| {
        mail(
            of,
            "User-Agent: KMail\n",
            &text("charset=\"us-ascii\"", Plain, &reply(&of.paper, "On Tuesday you wrote:\n")),
        )
    }),
    ("roundcube", |of| {
        mail(
            of,
            "User-Agent: Roundcube Webmail/1.6\n",
            &alternative(
                "=_b2a",
                text("charset=US-ASCII; format=flowed", Plain, &of.paper),
                html(Quoted, &each_in("div", &of.paper)),
            ),
        )
    }),
    ("lotus-notes-wrapped-at-65", |of| {
        mail(of, "X-Mailer: HCL Notes\n", &text("charset=\"ISO-8859-1\"", Quoted, &wrapped(&of.paper, 65)))
    }),
    ("gmx-web", |of| {
        mail(
            of,
            "X-Priority: 3\n",
            &html(Quoted, &format!("<html><head></head><body>{}</body></html>", each_in("div", &of.paper))),
        )
    }),
    ("zoho", |of| {
        mail(
            of,
            "X-Mailer: Zoho Mail\n",
            &alternative(
                "----=_Part_9",
                text(
                    UTF_8,
                    Plain,
                    &format!(
                        "{}\n---- On Tue, 01 Dec 2026 <games@example.org> wrote ----\n{LETTER}",
                        of.paper
                    ),
                ),
                html(Plain, &each_in("div", &of.paper)),
            ),
        )
    }),
    ("windows-mail-double-spaced", |of| {
        mail(
            of,
            "X-Mailer: Microsoft Windows Live Mail\n",
            &text("charset=\"utf-8\"", Quoted, &of.paper.replace('\n', "\n\n")),
        )
    }),
];

/// Ends each broken line with a space, as in flowed text.
fn soft(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let begins =
        |line: &str| line.starts_with('#') || line.split(' ').next().is_some_and(|word| word.ends_with(':'));
    let line = |(at, line): (usize, &&str)| {
        let goes_on = lines.get(at + 1).is_some_and(|next| !begins(next));
        format!("{line}{}\n", if goes_on { " " } else { "" })
    };
    lines.iter().enumerate().map(line).collect()
}
