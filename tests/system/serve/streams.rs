//! Streams: how they begin and end, and what each token may follow (SV-17 to SV-20, SV-28).

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::http::{Call, Event, Events, create, grant, main_of};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

fn world(service: &Running) -> String {
    create(service, "a", "hexcapture", &fixture("hexcapture", "small-world"))
}

fn tick(service: &Running, token: &str, branch: &str) -> u64 {
    let path = format!("/v1/matches/a/branches/{branch}/entries");
    let body = Call::post(&path, token, &json!({"commands": ["host: tick 1"]})).to(service).is(201).json();
    body["head"].as_u64().unwrap()
}

fn follow(service: &Running, token: &str, rest: &str) -> Events {
    Events::open(service, &Call::get(&main_of("a", &format!("events{rest}")), token))
}

/// SV-18: the id of an event has the head, and its tag is the tag of the view at that head.
#[test]
fn sv_18_an_event_states_head_tag_and_entries() {
    let service = Running::alone();
    let host = world(&service);
    let mut events = follow(&service, &host, "");
    assert_eq!(tick(&service, &host, "main"), 1);
    let event = events.next().unwrap();
    let view = Call::get(&main_of("a", "view"), &host).to(&service).is(200);
    let list = Call::get(&main_of("a", "entries"), &host).to(&service).is(200).json();
    assert_eq!((event.kind.as_str(), event.id), ("entries", Some(1)));
    assert_eq!(event.data["tag"].as_str(), view.header("etag"));
    assert_eq!((&event.data["head"], &event.data["entries"]), (&json!(1), &list["items"]));
}

/// SV-19: a stream resumes after a head, given by header or query. A head beyond the last is refused, and so are more
/// than 1,000 records.
#[test]
fn sv_19_a_stream_goes_on_after_the_last_event() {
    let service = Running::alone();
    let host = world(&service);
    for _ in 0..3 {
        tick(&service, &host, "main");
    }
    let seqs = |event: Event| -> Vec<u64> {
        let entries = event.data["entries"].as_array().unwrap();
        entries.iter().map(|record| record["seq"].as_u64().unwrap()).collect()
    };
    assert_eq!(seqs(follow(&service, &host, "?after=1").next().unwrap()), [2, 3]);
    let call = Call::get(&main_of("a", "events?after=0"), &host);
    let resumed = call.clone().with("last-event-id", "2");
    assert_eq!(seqs(Events::open(&service, &resumed).next().unwrap()), [3]);
    assert_eq!(
        seqs(Events::open(&service, &call.clone().with("last-event-id", "")).next().unwrap()),
        [1, 2, 3]
    );
    call.clone().with("last-event-id", "4").to(&service).problem(404, "no_entry");
    call.clone().with("last-event-id", "x").to(&service).problem(400, "bad_request");
    call.with("accept", "application/json").to(&service).problem(406, "accept");
    let many = json!({"commands": vec!["tick 1"; 1000]});
    Call::post(&main_of("a", "entries"), &host, &many).to(&service).is(201);
    let event = follow(&service, &host, "?after=2").next().unwrap();
    assert_eq!((event.id, &event.data["entries"]), (Some(1003), &json!(null)));
}

/// SV-19: an event's id names the history. If another history of the same length takes its place, a client does not get
/// the rest of that history. A restart of the service changes nothing.
#[test]
fn sv_19_a_stream_does_not_go_on_in_another_history() {
    let sandbox = Sandbox::new();
    let mut service = Running::start(&sandbox);
    let host = world(&service);
    let spectator = grant(&service, "a", &json!({"kind": "spectator"}));
    let branches = "/v1/matches/a/branches";
    let make = |service: &Running| {
        let side = json!({"name": "side", "from": "main"});
        Call::post(branches, &host, &side).to(service).is(201);
        for _ in 0..3 {
            tick(service, &host, "side");
        }
    };
    let resumed = |token: &str, id: &str| {
        Call::get(&format!("{branches}/side/events"), token).with("last-event-id", id)
    };
    make(&service);
    for token in [&host, &spectator] {
        // A client can resume from the frames and from each event.
        let frames = Call::get(&format!("{branches}/side/frames"), token).to(&service).is(200).json();
        let of_frames = frames["event_id"].as_str().unwrap().to_owned();
        let after = Call::get(&format!("{branches}/side/events?after=0"), token);
        let event = Events::open(&service, &after).next().unwrap();
        let of_event = format!("{}-{}", event.id.unwrap(), event.mark);
        assert_eq!(of_frames, of_event);
        let earlier = Call::get(&format!("{branches}/side/events?after={of_event}"), token);
        let mut events =
            [Events::open(&service, &resumed(token, &of_frames)), Events::open(&service, &earlier)];
        let head = tick(&service, &host, "side");
        let ids = events.each_mut().map(|events| events.next().unwrap());
        assert_eq!(ids.each_ref().map(|event| event.id), [Some(head); 2]);
        let last = format!("{head}-{}", ids[0].mark);
        let ids = [of_event, last];
        service.kill();
        service = Running::start(&sandbox);
        for id in &ids {
            drop(Events::open(&service, &resumed(token, id)));
        }
        Call::new("DELETE", &format!("{branches}/side"), &host).to(&service).is(204);
        make(&service);
        for _ in 0..3 {
            tick(&service, &host, "side");
        }
        for id in &ids {
            resumed(token, id).to(&service).problem(410, "gone");
            Call::get(&format!("{branches}/side/events?after={id}"), token).to(&service).problem(410, "gone");
        }
        // A head alone does not name a history.
        drop(Events::open(&service, &resumed(token, "3")));
        resumed(token, &format!("99-{}", "0".repeat(16))).to(&service).problem(410, "gone");
        resumed(token, "3-x").to(&service).problem(400, "bad_request");
    }
}

/// SV-20: the streams of a revoked or expired grant end, even on a busy branch.
#[test]
fn sv_20_streams_end_with_their_grants() {
    let service = Running::alone();
    let host = world(&service);
    let revoked = service.grant("a", r#"{"kind":"spectator"}"#);
    let expiring = grant(&service, "a", &json!({"kind": "spectator", "expires": "1s"}));
    let mut other = follow(&service, &host, "");
    let mut expired = follow(&service, &expiring, "");
    // The grant expires while nothing is sent.
    assert_eq!(expired.next(), None);
    Call::get("/v1/matches/a", &expiring).to(&service).problem(401, "no_token");
    let token = revoked["token"].as_str().unwrap();
    let mut events = follow(&service, token, "");
    let mut unread = follow(&service, token, "");
    tick(&service, &host, "main");
    assert_eq!(events.next().unwrap().id, Some(1));
    let id = revoked["id"].as_str().unwrap();
    Call::new("DELETE", &format!("/v1/matches/a/grants/{id}"), &host).to(&service).is(204);
    for _ in 0..20 {
        tick(&service, &host, "main");
    }
    assert_eq!(events.next(), None);
    // Earlier events may still arrive, but no later ones.
    while let Some(event) = unread.next() {
        assert_eq!(event.id, Some(1));
    }
    // Other streams continue.
    let mut last = None;
    while last != Some(21) {
        last = other.next().unwrap().id;
    }
}

/// SV-20: a stream sends `gone` if the branch is deleted, and `bye` if the service ends with exit code 0 (SV-28).
#[test]
fn sv_20_streams_send_gone_and_bye() {
    let sandbox = Sandbox::new();
    let mut service = Running::start(&sandbox);
    let host = world(&service);
    let branches = "/v1/matches/a/branches";
    Call::post(branches, &host, &json!({"name": "side", "from": "main"})).to(&service).is(201);
    let mut gone = Events::open(&service, &Call::get(&format!("{branches}/side/events"), &host));
    let mut bye = follow(&service, &host, "");
    tick(&service, &host, "side");
    Call::new("DELETE", &format!("{branches}/side"), &host).to(&service).is(204);
    let kinds = |events: &mut Events| -> Vec<String> {
        std::iter::from_fn(|| events.next()).map(|event| event.kind).collect()
    };
    let sent = kinds(&mut gone);
    assert_eq!(sent.last().map(String::as_str), Some("gone"), "{sent:?}");
    // A new branch of the same name is another branch.
    Call::post(branches, &host, &json!({"name": "side", "from": "main"})).to(&service).is(201);
    assert_eq!(tick(&service, &host, "side"), 1);
    tick(&service, &host, "main");
    terminate(&service);
    assert_eq!(kinds(&mut bye), ["entries", "bye"]);
    assert_eq!(service.wait().code(), Some(0));
}

/// Sends SIGTERM.
pub(super) fn terminate(service: &Running) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(service.pid()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

/// SV-31: a token has at most eight streams, and a stream that ends makes room.
#[test]
fn sv_31_a_token_has_at_most_eight_streams() {
    let service = Running::alone();
    world(&service);
    let seat = grant(&service, "a", &json!({"kind": "spectator"}));
    let player = grant(&service, "a", &json!({"kind": "host"}));
    let streams: Vec<_> = (0..8).map(|_| follow(&service, &player, "")).collect();
    let one_more = Call::get(&main_of("a", "events"), &player);
    let refused = one_more.to(&service).problem(429, "slow_down");
    assert!(refused.header("retry-after").is_some());
    drop(follow(&service, &seat, ""));
    drop(streams);
    while one_more
        .open(service.origin())
        .map(|mut reader| super::http::Answer::read_head(&mut reader))
        .unwrap()
        .unwrap()
        .status
        != 200
    {
        thread::sleep(Duration::from_millis(10));
    }
}
