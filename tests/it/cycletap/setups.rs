//! Setups that cannot be: each error names the field, the unit or the hex.

use turnfold_core::{Seat, registry};

use super::{setup, start};

const UNITS: &str = "p1 officer 0,1; p2 officer 0,-1";

fn error(toml: &str) -> String {
    registry::find("cycletap").unwrap().read_setup(toml).unwrap_err().to_string()
}

#[test]
fn a_bad_value_is_an_error_that_names_its_field() {
    let cases = [
        ("radius = 0", UNITS, "setup: radius: expected 1 to 40, found 0"),
        ("radius = 41", UNITS, "setup: radius: expected 1 to 40, found 41"),
        ("radius = 3\nmax_movement = 0", UNITS, "setup: max_movement: expected 1 to 10, found 0"),
        ("radius = 3\nmax_movement = 11", UNITS, "setup: max_movement: expected 1 to 10, found 11"),
        (
            "radius = 3\nmax_deploy = 2",
            UNITS,
            "setup: max_deploy: expected 1, the only value there is, found 2",
        ),
        (
            "radius = 3\nmax_deploy = 0",
            UNITS,
            "setup: max_deploy: expected 1, the only value there is, found 0",
        ),
        ("radius = 3\ndefense_bonus = 101", UNITS, "setup: defense_bonus: expected 0 to 100, found 101"),
        ("radius = 3\nwater = [[4, 0]]", UNITS, "setup: water[0]: hex 4,0 is off the board of radius 3"),
        ("radius = 3\nwater = [[1, 1], [1, 1]]", UNITS, "setup: water[1]: hex 1,1 is listed twice"),
        ("radius = 3\nwater = [[0, -1]]", UNITS, "setup: units[1].at: unit `u2` stands on water hex 0,-1"),
        (
            "radius = 3",
            "p1 officer 0,1; p2 officer 2,2",
            "setup: units[1].at: hex 2,2 is off the board of radius 3",
        ),
        (
            "radius = 3",
            "p1 officer 0,1; p2 officer 0,2; p1 captain 0,1",
            "setup: units[2].at: units `u1` and `u3` both stand on hex 0,1",
        ),
        (
            "radius = 3",
            "p1 officer 0,1; p3 officer 0,2",
            "setup: units[1].owner: expected `p1` or `p2`, found `p3`",
        ),
        (
            "radius = 3",
            "host officer 0,1; p2 officer 0,2",
            "setup: units[0].owner: expected `p1` or `p2`, found `host`",
        ),
        (
            "radius = 3",
            "p1 officer 0,1; p2 officer 0,2 0",
            "setup: units[1].strength: expected 1 to 1000, found 0",
        ),
        (
            "radius = 3",
            "p1 officer 0,1; p2 officer 0,2 1001",
            "setup: units[1].strength: expected 1 to 1000, found 1001",
        ),
        ("radius = 3", "p1 officer 0,1", "setup: units: expected 2 to 400, found 1"),
        ("radius = 3", "p1 officer 0,1; p1 officer 0,2", "setup: units: side `p2` has no unit"),
        ("radius = 3", "p2 officer 0,1; p2 officer 0,2", "setup: units: side `p1` has no unit"),
    ];
    for (top, units, message) in cases {
        assert_eq!(error(&setup(top, units)), message);
    }
}

#[test]
fn text_that_is_no_setup_is_an_error_with_its_place_and_key() {
    let cases = [
        ("radius = 3\nspeed = 1", UNITS, "setup:2:1: ", "speed"),
        ("radius = 3", "p1 general 0,1; p2 officer 0,2", "setup:4:8: ", "general"),
        ("radius = 3", "p9 officer 0,1; p2 officer 0,2", "setup:3:9: ", "p9"),
        ("radius = 300", UNITS, "setup:1:10: ", "300"),
        ("radius = 3", "p1 officer 0,1,2; p2 officer 0,2", "setup:5:6: ", "3"),
    ];
    for (top, units, place, word) in cases {
        let error = error(&setup(top, units));
        assert!(error.starts_with(place) && error.contains(word), "expected {place}…{word}…, found {error}");
    }
    assert!(error("radius = 3").contains("units"), "`units` may not be left out");
    let coloured = setup("radius = 3", UNITS) + "colour = 1\n";
    assert!(error(&coloured).contains("colour"));
}

#[test]
fn what_may_be_left_out_has_its_default() {
    let units = "p1 infantry 0,1; p1 cavalry 0,2; p2 officer 0,-1; p2 captain 0,-2; p2 captain 0,-3 1000";
    let state = start(&setup("radius = 3", units));
    let expected = r#""units":[{"id":"u1","owner":"p1","kind":"infantry","at":[0,1],"strength":2},{"id":"u2","owner":"p1","kind":"cavalry","at":[0,2],"strength":3},{"id":"u3","owner":"p2","kind":"officer","at":[0,-1],"strength":1},{"id":"u4","owner":"p2","kind":"captain","at":[0,-2],"strength":2},{"id":"u5","owner":"p2","kind":"captain","at":[0,-3],"strength":1000}],"orders":[],"water":[]}"#;
    assert!(state.view(Seat::Host).ends_with(expected), "{}", state.view(Seat::Host));
}

#[test]
fn at_most_400_units_stand_on_a_board() {
    let places = (-40..=40_i32).flat_map(|q| (-40..=40_i32).map(move |r| (q, r)));
    let on_board = places.filter(|(q, r)| (q + r).abs() <= 40).enumerate();
    let units: Vec<String> =
        on_board.map(|(number, (q, r))| format!("p{} captain {q},{r} 1000", number % 2 + 1)).collect();
    assert_eq!(
        error(&setup("radius = 40", &units[..401].join("; "))),
        "setup: units: expected 2 to 400, found 401"
    );
    let state =
        start(&setup("radius = 40\nmax_movement = 10\ndefense_bonus = 100", &units[..400].join("; ")));
    assert!(state.view(Seat::P1).contains(r#""p1":{"total":600,"used":0,"available":600}"#));
}
