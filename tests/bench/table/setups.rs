//! Setups that are not fixtures: large setups, and setups of variable size.

use std::fmt::Write as _;

/// Returns a setup with this number of units, half of them on each side, in rows that face each other.
pub(crate) fn cycletap(radius: i32, units: usize) -> String {
    let mut setup = format!("radius = {radius}\n");
    for (owner, side) in [("p1", 1), ("p2", -1)] {
        let row = |row: i32| (-radius..=radius).map(move |q| (q * side, row * side));
        let on_board = |&(q, r): &(i32, i32)| (q + r).abs() <= radius && r.abs() <= radius;
        let kinds = ["captain", "infantry", "cavalry", "officer"].into_iter().cycle();
        for ((q, r), kind) in (1..=radius).flat_map(row).filter(on_board).take(units / 2).zip(kinds) {
            let unit = format!("[[units]]\nowner = \"{owner}\"\nkind = \"{kind}\"\nat = [{q}, {r}]\n");
            setup.push_str(&unit);
        }
    }
    assert_eq!(setup.matches("[[units]]").count(), units, "all units have room");
    setup
}

/// Returns a setup with this number of units that race against each other.
pub(crate) fn lifecycle(units: usize) -> String {
    let mut setup = String::new();
    for number in 0..units {
        let (team, speed) = (if number % 2 == 0 { "player" } else { "enemy" }, 5 + number % 11);
        let unit =
            format!("[[units]]\nid = \"unit-{number}\"\nteam = \"{team}\"\nhp = 100\nspeed = {speed}\n");
        setup.push_str(&unit);
    }
    setup
}

/// Returns a board of `channel` for p1, row by row. All rows except the last are full, so that many moves cause long
/// chains.
pub(crate) fn fullest_channel() -> String {
    let plenitude = "purple = 1, darkblue = 1, blue = 1, green = 1, yellow = 1, orange = 1, red = 1";
    let mut setup = format!(
        "players = 1\nyinyang = true\nplenitude = {{ {plenitude} }}\n\
         [[boards]]\ntokens = \"b1b2b3b4b5\"\nknown = []\n"
    );
    let mut id = 0;
    for (row, letters) in (1..).zip(["PDB", "DBG", "BGY", "GYO", "YOR", "ORP", "RPD", "KKK"]) {
        for (col, letter) in (1..).zip(letters.chars()) {
            id += 1;
            let color = match letter {
                'P' => "purple",
                'D' => "darkblue",
                'B' => "blue",
                'G' => "green",
                'Y' => "yellow",
                'O' => "orange",
                'R' => "red",
                _ => "black",
            };
            writeln!(
                setup,
                "[[energies]]\nid = {id}\ncolor = \"{color}\"\nat = \"p1\"\nrow = {row}\ncol = {col}"
            )
            .expect("writing to a string cannot fail");
        }
    }
    setup
}

/// Returns a board of `hexcapture` with a hex next to the turtle. A wall too thick to reach through surrounds the cell
/// at (`goal`, 0).
pub(crate) fn walled_cell(radius: i32, goal: i32) -> String {
    let mut cells = "{ at = [1, 0], color = 0 }".to_owned();
    let hexes = (-radius..=radius).flat_map(|q| (-radius..=radius).map(move |r| (q, r)));
    let distance = |q: i32, r: i32| (q.abs() + r.abs() + (q + r).abs()) / 2;
    for (q, r) in hexes.filter(|&(q, r)| distance(q, r) <= radius && (1..=5).contains(&distance(q - goal, r)))
    {
        write!(cells, ", {{ at = [{q}, {r}], color = 1 }}").expect("writing to a string cannot fail");
    }
    format!("radius = {radius}\ncells = [{cells}]\n")
}
