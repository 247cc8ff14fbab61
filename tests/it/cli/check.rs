//! `turnfold check`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_failure_shows_entry_outcomes_and_state() {
    let sandbox = duel();
    sandbox.ok("export duel -o good.tfl");
    let file = sandbox.read("good.tfl");
    sandbox.write("outcome.tfl", file.replace("selected unit=atlas", "selected unit=locust"));
    let hash = file.lines().find(|line| line.starts_with("3 ")).and_then(|line| line.split('#').nth(1)).unwrap();
    let flipped = hash.replacen(|digit: char| digit.is_ascii_hexdigit(), if hash.starts_with('0') { "1" } else { "0" }, 1);
    sandbox.write("hash.tfl", file.replace(hash, &flipped));
    let (without_end, _) = file.trim_end().rsplit_once('\n').unwrap();
    sandbox.write("unclosed.tfl", format!("{without_end}\n"));
    sandbox.write("roll.tfl", file.replace("roll 1 2 3 4", "roll 1 2 3 5"));
    check(
        &sandbox,
        "check good.tfl
         check outcome.tfl
         check hash.tfl
         check unclosed.tfl
         check roll.tfl
         check outcome.tfl good.tfl
         --format json check outcome.tfl good.tfl",
        str![[""]],
    );
}

#[test]
fn nothing_to_check_is_no_pass() {
    let sandbox = duel();
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    check(
        &sandbox,
        "check
         check empty
         check missing.tfl",
        str![[""]],
    );
}
