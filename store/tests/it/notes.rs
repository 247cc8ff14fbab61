//! Notes (SV-61): they are judged when written, follow renames of their match and branch, and are deleted with them.

use turnfold_core::Seat;
use turnfold_store::{BranchName, Note, NoteId, NotedEntry, Seq, Store, StoreError};

use crate::engines::fleet;
use crate::game::{branch, commands, genesis, name};
use crate::grants::token;
use crate::rescue::unobserved;

fn note(number: u64, about: Option<(&str, Seq)>, text: &str) -> Note {
    Note {
        id: NoteId::of(number << 1),
        about: about.map(|(name, seq)| NotedEntry { branch: branch(name), seq }),
        by: Some(Seat::P1),
        name: Some("Ann".parse().unwrap()),
        token: Some(token(1)),
        is_private: number.is_multiple_of(2),
        text: text.parse().unwrap(),
        written_at_ms: 1_700_000_000_000 + i64::try_from(number).unwrap(),
    }
}

fn texts(store: &Store) -> Vec<String> {
    store.notes_of(&name("m")).unwrap().iter().map(|note| note.text.to_string()).collect()
}

/// Calls `check` with a store in memory, one on disk and one on PostgreSQL, each with a match `m` of three entries and
/// a branch `line` after the second.
fn on_all(check: impl Fn(&Store)) {
    let dir = tempfile::tempdir().unwrap();
    let disk = Store::open_or_create(&dir.path().join("store")).unwrap();
    for store in [Some(Store::in_memory()), Some(disk), fleet()].into_iter().flatten() {
        store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
        store.create_branch(&name("m"), &branch("line"), &BranchName::main(), 2, Vec::new()).unwrap();
        store.append(&name("m"), &branch("line"), 2, commands(3).split_off(2), None).unwrap();
        check(&store);
        assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
        store.close().unwrap();
    }
}

#[test]
fn sv_61_a_note_belongs_to_the_branch_that_holds_its_entry() {
    on_all(|store| {
        let m = name("m");
        assert_eq!(store.notes_of(&m).unwrap(), []);
        store.write_note(&m, note(1, None, "to the match")).unwrap();
        store.write_note(&m, note(2, Some(("line", 2)), "before the fork")).unwrap();
        store.write_note(&m, note(3, Some(("line", 3)), "behind it")).unwrap();
        store.write_note(&m, note(4, Some(("main", 0)), "to the setup")).unwrap();
        let notes = store.notes_of(&m).unwrap();
        assert_eq!(texts(store), ["to the match", "before the fork", "behind it", "to the setup"]);
        let about: Vec<_> =
            notes.iter().map(|note| note.about.as_ref().map(|at| (at.branch.to_string(), at.seq))).collect();
        assert_eq!(about, [None, Some(("main".into(), 2)), Some(("line".into(), 3)), None]);
        assert_eq!((notes[1].is_private, notes[1].token), (true, Some(token(1))));
        // A note about an entry or branch that does not exist is refused.
        for (about, expected) in [(("line", 4), "entry 4"), (("none", 1), "none")] {
            let error = store.write_note(&m, note(5, Some(about), "x")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
        let error = store.write_note(&name("none"), note(5, None, "x")).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchMatch { .. }), "{error}");
        // A note stays with its branch after a rename, and is deleted with it.
        store.rename_branch(&m, &branch("line"), &branch("other")).unwrap();
        assert_eq!(store.notes_of(&m).unwrap()[2].about.as_ref().unwrap().branch, branch("other"));
        store.delete_branch(&m, &branch("other")).unwrap();
        assert_eq!(texts(store), ["to the match", "before the fork", "to the setup"]);
        store.remove_note(&m, NoteId::of(1 << 1)).unwrap();
        let error = store.remove_note(&m, NoteId::of(1 << 1)).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchNote { .. }), "{error}");
        assert_eq!(texts(store), ["before the fork", "to the setup"]);
        // A renamed match keeps its notes, and a new match with the old name has none.
        store.rename_match(&m, &name("n")).unwrap();
        assert_eq!(store.notes_of(&name("n")).unwrap().len(), 2);
        store.create_match(&m, &genesis(), commands(1)).unwrap();
        assert_eq!(store.notes_of(&m).unwrap(), []);
        store.delete_match(&name("n")).unwrap();
    });
}

#[test]
fn sv_61_a_token_writes_a_hundred_notes_and_a_match_has_five_hundred() {
    on_all(|store| {
        let m = name("m");
        let for_all = |number: u64| Note { is_private: false, ..note(number, None, "one") };
        for number in 0..100 {
            store.write_note(&m, for_all(number)).unwrap();
        }
        let error = store.write_note(&m, note(100, None, "one")).unwrap_err();
        assert_eq!(error.to_string(), "match `m` has 100 notes with this token, as many as there may be");
        for number in 100..500 {
            let other = Note { token: Some(token(number / 100 + 1)), ..for_all(number) };
            store.write_note(&m, other).unwrap();
        }
        let more = Note { token: Some(token(100)), ..for_all(500) };
        let error = store.write_note(&m, more.clone()).unwrap_err();
        assert_eq!(error.to_string(), "match `m` has 500 notes for all, as many as there may be");
        // Private notes of others do not count against the limit, because a refusal would reveal them.
        store.write_note(&m, Note { is_private: true, ..more }).unwrap();
    });
}

/// A compaction keeps notes unchanged. A backup contains no tokens, and no notes that only a spectator can read.
#[test]
fn sv_61_notes_survive_a_compaction_a_backup_and_a_restore() {
    on_all(|store| {
        let m = name("m");
        store.write_note(&m, note(1, Some(("line", 3)), "for all")).unwrap();
        store.write_note(&m, note(2, Some(("main", 1)), "for me")).unwrap();
        store.write_note(&m, Note { by: None, ..note(4, None, "a spectator's") }).unwrap();
        let expected: Vec<Note> = store.notes_of(&m).unwrap()[..2]
            .iter()
            .map(|note| Note { token: None, ..note.clone() })
            .collect();
        let mut backup = Vec::new();
        store.backup(&mut backup, true, &mut unobserved()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let restored = dir.path().join("restored");
        Store::restore(backup.as_slice(), &restored, &mut unobserved()).unwrap();
        let restored = Store::open(&restored).unwrap();
        assert_eq!(restored.notes_of(&m).unwrap(), expected);
        assert_eq!(restored.check(&mut unobserved()).unwrap().damage, []);
        restored.close().unwrap();
    });
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("store");
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    store.write_note(&name("m"), note(1, Some(("main", 3)), "for all")).unwrap();
    store.write_note(&name("m"), Note { by: None, ..note(2, None, "a spectator's") }).unwrap();
    store.write_note(&name("m"), note(3, None, "to be removed")).unwrap();
    store.remove_note(&name("m"), NoteId::of(3 << 1)).unwrap();
    let before = store.notes_of(&name("m")).unwrap();
    store.close().unwrap();
    Store::compact(&dir, &mut unobserved()).unwrap();
    let store = Store::open(&dir).unwrap();
    assert_eq!(store.notes_of(&name("m")).unwrap(), before);
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    store.close().unwrap();
}
