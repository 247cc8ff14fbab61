//! `turnfold blame`.

use snapbox::str;

use super::duel;

#[test]
fn the_entry_that_last_changed_a_field_is_shown() {
    duel().check(str![[r#"
$ turnfold blame duel /units/0/at
/units/0/at [0,2] → [0,1]
  3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold blame duel /selected
/selected "atlas" → null
  3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold blame duel /selected --all
/selected null → "atlas"
  2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
/selected "atlas" → null
  3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold blame duel:2 /units/0/at
exit 1| error: no entry of `duel:2` changed `/units/0/at`
$ turnfold blame duel /units/9/at
exit 2| error: `/units/9/at` is nowhere in the view of duel; `turnfold --format json show duel` shows the view
$ turnfold blame duel units
exit 2| error: expected a path into the view such as `/turn` or `/units/0/at`, found `units`
$ turnfold --format json blame duel /moved
{"seq":3,"seat":"p1","command":"move 0,1","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"moved","unit":"atlas","from":[0,2],"to":[0,1]},{"effect":"cursor","at":[0,1]},{"effect":"impulse_advanced","index":1,"player":"p2","units":1}],"state_hash":"8bc3cdd5a21478a4b8e996c0136ff43f08258e93c83a024884d726a9361400b7","path":"/moved","old":[],"new":["atlas"]}

"#]]);
}

#[test]
fn the_entry_at_which_a_condition_last_became_true_or_false_is_shown() {
    duel().check(str![[r#"
$ turnfold blame duel "/selected == atlas"
/selected == "atlas" true → false
  3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold blame duel "/selected == atlas && count(/units/*) > 2" --all
/selected == "atlas" && count(/units/*) > 2 false → true
  2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
/selected == "atlas" && count(/units/*) > 2 true → false
  3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold blame duel:2 "!/moved == []"
exit 1| error: no entry of `duel:2` changed whether `!(/moved == [])` holds
$ turnfold blame duel "/trun == 3"
exit 2| error: `/trun` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `initiative`, `movement_order`, `impulse`, `active_player`, `remaining_in_impulse`, `moved`, `cursor`, `selected`, `units`, `blocked`, `due_roll`, `prompt`, `status`; did you mean `/turn`?
$ turnfold blame duel "/turn == three"
exit 2| error: `/turn == "three"` compares a number with a string, as `/turn` is `1`; write a number, as in `7`
$ turnfold blame duel "/turn == 3 &&"
exit 2| error: expected a path into the view such as `/turn`, `count(PATH)`, `!` or `(` at the caret: `/turn == 3 &&^`
$ turnfold --format json blame duel "/phase == movement" --as p1
{"seq":1,"seat":"host","command":"roll 1 2 3 4","outcome":"applied","reason":null,"message":null,"effects":[{"effect":"rolled","p1":3,"p2":7},{"effect":"initiative","p1":3,"p2":7,"loser":"p1","winner":"p2"},{"effect":"movement_order","impulses":[{"player":"p1","units":1},{"player":"p2","units":1},{"player":"p1","units":1},{"player":"p2","units":1}]},{"effect":"flash","text":"Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"},{"effect":"cursor","at":[0,2]}],"state_hash":null,"path":"/phase == \"movement\"","old":false,"new":true}

"#]]);
}
