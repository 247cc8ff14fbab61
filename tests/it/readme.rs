//! Everything the README shows is run here, and prints what the README says.

use std::fmt::Write;
use std::fs;

use snapbox::data::Data;

use crate::sandbox::{Sandbox, without_links, workspace};

/// Runs the `console` blocks of a document one after another in one sandbox.
#[test]
fn the_readme_tells_the_truth() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let sandbox = Sandbox::new();
    let mut expected = String::new();
    let mut actual = String::new();
    for block in readme.split("```console\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        expected.push_str(block);
        for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
            let output = sandbox.shell(line);
            writeln!(actual, "$ {line}").unwrap();
            actual.push_str(&String::from_utf8(output.stdout).unwrap());
            actual.push_str(&String::from_utf8(output.stderr).unwrap());
        }
    }
    assert!(expected.contains("$ turnfold new "), "the README shows a match");
    assert!(expected.contains("$ turnfold check "), "the README shows a check");
    snapbox::assert_data_eq!(without_links(&actual), Data::from(without_links(&expected)).raw());
    // The picture that it shows is the one that it makes.
    snapbox::assert_data_eq!(sandbox.read("duel.svg"), snapbox::file!["../../docs/duel.svg": Text].raw());
}

#[test]
fn the_readme_sets_up_with_two_commands() {
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let block = readme.split("```sh\n").nth(1).and_then(|block| block.split("```").next()).unwrap();
    let commands: Vec<_> = block.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(commands, ["cargo run --release -- tour", "cargo test --workspace"]);
    let ci = fs::read_to_string(workspace().join(".ci/run")).unwrap();
    assert!(ci.contains("cargo test --workspace"), "CI runs the README's test command");
}
