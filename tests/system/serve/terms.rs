//! Matches with terms, which the service hosts by itself (SV-45 to SV-48). The clock reads a file, so weeks pass in
//! seconds.

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::calendars::{calendar_token, join_calendar, read_calendar};
use super::http::{Call, grant, main_of};
use crate::fleet::postgres::shared;
use crate::fleet::url;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::secrets::CASES;
use turnfold_tests::service::Running;

/// 2026-12-01T18:00:00Z.
pub(super) const START: i64 = 1_796_148_000_000;
pub(super) const HOUR: i64 = 60 * 60 * 1000;
pub(crate) const DAY: i64 = 24 * HOUR;

pub(super) const ADMIN: &str = "tf_a_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A folder with a simulated clock.
pub(crate) struct Simulated {
    pub(super) sandbox: Sandbox,
    store: Option<String>,
}

impl Simulated {
    pub(crate) fn new() -> Self {
        let simulated = Self { sandbox: Sandbox::new(), store: None };
        simulated.sandbox.write("admin.token", ADMIN);
        simulated.set(0);
        simulated
    }

    /// Sets the clock to a time after the start.
    pub(crate) fn set(&self, after: i64) {
        self.sandbox.write("clock.new", (START + after).to_string());
        fs::rename(self.sandbox.path("clock.new"), self.sandbox.path("clock")).unwrap();
    }

    pub(crate) fn serve(&self) -> Running {
        self.serve_with(&[])
    }

    pub(super) fn serve_with(&self, options: &[&str]) -> Running {
        let store = self.store.as_deref().unwrap_or(".turnfold");
        let line = ["--store", store, "serve", "--listen", "127.0.0.1:0", "--admin-token", "admin.token"];
        let mut serve = self.sandbox.command([line.as_slice(), options].concat());
        serve.env("TURNFOLD_TEST_CLOCK", self.sandbox.path("clock"));
        Running::start_with(serve, ADMIN)
    }
}

/// Creates a match with terms.
pub(super) fn create(service: &Running, name: &str, ruleset: &str, setup: &str, terms: &str) {
    let new = json!({"name": name, "ruleset": ruleset, "setup": setup, "dice": "recorded", "terms": terms});
    Call::post("/v1/matches", service.admin(), &new).to(service).is(201);
}

/// Joins as a seat, and returns its token.
pub(super) fn join(service: &Running, name: &str, seat: &str) -> String {
    let invitation = grant(service, name, &json!({"kind": "invitation", "seat": seat}));
    let joined = Call::post("/v1/join", &invitation, &json!({})).to(service).is(201).json();
    joined["token"].as_str().unwrap().to_owned()
}

pub(super) fn play(service: &Running, name: &str, token: &str, command: &str) {
    Call::post(&main_of(name, "entries"), token, &json!({"commands": [command]})).to(service).is(201);
}

/// Returns when the turns end, relative to the start.
pub(super) fn deadlines(service: &Running, name: &str) -> Vec<(String, i64)> {
    let shown = Call::get(&format!("/v1/matches/{name}"), ADMIN).to(service).is(200).json();
    let deadlines = shown["hosting"]["deadlines"].as_object().unwrap();
    deadlines.iter().map(|(seat, at)| (seat.clone(), at.as_i64().unwrap() - START)).collect()
}

/// Returns the entries as `SEAT COMMAND KEY`. Only entries of the service have a key.
pub(super) fn log(service: &Running, name: &str) -> Vec<String> {
    let path = main_of(name, "entries?limit=1000");
    let items = Call::get(&path, ADMIN).to(service).is(200).json()["items"].take();
    let line = |entry: &Value| {
        let key = entry["key"].as_str().unwrap_or_default();
        format!("{} {} {key}", entry["seat"].as_str().unwrap(), entry["command"].as_str().unwrap())
    };
    items.as_array().unwrap().iter().map(|entry| line(entry).trim_end().to_owned()).collect()
}

/// Waits until a match has this number of entries, and returns them.
#[track_caller]
pub(super) fn wait_for(service: &Running, name: &str, count: usize) -> Vec<String> {
    let mut found = Vec::new();
    for _ in 0..600 {
        found = log(service, name);
        if found.len() >= count {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(found.len(), count, "{name}: {found:?}");
    found
}

fn hosts_nothing_more(service: &Running, name: &str, count: usize) {
    // The pause covers two checks, since one may have begun before.
    thread::sleep(Duration::from_millis(1200));
    assert_eq!(log(service, name).len(), count, "{name}");
}

/// More than a week without a host: chess with three days a move, cycletap with 24 hours, and lifecycle without
/// deadlines. The service is killed twice a day.
#[test]
fn sv_46_a_week_passes_without_a_host() {
    let simulated = Simulated::new();
    let chess = workspace().join("fixtures/modules/chess.wasm");
    simulated.sandbox.ok(&format!("game add {}", chess.display()));
    let mut service = simulated.serve();
    create(&service, "chess", "chess", "", "hours = 72\n");
    create(&service, "taps", "cycletap", &fixture("cycletap", "ford"), "hours = 24\n");
    create(&service, "fight", "lifecycle", &fixture("lifecycle", "duel"), "hours = 0\n");
    let [white, black] = ["p1", "p2"]
        .map(|seat| (seat, grant(&service, "chess", &json!({"kind": "invitation", "seat": seat}))));
    for seat in ["p1", "p2"] {
        join(&service, "taps", seat);
    }
    let fighters = ["p1", "p2"].map(|seat| join(&service, "fight", seat));
    // SV-47: a turn begins once all players have joined.
    let joined = |(_, invitation): &(&str, String)| {
        let joined = Call::post("/v1/join", invitation, &json!({})).to(&service).is(201).json();
        joined["token"].as_str().unwrap().to_owned()
    };
    let white = joined(&white);
    assert_eq!(deadlines(&service, "chess"), []);
    simulated.set(HOUR);
    let black = joined(&black);
    assert_eq!(deadlines(&service, "chess"), [("p1".to_owned(), HOUR + 3 * DAY)]);
    assert_eq!(deadlines(&service, "taps"), [("p1".to_owned(), DAY)]);
    assert_eq!(deadlines(&service, "fight"), []);
    let mut fought = 1;
    assert_eq!(wait_for(&service, "fight", fought), ["host advance between:0"]);
    let mut taps = Vec::new();
    for half in 1..=26_i64 {
        let now = half * DAY / 2;
        simulated.set(now);
        service.kill();
        service = simulated.serve();
        match half {
            1 => {
                play(&service, "chess", &white, "e4");
                assert_eq!(deadlines(&service, "chess"), [("p2".to_owned(), now + 3 * DAY)]);
                // SV-48: on the third day p2 announces an absence of three days, and the deadline waits.
                let absence = Call::post(
                    "/v1/matches/chess/absence",
                    &black,
                    &json!({"until": "2026-12-07T18:00:00Z"}),
                );
                let hosting = absence.to(&service).is(200).json();
                assert_eq!(hosting["deadlines"], json!({"p2": START + 9 * DAY}));
                assert_eq!(hosting["absent"], json!({"p2": START + 6 * DAY}));
            }
            12 => play(&service, "chess", &black, "e5"),
            _ => {}
        }
        // A fighter ends a turn, and the next turn begins at once.
        let turn = Call::get("/v1/matches/fight", ADMIN).to(&service).is(200).json()["now"]["turn"].take();
        let seat = usize::from(turn != json!(["p1"]));
        play(&service, "fight", &fighters[seat], "end");
        fought += 2;
        let last = format!("host advance between:{}", fought - 1);
        assert_eq!(wait_for(&service, "fight", fought).last(), Some(&last));
        // SV-47: the service plays `switch` for each seat at its deadline, and `resolve` at once. After three misses in
        // a row, both seats count as gone.
        if half % 2 == 0 && half <= 12 {
            let seat = if half % 4 == 2 { "p1" } else { "p2" };
            let misses = (half + 2) / 4;
            taps.push(format!("{seat} switch missed:{seat}:{misses}:{}", taps.len()));
            if seat == "p2" {
                taps.push(format!("host resolve between:{}", taps.len()));
            }
        }
        assert_eq!(wait_for(&service, "taps", taps.len()), taps, "after {half} half days");
        // White misses the deadline of day 9, gets one more turn (PM-84), and resigns on day 12.
        let played = [1, 12, 24].iter().filter(|at| half >= **at).count();
        assert_eq!(wait_for(&service, "chess", played).len(), played, "after {half} half days");
    }
    assert_eq!(log(&service, "chess"), ["p1 e2e4", "p2 e7e5", "p1 resign missed:p1:2:2"]);
    hosts_nothing_more(&service, "chess", 3);
    hosts_nothing_more(&service, "taps", taps.len());
    service.kill();
    simulated.sandbox.ok("verify");
    // The terms have a separate log in the store and its backups.
    assert!(
        simulated
            .sandbox
            .ok("log chess.accord")
            .contains("p2 absent 2026-12-02T06:00:00Z 2026-12-07T18:00:00Z")
    );
}

/// SV-46: two services on one database check the same matches at the same times, and each deadline is kept once.
#[test]
fn sv_46_two_services_on_one_database_do_each_thing_once() {
    let Some(server) = shared() else { return };
    let simulated = Simulated { store: Some(url(server, "terms")), ..Simulated::new() };
    let mut both = [simulated.serve(), simulated.serve()];
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        create(&both[0], name, "cycletap", &fixture("cycletap", "ford"), "hours = 24\npatience = 0\n");
        for seat in ["p1", "p2"] {
            join(&both[0], name, seat);
        }
    }
    // The other service finds the matches after a while, or when it starts.
    both[1].kill();
    both[1] = simulated.serve();
    let mut expected = Vec::new();
    for day in 1..=7_i64 {
        simulated.set(day * DAY);
        let seat = if day % 2 == 1 { "p1" } else { "p2" };
        expected.push(format!("{seat} switch missed:{seat}:{}:{}", (day + 1) / 2, expected.len()));
        if seat == "p2" {
            expected.push(format!("host resolve between:{}", expected.len()));
        }
        for name in names {
            assert_eq!(wait_for(&both[usize::from(day % 2 == 0)], name, expected.len()), expected, "{name}");
        }
    }
    for name in names {
        hosts_nothing_more(&both[0], name, expected.len());
    }
    simulated.sandbox.ok(&format!("--store {} verify", simulated.store.as_deref().unwrap()));
}

/// SV-47: secret plans of a seat move no deadline, whenever they are made.
#[test]
fn sv_47_secrets_move_no_deadline() {
    for case in CASES.iter().filter(|case| !case.is_in_setup()) {
        let mut shown = Vec::new();
        let mut calendars: Vec<String> = Vec::new();
        for (number, secret) in (1..).zip(case.secrets) {
            let simulated = Simulated::new();
            let service = simulated.serve();
            create(&service, "secret", case.ruleset, &fixture("cycletap", "ford"), "hours = 24\n");
            let [p1, p2] =
                ["p1", "p2"].map(|seat| grant(&service, "secret", &json!({"kind": "seat", "seat": seat})));
            let give = |commands: &[&str]| {
                for command in commands {
                    match command.split_once(": ").unwrap() {
                        ("p1", command) => play(&service, "secret", &p1, command),
                        ("p2", command) => play(&service, "secret", &p2, command),
                        // The service plays these entries.
                        _ => {}
                    }
                }
            };
            give(case.before);
            wait_for(&service, "secret", case.before.len());
            for (minute, command) in (1..).zip(*secret) {
                simulated.set(number * HOUR + minute * 60_000);
                give(&[command]);
            }
            simulated.set(10 * HOUR);
            give(case.end);
            give(case.after);
            let viewer = match case.viewer {
                "p1" => p1,
                "p2" => p2,
                _ => grant(&service, "secret", &json!({"kind": "spectator"})),
            };
            let document = Call::get("/v1/matches/secret", &viewer).to(&service).is(200).body;
            assert!(document.contains("\"deadlines\":{\"p"), "{document}");
            shown.push(document);
            // SV-52: a calendar shows a player only what that player may know.
            if ["p1", "p2"].contains(&case.viewer) {
                let token = calendar_token(1);
                join_calendar(&service, "secret", &viewer, &token);
                calendars.push(
                    read_calendar(&service, &token)
                        .replace(service.origin(), "")
                        .replace(&service.origin()[7..], ""),
                );
            }
        }
        shown.dedup();
        assert_eq!(shown.len(), 1, "{}: {shown:?}", case.viewer);
        calendars.dedup();
        assert!(calendars.len() <= 1, "{}: {calendars:?}", case.viewer);
    }
}

#[test]
fn sv_45_terms_are_tried_kept_and_changed_by_the_host_alone() {
    let simulated = Simulated::new();
    let mut service = simulated.serve();
    let setup = fixture("cycletap", "ford");
    for (terms, why) in [
        ("between = []", "terms: between: "),
        ("default = [\"dance\"]", "terms: default[0]: "),
        ("hours = 9000", "terms: hours: "),
        ("sealed = true", "unknown field `sealed`"),
        ("seats = 3", "terms: seats: it is filled in"),
        ("hours =", "terms:1:"),
    ] {
        let new = json!({"name": "taps", "ruleset": "cycletap", "setup": setup, "dice": "recorded", "terms": terms});
        let refused = Call::post("/v1/matches", ADMIN, &new).to(&service).problem(422, "content");
        assert!(refused.body.contains(why), "{terms}: {}", refused.body);
    }
    Call::get("/v1/matches/taps", ADMIN).to(&service).problem(404, "not_found");
    create(&service, "taps", "cycletap", &setup, "");
    let terms = json!({"hours": 72, "missed": "default", "default": ["switch"], "between": ["resolve"],
        "patience": 3, "absences": 14});
    let document = |service: &Running, token: &str| {
        Call::get("/v1/matches/taps", token).to(service).is(200).json()["hosting"].take()
    };
    let p1 = join(&service, "taps", "p1");
    let host = grant(&service, "taps", &json!({"kind": "host"}));
    let looks_on = grant(&service, "taps", &json!({"kind": "spectator"}));
    // Without invitations, a host plays, and there are no deadlines.
    let shown = json!({"terms": terms, "deadlines": {"p1": START + 3 * DAY}, "absent": {}});
    for token in [&p1, &host, &looks_on] {
        assert_eq!(document(&service, token), shown);
    }
    let set = |service: &Running, token: &str, terms: &str| {
        Call::post("/v1/matches/taps/terms", token, &json!({"terms": terms})).to(service)
    };
    for token in [&p1, &looks_on] {
        set(&service, token, "hours = 1").problem(403, "forbidden");
    }
    set(&service, &host, "hours = -1").problem(422, "content");
    simulated.set(HOUR);
    let changed = set(&service, &host, "hours = 1\nabsences = 2").is(200).json();
    // With other terms, a turn begins again.
    assert_eq!(changed["deadlines"], json!({"p1": START + 2 * HOUR}));
    let away = |service: &Running, token: &str, until: &str| {
        Call::post("/v1/matches/taps/absence", token, &json!({"until": until})).to(service)
    };
    for token in [&host, &looks_on] {
        away(&service, token, "2026-12-02T18:00:00Z").problem(403, "forbidden");
    }
    for until in ["tomorrow", "2026-12-01T18:00:00Z", "2026-12-04T18:00:00Z"] {
        away(&service, &p1, until).problem(422, "content");
    }
    let absent = away(&service, &p1, "2026-12-02T18:00:00Z").is(200).json();
    assert_eq!(absent["deadlines"], json!({"p1": START + DAY + HOUR}));
    // One more absence is within the two days, and no other after it.
    away(&service, &p1, "2026-12-03T18:00:00Z").is(200);
    away(&service, &p1, "2026-12-03T18:00:01Z").problem(422, "content");
    service.kill();
    service = simulated.serve();
    assert_eq!(document(&service, &p1)["deadlines"], json!({"p1": START + 2 * DAY + HOUR}));
    // A match created without terms gets terms.
    let new = json!({"name": "more", "ruleset": "cycletap", "setup": setup, "dice": "recorded"});
    let made = Call::post("/v1/matches", ADMIN, &new).to(&service).is(201).json();
    assert_eq!(made.get("hosting"), None);
    Call::post(
        "/v1/matches/more/absence",
        made["token"].as_str().unwrap(),
        &json!({"until": "2026-12-02T18:00:00Z"}),
    )
    .to(&service)
    .problem(403, "forbidden");
    Call::post("/v1/matches/more/terms", made["token"].as_str().unwrap(), &json!({"terms": ""}))
        .to(&service)
        .is(200);
    service.kill();
    // Renaming or deleting a match includes its terms.
    let sandbox = &simulated.sandbox;
    sandbox.ok("rename taps pats");
    let log = sandbox.ok("log pats.accord");
    assert_eq!(log.lines().count(), 3, "{log}");
    let refused = sandbox.run("delete --force pats.accord");
    assert_eq!(refused.status.code(), Some(2));
    sandbox.ok("delete --force pats");
    let left = sandbox.ok("matches");
    assert!(!left.contains("pats") && left.contains("more.accord"), "{left}");
    sandbox.write("terms.toml", "hours = 24\n");
    sandbox.ok("new own --rules cycletap --terms terms.toml");
    sandbox.write("terms.toml", "between = []\n");
    assert_eq!(sandbox.run("new own-2 --rules cycletap --terms terms.toml").status.code(), Some(2));
    let service = simulated.serve();
    let own = Call::get("/v1/matches/own", ADMIN).to(&service).is(200).json();
    assert_eq!(
        (own["hosting"]["terms"]["hours"].as_u64(), &own["hosting"]["deadlines"]),
        (Some(24), &json!({}))
    );
}
