//! Every failure is a problem from the table of SV-7, and reveals nothing that the client may not know.

use std::thread;

use serde_json::{Value, json};

use super::http::{Answer, Call, create, grant, main_of};
use turnfold_tests::fixture;
use turnfold_tests::service::Running;

/// Creates a match of cycletap, and returns the tokens of its host, p1 and a spectator.
pub(super) fn ford(service: &Running) -> [String; 3] {
    let host = create(service, "ford", "cycletap", &fixture("cycletap", "ford"));
    let p1 = grant(service, "ford", &json!({"kind": "seat", "seat": "p1"}));
    [host, p1, grant(service, "ford", &json!({"kind": "spectator"}))]
}

/// Checks the headers that every response has (SV-6).
fn check_headers(answer: &Answer) {
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{answer:?}");
    assert!(answer.header("x-request-id").is_some(), "{answer:?}");
}

/// SV-7, SV-12: without a valid token, a response shows no other error, whatever else is wrong.
#[test]
fn sv_7_401_for_every_token_that_does_not_count() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let of_other_kind = host.replacen("_h_", "_s_", 1);
    let unknown = format!("tf_s_{}", "A".repeat(43));
    let revoked = service.grant("ford", r#"{"kind":"spectator"}"#);
    let path = format!("/v1/matches/ford/grants/{}", revoked["id"].as_str().unwrap());
    Call::new("DELETE", &path, &host).to(&service).is(204);
    let revoked = revoked["token"].as_str().unwrap();
    // The service knew the token as valid until the invitation was spent.
    let spent = grant(&service, "ford", &json!({"kind": "invitation", "seat": "p2"}));
    Call::get("/v1/matches/ford", &spent).to(&service).problem(403, "forbidden");
    Call::post("/v1/join", &spent, &json!({})).to(&service).is(201);
    for token in ["", "x", "tf_a_", revoked, &spent, &unknown, &of_other_kind, &host[..host.len() - 1]] {
        let paths = [
            "/v1/matches",
            "/v1/matches/no",
            "/v1/matches/NO",
            "/v1/matches/ford",
            "/v1/matches?no=1",
            "/v1/matches/ford/branches/main/view?at=x",
            "/v1/backup",
            "/v1/matches/ford/branches/main/events",
        ];
        for path in paths {
            let answer = Call::get(path, token).to(&service).problem(401, "no_token");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            check_headers(&answer);
        }
        let answer = Call::get("/v1/matches", token).with("accept", "image/png").to(&service);
        answer.problem(401, "no_token");
        Call::post(&main_of("ford", "entries"), token, &json!(7)).to(&service).problem(401, "no_token");
        Call::post("/v1/join", token, &json!({})).to(&service);
    }
    let basic = Call::get("/v1/matches", "").with("authorization", "Basic YTpi");
    basic.to(&service).problem(401, "no_token");
}

/// SV-7, SV-8, SV-24: what each kind of token may do.
#[test]
fn sv_24_403_for_what_a_token_does_not_reach() {
    let service = Running::alone();
    let [host, p1, spectator] = ford(&service);
    let invitation = grant(&service, "ford", &json!({"kind": "invitation", "seat": "p2"}));
    let main = main_of("ford", "");
    let posts = [
        ("/v1/matches/ford/branches", json!({"name": "b", "from": "main"})),
        ("/v1/matches/ford/grants", json!({"kind": "host"})),
        ("/v1/matches", json!({"name": "b", "ruleset": "cycletap", "setup": "", "dice": "recorded"})),
        ("/v1/join", json!({})),
    ];
    let gets = [
        format!("{main}diff?with=main"),
        format!("{main}replay.tfl"),
        format!("{main}view?as=p2"),
        "/v1/matches/ford/grants".into(),
        "/v1/backup".into(),
    ];
    for token in [&p1, &spectator] {
        for (path, body) in &posts {
            Call::post(path, token, body).to(&service).problem(403, "forbidden");
        }
        for path in &gets {
            Call::get(path, token).to(&service).problem(403, "forbidden");
        }
        Call::new("DELETE", "/v1/matches/ford/grants/0123456789abcdef", token)
            .to(&service)
            .problem(403, "forbidden");
        Call::new("DELETE", main.trim_end_matches('/'), token).to(&service).problem(403, "forbidden");
    }
    let tap = json!({"commands": ["tap 0,1"]});
    // This includes commands that a host may give, and an empty list.
    for commands in [&tap, &json!({"commands": ["host: resolve"]}), &json!({"commands": []})] {
        let refused = Call::post(&main_of("ford", "entries"), &spectator, commands).to(&service);
        let detail = &refused.problem(403, "forbidden").json()["detail"];
        assert_eq!(detail, "a spectator cannot give commands");
    }
    let of_p2 = json!({"commands": ["p2: tap 0,1"]});
    Call::post(&main_of("ford", "entries"), &p1, &of_p2).to(&service).problem(403, "forbidden");
    let expected = main_of("ford", "entries?expect=0");
    Call::post(&expected, &p1, &tap).to(&service).problem(403, "forbidden");
    for path in ["/v1/matches", "/v1/matches/ford", &main_of("ford", "view")] {
        Call::get(path, &invitation).to(&service).problem(403, "forbidden");
    }
    Call::get("/v1/backup", &host).to(&service).problem(403, "forbidden");
    Call::post("/v1/matches", &host, &posts[2].1).to(&service).problem(403, "forbidden");
    Call::get(&format!("{main}view?as=p2"), &host).to(&service).is(200);
    Call::get(&format!("{main}view?as=p1"), &p1).to(&service).is(200);
}

/// SV-7: for a missing match and for a match that the token may not know of, responses have the same bytes except
/// `request`.
#[test]
fn sv_7_404_is_the_same_for_what_is_not_there_and_what_may_not_be_known() {
    let service = Running::alone();
    let [host, p1, spectator] = ford(&service);
    create(&service, "there", "cycletap", &fixture("cycletap", "ford"));
    let invitation = grant(&service, "ford", &json!({"kind": "invitation", "seat": "p2"}));
    let rests = [
        "",
        "/branches",
        "/grants",
        "/branches/main/view",
        "/branches/main/view?as=p2",
        "/branches/main/legal",
        "/branches/main/entries",
        "/branches/main/events",
        "/branches/main/ask?q=x",
        "/branches/main/frames",
        "/branches/main/diff?with=main",
        "/branches/main/replay.tfl",
        "/branches/main/replay.html",
        "/branches/main/picture.svg",
        "/branches/no/view",
    ];
    for token in [&host, &p1, &spectator, &invitation] {
        // Names of equal length, so that bodies have equal lengths.
        let shown = ["there", "never"].map(|name| {
            let shown = |call: Call| {
                let answer = call.with("x-request-id", "same").to(&service).problem(404, "not_found");
                let headers: Vec<_> = answer.headers.iter().filter(|(name, _)| name != "date").collect();
                format!("{headers:?} {}", answer.body).replace(name, "NAME")
            };
            let path = |rest: &str| format!("/v1/matches/{name}{rest}");
            let gets = rests.iter().map(|rest| shown(Call::get(&path(rest), token)));
            let posts = [
                ("/grants", json!({"kind": "host"})),
                ("/branches", json!({"name": "a", "from": "main"})),
                ("/branches/main/entries", json!({"commands": ["x"]})),
                ("/branches/main/entries", json!({"commands": ["x", "y"]})),
            ];
            let posts = posts.map(|(rest, body)| shown(Call::post(&path(rest), token, &body)));
            let deletes = ["/grants/0123456789abcdef", "/branches/main"];
            let deletes = deletes.map(|rest| shown(Call::new("DELETE", &path(rest), token)));
            gets.chain(posts).chain(deletes).collect::<Vec<_>>()
        });
        assert_eq!(shown[0], shown[1]);
    }
    Call::get("/v1/no", &host).to(&service).problem(404, "not_found");
    Call::get("/v1/matches/ford/branches/no/view", &host).to(&service).problem(404, "not_found");
    Call::new("DELETE", "/v1/matches/ford/grants/0123456789abcdef", &host)
        .to(&service)
        .problem(404, "not_found");
}

/// SV-7: the codes for taken, used, spent, moved and unplayable resources.
#[test]
fn sv_7_conflicts_have_their_codes() {
    let service = Running::alone();
    let [host, p1, _] = ford(&service);
    let admin = service.admin();
    let entries = main_of("ford", "entries");
    let new = |name: &str, ruleset: &str, setup: &str| json!({"name": name, "ruleset": ruleset, "setup": setup, "dice": "recorded"});
    let setup = fixture("cycletap", "ford");
    Call::post("/v1/matches", admin, &new("ford", "cycletap", &setup)).to(&service).problem(409, "exists");
    for (ruleset, setup) in [("none", ""), ("cycletap", "radius = 0"), ("cycletap", "="), ("initiative", "")]
    {
        Call::post("/v1/matches", admin, &new("b", ruleset, setup)).to(&service).problem(422, "setup");
    }
    let file = Call::new("POST", "/v1/matches?name=b", admin).body("text/plain", "turnfold replay 2\n");
    file.to(&service).problem(422, "setup");
    let played = json!({"commands": ["p2: tap 0,0"]});
    let rejected = Call::post(&entries, &host, &played).to(&service).problem(409, "rejected").json();
    assert_eq!((&rejected["index"], &rejected["record"]["reason"]), (&json!(0), &json!("not_your_turn")));
    let second = json!({"commands": ["p2: jump"]});
    let malformed = Call::post(&entries, &host, &second).to(&service).problem(422, "malformed").json();
    assert_eq!((&malformed["index"], &malformed["record"]["seq"]), (&json!(0), &Value::Null));
    Call::post(&entries, &p1, &json!({"commands": ["jump"]})).to(&service).problem(422, "malformed");
    // All or nothing.
    let head = || Call::get("/v1/matches/ford", &host).to(&service).is(200).json()["head"].clone();
    assert_eq!(head(), 0);
    let tag =
        Call::get(&main_of("ford", "view"), &p1).to(&service).is(200).header("etag").unwrap().to_owned();
    let tap = Call::post(&entries, &p1, &json!({"commands": ["tap 0,1"]}));
    let key = tap.clone().with("idempotency-key", "k").with("if-match", &tag);
    let first = key.to(&service).is(201);
    assert_ne!(first.header("etag"), Some(tag.as_str()));
    let again = key.to(&service).is(200);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!((again.json(), again.header("etag")), (first.json(), first.header("etag")));
    let other = Call::post(&entries, &p1, &json!({"commands": ["tap 0,0"]})).with("idempotency-key", "\"k\"");
    other.to(&service).problem(422, "key_reused");
    let moved = tap.with("if-match", &tag).to(&service).problem(412, "moved");
    assert_eq!(moved.header("etag"), first.header("etag"));
    let ahead = Call::post(&main_of("ford", "entries?expect=7"), &host, &json!({"commands": []}));
    ahead.to(&service).problem(412, "moved");
    let branches = "/v1/matches/ford/branches";
    for (name, from) in [("a", "main:1"), ("b", "a:1")] {
        Call::post(branches, &host, &json!({"name": name, "from": from})).to(&service).is(201);
    }
    Call::post(branches, &host, &json!({"name": "a", "from": "main"})).to(&service).problem(409, "exists");
    Call::post(branches, &host, &json!({"name": "c", "from": "main:9"}))
        .to(&service)
        .problem(404, "no_entry");
    Call::post(branches, &host, &json!({"name": "c", "from": "no"})).to(&service).problem(404, "not_found");
    for (name, status) in [("main", 409), ("a", 409), ("b", 204), ("a", 204), ("a", 404)] {
        let answer = Call::new("DELETE", &format!("{branches}/{name}"), &host).to(&service).is(status);
        assert!(status != 409 || answer.json()["type"] == "urn:turnfold:problem:branch_in_use");
    }
}

/// SV-7: a request that fits the description is never answered with 400.
#[test]
fn sv_7_what_fits_the_description_and_cannot_be_done_is_no_bad_request() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let refused = |rest: &str| Call::get(&main_of("ford", rest), &host).to(&service);
    for rest in [
        "view?",
        "legal?",
        "picture.svg?",
        "replay.tfl?",
        "frames?",
        "ask?q=suggest%200,0&",
        "diff?with=main&",
    ] {
        refused(&format!("{rest}at=9007199254740991")).problem(404, "no_entry");
    }
    for rest in ["entries?", "events?", "find?when=/turn%20==%203&", "frames?"] {
        refused(&format!("{rest}after=9007199254740991")).problem(404, "no_entry");
    }
    for rest in ["find?when=0%20==", "find?when=/nowhere", "ask?q=", "ask?q=nothing"] {
        refused(rest).problem(422, "content");
    }
    let new = |name: &str, more: Value| {
        let mut new = json!({"name": name, "ruleset": "cycletap", "dice": "recorded"});
        new["setup"] = fixture("cycletap", "ford").into();
        new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Call::post("/v1/matches?name=other", service.admin(), &new).to(&service)
    };
    new("a.tfl", json!({})).problem(422, "content");
    new("a", json!({"seed": "0".repeat(64)})).problem(422, "content");
    new("a", json!({"title": "a\nb"})).problem(422, "content");
    // A request may name its match.
    assert_eq!(new("a", json!({})).is(201).json()["match"], "a");
    // RFC 9110, 8.8.3: a tag may contain a comma.
    let commas = Call::get(&main_of("ford", "view"), &host).with("if-none-match", "W/\"a,b\", \",\"");
    commas.to(&service).is(200);
}

/// SV-7, VW-38: a page gets what it needs to show why access ended, and the last host stays.
#[test]
fn sv_25_the_last_host_stays_and_a_token_that_ended_shows_how() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let grants = || Call::get("/v1/matches/ford/grants", &host).to(&service).is(200).json();
    let id =
        grants()["items"].as_array().unwrap().iter().find(|grant| grant["kind"] == "host").unwrap()["id"]
            .clone();
    let path = format!("/v1/matches/ford/grants/{}", id.as_str().unwrap());
    for token in [host.as_str(), service.admin()] {
        let refused = Call::new("DELETE", &path, token).to(&service).problem(409, "last_host").json();
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.ends_with("host grant of match `ford`; make another host grant first"), "{detail}");
    }
    let other = service.grant("ford", r#"{"kind":"host"}"#);
    Call::new("DELETE", &path, &host).to(&service).is(204);
    let ended = |token: &str| {
        Call::get("/v1/matches/ford", token).to(&service).problem(401, "no_token").json()["ended"].clone()
    };
    assert_eq!(ended(&host), "revoked");
    Call::get("/v1/matches/ford", other["token"].as_str().unwrap()).to(&service).is(200);
    let brief = service.grant("ford", r#"{"kind":"spectator","expires":"1s"}"#);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(ended(brief["token"].as_str().unwrap()), "expired");
    assert_eq!(ended(&format!("tf_s_{}", "A".repeat(43))), Value::Null);
    // An invitation shows its match and seat, and reading it does not spend it.
    let invitation = service.grant("ford", r#"{"kind":"invitation","seat":"p2"}"#);
    let token = invitation["token"].as_str().unwrap();
    for _ in 0..2 {
        let shown = Call::get("/v1/join", token).to(&service).is(200).json();
        assert_eq!(
            (&shown["match"], &shown["seat"], &shown["ruleset"]),
            (&json!("ford"), &json!("p2"), &json!("cycletap"))
        );
    }
    Call::post("/v1/join", token, &json!({})).to(&service).is(201);
    Call::get("/v1/join", token).to(&service).problem(410, "spent");
    Call::get("/v1/join", service.admin()).to(&service).problem(403, "forbidden");
    Call::get("/v1/join", &format!("tf_i_{}", "A".repeat(43))).to(&service).problem(401, "no_token");
}

/// SV-31: a seat must slow down after more than 50 requests a second and a burst of four times as many.
#[test]
fn sv_31_a_seat_that_asks_too_often_has_to_slow_down() {
    let service = Running::alone();
    let [host, p1, _] = ford(&service);
    let ask = |token: &str| Call::get("/v1/matches/ford", token).to(&service);
    let slowed = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| (0..400).find_map(|_| Some(ask(&p1)).filter(|answer| answer.status != 200)))
            })
            .collect();
        threads.into_iter().find_map(|thread| thread.join().unwrap())
    });
    let slowed = slowed.expect("no client was slowed down").problem(429, "slow_down");
    assert!(slowed.header("retry-after").is_some());
    for _ in 0..50 {
        ask(&host).is(200);
    }
}
