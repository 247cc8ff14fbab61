//! The JSON lines of `play` and `run`, a contract that other programs rely on.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

#[test]
fn every_line_has_the_same_keys_in_the_same_order() {
    let sandbox = Sandbox::new();
    sandbox.write("script.txt", "roll 1 1 2 2\np1: cycle\np9: cycle\nnonsense\nnext-turn\n");
    check(
        &sandbox,
        "run --rules initiative --setup fixtures/initiative/no-units.toml --script script.txt --keep-going --format json
         run --rules initiative --setup fixtures/initiative/no-units.toml --state --views --format json \"roll 1 1 2 2\"",
        str![[""]],
    );
}

#[test]
fn ten_thousand_commands_give_ten_thousand_lines() {
    let sandbox = Sandbox::new();
    let turn = "roll 1 1 2 2\nnext-turn\np1: cycle\nnonsense\n";
    sandbox.write("script.txt", turn.repeat(2_500));
    let output = sandbox.run(
        "run --rules initiative --setup fixtures/initiative/no-units.toml --script script.txt --state --keep-going --format json",
    );
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut seq = 0;
    for (place, line) in stdout.lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let expected = ["applied", "applied", "rejected", "rejected"][place % 4];
        assert_eq!(line["outcome"], expected, "line {place}");
        if expected == "applied" {
            seq += 1;
            assert_eq!(line["seq"], seq);
        } else {
            assert!(line["seq"].is_null() && line["message"].is_string(), "line {place}");
        }
        assert_eq!(line["view"]["ruleset"], "initiative");
        assert_eq!(line["state_hash"].as_str().unwrap().len(), 64);
    }
    assert_eq!(stdout.lines().count(), 10_000);
    assert!(output.stderr.is_empty());
}
