//! CT-19 and long matches through the real binary.

use std::collections::BTreeSet;

use snapbox::str;
use turnfold_core::Seat;

use super::random::{Chooser, armies};
use super::{start, told};
use turnfold_tests::sandbox::Sandbox;

/// A sandbox whose store holds the match `ford`: p1 has planned, p2 builds a path and has an attack and a defence.
fn ford() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.ok("play ford \"tap 0,1\" \"tap 0,0\" \"tap 0,2\" \"tap 0,2\" switch");
    let plan = "\"tap 1,-2\" \"tap 1,-3\" \"tap 0,-2\" \"tap 0,-2\" \"tap 0,-1\" \"tap -1,-1\" \"tap -1,-1\"";
    sandbox.ok(&format!("play ford {plan}"));
    sandbox
}

#[test]
fn ct_19_p1_is_shown_nothing_of_what_p2_plans() {
    ford().check(str![[r#"
$ turnfold show ford --as p1
turn 1, planning by p2
p1 orders: 1 of 3 used, 2 available
p2 orders: secret

q   -3 -2 -1  0  1  2  3
          -3 __
       -2 __/  \__
    -1 __/  \__/  \__
  0 __/  \__/c4\__/  \__
   /  \__/  \__/o5\__/  \
  1\__/  \__/i6\__/  \__/
   /~~\__/~~\__/  \__/~~\
  2\~~/~~\~~/  \__/~~\~~/
   /  \~~/  \x_/~~\~~/  \
  3\__/  \__/I3\~~/  \__/
   /  \__/V2\__/  \__/  \
   \__/  \__/C1\__/  \__/
      \__/  \[]/  \__/
         \__/  \__/
            \__/
q above its column, r at the upper left of its row, which runs down to the right

<> origin  +1 path being built  [] defends  x attacked  .1 waypoint  ~~ water
C1   p1 captain (u1) at 0,2, strength 2
V2   p1 cavalry (u2) at -1,2, strength 3
I3   p1 infantry (u3) at 0,1, strength 2
c4   p2 captain (u4) at 0,-2, strength 2
o5   p2 officer (u5) at 1,-2, strength 1
i6   p2 infantry (u6) at 0,-1, strength 4
p1 #1 I3 attack 0,1 > 0,0
p1 #2 C1 defense 0,2

turn 1
$ turnfold --format json show ford --as p1
{"ruleset":"cycletap","turn":1,"phase":"planning","planning":"p2","winner":null,"tap":null,"pools":{"p1":{"total":3,"used":1,"available":2},"p2":null},"units":[{"id":"u1","owner":"p1","kind":"captain","at":[0,2],"strength":2},{"id":"u2","owner":"p1","kind":"cavalry","at":[-1,2],"strength":3},{"id":"u3","owner":"p1","kind":"infantry","at":[0,1],"strength":2},{"id":"u4","owner":"p2","kind":"captain","at":[0,-2],"strength":2},{"id":"u5","owner":"p2","kind":"officer","at":[1,-2],"strength":1},{"id":"u6","owner":"p2","kind":"infantry","at":[0,-1],"strength":4}],"orders":[{"seat":"p1","number":1,"unit":"u3","kind":"attack","from":[0,1],"path":[[0,0]]},{"seat":"p1","number":2,"unit":"u1","kind":"defense","from":[0,2],"path":[]}],"water":[[-3,1],[-2,1],[-1,0],[1,0],[2,-1],[3,-2]]}
$ turnfold log ford --as p1
1 p1 tap 0,1 => origin_selected at=0,1
2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0
3 p1 tap 0,2 => origin_selected at=0,2
4 p1 tap 0,2 => defense_pending at=0,2
5 p1 switch => order_placed number=2 unit=u1 kind=defense path=; planning_ended seat=p1
$ turnfold legal ford --as p1
$ turnfold ask ford --as p1 suggest 0,0
exit 2| error: p1 may not see what is selected: only the planning seat and `host` do

"#]]);
}

#[test]
fn ct_18_twenty_turns_of_forty_units_a_side_are_recorded_checked_and_verified() {
    let toml = armies(12, 40);
    let mut state = start(&toml);
    let mut chooser = Chooser::new(40);
    let sandbox = Sandbox::new();
    sandbox.write("armies.toml", &toml);
    sandbox.ok("new armies --rules cycletap --setup armies.toml");
    let (mut turns, mut entries, mut words) = (0, 0, Vec::new());
    let mut happened = BTreeSet::new();
    while turns < 20 {
        let (seat, command) = chooser.choose(&*state, 24).unwrap();
        let outcome = told(&mut *state, seat, &command);
        happened.extend(outcome.split("; ").map(|effect| effect.split(' ').next().unwrap().to_owned()));
        words.push(format!("{seat}: {command}"));
        entries += 1;
        if seat == Seat::Host {
            turns += 1;
            let args = ["play", "armies"].into_iter().chain(words.iter().map(String::as_str));
            let output = sandbox.command(args).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            words.clear();
        }
    }
    assert!(entries > 600, "only {entries} entries");
    for effect in ["deployed", "moved", "blocked", "hex_won", "hex_held", "eliminated", "advanced"] {
        assert!(happened.contains(effect), "never {effect}: {happened:?}");
    }
    let view = sandbox.ok("--format json show armies");
    assert_eq!(view.trim_end(), &*state.view(Seat::Host.into()));
    sandbox.ok("export armies -o armies.tfl");
    let checked = sandbox.ok("check armies.tfl");
    assert_eq!(checked, format!("ok armies.tfl {entries} entries\n1 passed, 0 failed ({entries} entries)\n"));
    assert!(sandbox.read("armies.tfl").contains(&format!(" #{:.16}\n", state.state_hash())));
    let verified = sandbox.ok("verify");
    assert!(verified.contains(&format!("{entries} entries")), "{verified}");
}
