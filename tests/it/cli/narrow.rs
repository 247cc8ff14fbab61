//! A terminal of 40 columns shows no word cut in the middle.

use std::collections::BTreeSet;
#[cfg(unix)]
use std::fs;

use super::documents::verbs_of_help;
#[cfg(unix)]
use crate::terminal::Running;
use turnfold_tests::sandbox::{Sandbox, words};

const COLUMNS: usize = 40;

/// Requires each line to fit, unless it is a word or a board.
fn require_uncut(line: &str, text: &str) {
    let mut count = 0;
    for shown in text.lines() {
        count += 1;
        // The output of a progress bar is overwritten.
        let shown = without_colors(shown.rsplit('\r').next().unwrap_or_default());
        let shown = shown.trim();
        let is_word = !shown.contains(' ');
        let letters: Vec<bool> = shown.chars().map(char::is_alphabetic).collect();
        let is_board = !letters.windows(2).any(|pair| pair == [true, true]);
        let width = shown.chars().count();
        let fits = width <= COLUMNS || is_word || is_board;
        assert!(fits, "turnfold {line}: {width} columns: {shown}");
    }
    assert!(count > 0, "turnfold {line}");
}

fn without_colors(text: &str) -> String {
    let mut left = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            left.push(character);
        }
    }
    left
}

#[test]
fn the_help_of_every_verb_is_folded_between_words() {
    let sandbox = Sandbox::new();
    let mut verbs: BTreeSet<String> = [String::new()].into();
    for verb in verbs_of_help(&sandbox, "") {
        let verb = verb.trim().to_owned();
        verbs.extend(verb.split_once(' ').map(|(above, _)| above.to_owned()));
        verbs.insert(verb);
    }
    assert!(verbs.len() > 50, "{verbs:?}");
    for verb in verbs {
        for option in ["--help", "-h"] {
            let line = format!("{verb} {option}");
            let words = words(&line);
            let output = sandbox.command(words.iter().map(String::as_str)).env("COLUMNS", "40").output();
            require_uncut(&line, &String::from_utf8(output.unwrap().stdout).unwrap());
        }
    }
}

#[cfg(unix)]
#[test]
fn answers_and_errors_are_folded_between_words() {
    let sandbox = super::duel();
    sandbox.ok("new ford --rules cycletap");
    sandbox.ok("branch duel:1 flank");
    fs::create_dir(sandbox.path("games")).unwrap();
    sandbox.ok("export duel -o games/duel.tfl");
    let good = sandbox.read("games/duel.tfl");
    sandbox.write("games/bad.tfl", good.replace("selected unit=atlas", "ignored out_of_range"));
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 60 -o games/long.tfl");
    sandbox.ok("key new ann.key --name ann.example/duels");
    for line in [
        "matches",
        "branch duel",
        "log duel",
        "log duel --links --times",
        "log duel --raw",
        "show duel --reach --changed",
        "show ford",
        "show games/long.tfl",
        "legal ford",
        "rules",
        "rules initiative",
        "rules initiative not_your_unit",
        "rules cycletap",
        "game list",
        "game perft ford --depth 2",
        "game impact games",
        "replay duel",
        "diff duel duel@flank",
        "diff duel duel@flank --stat",
        "bisect duel --when '/selected == atlas'",
        "blame duel /cursor --all",
        "find games --seat p1",
        "table groups games",
        "check games",
        "check games/bad.tfl --all",
        "bless --check games/bad.tfl",
        "verify",
        "verify duel --reload",
        "store check",
        "store size",
        "store doctor",
        "key show ann.key",
        "checkpoint sign duel --key ann.key -o duel.checkpoint",
        "export duel -o again.tfl",
        "simulate --rules initiative --seed 1 --steps 10 -o played.tfl",
        "help",
        "help cli",
        "help debugging",
        "help find",
        "tour --no-pause",
        "rename duel ford",
        "play duel dance",
        "play duel 'p2: confirm'",
        "play ford 'tap 0,1'",
        "show nothing",
        "log duel:99",
        "nonsense",
        "find games --when '/trun == 1'",
        "",
    ] {
        let words = words(line);
        let mut command = sandbox.command(words.iter().map(String::as_str));
        command.env("TURNFOLD_PAGER", "cat").env("CI", "");
        let size = (24, u16::try_from(COLUMNS).unwrap());
        let Some(running) = Running::start_in(command, "", size) else { return };
        let (text, status) = running.finish();
        assert!(status.code().is_some_and(|code| code < 3), "turnfold {line}: {text}");
        require_uncut(line, &text);
    }
}
