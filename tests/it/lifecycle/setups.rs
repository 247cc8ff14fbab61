//! Setups: what they may hold, and errors that name the field or the unit.

use turnfold_core::registry;

use super::{check, units};

fn error(text: &str) -> String {
    registry::find("lifecycle").unwrap().read_setup(&units(text)).unwrap_err().to_string()
}

#[test]
fn a_bad_value_is_an_error_that_names_its_field() {
    let skill = |more: &str| format!("a player 1 1\n skills = [{{ id = \"x\", target = \"any\", {more} }}]");
    let status = |more: &str| format!("a player 1 1\n statuses = [{{ id = \"x\", kind = \"dot\", {more} }}]");
    let cases = [
        ("a player 0 1".to_owned(), "units[0].hp: expected 1 to 1000000, found 0"),
        ("a player 1000001 1".into(), "units[0].hp: expected 1 to 1000000, found 1000001"),
        ("a player 1 10001".into(), "units[0].speed: expected 0 to 10000, found 10001"),
        ("a player 1 1\n attack = 1000001".into(), "units[0].attack: expected 0 to 1000000, found 1000001"),
        ("a player 1 1\n charge = 1000001".into(), "units[0].charge: expected 0 to 1000000, found 1000001"),
        ("a player 1 1\n b enemy 1 1\n a enemy 1 1".into(), "units[2].id: unit `a` is listed twice"),
        (skill("ap = 1001, cooldown = 0"), "units[0].skills[0].ap: expected 0 to 1000, found 1001"),
        (skill("ap = 0, cooldown = 1001"), "units[0].skills[0].cooldown: expected 0 to 1000, found 1001"),
        (
            skill("ap = 0, cooldown = 0, damage = 1000001"),
            "units[0].skills[0].damage: expected 0 to 1000000, found 1000001",
        ),
        (
            skill("ap = 0, cooldown = 0, heal = 1000001"),
            "units[0].skills[0].heal: expected 0 to 1000000, found 1000001",
        ),
        (
            skill("ap = 0, cooldown = 0, status = { id = \"s\", kind = \"mark\", duration = 0 }"),
            "units[0].skills[0].status.duration: expected 1 to 1000000, found 0",
        ),
        (status("duration = 0"), "units[0].statuses[0].duration: expected 1 to 1000000, found 0"),
        (status("duration = 1000001"), "units[0].statuses[0].duration: expected 1 to 1000000, found 1000001"),
        (
            status("duration = 1, value = 1000001"),
            "units[0].statuses[0].value: expected 0 to 1000000, found 1000001",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), format!("setup: {message}"));
    }
    assert_eq!(error(""), "setup: units: expected 1 to 200, found 0");
}

#[test]
fn ids_are_unique_within_a_unit_and_lists_are_bounded() {
    let skill = |id: &str| format!("{{ id = \"{id}\", ap = 0, cooldown = 0, target = \"any\" }}");
    let status = |id: &str| format!("{{ id = \"{id}\", kind = \"mark\", duration = 1 }}");
    let list = |count: usize, item: &dyn Fn(&str) -> String| {
        (0..count).map(|number| item(&format!("i{number}"))).collect::<Vec<_>>().join(", ")
    };
    let with = |key: &str, items: &str| format!("a player 1 1\n {key} = [{items}]");
    let cases = [
        (
            with("skills", &[skill("x"), skill("x")].join(", ")),
            "units[0].skills[1].id: skill `x` is listed twice",
        ),
        (
            with("statuses", &[status("y"), status("y")].join(", ")),
            "units[0].statuses[1].id: status `y` is listed twice",
        ),
        (with("skills", &list(17, &skill)), "units[0].skills: expected 0 to 16, found 17"),
        (with("statuses", &list(33, &status)), "units[0].statuses: expected 0 to 32, found 33"),
    ];
    for (text, message) in cases {
        assert_eq!(error(&text), format!("setup: {message}"));
    }
    let rules = registry::find("lifecycle").unwrap();
    let most = with("skills", &list(16, &skill)) + &format!("\n statuses = [{}]", list(32, &status));
    rules.read_setup(&units(&most)).unwrap();
    let many =
        |count: usize| (0..count).map(|number| format!("u{number} enemy 1 1")).collect::<Vec<_>>().join("\n");
    rules.read_setup(&units(&many(200))).unwrap();
    assert_eq!(error(&many(201)), "setup: units: expected 1 to 200, found 201");
    // Two units may know the same skill and bear the same status.
    let same = format!("skills = [{}]\n statuses = [{}]", skill("x"), status("y"));
    rules.read_setup(&units(&format!("a player 1 1\n {same}\n b player 1 1\n {same}"))).unwrap();
}

#[test]
fn unknown_words_and_keys_are_errors() {
    for (text, part) in [
        ("a neutral 1 1", "unknown variant `neutral`, expected `player` or `enemy`"),
        ("a player 1 1\n size = 3", "unknown field `size`"),
        ("A player 1 1", "expected an id of 1 to 32 characters"),
        ("a player -1 1", "invalid value: integer `-1`, expected u32"),
        (
            "a player 1 1\n statuses = [{ id = \"x\", kind = \"aura\", duration = 1 }]",
            "unknown variant `aura`",
        ),
        ("a player 1 1\n statuses = [{ id = \"x\", kind = \"dot\" }]", "missing field `duration`"),
        (
            "a player 1 1\n statuses = [{ id = \"x\", kind = \"dot\", duration = \"long\" }]",
            "expected a number of turns or \"permanent\"",
        ),
        (
            "a player 1 1\n statuses = [{ id = \"x\", kind = \"dot\", duration = -1 }]",
            "expected a number of turns or \"permanent\"",
        ),
        (
            "a player 1 1\n skills = [{ id = \"x\", ap = 1, cooldown = 1, target = \"foe\" }]",
            "expected one of `enemy`, `ally`, `self`, `any`",
        ),
    ] {
        let message = error(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn what_is_left_out_has_a_default() {
    let toml = units(
        r#"a player 7 1
        skills = [{ id = "x", ap = 1, cooldown = 1, target = "any" }]
        statuses = [{ id = "y", kind = "mark", duration = "permanent" }]"#,
    );
    let script = r#"
        units attack => 1
        units charge => 0
        units ap => 0
        units max_hp => 7
        units statuses => [{"id":"y","kind":"mark","value":0,"duration":null}]
    "#;
    check(&toml, script);
}
