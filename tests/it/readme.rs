//! Every console block of the README and the guides is run here or in `system/guides.rs`, and must print what the
//! document shows. Each document runs in an empty folder with the installed program, or with the program of a release
//! if `TURNFOLD_RELEASE` is set.

use std::fs;

use turnfold_tests::document::{Document, output_of, run_blocks, without_what_is_random};
use turnfold_tests::sandbox::{Sandbox, workspace};

/// Runs a document that has only plain blocks.
fn run_plain(name: &str) -> Sandbox {
    let (document, sandbox) = (Document::read(name), Sandbox::installed());
    run_blocks(&document, "console", &sandbox, "");
    sandbox
}

#[test]
fn the_readme_shows_what_its_commands_print() {
    let (document, sandbox) = (Document::read("README.md"), Sandbox::installed());
    sandbox.write("game.jsonl", document.blocks("jsonl")[0]);
    run_blocks(&document, "console", &sandbox, "");
    let readme = document.text;
    assert!(readme.contains("$ turnfold bisect "), "the README finds a bug");
    assert!(readme.contains("$ turnfold new "), "the README shows a match");
    assert!(readme.contains("$ turnfold check "), "the README shows a check");
    assert!(readme.contains("](docs/duel.svg)"), "the README shows a picture");
    // The picture in the document is the one that its commands create.
    snapbox::assert_data_eq!(sandbox.read("duel.svg"), snapbox::file!["../../docs/duel.svg": Text].raw());
}

#[test]
fn the_readme_is_short() {
    let lines = Document::read("README.md").text.lines().count();
    assert!(lines <= 200, "README.md: {lines} lines");
}

#[test]
fn the_guide_to_playing_shows_what_its_commands_print() {
    run_plain("docs/guide/play.md");
}

#[test]
fn the_guide_to_debugging_shows_what_its_commands_print() {
    run_plain("docs/guide/debugging.md");
}

/// `system/guides.rs` runs the blocks that need an engine, with node.
#[test]
fn the_guide_to_referees_shows_a_recording() {
    let (document, sandbox) = (Document::read("docs/guide/referees.md"), Sandbox::installed());
    sandbox.write("live.jsonl", document.blocks("jsonl")[1]);
    run_blocks(&document, "console", &sandbox, "");
}

#[test]
fn the_guide_to_analysis_shows_what_its_commands_print() {
    run_plain("docs/guide/analysis.md");
}

#[test]
fn the_guide_to_auditing_shows_what_its_commands_print() {
    run_plain("docs/guide/audit.md");
}

#[test]
fn the_guide_to_hosting_by_mail_shows_what_its_commands_print() {
    run_plain("docs/guide/mail-host.md");
}

/// The player's guide begins with an invitation and continues with the letter of the first turn. Here a host creates
/// both.
#[test]
fn the_guide_to_playing_by_mail_shows_what_its_commands_print() {
    let (document, sandbox) = (Document::read("docs/guide/mail-player.md"), Sandbox::installed());
    let attachment = |letter: &str, bundle: &str| {
        let save = format!(
            "tr -d '\\r' < .turnfold/outbox/{letter} | sed -n '/filename=.*bundle/,/^--/p' | sed '1,2d;$d' | base64 -d > {bundle}"
        );
        assert!(sandbox.shell(&save).status.success());
    };
    let terms = "hosted = []\ntogether = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n";
    sandbox.write("desk.toml", terms);
    let vkey = sandbox.ok("key new ann.key --name games.example/ann");
    sandbox.write("ann.vkey", vkey);
    sandbox.ok("mail open ford --rules cycletap --setup ford --desk desk.toml --key ann.key");
    attachment("00000001-p1.eml", "ford.bundle");
    attachment("00000001-p2.eml", "cleo.bundle");
    let blocks = document.blocks("console");
    let mut found = Vec::new();
    for block in &blocks {
        // The host begins the first turn between the join and the order.
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
    let (document, sandbox) = (Document::read("docs/guide/operate.md"), Sandbox::installed());
    sandbox.write("serve.toml", document.blocks("toml")[0]);
    let unit = fs::read_to_string(workspace().join("cli/dist/turnfold.service")).unwrap();
    snapbox::assert_data_eq!(document.blocks("ini")[0], snapbox::Data::text(unit).raw());
    run_blocks(&document, "console", &sandbox, "");
}

/// The script for a timer tests its backup, keeps the last backups, and fails if the store is damaged.
#[cfg(unix)]
#[test]
fn the_guide_to_operating_backs_up_by_a_script_with_retention() {
    let sandbox = Sandbox::new();
    sandbox.ok("--store lib/store new duel --rules cycletap");
    fs::create_dir(sandbox.path("backups")).unwrap();
    for day in 10..30 {
        sandbox.write(&format!("backups/2020-01-{day}T000000.backup"), "");
    }
    let script = Document::read("docs/guide/operate.md").blocks("sh backup")[0]
        .replace("store=/var/lib/turnfold/store", "store=lib/store")
        .replace("backups=/var/backups/turnfold", "backups=backups");
    let output = sandbox.shell(&script);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("ok duel@main: 0 entries"), "{printed}");
    let mut kept: Vec<_> =
        fs::read_dir(sandbox.path("backups")).unwrap().map(|file| file.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept.len(), 14, "{kept:?}");
    assert!(kept[..13].iter().all(|name| name.to_str().unwrap().starts_with("2020-01-")), "{kept:?}");
    assert_eq!(kept[0], "2020-01-17T000000.backup");

    assert!(sandbox.harm_journal("lib/store", b"cycletap") > 0);
    fs::remove_dir_all(sandbox.path("lib/store/sled")).unwrap();
    assert!(!sandbox.shell(&script).status.success());
}

#[test]
fn the_guide_to_versions_names_the_formats_that_the_program_writes() {
    let (guide, sandbox) = (Document::read("docs/guide/versions.md").text, Sandbox::new());
    for line in [
        "new duel --rules initiative --dice recorded",
        "export duel -o duel.tfl",
        "store backup duel.tfb",
        "key new ann.key --name ann.example",
        "checkpoint sign duel --key ann.key",
        "bundle duel -o duel.bundle",
    ] {
        sandbox.ok(line);
    }
    let formats = [
        ("replay file", "duel.tfl"),
        ("bundle", "duel.bundle"),
        ("backup", "duel.tfb"),
        ("store in a directory", ".turnfold/FORMAT"),
        ("memory of a key", "ann.key.seen/FORMAT"),
    ];
    for (format, file) in formats {
        let row = guide.lines().find(|line| line.starts_with(&format!("| {format} |"))).unwrap();
        let (opening, bytes) = (row.split('`').nth(1).unwrap(), fs::read(sandbox.path(file)).unwrap());
        let rest = bytes.strip_prefix(opening.as_bytes());
        assert!(rest.is_some_and(|rest| !rest[0].is_ascii_digit()), "{file} does not begin with `{opening}`");
    }
    let version = sandbox.ok("--version");
    assert!(guide.contains(&format!("`{}`", version.trim().strip_prefix("turnfold ").unwrap())), "{version}");
}

/// Every guide is tested above and listed in the index, and every console block begins with a word that a test runs.
#[test]
fn every_guide_is_in_the_index_and_run_by_a_test() {
    let index = Document::read("docs/guide/index.md").text;
    let tests = ["it/readme.rs", "system/guides.rs"]
        .map(|name| fs::read_to_string(workspace().join("tests").join(name)).unwrap())
        .concat();
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
            let words = ["", " service", " postgres", " chess", " jq", " duckdb", " node"];
            assert!(
                words.iter().any(|word| opening == format!("```console{word}")),
                "{name}: `{opening}` is run by no test"
            );
            assert!(tests.contains(&format!("\"docs/guide/{name}\"")), "{name} is run by no test");
        }
    }
    assert_eq!(guides, 14);
}

#[test]
fn the_readme_installs_this_version_and_tries_a_clone_with_two_commands() {
    let readme = Document::read("README.md");
    let commands: Vec<_> = readme.blocks("sh")[1].lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(commands, ["cargo tour", "cargo test --workspace"]);
    let version = concat!("turnfold-", env!("CARGO_PKG_VERSION"), "-");
    assert!(readme.blocks("sh")[0].contains(version), "the README installs this version: {version}");
    let ci = fs::read_to_string(workspace().join(".ci/run")).unwrap();
    assert!(ci.contains("cargo test --workspace"), "CI runs the README's test command");
}
