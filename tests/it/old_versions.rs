//! Matches whose rules are missing: what can still be read, and how a match continues under another version.
//!
//! The game is `heaps` of `src/toys`. The first word of each command lists the versions that the program has.

use snapbox::str;
use turnfold_core::Registry;
use turnfold_history::golden::{Finding, FindingKind, verify};
use turnfold_proof::bundle::{StoreRecords, write_bundle};
use turnfold_store::{BranchCopy, Genesis, MatchName, Store, StoreReader};

use turnfold_tests::fixture;
use turnfold_tests::sandbox::{Sandbox, without_links};

/// Creates a store with a match that versions 1 and 2 play the same, with a branch, and a match that they play
/// differently.
fn recorded() -> Sandbox {
    let sandbox = Sandbox::of_toys();
    sandbox.write("heaps.toml", "heaps = [5, 4, 7]\n");
    sandbox.ok("1 new same --rules heaps --setup heaps.toml --title again");
    sandbox.ok("1 play same --once k \"take 2 1\" \"take 1 2\"");
    sandbox.ok("1 branch same:1 flank");
    sandbox.ok("1 play same@flank stand stand");
    sandbox.ok("1 new other --rules heaps --setup heaps.toml");
    sandbox.ok("1 play other stand \"take 3 1\"");
    sandbox
}

#[test]
fn what_needs_no_rules_works_without_them_and_reports_what_was_not_checked() {
    recorded().check(str![[r#"
$ turnfold 2 log same --raw
1 p1 0x000201 [TIME] link [LINK] key k
2 p2 0x000102 [TIME] link [LINK] key k
not checked: commands and outcomes; this build does not have `heaps` version 1
$ turnfold - log same@flank:2.. --raw
2 p2 0x01 [TIME] link [LINK]
3 p1 0x01 [TIME] link [LINK]
not checked: commands and outcomes; this build does not have `heaps` version 1
$ turnfold - log same --raw -n 1
2 p2 0x000102 [TIME] link [LINK] key k
not checked: commands and outcomes; this build does not have `heaps` version 1
$ turnfold 1 log same --raw --seat p2
2 p2 0x000102 [TIME] link [LINK] key k
not checked: commands and outcomes; `--raw` does not ask `heaps` version 1
$ turnfold - --format json log same:0 --raw
{"source":"same","printed":0,"ruleset":"heaps","version":1,"known":false,"not_checked":"commands and outcomes"}
$ turnfold 2 verify same
unknown_rules same: ruleset `heaps` has version 1, this build knows 2
exit 1
$ turnfold 2 verify --chain
ok other@main: 2 entries link [LINK]
not checked other: commands, outcomes, states, dice and snapshots, which need the rules
ok same@main: 2 entries link [LINK]
ok same@flank: 3 entries link [LINK]
not checked same: commands, outcomes, states, dice and snapshots, which need the rules
$ turnfold - verify same@flank:2 --chain
ok same@flank: 2 entries link [LINK]
not checked same: commands, outcomes, states, dice and snapshots, which need the rules
$ turnfold - --format json verify other --chain
{"match":"other","ok":true,"branches":[{"branch":"main","entries":2,"link":"[LINK]"}],"findings":[],"not_checked":"commands, outcomes, states, dice and snapshots, which need the rules"}
$ turnfold - verify other --chain --expect 0123456789abcdef@2
ok other@main: 2 entries link [LINK]
not checked other: commands, outcomes, states, dice and snapshots, which need the rules
differs other: they part at or before entry 2, or are not one match; ask for the link after entry 0, the setup
exit 1
$ turnfold - bundle same other -o all.bundle
bundled 2 matches to `all.bundle`: 3 branches, 8 records, 0 checkpoints
$ turnfold - audit all.bundle
bytes        PASS        8 records and 0 checkpoints in canonical form
chain        PASS        3 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT CHECKED other: values came from outside; range and count only; 2 more like it
rules        NOT CHECKED other: this build does not have the ruleset `heaps`; 2 more like it
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold 2 audit all.bundle
...
rules        NOT CHECKED other: this build has version 2 of the ruleset `heaps`, not 1; 2 more like it
...
proven: bytes, chain; not proven: signature, consistency, cosignatures, dice, rules, authorship
$ turnfold - --store copied import all.bundle
other@main: imported, 2 entries
same@main: imported, 2 entries
same@flank: imported, 2 entries after main:1
not checked rules: other: this build does not have the ruleset `heaps`; 2 more like it
$ turnfold 2 --store copied import all.bundle
other@main: already up to date
same@main: already up to date
same@flank: already up to date
not checked rules: other: this build has version 2 of the ruleset `heaps`, not 1; 2 more like it
$ turnfold 1 --store copied verify
ok other@main: 2 entries state 84651ed958d3e97d link [LINK]
ok same@main: 2 entries state a58834c218bf39cb link [LINK]
ok same@flank: 3 entries state 5bbee850d3b01956 link [LINK]
$ turnfold 2 matches --long
other  heaps  2 entries, 1 branch  [TIME]  rules of another build
same   heaps  2 entries, 2 branches  [TIME]  rules of another build  again

"#]]);
}

#[test]
fn what_needs_the_rules_names_the_version_that_is_missing() {
    recorded().check(str![[r#"
$ turnfold 2 show same
exit 2| error: match `same` was recorded under `heaps` version 1, this build has version 2; use the build that recorded it, or `turnfold migrate same NEW` for version 2; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold 2 export same
exit 2| error: `export` needs the rules, and this build has no `heaps` version 1, under which match `same` was recorded; use the build that recorded it, or `turnfold migrate same NEW` for version 2; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold - export same
exit 2| error: `export` needs the rules, and this build has no `heaps` version 1, under which match `same` was recorded; use the build that recorded it; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold 2 bundle same --as p1 -o p1.bundle
exit 2| error: `bundle --as` needs the rules, and this build has no `heaps` version 1, under which match `same` was recorded; use the build that recorded it, or `turnfold migrate same NEW` for version 2; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold 2 log same --raw --as p1
exit 2| error: entries as they are stored, which p1 may not see; leave out `--as`
$ turnfold 2 log same --raw --grep take
exit 2| error: the argument '--raw' cannot be used with '--grep <REGEX>'; see `--help`
$ turnfold 2 log heaps.tfl --raw
exit 2| error: a replay file has no stored entries; leave out `--raw`
$ turnfold 2 log same:9 --raw
exit 2| error: `same@main` has no entry 9: its head is 2
$ turnfold 2 log same:4.. --raw
exit 2| error: `same` has no entry 4; its last is 2
$ turnfold 2 verify x.tfl --chain
exit 2| error: `x.tfl` is a replay file, and `verify` is for matches of the store; `turnfold check x.tfl` verifies it

"#]]);
}

#[test]
fn a_match_continues_under_another_version_if_nothing_differs() {
    recorded().check(str![[r#"
$ turnfold 1,2,3 migrate same same-2 --to 2
migrated same to same-2: heaps version 1 → 2, 4 entries, 2 branches
every outcome is the same
$ turnfold 1,2,3 migrate same same-2 --to 2
migrated same to same-2: heaps version 1 → 2, 4 entries, 2 branches
every outcome is the same
$ turnfold 1,2,3 migrate same again --to 2
exit 1| error: the match was migrated to version 2 before, as `same-2`
$ turnfold 2 matches --long
other   heaps  2 entries, 1 branch  [TIME]  rules of another build
same    heaps  2 entries, 2 branches  [TIME]  rules of another build  again
same-2  heaps  2 entries, 2 branches  [TIME]  turn of p1  migrated from version 1  again
$ turnfold 2 log same-2
1 p1 take 2 1 => taken count=2 heap=1 #ae3e10f194524ae0
2 p2 take 1 2 => taken count=1 heap=2 #ca2cb7ac28214bbb
$ turnfold 2 log same-2@flank
1 p1 take 2 1 => taken count=2 heap=1 #ae3e10f194524ae0
2 p2 stand => stood seat=p2 #c55c3c25a16b6a75
3 p1 stand => stood seat=p1 #ae3e10f194524ae0
$ turnfold 2 verify same-2
ok same-2@main: 2 entries state ca2cb7ac28214bbb link [LINK]
ok same-2@flank: 3 entries state ae3e10f194524ae0 link [LINK]
$ turnfold - verify same-2 --chain
ok same-2@main: 2 entries link [LINK]
ok same-2@flank: 3 entries link [LINK]
not checked same-2: commands, outcomes, states, dice and snapshots, which need the rules
$ turnfold 2 play same-2 --once k "take 2 1" "take 1 2"
1 p1 take 2 1 => taken count=2 heap=1 #ae3e10f194524ae0
2 p2 take 1 2 => taken count=1 heap=2 #ca2cb7ac28214bbb
$ turnfold 2 play same-2 "take 1 1"
3 p1 take 1 1 => taken count=1 heap=1 #0649a5f1199eb406
$ turnfold 1,2,3 migrate same same-2 --to 2
migrated same to same-2: heaps version 1 → 2, 4 entries, 2 branches
every outcome is the same
$ turnfold 2 verify same-2
ok same-2@main: 3 entries state 0649a5f1199eb406 link [LINK]
ok same-2@flank: 3 entries state ae3e10f194524ae0 link [LINK]
$ turnfold 1 verify same
ok same@main: 2 entries state a58834c218bf39cb link [LINK]
ok same@flank: 3 entries state 5bbee850d3b01956 link [LINK]
$ turnfold 2 bundle same-2 -o new.bundle
bundled 1 match to `new.bundle`: 2 branches, 6 records, 0 checkpoints
$ turnfold 2 audit new.bundle
bytes        PASS        6 records and 0 checkpoints in canonical form
chain        PASS        2 branches linked from the first record to the last
signature    NOT CHECKED no policy says whose signatures count; give one with `--policy`
consistency  NOT CHECKED no checkpoint is held; give one with `--held`
cosignatures NOT CHECKED no policy says whose cosignatures count; give one with `--policy`
dice         NOT APPLICABLE there is no match with dice
rules        PASS        5 entries of 2 branches folded from the setup
authorship   NOT CHECKED the host alone says who gave which command
proven: bytes, chain, rules; not proven: signature, consistency, cosignatures, authorship
$ turnfold 2 --store copied import new.bundle
same-2@main: imported, 3 entries
same-2@flank: imported, 2 entries after main:1
$ turnfold 2 --store copied matches --long
same-2  heaps  3 entries, 2 branches  [TIME]  turn of p2  migrated from version 1  again
$ turnfold 2 store backup all.tfb
backed up to all.tfb: 3 matches, 5 branches, 11 entries, 1268 bytes
$ turnfold 2 store restore all.tfb restored
restored store restored: 3 matches, 5 branches, 11 entries
$ turnfold 2 --store restored verify same-2
ok same-2@main: 3 entries state 0649a5f1199eb406 link [LINK]
ok same-2@flank: 3 entries state ae3e10f194524ae0 link [LINK]
$ turnfold 2 --store restored matches --long
other   heaps  2 entries, 1 branch  [TIME]  rules of another build
same    heaps  2 entries, 2 branches  [TIME]  rules of another build  again
same-2  heaps  3 entries, 2 branches  [TIME]  turn of p2  migrated from version 1  again
$ turnfold 2 store salvage restored saved
saved everything in store saved: 3 matches, 5 branches, 11 entries
$ turnfold 2 --store saved verify same-2
ok same-2@main: 3 entries state 0649a5f1199eb406 link [LINK]
ok same-2@flank: 3 entries state ae3e10f194524ae0 link [LINK]
$ turnfold 2 migrate other other-2
migrated other to other-2: heaps version 1 → 2, 2 entries, 1 branch
every command is still accepted; outcomes were not compared, as this build has no version 1
$ turnfold 1 migrate same-2 back
exit 2| error: match `same-2` was recorded under `heaps` version 2, this build has version 1; use the build that recorded it; `bundle`, `log --raw` and `verify --chain` need no rules
$ turnfold 1 migrate same-2 back --to 1
migrated same-2 to back: heaps version 2 → 1, 5 entries, 2 branches
every command is still accepted; outcomes were not compared, as this build has no version 2
$ turnfold 1 verify back
ok back@main: 3 entries state 8a5585ed5fe85381 link [LINK]
ok back@flank: 3 entries state 5bbee850d3b01956 link [LINK]

"#]]);
}

#[test]
fn a_match_that_differs_is_not_migrated_and_the_first_difference_is_named() {
    recorded().check(str![[r#"
$ turnfold 1,2 game impact --matches
heaps version 1 → 2: 2 of 3 logs fold the same, 1 differs (7 entries)
applied → ignored bad_count: 1 log of heaps version 1
  other: entry 2 (p2 take 3 1), /heaps [1,5,7] → [4,5,7]
in all, 2 of 3 logs fold the same, 1 differs (7 entries)
stored logs record no outcomes: they are computed where this build has the recorded version; else what is compared is whether every command is accepted
exit 1
$ turnfold 2 game impact --matches
heaps version 1 → 2: 3 of 3 logs fold the same (7 entries)
in all, 3 of 3 logs fold the same (7 entries)
stored logs record no outcomes: what is compared is whether every command is accepted
$ turnfold 1,2 migrate other other-2
exit 1| error: `other` is not the same under version 2: entry 2 (p2 take 3 1): applied → ignored bad_count; `turnfold game impact --matches` shows what else differs
$ turnfold 1,3 migrate same same-3
exit 1| error: `same` is not the same under version 3: entry 1 (p1 take 2 1): applied → rejected too_many; `turnfold game impact --matches` shows what else differs
$ turnfold 3 migrate same same-3
exit 1| error: `same` is not the same under version 3: entry 1 (p1 take 2 1): accepted → rejected too_many; `turnfold game impact --matches` shows what else differs
$ turnfold 1 migrate same same-2
exit 2| error: match `same` is of version 1 of `heaps` already
$ turnfold 1 migrate same same-2 --to 2
exit 2| error: this build has no version 2 of `heaps`; its newest is 1
$ turnfold - migrate same same-2
exit 2| error: unknown ruleset `heaps`; known: ; `turnfold game add FILE` adds a module, `--referee COMMAND` or `TURNFOLD_REFEREES` names a program that knows the rules
$ turnfold 1,2 migrate same other
exit 2| error: match `other` already exists; choose another name
$ turnfold 1,2 migrate nothing other
exit 2| error: no match `nothing` in this store; `turnfold matches` lists those there are
$ turnfold 1,2 migrate same same.tfl
exit 2| error: invalid value 'same.tfl' for '<NEW>': a name that ends in `.tfl` means a replay file, so no match can have it; see `--help`
$ turnfold 1 matches
other  heaps  2 entries, 1 branch  [TIME]
same   heaps  2 entries, 2 branches  [TIME]  again

"#]]);
}

/// A branch is migrated after its parent, whatever their names. Entries played since then make another match.
#[test]
fn branches_of_branches_are_migrated_and_a_later_match_is_another_one() {
    let sandbox = recorded();
    sandbox.ok("1 branch same@flank:2 a-twig");
    sandbox.ok("1 play same@a-twig \"take 1 1\"");
    sandbox.ok("2 migrate same same-2");
    let branches = |program: &str, of: &str| sandbox.ok(&format!("{program} branch {of}"));
    assert_eq!(without_links(&branches("2", "same-2")), without_links(&branches("1", "same")));
    let raw = |of: &str| {
        let raw = sandbox.ok(&format!("- log {of}@a-twig --raw"));
        raw.split("not checked").next().unwrap().to_owned()
    };
    assert_eq!(without_links(&raw("same-2")), without_links(&raw("same")));
    assert_ne!(raw("same-2"), raw("same"), "the links are new");
    sandbox.ok("1 play same stand");
    sandbox.check(str![[r#"
$ turnfold 2 migrate same same-2
exit 2| error: match `same-2` already exists; choose another name
$ turnfold 2 migrate same later
migrated same to later: heaps version 1 → 2, 6 entries, 3 branches
every command is still accepted; outcomes were not compared, as this build has no version 1
$ turnfold 2 verify later
ok later@main: 3 entries state 904eaca2d47f8d48 link [LINK]
ok later@a-twig: 3 entries state 6e21e6fd23dcf046 link [LINK]
ok later@flank: 3 entries state ae3e10f194524ae0 link [LINK]

"#]]);
}

/// ST-3: damage is reported with or without the rules.
#[test]
fn damage_is_named_without_the_rules() {
    let sandbox = recorded();
    sandbox.ok("1 play other --once a-key-to-be-found stand stand");
    sandbox.ok("1 play other stand");
    assert!(sandbox.harm_journal(".turnfold", b"a-key-to-be-found") > 0);
    sandbox.check(str![[r#"
$ turnfold - verify --chain
exit 3| error: corrupt store: match `other`, branch `main`, entry 3: the journal: commit 7 is missing or unreadable; save what is sound with `turnfold store salvage DIR NEWDIR`
$ turnfold - log other --raw
exit 3| error: corrupt store: match `other`, branch `main`, entry 3: the journal: commit 7 is missing or unreadable; save what is sound with `turnfold store salvage DIR NEWDIR`

"#]]);
}

/// Returns what `verify`, `verify --chain` and `audit` find.
fn found(store: &Store, name: &MatchName) -> Vec<Vec<Finding>> {
    let registry = Registry::default();
    let by_rules = verify(store, name, Some(&registry)).unwrap().findings.into_iter();
    let by_rules = by_rules.filter(|finding| finding.kind != FindingKind::UnknownRules).collect();
    vec![by_rules, verify(store, name, None).unwrap().findings]
}

/// The match alone reveals a false origin, because its entries do not give the link of the origin.
#[test]
fn a_false_origin_is_found_without_the_match_that_it_names() {
    let sandbox = recorded();
    sandbox.ok("2 migrate same same-2");
    let (honest, main) = {
        let store = StoreReader::open(&sandbox.path(".turnfold")).unwrap();
        let name = "same-2".parse().unwrap();
        (store.genesis(&name).unwrap(), store.read(&name, &"main".parse().unwrap(), None).unwrap().entries)
    };
    let forgeries: [&dyn Fn(&mut Genesis); 6] = [
        &|_| {},
        &|genesis| genesis.origins[0].match_id[0] ^= 1,
        &|genesis| genesis.origins[0].ruleset_version = 7,
        &|genesis| genesis.origins[0].head = 1,
        &|genesis| genesis.origins[0].head = 3,
        &|genesis| genesis.created_at_ms += 1,
    ];
    for (number, forge) in forgeries.into_iter().enumerate() {
        let store = Store::in_memory();
        let (name, mut genesis) = ("forged".parse().unwrap(), honest.clone());
        forge(&mut genesis);
        let branch = BranchCopy { name: "main".parse().unwrap(), parent: None, entries: main.clone() };
        store.copy_match(&name, &genesis, vec![branch]).unwrap();
        for findings in found(&store, &name) {
            assert_eq!(findings.is_empty(), number == 0, "{number}: {findings:?}");
            assert!(findings.iter().all(|finding| finding.kind == FindingKind::Disagrees), "{findings:?}");
        }
        let mut bundle = Vec::new();
        let records = StoreRecords::of(&store, std::slice::from_ref(&name)).unwrap();
        write_bundle(&mut bundle, &records, Vec::new()).unwrap();
        sandbox.write("forged.bundle", bundle);
        let audit = sandbox.run("2 audit forged.bundle");
        let text = String::from_utf8(audit.stdout).unwrap();
        let chain = text.lines().find(|line| line.starts_with("chain")).unwrap();
        assert_eq!(chain.contains("PASS"), number == 0, "{chain}");
        assert_eq!(chain.contains("its origin has other entries"), number > 0, "{chain}");
    }
}

/// TR-20: the link of an origin covers every entry of the old match, so a seat could test guesses about concealed
/// entries with it.
#[test]
fn a_seats_bundle_of_a_migrated_match_with_secrets_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("ford.toml", fixture("cycletap", "ford"));
    sandbox.ok("new ford --rules cycletap --setup ford.toml");
    let store = Store::open(&sandbox.path(".turnfold")).unwrap();
    let genesis = store.genesis(&"ford".parse().unwrap()).unwrap();
    let migrated = genesis.migrated(genesis.ruleset_version, genesis.origin(0, genesis.link()), &[]);
    let main = BranchCopy { name: "main".parse().unwrap(), parent: None, entries: Vec::new() };
    store.copy_match(&"ford-2".parse().unwrap(), &migrated, vec![main]).unwrap();
    store.close().unwrap();
    sandbox.ok("bundle ford --as p2 -o p2.bundle");
    sandbox.ok("bundle ford-2 -o whole.bundle");
    let refused = sandbox.run("bundle ford-2 --as p2 -o refused.bundle");
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("`ford-2` was migrated") && error.lines().count() == 1, "{error}");
    assert!(!sandbox.path("refused.bundle").exists());
}

/// Papers and fair dice are bound to the id of a match.
#[test]
fn a_match_by_mail_is_not_migrated() {
    let sandbox = recorded();
    sandbox.ok("1 key new host.key --name host.example");
    sandbox.write("desk.toml", "hosted = []\n");
    sandbox.ok("1 mail open night --rules heaps --setup heaps.toml --desk desk.toml --key host.key");
    sandbox.check(str![[r#"
$ turnfold 2 migrate night night-2
exit 2| error: `night` is played by mail, and its papers are bound to the match as it is
$ turnfold 2 migrate night.desk night-2
exit 2| error: match `night.desk` is of version 1 of `desk` already

"#]]);
}
