//! Unusual files in a store, unusual names and unusual readers are refused in one line, without a hang.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Output, Stdio};

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::{Sandbox, binary};

/// Runs a command with little memory and a time limit.
fn bounded(sandbox: &Sandbox, line: &str) -> Output {
    let script = "ulimit -v 2000000 && exec timeout 30 \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(binary()).args(line.split(' ')).stdin(Stdio::null());
    command.current_dir(sandbox.path("")).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap()
}

fn check_refused(sandbox: &Sandbox, line: &str, expected: &str) {
    let output = bounded(sandbox, line);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{line}: {stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(expected), "{line}: {stderr}");
}

#[test]
fn a_store_with_a_pipe_or_a_device_for_a_file_is_refused() {
    for name in ["FORMAT", "LOCK", "journal/head.a", "journal/head.b"] {
        for odd in ["/dev/zero", "pipe"] {
            let sandbox = duel();
            assert!(Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap().success());
            let path = sandbox.path(".turnfold").join(name);
            let _ = fs::remove_file(&path);
            symlink(if odd == "pipe" { sandbox.path(odd) } else { odd.into() }, &path).unwrap();
            check_refused(&sandbox, "play duel cycle", name);
            for verb in ["log duel", "matches"] {
                if name == "LOCK" {
                    // Reading then locks another file.
                    let output = bounded(&sandbox, verb);
                    assert!(output.status.success(), "{verb} with {odd} for a lock: {output:?}");
                } else {
                    check_refused(&sandbox, verb, name);
                }
            }
            // Salvage works without the file, or reports in one line that it cannot.
            let output = bounded(&sandbox, "store salvage .turnfold saved");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{name} {odd}: {output:?}");
            assert!(!stderr.contains("internal error"), "{name} {odd}: {stderr}");
        }
    }
}

#[test]
fn salvage_copies_only_what_is_a_stores() {
    let sandbox = duel();
    let store = sandbox.path(".turnfold");
    assert!(Command::new("mkfifo").arg(store.join("pipe")).status().unwrap().success());
    let _listener = std::os::unix::net::UnixListener::bind(store.join("sled/socket")).unwrap();
    symlink("/", store.join("root")).unwrap();
    symlink("/dev/zero", store.join("sled/snap.1")).unwrap();
    // Larger than any disk, so copying it would fail.
    fs::File::create(store.join("huge")).unwrap().set_len(1 << 42).unwrap();
    let output = bounded(&sandbox, "store salvage .turnfold saved");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(sandbox.ok("--store saved log duel"), {
        fs::remove_file(store.join("sled/snap.1")).unwrap();
        sandbox.ok("log duel")
    });
}

#[test]
fn a_backup_is_read_from_a_regular_file() {
    let sandbox = Sandbox::new();
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap().success());
    sandbox.check(str![[r#"
$ turnfold store restore pipe new
exit 2| error: cannot read backup `pipe`: it is a pipe, a socket or a device; name a regular file
$ turnfold store restore /dev/zero new
exit 2| error: cannot read backup `/dev/zero`: it is a pipe, a socket or a device; name a regular file
$ turnfold store restore fixtures new
exit 2| error: cannot read backup `fixtures`: it is a directory; name a regular file
$ turnfold store restore nothing new
exit 2| error: cannot read backup `nothing`: No such file or directory (os error 2)

"#]]);
}

#[test]
fn no_match_is_named_like_a_replay_file() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    fs::copy(sandbox.path("duel.tfl"), sandbox.path("twice.tfl.tfl")).unwrap();
    sandbox.check(str![[r#"
$ turnfold new a.tfl --rules initiative --setup fixtures/initiative/small-board.toml
exit 2| error: invalid value 'a.tfl' for '<MATCH>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
$ turnfold import duel.tfl --name b.tfl
exit 2| error: invalid value 'b.tfl' for '--name <MATCH>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
$ turnfold import twice.tfl.tfl
exit 2| error: no match can be named after the file: a name that ends in `.tfl` means a replay file, so no match can have it; give one with `--name`
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 7 --into c.tfl
exit 2| error: invalid value 'c.tfl' for '--into <MATCH>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
$ turnfold matches
duel  initiative  3 entries, 1 branch  [TIME]

"#]]);
}

#[test]
fn an_error_is_at_most_500_characters_long() {
    let sandbox = Sandbox::new();
    sandbox.write("long.toml", format!("radius = \"{}\"\n", "ä".repeat(1_000_000)));
    let key = "k".repeat(100_000);
    for line in [
        "new duel --rules initiative --setup long.toml".to_owned(),
        format!("log {key}"),
        format!("play duel --once {key}"),
    ] {
        let stderr = String::from_utf8(sandbox.run(&line).stderr).unwrap();
        assert_eq!(stderr.trim_end().chars().count(), 500, "{stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains('…') && stderr.lines().count() == 1);
    }
}

#[test]
fn output_cut_short_is_no_backup_and_no_replay() {
    let sandbox = duel();
    for (line, code) in [("store backup -", 3), ("export duel", 3), ("log duel", 0), ("show duel", 0)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = sandbox.command(line.split(' ')).stdout(writer).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert_eq!(
            stderr.contains("is incomplete: the reader closed the pipe"),
            code == 3,
            "{line}: {stderr}"
        );
    }
}

#[test]
fn what_check_prints_of_a_file_in_a_line_is_at_most_500_characters_long() {
    let sandbox = duel();
    let long = "ä".repeat(1_000);
    sandbox.ok("export duel -o good.tfl");
    sandbox.write("unusable.tfl", sandbox.read("good.tfl").replace("radius = ", &format!("{long} = ")));
    let deep = format!("{}.tfl", "long-name".repeat(25));
    fs::create_dir_all(sandbox.path(&"d".repeat(250)).join("e".repeat(250))).unwrap();
    let differs = format!("{}/{}/{deep}", "d".repeat(250), "e".repeat(250));
    sandbox.write(&differs, sandbox.read("good.tfl").replacen(" => ", " => x", 1));
    let output = sandbox.command(["check", "unusable.tfl", differs.as_str()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> =
        stdout.lines().filter(|line| line.contains("unusable") || line.contains("dddd")).collect();
    assert!(lines.len() >= 4, "{stdout}");
    for line in lines.iter().filter(|line| !line.starts_with("to reproduce: ")) {
        assert!(line.chars().count() <= 500, "{}: {line}", line.chars().count());
    }
    assert!(lines.iter().any(|line| line.contains('…') && line.chars().count() == 500), "{stdout}");
}

/// Commands that overwrite `out`: a replay completely, a bundle readable only by its owner.
const WRITERS: [&str; 4] = [
    "export duel -o out --force",
    "simulate --rules hexcapture --seed 7 --steps 3 -o out --force",
    "bundle duel -o out --force",
    "store backup out --force",
];

#[test]
fn a_pipe_is_never_overwritten_by_a_file() {
    let sandbox = duel();
    assert!(Command::new("mkfifo").arg(sandbox.path("pipe")).status().unwrap().success());
    symlink("pipe", sandbox.path("out")).unwrap();
    let plain = "export duel -o pipe";
    for line in WRITERS.into_iter().chain([plain]) {
        let output = bounded(&sandbox, line);
        let name = if line == plain { "pipe" } else { "out" };
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, format!("error: `{name}` is no regular file; nothing was written\n"), "{line}");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(fs::metadata(sandbox.path("pipe")).unwrap().file_type().is_fifo(), "{line}");
    }
}

#[test]
fn a_link_is_followed_to_the_file_that_is_overwritten() {
    for line in WRITERS {
        for old in [Some("old"), None] {
            let sandbox = duel();
            fs::create_dir(sandbox.path("kept")).unwrap();
            if let Some(old) = old {
                sandbox.write("kept/file", old);
            }
            symlink("kept/file", sandbox.path("link")).unwrap();
            symlink("link", sandbox.path("out")).unwrap();
            let unforced = sandbox.run(&line.replace(" --force", ""));
            let stderr = String::from_utf8(unforced.stderr).unwrap();
            assert_eq!(stderr, "error: `out` exists; `--force` overwrites it\n", "{line}");
            sandbox.ok(line);
            for link in ["link", "out"] {
                assert!(fs::symlink_metadata(sandbox.path(link)).unwrap().is_symlink(), "{line}: {link}");
            }
            let written = fs::read(sandbox.path("kept/file")).unwrap();
            assert!(written.len() > 10, "{line}: {written:?}");
        }
    }
    let sandbox = duel();
    symlink("out", sandbox.path("out")).unwrap();
    sandbox.check(str![[r#"
$ turnfold export duel -o out --force
exit 3| error: cannot write `out`: too many symbolic links
$ turnfold bundle duel -o out --force
exit 3| error: cannot write `out`: too many symbolic links

"#]]);
}
