//! Every operation has a committed sample of a request and its answer, and every request gets an answer, whatever its
//! bytes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use turnfold_core::any::erase;
use turnfold_core::dice::DiceStream;
use turnfold_core::{CommandSource, DicePolicy, Logged, Seat};
use turnfold_games::initiative::Initiative;
use turnfold_guest::answer;

fn answer_to(request: &str) -> Value {
    serde_json::from_str(&answer::<Initiative>(request.as_bytes())).unwrap()
}

fn bytes(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Folds commands of a match with two units natively, and returns the state.
fn state_after(commands: &[(Seat, &str)]) -> String {
    let rules = erase::<Initiative>();
    let setup = rules.read_setup(rules.example()).unwrap();
    let mut state = rules.start(&setup).unwrap();
    for (seat, command) in commands {
        let entry = Logged { seq: 1, seat: *seat, command: CommandSource::Text(command) };
        state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).unwrap();
    }
    bytes(&state.state_bytes())
}

/// Returns a request for each operation, in the order of `PROTOCOL.md`: the name of its file, the operation and its
/// arguments.
fn requests() -> Vec<(&'static str, &'static str, String)> {
    let rules = erase::<Initiative>();
    let setup = bytes(&rules.read_setup(rules.example()).unwrap());
    let first = state_after(&[]);
    let at = state_after(&[(Seat::Host, "roll 1 2 3 4"), (Seat::P1, "confirm")]);
    let entries = r#"[{"seat":"host","command":"roll 1 2 3 4"},{"seat":"p1","bytes":"Ag=="},{"seat":"p1","command":"move 9,9"},{"seat":"p2","command":"stand"}]"#;
    let all = format!(r#"{{"state":"{first}","entries":{entries},"want":"all"}}"#);
    let shown = format!(r#"{{"state":"{first}","entries":{entries},"viewer":"p1","now":"{at}"}}"#);
    let commands = r#"{"commands":["stand","move 1,x"],"bytes":["Ag=="],"roll":[6,5,4,3]}"#;
    let of_state = |args: &str| format!(r#"{{"state":"{at}",{args}}}"#);
    vec![
        ("hello", "hello", r#"{"protocol":1}"#.into()),
        ("setup_of_json", "setup", r#"{"json":{"radius":2}}"#.into()),
        ("setup_of_bytes", "setup", format!(r#"{{"setup":"{setup}"}}"#)),
        ("command", "command", commands.into()),
        ("start", "start", format!(r#"{{"setup":"{setup}"}}"#)),
        ("fold", "fold", all),
        ("resume", "fold", of_state(r#""entries":[],"want":"last""#)),
        ("show", "show", shown),
        ("choices", "choices", of_state(r#""seats":["p1"]"#)),
        ("see", "see", of_state(r#""viewers":["spectator"],"what":["view","picture"]"#)),
        ("read", "read", of_state(r#""text":"stand""#)),
        ("query", "query", of_state(r#""viewer":"p1","question":"order 3 5""#)),
        ("targets", "targets", of_state(r#""commands":["move 1,1"]"#)),
        ("setup_seen", "setup_seen", of_state(&format!(r#""setup":"{setup}","viewer":"p1""#))),
    ]
}

fn request(op: &str, args: &str) -> String {
    format!(r#"{{"id":1,"op":"{op}","args":{args}}}"#)
}

/// RF-2, MD-4: `SNAPSHOTS=overwrite` rewrites a file that differs.
#[test]
fn rf_2_every_operation_has_a_request_and_an_answer_that_do_not_change() {
    let samples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples");
    let mut names = Vec::new();
    for (name, op, args) in requests() {
        let request = request(op, &args);
        let sample = format!("{request}\n{}\n", answer::<Initiative>(request.as_bytes()));
        let path = samples.join(format!("{name}.jsonl"));
        if option_env!("SNAPSHOTS") == Some("overwrite") {
            fs::write(&path, &sample).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), sample, "{name}");
        assert!(sample.lines().nth(1).unwrap().starts_with(r#"{"id":1,"ok":"#), "{name}");
        names.push(format!("{name}.jsonl"));
    }
    let mut files: Vec<String> = Vec::new();
    for file in fs::read_dir(&samples).unwrap() {
        files.push(file.unwrap().file_name().into_string().unwrap());
    }
    files.sort();
    names.sort();
    assert_eq!(files, names);
    // `hello` names the optional operations that are offered.
    let can = answer_to(&request("hello", "{}"))["ok"]["can"].clone();
    for op in can.as_array().unwrap() {
        assert!(names.contains(&format!("{}.jsonl", op.as_str().unwrap())), "{op}");
    }
}

/// MD-7: the answer to an invalid request is a fault with a message, and the guest continues.
#[test]
fn md_7_no_bytes_make_a_guest_panic() {
    let mut chance = DiceStream::new(&[7; 32], 0);
    let (mut answers, mut faults) = (0, 0);
    for (_, op, args) in requests() {
        let request = request(op, &args).into_bytes();
        for _ in 0..200 {
            let mut broken = request.clone();
            let place = |chance: &mut DiceStream| {
                usize::try_from(chance.draw(0, i32::try_from(request.len() - 1).unwrap())).unwrap()
            };
            match chance.draw(0, 2) {
                0 => broken.truncate(place(&mut chance)),
                1 => broken[place(&mut chance)] = u8::try_from(chance.draw(0, 255)).unwrap(),
                _ => broken[place(&mut chance)] = b"0aA\"}{]["[usize::try_from(chance.draw(0, 7)).unwrap()],
            }
            let text = answer::<Initiative>(&broken);
            assert!(!text.contains('\n'), "{text}");
            let reply: Value = serde_json::from_str(&text).unwrap();
            let is_one = ["ok", "no", "fault"].iter().filter(|kind| reply.get(kind).is_some()).count() == 1;
            assert!(is_one && reply["id"].is_u64(), "{reply}");
            answers += 1;
            faults += usize::from(reply["fault"].as_str().is_some_and(|why| !why.is_empty()));
        }
    }
    assert!(faults > answers / 3 && faults < answers, "{faults} of {answers}");
    for request in [&b""[..], b"[", &vec![b'['; 100_000], b"null", b"\xff"] {
        assert!(answer::<Initiative>(request).starts_with(r#"{"id":0,"fault":"#));
    }
    assert_eq!(answer_to(r#"{"id":7,"op":"?"}"#), json!({ "id": 7, "fault": "unknown operation `?`" }));
    assert_eq!(
        answer_to(r#"{"id":7,"op":"see"}"#),
        json!({ "id": 7, "fault": "the request has no `state`" })
    );
}

/// A long log is folded in several requests, each of which continues where the previous one ended.
#[test]
fn a_fold_ends_early_where_its_answer_grows_large() {
    let rules = erase::<Initiative>();
    let mut toml = String::from("radius = 20\n");
    for number in 0..400 {
        let (q, r) = (number % 30 - 15, number / 30 - 10);
        if q + r >= -20 && q + r <= 20 {
            writeln!(
                toml,
                "[[units]]\nid = \"unit-of-a-long-name-{number}\"\nowner = \"p1\"\nat = [{q}, {r}]"
            )
            .unwrap();
        }
    }
    let mut state = rules.start(&rules.read_setup(&toml).unwrap()).unwrap();
    let mut at = bytes(&state.state_bytes());
    let mut commands = vec![(Seat::Host, "roll 1 2 3 4")];
    commands.resize(1000, (Seat::P1, "cycle"));
    let (mut requests, mut folded) = (0, 0);
    while folded < commands.len() {
        let mut entries = Vec::new();
        for (seat, command) in &commands[folded..] {
            entries.push(json!({ "seat": seat.name(), "command": command }));
        }
        let reply = answer_to(&request("fold", &json!({ "state": at, "entries": entries }).to_string()));
        assert_eq!(reply["ok"].get("stop"), None);
        folded += reply["ok"]["steps"].as_array().unwrap().len();
        at = reply["ok"]["state"].as_str().unwrap().to_owned();
        requests += 1;
    }
    for (seat, command) in commands {
        let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
        state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).unwrap();
    }
    assert!(requests > 5, "{requests}");
    assert_eq!(at, bytes(&state.state_bytes()));
}
