//! Shapes of mails with a paper in an attachment, under a signature, in another encoding, or in a file without headers.

use super::super::mailer_changes::mailers::{crlf, quoted};
use super::Shape;
use super::mime::*;

const APPLE: &str = "X-Mailer: Apple Mail (2.3826.300.87.4.3)\n";
const UTF_8: &str = "charset=\"UTF-8\"";
const OCTETS: &str = "application/octet-stream";
/// The bytes of a picture, as in a signature block.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0";

fn covering(words: &str) -> Part {
    text(UTF_8, Plain, words)
}

/// A mail within a mail.
fn enclosed(of: &Written, part: &Part) -> Vec<u8> {
    let inner = Written { paper: String::new(), index: of.index + 500, ..*of };
    mail(&inner, "User-Agent: Mutt/2.2.12\n", part)
}

fn signed(of: &Written, protocol: &str, name: &str, part: Part) -> Vec<u8> {
    let signature =
        file(&format!("application/{protocol}"), name, Base64, &[0x30, 0x82, 0x05, 0x0a, 0x06, 0x09]);
    let kind = format!("signed; protocol=\"application/{protocol}\"; micalg=\"sha-256\"");
    mail(of, "", &parts(&kind, "----signed-7F", &[part, signature]))
}

pub(super) const SHAPES: &[Shape] = &[
    ("attached-by-gmail", |of| {
        let attached = file("text/plain; charset=\"US-ASCII\"", "reply.txt", Base64, of.paper.as_bytes());
        mail(of, "", &parts("mixed", "00000000000091", &[covering("here it is\n"), attached]))
    }),
    ("attached-by-outlook-as-octets", |of| {
        let attached = file(OCTETS, "reply.txt", Base64, crlf(&of.paper).as_bytes());
        let picture = file("image/png", "image001.png", Base64, PICTURE);
        let related = parts(
            "related",
            "_004_",
            &[html(Quoted, "<p class=MsoNormal>My move.</p><img src=\"cid:image001.png\">"), picture],
        );
        mail(of, "X-Mailer: Microsoft Outlook 16.0\n", &parts("mixed", "_005_", &[related, attached]))
    }),
    ("attached-as-octets-in-utf-16", |of| {
        // As `>` in Windows PowerShell writes it.
        let attached = file(OCTETS, "reply.txt", Base64, &utf_16(&of.paper, u16::to_le_bytes));
        mail(of, "", &parts("mixed", "b-16", &[covering("see attachment\n"), attached]))
    }),
    ("attached-by-apple-mail", |of| {
        let attached = file("text/plain; x-unix-mode=0644", "reply.txt", Plain, crlf(&of.paper).as_bytes());
        mail(of, APPLE, &parts("mixed", "Apple-Mail=_77", &[covering("\n"), attached, covering("\n\n")]))
    }),
    ("attached-by-thunderbird", |of| {
        let attached = file("text/plain; charset=UTF-8", "reply.txt", Base64, of.paper.as_bytes());
        mail(
            of,
            "User-Agent: Mozilla Thunderbird\n",
            &parts("mixed", "------------u0", &[covering("Hi\n"), attached]),
        )
    }),
    ("attached-by-iphone", |of| {
        let attached = file("text/plain", "reply.txt", Quoted, of.paper.as_bytes());
        mail(
            of,
            "X-Mailer: iPhone Mail (23B85)\n",
            &parts("mixed", "Apple-Mail-1", &[attached, covering("\n\nSent from my iPhone")]),
        )
    }),
    ("attached-and-in-the-text", |of| {
        let attached = file("text/plain", "reply.txt", Base64, of.paper.as_bytes());
        mail(of, "", &parts("mixed", "both", &[covering(&of.paper), attached]))
    }),
    ("attached-as-a-file-without-a-type", |of| {
        let attached = file("application/x-turnfold", "reply", Base64, of.paper.as_bytes());
        mail(of, "", &parts("mixed", "x-1", &[covering("\n"), attached]))
    }),
    ("forwarded-as-a-mail-by-thunderbird", |of| {
        let inner = enclosed(of, &covering(&of.paper));
        let attached = file("message/rfc822; charset=UTF-8", "move.eml", Plain, &inner);
        mail(of, "User-Agent: Mozilla Thunderbird\n", &parts("mixed", "fwd", &[covering("fyi\n"), attached]))
    }),
    ("forwarded-as-a-mail-in-base64", |of| {
        let inner = enclosed(of, &text("charset=utf-8", Quoted, &of.paper));
        mail(
            of,
            "",
            &parts(
                "mixed",
                "fwd64",
                &[covering("fyi\n"), file("message/rfc822", "move.eml", Base64, &inner)],
            ),
        )
    }),
    ("forwarded-as-octets", |of| {
        let inner = enclosed(of, &covering(&of.paper));
        mail(
            of,
            "",
            &parts("mixed", "fwdoct", &[covering("fyi\n"), file(OCTETS, "move.eml", Base64, &inner)]),
        )
    }),
    ("forwarded-twice", |of| {
        let inner = part("message/rfc822", Plain, &enclosed(of, &covering(&of.paper)));
        mail(of, "", &part("message/rfc822", Plain, &enclosed(of, &inner)))
    }),
    ("signed-by-pgp-mime", |of| signed(of, "pgp-signature", "signature.asc", covering(&of.paper))),
    ("signed-by-s-mime", |of| {
        signed(of, "pkcs7-signature", "smime.p7s", text("charset=\"us-ascii\"", Quoted, &of.paper))
    }),
    ("signed-by-s-mime-opaque", |of| {
        // The file contains the signed part completely.
        let inner = format!("Content-Type: text/plain\r\n\r\n{}", crlf(&of.paper));
        let bytes = [
            b"0\x82\x0c\x31\x06\x09*\x86H\x86\xf7\r\x01\x07\x02\x04\x82\x03\x00\r\n",
            inner.as_bytes(),
            b"\xa0\x82\x07\x11",
        ]
        .concat();
        mail(of, "", &file("application/pkcs7-mime; smime-type=signed-data", "smime.p7m", Base64, &bytes))
    }),
    ("signed-by-pgp-in-the-text", |of| {
        let words = format!(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{}\n-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCgAdFiEE\n=4h2K\n-----END PGP SIGNATURE-----\n",
            of.paper
        );
        mail(of, "User-Agent: Mutt/2.2.12\n", &covering(&words))
    }),
    ("mailing-list-footer-as-a-part", |of| {
        let footer = text(
            "charset=\"us-ascii\"",
            Plain,
            "_______________________________________________\nduel mailing list\nduel@lists.example.org\n",
        );
        mail(
            of,
            "Precedence: list\nList-Id: <duel.lists.example.org>\n",
            &parts("mixed", "===============41==", &[covering(&of.paper), footer]),
        )
    }),
    ("mailing-list-footer-in-the-text", |of| {
        let words = format!(
            "{}\n_______________________________________________\nduel mailing list -- duel@lists.example.org\n",
            of.paper
        );
        mail(
            of,
            "Precedence: list\nX-Mailman-Version: 3.3.9\n",
            &text("charset=\"us-ascii\"", Base64, &words),
        )
    }),
    ("text-in-utf-16", |of| {
        mail(of, "", &part("text/plain; charset=utf-16", Base64, &utf_16(&of.paper, u16::to_be_bytes)))
    }),
    ("text-in-latin-1", |of| {
        mail(
            of,
            "",
            &part("text/plain; charset=iso-8859-1", Plain, &bytes_of(&format!("Grüße!\n{}", of.paper), &[])),
        )
    }),
    ("text-in-windows-1252", |of| {
        let table = [('\u{201c}', 0x93), ('\u{201d}', 0x94), ('\u{2019}', 0x92)];
        mail(
            of,
            "",
            &part(
                "text/plain; charset=windows-1252",
                Plain,
                &bytes_of(&format!("It\u{2019}s \u{201c}my\u{201d} move\n{}", of.paper), &table),
            ),
        )
    }),
    ("text-in-koi8-r", |of| {
        mail(
            of,
            "",
            &part(
                "text/plain; charset=koi8-r",
                Base64,
                &bytes_of(
                    &format!("\u{445}\u{43e}\u{434}\n{}", of.paper),
                    &[('\u{445}', 0xc8), ('\u{43e}', 0xcf), ('\u{434}', 0xc4)],
                ),
            ),
        )
    }),
    ("text-in-iso-2022-jp", |of| {
        let greeting = b"\x1b$B$3$s$K$A$O\x1b(B\r\n".to_vec();
        mail(
            of,
            "",
            &part(
                "text/plain; charset=ISO-2022-JP",
                Plain,
                &[greeting, crlf(&of.paper).into_bytes()].concat(),
            ),
        )
    }),
    ("text-in-gb18030", |of| {
        mail(
            of,
            "",
            &part(
                "text/plain; charset=gb18030",
                Base64,
                &[b"\xc4\xe3\xba\xc3\r\n", crlf(&of.paper).as_bytes()].concat(),
            ),
        )
    }),
    ("text-in-an-unknown-encoding", |of| {
        mail(of, "", &part("text/plain; charset=x-unknown", Plain, crlf(&of.paper).as_bytes()))
    }),
    ("html-in-a-table", |of| {
        let rows: String =
            of.paper.lines().flat_map(|line| ["<tr><td style=\"x\">", line, "</td></tr>"]).collect();
        mail(of, "", &html(Base64, &format!("<table><tbody>{rows}</tbody></table>")))
    }),
    ("html-with-entities", |of| {
        let words = of.paper.replace('#', "&#35;").replace(':', "&colon;").replace('-', "&#x2D;");
        mail(of, "", &html(Plain, &broken_lines(&words)))
    }),
    ("without-mime-headers", |of| format!("From: {}\nSubject: move\n\n{}", of.from, of.paper).into_bytes()),
    ("cut-before-its-last-boundary", |of| {
        let whole = mail(of, "", &alternative("cut", covering(&of.paper), html(Plain, "<p>my move</p>")));
        let end = whole.windows(11).position(|bytes| bytes == b"<p>my move<").unwrap();
        whole[..end].to_vec()
    }),
    ("base64-that-is-not", |of| {
        let broken = mail(of, "", &part("text/plain", Base64, b""));
        [broken, crlf(&of.paper).into_bytes()].concat()
    }),
    ("saved-as-text", |of| format!("my move:\n\n{}", of.paper).into_bytes()),
    ("saved-as-text-in-utf-16", |of| utf_16(&of.paper, u16::to_le_bytes)),
    ("saved-as-text-and-quoted", |of| crlf(&quoted(&of.paper, ">> ")).into_bytes()),
];
