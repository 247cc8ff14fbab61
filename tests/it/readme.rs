//! Everything the README shows is run here, and prints what the README says.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

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

/// Runs the `console service` blocks in one shell beside the service that their first line starts.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn the_readme_plays_over_a_network() {
    if !Command::new("curl").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no curl");
        return;
    }
    let readme = fs::read_to_string(workspace().join("README.md")).unwrap();
    let blocks = readme.split("```console service\n").skip(1).map(|block| block.split_once("```").unwrap().0);
    let expected: String = blocks.collect();
    let (start, expected) = expected.split_once("http://127.0.0.1:8017\n").unwrap();
    let sandbox = Sandbox::new();
    let arguments = start.strip_prefix("$ turnfold ").unwrap().trim_end();
    let mut service = sandbox.command(arguments.split(' ').chain(["--listen", "127.0.0.1:0"]));
    let mut service = service.stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(service.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim_end().strip_prefix("http://").unwrap();
    let mut script = String::from("exec 2>&1\n");
    for line in expected.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let shown = line.replace('\'', r"'\''");
        writeln!(script, "printf '%s\\n' '$ {shown}'\n{}", line.replace("127.0.0.1:8017", address)).unwrap();
    }
    let output = sandbox.shell(&script);
    service.kill().unwrap();
    service.wait().unwrap();
    let actual = String::from_utf8(output.stdout).unwrap().replace(address, "127.0.0.1:8017");
    snapbox::assert_data_eq!(without_chance(&actual), Data::from(expected.to_owned()).raw());
}

/// Blanks out tokens, their ids and the ids of requests.
fn without_chance(text: &str) -> String {
    let mut text = text.to_owned();
    for (before, length) in [("tf_i_", 43), ("\"id\":\"", 16)] {
        let mut parts = text.split(before);
        let first = parts.next().unwrap().to_owned();
        text = parts.fold(first, |text, part| text + before + "…" + &part[length..]);
    }
    let mut parts = text.split("\"request\":\"");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + "\"request\":\"…" + &part[part.find('"').unwrap()..])
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
