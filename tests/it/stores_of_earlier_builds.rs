//! Backups and replay files of earlier builds stay readable. `fixtures/stores/` contains some as they were written,
//! with store directories that current builds refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use turnfold_tests::parts::has_or_skips;
use turnfold_tests::sandbox::{Sandbox, binary, copy_folder, words, workspace};

/// Returns a folder for each refused format, with a store, a backup and replay files.
fn kept() -> Vec<PathBuf> {
    let folders = fs::read_dir(workspace().join("fixtures/stores")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = folders.filter(|path| path.join("backup.tfb").exists()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

/// Restores a store from the backup in a folder, and puts the old store directory next to it, as an owner would have
/// it.
fn restored(folder: &Path) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("store restore {} .turnfold", folder.join("backup.tfb").display()));
    copy_folder(&folder.join("store"), &sandbox.path("then"));
    sandbox
}

fn first_legal(sandbox: &Sandbox, name: &str) -> String {
    sandbox.ok(&format!("legal {name}")).lines().next().unwrap().to_owned()
}

/// ST-19: a directory of an earlier format is refused with instructions for the transition, and stays unchanged.
#[test]
fn every_kept_directory_is_refused_with_the_way_over() {
    for folder in kept() {
        let sandbox = restored(&folder);
        let format = sandbox.read("then/FORMAT");
        let way = "back it up with the build that wrote it and restore the backup with this one";
        for line in
            ["verify", "log duel", "play duel cycle", "store check", "store compact", "store backup x"]
        {
            let output = sandbox.run(&format!("--store then {line}"));
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
            assert!(stderr.contains(format.trim_end()) && stderr.contains(way), "{line}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{line}: {stderr}");
        }
        assert_eq!(sandbox.run("store salvage then saved").status.code(), Some(3));
        for name in ["sled/db", "WATERMARK", "FORMAT"] {
            let kept = fs::read(folder.join("store").join(name)).unwrap();
            assert!(fs::read(sandbox.path("then").join(name)).unwrap() == kept, "{name}");
        }
    }
}

/// ST-19: old backups can be restored, with their original links and heads.
#[test]
fn every_kept_backup_is_restored_verified_and_appended_to() {
    for folder in kept() {
        let sandbox = restored(&folder);
        let expected = fs::read_to_string(folder.join("verify.txt")).unwrap();
        assert_eq!(sandbox.ok("verify"), expected, "{}", folder.display());
        sandbox.ok("store check");
        sandbox.ok("store salvage .turnfold saved");
        assert_eq!(sandbox.ok("--store saved verify"), expected);
        sandbox.ok("store compact");
        assert_eq!(sandbox.ok("verify"), expected);
        let heads = sandbox.ok("store heads");
        sandbox.ok("store backup all.tfb");
        sandbox.ok("store restore all.tfb again");
        assert_eq!(sandbox.ok("--store again store heads"), heads);
        for name in ["duel", "ford", "duel@flank", "long"] {
            let command = first_legal(&sandbox, name);
            let head = sandbox.ok(&format!("log {name}")).lines().count();
            sandbox.ok(&format!("play {name} --expect {head} \"{command}\""));
            assert_eq!(sandbox.ok(&format!("log {name}")).lines().count(), head + 1);
        }
        // An old append is still known by its key.
        assert!(sandbox.ok("log duel --format json").contains("\"key\":\"first\""));
        sandbox.ok("verify");
        sandbox.ok("store check");
    }
}

/// A store of this format from a build that recorded the end of the journal only once. It can be read and written, and
/// then a loss of its last frames is noticed.
#[test]
fn a_store_of_an_earlier_build_of_this_format_is_used_as_it_is() {
    let folder = workspace().join("fixtures/stores/format-4");
    let expected = fs::read_to_string(folder.join("verify.txt")).unwrap();
    let sandbox = Sandbox::new();
    copy_folder(&folder.join("store"), &sandbox.path(".turnfold"));
    assert_eq!(sandbox.ok("verify"), expected);
    let heads = ["head.a", "head.b"].map(|head| format!(".turnfold/journal/{head}"));
    for head in &heads {
        let kept = fs::read(folder.join("store/journal").join(Path::new(head).file_name().unwrap())).unwrap();
        assert!(fs::read(sandbox.path(head)).unwrap() == kept, "reading changes no byte of {head}");
    }
    sandbox.ok("store check");
    let command = first_legal(&sandbox, "ford");
    sandbox.ok(&format!("play ford \"{command}\""));
    sandbox.ok("verify");
    // Whichever head has the last frames, the other head reveals their loss.
    let at = |head: &String| fs::read(sandbox.path(head)).unwrap();
    let last = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let current = heads.iter().max_by_key(|head| last(&at(head))).unwrap();
    let mut bytes = at(current);
    let page = last(&bytes) / 4096 * 4096;
    bytes[page..].fill(0);
    fs::write(sandbox.path(current), bytes).unwrap();
    for line in ["log ford", "verify", "store check", "play ford x"] {
        let output = sandbox.run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
        assert!(stderr.contains("missing or unreadable"), "{line}: {stderr}");
    }
    assert_eq!(sandbox.run("store salvage .turnfold saved").status.code(), Some(1));
}

#[test]
fn every_kept_replay_file_is_checked_imported_and_played_on() {
    for folder in kept() {
        let sandbox = restored(&folder);
        for name in ["duel", "ford"] {
            let kept = fs::read_to_string(folder.join(format!("{name}.tfl"))).unwrap();
            sandbox.write("kept.tfl", &kept);
            sandbox.ok("check kept.tfl");
            // The store has the same contents as the file.
            assert_eq!(sandbox.ok(&format!("export {name}")), kept);
            sandbox.ok(&format!("import kept.tfl --name again-{name}"));
            let command = first_legal(&sandbox, name);
            sandbox.ok(&format!("play again-{name} \"{command}\""));
        }
        sandbox.write("p2.tfl", fs::read(folder.join("ford-p2.tfl")).unwrap());
        assert_eq!(sandbox.ok("show p2.tfl"), sandbox.ok("show ford --as p2"));
    }
}

/// A clock before 1970 gives one line of error, and the store stays unchanged. Reading needs no clock.
#[test]
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
    if !has_or_skips("faketime", "a store at a time before 1970") {
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
