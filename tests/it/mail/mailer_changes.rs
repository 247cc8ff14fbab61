//! Papers in mails whose lines mailers have changed (PM-6, PM-7): the paper of `mail.md` in each row of its table.

use turnfold_core::paper::{Nonce, Order, Paper, PaperContent, PaperHead, PaperLine, SeatKey, SignedPaper};
use turnfold_mail::{FoundPaper, MailedPaper};

use crate::papers::{DIGEST, ann, vector};

/// The paper of `mail.md` as in a mail.
pub(super) const VECTOR: &str = concat!(
    vector!(),
    "sig: ann.example
sig: DEWZYBJ/OuMLgi8ISpNlVtn7qVzBMVPR4bL4wDllNJ8lAU
sig: hINSrQ6l7km/cZrafGETL7QH4+ajUof1mPA/YIL3xa0gk
#turnfold end
"
);

/// Returns the one paper of a mail.
fn only(mail: &str) -> Result<MailedPaper, String> {
    let mut found = MailedPaper::find(mail.as_bytes());
    assert_eq!(found.len(), 1, "{mail}");
    found.remove(0).paper.map_err(|error| error.0)
}

/// Changes that mailers and people make to a text.
pub(super) mod mailers {
    /// Puts a mark before each line.
    pub(crate) fn quoted(text: &str, mark: &str) -> String {
        text.lines().flat_map(|line| [mark, line, "\n"]).collect()
    }

    /// Breaks lines with more characters than this at spaces. A line without a space stays long.
    pub(crate) fn wrapped(text: &str, width: usize) -> String {
        let mut out = String::new();
        for line in text.lines() {
            let mut room = width;
            for (index, word) in line.split(' ').enumerate() {
                let fits = word.len() < room;
                out.push_str(if index == 0 {
                    ""
                } else if fits {
                    " "
                } else {
                    "\n"
                });
                out.push_str(word);
                room = if fits || index == 0 { room } else { width }.saturating_sub(word.len() + 1);
            }
            out.push('\n');
        }
        out
    }

    /// Converts line ends to those of mails.
    pub(crate) fn crlf(text: &str) -> String {
        text.replace('\n', "\r\n")
    }

    /// Replaces spaces with no-break spaces.
    pub(crate) fn no_break(text: &str) -> String {
        text.replace(' ', "\u{a0}")
    }

    /// Doubles every space and every line end.
    pub(crate) fn doubled(text: &str) -> String {
        text.replace(' ', "  ").replace('\n', "\n\n")
    }

    /// Adds blanks to the end of each line.
    pub(crate) fn trailing(text: &str) -> String {
        text.replace('\n', " \t \n")
    }

    /// Stuffs lines as in RFC 3676, but all of them.
    pub(crate) fn stuffed(text: &str) -> String {
        quoted(text, " ")
    }

    /// Capitalizes keywords, as some phones do at the beginning of a line.
    pub(crate) fn capital(text: &str) -> String {
        let line = |line: &str| match line.split_once(": ") {
            Some((keyword, value)) => format!("{}: {value}\n", keyword.to_ascii_uppercase()),
            None => format!("{line}\n"),
        };
        text.lines().map(line).collect()
    }

    /// Encodes a text as quoted-printable (RFC 2045), with soft line ends.
    pub(crate) fn quoted_printable(text: &str) -> String {
        let mut out = String::new();
        for line in text.lines() {
            let mut length = 0;
            let last = line.len().saturating_sub(1);
            for (index, byte) in line.bytes().enumerate() {
                let is_plain = (b'!'..=b'~').contains(&byte) && byte != b'=' || byte == b' ' && index != last;
                let code = if is_plain { char::from(byte).to_string() } else { format!("={byte:02X}") };
                if length + code.len() > 75 {
                    out.push_str("=\n");
                    length = 0;
                }
                length += code.len();
                out.push_str(&code);
            }
            out.push('\n');
        }
        out
    }

    /// Surrounds a text with a letter, a signature block and a quoted mail.
    pub(crate) fn greeted(text: &str) -> String {
        format!(
            "Hé Ben = friend,\n\nmy move: seat p1, play: all of it!\n\n{text}\n-- \nAnn\nsig: ann\n\
             On Monday the host wrote:\n> play: something\n> #turnfold end\n"
        )
    }
}

#[test]
fn pm_6_the_paper_of_the_page_is_written_as_it_stands_there() {
    let paper = only(VECTOR).unwrap();
    assert_eq!(paper.signed.paper().digest().to_string(), DIGEST);
    assert!(paper.signed.is_by(&SeatKey::of(&ann()).unwrap()));
    assert_eq!(paper.name.as_str(), "ann.example");
    assert_eq!(paper.write().as_deref(), Ok(VECTOR));
    assert_eq!(SignedPaper::sign(paper.signed.paper().clone(), &ann()), paper.signed);
}

#[test]
fn pm_7_nothing_that_mailers_do_changes_a_paper() {
    use mailers::*;
    let read = only(VECTOR).unwrap();
    let both = quoted(&wrapped(VECTOR, 40), "> ") + "\n";
    for (what, mail) in [
        ("CRLF", crlf(VECTOR)),
        ("quoted", quoted(VECTOR, "> ")),
        ("quoted twice", quoted(VECTOR, ">> ")),
        ("quoted twice, apart", quoted(VECTOR, "> > ")),
        ("wrapped at 60", wrapped(VECTOR, 60)),
        ("wrapped at 40", wrapped(VECTOR, 40)),
        ("wrapped at 20", wrapped(VECTOR, 20)),
        ("wrapped and quoted", both.clone()),
        ("quoted and wrapped", wrapped(&quoted(VECTOR, "> "), 40)),
        ("no-break spaces", no_break(VECTOR)),
        ("double-spaced", doubled(VECTOR)),
        ("trailing blanks", trailing(VECTOR)),
        ("space-stuffed", stuffed(VECTOR)),
        ("capital keywords", capital(VECTOR)),
        ("quoted-printable", quoted_printable(VECTOR)),
        ("greeted", greeted(VECTOR)),
        ("greeted, as quoted-printable", quoted_printable(&greeted(VECTOR))),
        ("a byte order mark", format!("\u{feff}{VECTOR}")),
        ("everything", crlf(&greeted(&quoted(&no_break(&doubled(&capital(&wrapped(VECTOR, 40)))), ">> ")))),
    ] {
        assert_eq!(only(&mail), Ok(read.clone()), "{what}:\n{mail}");
    }
    // A greeting that is not UTF-8.
    assert_eq!(MailedPaper::find(&[b"H\xe9!\n", VECTOR.as_bytes()].concat())[0].paper, Ok(read));
}

/// Replaces a part of the vector in a mail. Returns what is wrong with it, or whether the signature is valid.
fn changed(from: &str, to: &str) -> Result<bool, String> {
    assert!(VECTOR.contains(from), "{from}");
    let paper = only(&VECTOR.replacen(from, to, 1))?;
    Ok(paper.signed.is_by(&SeatKey::of(&ann()).unwrap()))
}

#[test]
fn pm_7_what_is_changed_is_not_signed_or_no_paper() {
    assert_eq!(changed("play: stand", "play: stand"), Ok(true));
    for (from, to) in [
        ("turn: 2", "turn: 3"),
        ("2,-3", "2,-4"),
        ("play: stand\n", ""),
        ("play: stand\n", "play: stand\nplay: stand\n"),
        ("play: move 2,-3\nplay: stand\n", "play: stand\nplay: move 2,-3\n"),
        ("sig: D", "sig: E"),
    ] {
        assert_eq!(changed(from, to), Ok(false), "{from} → {to}");
    }
    for (from, to, error) in [
        ("#turnfold end\n", "", "expected `#turnfold end` at the end of the paper, found none"),
        ("sig: ann.example\n", "", "expected a key name"),
        ("sig: hINS", "sig: =hINS", "expected a signature of 91 characters of base64"),
        ("sig: ann", "play: stand\nsig: ann", ""),
        ("sig: DEWZ", "play: stand\nsig: DEWZ", "expected nothing but `sig: …` behind the first of them"),
        ("turn: 2\n", "", "expected `turn: …`"),
        ("paper: order", "hello\npaper: order", "expected `paper: …`"),
        ("paper: order", "more: x\npaper: order", "expected `paper: …`"),
        ("play: stand", "if: due\nplay: stand", "found `if: due`"),
        ("paper: order", "paper: cancel", "expected `seen: …`"),
    ] {
        match changed(from, to) {
            Ok(is_signed) => assert!(error.is_empty() && !is_signed, "{from} → {to}"),
            Err(found) => assert!(!error.is_empty() && found.contains(error), "{from} → {to}: {found}"),
        }
    }
}

#[test]
fn pm_7_a_file_may_hold_several_papers_and_none() {
    assert_eq!(MailedPaper::find(b"Dear Ben,\n#turnfold end\nplay: stand\n"), []);
    assert_eq!(MailedPaper::find(b""), []);
    let cut = VECTOR.replace("#turnfold end\n", "");
    let mail = format!("Two of them:\n{cut}{VECTOR}\nand\n{}", mailers::quoted(VECTOR, "> "));
    let found = MailedPaper::find(mail.as_bytes());
    let papers: Vec<_> = found.iter().map(|FoundPaper { line, paper }| (*line, paper.is_ok())).collect();
    assert_eq!(papers, [(2, false), (17, true), (35, true)], "{found:#?}");
}

/// Writes an order of one command with the vector's key.
fn order(play: &str) -> Result<String, String> {
    let vector = only(VECTOR).unwrap();
    let PaperHead { match_id, seat, number, turn, seen, .. } = vector.signed.paper().head().clone();
    let head = PaperHead { match_id, seat, number, turn, seen, nonce: Nonce::new([1; 16]) };
    let play: PaperLine = play.parse().map_err(|error| format!("{error:?}"))?;
    let PaperContent::Order(order) = vector.signed.paper().content() else { panic!("it is an order") };
    let order = Order::new(order.link(), true, None, vec![play]).unwrap();
    let signed = SignedPaper::sign(Paper::new(head, PaperContent::Order(order)).unwrap(), &ann());
    let mailed = MailedPaper { signed, name: "ann.example".parse().unwrap() };
    let mail = mailed.write().map_err(|error| error.0)?;
    assert_eq!(only(&mail), Ok(mailed));
    Ok(mail)
}

#[test]
fn pm_6_long_lines_go_on_in_further_ones() {
    let words = "a".repeat(66) + " " + &"b".repeat(66) + " -c From .d " + &"e ".repeat(70) + "f";
    let mail = order(&words).unwrap();
    assert!(mail.contains(&format!(
        "play: {}\nmore: {}\nmore: -c From .d e e",
        "a".repeat(66),
        "b".repeat(66)
    )));
    assert!(mail.lines().all(|line| line.len() <= 72 && !line.ends_with(' ')), "{mail}");
    let begins = ["#turnfold ", "more: ", "play: ", "sig: "];
    assert!(mail.lines().skip(10).all(|line| begins.iter().any(|begin| line.starts_with(begin))), "{mail}");
}

#[test]
fn pm_7_commands_that_cannot_be_mailed_are_refused() {
    for (play, is_mailable) in [
        ("move 2,-3", true),
        ("order: to-gether", true),
        ("go to: there", false),
        ("go MORE: there", false),
        ("go sig: there", false),
        (">move", false),
        ("a #b", false),
        ("a=b", false),
        ("a | b", false),
        ("a  b", false),
        ("é", false),
        (&"x".repeat(66), true),
        (&"x".repeat(67), false),
    ] {
        assert_eq!(order(play).is_ok(), is_mailable, "{play}");
    }
}
