//! Terms about the host: the host alone replaces a player (PM-60), and terms that a file omits (PM-63).

use turnfold_core::Rules as _;
use turnfold_core::Seat::{P1, P2};
use turnfold_core::any::erase;
use turnfold_core::rules::desk::Desk;
use turnfold_mail::GameTerms;

use turnfold_tests::mailbox::{Mailbox, opened};

const TERMS: &str = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";

fn begun(terms: &str) -> Mailbox {
    let mut mailbox = Mailbox::opened("cycletap", "ford.toml", &format!("{TERMS}{terms}"), "");
    mailbox.join(&[P1, P2]);
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    mailbox.sandbox.ok("key new new.key --name cleo.example");
    mailbox
}

/// Returns the command with which the host gives p2 to the new key.
fn replace(mailbox: &Mailbox) -> String {
    let shown = mailbox.sandbox.ok("key show new.key");
    let key = shown.trim().splitn(3, '+').nth(2).unwrap();
    format!("play duel.desk \"replace p2 cleo.example {key} Ben lost his key\"")
}

#[test]
fn pm_60_the_host_alone_replaces_a_player_and_the_audit_shows_that() {
    let mut mailbox = begun("host_replaces = true\n");
    mailbox.save_bundle("00000005-p2.eml", "turn.bundle");
    let write = "mail write order switch --from turn.bundle --key new.key -o reply.txt";
    let stderr = String::from_utf8(mailbox.sandbox.run(write).stderr).unwrap();
    assert!(
        stderr.contains("ask the host for `mail replace` with the line that `key show` prints"),
        "{stderr}"
    );
    let played = mailbox.sandbox.ok(&replace(&mailbox));
    assert!(played.contains("replaced seat=p2 name=cleo.example"), "{played}");
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    // The new player gets a letter at once, and orders from it.
    let letter = mailbox.sandbox.read(".turnfold/outbox/00000006-p2.eml");
    let text = opened(&letter).0.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("cleo.example has taken over p2. * The host writes: Ben lost his key"), "{text}");
    mailbox.save_bundle("00000006-p2.eml", "turn.bundle");
    mailbox.sandbox.ok(write);
    mailbox.save_orders("other.txt", &[(P1, &["switch"])]);
    let taken = mailbox.sandbox.ok("mail take duel reply.txt other.txt --key host.key");
    assert_eq!(taken.matches(": applied").count(), 2, "{taken}");
    assert!(mailbox.run("02T12:00:00Z", "").status.success());
    let rows = String::from_utf8(mailbox.sandbox.run("audit").stdout).unwrap();
    let row = rows.lines().find(|line| line.starts_with("authorship")).unwrap();
    assert!(
        row.contains("NOT CHECKED")
            && row.contains("the host alone gave p2 to cleo.example: the host vouches"),
        "{rows}"
    );
    assert!(!rows.contains("FAIL"), "{rows}");
}

#[test]
fn pm_60_without_the_term_the_host_cannot_replace_a_player() {
    let mailbox = begun("");
    let before = mailbox.sandbox.ok("log duel.desk");
    let output = mailbox.sandbox.run(&replace(&mailbox));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && stderr.contains("not_in_terms"), "{stderr}");
    assert_eq!(mailbox.sandbox.ok("log duel.desk"), before);
    let book = mailbox.sandbox.ok("rules desk host_replaces");
    assert!(book.contains("host_replaces = false") && book.contains("PM-60"), "{book}");
}

/// Only the desk itself and external games have no terms of their own.
#[test]
fn pm_63_a_file_without_terms_is_like_no_file() {
    let silent = erase::<Desk>();
    let setup = silent.read_setup(Desk::EXAMPLE).unwrap();
    for (rules, setup) in [
        (turnfold_games::find("cycletap").unwrap(), None),
        (turnfold_games::find("initiative").unwrap(), None),
        (silent, Some(setup)),
    ] {
        let setup = setup.unwrap_or_else(|| rules.read_setup(rules.example()).unwrap());
        let game = rules.start(&setup).unwrap();
        let complete = |written: Option<&str>| GameTerms::complete(written, &*rules, &*game);
        let none = complete(None);
        for file in ["", "\n\n", "# Nothing is set here.\n"] {
            let found = complete(Some(file));
            assert_eq!((found.filled, found.is_waiting), (none.filled.clone(), none.is_waiting), "{file:?}");
            let read = |toml: &str| toml.parse::<toml::Table>().unwrap();
            assert_eq!(read(&found.toml), read(&none.toml), "{file:?}");
        }
    }
    // If a host writes terms about missed deadlines for such a game, the missing terms default to waiting.
    let rules = erase::<Desk>();
    let game = rules.start(&rules.read_setup(Desk::EXAMPLE).unwrap()).unwrap();
    let filled = |file: &str| GameTerms::complete(Some(file), &*rules, &*game).filled.join(", ");
    assert_eq!(filled("hosted = []\npatience = 2\n"), "default = [], missed = \"wait\", seats = 2");
    assert_eq!(filled("hosted = []\ndefault = [\"stay\"]\n"), "seats = 2");
}
