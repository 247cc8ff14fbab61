//! A store with a flipped byte: the damage is named, nothing panics, and no shortened or changed log is served.

use std::fs;

use turnfold_tests::sandbox::Sandbox;

/// Returns every place at which `needle` begins in `bytes`.
fn places(bytes: &[u8], needle: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(needle.len()).enumerate();
    windows.filter(|(_, window)| *window == needle).map(|(at, _)| at).collect()
}

#[test]
fn a_flipped_byte_in_a_stored_entry_is_named_by_verify() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\"");
    sandbox.ok("play duel --once a-key-to-be-found confirm \"move 0,1\"");
    let next = sandbox.ok("legal duel").lines().next().unwrap().to_owned();
    sandbox.ok(&format!("play duel \"{next}\""));
    let log = sandbox.ok("log duel");
    let file = sandbox.path(".turnfold/journal/head.b");
    let sound = fs::read(&file).unwrap();
    let entries = places(&sound, b"a-key-to-be-found");
    assert!(entries.len() >= 2, "both entries carry the key");
    for at in entries {
        // The record around the key: its length, seat, command and time, and the key itself.
        for offset in (at - 16)..(at + 17) {
            let mut damaged = sound.clone();
            damaged[offset] ^= 1;
            fs::write(&file, &damaged).unwrap();
            let output = sandbox.run("verify");
            let stderr = String::from_utf8(output.stderr).unwrap();
            let text = String::from_utf8(output.stdout).unwrap() + &stderr;
            assert!(output.status.code() == Some(3), "{offset}: {:?} {text}", output.status);
            assert!(!text.contains("panicked") && !text.contains("internal error"), "{offset}: {text}");
            assert!(
                text.contains("duel") && text.contains("main"),
                "{offset}: names match and branch: {text}"
            );
            assert!(text.contains(|digit: char| digit.is_ascii_digit()), "{offset}: names an entry: {text}");
            assert_eq!(stderr.lines().count(), 1, "{offset}: one line: {stderr}");
            let served = sandbox.run("log duel");
            assert!(fs::read(&file).unwrap() == damaged, "{offset}: readers have changed the file");
            assert!(
                !served.status.success() || served.stdout == log.as_bytes(),
                "{offset}: never another log"
            );
        }
    }
}

#[test]
fn a_store_whose_format_is_damaged_or_missing_is_to_be_salvaged() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\"");
    let log = sandbox.ok("log duel");
    for (number, format) in [Some("turnfold st"), Some(""), None].into_iter().enumerate() {
        match format {
            Some(text) => sandbox.write(".turnfold/FORMAT", text),
            None => fs::remove_file(sandbox.path(".turnfold/FORMAT")).unwrap(),
        }
        for line in ["log duel", "matches", "play duel confirm", "verify"] {
            let output = sandbox.run(line);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
            assert!(stderr.contains("turnfold store salvage DIR NEWDIR"), "{line}: {stderr}");
            assert!(!stderr.contains("another directory"), "{line}: {stderr}");
        }
        sandbox.ok(&format!("store salvage .turnfold saved{number}"));
        assert_eq!(sandbox.ok(&format!("--store saved{number} log duel")), log);
    }
}

#[test]
fn salvage_names_the_files_of_the_store_and_not_of_its_copy() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\"");
    for head in ["head.a", "head.b"] {
        let file = sandbox.path(".turnfold/journal").join(head);
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(1).unwrap();
    }
    let output = sandbox.run("store salvage .turnfold saved");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("`.turnfold/journal/head.a` has 1 bytes"), "{stderr}");
    assert!(!stderr.contains("draft"), "{stderr}");
}
