//! `turnfold bless`.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

const SCRIPT: &str = "turnfold replay 1
+++
ruleset = \"initiative\"
version = 1
dice = \"recorded\"
title = \"A bug report\"
[setup]
radius = 1
+++
# The roll that started it.
1 host roll 1 1 2 2

! p1 cycle
2 host next-turn
";

#[test]
fn outcomes_are_filled_in_and_comments_stay() {
    let sandbox = Sandbox::new();
    sandbox.write("bug.tfl", SCRIPT);
    check(
        &sandbox,
        "check bug.tfl
         bless bug.tfl
         bless bug.tfl
         check bug.tfl",
        str![[r#"
$ turnfold check bug.tfl
bug.tfl:11: entry 1 (host roll 1 1 2 2): the outcome is missing
to fill it in: turnfold bless bug.tfl
0 passed, 1 failed (2 entries)
exit 1
$ turnfold bless bug.tfl
blessed bug.tfl
$ turnfold bless bug.tfl
unchanged bug.tfl
$ turnfold check bug.tfl
ok bug.tfl 2 entries
1 passed, 0 failed (2 entries)

"#]],
    );
    snapbox::assert_data_eq!(
        sandbox.read("bug.tfl"),
        str![[r#"
turnfold replay 1
+++
ruleset = "initiative"
version = 1
dice = "recorded"
title = "A bug report"
[setup]
radius = 1
+++
# The roll that started it.
1 host roll 1 1 2 2 => rolled p1=2 p2=4; initiative p1=2 p2=4 loser=p1 winner=p2; movement_order impulses=; flash text="Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"; movement_complete #f4cff325fe92f4c2

! p1 cycle => rejected wrong_phase
2 host next-turn => turn_started turn=2 #2df496a842a9e500
= 2 state 2df496a842a9e50086d9a4e0cfec8d96f37fe00abfbc2e14131f9681a4c9cc2f log fc532dd88039ee4772537c9af401b1494a7d69742a871acedd6cc73f38077d8d

"#]]
    );
}

#[test]
fn a_file_that_cannot_be_blessed_stays_as_it_is() {
    let sandbox = Sandbox::new();
    let rejected = SCRIPT.replace("2 host next-turn", "2 p1 cycle");
    let accepted = SCRIPT.replace("! p1 cycle", "! host next-turn");
    let malformed = SCRIPT.replace("2 host next-turn", "2 host dance");
    sandbox.write("rejected.tfl", &rejected);
    sandbox.write("accepted.tfl", &accepted);
    sandbox.write("malformed.tfl", &malformed);
    check(
        &sandbox,
        "bless rejected.tfl
         bless accepted.tfl
         bless malformed.tfl
         bless missing.tfl",
        str![[r#"
$ turnfold bless rejected.tfl
stderr| error: rejected.tfl:14:6: entry 2: rejected wrong_phase: units are selected and moved in `movement`, and `next-turn` comes once all have moved; if that is meant, write `! p1 cycle`
exit 2
$ turnfold bless accepted.tfl
stderr| error: accepted.tfl:13:1: expected a command that is not accepted, found one that is (applied); if that is meant, write `SEQ host next-turn`
exit 2
$ turnfold bless malformed.tfl
stderr| error: malformed.tfl:14:8: entry 2: malformed command: expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `dance`
exit 2
$ turnfold bless missing.tfl
stderr| error: cannot read replay `missing.tfl`: No such file or directory (os error 2)
exit 2

"#]],
    );
    assert_eq!(sandbox.read("rejected.tfl"), rejected);
    assert_eq!(sandbox.read("accepted.tfl"), accepted);
}
