//! A store from yesterday next to the key's memory of today: the host continues from the letters that players have
//! (PM-111).

use std::fs;

use turnfold_tests::mailbox::{Mailbox, opened};
use turnfold_tests::sandbox::copy_folder;

/// Terms under which plans stay concealed until the match is over.
const TERMS: &str = "together = true\nplain = [\"p1\", \"p2\"]\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n\
                     secret = \"match\"\n";

/// Runs a command that may fail. Returns its exit code and output.
fn run(mailbox: &Mailbox, line: &str) -> (i32, String) {
    let output = mailbox.sandbox.run(line);
    (output.status.code().unwrap(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Returns the newest letter to a seat, a report or a receipt.
fn newest(mailbox: &Mailbox, seat: &str) -> String {
    let mut of_seat = mailbox.letters().into_iter().filter(|name| name.contains(&format!("-{seat}")));
    mailbox.sandbox.read(&format!(".turnfold/outbox/{}", of_seat.next_back().unwrap()))
}

/// Answers the newest letter to a seat.
fn answer(mailbox: &Mailbox, seat: &str, lines: &str) {
    let letter = newest(mailbox, seat);
    let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
    mailbox.sandbox.write("reply.txt", format!("code {code}\n{lines}\n"));
    mailbox.sandbox.ok("mail take duel reply.txt --key host.key");
}

/// Saves the bundle of a letter.
fn save_bundle_of(mailbox: &Mailbox, letter: &str, file: &str) {
    mailbox.sandbox.write(file, opened(&mailbox.sandbox.read(letter)).1);
}

/// Returns a match whose store was backed up in turn 1 and lost in turn 2. The folder of the key is up to date.
fn lost() -> Mailbox {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, "");
    answer(&mailbox, "p1", "join Ann");
    answer(&mailbox, "p2", "join Ben");
    assert!(mailbox.run("01T12:00:00Z", "").status.success());
    let path = |name: &str| mailbox.sandbox.path(name);
    copy_folder(&path(".turnfold"), &path("backup"));
    for turn in 1..=2 {
        answer(&mailbox, "p1", "tap 0,1\nswitch");
        answer(&mailbox, "p2", "tap 0,-1\nswitch");
        if turn == 1 {
            assert!(mailbox.run("02T12:00:00Z", "").status.success());
        }
    }
    for seat in ["p1", "p2"] {
        mailbox.sandbox.write(&format!("{seat}.eml"), newest(&mailbox, seat));
    }
    fs::remove_dir_all(path(".turnfold")).unwrap();
    copy_folder(&path("backup"), &path(".turnfold"));
    mailbox
}

#[test]
fn pm_111_the_letters_of_all_seats_give_back_what_a_restored_store_lacks() {
    let mailbox = lost();
    let (code, refused) = run(&mailbox, "mail run duel --key host.key --at 2026-12-03T12:00:00Z --force");
    assert!(code != 0, "{refused}");
    // A single letter lacks the plans of the other player, so it cannot be imported.
    save_bundle_of(&mailbox, "p1.eml", "p1.bundle");
    let (code, refused) = run(&mailbox, "import p1.bundle");
    assert!(code != 0, "{refused}");
    let (code, recovered) = run(&mailbox, "mail recover p1.eml --key host.key");
    assert!(
        code == 1 && recovered.contains("cannot be had: `duel.desk@main` ends before entry "),
        "{recovered}"
    );
    // A letter, and a bundle saved from a letter.
    save_bundle_of(&mailbox, "p2.eml", "p2.bundle");
    let (code, recovered) = run(&mailbox, "mail recover p1.eml p2.bundle --key host.key");
    assert!(code == 0 && !recovered.contains("cannot"), "{recovered}");
    let (code, again) = run(&mailbox, "mail recover p1.bundle p2.eml --key host.key");
    assert!(code == 0 && again.matches(": already up to date").count() == 2, "{again}");
    // The host continues, and both orders of turn 2 are executed.
    let ran = mailbox.run("03T12:00:00Z", "");
    let printed = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
    assert!(printed.contains("carried seat=p1") && printed.contains("carried seat=p2"), "{printed}");
    assert!(printed.contains("stood turn=3"), "{printed}");
    answer(&mailbox, "p1", "switch");
    answer(&mailbox, "p2", "switch");
    assert!(mailbox.run("04T12:00:00Z", "").status.success());
    // A third person who kept the letters from before the loss finds only one history.
    let host = mailbox.sandbox.ok("key show host.key");
    mailbox.sandbox.write("host.vkey", host);
    mailbox.sandbox.ok("bundle duel duel.desk --key host.key -o whole.bundle");
    let held = "--held p1.bundle --held p2.bundle";
    let (_, rows) = run(&mailbox, &format!("audit whole.bundle --host-key host.vkey {held}"));
    for row in ["signature    PASS", "consistency  PASS", "rules        PASS"] {
        assert!(rows.contains(row), "{row}: {rows}");
    }
    assert!(!rows.contains("FAIL"), "{rows}");
}

#[test]
fn pm_111_a_store_that_is_gone_comes_back_from_the_letters() {
    let mailbox = lost();
    fs::remove_dir_all(mailbox.sandbox.path(".turnfold")).unwrap();
    let (code, recovered) = run(&mailbox, "mail recover p1.eml p2.eml --key host.key");
    assert!(code == 0 && recovered.contains("duel@main: imported"), "{recovered}");
    let ran = mailbox.run("03T12:00:00Z", "");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    // Without a letter of p2, the match is recovered as far as possible without the plans of p2.
    let mailbox = lost();
    fs::remove_dir_all(mailbox.sandbox.path(".turnfold")).unwrap();
    let (code, recovered) = run(&mailbox, "mail recover p1.eml --key host.key");
    assert!(code == 1 && recovered.contains("cannot be had: `duel.desk@main` ends before"), "{recovered}");
    assert!(mailbox.sandbox.ok("log duel.desk").contains("stood turn=1"));
    mailbox.sandbox.ok("verify duel duel.desk");
}

#[test]
fn pm_111_only_bundles_that_the_host_signed_are_taken() {
    let mailbox = lost();
    save_bundle_of(&mailbox, "p1.eml", "p1.bundle");
    let bundle = mailbox.sandbox.read("p1.bundle");
    mailbox.sandbox.ok("key new other.key --name other.example");
    for (file, text, key, why) in [
        ("text.txt", "hello".to_owned(), "host", "is no bundle, and no letter with one attached"),
        ("cut.bundle", bundle[..bundle.len() / 2].to_owned(), "host", "line "),
        ("other.bundle", bundle.clone(), "other", "not with this key"),
        ("unsigned.bundle", without_checkpoints(&bundle), "host", "signature"),
    ] {
        mailbox.sandbox.write(file, text);
        let (code, refused) = run(&mailbox, &format!("mail recover {file} --key {key}.key"));
        assert!(code != 0 && refused.contains(why), "{file}: {refused}");
    }
    assert!(!mailbox.sandbox.ok("show duel.desk").contains("turn 2"));
}

/// Returns a bundle without its signatures, and with the correct hash at its end.
fn without_checkpoints(bundle: &str) -> String {
    use std::fmt::Write as _;

    use sha2::{Digest as _, Sha256};
    let (records, _) = bundle.split_once("-- checkpoint ").unwrap();
    let mut hash = String::new();
    for byte in Sha256::digest(records) {
        write!(hash, "{byte:02x}").unwrap();
    }
    format!("{records}-- end {hash}\n")
}
