//! `turnfold table`.

use snapbox::str;
use turnfold_tests::sandbox::Sandbox;

use super::duel;

#[test]
fn matches_entries_effects_and_fields_become_rows() {
    let sandbox = duel();
    sandbox.ok("export duel -o duel.tfl");
    sandbox.check(str![[r#"
$ turnfold table matches duel.tfl
source,ruleset,version,title,seats,entries,turn,over,winner,result,first_at_ms,last_at_ms,state_hash
duel.tfl,initiative,1,"",p1 p2,3,1,false,,,,,8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7
$ turnfold table entries duel.tfl
source,seq,seat,command,command_name,outcome,reason,effect_count,state_hash,recorded_at_ms
duel.tfl,1,host,roll 1 2 3 4,roll,applied,,5,e67f02be3627678a2b07e2fc706870cf7ab6b4747457af5e4294664af4f844d7,
duel.tfl,2,p1,confirm,confirm,applied,,1,01c8c4ec6ad17e5ade4125bd7705255954648578b138f503368e11ea7222239f,
duel.tfl,3,p1,"move 0,1",move,applied,,3,8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7,
$ turnfold table effects duel.tfl:1
source,seq,effect_number,effect,p1,p2,loser,winner,impulses,text,at
duel.tfl,1,1,rolled,3,7,,,,,
duel.tfl,1,2,initiative,3,7,p1,p2,,,
duel.tfl,1,3,movement_order,,,,,"[{""player"":""p1"",""units"":1},{""player"":""p2"",""units"":1},{""player"":""p1"",""units"":1},{""player"":""p2"",""units"":1}]",,
duel.tfl,1,4,flash,,,,,,"Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first",
duel.tfl,1,5,cursor,,,,,,,"[0,2]"
$ turnfold --format json table effects duel.tfl:1
{"source":"duel.tfl","seq":1,"effect_number":1,"effect":"rolled","p1":3,"p2":7}
{"source":"duel.tfl","seq":1,"effect_number":2,"effect":"initiative","p1":3,"p2":7,"loser":"p1","winner":"p2"}
{"source":"duel.tfl","seq":1,"effect_number":3,"effect":"movement_order","impulses":[{"player":"p1","units":1},{"player":"p2","units":1},{"player":"p1","units":1},{"player":"p2","units":1}]}
{"source":"duel.tfl","seq":1,"effect_number":4,"effect":"flash","text":"Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"}
{"source":"duel.tfl","seq":1,"effect_number":5,"effect":"cursor","at":[0,2]}
$ turnfold table fields duel.tfl --field /turn --field /units/0/at --field /selected
source,seq,/turn,/units/0/at,/selected
duel.tfl,0,1,"[0,2]",
duel.tfl,1,1,"[0,2]",
duel.tfl,2,1,"[0,2]",atlas
duel.tfl,3,1,"[0,1]",
$ turnfold table entries duel.tfl --as p1
source,seq,seat,command,command_name,outcome,reason,effect_count,state_hash,recorded_at_ms
duel.tfl,1,host,roll 1 2 3 4,roll,applied,,5,,
duel.tfl,2,p1,confirm,confirm,applied,,1,,
duel.tfl,3,p1,"move 0,1",move,applied,,3,,
$ turnfold table entries duel.tfl -o entries.csv
wrote 3 rows to `entries.csv`
$ turnfold --format json table entries duel.tfl -o entries.jsonl
{"rows":3,"file":"entries.jsonl"}
$ turnfold table effects duel.tfl -o effects.csv
wrote 9 rows to `effects.csv`

"#]]);
    assert_eq!(sandbox.read("entries.csv"), sandbox.ok("table entries duel.tfl"));
    assert_eq!(sandbox.read("entries.jsonl"), sandbox.ok("--format json table entries duel.tfl"));
    assert_eq!(sandbox.read("effects.csv"), sandbox.ok("table effects duel.tfl"));
}

#[test]
fn text_with_quotes_commas_and_control_characters_stays_in_its_cell() {
    let sandbox = Sandbox::new();
    let replay = sandbox.ok("simulate --rules cycletap --seed 1 --steps 1");
    let title = r#"title = "a \"b\", c\n\u001b[31m""#;
    let replay = replay.replace("title = \"random play, seed 1\"", title);
    sandbox.write("odd.tfl", replay.split("\n= 1").next().unwrap().to_owned() + "\n");
    let row = sandbox.ok("table matches odd.tfl");
    assert!(row.contains("odd.tfl,cycletap,1,\"a \"\"b\"\", c\n\u{1b}[31m\",p1 p2,1,"), "{row}");
    let row = sandbox.ok("--format json table matches odd.tfl");
    assert!(row.contains(r#""title":"a \"b\", c\n\u001b[31m","#), "{row}");
}

#[test]
fn a_table_that_cannot_be_written_is_no_file() {
    let sandbox = duel();
    sandbox.ok("export duel -o games.tfl");
    sandbox.write("bad.tfl", "no replay");
    sandbox.check(str![[r#"
$ turnfold table entries duel -o table.parquet
exit 2| error: cannot write `table.parquet`: there is no Parquet in this build; write `table.csv`, then `duckdb -c "COPY (FROM 'table.csv') TO 'table.parquet'"`
$ turnfold table entries duel -o table
exit 2| error: cannot choose a form for `table`; name a file that ends in `.csv` or `.jsonl`
$ turnfold table entries duel -o games.tfl
exit 2| error: `games.tfl` exists; `--force` overwrites it
$ turnfold table entries duel --field /turn
exit 2| error: `--field` is for `table fields`
$ turnfold table fields duel
exit 2| error: the following required arguments were not provided: --field <PATH>; see `--help`
$ turnfold table fields duel --field turn
exit 2| error: expected a path into the view such as `/turn` or `/units/0/at`, found `turn`
$ turnfold table fields duel --field /trun -o trun.csv
exit 2| error: `/trun` is nowhere in the view, after any entry
$ turnfold table entries duel bad.tfl -o bad.csv
wrote 3 rows to `bad.csv`
stderr| error: bad.tfl:1:1: expected `turnfold replay 2`, found `no replay`
exit 2| error: 1 of 2 logs cannot be read
$ turnfold table entries duel -o no/folder.csv
exit 3| error: cannot write `no/folder.csv`: No such file or directory (os error 2)

"#]]);
    for file in ["table.parquet", "table", "trun.csv"] {
        assert!(!sandbox.path(file).exists(), "{file}");
    }
}

#[test]
fn a_store_without_matches_is_a_table_without_rows() {
    let sandbox = duel();
    sandbox.ok("delete duel --force");
    sandbox.check(str![[r#"
$ turnfold table fields --matches --field /turn
source,seq,/turn

"#]]);
}
