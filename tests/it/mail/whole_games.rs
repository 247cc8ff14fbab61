//! A whole game of each ruleset by plain mail, and the text of its letters (PM-120).
//!
//! `TURNFOLD_LETTERS=FOLDER` writes the text of each letter there, for reading aloud.

use std::collections::BTreeSet;
use std::fs;

use turnfold_tests::mailbox::Mailbox;

/// Plays a match whose players always send one of the commands listed in their letters. Returns the text of every
/// letter.
fn played(rules: &str, setup: &str, terms: &str, rolls: &str, turns: usize) -> Vec<String> {
    let seats: &[&str] = if terms.contains("seats = 1") { &["p1"] } else { &["p1", "p2"] };
    let plain = seats.iter().map(|seat| format!("\"{seat}\"")).collect::<Vec<_>>().join(", ");
    let mailbox = Mailbox::opened(rules, setup, &format!("{terms}plain = [{plain}]\n"), "");
    let (mut letters, mut read) = (Vec::new(), BTreeSet::new());
    for seat in seats {
        let code = code(&newest(&mailbox, seat)).to_owned();
        take(&mailbox, &format!("code {code}\njoin {}\n", if *seat == "p1" { "Ann" } else { "Ben" }));
    }
    for turn in 1..=turns {
        let at = format!("2026-12-01T{:02}:{:02}:00Z", turn / 60, turn % 60);
        let output = mailbox.sandbox.run(&format!("mail run duel --key host.key --force --at {at} {rolls}"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for name in mailbox
            .letters()
            .into_iter()
            .filter(|name| name.rsplit_once('.').is_some_and(|(_, kind)| kind == "eml"))
        {
            if read.insert(name.clone()) {
                letters.push(text(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}"))));
            }
        }
        for seat in seats {
            let letter = newest(&mailbox, seat);
            let is_asked = letter.contains("your order, please");
            let commands = first_commands(&letter);
            if is_asked {
                assert!(!commands.is_empty(), "every seat that is asked reads what it may order: {letter}");
                // A turn that taps a few hexes, or the first offered move.
                let chosen = commands[turn * 7 % commands.len()].clone();
                let order = match rules {
                    "cycletap" => format!("{chosen}\nswitch"),
                    "initiative" if chosen == "cycle" => "cycle\nconfirm\nstand".into(),
                    "initiative" if chosen == "confirm" => "confirm\nstand".into(),
                    "initiative" => format!("{chosen}\nstand"),
                    "lifecycle" => format!("{chosen}\nend"),
                    _ => chosen,
                };
                let code = code(&letter).to_owned();
                take(&mailbox, &format!("code {code}\n{order}\n"));
            }
        }
        if letters.iter().any(|letter| letter.contains("Subject: [duel] the match is over")) {
            break;
        }
    }
    if let Ok(folder) = std::env::var("TURNFOLD_LETTERS") {
        fs::create_dir_all(&folder).unwrap();
        fs::write(format!("{folder}/{rules}.txt"), letters.join("\n=====\n")).unwrap();
    }
    letters
}

fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let mine = format!("-{seat}");
    let name = mailbox.letters().into_iter().rfind(|name| name.contains(&mine)).unwrap();
    text(&mailbox.sandbox.read(&format!(".turnfold/outbox/{name}")))
}

/// Returns headers and text of a letter.
fn text(letter: &str) -> String {
    letter.replace('\r', "").split("\n--turnfold").take(2).collect::<Vec<_>>().join("\n")
}

fn code(letter: &str) -> &str {
    letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap()
}

/// Returns the commands with which an order may begin, according to a letter.
fn first_commands(letter: &str) -> Vec<String> {
    let (_, listed) = letter.split_once("The first command may be:\n").unwrap_or_default();
    listed.lines().skip(1).map_while(|line| line.strip_prefix("    ").map(str::to_owned)).collect()
}

fn take(mailbox: &Mailbox, text: &str) {
    let id = blake3::hash(text.as_bytes()).to_hex();
    mailbox.sandbox.write("mail.eml", format!("Message-ID: <{id}@example.org>\n\n{text}"));
    mailbox.sandbox.run("mail take duel mail.eml --key host.key");
}

/// Requires letters to be dated, and to describe what happened in these sentences.
fn check(letters: &[String], sentences: &[&str]) {
    for letter in letters {
        assert!(letter.contains("\nDate: ") || letter.starts_with("Date: "), "{letter}");
        let (_, body) = letter.split_once("\n\n").unwrap();
        let commands = first_commands(letter);
        assert!(commands.iter().all(|command| !command.is_empty() && !command.contains('`')), "{letter}");
        // The description of events contains no fields or technical names.
        for line in body.lines().filter(|line| line.starts_with("  * ")) {
            let has_field = line.split(' ').any(|word| word.contains('=') || word.contains('_'));
            assert!(!has_field, "{line} in {letter}");
        }
    }
    let flat: Vec<_> =
        letters.iter().map(|letter| letter.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for sentence in sentences {
        assert!(flat.iter().any(|letter| letter.contains(sentence)), "{sentence}: {}", letters.join("\n"));
    }
}

#[test]
fn pm_120_letters_of_a_game_of_initiative_say_in_sentences_what_happened() {
    let terms = "default = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]\n";
    let letters = played("initiative", "small-board.toml", terms, "--roll 1 1 2 2", 9);
    check(
        &letters,
        &[
            "The host: roll 1 1 2 2. You rolled 2, p2 rolled 4. p2 won the initiative. You move one unit first, then \
             p2 one, then you one, then p2 one.",
            "You: click -1,2. You chose the Locust LCT-1V at -1,2.",
            "You: stand. You kept the Locust LCT-1V at -1,2.",
            "p1: stand. p1 kept the Atlas AS7-D at 0,2. Now you move one unit.",
            "Turn 2 begins.",
        ],
    );
}

#[test]
fn pm_120_letters_of_a_game_of_cycletap_say_in_sentences_what_happened() {
    let terms = "together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
    let letters = played("cycletap", "small-board.toml", terms, "", 8);
    check(&letters, &["You chose the", "Turn 2 begins.", "You ended the planning."]);
}

#[test]
fn pm_120_letters_of_a_game_of_lifecycle_say_in_sentences_what_happened() {
    let terms = "default = [\"end\"]\nbetween = [\"advance\"]\n";
    let letters = played("lifecycle", "duel.toml", terms, "", 40);
    check(
        &letters,
        &[
            "It is the turn of your scout.",
            "It is the turn of p2's ogre.",
            "The turn of the scout is over.",
            "You: attack ogre. The ogre lost 3 hit points",
        ],
    );
}

#[test]
fn pm_120_letters_of_a_game_of_hexcapture_say_in_sentences_what_happened() {
    let terms = "seats = 1\ndefault = []\nbetween = [\"tick 12\"]\n";
    let letters = played("hexcapture", "small-world.toml", terms, "--roll 10", 12);
    check(&letters, &["The cursor is at", "12 ticks passed."]);
}
