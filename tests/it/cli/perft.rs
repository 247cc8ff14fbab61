//! `turnfold game perft`.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn sequences_and_states_are_counted_and_divided_by_the_first_command() {
    Sandbox::new().check(str![[r#"
$ turnfold game perft --rules cycletap --setup fixtures/cycletap/close-quarters.toml --depth 3
depth 1 sequences 3 states 3
depth 2 sequences 19 states 18
depth 3 sequences 125 states 108
$ turnfold game perft --rules cycletap --setup fixtures/cycletap/close-quarters.toml --depth 3 --divide
p1: switch => 17
p1: tap -1,1 => 54
p1: tap 0,1 => 54
depth 1 sequences 3 states 3
depth 2 sequences 19 states 18
depth 3 sequences 125 states 108
$ turnfold game perft --rules cycletap --setup fixtures/cycletap/close-quarters.toml --depth 1 --divide
p1: switch => 1
p1: tap -1,1 => 1
p1: tap 0,1 => 1
depth 1 sequences 3 states 3

"#]]);
}

#[test]
fn due_rolls_are_sampled_or_follow_from_the_seed() {
    Sandbox::new().check(str![[r#"
$ turnfold game perft --rules initiative --setup fixtures/initiative/small-board.toml --divide --depth 2
host: roll 1 2 5 6 => 4
host: roll 5 6 1 2 => 4
host: roll 3 4 3 4 => 3
depth 1 sequences 3 states 3
depth 2 sequences 11 states 9
$ turnfold game perft --rules initiative --setup fixtures/initiative/small-board.toml --divide --depth 2 --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff
host: roll 2 5 4 2 => 4
depth 1 sequences 1 states 1
depth 2 sequences 4 states 3

"#]]);
}

#[test]
fn a_state_that_several_sequences_reach_counts_once() {
    Sandbox::new().check(str![[r#"
$ turnfold game perft --rules lifecycle --setup fixtures/lifecycle/one-team.toml --depth 3
depth 1 sequences 4 states 1
depth 2 sequences 8 states 2
depth 3 sequences 20 states 4

"#]]);
}

/// In lifecycle the host advances the time; in initiative the host rolls the dice.
#[test]
fn the_host_is_left_out_except_for_due_rolls() {
    Sandbox::new().check(str![[r#"
$ turnfold game perft --rules lifecycle --setup fixtures/lifecycle/one-team.toml --depth 2 --without-host
depth 1 sequences 0 states 0
depth 2 sequences 0 states 0
$ turnfold game perft --rules initiative --setup fixtures/initiative/small-board.toml --depth 2 --without-host
depth 1 sequences 3 states 3
depth 2 sequences 11 states 9

"#]]);
}

#[test]
fn json_is_one_document() {
    Sandbox::new().check(str![[r#"
$ turnfold --format json game perft --rules cycletap --setup fixtures/cycletap/small-board.toml --depth 2
{"ruleset":"cycletap","version":1,"depths":[{"depth":1,"sequences":2,"states":2},{"depth":2,"sequences":6,"states":6}]}
$ turnfold --format json game perft --rules cycletap --setup fixtures/cycletap/small-board.toml --depth 2 --divide
{"ruleset":"cycletap","version":1,"depths":[{"depth":1,"sequences":2,"states":2},{"depth":2,"sequences":6,"states":6}],"divide":[{"seat":"p1","command":"switch","sequences":2},{"seat":"p1","command":"tap 0,1","sequences":4}]}

"#]]);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    Sandbox::new().check(str![[r#"
$ turnfold game perft --rules cycletap --setup fixtures/cycletap/small-board.toml --depth 0
exit 2| error: invalid value '0' for '--depth <N>': 0 is not in 1..=100; see `--help`
$ turnfold game perft --rules cycletap --setup missing.toml --depth 2
exit 2| error: cannot read setup `missing.toml`: No such file or directory (os error 2)
$ turnfold game perft --rules chess --setup fixtures/cycletap/small-board.toml --depth 2
exit 2| error: unknown ruleset `chess`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold game perft --rules initiative --setup fixtures/initiative/small-board.toml --depth 2 --dice seeded
exit 2| error: the count depends on the seed, and none is given; name one with `--seed`

"#]]);
}
