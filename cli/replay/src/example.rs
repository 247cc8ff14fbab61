//! A small match that the tests of this crate read.

use turnfold_core::Registry;

use crate::tfl::{Replay, read};

/// One unit each on a board of radius 3, with recorded dice.
const HEADER: &str = r#"turnfold replay 1
+++
ruleset = "initiative"   # kept as it is
version = 1
dice = "recorded"
[setup]
radius = 3
[[setup.units]]
id = "a1"
owner = "p1"
at = [0, 3]
[[setup.units]]
id = "b1"
owner = "p2"
at = [0, -3]

+++
"#;

/// The number of the first line after the header.
pub(crate) const FIRST: usize = 18;

/// Reads a replay of the match with these lines.
pub(crate) fn replay(body: &str) -> Replay {
    read("x.tfl", text(body).as_bytes(), &Registry::standard()).unwrap()
}

/// Returns the text of such a replay.
pub(crate) fn text(body: &str) -> String {
    format!("{HEADER}{body}")
}

/// Returns what stands after the header.
pub(crate) fn body(replay: &Replay) -> String {
    replay.to_string().strip_prefix(HEADER).expect("the header is kept").into()
}
