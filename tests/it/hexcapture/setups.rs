//! HC-1, what a setup leaves out, and setups that cannot be: each error names its field.

use serde_json::{Value, json};
use turnfold_core::dice::DiceStream;
use turnfold_core::{Board, Seat, registry};

use super::start;

fn view(setup: &str) -> Value {
    serde_json::from_str(&start(setup).view(Seat::P1)).unwrap()
}

#[test]
fn hc_1_each_cell_draws_whether_it_is_coloured_and_then_its_colour() {
    for (seed, percent, radius, colors) in [
        (0, 30, 5, 8),
        (7, 30, 5, 8),
        (i64::MAX.unsigned_abs(), 99, 3, 2),
        (1, 1, 40, 32),
        (3, 0, 2, 3),
        (3, 100, 2, 3),
    ] {
        let palette = vec!["\"#123456\""; colors].join(", ");
        let setup = format!(
            "radius = {radius}\npalette = [{palette}]\ngenerate = {{ seed = {seed}, percent = {percent} }}"
        );
        let mut stream = DiceStream::for_setup(seed);
        let mut expected = Vec::new();
        for at in Board::new(radius).hexes() {
            if stream.draw(0, 99) < percent {
                expected.push(json!({"at": at, "color": stream.draw(0, i32::try_from(colors).unwrap() - 1)}));
            }
        }
        assert_eq!(view(&setup)["world"], Value::Array(expected), "{setup}");
    }
}

#[test]
fn hc_1_a_world_of_100_percent_is_full_and_one_of_0_is_empty() {
    let world =
        |percent: u8| view(&format!("generate = {{ seed = 9, percent = {percent} }}"))["world"].clone();
    assert_eq!(world(100).as_array().unwrap().len(), 91);
    assert_eq!(world(0), json!([]));
}

#[test]
fn what_is_left_out_has_its_default() {
    let expected = r##"
        radius = 5
        palette = ["#FF8000", "#CC6600", "#996600", "#666600", "#660099", "#9933FF", "#CC66FF", "#FF99FF"]
        player_color = 0
        timer_seconds = 300
        cursor = [0, 0]
        turtle = [0, 0]
        facing = 0
        hold = 6
        fail_cooldown = 12
        drop_cooldown = 6
        flash = 2
        ticks_per_second = 12
        approach_period = 2
        carry_period = 4
        stick_period = 6
        min_chance = 10
        inventory = []
    "##;
    assert_eq!(start("").state_bytes(), start(expected).state_bytes());
    let rules = registry::find("hexcapture").unwrap();
    let written = rules.write_setup(&rules.read_setup("").unwrap()).unwrap();
    let lines = |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(lines(&written), lines(expected));
}

#[test]
fn what_is_said_is_what_the_match_begins_with() {
    let view = view(
        "timer_seconds = 0\ncursor = [0, 5]\nturtle = [-5, 0]\nfacing = 5\ncells = [{ at = [5, 0], color = 7 }]\ninventory = [{ at = [5, 0], color = 1 }]",
    );
    assert_eq!(view["remaining_seconds"], 0);
    assert_eq!(
        [&view["cursor"], &view["turtle"], &view["facing"]],
        [&json!([0, 5]), &json!([-5, 0]), &json!(5)]
    );
    assert_eq!(view["world"], json!([{"at": [5, 0], "color": 7}]));
    assert_eq!(view["inventory"], json!([{"at": [5, 0], "color": 1}]));
}

#[test]
fn a_bad_value_is_an_error_that_names_its_field() {
    let rules = registry::find("hexcapture").unwrap();
    let many = format!("palette = [{}]", vec!["\"#000000\""; 33].join(", "));
    let cases = [
        ("radius = 0", "radius: expected 1 to 40, found 0"),
        ("radius = 41", "radius: expected 1 to 40, found 41"),
        ("palette = [\"#000000\"]", "palette: expected 2 to 32, found 1"),
        (many.as_str(), "palette: expected 2 to 32, found 33"),
        ("player_color = 8", "player_color: expected 0 to 7, found 8"),
        ("timer_seconds = 1000001", "timer_seconds: expected 0 to 1000000, found 1000001"),
        ("cursor = [6, 0]", "cursor: hex 6,0 is off the board of radius 5"),
        ("turtle = [3, 3]", "turtle: hex 3,3 is off the board of radius 5"),
        ("facing = 6", "facing: expected 0 to 5, found 6"),
        ("hold = 100001", "hold: expected 0 to 100000, found 100001"),
        ("fail_cooldown = 100001", "fail_cooldown: expected 0 to 100000, found 100001"),
        ("drop_cooldown = 100001", "drop_cooldown: expected 0 to 100000, found 100001"),
        ("flash = 100001", "flash: expected 0 to 100000, found 100001"),
        ("ticks_per_second = 0", "ticks_per_second: expected 1 to 100000, found 0"),
        ("approach_period = 0", "approach_period: expected 1 to 100000, found 0"),
        ("carry_period = 100001", "carry_period: expected 1 to 100000, found 100001"),
        ("stick_period = 0", "stick_period: expected 1 to 100000, found 0"),
        ("min_chance = 101", "min_chance: expected 0 to 100, found 101"),
        (
            "generate = { seed = 9223372036854775808, percent = 1 }",
            "generate.seed: expected 0 to 9223372036854775807, found 9223372036854775808",
        ),
        ("generate = { seed = 1, percent = 101 }", "generate.percent: expected 0 to 100, found 101"),
        (
            "generate = { seed = 1, percent = 1 }\ncells = []",
            "generate: expected either `generate` or `cells`, found both",
        ),
        ("cells = [{ at = [6, 0], color = 0 }]", "cells[0].at: hex 6,0 is off the board of radius 5"),
        (
            "cells = [{ at = [1, 0], color = 0 }, { at = [1, 0], color = 1 }]",
            "cells[1].at: hex 1,0 is listed twice",
        ),
        ("cells = [{ at = [1, 0], color = 8 }]", "cells[0].color: expected 0 to 7, found 8"),
        (
            "inventory = [{ at = [0, -6], color = 0 }]",
            "inventory[0].at: hex 0,-6 is off the board of radius 5",
        ),
        (
            "inventory = [{ at = [0, 0], color = 0 }, { at = [0, 0], color = 0 }]",
            "inventory[1].at: hex 0,0 is listed twice",
        ),
        ("inventory = [{ at = [0, 0], color = 255 }]", "inventory[0].color: expected 0 to 7, found 255"),
    ];
    for (setup, message) in cases {
        let error = rules.read_setup(setup).unwrap_err().to_string();
        assert_eq!(error, format!("setup: {message}"), "{setup}");
    }
}

#[test]
fn text_that_is_no_setup_is_an_error_with_its_place_and_key() {
    let rules = registry::find("hexcapture").unwrap();
    for (setup, place, word) in [
        ("speed = 3", "setup:1:1: ", "speed"),
        ("radius = -1", "setup:1:10: ", "-1"),
        ("radius = 256", "setup:1:10: ", "256"),
        ("palette = [\"FF8000\", \"#000000\"]", "setup:1:11: ", "FF8000"),
        ("hold = 1.5", "setup:1:8: ", "1.5"),
        ("generate = { seed = 1 }", "setup:1:12: ", "percent"),
        ("generate = { seed = -1, percent = 1 }", "setup:1:21: ", "-1"),
        ("generate = { seed = 1, percent = 1, radius = 2 }", "setup:1:37: ", "radius"),
        ("cells = [{ at = [1, 0], colour = 1 }]", "setup:1:25: ", "colour"),
        ("cells = [{ at = [1, 0] }]", "setup:1:10: ", "color"),
        ("cells = [{ at = [1, 0, 0], color = 1 }]", "setup:1:17: ", "3"),
    ] {
        let error = rules.read_setup(setup).unwrap_err().to_string();
        assert!(error.starts_with(place) && error.contains(word), "expected {place}…{word}…, found {error}");
    }
}
