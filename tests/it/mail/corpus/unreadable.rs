//! Shapes of mails without a readable paper.

use super::Shape;
use super::mime::*;

const UTF_8: &str = "charset=\"UTF-8\"";

fn words(text_of: &str) -> Part {
    text(UTF_8, Plain, text_of)
}

pub(super) const SHAPES: &[Shape] = &[
    ("only-words", |of| mail(of, "", &words("I move to 1,2 and then I stand.\n"))),
    ("only-words-in-html", |of| mail(of, "", &html(Base64, "<p>I move to <b>1,2</b></p>"))),
    ("nothing", |of| mail(of, "", &words(""))),
    ("a-picture", |of| {
        mail(of, "", &file("image/jpeg", "IMG_0001.jpg", Base64, b"\xff\xd8\xff\xe0\0\x10JFIF"))
    }),
    ("a-paper-cut-short", |of| mail(of, "", &words(of.paper.split("sig:").next().unwrap()))),
    ("a-paper-with-a-changed-line", |of| {
        mail(of, "", &words(&of.paper.replace("play: switch", "play: tap 9,9")))
    }),
    ("outlook-rich-text", |of| {
        let bytes = [b"\x78\x9f\x3e\x22".to_vec(), (0..=255).collect()].concat();
        mail(
            of,
            "X-Mailer: Microsoft Outlook 16.0\n",
            &file("application/ms-tnef", "winmail.dat", Base64, &bytes),
        )
    }),
    ("encrypted-by-pgp", |of| {
        let version = part("application/pgp-encrypted", Plain, b"Version: 1\r\n");
        let sealed = file(
            "application/octet-stream",
            "encrypted.asc",
            Plain,
            b"-----BEGIN PGP MESSAGE-----\r\n\r\nhQIMA\r\n-----END PGP MESSAGE-----\r\n",
        );
        mail(of, "", &parts("encrypted; protocol=\"application/pgp-encrypted\"", "enc", &[version, sealed]))
    }),
    ("encrypted-by-s-mime", |of| {
        mail(
            of,
            "",
            &file(
                "application/pkcs7-mime; smime-type=enveloped-data",
                "smime.p7m",
                Base64,
                b"0\x82\x01\x02\x06",
            ),
        )
    }),
    ("a-notice-of-absence", |of| {
        mail(
            of,
            "Auto-Submitted: auto-replied\nX-Autoreply: yes\n",
            &words("I am on holiday until Monday.\n"),
        )
    }),
    ("a-bounce", |of| {
        let status = part(
            "message/delivery-status",
            Plain,
            b"Reporting-MTA: dns; mx.example.net\r\n\r\nAction: failed\r\nStatus: 5.1.1\r\n",
        );
        let bounce = mail(
            of,
            "",
            &parts(
                "report; report-type=delivery-status",
                "dsn",
                &[words("The mail could not be delivered.\n"), status],
            ),
        );
        String::from_utf8(bounce)
            .unwrap()
            .replace(&format!("Return-Path: <{}>", of.from), "Return-Path: <>")
            .into_bytes()
    }),
    ("a-read-receipt", |of| {
        let receipt =
            part("message/disposition-notification", Plain, b"Disposition: manual-action; displayed\r\n");
        mail(
            of,
            "",
            &parts(
                "report; report-type=disposition-notification",
                "mdn",
                &[words("The mail was displayed.\n"), receipt],
            ),
        )
    }),
    ("from-a-stranger", |of| {
        let other = Written { paper: String::new(), from: "dan@example.net", name: "Dan", index: of.index };
        mail(&other, "", &words("Can I join?\n"))
    }),
    ("bytes-that-are-no-mail", |_| (0..=255).collect()),
];
