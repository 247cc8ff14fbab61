//! Every console block of README and guides is run here, and prints what the document shows.
//!
//! A block begins with ` ```console` and, where it needs more than `turnfold`, a word: `service` for a running service,
//! `postgres` for a database, `nim` for the program of `examples/nim`. All plain blocks of a document share one sandbox;
//! so do those of each word. `SNAPSHOTS=overwrite` writes the output that was found into the document.

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use snapbox::data::{Data, DataFormat};

use crate::sandbox::{Sandbox, without_links, workspace};

const FENCE: &str = "```";
/// The service that the documents talk to.
const SERVICE: &str = "127.0.0.1:8017";
/// The database that the documents talk to.
#[cfg(unix)]
const DATABASE: &str = "postgres://turnfold@db.example/games";

/// A document with its console blocks, each between texts.
struct Document {
    path: PathBuf,
    text: String,
}

impl Document {
    fn read(name: &str) -> Self {
        let path = workspace().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { path, text }
    }

    /// Returns the blocks that begin with this word after the fence.
    fn blocks(&self, word: &str) -> Vec<&str> {
        let opening = format!("\n{FENCE}{word}\n");
        let blocks = self.text.split(&opening).skip(1);
        blocks.map(|block| block.split_once(FENCE).expect("a block is closed").0).collect()
    }

    /// Requires the blocks that begin with this word to print `found`, which has one text for each of them.
    fn require(&self, word: &str, found: &[String], normalized: fn(&str) -> String) {
        let opening = format!("\n{FENCE}{word}\n");
        let mut parts = self.text.split(&opening);
        let mut text = parts.next().unwrap().to_owned();
        for (part, found) in parts.zip(found) {
            let (shown, rest) = part.split_once(FENCE).unwrap();
            let is_same = normalized(shown) == normalized(found);
            text.extend([opening.as_str(), if is_same { shown } else { found }, FENCE, rest]);
        }
        snapbox::assert_data_eq!(text, Data::read_from(&self.path, Some(DataFormat::Text)).raw());
    }
}

/// Blanks out the keys of players, which are random.
fn without_keys(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| match line.split_once(" signs as ") {
        Some((seat, key)) if seat.contains(" of ") => {
            format!("{seat} signs as {}+[KEY]\n", key.split('+').next().unwrap())
        }
        _ => line.to_owned(),
    });
    lines.collect()
}

/// Blanks out links and keys.
fn without_what_is_random(text: &str) -> String {
    without_links(&without_keys(text))
}

fn commands(block: &str) -> Vec<&str> {
    block.lines().filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// Runs the blocks of a document that begin with this word, one command after another in one sandbox. Each command has
/// a shell of its own that begins with the prelude.
fn run_blocks(document: &Document, word: &str, sandbox: &Sandbox, prelude: &str) {
    let blocks = document.blocks(word);
    assert!(!blocks.is_empty(), "{} has no block `{word}`", document.path.display());
    let found: Vec<_> = blocks.iter().map(|block| output_of(block, sandbox, prelude)).collect();
    document.require(word, &found, without_what_is_random);
}

/// Runs the commands of a block; returns them with what they print, as the block shows it.
fn output_of(block: &str, sandbox: &Sandbox, prelude: &str) -> String {
    let mut found = String::new();
    for line in commands(block) {
        let output = sandbox.shell(&format!("{prelude}{line}"));
        writeln!(found, "$ {line}").unwrap();
        found.push_str(&String::from_utf8(output.stdout).unwrap());
        found.push_str(&String::from_utf8(output.stderr).unwrap());
    }
    found
}

/// Runs the plain blocks of a document, which are the only ones that it has.
fn run_plain(name: &str) -> Sandbox {
    let (document, sandbox) = (Document::read(name), Sandbox::new());
    run_blocks(&document, "console", &sandbox, "");
    sandbox
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let sandbox = run_plain("README.md");
    let readme = Document::read("README.md").text;
    assert!(readme.contains("$ turnfold new "), "the README shows a match");
    assert!(readme.contains("$ turnfold check "), "the README shows a check");
    assert!(readme.contains("](docs/duel.svg)"), "the README shows a picture");
    // The picture that it shows is the one that it makes.
    snapbox::assert_data_eq!(sandbox.read("duel.svg"), snapbox::file!["../../docs/duel.svg": Text].raw());
}

#[test]
fn the_readme_is_short() {
    let lines = Document::read("README.md").text.lines().count();
    assert!(lines <= 220, "README.md: {lines} lines");
}

#[test]
fn the_guide_to_playing_shows_what_its_commands_print() {
    run_plain("docs/guide/play.md");
}

#[test]
fn the_guide_to_debugging_shows_what_its_commands_print() {
    run_plain("docs/guide/debugging.md");
}

#[test]
fn the_guide_to_auditing_shows_what_its_commands_print() {
    run_plain("docs/guide/audit.md");
}

#[test]
fn the_guide_to_hosting_by_mail_shows_what_its_commands_print() {
    run_plain("docs/guide/mail-host.md");
}

/// The player's page begins with an invitation and goes on with the letter of the first turn, which a host makes here.
#[test]
fn the_guide_to_playing_by_mail_shows_what_its_commands_print() {
    let (document, sandbox) = (Document::read("docs/guide/mail-player.md"), Sandbox::new());
    let attachment = |letter: &str, bundle: &str| {
        let save = format!(
            "tr -d '\\r' < .turnfold/outbox/{letter} | sed -n '/filename=/,/^--/p' | sed '1,2d;$d' | base64 -d > {bundle}"
        );
        assert!(sandbox.shell(&save).status.success());
    };
    let terms = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
    sandbox.write("desk.toml", terms);
    let vkey = sandbox.ok("key new ann.key --name games.example/ann");
    sandbox.write("ann.vkey", vkey);
    sandbox.ok(
        "mail open ford --rules cycletap --setup fixtures/cycletap/ford.toml --desk desk.toml --key ann.key",
    );
    attachment("00000001-p1.eml", "ford.bundle");
    attachment("00000001-p2.eml", "cleo.bundle");
    let blocks = document.blocks("console");
    let mut found = Vec::new();
    for block in &blocks {
        // Between joining and ordering the host begins the first turn.
        if block.contains("write order") {
            sandbox.ok("key new cleo.key --name cleo.example");
            sandbox.ok("mail write join p2 --from cleo.bundle --key cleo.key -o cleo.txt");
            sandbox.ok("mail take ford reply.txt cleo.txt --admit p1 --admit p2 --key ann.key");
            sandbox.ok("mail run ford --key ann.key --at 2025-01-06T18:00:00Z");
            attachment("00000005-p1.eml", "turn.bundle");
        }
        found.push(output_of(block, &sandbox, ""));
    }
    document.require("console", &found, without_what_is_random);
}

#[test]
fn the_guide_to_the_command_line_shows_what_its_commands_print() {
    run_plain("docs/guide/cli.md");
}

#[test]
fn the_guide_to_operating_shows_what_its_commands_print() {
    run_plain("docs/guide/operate.md");
}

#[test]
fn the_guide_to_your_own_game_shows_what_its_commands_print() {
    let document = Document::read("docs/guide/your-own-game.md");
    let program = crate::example::program();
    run_blocks(
        &document,
        "console nim",
        &Sandbox::new(),
        &format!("nim() {{ '{}' \"$@\"; }}\n", program.display()),
    );
    let code: String = ["main.rs", "tests.rs"]
        .map(|name| fs::read_to_string(workspace().join("examples/nim/src").join(name)).unwrap())
        .concat();
    let blocks = document.blocks("rust");
    assert!(!blocks.is_empty(), "the guide shows code");
    for block in blocks {
        assert!(code.contains(block), "examples/nim has this code: {block}");
    }
}

/// Every guide has a test above, is in the index, and every console block begins with a word that a test runs.
#[test]
fn every_guide_is_in_the_index_and_run_by_a_test() {
    let index = Document::read("docs/guide/index.md").text;
    let tests = fs::read_to_string(workspace().join("tests/it/readme.rs")).unwrap();
    let mut guides = 0;
    for file in fs::read_dir(workspace().join("docs/guide")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if name == "index.md" {
            continue;
        }
        guides += 1;
        let document = Document::read(&format!("docs/guide/{name}"));
        assert!(index.contains(&format!("({name})")), "index.md links {name}");
        assert!(document.text.starts_with("# "), "{name} begins with its title");
        for opening in document.text.lines().filter(|line| line.starts_with("```console")) {
            let known = ["```console", "```console service", "```console postgres", "```console nim"];
            assert!(known.contains(&opening), "{name}: `{opening}` is run by no test");
            assert!(tests.contains(&format!("\"docs/guide/{name}\"")), "{name} is run by no test");
        }
    }
    assert_eq!(guides, 10);
}

/// Runs the `service` blocks in one shell beside the service that their first line starts.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn the_guide_to_serving_plays_over_a_network() {
    if !Command::new("curl").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: there is no curl");
        return;
    }
    let document = Document::read("docs/guide/serve.md");
    let word = "console service";
    let blocks = document.blocks(word);
    let (start, printed) = blocks[0].split_once('\n').unwrap();
    assert_eq!(printed, format!("http://{SERVICE}\n"));
    let sandbox = Sandbox::new();
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

/// Runs the `postgres` blocks on a database of the tests' own.
#[cfg(unix)]
#[test]
fn the_guide_to_operating_moves_a_store_into_a_database() {
    let Some(server) = crate::fleet::postgres::shared() else { return };
    let url = crate::fleet::url(server, "guide");
    let document = Document::read("docs/guide/operate.md");
    let word = "console postgres";
    let found = in_one_shell(&Sandbox::new(), &document.blocks(word), |line| line.replace(DATABASE, &url));
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

/// Runs the commands of all blocks in one shell, so that variables stay; returns what each block shows.
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
    let readme = Document::read("README.md");
    let commands: Vec<_> = readme.blocks("sh")[0].lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(commands, ["cargo run -- tour", "cargo test --workspace"]);
    let ci = fs::read_to_string(workspace().join(".ci/run")).unwrap();
    assert!(ci.contains("cargo test --workspace"), "CI runs the README's test command");
}
