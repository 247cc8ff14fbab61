//! The program for Windows, run by wine: the tour, a guide, the golden logs, a killed store, a service, a referee.
//!
//! The tests run only if `TURNFOLD_WINE` is set, because building the program takes about three minutes.
//! `TURNFOLD_WINE=1 .ci/run` also installs their requirements.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;

use crate::platforms::{build, lacks_program, lacks_target, skip, succeed};
use turnfold_tests::document::{Document, run_blocks};
use turnfold_tests::sandbox::{Sandbox, without_links, workspace};
use turnfold_tests::service::Running;

const TRIPLE: &str = "x86_64-pc-windows-gnu";

const NEEDS: [(&str, &str); 2] = [
    ("wine", "Debian's packages wine and wine64"),
    ("x86_64-w64-mingw32-gcc", "Debian's package gcc-mingw-w64-x86-64"),
];

/// Creates a folder for the program for Windows, unless a requirement to build or run it is missing.
fn sandbox() -> Option<Sandbox> {
    static PROGRAM: LazyLock<Option<PathBuf>> = LazyLock::new(program);
    PROGRAM.as_ref().map(|program| Sandbox::of(program))
}

/// Builds the program, and returns a script that runs it.
fn program() -> Option<PathBuf> {
    if env::var_os("TURNFOLD_WINE").is_none() {
        skip(TRIPLE, "TURNFOLD_WINE=1 builds the program for Windows and runs it by wine");
        return None;
    }
    if let Some(lacks) = lacks_target(TRIPLE).or_else(|| lacks_program(&NEEDS)) {
        skip(TRIPLE, &lacks);
        return None;
    }
    let folder = build("turnfold", Some(TRIPLE), &[]);
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    compiler.arg("-shared").arg("-o").arg(folder.join("bcryptprimitives.dll"));
    compiler.arg(workspace().join("tests/system/windows/bcryptprimitives.c")).arg("-ladvapi32");
    succeed(&mut compiler);
    let modules = folder.join("share/turnfold/modules");
    fs::create_dir_all(&modules).unwrap();
    fs::copy(workspace().join("fixtures/modules/chess.wasm"), modules.join("chess.wasm")).unwrap();

    let (prefix, script) = (folder.join("wine"), folder.join("turnfold-on-wine"));
    let (shown, exe) = (prefix.display(), folder.join("turnfold.exe"));
    let text = format!(
        "#!/bin/sh\nexport PATH=/usr/bin:/bin HOME='{shown}' WINEPREFIX='{shown}' WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='\nexec wine '{}' \"$@\"\n",
        exe.display()
    );
    fs::write(&script, text).unwrap();
    succeed(Command::new("chmod").arg("+x").arg(&script));
    // The first start of wine creates its folder, which takes seconds.
    fs::create_dir_all(&prefix).unwrap();
    succeed(Command::new(&script).arg("--version"));
    Some(script)
}

#[test]
fn windows_plays_the_tour() {
    let Some(sandbox) = sandbox() else { return };
    let tour = sandbox.ok("tour");
    assert!(
        tour.contains("2 passed, 0 failed") && tour.contains("The files of the tour are removed."),
        "{tour}"
    );
}

#[test]
fn windows_folds_every_golden_log_to_the_same_hashes() {
    let Some(sandbox) = sandbox() else { return };
    let check = |sandbox: &Sandbox| {
        let mut command = sandbox.command(["check", "replays"]);
        String::from_utf8(succeed(command.current_dir(workspace())).stdout).unwrap()
    };
    let found = check(&sandbox);
    assert!(found.contains(" passed, 0 failed"), "{found}");
    assert_eq!(found.replace('\\', "/"), check(&Sandbox::new()));
}

#[test]
fn windows_prints_what_the_guide_to_playing_shows() {
    let Some(sandbox) = sandbox() else { return };
    run_blocks(&Document::read("docs/guide/play.md"), "console", &sandbox, "");
}

/// Returns the log of a store and the output of `verify`.
fn verified(sandbox: &Sandbox) -> String {
    without_links(&sandbox.ok("log duel")) + &sandbox.ok("verify")
}

/// Both programs use the same folder, one after the other.
#[test]
fn a_store_made_on_one_system_opens_on_the_other() {
    let Some(windows) = sandbox() else { return };
    let linux = Sandbox::sharing(&windows);
    for (maker, other) in [(&windows, &linux), (&linux, &windows)] {
        maker.ok("new duel --rules initiative --setup small-board");
        maker.ok("play duel \"roll 1 2 3 4\"");
        assert_eq!(verified(other), verified(maker));
        other.ok("play duel confirm");
        assert_eq!(verified(maker), verified(other));
        maker.ok("store compact");
        maker.ok("store backup matches.tfb");
        other.ok("store restore matches.tfb restored");
        assert_eq!(maker.ok("--store restored verify"), other.ok("verify"));
        other.ok("store salvage .turnfold saved");
        assert_eq!(maker.ok("--store saved verify").lines().count(), 1);
        maker.ok("new horses --rules chess");
        other.ok("play horses e4 e5");
        other.ok("export duel -o duel.tfl");
        maker.ok("check duel.tfl");
        for folder in [".turnfold", "restored", "saved"] {
            fs::remove_dir_all(windows.path(folder)).unwrap();
        }
        for file in ["matches.tfb", "duel.tfl"] {
            fs::remove_file(windows.path(file)).unwrap();
        }
    }
}

#[test]
fn windows_keeps_what_it_acknowledged_before_it_was_killed() {
    let Some(sandbox) = sandbox() else { return };
    sandbox.ok("new duel --rules initiative --setup small-board");
    let mut service = Running::start(&sandbox);
    let entries = "/v1/matches/duel/branches/main/entries";
    let played = service.send("POST", entries, service.admin(), r#"{"commands":["roll 1 2 3 4"]}"#);
    assert_eq!(played.status, 201, "{}", played.body);

    // Meanwhile other processes can read but not write, and the address is in use.
    assert!(sandbox.ok("log duel").starts_with("1 host roll 1 2 3 4"));
    let refused = sandbox.run("play duel confirm");
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(3) && why.contains("is locked by process "), "{why}");
    let address = service.origin().strip_prefix("http://").unwrap();
    let refused = sandbox.run(&format!("--store other serve --listen {address}"));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && why.contains("choose another address"), "{why}");

    service.kill();
    // Wine releases a killed program's files a moment later.
    let mut played = sandbox.run("play duel confirm");
    for _ in 0..50 {
        if played.status.success() {
            break;
        }
        sleep(Duration::from_millis(100));
        played = sandbox.run("play duel confirm");
    }
    assert!(verified(&sandbox).contains("ok duel@main: 2 entries"), "{}", verified(&sandbox));
}

#[test]
fn windows_plays_by_a_referee_through_a_pipe_and_a_relay() {
    let Some(sandbox) = sandbox() else { return };
    let mut compiler = Command::new("x86_64-w64-mingw32-gcc");
    compiler.arg("-o").arg(sandbox.path("nim.exe")).arg(workspace().join("tests/system/windows/game.c"));
    succeed(compiler.arg("-lws2_32"));
    let program = sandbox.program().with_file_name("turnfold.exe");
    let relay = format!("Z:{} game relay -- ./nim.exe {{port}}", program.display());
    for (name, referee) in [("direct", "./nim.exe"), ("backslash", ".\\nim.exe"), ("relayed", &relay)] {
        let by = format!("--referee \"{referee}\"");
        sandbox.ok(&format!("new {name} --rules cnim {by}"));
        assert_eq!(sandbox.ok(&format!("legal {name} {by}")), "p1: take 1\np1: take 2\np1: take 3\n");
        let played = sandbox.ok(&format!("play {name} \"take 1\" {by}"));
        assert!(played.starts_with("1 p1 take 1 => left stones=8"), "{played}");
    }
}
