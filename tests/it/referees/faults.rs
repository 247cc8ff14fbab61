//! Referees that break the protocol: each gives one line of error, nothing is recorded, and nothing hangs (RF-16).

use snapbox::str;

use super::sandbox;

#[test]
fn rf_16_each_fault_is_one_line_and_records_nothing() {
    let sandbox = sandbox();
    sandbox.ok("--referee ./sums new duel --rules sums");
    sandbox.check(str![[r#"
$ turnfold --referee "./sums banner" play duel "p1: add 3"
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb
$ turnfold --referee "./sums noise" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums noise`): it printed `folding 1 entries` on standard output, which is for answers; print to standard error
$ turnfold --referee "./sums exit" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums exit`): it ended with status 0 before it answered `fold`
$ turnfold --referee "./sums orphan" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums orphan`): it ended with status 3
$ turnfold --referee "./sums crash" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums crash`): it ended with status 101; it printed `Error: the sum is too high`
$ turnfold --referee "./sums wrong-id" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums wrong-id`): its answer to request 3 has the id 7
$ turnfold --referee "./sums null-id" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums null-id`): its answer has the id `null`: it did not read the request
$ turnfold --referee "./sums pretty" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums pretty`): print the answer on one line: it began with `{` alone
$ turnfold --referee "./sums fault" play duel "p2: add 3"
exit 2| error: ruleset sums 1 (referee `./sums fault`): fold: the sum is lost (sums.mjs:7)
$ turnfold --referee "./sums undeclared" play duel "p1: add 3"
exit 2| error: ruleset sums 1 (referee `./sums undeclared`): it does not declare the code `not_your_turn`
$ turnfold --referee ./sums log duel
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb

"#]]);
}

/// RF-16: a referee that hangs is ended in its time, together with the processes it started, and the error says so.
#[test]
fn rf_16_a_referee_that_hangs_is_ended() {
    let sandbox = sandbox();
    sandbox.ok("--referee ./sums new duel --rules sums");
    sandbox.ok("--referee ./sums play duel \"p1: add 3\"");
    sandbox.check(str![[r#"
$ turnfold --referee "./sums hang" play duel "p2: add 3"
stderr|  WARN turnfold_referee::process::child: waiting for `./sums hang` to answer `fold`
exit 2| error: ruleset sums 1 (referee `./sums hang`): no answer within 10 s
$ turnfold --referee ./sums log duel
1 p1 add 3 => added number=3; said list=[1,2] words="a b" #f434fbc269caa1eb

"#]]);
}
