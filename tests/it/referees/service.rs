//! A service whose matches a referee judges: a fault of a child fails only one request (RF-16).

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::{Reply, Running};

use super::sandbox;

/// Serves two matches of `sums` with a referee that fails at numbers from 4.
fn serve(sandbox: &Sandbox, referee: &str) -> Running {
    for name in ["duel", "calm"] {
        sandbox.ok(&format!("--referee ./sums new {name} --rules sums"));
    }
    Running::start_by(sandbox.command(["--referee", referee, "serve", "--listen", "127.0.0.1:0"]))
}

/// A player of a served match.
struct Player<'a> {
    service: &'a Running,
    match_name: &'a str,
    token: String,
}

impl<'a> Player<'a> {
    fn new(service: &'a Running, match_name: &'a str, seat: &str) -> Self {
        let grant = service.grant(match_name, &json!({ "kind": "seat", "seat": seat }).to_string());
        Self { service, match_name, token: grant["token"].as_str().unwrap().into() }
    }

    fn get(&self, what: &str) -> Reply {
        let path = format!("/v1/matches/{}/branches/main/{what}", self.match_name);
        self.service.send("GET", &path, &self.token, "")
    }

    fn play(&self, command: &str) -> Reply {
        let path = format!("/v1/matches/{}/branches/main/entries", self.match_name);
        self.service.send("POST", &path, &self.token, &json!({ "commands": [command] }).to_string())
    }

    fn sum(&self) -> Value {
        self.get("view").json()["sum"].clone()
    }
}

/// Everything that a client learns. The output of a referee may contain another seat's secret, and its command is the
/// host's secret (RF-13).
const FAILED: &str = "the referee of `sums` failed; the log of the service has the reason";

/// RF-1, RF-16: a match is played over HTTP. A child that ends fails one request, and the service continues.
#[test]
fn rf_16_a_service_plays_by_a_referee_and_outlives_its_crashes() {
    let sandbox = sandbox();
    let service = serve(&sandbox, "./sums crash");
    let (ann, bob) = (Player::new(&service, "duel", "p1"), Player::new(&service, "duel", "p2"));
    let calm = Player::new(&service, "calm", "p1");
    assert_eq!(ann.play("add 3").status, 201);
    assert_eq!(bob.sum(), 4);
    let before = bob.get("entries").body;
    for _ in 0..2 {
        let failed = bob.play("add 3");
        assert_eq!(failed.status, 503, "{}", failed.body);
        assert_eq!(failed.json()["detail"], FAILED);
        assert_eq!(bob.get("entries").body, before);
    }
    assert_eq!(calm.play("add 1").status, 201);
    assert_eq!(calm.sum(), 2);
    drop(service);
    sandbox.ok("store check");
    assert_eq!(sandbox.ok("--referee ./sums log duel").lines().count(), 1);

    // With a correct referee the match continues.
    let service =
        Running::start_by(sandbox.command(["--referee", "./sums", "serve", "--listen", "127.0.0.1:0"]));
    let bob = Player::new(&service, "duel", "p2");
    let legal = bob.get("legal").body;
    assert!(legal.contains("add 20"), "{legal}");
    assert_eq!(bob.play("add 20").status, 201);
    assert_eq!(bob.sum(), 24);
    let rejected = bob.play("add 1");
    assert_eq!(rejected.status, 409, "{}", rejected.body);
}

/// RF-3: a service uses the file from its command line, not the file from a variable.
#[test]
fn rf_3_a_service_reads_the_file_that_its_command_line_names() {
    let sandbox = sandbox();
    sandbox.write("referees.toml", "[sums]\ncommand = [\"./sums\"]\n");
    sandbox.ok("--referee ./sums new duel --rules sums");
    for (named, status) in [(true, 201), (false, 501)] {
        let mut serve = sandbox.command(["serve", "--listen", "127.0.0.1:0"]);
        if named {
            serve.args(["--referees", "referees.toml"]);
        } else {
            serve.env("TURNFOLD_REFEREES", "referees.toml");
        }
        let service = Running::start_by(serve);
        let grant = json!({ "kind": "seat", "seat": "p1" }).to_string();
        let granted = service.send("POST", "/v1/matches/duel/grants", service.admin(), &grant);
        assert_eq!(granted.status, status, "{}", granted.body);
    }
}

/// RF-16: while a child hangs, other requests are answered. Then the child is ended and the match continues.
#[test]
fn rf_16_a_child_that_hangs_stops_one_request_and_not_the_service() {
    let sandbox = sandbox();
    let service = serve(&sandbox, "./sums hang");
    let (ann, bob) = (Player::new(&service, "duel", "p1"), Player::new(&service, "duel", "p2"));
    let calm = Player::new(&service, "calm", "p1");
    assert_eq!(ann.play("add 3").status, 201);
    thread::scope(|scope| {
        let hanging = scope.spawn(|| bob.play("add 3"));
        thread::sleep(Duration::from_secs(1));
        assert_eq!(calm.play("add 1").status, 201);
        assert_eq!(calm.sum(), 2);
        assert!(!hanging.is_finished(), "it hangs");
        let failed = hanging.join().unwrap();
        assert_eq!(failed.status, 503, "{}", failed.body);
        assert_eq!(failed.json()["detail"], FAILED);
    });
    assert_eq!(bob.sum(), 4);
    drop(service);
    sandbox.ok("store check");
    assert_eq!(sandbox.ok("--referee ./sums log duel").lines().count(), 1);
}

/// RF-6: an error, because an empty list would mean that there is nothing to do.
#[test]
fn rf_6_a_service_says_that_nothing_lists_legal_commands() {
    let sandbox = sandbox();
    let service = serve(&sandbox, "./sums bare");
    let ann = Player::new(&service, "duel", "p1");
    let refused = ann.get("legal");
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(refused.json()["detail"], "nothing lists legal commands here; a referee offers `legal`");
    sandbox.write("ann.token", &ann.token);
    let printed = sandbox.run(&format!("--store {} --token ann.token legal duel", service.origin()));
    assert_eq!(printed.status.code(), Some(2));
    let error = String::from_utf8(printed.stderr).unwrap();
    assert!(error.contains("nothing lists legal commands here"), "{error}");
}

/// RF-3: no request of a stranger starts a referee.
#[test]
fn rf_3_the_rulebook_of_a_referee_is_for_those_who_have_a_token() {
    let sandbox = sandbox();
    sandbox.write("marking.sh", "touch started\nexec ./sums\n");
    let service = Running::start_by(sandbox.command([
        "--referee",
        "sums=sh marking.sh",
        "serve",
        "--listen",
        "127.0.0.1:0",
    ]));
    let path = "/v1/rulesets/sums/rulebook";
    assert_eq!(service.send("GET", path, "", "").status, 401);
    assert!(!sandbox.path("started").exists());
    let read = service.send("GET", path, service.admin(), "");
    assert_eq!((read.status, &read.json()["ruleset"]), (200, &json!("sums")), "{}", read.body);
    assert!(sandbox.path("started").exists());
}
