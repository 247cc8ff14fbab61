//! `turnfold verify`.

use std::fs;

use snapbox::str;
use turnfold_store::{BranchName, StoreOptions};
use turnfold_tests::sandbox::{Sandbox, copy_folder};

use super::duel;

#[test]
fn a_sound_store_passes_its_audit() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox.check(str![[r#"
$ turnfold verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@flank: 2 entries state 01c8c4ec6ad17e5a link [LINK]
ok other@main: 0 entries state 1003444186ac4428 link [LINK]
$ turnfold verify duel
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@flank: 2 entries state 01c8c4ec6ad17e5a link [LINK]
$ turnfold --format json verify other
{"match":"other","ok":true,"branches":[{"branch":"main","entries":0,"link":"[LINK]","state_hash":"1003444186ac4428c4c9fcce4cddf0279296673fb13820b8177772cc7931c2a2"}],"findings":[],"dice":null,"referee":null}
$ turnfold verify nobody
exit 2| error: no match `nobody` in this store; `turnfold matches` lists those there are

"#]]);
}

/// Packs the contents of a store into a segment, and flips a bit of a command there. The index is sound and has the
/// command.
fn damage_a_segment(sandbox: &Sandbox) {
    let dir = sandbox.path(".turnfold");
    let store = StoreOptions::new().create().head_bytes(3 * 512).open(&dir).unwrap();
    let (duel, side) = ("duel".parse().unwrap(), "side".parse().unwrap());
    for _ in 0..3 {
        store.create_branch(&duel, &side, &BranchName::main(), 1, Vec::new()).unwrap();
        store.delete_branch(&duel, &side).unwrap();
    }
    store.close().unwrap();
    // Programs that other tests start inherit this process's lock on the store for a moment. A reader that does not get
    // the lock at once reads the journal and no index, so use a writer, which waits.
    sandbox.ok("branch duel:1 spare");
    sandbox.ok("branch --delete duel@spare --force");
    let segment = dir.join("journal/00000000000000000001.seg");
    let mut bytes = fs::read(&segment).unwrap();
    // The first commit comes after the header of the segment and the front of its pack.
    bytes[64 + 76 + 40] ^= 1;
    fs::write(segment, bytes).unwrap();
}

#[test]
fn a_damaged_segment_is_named_though_a_sound_index_hides_it() {
    let sandbox = duel();
    damage_a_segment(&sandbox);
    sandbox.check(str![[r#"
$ turnfold log duel -n 1
3 p1 move 0,1 => moved unit=atlas from=0,2 to=0,1; cursor at=0,1; impulse_advanced index=1 player=p2 units=1 #8bc3cdd5a21478a4
$ turnfold verify duel
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
$ turnfold verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
damaged duel@side: the journal: commit 1 is unreadable in `.turnfold/journal/00000000000000000001.seg`
exit 3| error: the store is damaged: 1 finding; save what is sound with `turnfold store salvage DIR NEWDIR`
$ turnfold store backup all.tfb
backed up to all.tfb: 1 match, 1 branch, 3 entries, 436 bytes
stderr|  WARN turnfold::commands::store::backup: the store is damaged, though the backup is whole: duel@side: the journal: commit 1 is unreadable in `.turnfold/journal/00000000000000000001.seg`; restore the backup
$ turnfold store restore all.tfb again
restored store again: 1 match, 1 branch, 3 entries
$ turnfold --store again verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]

"#]]);
}

/// Every verb that reads the index reports a journal that was restored from an older copy, and the index has what is
/// missing.
#[test]
fn a_journal_older_than_its_index_is_named_and_salvaged() {
    let sandbox = duel();
    let journal = sandbox.path(".turnfold/journal");
    copy_folder(&journal, &sandbox.path("older"));
    damage_a_segment(&sandbox);
    fs::remove_dir_all(&journal).unwrap();
    copy_folder(&sandbox.path("older"), &journal);
    for mark in [false, true] {
        if mark {
            sandbox.write(".turnfold/sled/opening", "");
        }
        for line in ["store check", "play duel cycle"] {
            let output = sandbox.run(line);
            assert_eq!(output.status.code(), Some(3), "{line}: {output:?}");
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8(text).unwrap();
            assert!(text.contains("commits are missing, which its index has"), "{line}: {text}");
        }
        let new = format!("saved-{mark}");
        let output = sandbox.run(&format!("store salvage .turnfold {new}"));
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("lost: the journal: the last ") && text.contains("3 entries"), "{text}");
        sandbox.ok(&format!("--store {new} verify"));
    }
}
