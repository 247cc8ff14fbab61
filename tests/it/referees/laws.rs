//! The laws on a referee: all but four, which ask too much of a program that was not written for turnfold (RF-22).

use snapbox::str;

use super::sandbox;

/// RF-22: a referee is named by its game, a second process of it is asked, and a fault is reported with the law that it
/// breaks.
#[test]
fn rf_22_the_laws_run_on_a_referee() {
    sandbox().check(str![[r#"
$ turnfold --referee ./sums game check sums
sums 1 (referee `./sums`): all laws passed
$ turnfold --referee "./sums closed" game check sums
`a game says whether it has secrets` is broken: sums, setup any of them: nothing was concealed from any seat in these matches: answer `"secrets":"none"`, or an example that reaches a secret; see `secrets` of `hello`
exit 1
$ turnfold --referee "./sums lists-all" game check sums
`legal lists what judge applies` is broken: sums, setup example, seed 1, after entry 3, host `add 1`: the fold refuses it: entry 4: rejected not_your_turn: it is the turn of p1; see `legal` and `fold`
`legal lists what judge applies` is broken: sums, setup example, seed 2, after entry 3, p1 `add 3`: the fold refuses it: entry 4: rejected not_your_turn: it is the turn of p2; see `legal` and `fold`
`legal lists what judge applies` is broken: sums, setup example, seed 3, after entry 1, host `add 3`: the fold refuses it: entry 2: rejected not_your_turn: it is the turn of p2; see `legal` and `fold`
exit 1
$ turnfold --referee "./sums early" game check sums
`only a match that is over has a result, of its players` is broken: sums, setup example, seed 2, after entry 2, p1 `add 3`: the match goes on, and its result is p2 won (30); see `players`, `over` and `result` of a status
`only a match that is over has a result, of its players` is broken: sums, setup example, seed 2, after entry 3, p2 `add 3`: the match goes on, and its result is p1 won (30); see `players`, `over` and `result` of a status
`only a match that is over has a result, of its players` is broken: sums, setup example, seed 2, after entry 4, p1 `add 3`: the match goes on, and its result is p2 won (30); see `players`, `over` and `result` of a status
exit 1
$ turnfold --referee "./sums unresumable" game check sums
`every request gets a usable answer` is broken: sums, setup example, seed 1, after entry 4, the rest of the log: ruleset sums 1 (referee `./sums unresumable`): the state that it resumes is another one
`every request gets a usable answer` is broken: sums, setup example, seed 1, after entry 5, the rest of the log: ruleset sums 1 (referee `./sums unresumable`): the state that it resumes is another one
`every request gets a usable answer` is broken: sums, setup example, seed 1, after entry 6, the rest of the log: ruleset sums 1 (referee `./sums unresumable`): the state that it resumes is another one
exit 1
$ turnfold --referee "./sums crash" game check sums
`every request gets a usable answer` is broken: sums, setup example, seed 1, after entry 2, host `roll 5`: ruleset sums 1 (referee `./sums crash`): it ended with status 101; it printed `Error: the sum is too high`
`every request gets a usable answer` is broken: sums, setup example, seed 2, after entry 2: ruleset sums 1 (referee `./sums crash`): it ended with status 101; it printed `Error: the sum is too high`
`every request gets a usable answer` is broken: sums, setup example, seed 3, after entry 1: ruleset sums 1 (referee `./sums crash`): it ended with status 101; it printed `Error: the sum is too high`
exit 1
$ turnfold --referee "./sums zone" game check sums
`every request gets a usable answer` is broken: sums, setup example, seed 1, after entry 0, p1 `add 1`: ruleset sums 1 (referee `./sums zone`): the answer depends on the run (chance, time, zone or an order of iteration): /zone is "UTC" and in another run "Pacific/Kiritimati", at entry 1
`every request gets a usable answer` is broken: sums, setup example, seed 2, after entry 0, p1 `add 1`: ruleset sums 1 (referee `./sums zone`): the answer depends on the run (chance, time, zone or an order of iteration): /zone is "UTC" and in another run "Pacific/Kiritimati", at entry 1
`every request gets a usable answer` is broken: sums, setup example, seed 3, after entry 0, p1 `add 20`: ruleset sums 1 (referee `./sums zone`): the answer depends on the run (chance, time, zone or an order of iteration): /zone is "UTC" and in another run "Pacific/Kiritimati", at entry 1
exit 1
$ turnfold --referee "./sums hang" game check sums --seconds 1
sums: the laws were not all tried within 1 s; `--seconds` gives them more
exit 1
$ turnfold --referee "cycletap=./sums cycletap" game check cycletap
exit 2| error: the referee of `cycletap`: `./sums cycletap` has the name of a ruleset that is built in; `game impact` compares the two; see `turnfold help referees`

"#]]);
}

/// RF-22: not a fault of such a program: no rulebook, no summary, no commands, moves without effects, codes of its own.
#[test]
fn rf_22_four_laws_ask_too_much_of_a_stranger() {
    sandbox().check(str![[r#"
$ turnfold --referee "./sums stranger" game check sums
sums 1 (referee `./sums stranger`): all laws passed
$ turnfold --referee "./sums bare" game check sums
sums 1 (referee `./sums bare`): all laws passed
it lists no commands, so no match was played; it would offer `legal`

"#]]);
}

/// RF-3, RF-22: a referee is listed without being started, and is shown when its name is given.
#[test]
fn rf_3_games_of_named_referees_are_listed() {
    sandbox().check(str![[r#"
$ turnfold --referee sums=./sums --referee other=./missing --referee lifecycle=./missing game list
channel 1 built in
cycletap 1 built in
hexcapture 1 built in
initiative 1 built in
lifecycle 1 built in
lifecycle referee `./missing`; warning: a game that is built in has its name, so it plays nothing; `game impact --rules referee:NAME` compares the two
other referee `./missing`
sums referee `./sums`
$ turnfold --referee sums=./sums --referee other=./missing game show sums
sums 1 referee `./sums`
add up to 30; keeps no secrets
$ turnfold --referee sums=./sums --referee other=./missing game show other
exit 2| error: the referee of `other`: `./missing` cannot be started: No such file or directory (os error 2) (it has LANG, PYTHONIOENCODING, PYTHONUNBUFFERED, PYTHONUTF8, TZ); see `turnfold help referees`
$ turnfold --referee sums=./sums --format json game list
{"ruleset":"channel","version":1,"summary":"energies moved along channels into harmony, for up to four players","origin":"built_in","module":null,"referee":null,"file":null,"bytes":null,"laws_passed":null,"warning":null}
{"ruleset":"cycletap","version":1,"summary":"orders placed in secret by cycling taps, carried out at once","origin":"built_in","module":null,"referee":null,"file":null,"bytes":null,"laws_passed":null,"warning":null}
{"ruleset":"hexcapture","version":1,"summary":"one turtle captures, carries and eats colored hexes, tick by tick","origin":"built_in","module":null,"referee":null,"file":null,"bytes":null,"laws_passed":null,"warning":null}
{"ruleset":"initiative","version":1,"summary":"two-player initiative rolls and movement in alternating impulses","origin":"built_in","module":null,"referee":null,"file":null,"bytes":null,"laws_passed":null,"warning":null}
{"ruleset":"lifecycle","version":1,"summary":"charge-meter race with upkeep, status effects and a predicted queue of turns","origin":"built_in","module":null,"referee":null,"file":null,"bytes":null,"laws_passed":null,"warning":null}
{"ruleset":"sums","version":null,"summary":null,"origin":"referee","module":null,"referee":"./sums","file":null,"bytes":null,"laws_passed":null,"warning":null}
$ turnfold --referee sums=./sums game show nosuch
exit 2| error: there is no game and no file `nosuch`; `turnfold game list` lists the games

"#]]);
}
