//! `turnfold branch` and `branches`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_branch_parts_from_any_entry_and_goes_its_own_way() {
    check(
        &duel(),
        "branch duel:2 flank
         play duel@flank \"move 1,1\"
         branch duel@flank deeper
         branches duel
         --format json branches duel
         log duel@flank
         log duel
         branch --delete duel@flank
         branch --delete duel@deeper
         branch --delete duel@flank
         branches duel",
        str![[""]],
    );
}

#[test]
fn branches_that_cannot_be_are_refused() {
    check(
        &duel(),
        "branch duel:9 flank
         branch duel Flank
         branch duel main
         branch nobody flank
         branch duel
         branch --delete duel
         branch --delete duel@nowhere
         branches nobody",
        str![[""]],
    );
}
