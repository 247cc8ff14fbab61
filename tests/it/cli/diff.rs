//! `turnfold diff`.

use snapbox::str;

use super::{check, duel};

#[test]
fn two_lines_of_play_part_somewhere() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank \"move 1,1\"");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    check(
        &sandbox,
        "diff duel duel@flank
         diff duel duel:2
         diff duel duel.tfl
         --format json diff duel duel@flank
         diff other duel:0
         diff duel missing.tfl",
        str![[""]],
    );
}
