//! Rules as a program in another language: a referee (RF-1 to RF-17). These tests use their own program `sums`.

mod distrust;
mod faults;
mod lacking;
mod laws;
mod named;
mod ports;
mod recordings;
mod relay;
mod scores;
mod service;

use snapbox::str;
use turnfold_tests::sandbox::{Sandbox, program};

/// Returns a sandbox with only the referee `./sums`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.add_program(&program("referee-under-test"), "sums");
    sandbox
}

/// RF-1, RF-8, RF-12, RF-17: a match is created, played, shown, branched, compared, searched and audited by the rules
/// of a program.
#[test]
fn rf_1_a_match_is_played_by_a_program() {
    sandbox().check(str![[r#"
$ turnfold --referee ./sums new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee ./sums play duel "add 0" "add 3" "p2: +1"
1 p1 add 0 => ignored nothing #bb164dc1e4ba68be
2 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
3 p2 add 1 => added number=1; said list=[1,2] words="a b" #c9d9abd0ded8504b
$ turnfold --referee ./sums play duel "p1: add 5"
! p1 add 5 => rejected roll_due (a roll is due first: 1 value in 1..=6 for bonus, by `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums roll_due` explains it
$ turnfold --referee ./sums play duel "roll 7"
! host roll 7 => rejected bad_roll (the roll takes 1 value in 1..=6 for bonus)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums bad_roll` explains it
$ turnfold --referee ./sums play duel "p1: roll 6"
! p1 roll 6 => rejected wrong_seat (this command belongs to `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums wrong_seat` explains it
$ turnfold --referee ./sums play duel "roll 6"
4 host roll 6 => bonus of=6 #6c1acaeb89f16226
$ turnfold --referee ./sums play duel "roll 6"
! host roll 6 => rejected no_roll_due (no roll is due)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums no_roll_due` explains it
$ turnfold --referee ./sums play duel "p1: add 1" "p1: add 2"
! p1 add 2 => rejected not_your_turn (it is the turn of p2)
exit 1| error: the command was rejected; none of the 2 commands was recorded; `turnfold rules sums not_your_turn` explains it; if your engine took it, see `turnfold help referees`
$ turnfold --referee ./sums play duel "p2: subtract 1"
! p2 subtract 1 => rejected not_your_turn (it is the turn of p1)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums not_your_turn` explains it
$ turnfold --referee ./sums play duel "p3: add 1"
! p3 add 1 => rejected wrong_seat (this command belongs to a player of the match)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums wrong_seat` explains it
$ turnfold --referee ./sums legal duel
p1: add 1
p1: add 20
p1: add 3
$ turnfold --referee ./sums branch duel:4 other
duel@other begins after duel:4
$ turnfold --referee ./sums play duel@other "add 20"
5 p1 add 20 => added number=20; said list=[1,2] words="a b" #69468bbfd43d0715
$ turnfold --referee ./sums play duel@other "add 1"
! add 1 => rejected malformed (no seat issues this command)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules sums malformed` explains it
$ turnfold --referee ./sums show duel@other
turn: "p2"
sum: 31

p1 won (30)
$ turnfold --referee ./sums diff duel duel@other
the histories part at entry 5
--- duel
+++ duel@other
@@ -2,3 +2,4 @@
 2 p1 add 3
 3 p2 add 1
 4 host roll 6
+5 p1 add 20
state, duel → duel@other
  /sum 11 → 31
  /turn "p1" → "p2"
exit 1
$ turnfold --referee ./sums log duel
1 p1 add 0 => ignored nothing #bb164dc1e4ba68be
2 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
3 p2 add 1 => added number=1; said list=[1,2] words="a b" #c9d9abd0ded8504b
4 host roll 6 => bonus of=6 #6c1acaeb89f16226
$ turnfold --referee ./sums ask duel sum
the sum is 11
$ turnfold --referee ./sums ask duel product
exit 2| error: unknown query `product`: `sums` answers `sum`
$ turnfold --referee ./sums bisect duel --when "/sum > 5"
entry 4 makes `/sum > 5` true (4 steps)
4 host roll 6 => bonus of=6 #6c1acaeb89f16226
  /due true → (none)
  /sum 5 → 11
$ turnfold --referee ./sums blame duel /sum
/sum 5 → 11
  4 host roll 6 => bonus of=6 #6c1acaeb89f16226
$ turnfold --referee ./sums find duel --when "/sum > 5"
duel:4 host roll 6 => bonus of=6
$ turnfold --referee ./sums verify duel
ok duel@main: 4 entries state 6c1acaeb89f16226 link [LINK]
ok duel@other: 5 entries state 69468bbfd43d0715 link [LINK]
rules duel: computed by your referee sums 1 (`./sums`)
$ turnfold bundle duel -o duel.bundle
bundled 1 match to `duel.bundle`: 2 branches, 6 records, 0 checkpoints
$ turnfold --referee ./sums audit duel.bundle
bytes        PASS        6 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT CHECKED duel: values came from outside; range and count only; 1 more like it
rules        NOT CHECKED duel: recomputed by your referee sums 1 (`./sums`); 1 more like it
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold audit duel.bundle
bytes        PASS        6 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT CHECKED duel: values came from outside; range and count only; 1 more like it
rules        NOT CHECKED duel: this build does not have the ruleset `sums`; 1 more like it
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold --referee ./sums rules sums
sums version 1

**SU-1** Players take turns.

REASONS
  nothing  (ignored; SU-2)
      The command would change nothing.
  not_your_turn  (rejected; SU-1)
      Declared by the game, which says why in brackets behind the code.
  match_over  (rejected)
      The match is over.
  roll_due  (rejected)
      A roll of the host comes first, as in `host: roll 5`.
  no_roll_due  (rejected)
      No roll is due.
  wrong_seat  (rejected)
      The command belongs to another seat, or the match has no such seat.
  bad_roll  (rejected)
      The roll has the wrong number of values, or one out of range.
  malformed  (rejected)
      The text is no command of the game, or names no seat where one is needed.

SETUPS
  example
      The setup of a match that names none, in TOML. A setup of your own for
      `--setup FILE` is written like it:
        sum = 1
$ turnfold --referee ./sums game perft --rules sums --depth 3
depth 1 sequences 2 states 2
depth 2 sequences 4 states 3
depth 3 sequences 4 states 4
$ turnfold log duel
exit 2| error: unknown ruleset `sums`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules

"#]]);
}

/// RF-5: banners, blank lines, byte order marks, `\r`, an empty object for a list, and `1.0` for 1 change no answer.
/// The faults `banner` and `noise` are the lines before and after the answer to `hello`. RF-7: a referee that folds
/// fewer entries than requested is asked for the rest.
#[test]
fn rf_5_answers_are_read_as_many_languages_write_them() {
    let played = |how: &str| {
        let sandbox = sandbox();
        let referee = format!("--referee \"./sums {how}\"");
        sandbox.ok(&format!("{referee} new duel --rules sums"));
        sandbox.ok(&format!("{referee} play duel \"p1: add 3\" \"p2: add 11\" \"roll 6\" \"p1: add 9\""));
        ["log duel", "show duel", "show duel:2"].map(|verb| sandbox.ok(&format!("{referee} {verb}")))
    };
    let tidy = played("tidy");
    assert_eq!(played("untidy"), tidy);
    assert_eq!(played("one-by-one"), tidy);
}

/// RF-8, RF-14: a golden log of a referee's game is an ordinary replay file; nothing in it names the program.
#[test]
fn rf_14_golden_logs_are_checked_by_the_program_as_it_is_today() {
    sandbox().check(str![[r#"
$ turnfold --referee ./sums simulate --rules sums --seed 4 --steps 6 -o g.tfl
played 6 entries at random into `g.tfl` #bc9f3a584ea70636
$ turnfold --referee ./sums check g.tfl
ok g.tfl 6 entries
1 passed, 0 failed (6 entries)
$ turnfold --referee ./sums import g.tfl --name again
imported match again from `g.tfl`: 6 entries #bc9f3a584ea70636
its id, times and links are new, because a replay file does not record them
$ turnfold --referee ./sums export again -o again.tfl
exported again to `again.tfl`: 6 entries
$ turnfold --referee ./sums diff again again.tfl
again and again.tfl are equal: 6 entries #bc9f3a584ea70636
$ turnfold --referee ./sums shrink again --when "/sum > 4" -o small.tfl
shrunk 6 entries to 2 in `small.tfl` (11 tries): `/sum > 4` becomes true
$ turnfold check g.tfl
failed g.tfl:3:11: expected a ruleset of this build ([RULESETS]), found `sums`
0 passed, 1 failed (0 entries)
exit 1

"#]]);
}

/// RF-13: without `"secrets": "none"` a seat gets only what is marked for it, and nothing that it must not see.
#[test]
fn rf_13_secrets_of_a_program_fail_closed() {
    let sandbox = sandbox();
    sandbox.check(str![[r#"
$ turnfold --referee "./sums closed" new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee "./sums closed" play duel "p1: think seven" "p1: add 3"
1 p1 think seven => thought text=seven #a12799f6e9a99508
2 p1 add 3 => added number=3; said list=[1,2] words="a b" #593c52019e0879f6
$ turnfold --referee "./sums closed" log duel
1 p1 think seven => thought text=seven #a12799f6e9a99508
2 p1 add 3 => added number=3; said list=[1,2] words="a b" #593c52019e0879f6
$ turnfold --referee "./sums closed" log duel --as p1
1 p1 think seven => thought text=seven
2 p1 add 3 => added number=3; said list=[1,2] words="a b"
$ turnfold --referee "./sums closed" log duel --as p2
1 p1 add 3 => added number=3; said list=[1,2] words="a b"
$ turnfold --referee "./sums closed" log duel --as spectator
1 p1 add 3 => added number=3; said list=[1,2] words="a b"
$ turnfold --referee "./sums closed" show duel
sum: 4
turn: "p2"
half: 2
thought: "seven"

turn 1
$ turnfold --referee "./sums closed" show duel --as p2
sum: 4
turn: "p2"
half: 2
$ turnfold --referee "./sums closed" export duel --as p2 -o p2.tfl
exit 2| error: `duel`: without what p2 may not know, `sums` shows p2 something else
$ turnfold --referee "./sums closed" bundle duel --as p2 -o p2.bundle
exit 2| error: stored setup: it is not known what a seat may know of a setup of `sums`; its matches are shown as a whole to the host alone

"#]]);
    // What p1 thinks changes no byte that p2 gets.
    let seen = |thought: &str| {
        let sandbox = self::sandbox();
        sandbox.ok("--referee \"./sums closed\" new duel --rules sums");
        sandbox.ok(&format!("--referee \"./sums closed\" play duel \"p1: think {thought}\" \"p1: add 3\""));
        ["log duel --as p2", "show duel --as p2", "diff duel:1 duel:2 --as p2"]
            .map(|verb| sandbox.run(&format!("--referee \"./sums closed\" {verb}")).stdout)
    };
    assert_eq!(seen("seven"), seen("of a much longer number"));
}
