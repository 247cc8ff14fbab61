//! Secret rolls of a player, with every verb and over the service: `examples/liars`. Each test plays a match twice with
//! different dice under p1's cup. All output for p2 and spectators must be equal.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use turnfold_core::Seat;
use turnfold_core::trust::TreeHash;
use turnfold_store::Entry;

use crate::example::{cargo, program};
use turnfold_tests::mailbox::opened;
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

    /// Returns the same program with a new, empty folder.
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

    /// Runs a verb, requires this exit code, and returns the output.
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

/// The dice under p1's cup.
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
        for viewer in ["p2", "spectator"] {
            for line in ["log table", "show table", "show table --json", "replay table", "blame table /bid"] {
                let line = line.replace("--json", "--format json");
                got.push(liars.ok(&format!("{line} --as {viewer}")));
            }
            for ending in ["tfl", "html"] {
                let html = if ending == "html" { "--html" } else { "" };
                liars.ok(&format!("export table {html} --as {viewer} -o {viewer}.{ending}"));
                got.push(fs::read_to_string(liars.path(&format!("{viewer}.{ending}"))).unwrap());
            }
            // The exported file is a match that looks the same.
            got.push(liars.ok(&format!("log {viewer}.tfl --as {viewer}")));
            got.push(liars.ok(&format!("show {viewer}.tfl --as {viewer}")));
            got.push(liars.ok(&format!("diff table {viewer}.tfl --as {viewer}")));
        }
        got.push(liars.ok("legal table"));
        // The verb refuses: p2 could compare the hashes of records with the hash of every possible roll.
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
    let played = liars.ok("play table --seat p2 doubt");
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
    liars.ok("game perft --rules liars --depth 2");
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

/// A match by mail for two, up to p2's report of the second round, with known dice under p1's cup.
struct ByMail {
    liars: Liars,
    letters: Vec<String>,
    /// The bundle of p2's last letter.
    bundle: String,
}

impl ByMail {
    fn played(liars: &Liars, cup: &str) -> Self {
        let mut mail = Self { liars: liars.elsewhere(), letters: Vec::new(), bundle: String::new() };
        let write = |name: &str, text: &str| fs::write(mail.liars.path(name), text).unwrap();
        write("desk.toml", "hosted = []\nseats = 2\ndefault = []\nmissed = \"wait\"\n");
        write("two.toml", "players = 2\ndice = 2\n");
        for name in ["host", "p1", "p2"] {
            mail.liars.ok(&format!("key new {name}.key --name {name}.example"));
        }
        mail.liars.ok("mail open table --rules liars --setup two.toml --desk desk.toml --key host.key");
        mail.reports();
        mail.send("p1", "join p1");
        mail.send("p2", "join p2");
        mail.liars.ok("mail take table p1.txt p2.txt --admit p1 --admit p2 --key host.key");
        mail.run("2025-01-06", "--roll 1 1 4 4");
        mail.order("p1", "bid 1 3", "2025-01-07", "");
        mail.order("p2", "doubt", "2025-01-08", &format!("--roll {cup} 4 4"));
        mail
    }

    /// Reads the letters written since the last call. Each seat then answers from its newest bundle.
    fn reports(&mut self) {
        let outbox = self.liars.path(".turnfold/outbox");
        let files = fs::read_dir(&outbox).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> =
            files.filter(|file| file.extension().is_some_and(|ending| ending == "eml")).collect();
        files.sort();
        fs::create_dir_all(outbox.join("sent")).unwrap();
        for file in &files {
            let (text, bundle) = opened(&fs::read_to_string(file).unwrap());
            let is_of =
                |seat: &str| file.file_name().unwrap().to_str().unwrap().ends_with(&format!("-{seat}.eml"));
            for seat in ["p1", "p2"].into_iter().filter(|seat| is_of(seat)) {
                fs::write(self.liars.path(&format!("{seat}.bundle")), &bundle).unwrap();
                if seat == "p2" {
                    self.bundle.clone_from(&bundle);
                    self.letters.push(text.clone());
                }
            }
            // The letter counts as sent, so the desk does not write it again.
            fs::rename(file, outbox.join("sent").join(file.file_name().unwrap())).unwrap();
        }
    }

    fn send(&self, seat: &str, paper: &str) {
        let line = format!("mail write {paper} --from {seat}.bundle --key {seat}.key --force -o {seat}.txt");
        let _ = fs::remove_file(self.liars.path(&format!("{seat}.txt")));
        self.liars.ok(&line);
    }

    fn run(&mut self, day: &str, rolls: &str) {
        self.liars.ok(&format!("mail run table --key host.key --at {day}T18:00:00Z {rolls}"));
        self.reports();
    }

    fn order(&mut self, seat: &str, command: &str, day: &str, rolls: &str) {
        self.send(seat, &format!("order \"{command}\""));
        self.liars.ok(&format!("mail take table {seat}.txt --key host.key"));
        self.run(day, rolls);
    }
}

/// PM-5: p2's own order made p1's roll due. So p2 knows the whole record of the roll except its values and the nonce of
/// its key.
#[test]
fn by_mail_p2_gets_the_same_whatever_p1_rolled_and_cannot_guess_it() {
    let liars = Liars::build();
    let [one, two] = ["2", "5"].map(|cup| ByMail::played(&liars, cup));
    let shown = |mail: &ByMail| mail.letters.iter().map(|letter| without_digests(letter)).collect::<Vec<_>>();
    assert_eq!(shown(&one), shown(&two));
    let last = one.letters.last().unwrap();
    assert!(last.contains("The host: roll ?.") && last.contains("On the board it is turn 2."), "{last}");
    let left_out = |bundle: &str| bundle.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(left_out(&one.bundle), left_out(&two.bundle));
    for (mail, face) in [(&one, 2), (&two, 5)] {
        let log = mail.liars.ok("log table --format json");
        let roll: Value =
            log.lines().filter(|line| line.contains("\"roll ")).nth(2).unwrap().parse().unwrap();
        let key = roll["key"].as_str().unwrap();
        let (known, nonce) = key.split_once(":nonce:").unwrap();
        assert!(known.starts_with("order:") && nonce.len() == 32, "{key}");
        let is_there = |face: u8, key: &str| {
            let entry = Entry {
                seq: roll["seq"].as_u64().unwrap(),
                seat: Seat::Host,
                command: vec![0, 1, 2 * face],
                recorded_at_ms: roll["recorded_at_ms"].as_i64().unwrap(),
                idempotency_key: Some(key.parse().unwrap()),
            };
            let leaf = TreeHash::of_record(&entry.encode());
            mail.bundle.lines().any(|line| line == format!("#{leaf}"))
        };
        assert!(is_there(face, key), "with the nonce the record is found");
        assert!(!(1..=6).any(|face| is_there(face, known)), "without it no guess fits");
    }
}

/// Blanks the digests of p2's own papers, whose keys differ between matches.
fn without_digests(letter: &str) -> String {
    let is_digest = |word: &str| word.len() == 64 && word.bytes().all(|sign| sign.is_ascii_hexdigit());
    letter.lines().filter(|line| !is_digest(line.trim())).collect::<Vec<_>>().join("\n")
}

/// Once all cups are lifted, the host's bundle proves every order, and p2's bundle has no redacted records.
#[test]
fn by_mail_a_match_ends_with_everything_shown_and_is_audited() {
    let liars = Liars::build();
    let mut mail = ByMail::played(&liars, "2");
    mail.order("p1", "bid 1 3", "2025-01-09", "");
    mail.order("p2", "doubt", "2025-01-10", "");
    assert!(
        mail.letters.last().unwrap().contains("`table` is over: p2 won."),
        "{}",
        mail.letters.last().unwrap()
    );
    assert!(!mail.bundle.lines().any(|line| line.starts_with('#')), "{}", mail.bundle);
    let host = mail.liars.ok("key show host.key");
    let vkey = host.split_whitespace().find(|word| word.starts_with("host.example+")).unwrap();
    fs::write(mail.liars.path("policy"), format!("log {vkey}\nquorum none\n")).unwrap();
    let audited = mail.liars.ok("audit p2.bundle --policy policy --require authorship,rules");
    assert!(audited.contains("authorship   PASS"), "{audited}");
}

/// FD-11: an opened secret of fair dice reveals every roll before it.
#[test]
fn by_mail_fair_dice_are_refused() {
    let liars = Liars::build();
    fs::write(liars.path("desk.toml"), "seats = 3\nhosted = []\ndefault = []\nmissed = \"wait\"\n").unwrap();
    fs::write(liars.path("three.toml"), "players = 3\ndice = 2\n").unwrap();
    liars.ok("key new host.key --name host.example");
    let open = "mail open table --rules liars --setup three.toml --desk desk.toml --key host.key --dice fair";
    let refused = liars.expect(2, open);
    assert!(refused.contains("fair dice cannot make a roll that p1 alone learns"), "{refused}");
    assert!(!liars.path(".turnfold").exists());
}

#[test]
fn the_crate_keeps_the_laws_and_its_golden_logs() {
    let output = cargo("test", "liars");
    assert!(output.contains("test result: ok. 3 passed"), "{output}");
}
