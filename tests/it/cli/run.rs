//! `turnfold run`.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

#[test]
fn a_script_is_played_in_memory() {
    let sandbox = Sandbox::new();
    sandbox.write("script.txt", "roll 1 2 3 4\nconfirm\nmove 5,5\np2: stand\nnonsense\nmove 0,1\n");
    check(
        &sandbox,
        "run --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt
         run --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt --keep-going
         run --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff cycle
         matches",
        str![[""]],
    );
}
