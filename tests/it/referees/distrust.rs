//! Checks ask a second process, so that they find results that depend on the run (RF-15).

use snapbox::str;

use super::sandbox;

#[test]
fn rf_15_what_depends_on_the_run_is_named() {
    let sandbox = sandbox();
    for fault in ["random", "memory", "zone", "clock", "twice"] {
        let line =
            format!("--referee \"./sums {fault}\" simulate --rules sums --seed 4 --steps 6 -o {fault}.tfl");
        sandbox.ok(&line);
    }
    sandbox.check(str![[r#"
$ turnfold --referee "./sums twice" check twice.tfl
ok twice.tfl 6 entries
1 passed, 0 failed (6 entries)
$ turnfold --referee "./sums zone" check zone.tfl
failed zone.tfl: ruleset sums 1 (referee `./sums zone`): the answer depends on the run (chance, time, zone or an order of iteration): /zone is "UTC" and in another run "Pacific/Kiritimati", at entry 1
0 passed, 1 failed (0 entries)
exit 1
$ turnfold --referee "./sums twice" game impact twice.tfl
sums version 1: 1 of 1 log folds the same (6 entries)
in all, 1 of 1 log folds the same (6 entries)
$ turnfold --referee "./sums zone" game impact zone.tfl
unreadable
  zone.tfl: ruleset sums 1 (referee `./sums zone`): the answer depends on the run (chance, time, zone or an order of iteration): /zone is "UTC" and in another run "Pacific/Kiritimati", at entry 1
in all, 0 of 1 log folds the same, 1 unreadable (0 entries)
exit 1
$ turnfold --referee "./sums memory" check memory.tfl
memory.tfl:13: entry 3 (p1 add 1): the fold is not deterministic, a second one differs
- 2387c3e64026964d
+ 5da90c2644f66088
to reproduce: turnfold verify memory.tfl --reload
0 passed, 1 failed (6 entries)
exit 1

"#]]);
    // The values differ in each run.
    for fault in ["random", "clock"] {
        let output = sandbox.run(&format!("--referee \"./sums {fault}\" check {fault}.tfl"));
        assert!(!output.status.success(), "{fault} passes");
    }
}
