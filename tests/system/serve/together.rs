//! What players see of each other: who is here (SV-60), notes (SV-61) and rematches (SV-62).

use serde_json::{Value, json};

use super::calls::join;
use super::http::{Answer, Call, Events, create, grant, import, main_of};
use super::terms::play;
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

/// A pawn about to become a queen, so that a game ends with one command.
const PAWN: &str = "fen = \"8/P6k/8/8/8/8/8/K7 w - - 0 1\"";

/// Waits until a match shows these followers. A follower leaves a moment after its connection is closed.
fn wait_for_here(service: &Running, token: &str, expected: &Value) {
    let mut here = Value::Null;
    for _ in 0..600 {
        here = Call::get("/v1/matches/duel/here", token).to(service).is(200).json();
        if here == *expected {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("expected {expected}, found {here}");
}

#[test]
fn sv_60_every_viewer_sees_which_seats_follow_the_match() {
    let service = Running::alone();
    let host = create(&service, "duel", "channel", SETUP);
    let other = create(&service, "other", "channel", SETUP);
    let ann = join(&service, "duel", "p1", "Ann");
    let phone = grant(&service, "duel", &json!({"kind": "seat", "seat": "p1"}));
    let looks = grant(&service, "duel", &json!({"kind": "spectator"}));
    let nobody = json!({"seats": [], "spectators": 0, "rematch": null});
    assert_eq!(Call::get("/v1/matches/duel/here", &looks).to(&service).is(200).json(), nobody);
    let follow = |token: &str| Events::open(&service, &Call::get(&main_of("duel", "events"), token));
    // Two devices of a seat count as one seat, and two pages of a spectator as one spectator.
    let open = [follow(&ann), follow(&phone), follow(&looks), follow(&looks), follow(&host)];
    for token in [&ann, &looks, &host] {
        wait_for_here(&service, token, &json!({"seats": ["p1", "host"], "spectators": 1, "rematch": null}));
    }
    drop(open);
    wait_for_here(&service, &ann, &nobody);
    Call::get("/v1/matches/duel/here", &other).to(&service).problem(404, "not_found");
    Call::get("/v1/matches/duel/here", "").to(&service).problem(401, "no_token");
}

struct Noted<'a> {
    service: &'a Running,
    path: String,
}

impl Noted<'_> {
    fn of<'a>(service: &'a Running, name: &str) -> Noted<'a> {
        Noted { service, path: main_of(name, "notes") }
    }

    fn write(&self, token: &str, query: &str, text: &str, private: bool) -> Answer {
        let path = format!("{}{query}", self.path);
        Call::post(&path, token, &json!({"text": text, "private": private})).to(self.service)
    }

    /// Returns the notes that a token may read: entry, author and text.
    fn read(&self, token: &str) -> Vec<(Value, Value, String)> {
        let list = Call::get(&self.path, token).to(self.service).is(200).json();
        let items = list["items"].as_array().unwrap().iter();
        items
            .map(|note| {
                (note["entry"].clone(), note["name"].clone(), note["text"].as_str().unwrap().to_owned())
            })
            .collect()
    }
}

#[test]
fn sv_61_a_note_is_for_all_viewers_or_for_its_author_alone() {
    let sandbox = Sandbox::new();
    let service = Running::start(&sandbox);
    let host = create(&service, "duel", "channel", SETUP);
    let ann = join(&service, "duel", "p1", "Ann");
    let bo = join(&service, "duel", "p2", "Bo");
    let phone = grant(&service, "duel", &json!({"kind": "seat", "seat": "p1"}));
    let looks = grant(&service, "duel", &json!({"kind": "spectator"}));
    play(&service, "duel", &ann, "take 1 1");
    let noted = Noted::of(&service, "duel");
    let made = noted.write(&ann, "?entry=1", "greedy\n<b>", false).is(201);
    let location = made.header("location").unwrap().to_owned();
    let made = made.json();
    assert_eq!(
        (&made["entry"], &made["seat"], &made["name"], &made["private"], &made["own"]),
        (&json!(1), &json!("p1"), &json!("Ann"), &json!(false), &json!(true))
    );
    noted.write(&bo, "", "for me", true).is(201);
    noted.write(&looks, "?entry=1", "a spectator's", true).is(201);
    noted.write(&host, "", "be nice", false).is(201);
    let public = [
        (json!(1), json!("Ann"), "greedy\n<b>".to_owned()),
        (json!(null), json!(null), "be nice".to_owned()),
    ];
    for token in [&ann, &phone, &host, &service.admin().to_owned()] {
        assert_eq!(noted.read(token), public, "not even the host reads what is for one alone");
    }
    assert_eq!(noted.read(&bo)[1], (json!(null), json!("Bo"), "for me".to_owned()));
    assert_eq!(noted.read(&looks)[1], (json!(1), json!(null), "a spectator's".to_owned()));
    // The entry, the author and the text of a note are checked.
    noted.write(&looks, "", "for all", false).problem(403, "forbidden");
    noted.write(&ann, "?entry=2", "x", false).problem(404, "no_entry");
    noted.write(&ann, "?entry=0", "x", false).problem(404, "no_entry");
    noted.write("", "", "x", false).problem(401, "no_token");
    for text in ["", " ", "\u{202e}", "a\tb", &"x".repeat(501)] {
        noted.write(&ann, "", text, false).problem(422, "content");
    }
    let elsewhere = Noted::of(&service, "duel");
    let other = create(&service, "other", "channel", SETUP);
    elsewhere.write(&other, "", "x", false).problem(404, "not_found");
    // A branch that begins after the entry has the note, too.
    let branch = json!({"name": "line", "from": "main:1"});
    Call::post("/v1/matches/duel/branches", &host, &branch).to(&service).is(201);
    let path = "/v1/matches/duel/branches/line/notes";
    let list = Call::get(path, &bo).to(&service).is(200).json();
    assert_eq!(list["items"][0]["text"], "greedy\n<b>");
    let branch = json!({"name": "before", "from": "main:0"});
    Call::post("/v1/matches/duel/branches", &host, &branch).to(&service).is(201);
    let list = Call::get("/v1/matches/duel/branches/before/notes", &ann).to(&service).is(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    // The author and the host can remove a note. For others, it is forbidden or not found.
    let mine = Call::get(&noted.path, &bo).to(&service).json()["items"][1]["id"].as_str().unwrap().to_owned();
    let remove = |token: &str, path: &str| Call::new("DELETE", path, token).to(&service);
    let of_bo = format!("/v1/matches/duel/notes/{mine}");
    for token in [&ann, &host, &looks] {
        remove(token, &of_bo).problem(404, "not_found");
    }
    remove(&bo, &location).problem(403, "forbidden");
    remove(&looks, &location).problem(403, "forbidden");
    remove(&ann, &location).is(204);
    remove(&ann, &location).problem(404, "not_found");
    remove(&bo, &of_bo).is(204);
    let of_host = Call::get(&noted.path, &host).to(&service).json()["items"][0]["id"].clone();
    // Notes survive a restart.
    drop(service);
    let service = Running::start(&sandbox);
    let noted = Noted::of(&service, "duel");
    assert_eq!(noted.read(&looks).len(), 2);
    let of_host = format!("/v1/matches/duel/notes/{}", of_host.as_str().unwrap());
    Call::new("DELETE", &of_host, service.admin()).to(&service).is(204);
    assert_eq!(noted.read(&ann), []);
}

/// A note on a concealed entry reveals nothing of the entry until the entry itself is revealed.
#[test]
fn sv_61_a_note_to_a_concealed_entry_comes_with_the_entry() {
    let service = Running::alone();
    let host = create(&service, "plans", "cycletap", &fixture("cycletap", "ford"));
    let [p1, p2] = ["p1", "p2"].map(|seat| grant(&service, "plans", &json!({"kind": "seat", "seat": seat})));
    play(&service, "plans", &p1, "tap 0,1");
    let noted = Noted::of(&service, "plans");
    noted.write(&p1, "?entry=1", "my plan", false).is(201);
    let concealed = Call::get(&main_of("plans", "entries"), &p2).to(&service).json()["items"].clone();
    assert_eq!(concealed, json!([]), "p2 does not know of the plan");
    assert_eq!(noted.read(&p2), []);
    assert_eq!(noted.read(&p1).len(), 1);
    assert_eq!(noted.read(&host).len(), 1);
    let id = Call::get(&noted.path, &p1).to(&service).json()["items"][0]["id"].as_str().unwrap().to_owned();
    Call::new("DELETE", &format!("/v1/matches/plans/notes/{id}"), &p2).to(&service).problem(404, "not_found");
}

/// Asks for a rematch with a token that the client made.
fn ask(service: &Running, name: &str, token: &str, own: &str) -> Answer {
    Call::post(&format!("/v1/matches/{name}/rematch"), token, &json!({"token": own})).to(service)
}

fn own_token(kind: char, digit: char) -> String {
    format!("tf_{kind}_{}A", digit.to_string().repeat(42))
}

#[test]
fn sv_62_players_play_again_with_their_seats_changed() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut serve = std::process::Command::new(crate::example::program("chess"));
    serve.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(dir.path()).env_remove("TURNFOLD_STORE");
    let service = Running::start_by(serve);
    let host = create(&service, "duel", "chess", PAWN);
    let ann = join(&service, "duel", "p1", "Ann");
    let bo = join(&service, "duel", "p2", "Bo");
    let looks = grant(&service, "duel", &json!({"kind": "spectator"}));
    let terms = json!({"terms": "hours = 24"});
    Call::post("/v1/matches/duel/terms", &host, &terms).to(&service).is(200);
    let mine = own_token('s', 'a');
    ask(&service, "duel", &ann, &mine).problem(422, "content");
    play(&service, "duel", &bo, "resign");
    // Spectators and the admin get no rematch, and the new token must be a seat token.
    ask(&service, "duel", &looks, &mine).problem(403, "forbidden");
    ask(&service, "duel", service.admin(), &mine).problem(403, "forbidden");
    ask(&service, "duel", &ann, &own_token('h', 'a')).problem(400, "bad_request");
    let made = ask(&service, "duel", &ann, &mine).is(201).json();
    assert_eq!((&made["match"], &made["seat"]), (&json!("duel-2"), &json!("p2")));
    assert_eq!(ask(&service, "duel", &ann, &mine).is(200).json(), made, "a lost answer is asked for again");
    let hosting =
        |token: &str| Call::get("/v1/matches/duel-2", token).to(&service).is(200).json()["hosting"].clone();
    assert_eq!(hosting(&mine), json!(null), "no turn begins before Bo is there");
    let other = own_token('s', 'b');
    let joined = ask(&service, "duel", &bo, &other).is(200).json();
    assert_eq!((&joined["match"], &joined["seat"]), (&json!("duel-2"), &json!("p1")));
    assert_eq!(hosting(&mine)["terms"]["hours"], 24);
    let hosts = own_token('h', 'c');
    assert_eq!(ask(&service, "duel", &host, &hosts).is(200).json()["seat"], json!(null));
    let here = Call::get("/v1/matches/duel/here", &looks).to(&service).is(200).json();
    assert_eq!(here["rematch"], "duel-2");
    // The same game from its setup, with the same names. Only its players have a token.
    let info = Call::get("/v1/matches/duel-2", &other).to(&service).is(200).json();
    assert_eq!((&info["head"], &info["ruleset"]), (&json!(0), &json!("chess")));
    assert_eq!(info["names"], json!({"p1": "Bo", "p2": "Ann"}));
    Call::get("/v1/matches/duel-2", &ann).to(&service).problem(404, "not_found");
    Call::get("/v1/matches/duel-2/grants", &hosts).to(&service).is(200);
    play(&service, "duel-2", &other, "a7a8q");
    play(&service, "duel-2", &mine, "resign");
    let again = ask(&service, "duel-2", &mine, &own_token('s', 'd')).is(201).json();
    assert_eq!((&again["match"], &again["seat"]), (&json!("duel-3"), &json!("p1")));
    // A used name is skipped.
    create(&service, "duel-4", "chess", PAWN);
    let last = own_token('s', 'd');
    play(&service, "duel-3", &last, "resign");
    assert_eq!(ask(&service, "duel-3", &last, &own_token('s', 'e')).is(201).json()["match"], "duel-5");
}

#[test]
fn sv_62_many_who_ask_at_once_get_one_rematch() {
    let service = Running::alone();
    let host = create(&service, "duel", "lifecycle", &fixture("lifecycle", "duel"));
    finish(&service, &host);
    let tokens: Vec<String> = ('a'..='h').map(|digit| own_token('h', digit)).collect();
    let made: Vec<Value> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            tokens.iter().map(|own| scope.spawn(|| ask(&service, "duel", &host, own))).collect();
        asked
            .into_iter()
            .map(|asked| {
                let answer = asked.join().unwrap();
                assert!([200, 201].contains(&answer.status), "{answer:?}");
                answer.json()
            })
            .collect()
    });
    assert!(made.iter().all(|made| made["match"] == "duel-2"), "{made:?}");
    let list = Call::get("/v1/matches", service.admin()).to(&service).is(200).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    // The dice have another seed.
    let seed = |name: &str, token: &str| {
        let replay = Call::get(&main_of(name, "replay.tfl"), token).to(&service).is(200).body;
        replay.lines().find(|line| line.starts_with("seed =")).map(ToOwned::to_owned)
    };
    assert_ne!(seed("duel", service.admin()), seed("duel-2", service.admin()));
}

/// The seed from which a match is dealt. Players of the rematch know it.
#[test]
fn sv_62_a_rematch_deals_from_another_seed_that_no_player_sees() {
    let service = Running::alone();
    let game = include_str!("../../../replays/channel/a-game-for-two.tfl");
    let host = import(&service, "duel", game);
    let own = own_token('h', 'a');
    ask(&service, "duel", &host, &own).is(201);
    let replay = |name: &str, token: &str, query: &str| {
        Call::get(&main_of(name, &format!("replay.tfl{query}")), token).to(&service).is(200).body
    };
    let setup = |replay: &str| {
        let (before, _) = replay.split_once("\n---").unwrap_or((replay, ""));
        before.lines().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let seed_in = |lines: &[String]| lines.iter().find(|line| line.starts_with("seed =")).cloned();
    let (old, new) = (setup(&replay("duel", &host, "")), setup(&replay("duel-2", &own, "")));
    assert_eq!(seed_in(&old).as_deref(), Some("seed = 4"));
    let seed = seed_in(&new).unwrap();
    assert_ne!(seed, "seed = 4");
    // The rematch deals another bag, and viewers learn no more of it than in any match.
    let view =
        |name: &str, token: &str| Call::get(&main_of(name, "view?at=0"), token).to(&service).is(200).body;
    assert_ne!(view("duel", &host), view("duel-2", &own));
    let number = seed.strip_prefix("seed = ").unwrap();
    for kind in [json!({"kind": "seat", "seat": "p1"}), json!({"kind": "spectator"})] {
        let token = grant(&service, "duel-2", &kind);
        for path in ["replay.tfl?view=true", "view", "entries", "legal"] {
            let shown = Call::get(&main_of("duel-2", path), &token).to(&service).is(200).body;
            assert!(!shown.contains(number) && !shown.contains("seed ="), "{path}: {shown}");
        }
        let info = Call::get("/v1/matches/duel-2", &token).to(&service).is(200).body;
        assert!(!info.contains(number), "{info}");
    }
}

/// Plays legal commands until the match is over.
fn finish(service: &Running, host: &str) {
    for _ in 0..600 {
        let info = Call::get("/v1/matches/duel", host).to(service).is(200).json();
        if info["now"]["over"] == true {
            return;
        }
        let legal = Call::get(&main_of("duel", "legal"), host).to(service).is(200).json();
        let items = legal["items"].as_array().unwrap();
        let attack = |item: &&Value| item["command"].as_str().unwrap().starts_with("attack");
        let next = items.iter().find(attack).or(items.last()).unwrap();
        let command = format!("{}: {}", next["seat"].as_str().unwrap(), next["command"].as_str().unwrap());
        Call::post(&main_of("duel", "entries"), host, &json!({"commands": [command]})).to(service).is(201);
    }
    panic!("the match does not end");
}
