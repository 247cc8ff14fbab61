//! `store doctor`: each finding names the next step.

use std::fs;

use serde_json::Value;
use turnfold_core::Seat;
use turnfold_store::{BranchName, NewEntry, Store};

use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

/// Returns the grade and the text of the finding about a subject.
fn finding(sandbox: &Sandbox, line: &str, about: &str) -> (String, String) {
    let output = sandbox.run(line);
    let printed = String::from_utf8(output.stdout).unwrap();
    let findings: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has_failed = findings.iter().any(|finding| finding["grade"] == "mend");
    assert_eq!(output.status.code(), Some(i32::from(has_failed)), "{printed}");
    let found = findings.iter().find(|finding| finding["about"] == about);
    let text = |name: &str| found.map_or("", |found| found[name].as_str().unwrap_or_default()).to_string();
    (text("grade"), format!("{}; {}", text("message"), text("next_step")))
}

fn of_store(sandbox: &Sandbox, about: &str) -> (String, String) {
    finding(sandbox, "--format json store doctor", about)
}

#[cfg(unix)]
#[test]
fn a_store_is_well_or_each_finding_names_what_to_do() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules cycletap");
    let allow =
        |mode| fs::set_permissions(sandbox.path(".turnfold"), fs::Permissions::from_mode(mode)).unwrap();
    allow(0o700);
    let printed = sandbox.ok("store doctor");
    let abouts = ["store", "space", "permissions", "clock", "modules", "rules"];
    assert_eq!(printed.lines().count(), abouts.len(), "{printed}");
    for (line, about) in printed.lines().zip(abouts) {
        assert!(line.starts_with(&format!("ok   {about}: ")) || about == "space", "{printed}");
    }
    let (grade, text) = finding(&sandbox, "--store none --format json store doctor", "store");
    assert_eq!((grade.as_str(), text.contains("no store at `none`")), ("mend", true), "{text}");
    allow(0o755);
    let (grade, text) = of_store(&sandbox, "permissions");
    assert_eq!(grade, "note");
    assert!(text.contains("seeds of dice included"), "{text}");
    allow(0o775);
    let (grade, text) = of_store(&sandbox, "permissions");
    assert_eq!((grade.as_str(), text.contains("chmod -R go-w .turnfold")), ("mend", true), "{text}");
}

#[test]
fn damage_is_named() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules cycletap");
    assert!(sandbox.harm_journal(".turnfold", b"cycletap") > 0);
    fs::remove_dir_all(sandbox.path(".turnfold/sled")).unwrap();
    let (grade, text) = of_store(&sandbox, "store");
    assert_eq!(grade, "mend");
    assert!(text.contains("corrupt store"), "{text}");
}

/// An entry counts as at least as old as any later one, and a clock that went back is reported.
#[test]
fn a_clock_that_went_back_is_named_and_no_later_entry_is_older() {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    for command in ["tap 0,1", "tap 0,0", "back"] {
        sandbox.ok(&format!("play ford \"p1: {command}\""));
    }
    assert_eq!(of_store(&sandbox, "times").0, "");
    let store = Store::open(&sandbox.path(".turnfold")).unwrap();
    let (name, branch) = ("ford".parse().unwrap(), BranchName::main());
    let entries = store.entries(&name, &branch, 1..=3).unwrap().map(Result::unwrap);
    let times: Vec<_> = entries.map(|entry| entry.recorded_at_ms).collect();
    let command = store.entries(&name, &branch, 1..=1).unwrap().next().unwrap().unwrap().command;
    let an_hour_ago = NewEntry { seat: Seat::P1, command, recorded_at_ms: times[2] - 3_600_000 };
    store.append(&name, &branch, 3, vec![an_hour_ago], None).unwrap();
    store.close().unwrap();
    let (grade, text) = of_store(&sandbox, "times");
    assert_eq!(grade, "note");
    assert!(text.contains("before entry 4 of `ford`"), "{text}");
    // The first entry counts as no younger than the last.
    let table = sandbox.ok("--format json table matches --matches");
    let row: Value = serde_json::from_str(table.lines().next().unwrap()).unwrap();
    assert_eq!(row["first_at_ms"], row["last_at_ms"], "{row}");
}

/// MD-7, MD-9.
#[test]
fn modules_are_looked_at_and_missing_ones_name_their_matches() {
    let sandbox = Sandbox::new();
    let module = sandbox.path(".turnfold/modules/tictactoe.wasm");
    fs::create_dir_all(module.parent().unwrap()).unwrap();
    fs::copy(workspace().join("fixtures/modules/tictactoe.wasm"), &module).unwrap();
    sandbox.write("empty.toml", "");
    sandbox.ok("new duel --rules tictactoe --setup empty.toml");
    sandbox.ok("play duel \"mark b2\"");
    let (grade, text) = of_store(&sandbox, "modules");
    assert_eq!(grade, "note");
    assert!(text.contains("`turnfold game check .turnfold/modules/tictactoe.wasm`"), "{text}");
    sandbox.ok("game check .turnfold/modules/tictactoe.wasm");
    assert_eq!(of_store(&sandbox, "modules").0, "ok");
    fs::remove_file(module).unwrap();
    let (grade, text) = of_store(&sandbox, "rules");
    assert_eq!(grade, "mend");
    assert!(text.contains("`duel`: ") && text.contains("turnfold game add"), "{text}");
    sandbox.write(".turnfold/modules/broken.wasm", "no module");
    let (grade, text) = of_store(&sandbox, "modules");
    assert_eq!((grade.as_str(), text.contains("broken.wasm")), ("mend", true), "{text}");
}

#[test]
fn a_service_is_asked_for_its_readiness_its_clock_and_the_token() {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    sandbox.write("admin.token", service.admin());
    sandbox.write("old.token", format!("tf_a_{}", "A".repeat(43)));
    let with = |token: &str, about: &str| {
        finding(
            &sandbox,
            &format!("--store {} --token {token} --format json store doctor", service.origin()),
            about,
        )
    };
    for about in ["service", "clock", "token"] {
        let (grade, text) = with("admin.token", about);
        assert_eq!(grade, "ok", "{about}: {text}");
    }
    assert_eq!(with("old.token", "service").0, "ok");
    let (grade, text) = with("old.token", "token");
    assert_eq!((grade.as_str(), text.contains("expected a valid token")), ("mend", true), "{text}");
    assert_eq!(with("none.token", "token").0, "mend");
    let nothing = finding(
        &sandbox,
        "--store http://127.0.0.1:9 --token admin.token --format json store doctor",
        "service",
    );
    assert_eq!((nothing.0.as_str(), nothing.1.contains("no answer from")), ("mend", true), "{}", nothing.1);
}
