//! Ports: games of this build in other languages, compared with the build by all golden logs (RF-20). Without the
//! language, a test reports SKIPPED with its name.

use std::fs;

use turnfold_tests::parts::has_or_skips;
use turnfold_tests::sandbox::{Sandbox, copy_folder, workspace};

/// A port of the turn system of `lifecycle` to JavaScript folds every golden log the same.
#[test]
fn rf_20_lifecycle_in_javascript_keeps_all_golden_logs() {
    if !has_node() {
        return;
    }
    let sandbox = Sandbox::new();
    let (port, logs) =
        (workspace().join("fixtures/referees/lifecycle.js"), workspace().join("replays/lifecycle"));
    let count = fs::read_dir(&logs).unwrap().count();
    let printed = compare(&sandbox, &port.display().to_string(), &logs.display().to_string());
    let passed = format!("in all, {count} of {count} logs fold the same");
    assert!(printed.0 && printed.1.contains(&passed), "{}", printed.1);
}

/// `check` reports the log and the entry at which a port with one wrong rule differs.
#[test]
fn rf_20_a_wrong_rule_of_a_port_is_named_with_log_and_entry() {
    if !has_node() {
        return;
    }
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("core/guest")).unwrap();
    copy_folder(&workspace().join("core/guest/js"), &sandbox.path("core/guest/js"));
    copy_folder(&workspace().join("replays/lifecycle"), &sandbox.path("logs"));
    fs::create_dir_all(sandbox.path("fixtures/referees")).unwrap();
    let right = fs::read_to_string(workspace().join("fixtures/referees/lifecycle.js")).unwrap();
    for (rule, wrong, expected) in [
        // LC-6
        ("3 + Math.floor(unit.speed / 5)", "3 + Math.ceil(unit.speed / 5)", "effect ap_set differs"),
        // LC-12
        (
            "unit.charge = Math.max(0, unit.charge - TURN_CHARGE);\n  leaveTurn",
            "unit.charge = 0;\n  leaveTurn",
            "effect turn_ended differs",
        ),
        // LC-11
        ("if (state.turn.done.moved) return \"already_moved\";", "", "ignored already_moved → applied"),
        // LC-15
        ("predict(state, 5)", "predict(state, 4)", "same outcomes, another view: /projected_queue"),
    ] {
        assert_eq!(right.matches(rule).count(), 1, "{rule}");
        sandbox.write("fixtures/referees/lifecycle.js", right.replace(rule, wrong));
        let (is_same, printed) = compare(&sandbox, "fixtures/referees/lifecycle.js", "logs");
        assert!(!is_same && printed.contains(expected), "{rule} → {wrong}: {printed}");
        assert!(printed.contains("  logs/") && printed.contains(": entry "), "{printed}");
    }
}

/// Compares a port of `lifecycle` with the build. Returns whether the games are equal, and the output.
fn compare(sandbox: &Sandbox, port: &str, logs: &str) -> (bool, String) {
    let referee = format!("node {port}");
    let mut command = sandbox.command([
        "--referee",
        &referee,
        "game",
        "impact",
        logs,
        "--rules",
        "referee:lifecycle",
        "--all",
    ]);
    let output = command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr, "");
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn has_node() -> bool {
    has_or_skips("node", "ports in JavaScript")
}
