//! Games in separate crates have the whole command line: `examples/nim`, `examples/chess`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use turnfold_tests::sandbox::{self, binary, words, workspace};
use turnfold_tests::service::Running;

/// The program of an example and a folder to run it in.
struct Example {
    name: &'static str,
    program: PathBuf,
    dir: TempDir,
}

/// Runs cargo in an example, with the profile and the target folder of the binary under test, so that shared
/// dependencies are compiled once.
pub(crate) fn cargo(verb: &str, example: &str) -> String {
    let ran = sandbox::cargo()
        .args([verb, "--quiet", "--locked", "--target-dir"])
        .arg(target())
        .arg("--config")
        .arg(workspace().join("Cargo.toml"))
        .current_dir(workspace().join("examples").join(example))
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}{stderr}");
    stdout.into_owned()
}

fn target() -> &'static Path {
    binary().ancestors().nth(2).unwrap()
}

/// Builds the program of an example, and returns its path.
pub(crate) fn program(example: &str) -> PathBuf {
    cargo("build", example);
    target().join("debug").join(format!("{example}{}", std::env::consts::EXE_SUFFIX))
}

impl Example {
    fn build(name: &'static str) -> Self {
        Self { name, program: program(name), dir: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words(line)).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env_remove("TURNFOLD_STORE");
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs a verb, requires this exit code, and returns the output.
    fn expect(&self, code: i32, line: &str) -> String {
        let output = self.run(line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{} {line}\n{stderr}", self.name);
        String::from_utf8(output.stdout).unwrap() + &stderr
    }

    fn ok(&self, line: &str) -> String {
        self.expect(0, line)
    }
}

fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(path, text.replace(old, new)).unwrap();
}

#[test]
fn a_game_in_a_crate_of_its_own_has_every_verb() {
    let nim = Example::build("nim");
    fs::write(nim.path("heaps.toml"), "heaps = [1, 2, 3]\n").unwrap();
    nim.ok("new table --rules nim --setup heaps.toml");
    let played = nim.ok(r#"play table "take 3 3" "take 4 2" "take 1 2" "take 1 1" "take 1 2""#);
    assert!(played.contains("taken count=3 heap=3"), "{played}");
    assert!(played.contains("ignored too_many"), "{played}");
    assert!(played.contains("match_over winner="), "{played}");
    assert!(nim.expect(1, r#"play table "take 1 1""#).contains("the match is over"));

    // A branch from the first move continues differently.
    nim.ok("branch table:1 other");
    assert!(nim.expect(1, r#"play table@other "p1: take 1 1""#).contains("the other player is to take"));
    nim.ok(r#"play table@other "take 2 2""#);
    assert!(nim.ok("show table@other").contains("3: 0"));
    assert_eq!(nim.ok("legal table@other"), "p1: take 1 1\n");
}

#[test]
fn logs_of_a_game_of_ones_own_are_checked_searched_and_shrunk() {
    let nim = Example::build("nim");
    nim.ok("simulate --rules nim --seed 7 --steps 20 -o game.tfl");
    assert!(nim.ok("check game.tfl").contains("game.tfl"));
    let found = nim.ok(r#"bisect game.tfl --when "/heaps/0 == 0""#);
    assert!(found.contains("taken"), "{found}");
    nim.ok(r#"shrink game.tfl --when "/heaps/0 == 0" -o least.tfl"#);
    nim.ok("check least.tfl");
    nim.ok("import game.tfl --name table");
    nim.ok("export table -o again.tfl");
    nim.ok("check again.tfl");
    assert!(nim.ok("verify").contains("ok table@main"));
    replace(&nim.path("again.tfl"), "taken count=", "taken count=1");
    nim.expect(1, "check again.tfl");
}

/// MD-8, MD-9: after a fix of a rule, matches of both versions continue. Version 1 of Nim is a module, version 2 is
/// built in.
#[test]
fn md_9_matches_of_both_versions_are_played_served_checked_and_audited_by_one_program() {
    let nim = Example::build("nim");
    let module = workspace().join("fixtures/modules/nim-1.wasm");
    fs::write(nim.path("heaps.toml"), "heaps = [4, 5]\n").unwrap();
    nim.ok(&format!("new old --module \"{}\" --setup heaps.toml", module.display()));
    nim.ok("new young --rules nim --setup heaps.toml");
    let listed = nim.ok("game list");
    assert!(listed.contains("nim 1 module") && listed.contains("nim 2 built in"), "{listed}");
    assert!(nim.ok(r#"play old "take 4 1""#).contains("taken count=4 heap=1"));
    assert!(nim.ok(r#"play young "take 4 1""#).contains("ignored too_many"));
    nim.ok("export old -o old.tfl");
    nim.ok("export young -o young.tfl");
    nim.ok("check old.tfl young.tfl");
    let verified = nim.ok("verify");
    assert!(verified.contains("ok old@main: 1 entry") && verified.contains("ok young@main: 1 entry"));
    let impact = nim.expect(1, &format!("game impact old.tfl young.tfl --module \"{}\"", module.display()));
    assert!(impact.contains("ignored too_many → applied") && impact.contains("1 of 2"), "{impact}");
    nim.ok("bundle old young -o both.bundle");
    let audited = nim.ok("audit both.bundle");
    let digest = blake3::hash(&fs::read(&module).unwrap()).to_hex();
    let row = "2 entries of 2 branches folded from the setup, nim 1 by the pinned module";
    assert!(audited.contains(&format!("{row} {digest}\n")), "{audited}");
    let service = Running::start_by(nim.command("serve --listen 127.0.0.1:0"));
    for (name, command, outcome) in
        [("old", "take 5 2", "match_over"), ("young", "take 3 2", r#""effect":"taken","count":3"#)]
    {
        let entries = format!("/v1/matches/{name}/branches/main/entries");
        let body = format!(r#"{{"commands":["{command}"]}}"#);
        let played = service.send("POST", &entries, service.admin(), &body);
        assert!(played.status == 201 && played.body.contains(outcome), "{}", played.body);
    }
}

/// MD-2, MD-10: a game that is not written in Rust and not part of any build.
#[test]
fn a_game_that_is_added_as_a_file_has_every_verb() {
    let nim = Example::build("nim");
    let module = workspace().join("fixtures/modules/tictactoe.wasm");
    nim.ok(&format!("game add \"{}\"", module.display()));
    nim.ok("new table --rules tictactoe");
    nim.ok(r#"play table "mark b2" "mark a1" "mark b1" "mark b3""#);
    nim.ok("branch table:1 other");
    assert!(nim.ok(r#"play table@other "mark c3""#).contains("marked square=c3"));
    assert!(nim.ok("legal table@other").contains("p1: mark a1"));
    nim.ok("export table -o table.tfl");
    nim.ok("check table.tfl");
    nim.ok(r#"shrink table.tfl --when "/squares/7 != null" -o least.tfl"#);
    nim.ok("check least.tfl");
    nim.ok("bundle table -o table.bundle");
    assert!(nim.ok("audit table.bundle").contains("rules        PASS"));
    let service = Running::start_by(nim.command("serve --listen 127.0.0.1:0"));
    let entries = "/v1/matches/table/branches/main/entries";
    let played = service.send("POST", entries, service.admin(), r#"{"commands":["mark c1"]}"#);
    assert!(played.status == 201 && played.body.contains(r#""square":"c1""#), "{}", played.body);
}

#[test]
fn the_rulesets_of_turnfold_are_there_too_and_no_others() {
    let nim = Example::build("nim");
    let unknown = nim.expect(2, "new table --rules chess --setup heaps.toml");
    assert!(unknown.contains("known: `channel`, `cycletap`, `hexcapture`, `initiative`, `lifecycle`, `nim`"));
    nim.ok("simulate --rules initiative --seed 1 --steps 3");
}

#[test]
fn other_spellings_are_read_wherever_someone_types_a_command() {
    let chess = Example::build("chess");
    assert!(chess.ok("simulate --rules chess e4 e5 Nf3").contains("3 p1 g1f3 => moved san=Nf3"));
    chess.ok("new duel --rules chess");
    fs::write(chess.path("moves.txt"), "e4\np2: e5\n").unwrap();
    assert!(chess.ok("play duel --script moves.txt").contains("2 p2 e7e5 => moved san=e5"));
    assert!(chess.ok("amend duel:2 \"p2: Nf6\" --branch knight").contains("g8f6"));
    let service = Running::start_by(chess.command("serve --listen 127.0.0.1:0"));
    let entries = "/v1/matches/duel/branches/main/entries";
    let played = service.send("POST", entries, service.admin(), r#"{"commands":["Nf3"]}"#);
    assert!(played.status == 201 && played.body.contains(r#""command":"g1f3""#), "{}", played.body);
}

/// The program is not `turnfold`, which does not know the game.
#[test]
fn hints_help_and_manual_pages_name_the_program_that_they_are_of() {
    for (name, wrong, hint) in [
        ("nim", "p2: take 1 1", "`nim rules nim not_your_turn` explains it"),
        ("chess", "p2: e7e5", "`chess rules chess not_your_turn` explains it"),
    ] {
        let example = Example::build(name);
        let is_named =
            |text: &str| !text.replace("old-turnfold", "").replace(".turnfold", "").contains("turnfold ");
        let made = example.ok(&format!("new table --rules {name}"));
        assert!(made.contains(&format!("`{name} rules {name}` explains how to write another")), "{made}");
        let rejected = example.expect(1, &format!("play table \"{wrong}\""));
        assert!(rejected.contains(hint) && is_named(&rejected), "{rejected}");
        let missing = example.expect(2, "show other");
        assert!(missing.contains(&format!("`{name} matches` lists those there are")), "{missing}");
        let unknown = example.expect(2, &format!("rules {name} nothing"));
        assert!(unknown.contains(&format!("`{name} rules {name}` shows all")), "{unknown}");
        for help in
            ["--help", "help play", "help branch", "help mail write", "completions bash", "completions fish"]
        {
            let text = example.ok(help);
            assert!(text.contains(name) && is_named(&text), "{help}: {text}");
        }
        example.ok("man pages");
        let pages = fs::read_dir(example.path("pages")).unwrap().map(|page| page.unwrap().path());
        let pages: Vec<_> = pages.collect();
        assert!(pages.len() > 40);
        for page in pages {
            let text = fs::read_to_string(&page).unwrap().replace("\\-", "-").replace(".turnfold", "");
            let file = page.file_name().unwrap().to_str().unwrap();
            assert!(file.starts_with(name) && is_named(&text), "{file}: {text}");
            assert!(!text.contains("turnfold(1)") && !text.contains("turnfold-"), "{file}: {text}");
        }
    }
}

#[test]
fn a_game_in_a_crate_of_its_own_is_held_to_the_laws_and_its_golden_logs_by_its_own_tests() {
    for (example, passed) in [("nim", "test result: ok. 2 passed"), ("chess", "test result: ok. 10 passed")] {
        let output = cargo("test", example);
        assert!(output.contains(passed), "{example}: {output}");
    }
}
