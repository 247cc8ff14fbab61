//! `turnfold new` and `turnfold matches`.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

#[test]
fn a_match_is_created_once() {
    check(
        &Sandbox::new(),
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --title \"First blood\"
         new duel --rules initiative --setup fixtures/initiative/small-board.toml
         matches
         --format json show duel",
        str![[""]],
    );
}

#[test]
fn a_seeded_match_keeps_its_seed() {
    check(
        &Sandbox::new(),
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         --format json new other --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         play duel
         play other
         matches",
        str![[""]],
    );
}

#[test]
fn unusable_arguments_are_named() {
    let sandbox = Sandbox::new();
    sandbox.write("unknown-key.toml", "radius = 3\nheight = 2\n");
    sandbox.write("off-board.toml", "radius = 1\n[[units]]\nid = \"a\"\nowner = \"p1\"\nat = [2, 0]\n");
    sandbox.write("bad.toml", "radius = \n");
    sandbox.write("binary.toml", [0xff, 0xfe]);
    check(
        &sandbox,
        "new duel --rules chess --setup fixtures/initiative/small-board.toml
         new duel --rules initiative --setup missing.toml
         new duel --rules initiative --setup unknown-key.toml
         new duel --rules initiative --setup off-board.toml
         new duel --rules initiative --setup bad.toml
         new duel --rules initiative --setup binary.toml
         new duel --rules initiative --setup fixtures
         new Duel --rules initiative --setup fixtures/initiative/small-board.toml
         new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00
         new duel --rules initiative --setup fixtures/initiative/small-board.toml --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
         matches",
        str![[""]],
    );
}

#[test]
fn a_store_that_is_no_store_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "not a store");
    std::fs::create_dir(sandbox.path("foreign")).unwrap();
    sandbox.write("foreign/notes.txt", "mine");
    std::fs::create_dir(sandbox.path("future")).unwrap();
    sandbox.write("future/FORMAT", "turnfold store 2\n");
    check(
        &sandbox,
        "--store file matches
         --store file new duel --rules initiative --setup fixtures/initiative/small-board.toml
         --store foreign new duel --rules initiative --setup fixtures/initiative/small-board.toml
         --store future matches
         --store missing matches
         --store missing play duel cycle",
        str![[""]],
    );
    assert_eq!(sandbox.read("file"), "not a store");
    assert_eq!(sandbox.read("foreign/notes.txt"), "mine");
}
