//! `turnfold play`.

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::{Sandbox, workspace};

#[test]
fn commands_are_appended_and_their_outcomes_printed() {
    duel().check(str![[r#"
$ turnfold play duel cycle "p2: confirm" cancel cancel "click 9,9"
4 p2 cycle => cursor at=0,-2 #818c9af3972ebd4c
5 p2 confirm => selected unit=kit-fox #2d1584c63f24b806
6 p2 cancel => deselected #818c9af3972ebd4c
7 p2 cancel => ignored nothing_selected #818c9af3972ebd4c
8 p2 click 9,9 => ignored out_of_bounds #818c9af3972ebd4c
$ turnfold log duel -n 2
7 p2 cancel => ignored nothing_selected #818c9af3972ebd4c
8 p2 click 9,9 => ignored out_of_bounds #818c9af3972ebd4c

"#]]);
}

#[test]
fn all_commands_of_a_call_are_recorded_or_none() {
    duel().check(str![[r#"
$ turnfold play duel confirm "p1: confirm" stand
! p1 confirm => rejected not_your_turn (it is the other player's impulse)
exit 1| error: the command was rejected; none of the 3 commands was recorded; `turnfold rules initiative not_your_turn` explains it
$ turnfold play duel confirm nonsense
! nonsense => rejected malformed (expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `nonsense`)
exit 1| error: the command was rejected; none of the 2 commands was recorded; `turnfold rules initiative malformed` explains it
$ turnfold play duel "p17: confirm"
! p17: confirm => rejected malformed (unknown seat `p17`: seats are `p1` to `p16` and `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative malformed` explains it
$ turnfold play duel --seat p3 confirm
! p3 confirm => rejected wrong_seat (this command belongs to a player of the match)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative wrong_seat` explains it
$ turnfold play duel --seat p17 confirm
exit 2| error: invalid value 'p17' for '--seat <SEAT>': unknown viewer `p17`: viewers are `p1` to `p16`, `host` and `spectator`; see `--help`
$ turnfold log duel -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4

"#]]);
}

#[test]
fn a_time_in_a_command_is_no_seat() {
    let sandbox = Sandbox::new();
    sandbox.ok(&format!("import \"{}\"", workspace().join("replays/desk/deadlines.tfl").display()));
    sandbox.ok("branch deadlines:9 open");
    sandbox.check(str![[r#"
$ turnfold play deadlines@open "extend 2026-12-04T18:00:00Z the mail was down"
10 host extend 2026-12-04T18:00:00Z the mail was down => extended until=2026-12-04T18:00:00Z #4733412e24f8a96c
$ turnfold play deadlines@open "clock 2026-12-03T17:00:00Z"
11 host clock 2026-12-03T17:00:00Z => clocked at=2026-12-03T17:00:00Z #c6e3d99bf27e3b04
$ turnfold play deadlines@open "hots: clock 2027-01-01T18:00:00Z"
! hots: clock 2027-01-01T18:00:00Z => rejected malformed (unknown seat `hots`: seats are `p1` to `p16` and `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules desk malformed` explains it

"#]]);
}

#[test]
fn a_moved_head_is_a_conflict() {
    duel().check(str![[r#"
$ turnfold play duel --expect 2 confirm
exit 1| error: expected `duel` at entry 2, but its last entry is 3; look at `turnfold log duel` and try again, or branch off with `turnfold branch`
$ turnfold play duel:2 confirm
exit 1| error: expected `duel` at entry 2, but its last entry is 3; look at `turnfold log duel` and try again, or branch off with `turnfold branch`
$ turnfold play duel --expect 3 confirm
4 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
$ turnfold play nobody confirm
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold play duel@nowhere confirm
exit 2| error: match `duel` has no branch `nowhere`; `turnfold branch duel` lists those there are

"#]]);
}

/// A repeated call shows a seat the same as the first call, even if the seat may know more now.
#[test]
fn a_key_prints_what_the_first_call_did_also_once_more_is_known() {
    let sandbox = Sandbox::new();
    let seed = "ab".repeat(32);
    sandbox.ok(&format!(
        "new ford --rules cycletap --setup fixtures/cycletap/ford.toml --dice seeded --seed {seed}"
    ));
    sandbox.ok("play ford --seat p1 \"tap 0,1\" switch");
    let keyed = "play ford --seat p2 --once k \"tap 1,-2\"";
    let first = sandbox.ok(keyed);
    assert_eq!(first, "2 p2 tap 1,-2 => origin_selected at=1,-2\n");
    sandbox.ok("play ford --seat p2 switch");
    assert_eq!(sandbox.ok(keyed), first);
    sandbox.ok("play ford resolve");
    assert_eq!(sandbox.ok(keyed), first);
    assert_eq!(sandbox.ok("log ford").lines().count(), 5);
}

#[test]
fn a_key_appends_once() {
    duel().check(str![[r#"
$ turnfold play duel --once monday confirm "move 1,-1"
4 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
5 p2 move 1,-1 => ignored nothing_selected #8bc3cdd5a21478a4
$ turnfold play duel --once monday --expect 3 confirm "move 1,-1"
4 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
5 p2 move 1,-1 => ignored nothing_selected #8bc3cdd5a21478a4
$ turnfold play duel --once monday --expect 3 confirm
exit 1| error: the key was used for other commands, entries 4 to 5 of `duel`; choose a new key
$ turnfold play duel --once "not a key" confirm
exit 2| error: invalid value 'not a key' for '--once <KEY>': expected a key of 1 to 128 printable ASCII characters without spaces, found `not a key`; see `--help`
$ turnfold log duel -n 3
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
4 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
5 p2 move 1,-1 => ignored nothing_selected #8bc3cdd5a21478a4
$ turnfold play duel --once tuesday confirm
6 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
$ turnfold play duel --once tuesday "move 1,-1"
exit 1| error: the key was used for other commands, entry 6 of `duel`; choose a new key

"#]]);
}

#[test]
fn scripts_come_from_files_and_standard_input() {
    let sandbox = duel();
    sandbox.write("moves.txt", "# p2's answer\n\np2: confirm\nmove 1,-1 # beside the block\n");
    sandbox.check(str![[r#"
$ turnfold play duel --script moves.txt
4 p2 confirm => ignored not_your_unit #8bc3cdd5a21478a4
5 p2 move 1,-1 => ignored nothing_selected #8bc3cdd5a21478a4
$ turnfold play duel --script missing.txt
exit 2| error: cannot read script `missing.txt`: No such file or directory (os error 2)
$ turnfold play duel --script moves.txt cycle
exit 2| error: the argument '--script <FILE>' cannot be used with '[COMMAND]...'; see `--help`
$ turnfold play duel --script -
nothing played and no roll is due

"#]]);
}

#[test]
fn seeded_dice_roll_by_themselves_unless_forbidden() {
    let sandbox = Sandbox::new();
    sandbox.ok(
        "new duel --rules initiative --setup fixtures/initiative/no-units.toml --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
    );
    sandbox.check(str![[r#"
$ turnfold play duel --no-auto-roll "p1: cycle"
! p1 cycle => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative roll_due` explains it
$ turnfold play duel --no-auto-roll
nothing played; a roll is due: 4 values in 1..=6 for initiative
$ turnfold play duel "roll 1 1 2 2"
! host roll 1 1 2 2 => rejected bad_roll (entry 1: the seeded dice give another roll, and roll by themselves)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative bad_roll` explains it
$ turnfold play duel
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; movement_complete #363c06c4ad373592
$ turnfold play duel --no-auto-roll next-turn
2 host next-turn => turn_started turn=2 #2df496a842a9e500
$ turnfold play duel --dice system
exit 2| error: `--dice system` is for recorded matches; this one rolls from its seed
$ turnfold --format json play duel next-turn
{"seq":3,"seat":"host","command":"roll 3 4 4 3","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":7,"p2":7},{"effect":"flash","text":"Initiative: both rolled 7 — roll again"}],"state_hash":"2df496a842a9e50086d9a4e0cfec8d96f37fe00abfbc2e14131f9681a4c9cc2f"}
{"seq":4,"seat":"host","command":"roll 6 3 5 3","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":9,"p2":8},{"effect":"initiative","p1":9,"p2":8,"loser":"p2","winner":"p1"},{"effect":"movement_order","impulses":[]},{"effect":"flash","text":"Initiative: P1 rolled 9, P2 rolled 8 — P2 moves first"},{"effect":"movement_complete"}],"state_hash":"588f4746ad2c2ece40bdfd27d04de5ba2df65a2d1c2d8d9101367c7ef3999ee5"}
{"seq":5,"seat":"host","command":"next-turn","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"turn_started","turn":3}],"state_hash":"67fc3e75a8adb9c5c9a6c60441f5e546df19fa2cd585a969bd8f8615580dd498"}
{"seq":6,"seat":"host","command":"roll 4 5 6 5","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":9,"p2":11},{"effect":"initiative","p1":9,"p2":11,"loser":"p1","winner":"p2"},{"effect":"movement_order","impulses":[]},{"effect":"flash","text":"Initiative: P1 rolled 9, P2 rolled 11 — P1 moves first"},{"effect":"movement_complete"}],"state_hash":"1a106c73e8d4528e69157ec0547ed6f2e1a43ef9d1491e72a758dbecb1fa518e"}

"#]]);
}

#[test]
fn recorded_matches_wait_for_their_dice_or_ask_the_system() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.check(str![[r#"
$ turnfold play duel
nothing played; a roll is due: 4 values in 1..=6 for initiative
$ turnfold play duel --dice system --no-auto-roll
exit 2| error: `--dice system` and `--no-auto-roll` exclude each other

"#]]);
    let rolled = sandbox.ok("play duel --dice system");
    assert!(rolled.contains("host roll "), "{rolled}");
    assert!(rolled.contains("movement_complete"), "{rolled}");
}

#[test]
fn a_rejected_line_of_a_script_is_named() {
    let sandbox = duel();
    sandbox.write("script.txt", "# first\n\np2: click 0,0\np1: stand # not his turn\np2: cancel\n");
    sandbox.write("alien.txt", "p2: click 0,0\np17: cancel\n");
    sandbox.check(str![[r#"
$ turnfold play duel --script script.txt
! p1 stand => rejected not_your_turn (it is the other player's impulse)
exit 1| error: script.txt:4: the command was rejected; none of the 3 commands was recorded; `turnfold rules initiative not_your_turn` explains it
$ turnfold play duel --script alien.txt
! p17: cancel => rejected malformed (unknown seat `p17`: seats are `p1` to `p16` and `host`)
exit 1| error: alien.txt:2: the command was rejected; none of the 2 commands was recorded; `turnfold rules initiative malformed` explains it
$ turnfold play duel "p1: stand"
! p1 stand => rejected not_your_turn (it is the other player's impulse)
exit 1| error: the command was rejected; nothing was recorded; `turnfold rules initiative not_your_turn` explains it
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt
! p2 click 0,0 => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`)
exit 1| error: script.txt:3: the command was rejected; the script stops here; `--keep-going` continues after rejections
$ turnfold simulate --rules initiative --setup fixtures/initiative/small-board.toml --script script.txt --keep-going
! p2 click 0,0 => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`) at script.txt:3
! p1 stand => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`) at script.txt:4
! p2 cancel => rejected roll_due (a roll is due first: 4 values in 1..=6 for initiative, by `host`) at script.txt:5
exit 1

"#]]);
    let words = ["play", "duel", "--script", "-"];
    let output = sandbox
        .command(words)
        .stdin(std::fs::File::open(sandbox.path("script.txt")).unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: <stdin>:4: the command was rejected; none of the 3 "), "{stderr}");
    assert_eq!(output.status.code(), Some(1));
}

/// Otherwise a player could try out rolls with commands that do nothing.
#[test]
fn neither_ignored_nor_rejected_commands_change_a_seeded_roll() {
    let sandbox = Sandbox::new();
    sandbox.write("setup.toml", "generate = { seed = 7, percent = 30 }\n");
    let seed = "5eed".repeat(16);
    for padding in 0..6 {
        sandbox
            .ok(&format!("new m{padding} --rules hexcapture --setup setup.toml --dice seeded --seed {seed}"));
        for _ in 0..padding {
            assert!(sandbox.ok(&format!("play m{padding} \"p1: eat\"")).contains("ignored not_carrying"));
            assert_eq!(sandbox.run(&format!("play m{padding} \"p2: eat\"")).status.code(), Some(1));
        }
        let played = sandbox.ok(&format!("play m{padding} \"move s\" \"move s\" act \"tick 70\" eat"));
        let rolls: Vec<&str> =
            played.lines().filter_map(|line| line.split_once(" host roll ")).map(|(_, roll)| roll).collect();
        assert_eq!(rolls.len(), 2, "{played}");
        assert!(rolls[0].starts_with("9 => captured") && rolls[1].starts_with("5 => eaten"), "{played}");
        sandbox.ok(&format!("verify m{padding}"));
    }
}

#[test]
fn a_dry_run_prints_outcomes_and_records_nothing() {
    let sandbox = duel();
    sandbox.ok("new dice --rules initiative --dice seeded --seed 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    sandbox.check(str![[r#"
$ turnfold log duel -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold play duel --dry-run "p2: cycle" "p2: cycle"
4 p2 cycle => cursor at=0,-2 #818c9af3972ebd4c
5 p2 cycle => cursor at=1,-2 #14d307c4f30afbd5
$ turnfold play duel --dry-run "p2: cycle" "p1: cycle"
! p1 cycle => rejected not_your_turn (it is the other player's impulse)
exit 1| error: the command was rejected; none of the 2 commands was recorded; `turnfold rules initiative not_your_turn` explains it
$ turnfold play duel --dry-run --seat p2 cycle
4 p2 cycle => cursor at=0,-2
$ turnfold play dice --dry-run
1 host roll 2 5 4 2 => rolled p1=7 p2=6; initiative p1=7 p2=6 loser=p2 winner=p1; movement_order impulses=p2:1|p1:1|p2:1|p1:1; flash text="Initiative: P1 rolled 7, P2 rolled 6 — P2 moves first"; cursor at=0,-2 #33423e6fdd9b2619
$ turnfold log dice
$ turnfold play dice --dry-run --seat p1
exit 2| error: `--dry-run` is for the host: a match with seeded or fair dice has secrets; leave out `--seat`
$ turnfold play ford --dry-run "p1: tap 0,1"
1 p1 tap 0,1 => origin_selected at=0,1 #cbac96aa3f5342b2
$ turnfold play ford --dry-run --seat p1 "tap 0,1"
exit 2| error: `--dry-run` is for the host: cycletap has secrets; leave out `--seat`
$ turnfold play duel --dry-run --once k "p2: cycle"
exit 2| error: the argument '--dry-run' cannot be used with '--once <KEY>'; see `--help`
$ turnfold play duel --dry-run "p2: cycle" --expect 1
exit 1| error: expected `duel` at entry 1, but its last entry is 3; look at `turnfold log duel` and try again, or branch off with `turnfold branch`
$ turnfold log duel -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4

"#]]);
    // The verb only reads, so it also works while another process writes.
    let _writer = turnfold_store::Store::open(&sandbox.path(".turnfold")).unwrap();
    assert!(!sandbox.run("play duel \"p2: cycle\"").status.success());
    sandbox.ok("play duel --dry-run \"p2: cycle\"");
}
