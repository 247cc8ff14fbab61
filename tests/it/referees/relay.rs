//! Referees that cannot read a pipe and use a local port (RF-16a).

use std::os::unix::fs::symlink;

use snapbox::str;
use turnfold_tests::sandbox::program;

use super::sandbox;

/// RF-16a: lines are passed in both directions, the end of the input ends the referee, and an early end of the referee
/// is reported.
#[test]
fn rf_16a_a_referee_is_asked_over_a_local_port() {
    let sandbox = sandbox();
    symlink(program("turnfold-under-test"), sandbox.path("turnfold")).unwrap();
    sandbox.check(str![[r#"
$ turnfold --referee "./turnfold game relay -- ./sums connect {port}" new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee "./turnfold game relay -- ./sums connect {port}" play duel "add 3" "+1"
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
2 p2 add 1 => added number=1; said list=[1,2] words="a b" #c9d9abd0ded8504b
$ turnfold --referee "./turnfold game relay -- ./sums connect {port}" simulate --rules sums --seed 4 --steps 6 -o g.tfl
played 6 entries at random into `g.tfl` #bc9f3a584ea70636
$ turnfold --referee "./turnfold game relay -- ./sums connect {port}" check g.tfl
ok g.tfl 6 entries
1 passed, 0 failed (6 entries)
$ turnfold --referee "./turnfold game relay -- ./sums connect {port} exit" log duel
exit 2| error: ruleset sums 1 (referee `./turnfold game relay -- ./sums connect '{port}' exit`): it ended with status 3; it printed `error: `./sums` ended: exit status: 0`
$ turnfold --referee "./turnfold game relay -- ./sums exit {port}" log duel
exit 2| error: match `duel`: the referee of `sums`: `./turnfold game relay -- ./sums exit '{port}'`: it ended with status 3; it printed `error: `./sums` ended before it connected: exit status: 0` (it has the variables LANG, PYTHONIOENCODING, PYTHONUNBUFFERED, PYTHONUTF8, TZ); see `turnfold help referees`
$ turnfold --referee "./turnfold game relay -- ./missing {port}" log duel
exit 2| error: match `duel`: the referee of `sums`: `./turnfold game relay -- ./missing '{port}'`: it ended with status 2; it printed `error: `./missing` cannot be started: No such file or directory (os error 2)` (it has the variables LANG, PYTHONIOENCODING, PYTHONUNBUFFERED, PYTHONUTF8, TZ); see `turnfold help referees`
$ turnfold game relay -- ./missing {port}
exit 2| error: `./missing` cannot be started: No such file or directory (os error 2)
$ turnfold game relay
exit 2| error: the following required arguments were not provided: <COMMAND>...; see `--help`
$ turnfold --format json game relay -- ./sums
exit 2| {"error":{"kind":"usage","message":"`game relay` prints the lines of a referee, there is no JSON of its own","hint":"leave out `--format json`","exit_code":2}}

"#]]);
}
