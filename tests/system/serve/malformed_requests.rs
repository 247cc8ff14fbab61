//! Requests that are refused because of HTTP or their form (SV-5, SV-7, SV-31).

use serde_json::json;

use super::http::{Call, main_of};
use super::problems::ford;
use turnfold_tests::fixture;
use turnfold_tests::service::Running;

/// SV-7, SV-5: the status and code for each malformed request.
#[test]
fn sv_5_requests_of_another_form_are_refused() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let entries = main_of("ford", "entries");
    let refused = Call::new("PUT", "/v1/matches", &host).to(&service).problem(405, "method");
    assert!(refused.header("allow").is_some_and(|allow| allow.contains("GET") && allow.contains("POST")));
    Call::get("/v1/matches", &host).with("accept", "text/csv").to(&service).problem(406, "accept");
    Call::get(&entries, &host).with("accept", "application/json;q=0").to(&service).problem(406, "accept");
    let bodies = [
        "",
        "{",
        "7",
        "null",
        "[]",
        "{\"commands\":[],\"commands\":[]}",
        "{\"commands\":[],\"more\":1}",
        "{\"commands\":null}",
        "{\"commands\":[],\"roll\":null}",
        "{\"commands\":[7]}",
        "{\"commands\":[],\"roll\":1}",
        "{\"commands\":[]}x",
        "{}",
    ];
    for body in bodies {
        let call = Call::new("POST", &entries, &host).body("application/json", body);
        call.to(&service).problem(400, "bad_request");
    }
    let numbers = json!({"kind": "seat", "seat": "p2", "expires": 7});
    Call::post("/v1/matches/ford/grants", &host, &numbers).to(&service).problem(400, "bad_request");
    for query in ["at=x", "at=-1", "at=1&at=2", "no=1", "as=p17", "at=", "at=1.0"] {
        let path = main_of("ford", &format!("view?{query}"));
        Call::get(&path, &host).to(&service).problem(400, "bad_request");
    }
    for path in [
        "/v1/matches?limit=0",
        "/v1/matches?limit=1001",
        "/v1/matches?after=A",
        "/v1/matches/A",
        "/v1/matches/%FF",
    ] {
        Call::get(path, &host).to(&service).problem(400, "bad_request");
    }
    for media_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let call = Call::new("POST", &entries, &host).body(media_type, "{\"commands\":[]}");
        call.to(&service).problem(415, "media_type");
    }
    // A request that announces too many bytes is refused before it sends them.
    let large = Call::new("POST", &entries, &host).with("content-type", "application/json");
    large.with("content-length", "1048577").to(&service).problem(413, "too_large");
    let many = json!({"commands": vec!["tick 1"; 1001]});
    Call::post(&entries, &host, &many).to(&service).problem(400, "bad_request");
    for key in ["", " ", "a b", "\"\"", "\"", "\"a", &"k".repeat(121), "ä"] {
        let call = Call::post(&entries, &host, &json!({"commands": []})).with("idempotency-key", key);
        call.to(&service).problem(400, "bad_request");
    }
    let tags = Call::post(&entries, &host, &json!({"commands": []})).with("if-match", "abc");
    tags.to(&service).problem(400, "bad_request");
    // SV-4: hyper itself refuses this request, without a problem.
    let header = Call::get("/v1/matches", &host).with("x-large", &"x".repeat(20_000)).to(&service);
    assert_eq!((header.status, header.body.as_str()), (431, ""));
}

/// SV-5: a list of an object's values does not count as the object, and the request does nothing.
#[test]
fn sv_5_a_list_stands_for_no_object() {
    let service = Running::alone();
    let [host, p1, _] = ford(&service);
    let posts = [
        (
            "/v1/matches",
            service.admin(),
            json!(["list", "cycletap", fixture("cycletap", "ford"), "recorded"]),
        ),
        ("/v1/matches/ford/branches", &host, json!(["list", "main:0"])),
        ("/v1/matches/ford/branches/main/entries", &p1, json!([["tap 0,1"], true])),
    ];
    for (path, token, body) in posts {
        let list = Call::new("POST", path, token).body("application/json", &format!(" \r\n\t{body}"));
        let refused = list.to(&service).problem(400, "bad_request").json();
        assert_eq!(refused["detail"], "the body: expected an object");
    }
    let shown = Call::get("/v1/matches/ford", &host).to(&service).is(200).json();
    assert_eq!((&shown["head"], shown["branches"].as_array().map(Vec::len)), (&json!(0), Some(1)), "{shown}");
    let object = " \r\n\t{\"commands\":[\"tap 0,1\"]}";
    let call = Call::new("POST", &main_of("ford", "entries"), &p1).body("application/json", object);
    call.to(&service).is(201);
}

/// SV-7, SV-31: 408 if a body does not arrive.
#[test]
fn sv_31_a_body_that_does_not_come_is_not_waited_for() {
    let service = Running::alone();
    let [host, ..] = ford(&service);
    let call = Call::new("POST", &main_of("ford", "entries"), &host).with("content-type", "application/json");
    call.with("content-length", "7").to(&service).problem(408, "timeout");
}
