//! Attacks: what a seat could try out and undo (SV-10 to SV-12).

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::http::{Call, create, grant, main_of};
use turnfold_tests::fixture;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

/// Creates a match with seeded dice whose roll is due, and returns the tokens of the host and p1.
fn due(service: &Running, seed: &str) -> (String, String) {
    let setup = fixture("initiative", "small-board");
    let body = json!({"name": "due", "ruleset": "initiative", "setup": setup, "dice": "seeded", "seed": seed.repeat(64)});
    let made = Call::post("/v1/matches", service.admin(), &body).to(service).is(201).json();
    let host = made["token"].as_str().unwrap().to_owned();
    (host, grant(service, "due", &json!({"kind": "seat", "seat": "p1"})))
}

/// SV-10: with several commands, or with a roll before a rejected command, a seat could see dice and undo the roll.
#[test]
fn sv_10_a_seat_cannot_try_dice_by_commands_that_are_rejected() {
    let tried = ["3", "9"].map(|seed| {
        let sandbox = Sandbox::new();
        let service = Running::start(&sandbox);
        let (host, p1) = due(&service, seed);
        let entries = main_of("due", "entries");
        let mut answers = String::new();
        for commands in [
            json!({"commands": ["p1: move 0,0", "p1: move 0,0"]}),
            json!({"commands": ["p1: move 0,0"]}),
            json!({"commands": ["p1: select nothing"]}),
            json!({"commands": ["jump"]}),
            json!({"commands": ["host: next-turn"]}),
            json!({"commands": ["roll 1 2 3 4"]}),
            json!({"commands": ["roll 1 2 3 4"], "roll": false}),
            json!({"commands": [""]}),
        ] {
            for accept in ["application/json", "text/plain"] {
                let call = Call::post(&entries, &p1, &commands).with("accept", accept);
                let answer = call.with("x-request-id", "same").to(&service);
                assert!([403, 409, 422].contains(&answer.status), "{commands}: {answer:?}");
                assert!(!answer.body.contains("rolled"), "{commands}: {answer:?}");
                writeln!(answers, "{commands} {} {}", answer.status, answer.body).unwrap();
            }
        }
        // Nothing was rolled or recorded.
        let match_json = Call::get("/v1/matches/due", &host).to(&service).is(200).json();
        assert_eq!(match_json["head"], 0, "{match_json}");
        answers
    });
    assert_eq!(tried[0], tried[1], "whatever the seed, the same answers");
    assert!(tried[0].contains("at most 1 command"), "{}", tried[0]);
}

/// SV-10: any seat may request the due roll. It happens once, and is recorded before it is shown.
#[test]
fn sv_10_a_due_roll_is_recorded_before_it_is_shown() {
    let service = Running::alone();
    let (host, p1) = due(&service, "3");
    let entries = main_of("due", "entries");
    let without =
        Call::post(&entries, &p1, &json!({"commands": [], "roll": false})).to(&service).is(200).json();
    assert_eq!((&without["head"], &without["entries"]), (&json!(0), &json!([])));
    let rolled = Call::post(&entries, &p1, &json!({"commands": []})).to(&service).is(201).json();
    let made = rolled["entries"].as_array().unwrap();
    assert!(!made.is_empty() && made[0]["effects"][0]["effect"] == "rolled", "{rolled}");
    let again = Call::post(&entries, &p1, &json!({"commands": []})).to(&service).is(200).json();
    assert_eq!((&again["head"], &again["entries"]), (&rolled["head"], &json!([])));
    let listed = Call::get(&entries, &host).to(&service).is(200).json();
    assert_eq!(listed["items"].as_array().unwrap().len(), made.len());
}

/// SV-11: the host gives commands as the host, and for seats that no player has.
#[test]
fn sv_11_the_host_commands_only_for_seats_that_no_one_has() {
    let service = Running::alone();
    let host = create(&service, "ford", "cycletap", &fixture("cycletap", "ford"));
    let entries = main_of("ford", "entries");
    let tap = json!({"commands": ["p1: tap 0,1"]});
    Call::post(&entries, &host, &tap).to(&service).is(201);
    let invited = service.grant("ford", r#"{"kind":"invitation","seat":"p1"}"#);
    Call::post(&entries, &host, &tap).to(&service).problem(403, "forbidden");
    Call::post(&entries, &host, &json!({"commands": ["tap 0,0"]})).to(&service).problem(403, "forbidden");
    let id = invited["id"].as_str().unwrap();
    Call::new("DELETE", &format!("/v1/matches/ford/grants/{id}"), &host).to(&service).is(204);
    Call::post(&entries, &host, &json!({"commands": ["p1: tap 0,0"]})).to(&service).is(201);
}

/// SV-12: the service checks the seat before the idempotency key, and both before the expected head.
#[test]
fn sv_12_the_seat_answers_before_the_key_and_the_precondition() {
    let service = Running::alone();
    let host = create(&service, "ford", "cycletap", &fixture("cycletap", "ford"));
    let entries = main_of("ford", "entries");
    let post = |commands: &Value, expect: &str| {
        let call = Call::post(&format!("{entries}{expect}"), &host, &json!({"commands": commands}));
        call.with("idempotency-key", "once").to(&service)
    };
    let taps = json!(["p1: tap 0,1"]);
    post(&taps, "").is(201);
    assert_eq!(post(&taps, "?expect=9").is(200).header("idempotency-replayed"), Some("true"));
    service.grant("ford", r#"{"kind":"invitation","seat":"p1"}"#);
    // The same key with the same commands, with others, and with a wrong head.
    for commands in [&taps, &json!(["p1: tap 0,0"]), &json!(["end", "p1: tap 0,0"])] {
        post(commands, "?expect=9").problem(403, "forbidden");
    }
    // A command for `p1` that names no seat.
    let unnamed = json!({"commands": ["tap 0,0"]});
    Call::post(&format!("{entries}?expect=9"), &host, &unnamed).to(&service).problem(403, "forbidden");
    // For a seat that no player has, the service checks the key, then the head, then the rules.
    post(&json!(["p2: tap 9,9"]), "?expect=9").problem(422, "key_reused");
    let of_p2 = json!({"commands": ["p2: tap 9,9"]});
    Call::post(&format!("{entries}?expect=9"), &host, &of_p2).to(&service).problem(412, "moved");
    Call::post(&entries, &host, &of_p2).to(&service).problem(409, "rejected");
}
