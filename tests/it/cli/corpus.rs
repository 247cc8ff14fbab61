//! Compares the answers of `find`, `table` and `stats` about many matches with a loop over `log` and `show`.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use turnfold_core::Seat;
use turnfold_history::{History, tfl};
use turnfold_tests::sandbox::Sandbox;

const RULESETS: [&str; 5] = ["channel", "cycletap", "hexcapture", "initiative", "lifecycle"];

/// A match as `log` and `show` print it.
struct Shown {
    name: String,
    ruleset: &'static str,
    entries: Vec<Value>,
    /// The views after the setup and after each entry.
    views: Vec<Value>,
}

fn documents(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Creates several matches of every ruleset, and returns what is printed about each.
fn corpus(sandbox: &Sandbox) -> Vec<Shown> {
    let mut shown = Vec::new();
    for ruleset in RULESETS {
        sandbox.ok(&format!("simulate --rules {ruleset} --seed 1 --steps 12 --count 2 -o games/{ruleset}"));
        // Long enough for a game that ends to be over.
        sandbox.ok(&format!("simulate --rules {ruleset} --seed 3 --steps 60 -o games/{ruleset}/3.tfl"));
        for seed in 1..=3 {
            let name = format!("games/{ruleset}/{seed}.tfl");
            let entries = documents(&sandbox.ok(&format!("--format json log {name}")));
            let mut views = Vec::new();
            if seed < 3 {
                let moments: Vec<_> = (0..=entries.len()).map(|seq| format!("{name}:{seq}")).collect();
                let shown = documents(&sandbox.ok(&format!("--format json show {}", moments.join(" "))));
                views.extend(shown.into_iter().map(|mut shown| shown["view"].take()));
            }
            shown.push(Shown { name, ruleset, entries, views });
        }
    }
    shown
}

fn state_of(sandbox: &Sandbox, name: &str) -> Box<dyn turnfold_core::AnyState> {
    let replay = tfl::read(name, sandbox.read(name).as_bytes(), &turnfold_games::standard()).unwrap();
    History::of_replay(name.as_ref(), &replay).unwrap().state().unwrap()
}

#[test]
fn tables_are_what_a_loop_over_log_and_show_prints() {
    let sandbox = Sandbox::new();
    let shown = corpus(&sandbox);
    let [mut matches, mut entries, mut effects, mut fields] = [(); 4].map(|()| Vec::new());
    for Shown { name, ruleset, entries: log, views } in &shown {
        let state = state_of(&sandbox, name);
        let result = state.result();
        let winner = result.as_ref().and_then(|result| result.winners.first().map(Seat::to_string));
        matches.push(json!({
            "source": name, "ruleset": ruleset, "entries": log.len(), "turn": state.turn(),
            "over": result.is_some(), "winner": winner, "state_hash": log.last().unwrap()["state_hash"],
        }));
        for entry in log {
            let parts = entry["effects"].as_array().unwrap();
            entries.push(json!({
                "source": name, "seq": entry["seq"], "seat": entry["seat"], "command": entry["command"],
                "command_name": entry["command"].as_str().unwrap().split(' ').next(),
                "outcome": entry["outcome"], "reason": entry["reason"], "effect_count": parts.len(),
                "state_hash": entry["state_hash"], "recorded_at_ms": null,
            }));
            for (number, part) in (1..).zip(parts) {
                let mut row = json!({ "source": name, "seq": entry["seq"], "effect_number": number });
                row.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
                effects.push(row);
            }
        }
        for (seq, view) in views.iter().enumerate() {
            let [turn, at] = ["/turn", "/units/0/at"].map(|path| view.pointer(path));
            fields.push(json!({ "source": name, "seq": seq, "/turn": turn, "/units/0/at": at }));
        }
    }
    let rows = |line: &str| documents(&sandbox.ok(&format!("--format json table {line}")));
    let mut found = rows("matches games");
    for row in &mut found {
        row.as_object_mut().unwrap().retain(|column, _| matches[0].get(column).is_some());
    }
    assert_eq!(found, matches);
    assert_eq!(rows("entries games"), entries);
    assert_eq!(rows("effects games"), effects);
    let mut found = rows("fields games --field /turn --field /units/0/at");
    found.retain(|row| !row["source"].as_str().unwrap().ends_with("3.tfl"));
    assert_eq!(found, fields);
    assert!(effects.len() > 100 && matches.iter().any(|row| row["over"] == true));
}

#[test]
fn entries_are_found_where_a_loop_over_log_and_show_finds_them() {
    let sandbox = Sandbox::new();
    let shown = corpus(&sandbox);
    let (mut turned, mut ignored, mut given) = (String::new(), String::new(), String::new());
    for Shown { name, entries, views, .. } in &shown {
        let is_late = |view: &Value| view["turn"].as_u64().is_some_and(|turn| turn >= 2);
        let mut late = (1..views.len()).filter(|seq| is_late(&views[*seq]) && !is_late(&views[seq - 1]));
        if let Some(seq) = late.next() {
            let place = format!("{name}:{seq}\n");
            turned += &place;
        }
        for entry in entries {
            let place = format!("{name}:{}\n", entry["seq"]);
            ignored += if entry["outcome"] == "ignored" && entry["seat"] == "p1" { &place } else { "" };
            given += if entry["command"].as_str().unwrap().contains("2,") { &place } else { "" };
        }
    }
    let found = |line: &str| {
        let found =
            documents(&String::from_utf8(sandbox.run(&format!("--format json find {line}")).stdout).unwrap());
        let places =
            found.iter().map(|found| format!("{}:{}\n", found["source"].as_str().unwrap(), found["seq"]));
        places.collect::<String>()
    };
    assert_eq!(found("--first \"games/*/[12].tfl\" --when \"/turn >= 2\""), turned);
    assert_eq!(found("games --command \"*2,*\""), given);
    let reasons: Vec<_> =
        shown.iter().flat_map(|shown| &shown.entries).map(|entry| entry["reason"].clone()).collect();
    let mut by_reason: Vec<_> = reasons.iter().filter_map(Value::as_str).collect();
    by_reason.sort_unstable();
    by_reason.dedup();
    let all: String =
        by_reason.iter().map(|reason| found(&format!("games --seat p1 --reason {reason}"))).collect();
    let [mut all, mut ignored] =
        [all, ignored].map(|places| places.lines().map(String::from).collect::<Vec<_>>());
    all.sort_unstable();
    ignored.sort_unstable();
    assert_eq!(all, ignored);
    assert!(!turned.is_empty() && !given.is_empty());
}

#[test]
fn statistics_count_what_a_loop_over_log_counts() {
    let sandbox = Sandbox::new();
    let shown = corpus(&sandbox);
    let found = documents(&sandbox.ok("--format json table groups games"));
    assert_eq!(found.len(), RULESETS.len());
    for (ruleset, found) in RULESETS.iter().zip(found) {
        let of_ruleset = || shown.iter().filter(|shown| shown.ruleset == *ruleset);
        let entries = || of_ruleset().flat_map(|shown| &shown.entries);
        let tally = |name: &dyn Fn(&Value) -> Option<String>| {
            let mut tally = BTreeMap::<String, u64>::new();
            entries().filter_map(name).for_each(|name| *tally.entry(name).or_default() += 1);
            tally
        };
        let counted = |list: &Value| {
            let counts = list.as_array().unwrap().iter();
            counts.map(|one| (one["name"].as_str().unwrap().into(), one["count"].as_u64().unwrap())).collect()
        };
        let text = |value: &Value| value.as_str().map(String::from);
        let commands =
            tally(&|entry| text(&entry["command"]).map(|text| text.split(' ').next().unwrap().into()));
        assert_eq!(commands, counted(&found["commands"]), "{ruleset}");
        assert_eq!(tally(&|entry| text(&entry["reason"])), counted(&found["reasons"]), "{ruleset}");
        assert_eq!(tally(&|entry| text(&entry["outcome"])), counted(&found["outcomes"]), "{ruleset}");
        let results: Vec<_> =
            of_ruleset().filter_map(|shown| state_of(&sandbox, &shown.name).result()).collect();
        assert_eq!(found["over"], results.len(), "{ruleset}");
        for wins in found["wins"].as_array().unwrap() {
            let won = results
                .iter()
                .filter(|result| result.winners.iter().any(|seat| wins["seat"] == seat.to_string()));
            assert_eq!(wins["wins"], won.count(), "{ruleset} {wins}");
        }
        let lengths: Vec<u64> = of_ruleset().map(|shown| shown.entries.len() as u64).collect();
        let classes =
            found["histogram"].as_array().unwrap().iter().map(|class| class["matches"].as_u64().unwrap());
        assert_eq!((found["matches"].as_u64().unwrap(), classes.sum::<u64>()), (3, 3), "{ruleset}");
        assert_eq!(found["lengths"]["sum"], lengths.iter().sum::<u64>(), "{ruleset}");
        assert_eq!(found["lengths"]["most"], *lengths.iter().max().unwrap(), "{ruleset}");
    }
}
