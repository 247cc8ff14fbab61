//! `turnfold replay`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_revision_or_file_is_folded_again() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let tampered = sandbox.read("duel.tfl").replace("selected unit=atlas", "selected unit=locust");
    sandbox.write("tampered.tfl", tampered);
    check(
        &sandbox,
        "replay duel
         replay duel.tfl --to 1
         replay duel --to 4
         replay tampered.tfl
         replay duel:1 --step",
        str![[""]],
    );
}
