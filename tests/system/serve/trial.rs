//! Trials of commands on what a viewer knows, with fresh dice and without recording (VW-46).

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::http::{Answer, Call, create, grant, import, main_of};
use turnfold_tests::fixture;
use turnfold_tests::goldens::{goldens, viewers};
use turnfold_tests::service::Running;

/// The first roll of a match of `initiative`.
const ROLL: &str = "host: roll 6 5 4 3";

fn try_out(service: &Running, token: &str, body: &Value) -> Answer {
    Call::post(&main_of("duel", "trial"), token, body).to(service)
}

fn duel(service: &Running) -> String {
    create(service, "duel", "initiative", &fixture("initiative", "small-board"))
}

/// Returns a legal command of a seat after a trial.
fn next_of(trial: &Value, seat: &str) -> Option<String> {
    let mut legal = trial["legal"].as_array().unwrap().iter();
    let found = legal.find(|legal| legal["seat"] == seat)?;
    Some(format!("{seat}: {}", found["command"].as_str().unwrap()))
}

#[test]
fn vw_46_what_is_tried_out_is_shown_and_not_recorded() {
    let service = Running::alone();
    let host = duel(&service);
    let seat = grant(&service, "duel", &json!({"kind": "seat", "seat": "p1"}));
    let first = try_out(&service, &seat, &json!({"commands": []})).is(200).json();
    assert_eq!(
        (&first["viewer"], &first["after"], &first["due_roll"]),
        (&json!("p1"), &json!(0), &json!(null))
    );
    let rolls: Vec<_> = first["commands"].as_array().unwrap().clone();
    assert!(rolls.iter().all(|roll| roll.as_str().unwrap().starts_with("host: roll ")), "{rolls:?}");
    assert!(!rolls.is_empty() && first["frames"].as_array().unwrap().len() == rolls.len());

    // The trial continues with legal commands of every seat, and earlier rolls stay the same.
    let (mut commands, mut last) = (rolls, first);
    for _ in 0..6 {
        let next = ["p1", "p2", "host"].iter().find_map(|seat| next_of(&last, seat)).unwrap();
        commands.push(json!(next));
        last = try_out(&service, &seat, &json!({"after": 0, "commands": commands})).is(200).json();
        let played = last["commands"].as_array().unwrap();
        assert_eq!(played[..commands.len()], commands);
        commands.clone_from(played);
    }
    assert!(!last["frames"].as_array().unwrap().is_empty());
    assert_eq!(last["now"]["over"], false);
    let again = try_out(&service, &seat, &json!({"commands": commands})).is(200).json();
    assert_eq!(again, last);

    let log = Call::get(&main_of("duel", "entries"), &host).to(&service).is(200).json();
    assert_eq!(log["items"], json!([]), "nothing is recorded");
}

/// The dice of a trial are fresh, and the seed of the match does not affect them.
#[test]
fn vw_46_no_coming_roll_is_tried_out() {
    let made = ["1", "2"].map(|digit| {
        let service = Running::alone();
        let setup = fixture("initiative", "small-board");
        let body = json!({"name": "duel", "ruleset": "initiative", "setup": setup, "dice": "seeded",
            "seed": digit.repeat(64)});
        let made = Call::post("/v1/matches", service.admin(), &body).to(&service).is(201).json();
        (service, made["token"].as_str().unwrap().to_owned())
    });
    let with =
        |body: Value| made.each_ref().map(|(service, host)| try_out(service, host, &body).is(200).body);
    let left = with(json!({"commands": [], "roll": false}));
    assert_eq!(left[0], left[1]);
    let due: Value = serde_json::from_str(&left[0]).unwrap();
    assert_eq!((&due["commands"], &due["frames"]), (&json!([]), &json!([])));
    assert_eq!(due["due_roll"]["count"], 4, "{}", due["due_roll"]);
    let given = with(json!({"commands": [ROLL], "roll": false}));
    assert_eq!(given[0], given[1]);
    let rolled: BTreeSet<_> = (0..8).flat_map(|_| with(json!({"commands": []}))).collect();
    assert!(rolled.len() > 8, "the same dice fall again and again");
}

#[test]
fn vw_46_what_is_refused_is_named() {
    let service = Running::alone();
    let host = duel(&service);
    let body = json!({"commands": [ROLL, "p1: move 9,9", "host: next-turn"]});
    let refused = try_out(&service, &host, &body).problem(409, "rejected").json();
    assert_eq!((&refused["index"], &refused["record"]["command"]), (&json!(1), &json!("move 9,9")));
    assert_eq!(refused["record"]["state_hash"], json!(null));
    try_out(&service, &host, &json!({"commands": ["p1: jump"]})).problem(422, "malformed");
    try_out(&service, &host, &json!({"after": 1, "commands": []})).problem(404, "no_entry");
    try_out(&service, &host, &json!({"commands": vec!["p1: move 0,0"; 501]})).problem(400, "bad_request");
    try_out(&service, &host, &json!({"commands": [], "seed": 1})).problem(400, "bad_request");
    try_out(&service, "", &json!({"commands": []})).problem(401, "no_token");
}

/// Every viewer of every game can begin a trial at any entry, and the trial shows the board that the viewer saw there.
#[test]
fn vw_46_a_trial_begins_with_what_was_seen() {
    let service = Running::alone();
    let mut begun = BTreeSet::new();
    for path in goldens() {
        let text = fs::read_to_string(&path).unwrap();
        let ruleset = path.parent().unwrap().file_name().unwrap().to_owned();
        // The desk is not a game, and one file of each ruleset is enough.
        if ruleset == "desk" || !begun.insert(ruleset) {
            continue;
        }
        let name = format!("golden-{}", begun.len());
        let host = import(&service, &name, &text);
        let head = Call::get(&format!("/v1/matches/{name}"), &host).to(&service).is(200).json();
        let head = head["head"].as_u64().unwrap();
        for viewer in viewers(&path, &text) {
            for after in [0, head / 3, head / 2, head] {
                let get = |rest: &str| {
                    let path = main_of(&name, &format!("{rest}as={viewer}"));
                    Call::get(&path, &host).to(&service)
                };
                let seen = get(&format!("frames?after={after}&at={after}&"));
                let body = json!({"after": after, "commands": [], "roll": false});
                let trial =
                    Call::post(&main_of(&name, &format!("trial?as={viewer}")), &host, &body).to(&service);
                assert_eq!(trial.status, seen.status, "{path:?} as {viewer} after {after}: {trial:?}");
                if trial.status == 200 {
                    assert_eq!(
                        trial.json()["picture"],
                        seen.json()["picture"],
                        "{path:?} as {viewer} after {after}"
                    );
                    assert_eq!(trial.json()["after"], after);
                }
            }
        }
    }
    assert_eq!(begun.len(), 5, "{begun:?}");
}
