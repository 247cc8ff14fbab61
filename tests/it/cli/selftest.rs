//! `turnfold selftest`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::workspace;

#[test]
fn states_survive_being_stored() {
    let sandbox = duel();
    let golden = workspace().join("replays/initiative/lance-against-star.tfl");
    sandbox.write("whole.tfl", std::fs::read(golden).unwrap());
    sandbox.check(str![[r#"
$ turnfold selftest duel
ok duel: 3 entries, window 8
$ turnfold selftest whole.tfl --window 1
ok whole.tfl: 97 entries, window 1
$ turnfold selftest whole.tfl --window 50
ok whole.tfl: 97 entries, window 50
$ turnfold selftest duel --window 0
exit 2| error: invalid value '0' for '--window <K>': 0 is not in 1..=1000; see `--help`
$ turnfold selftest nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold --format json selftest duel
{"ok":true,"entries":3,"window":8,"differs_at":null}

"#]]);
}
