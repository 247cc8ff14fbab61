//! Branches whose state was evicted from memory respond as before (SV-27).

use serde_json::{Value, json};

use super::http::{Answer, Call, Events, create, grant};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const MATCHES: [&str; 3] = ["ant", "bee", "cow"];

/// Starts a service with the smallest cache.
fn forgetful(sandbox: &Sandbox) -> Running {
    Running::start_by(sandbox.command(["serve", "--listen", "127.0.0.1:0", "--cache", "0"]))
}

/// Returns the responses of a match to its host and to p1.
fn answers(service: &Running, match_name: &str, tokens: &[String]) -> Vec<(u16, String, Option<String>)> {
    let rests = ["view", "view?at=1", "entries", "legal", "picture.svg", "view?at=99", "events?after=99"];
    let answer = |token: &String, rest: &str| {
        let path = format!("/v1/matches/{match_name}/branches/main/{rest}");
        let Answer { status, body, headers } =
            Call::get(&path, token).with("x-request-id", "same").to(service);
        let tag = headers.into_iter().find(|(name, _)| name == "etag").map(|(_, tag)| tag);
        (status, body, tag)
    };
    tokens.iter().flat_map(|token| rests.map(|rest| answer(token, rest))).collect()
}

fn play(service: &Running, match_name: &str, token: &str, command: &str, tag: Option<&str>) -> Answer {
    let path = format!("/v1/matches/{match_name}/branches/main/entries");
    let call = Call::post(&path, token, &json!({"commands": [command], "roll": false}));
    tag.map_or_else(|| call.clone(), |tag| call.clone().with("if-match", tag)).to(service)
}

/// SV-27: without room for a single state, every match evicts the last one.
#[test]
fn sv_27_a_match_that_was_evicted_answers_as_before() {
    let sandbox = Sandbox::new();
    let service = forgetful(&sandbox);
    let setup = fixture("cycletap", "ford");
    let tokens = MATCHES.map(|name| {
        let host = create(&service, name, "cycletap", &setup);
        let p1 = grant(&service, name, &json!({"kind": "seat", "seat": "p1"}));
        play(&service, name, &p1, "tap 0,0", None).is(201);
        [host, p1]
    });
    // Each match is read after the others evicted it.
    let shown = || MATCHES.iter().zip(&tokens).map(|(name, tokens)| answers(&service, name, tokens));
    let before: Vec<_> = shown().collect();
    assert_eq!(shown().collect::<Vec<_>>(), before);
    let statuses: Vec<_> = before[0].iter().map(|(status, ..)| *status).collect();
    assert_eq!(statuses[..7], [200, 200, 200, 200, 200, 404, 404]);
    // Followers still get every event, and an earlier tag is still valid.
    let mut streams: Vec<_> = MATCHES
        .iter()
        .zip(&tokens)
        .map(|(name, [_, p1])| {
            Events::open(&service, &Call::get(&format!("/v1/matches/{name}/branches/main/events"), p1))
        })
        .collect();
    for round in 0..3 {
        for ((name, [_, p1]), stream) in MATCHES.iter().zip(&tokens).zip(&mut streams) {
            let view = Call::get(&format!("/v1/matches/{name}/branches/main/view"), p1).to(&service).is(200);
            let tag = view.header("etag").unwrap().to_owned();
            // Reading the other matches evicts this one.
            shown().for_each(drop);
            let command = if round % 2 == 0 { "back" } else { "tap 0,0" };
            let played = play(&service, name, p1, command, Some(&tag)).is(201).json();
            let event = stream.next().unwrap();
            assert_eq!(event.id, played["head"].as_u64());
            for member in ["seq", "command", "outcome", "reason", "effects"] {
                assert_eq!(event.data["entries"][0][member], played["entries"][0][member], "{member}");
            }
            assert_eq!(event.data["head"], json!(round + 2));
        }
    }
    // The log contains only the played entries, and a service with a large cache responds the same.
    let last: Vec<Vec<(u16, String, Option<String>)>> = shown().collect();
    let heads = |service: &Running| -> Vec<Value> {
        let head = |(name, [host, _]): (&&str, &[String; 2])| {
            Call::get(&format!("/v1/matches/{name}"), host).to(service).is(200).json()["head"].clone()
        };
        MATCHES.iter().zip(&tokens).map(head).collect()
    };
    assert_eq!(heads(&service), [json!(4), json!(4), json!(4)]);
    drop(streams);
    drop(service);
    let roomy = Running::start(&sandbox);
    let after: Vec<_> =
        MATCHES.iter().zip(&tokens).map(|(name, tokens)| answers(&roomy, name, tokens)).collect();
    assert_eq!(after, last);
}
