//! What people type above, within and below the letter that they answer (PM-90, PM-91).

use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\nhurry = false\n";

/// Returns a match of two players without keys at turn 1.
fn begun(rules: &str, setup: &str, options: &str) -> Mailbox {
    let mailbox = Mailbox::opened(rules, setup, TERMS, "");
    for (seat, name) in [("p1", "Ann"), ("p2", "Ben")] {
        let printed = take(&mailbox, &format!("code {}\njoin {name}\n", code(&mailbox, seat))).1;
        assert!(printed.contains(": applied"), "{printed}");
    }
    mailbox.sandbox.ok(&format!("mail run duel --key host.key --at 2025-01-06T12:00:00Z {options}"));
    mailbox
}

/// Returns the newest letter to a seat, without its attachment.
fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let name = mailbox.letters().into_iter().rfind(|name| name.contains(&format!("-{seat}"))).unwrap();
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")).replace('\r', "");
    let (_, text) = letter.split_once("7bit\n\n").unwrap();
    text.split("\n--turnfold").next().unwrap().to_owned()
}

fn code(mailbox: &Mailbox, seat: &str) -> String {
    let letter = newest(mailbox, seat);
    letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned()
}

/// Takes a mail with this text. Returns the exit code and the output.
fn take(mailbox: &Mailbox, text: &str) -> (i32, String) {
    let id = blake3::hash(text.as_bytes()).to_hex();
    let head = format!("From: ann@example.org\nMessage-ID: <{id}@example.org>\n");
    mailbox.sandbox.write("mail.eml", format!("{head}Content-Type: text/plain; charset=utf-8\n\n{text}"));
    let output = mailbox.sandbox.run("mail take duel mail.eml --key host.key");
    (output.status.code().unwrap(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Requires the text of a mail to be taken as this order of p1.
#[track_caller]
fn orders(mailbox: &Mailbox, text: &str, order: &str) {
    let (status, printed) = take(mailbox, text);
    assert!(status == 0 && printed.contains(": applied"), "{text}: {printed}");
    let log = mailbox.sandbox.ok("log duel.desk");
    let last = log.lines().rfind(|line| line.contains("paper: order")).unwrap();
    let plays = format!(" | play: {}", order.replace("; ", " | play: "));
    assert!(last.contains(&format!("{plays} | sent ")), "{text}: {last}");
}

/// Requires that nothing is taken from a mail, and that the answer states why.
#[track_caller]
fn answers(mailbox: &Mailbox, text: &str, why: &[&str]) {
    let head = mailbox.sandbox.ok("log duel.desk").lines().count();
    let (status, printed) = take(mailbox, text);
    let letter = printed
        .lines()
        .find_map(|line| line.strip_prefix("letter "))
        .unwrap_or_else(|| panic!("{text}: {printed}"));
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}"));
    let letter = letter.split_whitespace().collect::<Vec<_>>().join(" ");
    for why in why {
        assert!(
            status == 1 && printed.contains(why) && letter.contains(why),
            "{text}: {why}: {printed}{letter}"
        );
    }
    assert_eq!(mailbox.sandbox.ok("log duel.desk").lines().count(), head, "{text}");
}

#[test]
fn pm_91_commands_are_read_as_people_type_them() {
    let mailbox = begun("cycletap", "ford.toml", "");
    let code = code(&mailbox, "p1");
    let order = "tap 0,1; switch";
    for lines in [
        "Tap 0,1\nSwitch",
        "TAP 0,1\nSWITCH",
        "- tap 0,1\n- switch",
        "* tap 0,1\n* switch",
        "\u{2022} tap 0,1\n\u{2022} switch",
        "1. tap 0,1\n2. switch",
        "1) Tap 0,1\n2) Switch",
        "*tap 0,1*\n*switch*",
        "\u{201c}tap 0,1\u{201d}\n`switch`",
        "tap 0, 1\nswitch.",
        "tap 0 , 1.\nswitch!",
        "tap 0,1; switch",
        "Tap 0, 1; Switch.",
    ] {
        orders(&mailbox, &format!("code {code}\n{lines}\n"), order);
    }
    let spaced = code.replace('-', " ");
    for text in [
        format!("code {spaced}\ntap 0,1\nswitch\n"),
        format!("Code: {}\ntap 0,1\nswitch\n", code.to_lowercase()),
        format!("code {code} tap 0,1\nswitch\n"),
        format!("**code {code}**\ntap 0,1\nswitch\n"),
        format!("code {}\ntap 0,1\nswitch\n", code.replace('-', "\u{2013}")),
    ] {
        orders(&mailbox, &text, order);
    }
    for minus in ["-", "\u{2212}", "\u{2013}", "- "] {
        orders(&mailbox, &format!("code {code}\ntap {minus}1,2\nswitch\n"), "tap -1,2; switch");
    }
    answers(&mailbox, &format!("code {code}\ntab 0,1\nswitch\n"), &["`tab 0,1` was not understood"]);
    answers(&mailbox, &format!("code {code}\ntap 0,1; jump\n"), &["`jump` was not understood"]);
}

#[test]
fn pm_90_the_lines_above_and_below_the_quoted_letter_are_the_order() {
    let mailbox = begun("cycletap", "ford.toml", "");
    let letter = newest(&mailbox, "p1");
    let quoted: String = letter.lines().flat_map(|line| ["> ", line, "\n"]).collect();
    let order = "tap 0,1; switch";
    let lines = "tap 0,1\nswitch\n";
    let outlook = "From: games@example.org <games@example.org>\nSent: Monday, January 6, 2025 1:00 PM\nTo: ann@example.org\nSubject: [duel] turn 1: your order, please\n";
    for (number, text) in [
        format!("Hi host,\n\n{lines}\nOn Mon, Jan 6, 2025 at 1:00 PM <games@example.org> wrote:\n\n{quoted}"),
        format!("Hi host,\n{lines}Bye, Ann\n\nAm 06.01.2025 um 13:00 schrieb games@example.org:\n{quoted}"),
        format!("On Mon, Jan 06, 2025 at 12:00:00PM -0000, games@example.org wrote:\n{quoted}{lines}"),
        format!("On Mon, 6 Jan 2025, games@example.org wrote:\n\n{quoted}\n{lines}\n-- \nAnn\nswitch\n"),
        format!("{lines}\nSent from my iPhone\n\n> On 6. Jan 2025, at 13:00, games@example.org wrote:\n> \n{quoted}"),
        format!("{lines}\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n{outlook}\n{letter}"),
        format!("{lines}\n-----Original Message-----\n{outlook}\n{letter}"),
        format!("{lines}\n{letter}"),
    ]
    .into_iter()
    .enumerate()
    {
        orders(&mailbox, &format!("{text}\nNumber {number}\n"), order);
    }
    let filled = |lines: &str| {
        let (head, tail) = quoted.split_once(">     (end)").unwrap();
        format!("{head}{lines}>     (end){tail}")
    };
    orders(&mailbox, &filled("tap 0,1\n> switch\n"), order);
    orders(&mailbox, &format!("{lines}\n{}", filled(lines)), order);
    let both = ["Your mail has two different orders: `tap 0,1` and `switch`.", "Nothing was taken"];
    answers(&mailbox, &format!("tap 0,1\n\n{}", filled("switch\n")), &both);
    answers(&mailbox, &format!("tap 0,1\n\n{quoted}\nswitch\n"), &both);
    answers(&mailbox, &format!("tap 0,1 now\nswitch\n\n{quoted}"), &["`tap 0,1 now` was not understood"]);
}

/// About ten thousand words that look like codes, and as many lines that could begin a letter, take no more time than
/// any mail.
#[test]
fn pm_90_a_hostile_mail_is_read_like_another() {
    let mailbox = begun("cycletap", "ford.toml", "");
    let code = code(&mailbox, "p1");
    let like_codes: String = (0..45_000_u32)
        .map(|number| format!("code 2222-{:04}-{:04}\n", 2222 + number % 7777, number % 9999))
        .collect::<Vec<_>>()
        .concat();
    orders(&mailbox, &format!("code {code}\ntap 0,1\nswitch\n(end)\n{like_codes}"), "tap 0,1; switch");
    let like_letters = "Dear a,\n".repeat(110_000);
    orders(&mailbox, &format!("code {code}\nswitch\n(end)\n{like_letters}"), "switch");
}

#[test]
fn pm_91_a_command_off_turn_is_not_your_turn() {
    let mailbox = begun("initiative", "small-board.toml", "--roll 1 1 2 2");
    let code = code(&mailbox, "p2");
    answers(
        &mailbox,
        &format!("code {code}\nmarch on\n"),
        &["It is not your turn, so `march on` was not taken."],
    );
    let (status, printed) = take(&mailbox, &format!("code {code}\nstand\n"));
    assert!(status == 0 && printed.contains("p2 order 1: ignored not_due"), "{printed}");
    let letter = newest(&mailbox, "p2").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(letter.contains("it is not your turn (not_due)"), "{letter}");
}

/// Takes a mail of p1 with a date, and returns the output.
fn dated(mailbox: &Mailbox, name: &str, date: &str, lines: &str) -> String {
    let code = code(mailbox, "p1");
    let head = format!("From: ann@example.org\nDate: {date}\nMessage-ID: <{name}@example.org>\n");
    mailbox.sandbox.write(name, format!("{head}\ncode {code}\n{lines}\n"));
    mailbox.sandbox.ok(&format!("mail take duel {name} --key host.key"))
}

/// Runs the turn, and returns `true` if it played the order of p1.
fn played(mailbox: &Mailbox) -> bool {
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-10T12:00:00Z");
    mailbox.sandbox.ok("log duel").contains("p1 tap 0,1")
}

#[test]
fn pm_92_of_two_orders_the_one_that_was_sent_later_counts_whichever_comes_first() {
    let (ten, eleven) = ("Tue, 7 Jan 2025 10:00:00 +0000", "Tue, 7 Jan 2025 12:00:00 +0100");
    let mailbox = begun("cycletap", "ford.toml", "");
    let first = dated(&mailbox, "b.eml", eleven, "switch");
    assert!(first.contains("p1 order 1: applied"), "{first}");
    let second = dated(&mailbox, "a.eml", ten, "tap 0,1\nswitch");
    assert!(second.contains("p1 order 1: ignored outdated"), "{second}");
    let letter = newest(&mailbox, "p1").split_whitespace().collect::<Vec<_>>().join(" ");
    let both = "You sent it on Tue 7 Jan 2025, 10:00 UTC. Your order of Tue 7 Jan 2025, 11:00 UTC is newer and counts: switch.";
    assert!(letter.contains(both), "{letter}");
    let again = dated(&mailbox, "a.eml", ten, "tap 0,1\nswitch");
    assert!(again.contains("p1 order 1: ignored outdated"), "{again}");
    assert!(!played(&mailbox));
    let mailbox = begun("cycletap", "ford.toml", "");
    dated(&mailbox, "a.eml", ten, "tap 0,1\nswitch");
    let second = dated(&mailbox, "b.eml", eleven, "switch");
    assert!(second.contains("p1 order 2: applied"), "{second}");
    let third = dated(&mailbox, "c.eml", eleven, "tap 0,1\nswitch");
    assert!(third.contains("p1 order 3: applied"), "of one second the later in arrival: {third}");
    assert!(played(&mailbox));
}

#[test]
fn pm_92_no_mail_was_sent_after_it_came() {
    let mailbox = begun("cycletap", "ford.toml", "");
    dated(&mailbox, "a.eml", "Tue, 7 Jan 2125 10:00:00 +0000", "switch");
    let second = dated(&mailbox, "b.eml", "Wed, 8 Jan 2125 10:00:00 +0000", "tap 0,1\nswitch");
    assert!(second.contains("p1 order 2: applied"), "{second}");
    let code = code(&mailbox, "p1");
    orders(&mailbox, &format!("code {code}\nswitch\n"), "switch");
    assert!(!mailbox.sandbox.ok("log duel.desk").contains("sent 2125"));
}

#[test]
fn pm_92_the_names_of_files_decide_nothing() {
    let mailbox = begun("cycletap", "ford.toml", "");
    let code = code(&mailbox, "p1");
    for folder in ["new", "cur", "tmp"] {
        std::fs::create_dir_all(mailbox.sandbox.path("post").join(folder)).unwrap();
    }
    for (name, second, lines) in
        [("1795750000.M99P1.host", 9, "switch"), ("1795750000.M100000P1.host", 10, "tap 0,1\nswitch")]
    {
        let head = format!(
            "From: ann@example.org\nDate: Tue, 7 Jan 2025 10:00:{second:02} +0000\nMessage-ID: <{name}@x>\n"
        );
        mailbox.sandbox.write(&format!("post/new/{name}"), format!("{head}\ncode {code}\n{lines}\n"));
    }
    mailbox.sandbox.ok("mail take duel --maildir post --key host.key");
    assert!(played(&mailbox));
}

#[test]
fn pm_93_a_mail_without_commands_is_answered_once_in_a_turn() {
    let mailbox = begun("cycletap", "ford.toml", "");
    let letter = newest(&mailbox, "p1");
    for number in 0..5 {
        let printed = take(&mailbox, &format!("I am at sea, number {number}.\n\n{letter}")).1;
        assert_eq!(printed.contains("letter "), number == 0, "{printed}");
    }
}

#[test]
fn pm_51_a_mail_that_cannot_be_read_leaves_the_earlier_order_and_says_so() {
    let no_code = "We found no valid code in your mail, so nothing was taken.";
    let not_understood = "`tab 0,1` was not understood";
    for (with_order, head, lines, why) in [
        (true, "", "tap 0,1\nswitch\n", no_code),
        (true, "code 2222-3333-4444\n", "tap 0,1\nswitch\n", no_code),
        (true, "CODE", "tab 0,1\nswitch\n", not_understood),
        (true, "CODE", "", "What you can write"),
        (false, "", "tap 0,1\nswitch\n", no_code),
        (false, "CODE", "tab 0,1\nswitch\n", not_understood),
    ] {
        let mailbox = begun("cycletap", "ford.toml", "");
        mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@example.org\n");
        let code = format!("code {}\n", code(&mailbox, "p1"));
        if with_order {
            orders(&mailbox, &format!("{code}switch\n"), "switch");
        }
        // A second mail of the same kind gets the same answer.
        for number in [1, 2] {
            let text = format!("{}{lines}(end)\nMail {number}\n", head.replace("CODE", &code));
            let printed = take(&mailbox, &text).1;
            let is_answered = number == 1 || !head.is_empty() && !lines.is_empty();
            let name = printed.lines().find_map(|line| line.strip_prefix("letter "));
            assert_eq!(name.is_some(), is_answered, "{number} {text}: {printed}");
            let Some(name) = name else { continue };
            let letter = opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))).0;
            let letter = letter.split_whitespace().collect::<Vec<_>>().join(" ");
            let stands = letter.contains("Your earlier order still counts.");
            assert!(letter.contains(why) && stands == with_order, "{number} {text}: {letter}");
        }
    }
}

#[test]
fn pm_51_an_invited_player_who_forgets_the_code_reads_how_to_join() {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    mailbox.sandbox.write(".turnfold/addresses", "p1 = ann@example.org\n");
    let printed = take(&mailbox, "join Ann\n").1;
    let name = printed.lines().find_map(|line| line.strip_prefix("letter ")).unwrap();
    let letter = opened(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))).0;
    let letter = letter.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(letter.contains("We found no valid code in your mail, so nothing was taken."), "{letter}");
    assert!(letter.contains("answer the invitation with its line `code` and a line `join NAME`"), "{letter}");
    assert!(!letter.contains("#turnfold paper"), "{letter}");
}

#[test]
fn pm_94_names_keep_all_letters() {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    let names = [("p1", "Jürgen Müßig"), ("p2", "Łukasz 日本")];
    for (seat, name) in names {
        let (status, printed) = take(&mailbox, &format!("code {}\njoin {name}\n", code(&mailbox, seat)));
        assert!(status == 0 && printed.contains(": applied"), "{printed}");
    }
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-06T12:00:00Z");
    mailbox.sandbox.ok("export duel.desk -o duel.tfl");
    mailbox.sandbox.ok("check duel.tfl");
    let letter = mailbox.letters().into_iter().rfind(|name| name.contains("-p1")).unwrap();
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{letter}")).replace('\r', "");
    let encoded = letter.split("base64\n\n").nth(1).unwrap().split("\n--").next().unwrap().replace('\n', "");
    let letter = String::from_utf8(
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded).unwrap(),
    )
    .unwrap();
    assert!(letter.starts_with("Dear Jürgen Müßig,"), "{letter}");
    for text in [
        mailbox.sandbox.ok("log duel.desk"),
        mailbox.sandbox.ok("show duel.desk"),
        mailbox.sandbox.ok("mail status duel"),
        mailbox.sandbox.ok("mail status duel --format json"),
        mailbox.sandbox.read("duel.tfl"),
        letter,
    ] {
        for (_, name) in names {
            assert!(text.contains(name), "{name}: {text}");
        }
    }
}

#[test]
fn pm_94_a_name_is_no_part_of_a_record() {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    let name = "Eve; over result=p1 | x";
    let (status, printed) = take(&mailbox, &format!("code {}\njoin {name}\n", code(&mailbox, "p1")));
    assert!(status == 0 && printed.contains(": applied"), "{printed}");
    assert!(mailbox.sandbox.ok("log duel.desk").contains("name=Eve, over result-p1 / x"));
    let name = "\u{e9}".repeat(65);
    let (status, printed) = take(&mailbox, &format!("code {}\njoin {name}\n", code(&mailbox, "p2")));
    assert!(status == 1 && printed.contains("Expected a name of 1 to 64 characters, found 65."), "{printed}");
}
