//! `turnfold verify --reload`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::workspace;

#[test]
fn states_survive_being_stored() {
    let sandbox = duel();
    let golden = workspace().join("replays/initiative/lance-against-star.tfl");
    sandbox.write("whole.tfl", std::fs::read(golden).unwrap());
    sandbox.check(str![[r#"
$ turnfold verify --reload duel
ok duel: 3 entries, window 8
$ turnfold verify --reload whole.tfl --window 1
ok whole.tfl: 97 entries, window 1
$ turnfold verify --reload whole.tfl --window 50
ok whole.tfl: 97 entries, window 50
$ turnfold verify --reload duel --window 0
exit 2| error: invalid value '0' for '--window <K>': 0 is not in 1..=1000; see `--help`
$ turnfold verify --reload nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold --format json verify --reload duel
{"source":"duel","ok":true,"entries":3,"window":8,"differs_at":null}

"#]]);
}
