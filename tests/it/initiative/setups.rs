//! Setups that cannot be: each error names the field, the unit or the hex.

use turnfold_core::registry;

/// Reads a setup of radius 3 with these lines added at the top level and these units.
fn error(top: &str, units: &str) -> String {
    let radius = if top.contains("radius") { "" } else { "radius = 3\n" };
    let toml = format!("{radius}{top}\n{units}");
    registry::find("initiative").unwrap().read_setup(&toml).unwrap_err().to_string()
}

fn unit(id: &str, owner: &str, at: &str, more: &str) -> String {
    format!("[[units]]\nid = \"{id}\"\nowner = \"{owner}\"\nat = {at}\n{more}\n")
}

#[test]
fn a_bad_value_is_an_error_that_names_its_field() {
    let a = unit("a", "p1", "[0, 1]", "");
    let cases = [
        ("radius = 0", String::new(), "setup: radius: expected 1 to 100, found 0"),
        ("radius = 101", String::new(), "setup: radius: expected 1 to 100, found 101"),
        ("blocked = [[4, 0]]", String::new(), "setup: blocked[0]: hex 4,0 is off the board of radius 3"),
        ("blocked = [[1, 1], [0, 0], [1, 1]]", String::new(), "setup: blocked[2]: hex 1,1 is listed twice"),
        ("", unit("b", "p1", "[2, 2]", ""), "setup: units[0].at: hex 2,2 is off the board of radius 3"),
        ("blocked = [[0, 1]]", a.clone(), "setup: units[0].at: unit `a` stands on blocked hex 0,1"),
        (
            "",
            a.clone() + &unit("b", "p2", "[0, 1]", ""),
            "setup: units[1].at: units `a` and `b` both stand on hex 0,1",
        ),
        ("", a.clone() + &unit("a", "p2", "[0, 2]", ""), "setup: units[1].id: unit `a` is listed twice"),
        ("", unit("b", "p3", "[0, 0]", ""), "setup: units[0].owner: expected `p1` or `p2`, found `p3`"),
        ("", unit("b", "host", "[0, 0]", ""), "setup: units[0].owner: expected `p1` or `p2`, found `host`"),
        ("", unit("b", "p1", "[0, 0]", "mp = 201"), "setup: units[0].mp: expected 0 to 200, found 201"),
    ];
    for (top, units, message) in cases {
        assert_eq!(error(top, &units), message);
    }
}

#[test]
fn a_name_is_1_to_64_characters_without_control_characters() {
    let named = |name: &str| unit("b", "p1", "[0, 0]", &format!("name = \"{name}\""));
    for name in [String::new(), "é".repeat(65), "a\\tb".into(), "a\\u007fb".into()] {
        let message = "setup: units[0].name: expected 1 to 64 characters without control characters";
        assert_eq!(error("", &named(&name)), message, "{name:?}");
    }
    let rules = registry::find("initiative").unwrap();
    for name in ["x".to_owned(), "é".repeat(64), "Mad Cat — \\\"Timber Wolf\\\"".into()] {
        rules.read_setup(&format!("radius = 3\n{}", named(&name))).unwrap();
    }
}

#[test]
fn at_most_400_units_stand_on_a_board() {
    let places = (-20..=20_i32).flat_map(|q| (-20..=20_i32).map(move |r| (q, r)));
    let units: Vec<String> = places
        .filter(|(q, r)| (q + r).abs() <= 20)
        .enumerate()
        .map(|(number, (q, r))| unit(&format!("u{number}"), "p1", &format!("[{q}, {r}]"), ""))
        .collect();
    let message = "setup: units: expected 0 to 400, found 401";
    assert_eq!(error("radius = 20", &units[..401].concat()), message);
    registry::find("initiative")
        .unwrap()
        .read_setup(&format!("radius = 20\n{}", units[..400].concat()))
        .unwrap();
}

#[test]
fn text_that_is_no_setup_is_an_error_with_its_place_and_key() {
    let a = unit("a", "p1", "[0, 1]", "");
    let cases = [
        ("speed = 3", String::new(), "setup:2:1: ", "speed"),
        ("", unit("b", "p1", "[0, 0]", "colour = 1"), "setup:7:1: ", "colour"),
        ("radius = 256", String::new(), "setup:1:10: ", "256"),
        ("radius = -1", String::new(), "setup:1:10: ", "-1"),
        ("radius = \"3\"", String::new(), "setup:1:10: ", "string"),
        ("blocked = [[1]]", String::new(), "setup:2:12: ", "length 1"),
        ("", unit("B", "p1", "[0, 0]", ""), "setup:4:6: ", "`B`"),
        ("", unit("b", "p9", "[0, 0]", ""), "setup:5:9: ", "p9"),
        ("", unit("b", "p1", "[0, 0]", "mp = -1"), "setup:7:6: ", "-1"),
        ("", a.replace("owner = \"p1\"\n", ""), "setup:3:1: ", "owner"),
        ("radius = 3\nradius = 4", String::new(), "setup:2:1: ", "duplicate"),
    ];
    for (top, units, place, word) in cases {
        let error = error(top, &units);
        assert!(error.starts_with(place) && error.contains(word), "expected {place}…{word}…, found {error}");
    }
}

#[test]
fn a_hex_of_three_numbers_is_an_error() {
    for (top, units) in [("blocked = [[1, 2, 3]]", String::new()), ("", unit("b", "p1", "[0, 0, 7]", ""))] {
        let error = error(top, &units);
        assert!(error.contains('3'), "{error}");
    }
}

#[test]
fn what_may_be_left_out_has_its_default() {
    let rules = registry::find("initiative").unwrap();
    let short = rules.read_setup(&format!("radius = 3\n{}", unit("b", "p2", "[0, 0]", ""))).unwrap();
    let state = rules.start(&short).unwrap();
    let expected = r#""units":[{"id":"b","owner":"p2","name":"b","at":[0,0],"mp":4}],"blocked":[],"#;
    assert!(state.view(turnfold_core::Seat::P1).contains(expected));
}
