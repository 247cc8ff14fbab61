//! A referee of a small game, like a user's program in another language (RF-1). It reads a request from each line of
//! its standard input, and answers each with a line on its standard output. Its argument names the way in which it
//! breaks the protocol.
//!
//! In the game `sums`, p1 and p2 take turns to add a number to a sum. A sum that ends in 5 makes a roll due, which is
//! also added. The match is over from 30. `think TEXT` is shown only to the seat that gives it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a referee that is asked something else may end"
)]
#![expect(clippy::print_stdout, reason = "it answers there")]

mod port;

use std::env;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::net::TcpStream;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

/// The sum at which the match is over.
const END: i64 = 30;

fn main() {
    let mut fault = env::args().nth(1).unwrap_or_default();
    if fault == "banner" {
        println!("Sums Engine 1.0\n");
    }
    let (requests, mut answers): (Box<dyn BufRead>, Box<dyn Write>) = if fault == "connect" {
        // `connect PORT FAULT` does not use the pipe, and prints arbitrary text to standard output.
        println!("Sums Engine 1.0\n");
        let port: u16 = env::args().nth(2).unwrap().parse().unwrap();
        fault = env::args().nth(3).unwrap_or_default();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        (Box::new(BufReader::new(stream.try_clone().unwrap())), Box::new(stream))
    } else {
        (Box::new(stdin().lock()), Box::new(stdout()))
    };
    // `port NAME FAULT` plays a game of this repository.
    let ported = env::args().nth(2).and_then(|name| turnfold_games::find(&name)).filter(|_| fault == "port");
    let wrong = env::args().nth(3).unwrap_or_default();
    let mut folded = 0;
    for line in requests.lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (op, args) = (request["op"].as_str().unwrap(), &request["args"]);
        let entries = args["entries"].as_array().map_or(0, Vec::len);
        if op == "fold" && entries > 0 {
            match fault.as_str() {
                "noise" => println!("folding {entries} entries"),
                "exit" => return,
                "crash" if args["state"]["sum"].as_i64() >= Some(4) => panic!("Error: the sum is too high"),
                "orphan" => {
                    // The process it starts keeps its standard output open and continues.
                    Command::new("sleep").arg("30").spawn().unwrap();
                    std::process::exit(3);
                }
                "hang" if args["state"]["sum"].as_i64() >= Some(4) => sleep(Duration::from_hours(1)),
                _ => (),
            }
        }
        let mut answer = match &ported {
            Some(rules) => port::answer(&**rules, op, args, &wrong),
            None => answer(op, args, &fault, &mut folded),
        };
        answer["id"] = match fault.as_str() {
            "wrong-id" if op == "fold" => json!(7),
            "null-id" if op == "fold" => Value::Null,
            _ => request["id"].clone(),
        };
        if fault == "fault" && op == "fold" {
            answer = json!({ "id": request["id"], "fault": "fold: the sum is lost (sums.mjs:7)" });
        }
        let text = if fault == "pretty" && op == "fold" {
            serde_json::to_string_pretty(&answer).unwrap()
        } else {
            answer.to_string()
        };
        if fault == "untidy" {
            // As some programs on Windows write it.
            write!(answers, "\u{feff}\r\n\n{text}\r\n").unwrap();
        } else {
            writeln!(answers, "{text}").unwrap();
        }
        answers.flush().unwrap();
    }
}

fn answer(op: &str, args: &Value, fault: &str, folded: &mut i64) -> Value {
    let state = &args["state"];
    let ok = match op {
        "hello" => hello(fault),
        "start" => {
            let sum = args["setup"]["sum"].as_i64();
            // A program that was not written for turnfold throws at an unexpected setup.
            let sum = if fault == "stranger" { sum.unwrap() } else { sum.unwrap_or(0) };
            if sum >= END {
                return json!({ "no": { "field": "sum", "message": "expected less than 30" } });
            }
            let state = json!({ "turn": "p1", "sum": sum });
            json!({ "state": state, "status": status(&state, fault) })
        }
        "fold" => fold(state, args["entries"].as_array().unwrap(), fault, folded),
        "legal" => {
            // These are unsorted, because turnfold sorts them.
            let mine = json!(["add 3", "add 1", { "command": "add 20", "random": false }]);
            let commands = |seat: &Value| {
                let is_listed =
                    *seat == state["turn"] || fault == "lists-all" && state["sum"].as_i64() > Some(4);
                if is_listed { mine.clone() } else { json!([]) }
            };
            let seats = args["seats"].as_array().unwrap().iter();
            seats
                .map(|seat| (seat.as_str().unwrap().to_owned(), commands(seat)))
                .collect::<Map<_, _>>()
                .into()
        }
        "see" => {
            let view = |viewer: &Value| {
                let mut view = json!({ "sum": state["sum"], "turn": state["turn"], "half": state["sum"].as_f64().unwrap() / 2.0 });
                if viewer == "host" {
                    view["thought"] = state["thought"].clone();
                }
                json!({ "view": view })
            };
            let viewers = args["viewers"].as_array().unwrap().iter();
            viewers
                .map(|viewer| (viewer.as_str().unwrap().to_owned(), view(viewer)))
                .collect::<Map<_, _>>()
                .into()
        }
        "read" => match args["text"].as_str().unwrap().strip_prefix('+') {
            Some(number) => json!(format!("add {number}")),
            None => args["text"].clone(),
        },
        "targets" => {
            let commands = args["commands"].as_array().unwrap();
            commands.iter().map(|_| json!({ "parts": [], "irreversible": false })).collect()
        }
        "query" => json!({ "text": format!("the sum is {}", state["sum"]), "json": { "sum": state["sum"] } }),
        _ => return json!({ "no": "an unknown operation" }),
    };
    json!({ "ok": ok })
}

fn hello(fault: &str) -> Value {
    let mut hello = json!({
        "name": "sums", "version": 1, "summary": "add up to 30", "example": { "sum": 1 }, "secrets": "none",
        "rulebook": "# Sums\n\n**SU-1** Players take turns.\n", "can": ["legal", "read", "query"], "queries": ["sum"],
        "batches": true, "ignored": { "nothing": ["SU-2"] }, "rejected": { "not_your_turn": ["SU-1"] },
        "encodings": null,
    });
    match fault {
        "untidy" => println!("Sums Engine 1.0\n[notice] loaded"),
        "closed" => (hello["secrets"], hello["can"]) = (Value::Null, json!(["legal", "see"])),
        // `can A,B` offers only these operations, and has secrets.
        "can" => {
            let offered = env::args().nth(2).unwrap_or_default();
            let offered: Vec<&str> = offered.split(',').filter(|op| !op.is_empty()).collect();
            (hello["secrets"], hello["can"]) = (Value::Null, json!(offered));
        }
        "cycletap" => hello["name"] = json!("cycletap"),
        "stranger" => {
            (hello["rulebook"], hello["summary"]) = (Value::Null, Value::Null);
            hello["rejected"]["unknown_word"] = json!([]);
        }
        "undeclared" => hello["rejected"] = json!({}),
        "bare" => hello["can"] = json!([]),
        _ => (),
    }
    hello
}

/// Returns a status with numbers as some languages write them, and `null` for absent values.
fn status(state: &Value, fault: &str) -> Value {
    let sum = state["sum"].as_i64().unwrap();
    let over = sum >= END;
    let winner = if state["turn"] == "p1" { "p2" } else { "p1" };
    // Some languages have only one kind of empty collection.
    let nobody = if fault == "untidy" { json!({}) } else { json!([]) };
    let scores = if fault == "scores" { json!({ "p1": 0.5, "p2": -1.0, "p3": null }) } else { Value::Null };
    json!({
        "players": ["p2", "p1"], "active": if over { nobody } else { json!([state["turn"]]) }, "over": over,
        "result": (over || fault == "early" && sum > 20).then(|| json!({ "winners": [winner], "reason": "30", "scores": scores })), "turn": 1.0,
        "due": state["due"].as_bool().map(|_| json!({ "purpose": "bonus", "count": 1, "low": 1, "high": 6 })),
    })
}

fn fold(state: &Value, entries: &[Value], fault: &str, folded: &mut i64) -> Value {
    let (mut state, mut steps) = (state.clone(), Vec::new());
    let mut rejected = Value::Null;
    if fault == "unresumable" && entries.is_empty() && state["sum"].as_i64() > Some(10) {
        state["resumed"] = json!(true);
    }
    for entry in entries {
        if fault == "one-by-one" && !steps.is_empty() {
            break;
        }
        *folded += 1;
        match apply(&state, entry, fault, *folded) {
            Ok((next, mut step)) => {
                if step.get("ignored").is_none() {
                    state = next;
                    (step["state"], step["status"]) = (state.clone(), status(&state, fault));
                }
                steps.push(step);
            }
            Err((code, message)) => {
                rejected = json!({ "code": code, "message": message });
                break;
            }
        }
    }
    json!({ "steps": steps, "stop": rejected, "state": state, "status": status(&state, fault) })
}

#[expect(clippy::disallowed_methods, reason = "a fault that checks find")]
fn clock() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

type Rejection = (&'static str, String);

fn apply(state: &Value, entry: &Value, fault: &str, folded: i64) -> Result<(Value, Value), Rejection> {
    let mut next = state.clone();
    let sum = state["sum"].as_i64().unwrap();
    if let Some(values) = entry.get("roll") {
        let bonus = values[0].as_i64().unwrap();
        next["sum"] = json!(sum + bonus);
        next.as_object_mut().unwrap().remove("due");
        return Ok((
            next,
            json!({ "effects": [shown(json!({ "effect": "bonus", "of": bonus }), fault)], "to": "all" }),
        ));
    }
    let command = entry["command"].as_str().unwrap();
    if entry["seat"] != state["turn"] {
        return Err(("not_your_turn", format!("it is the turn of {}", state["turn"].as_str().unwrap())));
    }
    if let Some(thought) = command.strip_prefix("think ") {
        next["thought"] = json!(thought);
        return Ok((next, json!({ "effects": [{ "effect": "thought", "text": thought }] })));
    }
    let number = command.strip_prefix("add ").and_then(|number| number.parse::<i64>().ok());
    let unknown = if fault == "stranger" { "unknown_word" } else { "malformed" };
    let Some(number) = number else { return Err((unknown, "expected `add N`".into())) };
    if number == 0 {
        return Ok((next, json!({ "ignored": "nothing", "text": "0 adds nothing", "to": "all" })));
    }
    next["sum"] = json!(sum + number);
    next["turn"] = json!(if state["turn"] == "p1" { "p2" } else { "p1" });
    if (sum + number) % 10 == 5 {
        next["due"] = json!(true);
    }
    match fault {
        "clock" => next["at"] = json!(clock().as_secs()),
        "random" => next["noise"] = json!(clock().subsec_nanos()),
        "memory" => next["folded"] = json!(folded),
        "zone" => next["zone"] = json!(env::var("TZ").unwrap()),
        "twice" => next["name"] = json!("Ä\u{2028}\u{1f600}"),
        "stranger" => return Ok((next, json!({ "to": "all" }))),
        _ => (),
    }
    let added = shown(json!({ "effect": "added", "number": number }), fault);
    let said = shown(json!({ "effect": "said", "words": "a b", "list": [1, 2.0] }), fault);
    let effects = json!([added, said]);
    Ok((next, json!({ "effects": effects, "to": "all" })))
}

/// Marks an effect as visible to all, in the game with secrets. In an open game `to` would be a field of the effect.
fn shown(mut effect: Value, fault: &str) -> Value {
    if fault == "closed" {
        effect["to"] = json!("all");
    }
    effect
}
