//! `turnfold branch` and `branches`.

use snapbox::str;

use super::duel;

#[test]
fn a_branch_parts_from_any_entry_and_goes_its_own_way() {
    duel().check(str![[r#"
$ turnfold branch duel:2 flank
duel@flank begins after duel:2
$ turnfold play duel@flank "move 1,1"
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
$ turnfold branch duel@flank deeper
duel@deeper begins after duel@flank:3
$ turnfold branch duel
main    3 entries  link [LINK]
deeper  3 entries, from flank:3  link [LINK]
flank   3 entries, from main:2  link [LINK]
$ turnfold --format json branch duel
{"branch":"main","entries":3,"from":null,"current":true,"link":"[LINK]"}
{"branch":"deeper","entries":3,"from":{"branch":"flank","seq":3},"current":false,"link":"[LINK]"}
{"branch":"flank","entries":3,"from":{"branch":"main","seq":2},"current":false,"link":"[LINK]"}
$ turnfold log duel@flank -n 1
3 p1 move 1,1 => moved unit=atlas from=0,2 to=1,1; cursor at=1,1; impulse_advanced index=1 player=p2 units=1 #d1e3fa94a390e862
$ turnfold log duel -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold branch --delete --force duel@flank
exit 2| error: branch `flank` of match `duel` cannot be deleted: branch `deeper` begins on it; delete branch `deeper` first
$ turnfold branch --delete duel@deeper
exit 2| error: cannot ask for confirmation because this is not a terminal; use `--force` to delete branch `duel@deeper`
$ turnfold branch --delete --force duel@deeper
deleted duel@deeper
$ turnfold branch --delete --force duel@flank
deleted duel@flank
$ turnfold branch duel
main  3 entries  link [LINK]

"#]]);
}

#[test]
fn branches_that_cannot_be_are_refused() {
    duel().check(str![[r#"
$ turnfold branch duel:9 flank
exit 2| error: `duel@main` has no entry 9: its head is 3
$ turnfold branch duel Flank
exit 2| error: invalid value 'Flank' for '[NAME]': expected a branch name of 1 to 64 characters a-z, 0-9, `.`, `_` or `-`, beginning with a letter or digit, found `Flank`; see `--help`
$ turnfold branch duel main
exit 2| error: match `duel` already has a branch `main`; choose another name
$ turnfold branch nobody flank
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are
$ turnfold branch duel
main  3 entries  link [LINK]
$ turnfold branch --delete --force duel
exit 2| error: branch `main` of match `duel` cannot be deleted: every match has it
$ turnfold branch --delete --force duel@nowhere
exit 2| error: match `duel` has no branch `nowhere`; `turnfold branch duel` lists those there are
$ turnfold branch duel:2
exit 2| error: the new branch from `duel:2` needs a name; `turnfold branch duel` lists branches
$ turnfold branch duel@flank
exit 2| error: the new branch from `duel@flank` needs a name; `turnfold branch duel` lists branches
$ turnfold branch --rename duel@flank
exit 2| error: the following required arguments were not provided: <NAME>; see `--help`
$ turnfold branch nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are

"#]]);
}
