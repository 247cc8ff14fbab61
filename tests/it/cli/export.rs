//! `turnfold export` and `import`.

use snapbox::str;

use super::{check, duel};
use crate::sandbox::Sandbox;

#[test]
fn an_exported_match_imports_with_the_same_hashes() {
    check(
        &duel(),
        "export duel -o duel.tfl
         export duel -o duel.tfl
         export duel -o duel.tfl --force
         --store elsewhere import duel.tfl
         --store elsewhere import duel.tfl
         --store elsewhere import duel.tfl --name again
         --store elsewhere log duel
         log duel
         --store elsewhere verify
         --store elsewhere export again
         diff duel duel.tfl",
        str![[""]],
    );
}

#[test]
fn nothing_is_imported_from_a_file_that_lies() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    let file = sandbox.read("duel.tfl");
    sandbox.write("lies.tfl", file.replace("to=0,1", "to=0,2"));
    sandbox.write("Bad Name.tfl", &file);
    check(
        &sandbox,
        "--store elsewhere import lies.tfl
         --store elsewhere import \"Bad Name.tfl\"
         --store elsewhere import missing.tfl
         --store elsewhere matches",
        str![[""]],
    );
}

#[test]
fn a_seeded_match_takes_its_seed_along() {
    let sandbox = Sandbox::new();
    sandbox.ok(
        "new duel --rules initiative --setup fixtures/initiative/no-units.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    );
    sandbox.ok("play duel next-turn next-turn");
    sandbox.ok("export duel -o duel.tfl");
    sandbox.ok("--store elsewhere import duel.tfl");
    let next = sandbox.ok("play duel next-turn");
    assert_eq!(sandbox.ok("--store elsewhere play duel next-turn"), next);
    sandbox.ok("--store elsewhere verify duel");
}
