//! The JSON lines of `play` and `run`, which are a contract with other programs.

use snapbox::str;

use turnfold_tests::sandbox::Sandbox;

#[test]
fn every_line_has_the_same_keys_in_the_same_order() {
    let sandbox = Sandbox::new();
    sandbox.write("script.txt", "roll 1 1 2 2\np1: cycle\np17: cycle\nnonsense\nnext-turn\n");
    sandbox.check(str![[r#"
$ turnfold simulate --rules initiative --setup fixtures/initiative/no-units.toml --script script.txt --keep-going --format json
{"seq":1,"seat":"host","command":"roll 1 1 2 2","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":2,"p2":4},{"effect":"initiative","p1":2,"p2":4,"loser":"p1","winner":"p2"},{"effect":"movement_order","impulses":[]},{"effect":"flash","text":"Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"},{"effect":"movement_complete"}],"state_hash":"f4cff325fe92f4c2234491c249a7dc756d6078b4e37b6a0e0b5dee5f439db9eb"}
{"seq":null,"seat":"p1","command":"cycle","outcome":"rejected","reason":"wrong_phase","message":"units are selected and moved in `movement`, and `next-turn` comes once all have moved","effects":[],"state_hash":"f4cff325fe92f4c2234491c249a7dc756d6078b4e37b6a0e0b5dee5f439db9eb"}
{"seq":null,"seat":null,"command":"p17: cycle","outcome":"rejected","reason":"malformed","message":"unknown seat `p17`: seats are `p1` to `p16` and `host`","effects":[],"state_hash":"f4cff325fe92f4c2234491c249a7dc756d6078b4e37b6a0e0b5dee5f439db9eb"}
{"seq":null,"seat":null,"command":"nonsense","outcome":"rejected","reason":"malformed","message":"expected `roll A B C D`, `cycle`, `confirm`, `click Q,R`, `cancel`, `move Q,R`, `stand` or `next-turn`, found `nonsense`","effects":[],"state_hash":"f4cff325fe92f4c2234491c249a7dc756d6078b4e37b6a0e0b5dee5f439db9eb"}
{"seq":2,"seat":"host","command":"next-turn","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"turn_started","turn":2}],"state_hash":"2df496a842a9e50086d9a4e0cfec8d96f37fe00abfbc2e14131f9681a4c9cc2f"}
exit 1
$ turnfold simulate --rules initiative --setup fixtures/initiative/no-units.toml --state --views --format json "roll 1 1 2 2"
{"seq":1,"seat":"host","command":"roll 1 1 2 2","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":2,"p2":4},{"effect":"initiative","p1":2,"p2":4,"loser":"p1","winner":"p2"},{"effect":"movement_order","impulses":[]},{"effect":"flash","text":"Initiative: P1 rolled 2, P2 rolled 4 — P1 moves first"},{"effect":"movement_complete"}],"state_hash":"f4cff325fe92f4c2234491c249a7dc756d6078b4e37b6a0e0b5dee5f439db9eb","view":{"ruleset":"initiative","turn":1,"phase":"end","initiative":{"rolls":{"p1":2,"p2":4},"loser":"p1","winner":"p2"},"movement_order":[],"impulse":null,"active_player":null,"remaining_in_impulse":null,"moved":[],"cursor":[0,0],"selected":null,"units":[],"blocked":[],"due_roll":null,"prompt":"Turn complete","status":""},"views":{"p1":{"ruleset":"initiative","turn":1,"phase":"end","initiative":{"rolls":{"p1":2,"p2":4},"loser":"p1","winner":"p2"},"movement_order":[],"impulse":null,"active_player":null,"remaining_in_impulse":null,"moved":[],"cursor":[0,0],"selected":null,"units":[],"blocked":[],"due_roll":null,"prompt":"Turn complete","status":""},"p2":{"ruleset":"initiative","turn":1,"phase":"end","initiative":{"rolls":{"p1":2,"p2":4},"loser":"p1","winner":"p2"},"movement_order":[],"impulse":null,"active_player":null,"remaining_in_impulse":null,"moved":[],"cursor":[0,0],"selected":null,"units":[],"blocked":[],"due_roll":null,"prompt":"Turn complete","status":""}}}

"#]]);
}
