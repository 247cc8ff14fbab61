//! The places that name a referee, and which referee plays (RF-3, RF-4).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use snapbox::str;

use super::sandbox;

/// RF-3: a file of the user names referees. A file that others can write is not used.
#[test]
fn rf_3_a_file_names_referees() {
    let sandbox = sandbox();
    sandbox.write("referees.toml", "[sums]\ncommand = [\"./sums\"]\n");
    sandbox.write("wrong.toml", "[sums]\ncommand = []\n");
    sandbox.write("typo.toml", "[sums]\ncomand = [\"./sums\"]\n");
    sandbox.write("open.toml", "[sums]\ncommand = [\"./sums\"]\n");
    let mode = fs::Permissions::from_mode(0o666);
    fs::set_permissions(sandbox.path("open.toml"), mode).unwrap();
    sandbox.check(str![[r#"
$ turnfold --referees referees.toml new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referees referees.toml play duel "add 3"
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
$ turnfold --referees wrong.toml log duel
exit 2| error: wrong.toml: [sums] has an empty `command`; see `turnfold help referees`
$ turnfold --referees typo.toml log duel
exit 2| error: typo.toml:2:1: unknown field `comand`, expected one of `command`, `env`, `folder`, `seconds`; see `turnfold help referees`
$ turnfold --referees open.toml log duel
exit 2| error: open.toml: others may write it; `chmod go-w` makes it yours alone; see `turnfold help referees`
$ turnfold --referees missing.toml log duel
exit 2| error: missing.toml: No such file or directory (os error 2); see `turnfold help referees`

"#]]);
}

/// RF-3: an empty variable names no file.
#[test]
fn rf_3_an_empty_variable_names_nothing() {
    let sandbox = sandbox();
    for variable in ["TURNFOLD_REFEREES", "TURNFOLD_MODULES"] {
        let listed = sandbox.command(["game", "list"]).env(variable, "").output().unwrap();
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    }
}

/// RF-8: `rules` explains what `new` and `play` report: a setup to start from, the codes of the program and those of
/// turnfold.
#[test]
fn rf_8_rules_explain_codes_and_setups_that_no_rulebook_describes() {
    sandbox().check(str![[r#"
$ turnfold --referee "./sums bare" rules sums nothing
sums version 1

REASONS
  nothing  (ignored; SU-2)
      The command would change nothing.
$ turnfold --referee "./sums bare" rules sums not_your_turn
sums version 1

REASONS
  not_your_turn  (rejected; SU-1)
      Declared by the game, which says why in brackets behind the code.
$ turnfold --referee "./sums bare" rules sums roll_due
sums version 1

REASONS
  roll_due  (rejected)
      A roll of the host comes first, as in `host: roll 5`.
$ turnfold --referee "./sums bare" rules sums example
sums version 1

SETUPS
  example
      The setup of a match that names none, in TOML. A setup of your own for
      `--setup FILE` is written like it:
        sum = 1
$ turnfold --referee "./sums bare" rules sums illegal
exit 2| error: `sums` has no rule, command, reason, question or field `illegal`; `turnfold rules sums` shows all

"#]]);
}

/// RF-3, RF-4: the name that a program reports must be the one it was registered under, and not the name of a built-in
/// game.
#[test]
fn rf_4_a_referee_takes_the_place_of_nothing() {
    sandbox().check(str![[r#"
$ turnfold --referee sums=./sums new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee charge=./sums new other --rules charge
exit 2| error: the referee of `charge`: `./sums` is a referee of `sums`, not of `charge`; see `turnfold help referees`
$ turnfold --referee "./sums cycletap" new other --rules cycletap
exit 2| error: the referee of `cycletap`: `./sums cycletap` has the name of a ruleset that is built in; `game impact` compares the two; see `turnfold help referees`
$ turnfold --referee "cycletap=./sums cycletap" new other --rules cycletap
exit 2| error: the referee of `cycletap`: `./sums cycletap` has the name of a ruleset that is built in; `game impact` compares the two; see `turnfold help referees`
$ turnfold --referee ./sums --referee "./sums bare" log duel
exit 2| error: match `duel`: the referee of `sums`: two referees are named for `sums`; see `turnfold help referees`
$ turnfold --referee "./sums 'open" log duel
exit 2| error: `./sums 'open` is no command; see `turnfold help referees`
$ turnfold --referee ./missing log duel
exit 2| error: match `duel`: the referee of `sums`: `./missing` cannot be started: No such file or directory (os error 2) (it has LANG, PYTHONIOENCODING, PYTHONUNBUFFERED, PYTHONUTF8, TZ); see `turnfold help referees`
$ turnfold --referee ./sums new other --rules chess
exit 2| error: unknown ruleset `chess`; known: [RULESETS]; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules

"#]]);
}

/// RF-6: a missing operation of a referee is reported in one line.
#[test]
fn rf_6_a_referee_may_offer_little() {
    sandbox().check(str![[r#"
$ turnfold --referee "./sums bare" new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee "./sums bare" play duel "add 3"
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
$ turnfold --referee "./sums bare" legal duel
exit 2| error: nothing lists legal commands here; a referee offers `legal`, a recording has no rules; see `turnfold help referees`
$ turnfold --referee "./sums bare" simulate --rules sums --seed 1 --steps 3
exit 2| error: nothing lists legal commands here; a referee offers `legal`, a recording has no rules; see `turnfold help referees`
$ turnfold --referee "./sums bare" game perft --rules sums --depth 2
exit 2| error: nothing lists legal commands here; a referee offers `legal`, a recording has no rules; see `turnfold help referees`
$ turnfold --referee "./sums bare" ask duel sum
exit 2| error: unknown query `sum`: `sums` answers no questions; its referee would offer `query` and list `queries`

"#]]);
}
