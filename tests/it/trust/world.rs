//! A match with branches and a key, in a sandbox.

use std::fs;

use serde_json::Value;
use turnfold_core::trust::PrivateKey;

use turnfold_tests::sandbox::Sandbox;

/// Returns a sandbox with the key `ann.key`, its policy, and the match `duel`. Its branch `flank` has entries of its
/// own; its branch `edge` has none.
pub(super) fn duel() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok(r#"play duel "roll 1 2 3 4" confirm "move 0,1" "p2: cycle""#);
    sandbox.ok("branch duel:2 flank");
    sandbox.ok(r#"play duel@flank "move 0,1""#);
    sandbox.ok("branch duel:3 edge");
    with_key(&sandbox);
    sandbox
}

/// Creates the key `ann.key`, its verifier key `ann.vkey` and the policy `policy` that trusts it.
pub(super) fn with_key(sandbox: &Sandbox) {
    let vkey = sandbox.ok("key new ann.key --name games.example/ann");
    sandbox.write("ann.vkey", &vkey);
    sandbox.write("policy", format!("log {vkey}quorum none\n"));
}

/// Reads the private key in a file.
pub(super) fn key(sandbox: &Sandbox, name: &str) -> PrivateKey {
    PrivateKey::read(&sandbox.read(name)).unwrap()
}

/// A row of an audit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) result: String,
    pub(super) reason: String,
    /// Match, branch and entry, written as a revision.
    pub(super) at: String,
}

/// Returns whether an audit passes, and its rows in order. Requires the exit code to match.
pub(super) fn audit(sandbox: &Sandbox, line: &str) -> (bool, Vec<(String, Row)>) {
    let output = sandbox.run(&format!("--format json audit {line}"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {stderr}"));
    let ok = document["ok"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!ok)), "{line}: {stderr}");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = document["rows"].as_array().unwrap().iter().map(|row| {
        let seq = row["seq"].as_u64().map(|seq| format!(":{seq}")).unwrap_or_default();
        let at = format!("{}@{}{seq}", text(&row["match"]), text(&row["branch"]));
        let row_of = Row { result: text(&row["result"]), reason: text(&row["reason"]), at };
        (text(&row["row"]), row_of)
    });
    let rows: Vec<_> = rows.collect();
    let names: Vec<_> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let all = ["bytes", "chain", "signature", "consistency", "cosignatures", "dice", "rules", "authorship"];
    assert_eq!(names, all, "every row, always");
    (ok, rows)
}

/// Returns the row of an audit with this name.
pub(super) fn row(sandbox: &Sandbox, line: &str, name: &str) -> Row {
    let (_, rows) = audit(sandbox, line);
    rows.into_iter().find(|(row, _)| row == name).unwrap().1
}

/// Requires a row to have this result, and a reason that contains these words.
pub(super) fn expect(sandbox: &Sandbox, line: &str, name: &str, result: &str, reason: &str) {
    let row = row(sandbox, line, name);
    assert_eq!(row.result, result, "{line}: {name}: {row:?}");
    assert!(row.reason.contains(reason), "{line}: {name}: {row:?}");
}

/// Runs a verb that fails, and returns its standard error.
pub(super) fn failing(sandbox: &Sandbox, code: i32, line: &str) -> String {
    let output = sandbox.run(line);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "turnfold {line}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

/// Requires a verb to fail with an error that contains these words.
pub(super) fn refuses(sandbox: &Sandbox, code: i32, line: &str, words: &str) {
    let stderr = failing(sandbox, code, line);
    assert!(stderr.contains(words), "{line}: {stderr}");
}

/// Returns all files below a folder with their contents.
pub(super) fn files(sandbox: &Sandbox, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![sandbox.path(folder)];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((path.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}
