//! `turnfold verify`.

use snapbox::str;

use super::duel;

#[test]
fn a_sound_store_passes_its_audit() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.check(str![[r#"
$ turnfold verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@flank: 2 entries state 01c8c4ec6ad17e5a link [LINK]
ok other@main: 0 entries state 1003444186ac4428 link [LINK]
$ turnfold verify duel
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@flank: 2 entries state 01c8c4ec6ad17e5a link [LINK]
$ turnfold --format json verify other
{"match":"other","ok":true,"branches":[{"branch":"main","entries":0,"link":"[LINK]","state_hash":"1003444186ac4428c4c9fcce4cddf0279296673fb13820b8177772cc7931c2a2"}],"findings":[],"dice":null}
$ turnfold verify nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are

"#]]);
}
