//! `turnfold find`.

use std::fmt::Write as _;
use std::fs;

use snapbox::str;
use turnfold_core::Perspective;
use turnfold_history::search::Condition;
use turnfold_history::{History, SourceName, tfl};
use turnfold_tests::sandbox::Sandbox;

use super::duel;

/// Creates six replay files of random play in `games`, one of them in a subfolder.
fn games() -> Sandbox {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.path("games/late")).unwrap();
    for seed in 1..=5 {
        sandbox.ok(&format!("simulate --rules initiative --seed {seed} --steps 60 -o games/{seed}.tfl"));
    }
    sandbox.ok("simulate --rules cycletap --seed 1 --steps 60 -o games/late/tap.tfl");
    sandbox
}

#[test]
fn entries_are_found_by_seat_command_effect_reason_and_condition() {
    let sandbox = games();
    sandbox.check(str![[r#"
$ turnfold find games/1.tfl --when "/phase == movement" --first
games/1.tfl:1 host roll 5 2 2 3 => rolled p1=7 p2=5; initiative p1=7 p2=5 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 5 — P2 moves first"; cursor at=0,-2
$ turnfold find games --command "roll *" --effect initiative --first
games/1.tfl:1 host roll 5 2 2 3 => rolled p1=7 p2=5; initiative p1=7 p2=5 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 5 — P2 moves first"; cursor at=0,-2
games/2.tfl:1 host roll 6 5 2 5 => rolled p1=11 p2=7; initiative p1=11 p2=7 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 11, P2 rolled 7 — P2 moves first"; cursor at=0,-2
games/3.tfl:1 host roll 4 6 1 1 => rolled p1=10 p2=2; initiative p1=10 p2=2 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 10, P2 rolled 2 — P2 moves first"; cursor at=0,-2
games/4.tfl:1 host roll 1 4 4 2 => rolled p1=5 p2=6; initiative p1=5 p2=6 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 5, P2 rolled 6 — P1 moves first"; cursor at=0,2
games/5.tfl:1 host roll 3 5 6 4 => rolled p1=8 p2=10; initiative p1=8 p2=10 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 8, P2 rolled 10 — P1 moves first"; cursor at=0,2
$ turnfold find games --seat p2 --reason not_your_unit
exit 1
$ turnfold find games --when "/turn == 1" --first
games/1.tfl:0 setup
games/2.tfl:0 setup
games/3.tfl:0 setup
games/4.tfl:0 setup
games/5.tfl:0 setup
games/late/tap.tfl:0 setup
$ turnfold find games --when "/turn == 1" --seat p1
exit 1
$ turnfold find games/1.tfl games/2.tfl:20 --command "move ?,*"
games/1.tfl:30 p1 move 2,0 => moved unit=atlas from=0,2 to=2,0; cursor at=2,0; movement_complete
games/1.tfl:35 p1 move 2,-1 => moved unit=locust from=-1,2 to=2,-1; cursor at=2,-1; impulse_advanced index=1 player=p2 units=1
games/1.tfl:41 p1 move 2,-2 => moved unit=atlas from=2,0 to=2,-2; cursor at=2,-2; impulse_advanced index=3 player=p2 units=1
games/2.tfl:3 p2 move 1,0 => moved unit=kit-fox from=0,-2 to=1,0; cursor at=1,0; impulse_advanced index=1 player=p1 units=1
$ turnfold --format json find games/1.tfl --effect moved --first
{"source":"games/1.tfl","seq":19,"entry":{"seq":19,"seat":"p2","command":"move -1,-1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"kit-fox","from":[0,-2],"to":[-1,-1]},{"effect":"cursor","at":[-1,-1]},{"effect":"impulse_advanced","index":1,"player":"p1","units":1}],"state_hash":"0db8e7c57288e28e043ca6193b332392636b18a2b66d1f48e319c0895edbbe07"}}
$ turnfold find "games/**/*.tfl" --when "/riders/0/x > 1000"
exit 2| error: `/riders/0/x` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`
$ turnfold find "games/**/*.tfl" --when "/trun == 1"
exit 2| error: `/trun` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`; did you mean `/turn`?
$ turnfold find games
exit 2| error: the following required arguments were not provided: <--when <CONDITION>|--command <PATTERN>|--effect <NAME>|--reason <NAME>|--seat <SEAT>|--recorded>; see `--help`
$ turnfold find nowhere --seat p1
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory
$ turnfold find "nowhere/*" --seat p1
exit 2| error: no replay files (`*.tfl`) under `nowhere/*`; nothing was checked
$ turnfold find --matches --seat p1
exit 3| error: no store at `.turnfold` in this directory or one above it; create a match first, or name the right directory

"#]]);
}

#[test]
fn matches_are_searched_as_a_viewer_knows_them() {
    let sandbox = duel();
    sandbox.ok("branch duel:1 flank");
    sandbox.check(str![[r#"
$ turnfold find --matches --command "move *"
duel:3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1
$ turnfold find duel duel@flank --seat host --as p1
duel:1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2
duel@flank:1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2

"#]]);
}

#[test]
fn a_log_that_cannot_be_read_is_no_end_of_the_search() {
    let sandbox = games();
    sandbox.write("games/3.tfl", "no replay");
    sandbox.check(str![[r#"
$ turnfold find games --effect initiative --first
games/1.tfl:1 host roll 5 2 2 3 => rolled p1=7 p2=5; initiative p1=7 p2=5 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 5 — P2 moves first"; cursor at=0,-2
games/2.tfl:1 host roll 6 5 2 5 => rolled p1=11 p2=7; initiative p1=11 p2=7 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 11, P2 rolled 7 — P2 moves first"; cursor at=0,-2
games/4.tfl:1 host roll 1 4 4 2 => rolled p1=5 p2=6; initiative p1=5 p2=6 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 5, P2 rolled 6 — P1 moves first"; cursor at=0,2
games/5.tfl:1 host roll 3 5 6 4 => rolled p1=8 p2=10; initiative p1=8 p2=10 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 8, P2 rolled 10 — P1 moves first"; cursor at=0,2
stderr| error: games/3.tfl:1:1: expected `turnfold replay 2`, found `no replay`
exit 2| error: 1 of 6 logs cannot be read

"#]]);
}

#[test]
fn a_condition_is_found_where_looking_at_each_state_finds_it() {
    let sandbox = games();
    let text = "(/selected != null || count(/moved/*) > 1) && !/active_player == p2";
    let condition: Condition = text.parse().unwrap();
    let mut expected = String::new();
    for seed in 1..=5 {
        let name = format!("games/{seed}.tfl");
        let replay = tfl::read(&name, sandbox.read(&name).as_bytes(), &turnfold_games::standard()).unwrap();
        let history = History::of_replay(name.as_ref(), &replay).unwrap();
        let mut held = false;
        for count in 0..=history.entries.len() {
            let state = history.until(count).state().unwrap();
            let before = held;
            held = condition.ask(&|path| state.view_at(Perspective::HOST, path), &mut <_>::default());
            if held && !before {
                writeln!(expected, "{}:{count}", SourceName::of_file(name.as_ref())).unwrap();
            }
        }
    }
    let found = sandbox.ok(&format!("find games/*.tfl --when \"{text}\""));
    let found: String = found.lines().map(|line| line.split(' ').next().unwrap().to_owned() + "\n").collect();
    assert!(found.lines().count() > 5);
    assert_eq!(found, expected);
}

#[test]
fn every_entry_of_a_long_log_is_found_in_order_and_the_first_of_each_alone_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("games")).unwrap();
    for seed in 1..=2 {
        let options = format!("--seed {seed} --steps 1500 -o games/{seed}.tfl");
        sandbox.ok(&format!("simulate --rules cycletap {options}"));
    }
    let seqs = |line: &str| -> Vec<String> {
        let found = sandbox.ok(line);
        found.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let all: Vec<String> =
        [1, 2].iter().flat_map(|seed| (1..=1500).map(move |seq| format!("games/{seed}.tfl:{seq}"))).collect();
    assert_eq!(seqs("find games --command *"), all);
    assert_eq!(seqs("find games --command * --first"), ["games/1.tfl:1", "games/2.tfl:1"]);
    // Also a condition that becomes true and false several times.
    let of_condition = seqs("find games/1.tfl --when \"/tap/state != idle\"");
    assert!(of_condition.len() > 100, "{}", of_condition.len());
    let first = seqs("find games/1.tfl --when \"/tap/state != idle\" --first");
    assert_eq!(first, of_condition[..1]);
}
