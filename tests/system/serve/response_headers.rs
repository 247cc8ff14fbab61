//! Responses besides their documents: ids, tags, lists, other origins (SV-6, SV-13, SV-32).

use serde_json::{Value, json};

use super::http::{Answer, Call, create, grant, main_of};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

fn world(service: &Running, name: &str) -> String {
    create(service, name, "hexcapture", &fixture("hexcapture", "small-world"))
}

/// SV-6: the response repeats the id of the request if it is valid.
#[test]
fn sv_6_the_id_of_a_request_is_taken_over() {
    let service = Running::alone();
    let id = |given: &str| {
        let answer = Call::get("/v1/rulesets", "").with("x-request-id", given).to(&service).is(200);
        answer.header("x-request-id").unwrap().to_owned()
    };
    let longest = "x".repeat(64);
    for given in ["a", "7f-!~", &longest] {
        assert_eq!(id(given), given);
    }
    for given in ["", "a b", "ä", &"x".repeat(65)] {
        assert_ne!(id(given), given);
    }
    assert_ne!(id(""), id(""));
}

/// SV-13: reads and writes honor the tag of the view, in lists and as `*`.
#[test]
fn sv_13_tags_are_honored_in_lists_and_as_a_star() {
    let service = Running::alone();
    let host = world(&service, "a");
    let view = || Call::get(&main_of("a", "view"), &host);
    let tag = view().to(&service).is(200).header("etag").unwrap().to_owned();
    assert_eq!((tag.len(), tag.starts_with('"')), (34, true));
    let lists =
        |tag: &str| [tag.to_owned(), format!("\"x\", {tag}"), format!("\"x\",{tag},\"y\""), "*".to_owned()];
    for list in lists(&tag).iter().chain([&format!("W/{tag}")]) {
        let same = view().with("if-none-match", list).to(&service).is(304);
        assert_eq!((same.header("etag"), same.body.as_str()), (Some(tag.as_str()), ""));
    }
    view().with("if-none-match", "\"x\"").to(&service).is(200);
    let append = |list: &str, status: u16| {
        let call = Call::post(&main_of("a", "entries"), &host, &json!({"commands": ["tick 1"]}));
        call.with("if-match", list).to(&service).is(status)
    };
    let mut now = tag.clone();
    append(&format!("W/{now}"), 412);
    append("\"x\"", 412);
    for place in 0..4 {
        let answer = append(&lists(&now)[place], 201);
        now = answer.header("etag").unwrap().to_owned();
        assert_eq!(view().to(&service).header("etag"), Some(now.as_str()));
    }
    // `entries` has no tag.
    assert_eq!(Call::get(&main_of("a", "entries"), &host).to(&service).is(200).header("etag"), None);
}

fn names(list: &Value, member: &str) -> Vec<String> {
    list["items"].as_array().unwrap().iter().map(|item| item[member].as_str().unwrap().to_owned()).collect()
}

/// SV-6: lists continue with `next` in JSON and with `Link` in text, up to their end.
#[test]
fn sv_6_lists_are_read_in_parts() {
    let service = Running::alone();
    let admin = service.admin();
    let hosts = ["a", "b", "c"].map(|name| world(&service, name));
    let list =
        |rest: &str, token: &str| Call::get(&format!("/v1/matches{rest}"), token).to(&service).is(200).json();
    let first = list("?limit=2", admin);
    assert_eq!((names(&first, "match"), &first["next"]), (vec!["a".into(), "b".into()], &json!("b")));
    let second = list("?after=b&limit=2", admin);
    assert_eq!((names(&second, "match"), &second["next"]), (vec!["c".into()], &Value::Null));
    assert_eq!(names(&list("", &hosts[1]), "match"), ["b"]);
    assert_eq!(list("?after=b", &hosts[1])["items"], json!([]));
    let commands = json!({"commands": vec!["tick 1"; 150]});
    let made = Call::post(&main_of("a", "entries"), &hosts[0], &commands).to(&service).is(201).json();
    assert_eq!(made["entries"].as_array().unwrap().len(), 150);
    let get = |rest: &str| Call::get(&main_of("a", rest), &hosts[0]).to(&service).is(200).json();
    let first = get("entries");
    assert_eq!((first["items"].as_array().unwrap().len(), &first["next"]), (100, &json!(100)));
    assert_eq!(get("entries?after=100")["items"][0]["seq"], 101);
    assert_eq!(get("entries?after=150")["items"], json!([]));
    let text = |path: &str| Call::get(path, &hosts[0]).with("accept", "text/plain").to(&service).is(200);
    let mut path = main_of("a", "entries?limit=60&as=p1");
    let mut lines = 0;
    let mut parts = 0;
    loop {
        let part: Answer = text(&path);
        (lines, parts) = (lines + part.body.lines().count(), parts + 1);
        let Some(link) = part.header("link") else { break };
        let (target, relation) = link.strip_prefix('<').unwrap().split_once(">; ").unwrap();
        assert_eq!(relation, "rel=\"next\"");
        path = target.to_owned();
    }
    assert_eq!((lines, parts), (150, 3));
    let branches = Call::get("/v1/matches/a/branches", &hosts[0]).to(&service).is(200).json();
    assert_eq!(names(&branches, "branch"), ["main"]);
}

/// SV-32: only the named origins may use the service, problems included. A preflight needs no token.
#[test]
fn sv_32_pages_of_named_origins_may_use_it() {
    let sandbox = Sandbox::new();
    let args =
        ["serve", "--listen", "127.0.0.1:0", "--cors", "https://a.example", "--cors", "https://b.example"];
    let service = Running::start_by(sandbox.command(args));
    let preflight = |origin: &str| {
        let call = Call::new("OPTIONS", &main_of("a", "entries"), "").with("origin", origin);
        let call = call.with("access-control-request-method", "POST");
        call.with("access-control-request-headers", "authorization,if-match,idempotency-key").to(&service)
    };
    let allowed = "access-control-allow-origin";
    for origin in ["https://a.example", "https://b.example"] {
        let answer = preflight(origin).is(200);
        assert_eq!(answer.header(allowed), Some(origin));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let headers = answer.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
        for name in [
            "authorization",
            "content-type",
            "if-match",
            "if-none-match",
            "idempotency-key",
            "last-event-id",
            "x-request-id",
        ] {
            assert!(headers.contains(name), "{headers}");
        }
        let methods = answer.header("access-control-allow-methods").unwrap();
        assert!(["GET", "POST", "DELETE"].iter().all(|method| methods.contains(method)), "{methods}");
        for (path, status) in [("/v1/rulesets", 200), ("/v1/matches", 401), ("/v1/no", 404)] {
            let answer = Call::get(path, "").with("origin", origin).to(&service).is(status);
            assert_eq!(answer.header(allowed), Some(origin), "{path}");
            let vary = answer
                .headers
                .iter()
                .filter(|(name, _)| name == "vary")
                .map(|(_, value)| value.to_lowercase());
            assert!(vary.collect::<String>().contains("origin"), "{answer:?}");
            let exposed = answer.header("access-control-expose-headers").unwrap().to_ascii_lowercase();
            for name in ["etag", "link", "location", "retry-after", "idempotency-replayed", "x-request-id"] {
                assert!(exposed.contains(name), "{exposed}");
            }
        }
    }
    for origin in ["https://c.example", "http://a.example", "null", "https://a.example.org"] {
        assert_eq!(preflight(origin).header(allowed), None);
        let answer = Call::get("/v1/rulesets", "").with("origin", origin).to(&service).is(200);
        assert_eq!(answer.header(allowed), None);
    }
}

/// SV-25: a link has the token after `#`, so no server gets it. The token is shown only once.
#[test]
fn sv_25_grants_show_their_token_once() {
    let service = Running::alone();
    let host = world(&service, "a");
    let path = "/v1/matches/a/grants";
    for (grant, letter) in [
        (json!({"kind": "invitation", "seat": "p1", "label": "ä"}), 'i'),
        (json!({"kind": "seat", "seat": "p1", "expires": "366d"}), 't'),
        (json!({"kind": "spectator"}), 't'),
        (json!({"kind": "host", "expires": "90s"}), 't'),
    ] {
        let made = Call::post(path, &host, &grant).to(&service).is(201).json();
        let (token, id) = (made["token"].as_str().unwrap(), made["id"].as_str().unwrap());
        assert_eq!(made["link"], format!("{}/m/a#{letter}={token}", service.origin()));
        let listed = Call::get(path, &host).to(&service).is(200);
        assert!(!listed.body.contains(token));
        let listed = listed.json();
        let own = listed["items"].as_array().unwrap().iter().find(|own| own["id"] == id).unwrap().clone();
        assert_eq!((&own["kind"], &own["live"]), (&grant["kind"], &json!(true)), "{own}");
    }
    for grant in [
        json!({"kind": "admin"}),
        json!({"kind": "seat"}),
        json!({"kind": "seat", "seat": "host"}),
        json!({"kind": "host", "seat": "p1"}),
        json!({"kind": "spectator", "delay": "1h"}),
        json!({"kind": "host", "expires": "0s"}),
        json!({"kind": "host", "expires": "1w"}),
        json!({"kind": "host", "expires": "1ä"}),
        json!({"kind": "host", "expires": ""}),
        json!({"kind": "host", "label": "x".repeat(65)}),
    ] {
        Call::post(path, &host, &grant).to(&service).problem(400, "bad_request");
    }
    for grant in [json!({"kind": "seat", "seat": "p8"}), json!({"kind": "host", "expires": "367d"})] {
        Call::post(path, &host, &grant).to(&service).problem(422, "content");
    }
    // SV-31: the maximum number of live grants for a seat.
    for _ in 2..8 {
        grant(&service, "a", &json!({"kind": "seat", "seat": "p1"}));
    }
    let more = Call::post(path, &host, &json!({"kind": "seat", "seat": "p1"}));
    more.to(&service).problem(429, "slow_down");
}
