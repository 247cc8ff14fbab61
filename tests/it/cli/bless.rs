//! `turnfold bless`.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

const SCRIPT: &str = "turnfold replay 1
+++
ruleset = \"initiative\"
version = 1
dice = \"recorded\"
title = \"A bug report\"
[setup]
radius = 1
+++
# The roll that started it.
1 host roll 1 1 2 2

! p1 cycle
2 host next-turn
";

#[test]
fn outcomes_are_filled_in_and_comments_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("bug.tfl", SCRIPT);
    check(
        &sandbox,
        "check bug.tfl
         bless bug.tfl
         bless bug.tfl
         check bug.tfl",
        str![[""]],
    );
    snapbox::assert_data_eq!(sandbox.read("bug.tfl"), str![[""]]);
}

#[test]
fn a_file_that_cannot_be_blessed_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let rejected = SCRIPT.replace("2 host next-turn", "2 p1 cycle");
    let accepted = SCRIPT.replace("! p1 cycle", "! host next-turn");
    let malformed = SCRIPT.replace("2 host next-turn", "2 host dance");
    sandbox.write("rejected.tfl", &rejected);
    sandbox.write("accepted.tfl", &accepted);
    sandbox.write("malformed.tfl", &malformed);
    check(
        &sandbox,
        "bless rejected.tfl
         bless accepted.tfl
         bless malformed.tfl
         bless missing.tfl",
        str![[""]],
    );
    assert_eq!(sandbox.read("rejected.tfl"), rejected);
    assert_eq!(sandbox.read("accepted.tfl"), accepted);
}
