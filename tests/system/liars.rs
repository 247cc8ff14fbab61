//! Rolls of a player's own, with every verb and over the service: `examples/liars`. Each test plays a match twice
//! with other dice under p1's cup, and whatever p2 and spectators get is the same.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::example::{cargo, program};
use turnfold_tests::sandbox::words;
use turnfold_tests::service::Running;

/// The program and a folder to run it in.
pub(crate) struct Liars {
    program: PathBuf,
    dir: TempDir,
}

impl Liars {
    pub(crate) fn build() -> Self {
        Self { program: program("liars"), dir: TempDir::new().unwrap() }
    }

    /// Returns the same program with an empty folder.
    fn elsewhere(&self) -> Self {
        Self { program: self.program.clone(), dir: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words(line)).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env_remove("TURNFOLD_STORE");
        command
    }

    /// Runs a verb and requires this exit code; returns what it printed.
    fn expect(&self, code: i32, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}\n{stderr}");
        String::from_utf8(output.stdout).unwrap() + &stderr
    }

    fn ok(&self, line: &str) -> String {
        self.expect(0, line)
    }
}

/// What p1 has under its cup.
const CUPS: [&str; 2] = ["2 2", "5 6"];

/// Plays the first round up to p2's turn.
fn begun(liars: &Liars, cup: &str) {
    liars.ok("new table --rules liars");
    liars.ok(&format!(r#"play table "roll {cup}" "roll 1 4" "roll 3 3" "p1: bid 1 3""#));
}

#[test]
fn p2_and_spectators_get_the_same_whatever_p1_rolled() {
    let liars = Liars::build();
    let got = CUPS.map(|cup| {
        let liars = liars.elsewhere();
        begun(&liars, cup);
        let mut got = Vec::new();
        for viewer in ["p2", "spectator", "p6"] {
            for line in ["log table", "show table", "show table --json", "replay table", "blame table /bid"] {
                let line = line.replace("--json", "--format json");
                got.push(liars.ok(&format!("{line} --as {viewer}")));
            }
            for ending in ["tfl", "html"] {
                let html = if ending == "html" { "--html" } else { "" };
                liars.ok(&format!("export table {html} --as {viewer} -o {viewer}.{ending}"));
                got.push(fs::read_to_string(liars.path(&format!("{viewer}.{ending}"))).unwrap());
            }
            // The file is a match that looks the same.
            got.push(liars.ok(&format!("log {viewer}.tfl --as {viewer}")));
            got.push(liars.ok(&format!("show {viewer}.tfl --as {viewer}")));
            got.push(liars.ok(&format!("diff table {viewer}.tfl --as {viewer}")));
        }
        got.push(liars.ok("legal table"));
        // The hashes of its records could be compared with those of every roll.
        got.push(liars.expect(1, "bundle table --as p2 -o p2.bundle"));
        got
    });
    let [one, other] = got;
    for (one, other) in one.iter().zip(&other) {
        assert_eq!(one, other);
    }
    assert!(
        one[0].contains("1 host roll ? ? => applied\n2 host roll 1 4 => rolled seat=p2 dice=1,4\n"),
        "{}",
        one[0]
    );
    assert!(
        one[0].contains("3 host roll ? ? => applied\n4 p1 bid 1 3 => bid seat=p1 count=1 face=3\n"),
        "{}",
        one[0]
    );
}

#[test]
fn each_sees_its_own_dice_and_all_see_them_once_the_cups_are_lifted() {
    let liars = Liars::build();
    begun(&liars, "2 2");
    for viewer in ["p1", "host"] {
        let log = liars.ok(&format!("log table --as {viewer}"));
        assert!(log.contains("1 host roll 2 2 => rolled seat=p1 dice=2,2"), "{log}");
    }
    let played = liars.ok("play table --as p2 doubt");
    assert!(played.contains(
        "lifted seat=p1 dice=2,2; lifted seat=p2 dice=1,4; lifted seat=p3 dice=3,3; lost seat=p2 left=1"
    ));
    for viewer in ["p1", "p2", "p3", "spectator"] {
        let log = liars.ok(&format!("log table --as {viewer}"));
        assert!(log.contains("1 host roll 2 2 => rolled seat=p1 dice=2,2"), "{log}");
    }
    liars.ok("export table --as p3 -o p3.tfl");
    assert!(liars.ok("log p3.tfl --as p3").contains("1 host roll 2 2 => rolled seat=p1 dice=2,2"));
}

#[test]
fn the_verbs_of_the_host_work_and_seeded_dice_too() {
    let liars = Liars::build();
    liars.ok("simulate --rules liars --seed 7 --steps 40 -o game.tfl");
    liars.ok("check game.tfl");
    let found = liars.ok(r#"bisect game.tfl --when "/round != 1""#);
    assert!(found.contains("lifted seat=p1"), "{found}");
    liars.ok(r#"shrink game.tfl --when "/round != 1" -o least.tfl"#);
    liars.ok("check least.tfl");
    liars.ok("import game.tfl --name table");
    assert!(liars.ok("verify").contains("ok table@main"));
    liars.ok("perft --rules liars --depth 2");
    assert!(liars.ok("rules liars").contains("all cups are lifted"));
    liars.ok("new seeded --rules liars --dice seeded");
    liars.ok("play seeded");
    let log = liars.ok("log seeded --as p2");
    assert!(
        log.contains("1 host roll ? ? => applied\n2 host roll ") && !log.contains("2 host roll ?"),
        "{log}"
    );
}

#[test]
fn the_service_conceals_a_roll_of_anothers_own() {
    let liars = Liars::build();
    let service = Running::start_by(liars.command("serve --listen 127.0.0.1:0"));
    let got = CUPS.map(|cup| {
        let name = if cup == CUPS[0] { "one" } else { "two" };
        let body =
            json!({"name": name, "ruleset": "liars", "setup": "players = 3\ndice = 2\n", "dice": "recorded"});
        let made = service.send("POST", "/v1/matches", service.admin(), &body.to_string()).json();
        let host = made["token"].as_str().unwrap();
        let commands = [format!("roll {cup}"), "roll 1 4".into(), "roll 3 3".into(), "p1: bid 1 3".into()];
        let entries = format!("/v1/matches/{name}/branches/main/entries");
        let played = service.send("POST", &entries, host, &json!({ "commands": commands }).to_string());
        assert_eq!(played.status, 201, "{}", played.body);
        let grants = [r#"{"kind":"seat","seat":"p2"}"#, r#"{"kind":"spectator"}"#];
        grants.map(|grant| {
            let token = service.grant(name, grant)["token"].as_str().unwrap().to_owned();
            let of = |what: &str| service.send("GET", &entries.replace("entries", what), &token, "");
            let mut items = of("entries").json()["items"].clone();
            for item in items.as_array_mut().unwrap() {
                item.as_object_mut().unwrap().remove("recorded_at_ms");
            }
            let mut frames = of("frames?after=0").json();
            for frame in frames["frames"].as_array_mut().unwrap() {
                frame["record"].as_object_mut().unwrap().remove("recorded_at_ms");
            }
            (items.to_string(), frames["frames"].to_string(), frames["viewer"].to_string(), of("view").body)
        })
    });
    let [one, two] =
        [&got[0], &got[1]].map(|got| got.each_ref().map(|(items, frames, _, view)| [items, frames, view]));
    assert_eq!(one, two);
    let [of_p2, of_spectator] = &got[0];
    assert!(
        of_p2.0.contains("roll ? ?") && of_p2.0.contains("roll 1 4") && of_p2.1.contains("roll ? ?"),
        "{}",
        of_p2.0
    );
    assert!(
        of_spectator.0.contains("roll ? ?") && !of_spectator.0.contains("roll 1 4"),
        "{}",
        of_spectator.0
    );
    assert_eq!(of_spectator.2, "\"spectator\"");
}

/// What a bundle leaves out has a hash there, from which a roll could be guessed; and fair dice show every roll.
#[test]
fn by_mail_the_match_is_refused_when_it_is_made() {
    let liars = Liars::build();
    fs::write(liars.path("desk.toml"), "seats = 3\ndefault = [\"doubt\"]\n").unwrap();
    fs::write(liars.path("three.toml"), "players = 3\ndice = 2\n").unwrap();
    liars.ok("key new host.key --name host.example");
    for dice in ["recorded", "fair"] {
        let refused = liars.expect(
            2,
            &format!("mail open table --rules liars --setup three.toml --desk desk.toml --key host.key --dice {dice}"),
        );
        assert!(refused.contains("a roll that p1 alone learns cannot be made by mail"), "{refused}");
        assert_eq!(liars.ok("matches"), "");
    }
}

#[test]
fn the_crate_keeps_the_laws_and_its_golden_logs() {
    let told = cargo("test", "liars");
    assert!(told.contains("test result: ok. 2 passed"), "{told}");
}
