//! `turnfold branch` and `branches`.

use snapbox::str;

use super::{check, duel};

#[test]
fn a_branch_parts_from_any_entry_and_goes_its_own_way() {
    check(
        &duel(),
        "branch duel:2 flank
         play duel@flank \"move 1,1\"
         branch duel@flank deeper
         branches duel
         --format json branches duel
         log duel@flank
         log duel
         branch --delete duel@flank
         branch --delete duel@deeper
         branch --delete duel@flank
         branches duel",
        str![[r#"
$ turnfold branch duel:2 flank
duel@flank begins after duel:2
$ turnfold play duel@flank "move 1,1"
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
$ turnfold branch duel@flank deeper
duel@deeper begins after duel@flank:3
$ turnfold branches duel
main    3 entries  link [LINK]
deeper  3 entries, from flank:3  link [LINK]
flank   3 entries, from main:2  link [LINK]
$ turnfold --format json branches duel
{"branch":"main","entries":3,"from":null,"link":"[LINK]"}
{"branch":"deeper","entries":3,"from":{"branch":"flank","seq":3},"link":"[LINK]"}
{"branch":"flank","entries":3,"from":{"branch":"main","seq":2},"link":"[LINK]"}
$ turnfold log duel@flank
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
$ turnfold log duel
1 host roll 1 2 3 4 => rolled p1=3 p2=7; initiative p1=3 p2=7 loser=p1 winner=p2; movement_order impulses=p1:1|p2:1|p1:1|p2:1; flash text="Initiative: P1 rolled 3, P2 rolled 7 — P1 moves first"; cursor at=0,2 #e67f02be3627678a
2 p1 confirm => selected unit=atlas #01c8c4ec6ad17e5a
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold branch --delete duel@flank
stderr| error: branch `flank` of match `duel` cannot be deleted: branch `deeper` begins on it; delete branch `deeper` first
exit 2
$ turnfold branch --delete duel@deeper
deleted duel@deeper
$ turnfold branch --delete duel@flank
deleted duel@flank
$ turnfold branches duel
main  3 entries  link [LINK]

"#]],
    );
}

#[test]
fn branches_that_cannot_be_are_refused() {
    check(
        &duel(),
        "branch duel:9 flank
         branch duel Flank
         branch duel main
         branch nobody flank
         branch duel
         branch --delete duel
         branch --delete duel@nowhere
         branches nobody",
        str![[r#"
$ turnfold branch duel:9 flank
stderr| error: `duel@main` has no entry 9: its head is 3
exit 2
$ turnfold branch duel Flank
stderr| error: invalid value 'Flank' for '[NAME]': expected a branch name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Flank`; see `--help`
exit 2
$ turnfold branch duel main
stderr| error: match `duel` already has a branch `main`; choose another name
exit 2
$ turnfold branch nobody flank
stderr| error: no match `nobody` in this store; `turnfold matches` lists those there are
exit 2
$ turnfold branch duel
stderr| error: the following required arguments were not provided: <NAME>; see `--help`
exit 2
$ turnfold branch --delete duel
stderr| error: branch `main` of match `duel` cannot be deleted: every match has it
exit 2
$ turnfold branch --delete duel@nowhere
stderr| error: match `duel` has no branch `nowhere`; `turnfold branches duel` lists those there are
exit 2
$ turnfold branches nobody
stderr| error: no match `nobody` in this store; `turnfold matches` lists those there are
exit 2

"#]],
    );
}
