//! Stores and replay files that earlier builds wrote stay readable: `fixtures/stores/` keeps some as they were written.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::sandbox::{Sandbox, binary, copy_folder, words, workspace};

/// Returns what is kept: a folder for each format, with a store and replay files in it.
fn kept() -> Vec<PathBuf> {
    let folders = fs::read_dir(workspace().join("fixtures/stores")).unwrap();
    let mut folders: Vec<_> =
        folders.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

/// Makes a copy of a kept store, as its owner would have it.
fn copied(folder: &std::path::Path) -> Sandbox {
    let sandbox = Sandbox::new();
    copy_folder(&folder.join("store"), &sandbox.path(".turnfold"));
    sandbox
}

fn first_legal(sandbox: &Sandbox, name: &str) -> String {
    sandbox.ok(&format!("legal {name}")).lines().next().unwrap().to_owned()
}

#[test]
fn every_kept_store_is_opened_verified_and_appended_to() {
    for folder in kept() {
        let sandbox = copied(&folder);
        let expected = fs::read_to_string(folder.join("verify.txt")).unwrap();
        assert_eq!(sandbox.ok("verify"), expected, "{}", folder.display());
        sandbox.ok("store check");
        for name in ["duel", "ford", "duel@flank", "long"] {
            let command = first_legal(&sandbox, name);
            let head = sandbox.ok(&format!("log {name}")).lines().count();
            sandbox.ok(&format!("play {name} --expect {head} \"{command}\""));
            assert_eq!(sandbox.ok(&format!("log {name}")).lines().count(), head + 1);
        }
        // A call of then is still known by its key.
        assert!(sandbox.ok("log duel --format json").contains("\"key\":\"first\""));
        sandbox.ok("verify");
        sandbox.ok("store check");
    }
}

#[test]
fn every_kept_store_is_salvaged_backed_up_and_compacted() {
    for folder in kept() {
        let sandbox = copied(&folder);
        let expected = fs::read_to_string(folder.join("verify.txt")).unwrap();
        sandbox.ok("store salvage .turnfold saved");
        assert_eq!(sandbox.ok("--store saved verify"), expected);
        sandbox.ok("store backup all.tfb");
        sandbox.ok("store restore all.tfb restored");
        assert_eq!(sandbox.ok("--store restored verify"), expected);
        sandbox.ok("store restore BACKUP kept"
            .replace("BACKUP", folder.join("backup.tfb").to_str().unwrap())
            .as_str());
        assert_eq!(sandbox.ok("--store kept verify"), expected);
        // With half of its file, what is sound of it is saved.
        let db = sandbox.path(".turnfold/sled/db");
        let bytes = fs::read(&db).unwrap();
        fs::write(&db, &bytes[..bytes.len() / 256]).unwrap();
        assert_eq!(sandbox.run("verify").status.code(), Some(3));
        assert_ne!(sandbox.run("store salvage .turnfold rest").status.code(), Some(2));
    }
}

#[test]
fn every_kept_replay_file_is_checked_imported_and_played_on() {
    for folder in kept() {
        let sandbox = copied(&folder);
        for name in ["duel", "ford"] {
            let kept = fs::read_to_string(folder.join(format!("{name}.tfl"))).unwrap();
            sandbox.write("kept.tfl", &kept);
            sandbox.ok("check kept.tfl");
            // The store says the same as the file.
            assert_eq!(sandbox.ok(&format!("export {name}")), kept);
            sandbox.ok(&format!("import kept.tfl --name again-{name}"));
            let command = first_legal(&sandbox, name);
            sandbox.ok(&format!("play again-{name} \"{command}\""));
        }
        sandbox.write("p2.tfl", fs::read(folder.join("ford-p2.tfl")).unwrap());
        assert_eq!(sandbox.ok("show p2.tfl"), sandbox.ok("show ford --as p2"));
    }
}

/// A clock before 1970 is one line of error, and the store stays as it is; reading needs no clock.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_clock_before_1970_is_named_in_one_line() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    let log = sandbox.ok("log duel");
    let at = |line: &str| {
        let mut faketime = Command::new("faketime");
        faketime.args(["-f", "1969-12-31 12:00:00"]).arg(binary()).args(words(line));
        let command = faketime.current_dir(sandbox.path(".")).env_clear().env("TZ", "UTC");
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").output()
    };
    if !Command::new("faketime").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `faketime` is not here");
        return;
    }
    for line in ["play duel \"switch\"", "rename duel other", "delete --force duel", "store compact"] {
        let output = at(line).unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
        assert!(stderr.starts_with("error: the clock of this machine is before 1970"), "{line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
    }
    let output = at("log duel").unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), log);
    assert_eq!(sandbox.ok("log duel"), log);
}
