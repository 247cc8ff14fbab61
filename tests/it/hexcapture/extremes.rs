//! Drawn worlds, the largest disc and the longest palette.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use turnfold_core::dice::DiceStream;
use turnfold_core::picture::{Block, Tint};
use turnfold_core::{Board, Hex, Seat};

use super::start;
use crate::script::{fixture, outcome_of};

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
        let view: Value = serde_json::from_str(&start(&setup).view(Seat::P1.into())).unwrap();
        assert_eq!(view["world"], Value::Array(expected), "{setup}");
    }
}

#[test]
fn hc_11_a_hex_is_brought_from_rim_to_rim_of_the_largest_disc() {
    // About two of five hexes are empty, and so is the hex at the other end.
    let target = Hex::new(39, 0);
    let colored = |hex: &Hex| (7 * hex.q + 3 * hex.r).rem_euclid(5) >= 2 && *hex != target;
    let cells: Vec<String> =
        Board::new(40).hexes().filter(colored).map(|at| format!("{{ at = [{at}], color = 0 }}")).collect();
    let setup = format!("radius = 40\ncursor = [-39, 0]\nturtle = [-40, 0]\ncells = [{}]", cells.join(", "));
    let mut state = start(&setup);
    let mut outcome = String::new();
    let moves = ["move se"; 78];
    for command in ["act", "tick 7", "roll 0", "release"].into_iter().chain(moves).chain(["act", "tick 1000"])
    {
        let seat = state.default_seat(command).unwrap();
        outcome = outcome_of(&mut *state, 1, seat, command);
    }
    assert!(outcome.contains("dropped field=world at=39,0"), "{outcome}");
    // As fast as on an empty disc: one step to let the turtle past, and 78 steps to the cell next to the cursor, the
    // first at once and then one every four ticks. After six ticks it is charged again, and after six more a roll is
    // due.
    let ticks = 1 + 4 * 78 + 6 + 6;
    assert!(outcome.ends_with(&format!("ticked ticks={ticks}")), "{outcome}");
}

#[test]
fn each_of_32_colours_has_a_letter_of_its_own() {
    let picture = start(&fixture("hexcapture", "thirty-two-colors")).picture(Seat::P1.into());
    let boards = picture.blocks.into_iter().filter_map(|block| match block {
        Block::Hexes(board) => Some(board),
        _ => None,
    });
    let labelled = boards.flat_map(|board| board.cells).filter(|cell| !cell.label.is_empty());
    let pairs: BTreeSet<(String, Tint)> = labelled.map(|cell| (cell.label, cell.tint)).collect();
    let labels: BTreeSet<&String> = pairs.iter().map(|(label, _)| label).collect();
    assert_eq!((pairs.len(), labels.len()), (32, 32));
}
