//! Any order comes through any changes by mailers as the same paper (PM-6, PM-7).

use proptest::prelude::*;
use turnfold_core::Digest;
use turnfold_core::paper::{Order, Paper, PaperContent, PaperLine, SignedPaper};
use turnfold_core::trust::{KeyKind, PrivateKey};
use turnfold_mail::MailedPaper;

use super::mailer_changes::{VECTOR, mailers};

fn play() -> impl Strategy<Value = PaperLine> {
    let word = "[!-<>-{}~]{1,66}".prop_filter("no word begins with `#`", |word| !word.starts_with('#'));
    let line = proptest::collection::vec(word, 1..9).prop_map(|words| words.join(" ").parse::<PaperLine>());
    line.prop_filter_map("it can be mailed", |line| line.ok().filter(|line| line.require_mailable().is_ok()))
}

fn mailed() -> impl Strategy<Value = MailedPaper> {
    (proptest::collection::vec(play(), 1..9), any::<[u8; 32]>(), any::<bool>()).prop_map(
        |(plays, bytes, wait)| {
            let vector = MailedPaper::find(VECTOR.as_bytes()).remove(0).paper.unwrap();
            let dice = wait.then_some(Digest::new(bytes));
            let order = Order::new(Digest::new(bytes), wait, dice, plays).unwrap();
            let paper = Paper::new(vector.signed.paper().head().clone(), PaperContent::Order(order)).unwrap();
            let key = PrivateKey::of_seed("games.example/ann".parse().unwrap(), KeyKind::Signer, &bytes);
            MailedPaper { signed: SignedPaper::sign(paper, &key), name: "games.example/ann".parse().unwrap() }
        },
    )
}

/// Applies one of the changes that mailers make.
fn passed_on(mail: &str, by: usize) -> String {
    match by {
        0 => mailers::crlf(&mail.replace('\r', "")),
        1 => mailers::quoted(mail, "> "),
        2 => mailers::quoted(mail, ">>"),
        3 => mailers::wrapped(mail, 60),
        4 => mailers::wrapped(mail, 40),
        5 => mailers::no_break(mail),
        6 => mailers::doubled(mail),
        7 => mailers::trailing(mail),
        8 => mailers::stuffed(mail),
        _ => mailers::greeted(mail),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pm_7_every_order_survives_every_journey(paper in mailed(), journey in proptest::collection::vec(0_usize..10, 0..5)) {
        let mail = paper.write().unwrap();
        prop_assert!(mail.lines().all(|line| line.len() <= 72));
        prop_assert!(mail.is_ascii() && !mail.contains('='));
        prop_assert_eq!(mailers::quoted_printable(&mail), mail.clone());
        let arrived = journey.iter().fold(mail, |mail, by| passed_on(&mail, *by));
        let found = MailedPaper::find(arrived.as_bytes());
        prop_assert!(found.len() == 1, "{}", arrived);
        prop_assert_eq!(found[0].paper.as_ref(), Ok(&paper), "{}", arrived);
    }

    #[test]
    fn pm_7_no_mail_makes_reading_fail(mail in proptest::collection::vec(any::<u8>(), 0..200), at in 0..VECTOR.len()) {
        prop_assert!(MailedPaper::find(&mail).iter().all(|found| found.paper.is_err()));
        let (before, after) = VECTOR.as_bytes().split_at(at);
        for found in MailedPaper::find(&[before, &mail, after].concat()) {
            // A paper that was read is written and read back as the same paper.
            let Ok(paper) = found.paper else { continue };
            let Ok(mail) = paper.write() else { continue };
            prop_assert_eq!(&MailedPaper::find(mail.as_bytes()).remove(0).paper, &Ok(paper));
        }
    }
}
