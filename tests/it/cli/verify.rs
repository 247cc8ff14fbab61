//! `turnfold verify`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_sound_store_passes_its_audit() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    check(
        &sandbox,
        "verify
         verify duel
         --format json verify other
         verify nobody",
        str![[""]],
    );
}
