//! A port: a referee that claims to be a game of this repository (RF-20). It is correct, because the game itself
//! judges, except for the rule that the fault names. Its state is the setup and all commands so far.

use serde_json::{Map, Value, json};
use turnfold_core::any::AnyState;
use turnfold_core::{
    AnyRules, CommandSource, DicePolicy, FoldError, Logged, Outcome, Perspective, Seat, Step,
};

/// Answers a request with the rules of a game.
pub(crate) fn answer(rules: &dyn AnyRules, op: &str, args: &Value, fault: &str) -> Value {
    let ok = match op {
        "hello" => hello(rules),
        "start" => {
            let state = json!({ "setup": toml(&args["setup"]), "log": [] });
            json!({ "state": state, "status": status(&*resumed(rules, &state)) })
        }
        "fold" => fold(rules, &args["state"], args["entries"].as_array().unwrap(), fault),
        _ => {
            let state = resumed(rules, &args["state"]);
            let view = |viewer: &Value| {
                let viewer: Perspective = viewer.as_str().unwrap().parse().unwrap();
                let mut view: Value = serde_json::from_str(&state.view(viewer)).unwrap();
                view.as_object_mut().unwrap().remove("ruleset");
                if fault == "time" && view["global_time"].as_u64() > Some(0) {
                    view["global_time"] = json!(0);
                }
                json!({ "view": view })
            };
            let viewers = args["viewers"].as_array().unwrap().iter();
            viewers
                .map(|viewer| (viewer.as_str().unwrap().to_owned(), view(viewer)))
                .collect::<Map<_, _>>()
                .into()
        }
    };
    json!({ "ok": ok })
}

fn hello(rules: &dyn AnyRules) -> Value {
    let codes = |codes: Vec<&str>| -> Value {
        codes
            .into_iter()
            .map(|code| (code.to_owned(), json!(rules.rule_ids(code))))
            .collect::<Map<_, _>>()
            .into()
    };
    json!({
        "name": rules.name(), "version": rules.version(), "example": rules.example(), "secrets": "none", "can": ["see"],
        "ignored": codes(rules.ignored_codes()), "rejected": codes(rules.rejected_codes()), "batches": true,
    })
}

/// Folds all commands so far again.
fn resumed(rules: &dyn AnyRules, state: &Value) -> Box<dyn AnyState> {
    let setup = rules.read_setup(state["setup"].as_str().unwrap()).unwrap();
    let mut resumed = rules.start(&setup).unwrap();
    for entry in state["log"].as_array().unwrap() {
        let seat = entry[0].as_str().unwrap().parse().unwrap();
        let command = CommandSource::Text(entry[1].as_str().unwrap());
        resumed.fold(&[Logged { seq: 1, seat, command }], &DicePolicy::Recorded, &mut |_| {}).unwrap();
    }
    resumed
}

fn status(state: &dyn AnyState) -> Value {
    let players: Vec<String> = state.players().iter().map(ToString::to_string).collect();
    json!({ "players": players, "over": state.over(), "due": state.due_roll(), "result": state.result() })
}

fn fold(rules: &dyn AnyRules, state: &Value, entries: &[Value], fault: &str) -> Value {
    let (mut state, mut steps) = (state.clone(), Vec::new());
    let mut resumed = resumed(rules, &state);
    let mut stop = Value::Null;
    for entry in entries {
        let seat: Seat = entry["seat"].as_str().unwrap_or("host").parse().unwrap();
        let values = entry["roll"].as_array().map(|values| serde_json::from_value(json!(values)).unwrap());
        let rolled = values.and_then(|values| resumed.roll_command(values));
        let command = rolled.unwrap_or_else(|| entry["command"].as_str().unwrap_or_default().into());
        if fault == "attack" && command.starts_with("attack") {
            stop = json!({ "code": "wrong_seat", "message": "nobody attacks here" });
            break;
        }
        let mut answered = Value::Null;
        let observe = &mut |folded: &mut dyn Step| answered = described(folded, fault);
        let logged = Logged { seq: 1, seat, command: CommandSource::Text(&command) };
        match resumed.fold(&[logged], &DicePolicy::Recorded, observe) {
            Ok(()) => (),
            Err(FoldError::Rejected { rejected, .. }) => {
                stop = json!({ "code": rejected.code.as_str(), "message": rejected.message });
                break;
            }
            Err(_) => {
                stop = json!({ "code": "malformed" });
                break;
            }
        }
        if answered.get("ignored").is_none() {
            state["log"].as_array_mut().unwrap().push(json!([seat.to_string(), command]));
            (answered["state"], answered["status"]) = (state.clone(), status(&*resumed));
        }
        steps.push(answered);
    }
    json!({ "steps": steps, "stop": stop, "state": state, "status": status(&*resumed) })
}

fn described(step: &mut dyn Step, fault: &str) -> Value {
    if let Outcome::Ignored(code) = step.outcome() {
        return json!({ "ignored": code.as_str() });
    }
    let mut effects: Value = serde_json::from_str(&step.effects_json()).unwrap();
    for effect in effects.as_array_mut().unwrap() {
        if fault == "damage" && effect["effect"] == "damaged" {
            effect["hp"] = json!(effect["hp"].as_i64().unwrap() + 1);
        }
    }
    json!({ "effects": effects })
}

/// Returns a setup as TOML, with a key on each line and everything below it inline.
fn toml(setup: &Value) -> String {
    let fields = setup.as_object().unwrap().iter();
    fields.map(|(key, value)| format!("{key} = {}", inline(value))).collect::<Vec<_>>().join("\n")
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(key, value)| format!("{key} = {}", inline(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        plain => plain.to_string(),
    }
}
