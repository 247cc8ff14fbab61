//! `turnfold rules`, and whether each rulebook agrees with the code of its game.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use snapbox::str;
use turnfold_core::{
    AnyRules, AnyState, CommandSource, DicePolicy, Logged, QueryError, Seat, SetupError, Simulation,
};
use turnfold_games::rulesets;

use super::duel;
use turnfold_tests::goldens::goldens;
use turnfold_tests::sandbox::{Sandbox, workspace};

/// Reasons that all rulesets share, and whether only games with dice have them.
const SHARED: [(&str, bool); 6] = [
    ("malformed", false),
    ("match_over", false),
    ("wrong_seat", false),
    ("roll_due", true),
    ("no_roll_due", true),
    ("bad_roll", true),
];

/// Reads the rulebook of a ruleset with the binary.
fn rulebook(rules: &dyn AnyRules) -> Value {
    let json = Sandbox::new().ok(&format!("rules {} --format json", rules.name()));
    assert_eq!(json.lines().count(), 1);
    serde_json::from_str(&json).unwrap()
}

fn items<'a>(rulebook: &'a Value, section: &str) -> &'a [Value] {
    rulebook[section].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the strings of a list in JSON.
fn strings(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

/// Returns the texts in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Starts a match from each fixture of a ruleset.
fn fixtures(rules: &dyn AnyRules) -> Vec<Box<dyn AnyState>> {
    let folder = workspace().join("fixtures").join(rules.name());
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let start = |toml: String| -> Result<_, SetupError> { rules.start(&rules.read_setup(&toml)?) };
    files.map(start).collect::<Result<_, _>>().unwrap()
}

#[test]
fn the_rulesets_are_listed_with_what_they_are() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("rules");
    let json = sandbox.ok("rules --format json");
    let games = turnfold_games::standard();
    assert_eq!((text.lines().count(), json.lines().count()), (games.iter().count(), games.iter().count()));
    for ((rules, text), json) in games.iter().zip(text.lines()).zip(json.lines()) {
        let (name, summary) = text.split_once("  ").unwrap();
        assert_eq!((name, summary.trim()), (rules.name(), rules.summary()));
        let json: Value = serde_json::from_str(json).unwrap();
        assert_eq!(json["ruleset"], rules.name());
        assert_eq!(json["version"], rules.version());
        assert_eq!(json["summary"], rules.summary());
    }
}

#[test]
fn a_rule_a_command_and_a_reason_are_looked_up() {
    Sandbox::new().check(str![[r#"
$ turnfold rules initiative in-12
initiative version 1

RULES
IN-12  `stand`
The selected unit completes its movement without leaving its hex. With no unit
selected it is ignored (`nothing_selected`).
$ turnfold rules initiative stand
initiative version 1

COMMANDS
  stand  (player; as `stand`; IN-12)
      Let the selected unit complete its movement where it is.

...
$ turnfold rules initiative not_your_turn
initiative version 1

REASONS
  not_your_turn  (rejected)
      The other player's units are to move.
$ turnfold rules initiative reach
initiative version 1

QUESTIONS
  reach UNIT  (as `reach atlas`; IN-11)
      The hexes that the unit could move to, were it selected now.

RULES
IN-11  `move`
The selected unit goes to the hex and has completed its movement; the selection
is dropped and the cursor goes with it. The command is ignored for the first of
these reasons that holds:

1. `nothing_selected`: no unit is selected.
2. `out_of_bounds`: the hex is off the board.
3. `impassable`: the hex is blocked.
4. `occupied`: another unit stands there. `same_hex`: this unit stands there
   itself.
5. `out_of_reach`: no path of at most `mp` steps leads there. A path stays on
   the board and leads neither over blocked hexes nor over units of the
   opponent. It may lead over units of its own side.
$ turnfold rules initiative units[].mp
initiative version 1

VIEW
  units[].at, units[].mp
      Where it stands, and how many steps it may go.
$ turnfold --format json rules initiative IN-2
{"ruleset":"initiative","version":1,"summary":"two-player initiative rolls and movement in alternating impulses","rules":[{"rule":"IN-2","title":"A tie","text":"When both players have the same total, the roll is recorded and decides nothing. It is due again."}]}
$ turnfold rules initiative in-99
exit 2| error: `initiative` has no rule, command, reason, question or field `in-99`; did you mean `IN-9` or `IN-1` or `IN-2`? `turnfold rules initiative` shows all
$ turnfold rules initiative mvoe
exit 2| error: `initiative` has no rule, command, reason, question or field `mvoe`; did you mean `move` or `moved`? `turnfold rules initiative` shows all
$ turnfold rules initiative zzz
exit 2| error: `initiative` has no rule, command, reason, question or field `zzz`; `turnfold rules initiative` shows all
$ turnfold rules chess
exit 2| error: unknown ruleset `chess`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules

"#]]);
}

/// A match can be opened with the terms in the rulebook, and is refused for the reason in the rulebook.
#[test]
fn pm_3_a_rulebook_shows_the_terms_of_a_match_by_mail() {
    let (mut opened, mut refused) = (0, 0);
    for rules in turnfold_games::standard().iter() {
        let book = rulebook(&**rules);
        let mail = book["mail"].as_str().unwrap();
        let terms = mail.split_once("```toml\n").and_then(|(_, rest)| rest.strip_suffix("\n```"));
        let sandbox = Sandbox::new();
        sandbox.ok("key new ann.key --name ann.example");
        sandbox.write("setup.toml", rules.example());
        sandbox.write("desk.toml", format!("hosted = []\n{}\n", terms.unwrap_or_default()));
        let open = format!(
            "mail open duel --rules {} --setup setup.toml --desk desk.toml --key ann.key",
            rules.name()
        );
        if terms.is_some() {
            assert!(sandbox.ok(&open).contains("opened duel"));
            opened += 1;
        } else if mail.contains("cannot be played by mail") {
            let output = sandbox.run(&open);
            assert_eq!(output.status.code(), Some(2));
            let error = String::from_utf8(output.stderr).unwrap();
            assert!(error.contains(mail.trim_end_matches('.')), "{error}");
            refused += 1;
        }
        assert_eq!(terms.is_some(), !rules.mail_terms().is_empty(), "{mail}");
    }
    assert_eq!((opened, refused), (4, 1));
    Sandbox::new().check(str![[r#"
$ turnfold rules cycletap mail
cycletap version 1

MAIL

`mail open` uses these terms for everything that the file of `--desk` leaves
out.

  together = true
  default = ["switch"]
  between = ["resolve"]
$ turnfold rules channel mail
channel version 1

MAIL

`channel` cannot be played by mail: its setup is in every bundle and would show
p1 secrets.
$ turnfold rules hexcapture mail
hexcapture version 1

MAIL

`mail open` uses these terms for everything that the file of `--desk` leaves
out.

  default = []
  between = ["tick 12"]

"#]]);
}

#[test]
fn a_rejected_command_names_what_explains_it() {
    let sandbox = duel();
    let output = sandbox.run("play duel \"p1: cycle\"");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    let hint = error.split('`').nth(1).unwrap();
    assert_eq!(hint, "turnfold rules initiative not_your_turn");
    let explained = sandbox.ok(hint.strip_prefix("turnfold ").unwrap());
    assert!(explained.contains("not_your_turn  (rejected)"), "{explained}");
}

#[test]
fn every_rulebook_is_whole_and_shows_its_rules() {
    for rules in rulesets() {
        let book = rulebook(&*rules);
        assert_eq!(book["ruleset"], rules.name());
        for text in ["about", "setup"] {
            assert!(book[text].as_str().is_some_and(|text| !text.is_empty()), "{} {text}", rules.name());
        }
        let sandbox = Sandbox::new();
        let whole = sandbox.ok(&format!("rules {}", rules.name()));
        for rule in items(&book, "rules") {
            let id = rule["rule"].as_str().unwrap();
            assert!(whole.contains(&format!("\n{id}  ")), "{id}");
        }
        let first = items(&book, "rules")[0]["rule"].as_str().unwrap().to_lowercase();
        let alone = sandbox.ok(&format!("rules {} {first}", rules.name()));
        assert!(alone.contains(&format!("\n{}  ", first.to_uppercase())), "{alone}");
    }
}

#[test]
fn every_form_of_a_command_has_an_example_that_reads() {
    for rules in rulesets() {
        let book = rulebook(&*rules);
        let expected = rules.canonical("").unwrap_err().0;
        let (forms, _) = expected.split_once(", found ").unwrap();
        let listed = items(&book, "commands").iter().map(|item| item["command"].as_str().unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), quoted(forms), "the commands of {}", rules.name());
        let state = &fixtures(&*rules)[0];
        for item in items(&book, "commands") {
            let (form, example) = (item["command"].as_str().unwrap(), item["example"].as_str().unwrap());
            assert_eq!(form.split(' ').next(), example.split(' ').next(), "{form}");
            assert_eq!(rules.canonical(example).as_deref(), Ok(example), "the example of `{form}`");
            let seat = if item["seat"] == "host" { Seat::Host } else { Seat::P1 };
            let is_host = state.default_seat(example) == Some(Seat::Host);
            assert_eq!(is_host, seat == Seat::Host, "who gives `{form}` of {}", rules.name());
        }
    }
}

#[test]
fn every_reason_is_listed_with_its_rules() {
    for rules in rulesets() {
        let book = rulebook(&*rules);
        let has_dice = items(&book, "commands")
            .iter()
            .any(|item| item["command"].as_str().unwrap().starts_with("roll "));
        let mut expected: BTreeMap<&str, &str> = BTreeMap::new();
        expected.extend(rules.ignored_codes().into_iter().map(|code| (code, "ignored")));
        expected.extend(rules.rejected_codes().into_iter().map(|code| (code, "rejected")));
        let mut listed: BTreeMap<&str, &str> = BTreeMap::new();
        for item in items(&book, "reasons") {
            let code = item["reason"].as_str().unwrap();
            let ids: BTreeSet<&str> = rules.rule_ids(code).iter().copied().collect();
            assert_eq!(strings(&item["rules"]), ids, "the rules of `{code}` of {}", rules.name());
            assert!(listed.insert(code, item["outcome"].as_str().unwrap()).is_none(), "`{code}` twice");
        }
        for (code, of_dice) in SHARED {
            match listed.remove(code) {
                Some(outcome) => assert!(outcome == "rejected" && (has_dice || !of_dice), "{code}"),
                None => {
                    assert!(code == "match_over" || of_dice && !has_dice, "{} lacks {code}", rules.name());
                }
            }
        }
        assert_eq!(listed, expected, "the reasons of {}", rules.name());
    }
}

#[test]
fn every_question_is_listed_with_an_example_that_is_known() {
    for rules in rulesets() {
        let book = rulebook(&*rules);
        let states = fixtures(&*rules);
        let Err(QueryError::Unknown { known, .. }) = states[0].query(Seat::Host.into(), "") else {
            panic!("{} answers an empty question", rules.name());
        };
        let listed = items(&book, "questions").iter().map(|item| item["question"].as_str().unwrap());
        assert_eq!(listed.collect::<BTreeSet<_>>(), quoted(&known), "the questions of {}", rules.name());
        for item in items(&book, "questions") {
            let (form, example) = (item["question"].as_str().unwrap(), item["example"].as_str().unwrap());
            assert_eq!(form.split(' ').next(), example.split(' ').next(), "{form}");
            let answer = states[0].query(Seat::Host.into(), example);
            assert!(!matches!(answer, Err(QueryError::Unknown { .. })), "{example}: {answer:?}");
        }
    }
}

/// Collects the paths of the fields of a view, such as `units[].at`.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                paths(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// Returns `true` if a path matches a field. A part of the field in capitals stands for any key.
fn is_field(field: &str, path: &str) -> bool {
    let (mut parts, mut keys) = (field.split('.'), path.split('.'));
    loop {
        match (parts.next(), keys.next()) {
            (None, None) => return true,
            (Some(part), Some(key)) => {
                if part != key && !part.bytes().all(|byte| byte.is_ascii_uppercase()) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Passes every view of the host in the golden logs of a ruleset to `add`.
fn golden_views(rules: &dyn AnyRules, add: &mut dyn FnMut(&str)) {
    for path in goldens().iter().filter(|path| path.parent().unwrap().ends_with(rules.name())) {
        let text = fs::read_to_string(path).unwrap();
        let parts: Vec<&str> = text.splitn(3, "+++\n").collect();
        let header: toml::Table = parts[1].parse().unwrap();
        let setup = rules.read_setup(&toml::to_string(&header["setup"]).unwrap()).unwrap();
        let mut state = rules.start(&setup).unwrap();
        for line in parts[2].lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit())) {
            let mut words = line.split(" => ").next().unwrap().splitn(3, ' ').skip(1);
            let (seat, command) = (words.next().unwrap().parse().unwrap(), words.next().unwrap());
            let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
            state
                .fold(&[entry], &DicePolicy::Recorded, &mut |step| add(&step.view(Seat::Host.into())))
                .unwrap();
        }
    }
}

#[test]
fn every_field_of_every_view_is_listed_and_no_other() {
    for rules in rulesets() {
        let book = rulebook(&*rules);
        let listed: Vec<&str> =
            items(&book, "view").iter().flat_map(|item| strings(&item["fields"])).collect();
        let mut found = BTreeSet::new();
        for mut state in fixtures(&*rules) {
            let mut add = |view: &str| paths(&serde_json::from_str(view).unwrap(), "", &mut found);
            add(&state.view(Seat::Host.into()));
            add(&state.view(Seat::P1.into()));
            let dice = DicePolicy::Recorded;
            let _ = Simulation::new(1)
                .play(&mut *state, &dice, 1, 300, &mut |step| add(&step.view(Seat::Host.into())));
        }
        let is_unknown =
            |found: &BTreeSet<String>, field: &&&str| !found.iter().any(|path| is_field(field, path));
        if listed.iter().any(|field| is_unknown(&found, &field)) {
            // Random play does not reach every state, because a desk accepts only signed papers.
            golden_views(&*rules, &mut |view| paths(&serde_json::from_str(view).unwrap(), "", &mut found));
        }
        let unlisted: Vec<_> =
            found.iter().filter(|path| !listed.iter().any(|field| is_field(field, path))).collect();
        assert!(unlisted.is_empty(), "RULES.md of {} lacks the fields {unlisted:?}", rules.name());
        let unknown: Vec<_> = listed.iter().filter(|field| is_unknown(&found, field)).collect();
        assert!(unknown.is_empty(), "no view of {} has the fields {unknown:?}", rules.name());
    }
}
