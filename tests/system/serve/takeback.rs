//! Takebacks by agreement and by the host, and the current branch of a match (SV-63 to SV-66).

use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::calendars::{calendar_token, join_calendar, read_calendar};
use super::http::{Answer, Call, Events, grant, main_of};
use crate::fleet::postgres::shared;
use crate::fleet::url;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;

const ADMIN: &str = "tf_a_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// 2026-12-01T18:00:00Z.
const START: i64 = 1_796_148_000_000;
const HOUR: i64 = 60 * 60 * 1000;

/// A folder with a game that conceals nothing, and a simulated clock.
struct Place {
    sandbox: Sandbox,
    store: String,
}

impl Place {
    fn new(store: &str) -> Self {
        let place = Self { sandbox: Sandbox::new(), store: store.to_owned() };
        // A database stores no modules.
        if place.store == ".turnfold" {
            let chess = workspace().join("fixtures/modules/chess.wasm");
            // Its laws may take long on a busy machine.
            place.sandbox.ok(&format!("game add {} --seconds 600", chess.display()));
        }
        place.sandbox.write("admin.token", ADMIN);
        place.set(0);
        place
    }

    fn set(&self, after: i64) {
        self.sandbox.write("clock.new", (START + after).to_string());
        fs::rename(self.sandbox.path("clock.new"), self.sandbox.path("clock")).unwrap();
    }

    fn serve(&self) -> Running {
        let line =
            ["--store", &self.store, "serve", "--listen", "127.0.0.1:0", "--admin-token", "admin.token"];
        let mut serve = self.sandbox.command(line);
        serve.env("TURNFOLD_TEST_CLOCK", self.sandbox.path("clock"));
        Running::start_with(serve, ADMIN)
    }
}

/// A game of chess and the tokens of those involved.
struct Game {
    host: String,
    ann: String,
    bo: String,
    looks: String,
}

fn begin(service: &Running, ruleset: &str, setup: &str, terms: Option<&str>) -> Game {
    let mut new = json!({"name": "duel", "ruleset": ruleset, "setup": setup, "dice": "recorded"});
    if let Some(terms) = terms {
        new["terms"] = json!(terms);
    }
    let made = Call::post("/v1/matches", ADMIN, &new).to(service).is(201).json();
    let [ann, bo] = ["p1", "p2"].map(|seat| grant(service, "duel", &json!({"kind": "seat", "seat": seat})));
    let looks = grant(service, "duel", &json!({"kind": "spectator"}));
    Game { host: made["token"].as_str().unwrap().to_owned(), ann, bo, looks }
}

fn play_on(service: &Running, branch: &str, token: &str, command: &str) -> Answer {
    let path = format!("/v1/matches/duel/branches/{branch}/entries");
    Call::post(&path, token, &json!({"commands": [command]})).to(service)
}

fn play(service: &Running, token: &str, command: &str) {
    play_on(service, "main", token, command).is(201);
}

fn ask(service: &Running, token: &str, query: &str) -> Answer {
    Call::new("POST", &format!("/v1/matches/duel/takeback{query}"), token).to(service)
}

fn answer(service: &Running, token: &str, number: u32, agree: bool) -> Answer {
    Call::post(&format!("/v1/matches/duel/takeback/{number}"), token, &json!({"agree": agree})).to(service)
}

fn info(service: &Running, token: &str) -> Value {
    Call::get("/v1/matches/duel", token).to(service).is(200).json()
}

#[test]
fn sv_63_sv_64_players_take_back_together() {
    let place = Place::new(".turnfold");
    let service = place.serve();
    let Game { host, ann, bo, looks } = begin(&service, "chess", "", None);
    ask(&service, &ann, "").problem(422, "content");
    play(&service, &ann, "e2e4");
    play(&service, &bo, "e7e5");
    let follow = |token: &str| Events::open(&service, &Call::get(&main_of("duel", "events"), token));
    let [mut of_bo, mut of_looks] = [&bo, &looks].map(|token| follow(token));
    // Without an entry, the takeback goes to before the asker's last command.
    let asked = ask(&service, &ann, "").is(200).json();
    let expected = json!({"current": "main", "takeback":
        {"number": 1, "seat": "p1", "after": 0, "agreed": [], "awaited": ["p2"]}});
    assert_eq!(asked, expected);
    assert_eq!(ask(&service, &ann, "?after=0").is(200).json(), expected, "a lost answer is asked for again");
    for token in [&ann, &bo, &host] {
        assert_eq!(info(&service, token)["takeback"], expected["takeback"]);
    }
    assert_eq!(info(&service, &looks)["takeback"], json!(null), "spectators are not asked");
    for events in [&mut of_bo, &mut of_looks] {
        let event = events.next().unwrap();
        assert_eq!((event.kind.as_str(), event.data), ("match", json!({"current": "main"})));
    }
    // Only one question is open at a time, and each player answers only for their own seat.
    ask(&service, &bo, "?after=1").problem(422, "content");
    ask(&service, &bo, "?after=9").problem(404, "no_entry");
    ask(&service, &looks, "").problem(403, "forbidden");
    ask(&service, "", "").problem(401, "no_token");
    answer(&service, &ann, 1, true).problem(422, "content");
    answer(&service, &bo, 2, true).problem(422, "content");
    answer(&service, &looks, 1, true).problem(403, "forbidden");
    answer(&service, &host, 1, true).problem(403, "forbidden");
    let declined = answer(&service, &bo, 1, false).is(200).json();
    assert_eq!(declined, json!({"current": "main", "takeback": null}));
    let again = ask(&service, &ann, "").problem(422, "content");
    assert!(again.body.contains("that was answered"), "{}", again.body);
    // The asker may withdraw the question, and a new entry ends it.
    ask(&service, &bo, "").is(200);
    answer(&service, &bo, 2, false).is(200);
    play(&service, &ann, "g1f3");
    ask(&service, &ann, "").is(200);
    play(&service, &bo, "b8c6");
    assert_eq!(info(&service, &bo)["takeback"], json!(null));
    answer(&service, &bo, 3, true).problem(422, "content");
    // All agree, and the match continues from there.
    ask(&service, &bo, "?after=2").is(200);
    let agreed = answer(&service, &ann, 4, true).is(200).json();
    assert_eq!(agreed, json!({"current": "takeback-1", "takeback": null}));
    for events in [&mut of_bo, &mut of_looks] {
        let moved = std::iter::from_fn(|| events.next()).find(|event| event.data["current"] == "takeback-1");
        assert_eq!(moved.unwrap().kind, "match");
    }
    for token in [&ann, &bo, &looks, &host] {
        let info = info(&service, token);
        assert_eq!(
            (&info["branch"], &info["current"], &info["head"]),
            (&json!("takeback-1"), &json!("takeback-1"), &json!(2))
        );
        assert_eq!(info["now"]["turn"], json!(["p1"]));
    }
    let list = Call::get("/v1/matches/duel/branches", &bo).to(&service).is(200).json();
    let shown: Vec<_> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["branch"].clone(), one["entries"].clone(), one["current"].clone()))
        .collect();
    assert_eq!(
        shown,
        [(json!("main"), json!(4), json!(false)), (json!("takeback-1"), json!(2), json!(true))],
        "nothing is deleted"
    );
    // A player who missed the takeback cannot play on the old branch, and a stream of that branch reports it.
    let refused = play_on(&service, "main", &ann, "f1c4").problem(422, "content");
    assert!(refused.body.contains("continues on branch `takeback-1`"), "{}", refused.body);
    assert_eq!(follow(&ann).next().unwrap().data, json!({"current": "takeback-1"}));
    Call::new("DELETE", "/v1/matches/duel/branches/takeback-1", &host)
        .to(&service)
        .problem(409, "branch_in_use");
    // The new branch can be taken back again, and its end is the end of the match.
    play_on(&service, "takeback-1", &ann, "d2d4").is(201);
    ask(&service, &ann, "").is(200);
    answer(&service, &bo, 5, true).is(200);
    assert_eq!(info(&service, &bo)["current"], "takeback-2");
    assert_eq!(info(&service, &bo)["over"], false);
    Call::get(&main_of("duel", "replay.tfl"), &ann).to(&service).problem(403, "forbidden");
    play_on(&service, "takeback-2", &ann, "resign").is(201);
    assert_eq!(info(&service, &bo)["over"], true, "what was left does not go on");
    Call::get(&main_of("duel", "replay.tfl"), &ann).to(&service).is(200);
    check_warnings_of_client(&place, &service, &ann);
    drop((of_bo, of_looks, service));
    // The command line shows the current branch, too. It keeps the match and the branch together.
    let list = place.sandbox.ok("branch duel");
    assert!(list.contains("takeback-2  3 entries, from takeback-1:2, the match continues here"), "{list}");
    let shown = place.sandbox.run("show duel");
    let warned = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(warned.contains("duel continues on branch takeback-2"), "{warned}");
    for refused in ["branch --delete --force duel@takeback-2", "branch --rename duel@takeback-2 other"] {
        assert_eq!(place.sandbox.run(refused).status.code(), Some(2), "{refused}");
    }
    place.sandbox.ok("rename duel night");
    assert!(place.sandbox.ok("branch night").contains("the match continues here"));
    place.sandbox.ok("verify");
}

/// The command line far away warns of what was left, and not of the branch that the match is on.
fn check_warnings_of_client(place: &Place, service: &Running, token: &str) {
    place.sandbox.write("ann.token", token);
    let far = format!("--store {} --token ann.token", service.origin());
    for verb in ["show duel", "log duel"] {
        let seen = place.sandbox.run(&format!("{far} {verb}"));
        let warned = String::from_utf8_lossy(&seen.stderr).into_owned();
        assert!(warned.contains("duel continues on branch takeback-2"), "{verb}: {warned}");
        let seen = place.sandbox.run(&format!("{far} {verb}@takeback-2"));
        assert_eq!(String::from_utf8_lossy(&seen.stderr), "", "{verb}");
    }
}

#[test]
fn sv_63_dice_and_secrets_are_not_taken_back() {
    let place = Place::new(".turnfold");
    let service = place.serve();
    let refused = |name: &str, token: &str, query: &str| {
        let path = format!("/v1/matches/{name}/takeback{query}");
        Call::new("POST", &path, token).to(&service).problem(422, "content").body
    };
    for (name, ruleset, setup, commands, why) in [
        ("maya", "channel", "players = 2\nseed = 7", ["p1: take 1 1"].as_slice(), "conceals"),
        ("field", "initiative", &fixture("initiative", "small-board"), &["host: roll 3 4 5 6"], "dice fell"),
    ] {
        let new = json!({"name": name, "ruleset": ruleset, "setup": setup, "dice": "recorded"});
        let made = Call::post("/v1/matches", ADMIN, &new).to(&service).is(201).json();
        let host = made["token"].as_str().unwrap();
        for command in commands {
            Call::post(&main_of(name, "entries"), host, &json!({"commands": [command]})).to(&service);
        }
        let [p1, _] = ["p1", "p2"].map(|seat| grant(&service, name, &json!({"kind": "seat", "seat": seat})));
        let body = refused(name, &p1, "?after=0");
        assert!(body.contains(why), "{name}: {body}");
    }
    // A player who plays alone needs no agreement.
    let new = json!({"name": "duel", "ruleset": "chess", "setup": "", "dice": "recorded"});
    Call::post("/v1/matches", ADMIN, &new).to(&service).is(201);
    let ann = grant(&service, "duel", &json!({"kind": "seat", "seat": "p1"}));
    play(&service, &ann, "e2e4");
    let body = refused("duel", &ann, "");
    assert!(body.contains("no one else plays"), "{body}");
}

#[test]
fn sv_66_a_host_takes_back_for_everyone() {
    let place = Place::new(".turnfold");
    let service = place.serve();
    let Game { host, ann, bo, looks: _ } = begin(&service, "chess", "", None);
    ask(&service, &host, "").problem(422, "content");
    for (token, command) in [(&ann, "e2e4"), (&bo, "e7e5"), (&ann, "g1f3")] {
        play(&service, token, command);
    }
    ask(&service, &bo, "").is(200);
    let moved = ask(&service, &host, "").is(200).json();
    assert_eq!(moved, json!({"current": "takeback-1", "takeback": null}), "that answers the question");
    assert_eq!(info(&service, &bo)["head"], 2);
    // The same request again takes back nothing more.
    ask(&service, &host, "?after=2").problem(422, "content");
    ask(&service, &host, "?after=0").is(200);
    assert_eq!(info(&service, &ann)["current"], "takeback-2");
    assert_eq!(info(&service, &ann)["head"], 0);
    // A branch that the host creates for another purpose does not become current.
    let branch = json!({"name": "what-if", "from": "takeback-2:0"});
    Call::post("/v1/matches/duel/branches", &host, &branch).to(&service).is(201);
    play_on(&service, "what-if", &ann, "d2d4").is(201);
    assert_eq!(info(&service, &ann)["current"], "takeback-2");
}

/// A turn on the current branch begins when the match switched to that branch.
#[test]
fn sv_65_deadlines_follow_the_branch_on_which_the_match_goes_on() {
    let place = Place::new(".turnfold");
    let mut service = place.serve();
    let Game { ann, bo, .. } = begin(&service, "chess", "", Some("hours = 24\n"));
    let deadlines = |service: &Running| info(service, ADMIN)["hosting"]["deadlines"].clone();
    let [of_ann, of_bo] = [calendar_token(1), calendar_token(2)];
    join_calendar(&service, "duel", &ann, &of_ann);
    join_calendar(&service, "duel", &bo, &of_bo);
    play(&service, &ann, "e2e4");
    place.set(20 * HOUR);
    play(&service, &bo, "e7e5");
    place.set(30 * HOUR);
    ask(&service, &bo, "").is(200);
    assert_eq!(deadlines(&service), json!({"p1": START + 44 * HOUR}));
    assert!(read_calendar(&service, &of_ann).contains("DTSTART:20261203T140000Z"));
    assert!(!read_calendar(&service, &of_bo).contains("VEVENT"));
    place.set(40 * HOUR);
    answer(&service, &ann, 1, true).is(200);
    assert_eq!(deadlines(&service), json!({"p2": START + 64 * HOUR}));
    // SV-52: calendars show the current branch, too.
    assert!(read_calendar(&service, &of_bo).contains("DTSTART:20261204T100000Z"));
    assert!(!read_calendar(&service, &of_ann).contains("VEVENT"));
    service.kill();
    service = place.serve();
    assert_eq!(deadlines(&service), json!({"p2": START + 64 * HOUR}));
    // Later terms apply to the same branch.
    let host = grant(&service, "duel", &json!({"kind": "host"}));
    let terms = json!({"terms": "hours = 1"});
    Call::post("/v1/matches/duel/terms", &host, &terms).to(&service).is(200);
    assert_eq!(info(&service, &bo)["current"], "takeback-1");
    assert_eq!(deadlines(&service), json!({"p2": START + 41 * HOUR}));
}

/// When two services get a takeback at the same time, it happens once, and each learns what the other did.
#[test]
fn sv_64_two_services_on_one_database_take_back_once() {
    let Some(server) = shared() else { return };
    let place = Place::new(&url(server, "takeback"));
    let both = [place.serve(), place.serve()];
    let Game { host, ann, bo, looks } = begin(&both[0], "lifecycle", &fixture("lifecycle", "duel"), None);
    play(&both[0], &host, "host: advance");
    let mut branch = "main".to_owned();
    let mut followed = Events::open(&both[1], &Call::get(&main_of("duel", "events"), &looks));
    for number in 1..=4_u32 {
        play_on(&both[0], &branch, &ann, "end").is(201);
        let asked = ask(&both[1], &ann, "").is(200).json();
        assert_eq!(asked["takeback"]["number"], number);
        let answers: Vec<Answer> = thread::scope(|scope| {
            let threads: Vec<_> = both
                .iter()
                .cycle()
                .take(6)
                .map(|service| scope.spawn(|| answer(service, &bo, number, true)))
                .collect();
            threads.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(answers.iter().any(|answer| answer.status == 200), "{answers:?}");
        assert!(answers.iter().all(|answer| [200, 422, 503].contains(&answer.status)), "{answers:?}");
        let expected = format!("takeback-{number}");
        for service in &both {
            assert_eq!(info(service, &ann)["current"], json!(expected));
        }
        branch = expected;
    }
    let list = Call::get("/v1/matches/duel/branches", &bo).to(&both[1]).is(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 5, "{list}");
    // A stream of the other service reports it.
    let moved = std::iter::from_fn(|| followed.next()).find(|event| event.data["current"] == "takeback-4");
    assert_eq!(moved.unwrap().kind, "match");
    place.sandbox.ok(&format!("--store {} verify", place.store));
}
