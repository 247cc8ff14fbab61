//! `turnfold simulate`.

use std::fmt::Write as _;

use snapbox::{IntoData, str};
use turnfold_games::rulesets;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn random_play_becomes_a_file_a_match_or_a_document() {
    Sandbox::new().check(str![[r#"
$ turnfold simulate --rules lifecycle --seed 7 --steps 4
turnfold replay 2
+++
ruleset = "lifecycle"
version = 1
dice = "recorded"
title = "random play, seed 7"

...
+++
1 host tick 100000 => ticked ticks=9; turn_change previous=none next=scout is_new_round=true; ap_set ap=5 #81e8226ce5fc2efb
2 p1 end => turn_ended unit=scout charge=8 #387999ce97841175
3 host tick 100000 => ticked ticks=4; turn_change previous=scout next=ogre is_new_round=false; ap_set ap=4 #51cc475187d8dd07
4 p2 end => turn_ended unit=ogre charge=4 #31270ae8247ccff7
= 4 state 31270ae8247ccff78ae7540ec81175f1da2fcf98339df0d7494cb4beeb2e73a1 log b03d35e1d6c2164b6874e489c7673d1f0b3fec2c431064e9a212140725d2943f header 3a0e41c738918e61dd11d1a119c733c7
$ turnfold simulate --rules initiative --setup fixtures/initiative/lance-against-star.toml --seed 7 --steps 300 -o random.tfl
played 300 entries at random into `random.tfl` #e197d75e13a7da0d
$ turnfold check random.tfl
ok random.tfl 300 entries
1 passed, 0 failed (300 entries)
$ turnfold simulate --rules lifecycle --seed 7 --steps 2000 -o whole.tfl
played 50 entries at random into `whole.tfl`, then the match was over #f7249d4bd0ac3d23
$ turnfold simulate --rules cycletap --seed 7 --steps 40 --into random
played 40 entries at random into match random #7735d0610f6f66c5
$ turnfold log random:3
1 p1 tap 0,1 => origin_selected at=0,1 #f7af8d1ebc03f21c
2 p1 tap 0,2 => order_placed number=1 unit=u1 kind=attack path=0,2 #2dd8505a6e0a574d
3 p1 tap -1,2 => order_placed number=2 unit=u1 kind=attack path=-1,2 #675a176fda808feb
$ turnfold verify random
ok random@main: 40 entries state 7735d0610f6f66c5 link [LINK]
$ turnfold --format json simulate --rules hexcapture --seed 7 --steps 30 --into dice --dice seeded
{"ruleset":"hexcapture","version":1,"seed":7,"entries":30,"over":false,"state_hash":"952cdb13c8e58f96588b70245398747e795478037d5145b845395c5091a1db49","match":"dice","file":null,"replay":null}
$ turnfold verify dice
ok dice@main: 30 entries state 952cdb13c8e58f96 link [LINK]
$ turnfold --format json simulate --rules cycletap --seed 1 --steps 1
{"ruleset":"cycletap","version":1,"seed":1,"entries":1,"over":false,"state_hash":"7fa17911f3fbdf8e4e080a166d2276a3b855987ca830e32084fe72ffec6f0f2c","match":null,"file":null,"replay":"turnfold replay 2\n+++\nruleset = \"cycletap\"\nversion = 1\ndice = \"recorded\"\ntitle = \"random play, seed 1\"\n\n[setup]\nradius = 2\nwater = []\nmax_movement = 3\nmax_deploy = 1\ndefense_bonus = 1\n\n[[setup.units]]\nowner = \"p1\"\nkind = \"captain\"\nat = [0, 1]\n\n[[setup.units]]\nowner = \"p1\"\nkind = \"infantry\"\nat = [-1, 1]\n\n[[setup.units]]\nowner = \"p2\"\nkind = \"captain\"\nat = [0, -1]\n\n[[setup.units]]\nowner = \"p2\"\nkind = \"infantry\"\nat = [1, -1]\n+++\n1 p1 tap -1,1 => origin_selected at=-1,1 #7fa17911f3fbdf8e\n= 1 state 7fa17911f3fbdf8e4e080a166d2276a3b855987ca830e32084fe72ffec6f0f2c log dc7e470a530ff12078fdaa219e6debd7c21c9cd8e45eea3168fe5c57e70f7692 header f1c4bfffaae4c20e0cccc590097e444e\n"}

"#]]);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", "radius = 300\n");
    sandbox.check(str![[r#"
$ turnfold simulate --rules chess --seed 1 --steps 1
exit 2| error: unknown ruleset `chess`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold simulate --rules cycletap --steps 1
exit 2| error: the following required arguments were not provided: --seed <N|HEX>; see `--help`
$ turnfold simulate --rules cycletap --seed 1 --steps -1
exit 2| error: unexpected argument '-1' found; tip: to pass '-1' as a value, use '-- -1'; see `--help`
$ turnfold simulate --rules cycletap --setup missing.toml --seed 1 --steps 1
exit 2| error: cannot read setup `missing.toml`: No such file or directory (os error 2)
$ turnfold simulate --rules cycletap --setup bad.toml --seed 1 --steps 1
exit 2| error: bad.toml:1:10: invalid value: integer `300`, expected u8
$ turnfold simulate --rules cycletap --seed 1 --steps 1 --into x -o x.tfl
exit 2| error: the argument '--into <MATCH>' cannot be used with '--output <FILE>'; see `--help`
$ turnfold simulate --rules cycletap --seed 1 --steps 1 -o bad.toml
exit 2| error: `bad.toml` exists; `--force` overwrites it
$ turnfold simulate --rules cycletap --seed 1 --steps 1 --into x
played 1 entry at random into match x #7fa17911f3fbdf8e
$ turnfold simulate --rules cycletap --seed 1 --steps 1 --into x
exit 2| error: match `x` already exists; choose another name
$ turnfold log x
1 p1 tap -1,1 => origin_selected at=-1,1 #7fa17911f3fbdf8e
$ turnfold simulate --rules lifecycle advance -o played.tfl
exit 2| error: `-o` is for `--steps`: given commands make no file; `new`, `play --script` and `export` make one
$ turnfold simulate --rules lifecycle advance --into played
exit 2| error: the following required arguments were not provided: --seed <N|HEX> --steps <N>; see `--help`

"#]]);
}

#[test]
fn many_matches_are_the_files_that_single_calls_write() {
    let sandbox = Sandbox::new();
    sandbox.check(str![[r#"
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --dice seeded --count 3 -o games/many
played 3 matches with 147 entries at random into `games/many`, 0 of them to the end
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --count 3 -o games/many
exit 2| error: `games/many/9.tfl` exists; `--force` overwrites it
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --count 3
exit 2| error: the following required arguments were not provided: --output <FILE>; see `--help`
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --count 0 -o none
exit 2| error: invalid value '0' for '--count <N>': number would be zero for non-zero type; see `--help`
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --count 3 -o -
exit 2| error: several files need a folder; name one with `-o`
$ turnfold simulate --rules lifecycle --seed 9 --steps 49 --count 3 -o games/many/9.tfl
exit 2| error: `games/many/9.tfl` is no folder; nothing was written
$ turnfold simulate --rules lifecycle --seed 18446744073709551614 --steps 1 --count 3 -o last
exit 2| error: there are no 3 seeds from 18446744073709551614 on; the last is 18446744073709551615
$ turnfold simulate --rules lifecycle --seed 9 --steps 1 --count 3 --into x
exit 2| error: the argument '--count <N>' cannot be used with '--into <MATCH>'; see `--help`

"#]]);
    for seed in [9, 10, 11] {
        let one = sandbox.ok(&format!("simulate --rules lifecycle --seed {seed} --steps 49 --dice seeded"));
        assert_eq!(sandbox.read(&format!("games/many/{seed}.tfl")), one, "{seed}");
    }
}

/// If a digest here changes, then all logs that people identify by ruleset and seed have changed.
#[test]
fn a_seed_makes_the_same_bytes_for_ever() {
    let sandbox = Sandbox::new();
    let mut digests = String::new();
    for rules in rulesets() {
        for dice in ["recorded", "seeded"] {
            let line = format!("simulate --rules {} --seed 42 --steps 200 --dice {dice}", rules.name());
            let replay = sandbox.ok(&line);
            assert_eq!(replay, sandbox.ok(&line));
            writeln!(digests, "{} {dice} {}", rules.name(), closing(&replay)).unwrap();
            sandbox.write(&format!("{}-{dice}.tfl", rules.name()), &replay);
        }
    }
    snapbox::assert_data_eq!(digests, str![[r#"
channel recorded = 200 state cf89568a5d21ba42586d889452c6545050dbcfcf590a38f9a1fb70e071c45bae log bc6e9fc6336fcfae1264925925b1be50a84f692653cae369a2ba73ca15110a1a header fd13dee4401b03c3b0c4df384eef0bec
channel seeded = 200 state cf89568a5d21ba42586d889452c6545050dbcfcf590a38f9a1fb70e071c45bae log 0efeea9a48c0f9dafd3949745ae2e870a602e13e6079ac8ffe6b8cebea99677a header ae44e9a6619524093f50a0442a98843c
cycletap recorded = 200 state 23449abd1633fa7fcea8b83302613c0ee8bd51f490ff7ed6a0de182434eca781 log 950c4fdcdf81e223d8b47f46da8b75cac82578834e1c1f8535237f2e39fe16ad header f143a505ec2c69bfa0cb9cdc5d6e3031
cycletap seeded = 200 state 23449abd1633fa7fcea8b83302613c0ee8bd51f490ff7ed6a0de182434eca781 log ba8326ce20f6ca134c80545e13f61f5ac4123ca6523697f61c4337dcda706a56 header a274afc80da68a052f575de83917a881
desk recorded = 5 state a381085e389de5fbce9c609be662256b81c317d386cd4761d98fb08ac67a47d5 log fb03cba87308c1f40a262f972816320240204545bbfa9113908cb667cb32c5be header 4815d212e5507563898b80b58729e505
desk seeded = 5 state a381085e389de5fbce9c609be662256b81c317d386cd4761d98fb08ac67a47d5 log acf55c2923d23bcff61926042f072ad8ddbcef73211c70ffb2d69eace5a82ed2 header f946dcd506ca95a9181741c162d35d55
hexcapture recorded = 200 state 8b47179307a9ea92f80a4040ae9fd8456946f799cdc0239e824ba605ffa39605 log 271bc8135a6aeeef49fe9498658d7dfdd55f39c52b742c8046c9e779c68705ed header 983c8a1b684d2b3f78a32af474d47109
hexcapture seeded = 200 state b523deae595e29e2d8882c564b5f3ff9082b409b09dbb80c2179f64014f9a70d log 38f143e3be8c6c808ebc4cda163a3bcce4952207433d2baf0d26f9e06037baa0 header 496d94dd89c74b85072eec00507de959
initiative recorded = 200 state 46422d87642285923822def1eaaa94ef14b40bf3b551c803702ddf7f4853ad69 log a63543915735f8131d3fa73a7c025496822bbd2270f1b7cc2b55aae595396de4 header 78dc57f12762646bab3f8dee91781b19
initiative seeded = 200 state 3c5d5162c088870884748e240099ed238bcbff6f9f714408e8517566cc056a89 log 4dd9daf226ecd5461793743f5d02818dd32d5f8561329e400913d35ca3fad4b1 header 2a0d62b348dc84b139cb4efa6d219369
lifecycle recorded = 48 state 8922d7fb66f29de01b39748bba61fece0fb5547624351a7eb35a32260f765d64 log cb542dcdbbfb98e8d126c22c6645689f5e3eed53c0f53410172701d56103c8dc header b42aa496b87ee6d4f96edd3a37881990
lifecycle seeded = 48 state 8922d7fb66f29de01b39748bba61fece0fb5547624351a7eb35a32260f765d64 log 5ada8178a5981c3757826a695242579afee05fa51adbc28b5848a281e6c7795f header 655baf58d9f9071a87fa9e46133191e0

"#]].raw());
    assert!(sandbox.ok("check .").contains("12 passed, 0 failed"));
}

/// Returns the closing line, whose digests cover everything before it.
fn closing(replay: &str) -> &str {
    replay.lines().next_back().unwrap()
}

#[test]
#[cfg(unix)]
fn files_made_side_by_side_in_one_folder_are_no_leftovers_of_each_other() {
    let sandbox = Sandbox::new();
    let script = "for n in $(seq 60); do turnfold simulate --rules cycletap --seed $n --steps 1 -o $n.tfl >/dev/null & done; wait";
    let output = sandbox.shell(script);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    for seed in 1..=60 {
        assert!(sandbox.path(&format!("{seed}.tfl")).exists(), "{seed}");
    }
}
