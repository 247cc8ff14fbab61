//! Players with only a mail program, who answer letters with a reply code and commands (PM-38, PM-43).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::Seat;
use turnfold_tests::mailbox::Mailbox;

const P1: Seat = Seat::P1;
const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\n";

/// Returns the newest letter to a seat, with only line feeds as line ends.
fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let mine = format!("-{seat}");
    let name = mailbox.letters().into_iter().rfind(|name| name.contains(&mine)).unwrap();
    mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")).replace('\r', "")
}

/// Returns the text of a letter, without its attachment.
fn text(letter: &str) -> &str {
    letter.split("application/octet-stream").next().unwrap()
}

/// Returns the code in a letter.
fn code(letter: &str) -> &str {
    letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap()
}

/// Answers with a code and takes the mail. Returns the exit code and the output.
fn reply(mailbox: &Mailbox, name: &str, code: &str, lines: &str) -> (i32, String) {
    mailbox.sandbox.write(name, format!("code {code}\n{lines}\n\nGreetings\n"));
    take(mailbox, name)
}

fn take(mailbox: &Mailbox, name: &str) -> (i32, String) {
    let output = mailbox.sandbox.run(&format!("mail take duel {name} --key host.key"));
    (output.status.code().unwrap(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn run(mailbox: &Mailbox, at: &str, options: &str) -> String {
    mailbox.sandbox.ok(&format!("mail run duel --key host.key --at 2025-01-{at}T12:00:00Z {options}"))
}

/// Returns a match of two players without keys, whose first turn is open.
fn begun() -> Mailbox {
    let mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    for (seat, name) in [("p1", "Ben Miller"), ("p2", "Cleo")] {
        let code = code(&newest(&mailbox, seat)).to_owned();
        let (status, output) = reply(&mailbox, "join.txt", &code, &format!("join {name}"));
        assert!(status == 0 && output.contains(&format!("{seat} enter 0: applied")), "{output}");
    }
    run(&mailbox, "06", "--roll 1 1 2 2");
    mailbox
}

#[test]
fn pm_38_two_players_without_keys_join_and_order_by_the_codes_of_their_letters() {
    let mailbox = begun();
    let letter = newest(&mailbox, "p1");
    assert!(text(&letter).starts_with("Subject: [duel] turn 1: your order, please"), "{letter}");
    assert!(text(&letter).contains("Dear Ben Miller,") && !text(&letter).contains("mail write"), "{letter}");
    // The whole letter is quoted, and the commands are written between its lines.
    let quoted: String = text(&letter).lines().flat_map(|line| ["> ", line, "\n"]).collect();
    let (head, tail) =
        quoted.split_once("\n>\n>     (end)").or_else(|| quoted.split_once("\n> \n>     (end)")).unwrap();
    mailbox.sandbox.write("order.txt", format!("{head}\nconfirm\n> stand\n>     (end){tail}"));
    let (status, output) = take(&mailbox, "order.txt");
    assert!(status == 0 && output.contains("p1 order 1: applied"), "{output}");
    // The same mail again gets the same answer, and is recorded once.
    let (status, output) = take(&mailbox, "order.txt");
    assert!(status == 0 && output.contains("p1 order 1: applied, as before"), "{output}");
    let ran = run(&mailbox, "07", "");
    assert!(ran.contains("carried seat=p1") && ran.contains("seats=p2"), "{ran}");
    let second = code(&newest(&mailbox, "p2")).to_owned();
    let (status, output) = reply(&mailbox, "order.txt", &second, "click 0,-2\nstand");
    assert!(status == 0 && output.contains("p2 order 1: applied"), "{output}");
    run(&mailbox, "08", "");
    // The host vouches for the orders of both players.
    mailbox.sandbox.ok("bundle duel duel.desk --key host.key -o whole.bundle");
    let output = mailbox.sandbox.run("audit whole.bundle");
    let audit = String::from_utf8(output.stdout).unwrap();
    assert!(
        audit.contains("authorship   NOT CHECKED p1, p2 ordered by plain mail: the host vouches"),
        "{audit}"
    );
    assert!(!audit.contains("FAIL"), "{audit}");
}

#[test]
fn pm_38_a_used_or_older_code_and_a_code_of_no_seat_are_answered_as_such() {
    let mailbox = begun();
    let first = code(&newest(&mailbox, "p1")).to_owned();
    let joining = mailbox.sandbox.read(".turnfold/outbox/00000001-p1.eml").replace('\r', "");
    let (status, output) = reply(&mailbox, "again.txt", code(&joining), "join Bob");
    assert!(
        status == 1 && output.contains("p1 reply: not_taken: This code was for joining and is used"),
        "{output}"
    );
    let (status, output) = reply(&mailbox, "other.txt", "2222-3333-4444", "stand");
    assert!(status == 1 && output.contains("other.txt:1: reply: unknown_code"), "{output}");
    reply(&mailbox, "order.txt", &first, "confirm\nstand");
    run(&mailbox, "07", "");
    let (status, output) = reply(&mailbox, "late.txt", &first, "confirm\nstand");
    let why = "This code was for turn 1, and the match is at turn 2. Use the code of the newest letter.";
    assert!(status == 1 && output.contains(why), "{output}");
    let letters: Vec<_> = mailbox.letters();
    let read = |name: &String| mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")).replace('\r', "");
    let mut refused =
        letters.iter().map(read).filter(|letter| letter.contains("Subject: [duel] your mail was not taken"));
    let letter =
        refused.find(|letter| letter.replace("\n    ", " ").contains("the match is at turn 2")).unwrap();
    assert!(code(&letter) != first);
}

#[test]
fn pm_43_questions_and_mistakes_are_answered_and_not_recorded() {
    let mailbox = begun();
    let key = code(&newest(&mailbox, "p1")).to_owned();
    let head = mailbox.sandbox.ok("log duel.desk").lines().count();
    for (name, lines, heading) in [
        ("help.txt", "help", "What you can write"),
        ("board.txt", "board", "The game as you see it"),
        ("legal.txt", "legal", "Commands that the game would take first"),
        ("who.txt", "who", "The players"),
    ] {
        let (status, output) = reply(&mailbox, name, &key, lines);
        assert!(status == 0 && output.contains("p1 reply: answered"), "{output}");
        let letters: Vec<_> = mailbox.letters();
        let found = letters.iter().any(|letter| {
            let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}")).replace('\r', "");
            letter.contains("your question") && letter.contains(&format!("\n{heading}\n---"))
        });
        assert!(found, "{heading}: {letters:?}");
    }
    for (name, lines, why) in [
        ("dance.txt", "dance", "`dance` was not understood"),
        ("away.txt", "absent until Christmas", "write a day such as"),
        ("refused.txt", "next-turn", "The game would refuse the order"),
        ("idle.txt", "stand", "`stand` would change nothing"),
    ] {
        let (status, output) = reply(&mailbox, name, &key, lines);
        assert!(status == 1 && output.contains(why), "{lines}: {output}");
    }
    assert_eq!(mailbox.sandbox.ok("log duel.desk").lines().count(), head);
}

#[test]
fn pm_38_a_code_is_in_no_log_bundle_or_letter_of_another_seat() {
    let mailbox = begun();
    let codes: Vec<String> =
        ["p1", "p2"].into_iter().map(|seat| code(&newest(&mailbox, seat)).replace('-', "")).collect();
    reply(&mailbox, "order.txt", &codes[0], "press all: hello\nconfirm\nstand");
    run(&mailbox, "07", "");
    mailbox.sandbox.ok("bundle duel duel.desk --key host.key -o whole.bundle");
    let mut texts = vec![
        mailbox.sandbox.ok("log duel.desk"),
        mailbox.sandbox.ok("log duel.desk --format json"),
        mailbox.sandbox.ok("export duel.desk"),
        String::from_utf8_lossy(&std::fs::read(mailbox.sandbox.path("whole.bundle")).unwrap()).into_owned(),
    ];
    let of_p2 = mailbox.letters().into_iter().filter(|name| name.contains("-p2"));
    texts.extend(of_p2.map(|name| mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))));
    for text in texts {
        assert!(!text.replace('-', "").contains(&codes[0]), "{text}");
    }
    assert!(codes[0] != codes[1]);
}

#[test]
fn pm_38_seats_without_keys_go_with_neither_seals_nor_fair_dice() {
    for (terms, options, why) in [
        ("sealed = true", "", "plain[0]: expected no seat with `sealed`"),
        ("", "--dice fair", "plain[0]: expected no seat with fair dice"),
    ] {
        let mailbox = Mailbox::new(&format!("{TERMS}{terms}\n"));
        let line = turnfold_tests::mailbox::open_line("initiative", "small-board.toml", options);
        let error = String::from_utf8(mailbox.sandbox.run(&line).stderr).unwrap();
        assert!(error.contains(why), "{error}");
    }
    // A player with a key may also take such a seat.
    let mut mailbox = Mailbox::opened("initiative", "small-board.toml", TERMS, "");
    mailbox.join(&[P1]);
    assert!(mailbox.sandbox.ok("mail status duel").contains("p1.example"));
}

/// Writes a mail with these headers and this body, and takes it.
fn mailed(mailbox: &Mailbox, headers: &str, body: &[u8]) -> (i32, String) {
    let head = format!("From: ben@example.org\nMessage-ID: <{}@example.org>\n{headers}\n\n", body.len());
    mailbox.sandbox.write("mail.eml", [head.as_bytes(), body].concat());
    take(mailbox, "mail.eml")
}

#[test]
fn pm_50_words_in_the_charsets_of_china_japan_and_korea_are_recorded_as_they_were_written() {
    let mailbox = begun();
    let code = code(&newest(&mailbox, "p1")).to_owned();
    for (number, (charset, words, recorded)) in [
        ("gb2312", b"\xc4\xe3\xba\xc3".as_slice(), "%E4%BD%A0%E5%A5%BD"),
        ("GBK", b"\xc4\xe3\xba\xc3", "%E4%BD%A0%E5%A5%BD"),
        ("big5", b"\xa7\x41\xa6\x6e", "%E4%BD%A0%E5%A5%BD"),
        ("EUC-KR", b"\xb0\xa1", "%EA%B0%80"),
        ("Shift_JIS", b"\x82\xa0", "%E3%81%82"),
        ("iso-2022-jp", b"\x1b$B$\"\x1b(B", "%E3%81%82"),
    ]
    .into_iter()
    .enumerate()
    {
        // An order is executed at once and ends the turn, so only the last mail has one.
        let order = if number == 5 { "\nconfirm\nstand\n" } else { "\n" };
        let lines = format!("code {code}\npress all: n{number} ");
        let body = [lines.as_bytes(), words, order.as_bytes()].concat();
        let headers = format!("MIME-Version: 1.0\nContent-Type: text/plain; charset={charset}");
        let (status, output) = mailed(&mailbox, &headers, &body);
        assert!(status == 0 && output.contains(": applied"), "{charset}: {output}");
        let log = mailbox.sandbox.ok("log duel.desk");
        assert!(log.contains(&format!("n{number} {recorded}")), "{charset}: {log}");
    }
}

#[test]
fn pm_50_a_line_that_cannot_be_decoded_costs_no_other() {
    let mailbox = begun();
    let code = code(&newest(&mailbox, "p1")).to_owned();
    let body = format!("code {code}\npress all: \u{e}0!\u{f}\nconfirm\nstand\n");
    let headers = "MIME-Version: 1.0\nContent-Type: text/plain; charset=iso-2022-kr";
    let (status, output) = mailed(&mailbox, headers, body.as_bytes());
    assert!(status == 1 && output.contains("p1 order 1: applied"), "{output}");
    let why = "could not be read in the charset `iso-2022-kr`, so this line was not taken";
    assert!(output.contains(why), "{output}");
    assert!(!mailbox.sandbox.ok("log duel.desk").contains("press"));
    let letters = mailbox.letters();
    let mut letters = letters.iter().map(|name| mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")));
    assert!(letters.any(|letter| letter.contains("Subject: [duel] a line of your mail was not taken")));
    // Words that do not fit into a paper do not invalidate the order.
    let mailbox = begun();
    let code = self::code(&newest(&mailbox, "p1")).to_owned();
    let (status, output) = reply(&mailbox, "order.txt", &code, "press all: a\u{202e}b\nconfirm\nstand");
    assert!(status == 1 && output.contains("p1 order 1: applied"), "{output}");
}

#[test]
fn pm_50_base64_is_read_without_padding_and_before_the_footer_of_a_list() {
    let mailbox = begun();
    let code = code(&newest(&mailbox, "p1")).to_owned();
    let headers =
        "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64";
    for (number, place) in ["0,-10", "0,-100", "0,-1000"].into_iter().enumerate() {
        let body = format!("code {code}\npress all: n{number} at {place}");
        let encoded = STANDARD.encode(&body);
        let (status, output) = mailed(&mailbox, headers, encoded.trim_end_matches('=').as_bytes());
        assert!(status == 0 && output.contains(": applied"), "{output}");
        let log = mailbox.sandbox.ok("log duel.desk");
        assert!(log.contains(&format!("n{number} at {place}")), "{log}");
    }
    for headers in [headers, &headers.replace("base64", "quoted-printable")] {
        let body = format!("code {code}\npress all: before the footer\n\n");
        let is_base64 = headers.ends_with("base64");
        let encoded = if is_base64 { STANDARD.encode(&body) } else { body };
        let mail = format!("{encoded}\n\n_____\nOur list =\nhttps://lists.example.org/?a=b\n");
        let (status, output) = mailed(&mailbox, headers, mail.as_bytes());
        assert!(status == 0 && output.contains(": applied"), "{output}");
    }
}

/// RFC 3834: the stricter of two headers counts, in either order.
#[test]
fn pm_51_a_mail_with_two_headers_of_a_program_is_of_a_program() {
    let mailbox = begun();
    let code = code(&newest(&mailbox, "p1")).to_owned();
    for headers in [
        "Auto-Submitted: no\nAuto-Submitted: auto-replied",
        "Auto-Submitted: auto-replied\nAuto-Submitted: no",
        "Precedence: list\nPrecedence: bulk",
    ] {
        let (status, output) = mailed(&mailbox, headers, format!("code {code}\nconfirm\nstand\n").as_bytes());
        assert!(status == 0 && output.contains("a program sent it"), "{headers}: {output}");
    }
    let (status, output) =
        mailed(&mailbox, "Auto-Submitted: no", format!("code {code}\nconfirm\nstand\n").as_bytes());
    assert!(status == 0 && output.contains("p1 order 1: applied"), "{output}");
}
