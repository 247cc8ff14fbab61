//! The guides whose console blocks need a service, a database or the reader's own program.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use turnfold_tests::document::{Document, commands, run_blocks};
use turnfold_tests::parts::{has_or_skips, python, skipped};
use turnfold_tests::sandbox::{Sandbox, without_links, workspace};

/// The address of the service in the documents.
const SERVICE: &str = "127.0.0.1:8017";
/// The URL of the database in the documents.
const DATABASE: &str = "postgres://turnfold@db.example/games";

#[test]
fn the_guide_to_your_own_game_shows_what_its_commands_print() {
    let document = Document::read("docs/guide/your-own-game.md");
    let program = crate::example::program("chess");
    run_blocks(
        &document,
        "console chess",
        &Sandbox::installed(),
        &format!("chess() {{ '{}' \"$@\"; }}\n", program.display()),
    );
    let example = workspace().join("examples/chess");
    let files =
        ["Cargo.toml", "src/main.rs", "src/lib.rs", "src/board.rs", "tests/rules.rs", "tests/goldens.rs"];
    let code = files.map(|name| fs::read_to_string(example.join(name)).unwrap()).concat();
    let blocks = [document.blocks("rust"), document.blocks("toml")].concat();
    assert!(blocks.len() > 10, "the guide shows code");
    for block in blocks {
        assert!(code.contains(block), "examples/chess has this code: {block}");
    }
}

/// Follows the guide like a developer, in an empty folder with node and only the program.
#[test]
fn the_guide_to_referees_finds_a_bug_of_an_engine_in_javascript() {
    if !has_or_skips("node", "the guide to referees") {
        return;
    }
    let (document, sandbox) = (Document::read("docs/guide/referees.md"), Sandbox::installed());
    let files = ["engine.mjs", "referee.mjs", "script.mjs", "vitest.mjs", "squares.mjs"];
    assert_eq!(files.len(), document.blocks("js").len());
    for (name, text) in files.iter().zip(document.blocks("js")) {
        assert!(text.lines().count() <= 40, "{name} has at most 40 lines");
        sandbox.write(name, text);
    }
    sandbox.write("game.jsonl", document.blocks("jsonl")[0]);
    sandbox.write("referees.toml", document.blocks("toml")[0]);
    // Referees are not read from a file that others may write, so the umask matters.
    run_blocks(&document, "console node", &sandbox, "umask 022\nexport TURNFOLD_REFEREES=referees.toml\n");
}

const DUCKDB: &str = "duckdb==2.0.1";

/// Returns a shell function that does the same as `duckdb -csv -noheader -c SQL`, with the package from `PyPI`.
fn duckdb(bin: &Path) -> String {
    let rows = "import csv, duckdb, sys
csv.writer(sys.stdout, lineterminator=\"\\n\").writerows(duckdb.sql(sys.argv[1]).fetchall())";
    format!("duckdb() {{ '{}' -c '{rows}' \"$4\"; }}\n", bin.join("python3").display())
}

#[test]
fn the_guide_to_analysis_answers_its_questions_by_duckdb_and_jq() {
    let document = Document::read("docs/guide/analysis.md");
    let sandbox = Sandbox::installed();
    for line in commands(document.blocks("console")[0]) {
        assert!(sandbox.shell(line).status.success(), "{line}");
    }
    let has_jq = sandbox.shell("jq --version").status.success();
    let jq = if has_jq { Ok(String::new()) } else { Err("jq is not installed".to_owned()) };
    let duckdb = python(DUCKDB, "TURNFOLD_DUCKDB").map(|bin| duckdb(&bin));
    for (word, prelude) in [("console jq", jq), ("console duckdb", duckdb)] {
        match prelude {
            Ok(prelude) => run_blocks(&document, word, &sandbox, &prelude),
            Err(why) => skipped(format_args!("`{word}` of the guide"), why),
        }
    }
    let answers = |word: &str| {
        let blocks = document.blocks(word).into_iter().take(10);
        let answers = blocks.map(|block| block.lines().skip(1).collect::<Vec<_>>().join("\n"));
        answers.map(|answer| answer.replace(['[', ']', '"'], "")).collect::<Vec<_>>()
    };
    assert_eq!(answers("console jq"), answers("console duckdb"));
}

/// Runs the `service` blocks in one shell, next to the service that their first command starts.
#[test]
fn the_guide_to_serving_plays_over_a_network() {
    if !has_or_skips("curl", "the guide to serving") {
        return;
    }
    let document = Document::read("docs/guide/serve.md");
    let word = "console service";
    let blocks = document.blocks(word);
    let (start, printed) = blocks[0].split_once('\n').unwrap();
    assert_eq!(printed, format!("http://{SERVICE}\n"));
    let sandbox = Sandbox::installed();
    let arguments = start.strip_prefix("$ turnfold ").unwrap().trim_end();
    let mut service = sandbox.command(arguments.split(' ').chain(["--listen", "127.0.0.1:0"]));
    let mut service = service.stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(service.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim_end().strip_prefix("http://").unwrap();
    let found = in_one_shell(&sandbox, &blocks[1..], |line| line.replace(SERVICE, address));
    service.kill().unwrap();
    service.wait().unwrap();
    let found = found.iter().map(|text| without_chance(&text.replace(address, SERVICE)));
    let found: Vec<String> = std::iter::once(blocks[0].to_owned()).chain(found).collect();
    document.require(word, &found, str::to_owned);
}

/// Runs the `postgres` blocks on the tests' own database.
#[cfg(unix)]
#[test]
fn the_guide_to_operating_moves_a_store_into_a_database() {
    let Some(server) = crate::fleet::postgres::shared() else { return };
    let url = crate::fleet::url(server, "guide");
    let document = Document::read("docs/guide/operate.md");
    let word = "console postgres";
    let found =
        in_one_shell(&Sandbox::installed(), &document.blocks(word), |line| line.replace(DATABASE, &url));
    let shown = |text: &String| {
        let lines = text.lines().map(|line| match line.split_once("postgres://tests@") {
            Some((before, rest)) => {
                let after = rest.split_once("schema=guide").map_or("", |(_, after)| after);
                format!("{before}{DATABASE}{after}\n")
            }
            None => format!("{line}\n"),
        });
        lines.collect()
    };
    document.require(word, &found.iter().map(shown).collect::<Vec<_>>(), without_links);
}

/// Runs the commands of all blocks in one shell, so that variables persist. Returns the output of each block.
fn in_one_shell(sandbox: &Sandbox, blocks: &[&str], replaced: impl Fn(&str) -> String) -> Vec<String> {
    const END: &str = "-- end of a block --\n";
    let mut script = String::from("exec 2>&1\n");
    for block in blocks {
        for line in commands(block) {
            let shown = line.replace('\'', r"'\''");
            writeln!(script, "printf '%s\\n' '$ {shown}'\n{}", replaced(line)).unwrap();
        }
        writeln!(script, "printf '%s' '{END}'").unwrap();
    }
    let output = sandbox.shell(&script);
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<String> = text.split(END).map(str::to_owned).collect();
    assert_eq!(found.len(), blocks.len() + 1, "{text}");
    found[..blocks.len()].to_vec()
}

/// Blanks tokens, their ids and the ids of requests.
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

/// The exchanges in the protocol document match those of the example.
#[test]
fn the_protocol_of_referees_shows_what_the_example_answers() {
    let document = Document::read("core/guest/PROTOCOL.md");
    let lines: Vec<&str> = document.blocks("exchange").into_iter().flat_map(str::lines).collect();
    let with = |sign: &str| lines.iter().filter_map(|line| line.strip_prefix(sign)).collect::<Vec<_>>();
    let (requests, answers) = (with("→ "), with("← "));
    assert!(requests.len() >= 6 && requests.len() == answers.len());
    let mut node = Command::new("node");
    node.arg(workspace().join("fixtures/referees/charge.js"));
    let Ok(mut child) = node.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        skipped("the exchanges of the protocol", "`node` is not here");
        return;
    };
    let mut input = child.stdin.take().unwrap();
    input.write_all((requests.join("\n") + "\n").as_bytes()).unwrap();
    drop(input);
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(output.lines().collect::<Vec<_>>(), answers);
}
