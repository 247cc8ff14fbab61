//! The journal: a store whose process ended before its commits were moved into sled.
//!
//! `TURNFOLD_FLIPS=all` flips every bit of the commits in it, and prints the figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use turnfold_store::{Entry, ErrorKind, Store, StoreReader};

use crate::damage::{copy, on_all_processors};
use crate::opening::{branches, duel, files_in, flip, is_all, read_all, salvage};
use crate::session::{entry, genesis};

/// One bit in so many is flipped, and after one flip in so many of these salvage is tried.
const STRIDE: usize = 4_001;
const SALVAGE_STRIDE: usize = 8;
const SALVAGE_STRIDE_ALL: usize = 101;

/// The entries of each branch of the match that stays.
const ENTRIES: u64 = 70;

/// All entries, by match and branch.
type Contents = BTreeMap<(String, String), Vec<Entry>>;

fn contents(store: &StoreReader) -> Contents {
    let mut contents = Contents::new();
    for found in store.matches().unwrap() {
        for branch in store.branches(&found.name).unwrap() {
            let entries = store.read(&found.name, &branch.name, None).unwrap().entries;
            contents.insert((found.name.to_string(), branch.name.to_string()), entries);
        }
    }
    contents
}

/// Commits of every kind, of which sled gets those that fill so many bytes of the journal.
fn commit(dir: &Path, journal_bytes: usize) -> Store {
    let store = Store::open_or_create_with_journal_of(dir, journal_bytes).unwrap();
    let [main, line] = branches();
    let other = "other".parse().unwrap();
    store.create_match(&duel(), &genesis(), vec![entry(&[0])]).unwrap();
    store.create_branch(&duel(), &line, &main, 1).unwrap();
    store.create_match(&other, &genesis(), (0..100).map(|label| entry(&[label])).collect()).unwrap();
    store.create_branch(&other, &line, &main, 70).unwrap();
    store.append(&other, &line, 70, vec![entry(&[1; 11_000]), entry(&[2; 6_000])], None).unwrap();
    for head in 1..ENTRIES {
        for branch in [&main, &line] {
            let (label, key) = (u8::try_from(head).unwrap(), format!("key-{head}").parse().unwrap());
            store.append(&duel(), branch, head, vec![entry(&[label])], Some(&key)).unwrap();
        }
        match head {
            20 => store.rename_branch(&other, &line, &"bypath".parse().unwrap()).unwrap(),
            40 => store.rename_match(&other, &"another".parse().unwrap()).unwrap(),
            60 => store.delete_branch(&"another".parse().unwrap(), &"bypath".parse().unwrap()).unwrap(),
            65 => store.delete_match(&"another".parse().unwrap()).unwrap(),
            _ => {}
        }
    }
    store
}

/// Leaves a store in `dir` as its process leaves it when it is killed.
fn leave(dir: &Path, journal_bytes: usize) -> Contents {
    let live = dir.with_extension("live");
    let store = commit(&live, journal_bytes);
    copy(&live, dir);
    let contents = contents(&store);
    store.close().unwrap();
    contents
}

#[test]
fn a_store_that_was_left_is_read_checked_backed_up_salvaged_and_compacted_whole() {
    for journal_bytes in [usize::MAX, 5_000, 0] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let expected = leave(&at("left"), journal_bytes);
        let before = files_in(&at("left"));
        let check = |store: &StoreReader| {
            assert_eq!(contents(store), expected);
            assert_eq!(store.check(&mut |_| ()).unwrap().damage, []);
            let key = "key-30".parse().unwrap();
            assert_eq!(store.stats(9, &mut |_| ()).unwrap().totals.entries, 2 * ENTRIES - 1);
            for branch in branches() {
                let log = store.read(&duel(), &branch, None).unwrap();
                assert!(log.entries.iter().any(|entry| entry.idempotency_key.as_ref() == Some(&key)));
            }
        };
        let reader = StoreReader::open(&at("left")).unwrap();
        check(&reader);
        let mut backup = Vec::new();
        reader.backup(&mut backup, true, &mut |_| ()).unwrap();
        drop(reader);
        let salvaged = Store::salvage(&at("left"), &at("salvaged"), &mut |_| ()).unwrap();
        assert_eq!(salvaged.lost, []);
        assert!(files_in(&at("left")) == before, "reading writes nothing");
        Store::restore(backup.as_slice(), &at("restored"), &mut |_| ()).unwrap();
        copy(&at("left"), &at("compacted"));
        Store::compact(&at("compacted"), &mut |_| ()).unwrap();
        copy(&at("left"), &at("opened"));
        let store = Store::open(&at("opened")).unwrap();
        check(&store);
        // A key in the journal still stands for its append.
        let [main, _] = branches();
        let repeated = store.append(&duel(), &main, 3, vec![entry(&[30])], Some(&"key-30".parse().unwrap()));
        assert!(repeated.unwrap().repeated);
        store.close().unwrap();
        for name in ["salvaged", "restored", "compacted", "opened"] {
            check(&StoreReader::open(&at(name)).unwrap());
            let store = Store::open(&at(name)).unwrap();
            store.append(&duel(), &main, ENTRIES, vec![entry(b"more")], None).unwrap();
            store.close().unwrap();
            assert_eq!(StoreReader::open(&at(name)).unwrap().head(&duel(), &main).unwrap(), ENTRIES + 1);
        }
    }
}

/// sled would write each of them several times.
#[test]
fn entries_too_few_for_a_page_are_on_pages_after_a_journal_full_of_them() {
    const MATCHES: u64 = 20;
    const ENTRIES: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    for one_by_one in [true, false] {
        let dir = folder.path().join(one_by_one.to_string());
        let name = |number: u64| format!("m{number}").parse().unwrap();
        let [main, _] = branches();
        let store = Store::open_or_create_with_journal_of(&dir, 64 * 1024).unwrap();
        (0..MATCHES).for_each(|number| store.create_match(&name(number), &genesis(), Vec::new()).unwrap());
        for step in 0..MATCHES * ENTRIES {
            let (number, head) =
                if one_by_one { (step / ENTRIES, step % ENTRIES) } else { (step % MATCHES, step / MATCHES) };
            store.append(&name(number), &main, head, vec![entry(&head.to_le_bytes())], None).unwrap();
        }
        let expected = contents(&store);
        let sealed = store.stats(1, &mut |_| ()).unwrap();
        store.close().unwrap();
        let store = Store::open(&dir).unwrap();
        assert_eq!(contents(&store), expected);
        for number in 0..MATCHES {
            store.append(&name(number), &main, ENTRIES, vec![entry(b"more")], None).unwrap();
        }
        let stats = store.stats(1, &mut |_| ()).unwrap();
        assert_eq!(stats.totals.entries, MATCHES * (ENTRIES + 1));
        assert!(stats.entries_on_pages >= sealed.entries_on_pages);
        // Those since the journal was last full, and at most 15 of each match.
        assert!(sealed.entries_on_pages > MATCHES * ENTRIES * 5 / 8, "{sealed:?}");
        assert!(sealed.pages * 16 <= sealed.entries_on_pages, "{sealed:?}");
        assert_eq!(store.check(&mut |_| ()).unwrap().damage, []);
        store.close().unwrap();
    }
}

/// What lies in the journal up to the end of its last commit.
fn used(journal: &[u8]) -> usize {
    journal.iter().rposition(|byte| *byte != 0).unwrap() + 1
}

/// How many flips were refused and how many served, and how many salvages were compared.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    refused: u64,
    served: u64,
    salvaged: u64,
}

/// Flips one bit of the journal of a store that was left, asks all that a verb could ask, and flips it back.
fn flip_and_read(folder: &Path, bit: usize, is_salvaged: bool, figures: &mut Figures) {
    let at = |name: &str| folder.join(name);
    let journal = at("left").join("sled/journal");
    flip(&journal, bit);
    let damaged = files_in(&at("left"));
    // The last commit is that of the other branch.
    match read_all(&at("left"), ENTRIES - 1) {
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Trouble, "bit {bit}: {error}");
            figures.refused += 1;
        }
        Ok(is_served) => figures.served += u64::from(is_served),
    }
    assert!(files_in(&at("left")) == damaged, "bit {bit}: reading writes nothing");
    if is_salvaged {
        copy(&at("left"), &at("opened"));
        if let Ok(store) = Store::open(&at("opened")) {
            store.append(&duel(), &branches()[0], ENTRIES, vec![entry(b"more")], None).unwrap();
            store.close().unwrap();
        }
        let [before, after] = [at("left"), at("opened")].map(|dir| salvage(&dir, &at("new")));
        assert!(after >= before, "bit {bit}: {after} entries saved, {before} from the untouched store");
        fs::remove_dir_all(at("opened")).unwrap();
        figures.salvaged += 1;
    }
    flip(&journal, bit);
}

#[test]
#[expect(clippy::print_stderr, reason = "how much it tried is worth knowing")]
fn a_flipped_bit_in_the_journal_is_named_or_hides_no_more_than_its_last_commit() {
    let (stride, salvage_stride) = if is_all() { (1, SALVAGE_STRIDE_ALL) } else { (STRIDE, SALVAGE_STRIDE) };
    let folder = tempfile::tempdir().unwrap();
    let _ = leave(&folder.path().join("left"), usize::MAX);
    let used = used(&fs::read(folder.path().join("left/sled/journal")).unwrap());
    let sound = files_in(&folder.path().join("left"));
    let figures = on_all_processors(|worker, workers| {
        let own = folder.path().join(worker.to_string());
        copy(&folder.path().join("left"), &own.join("left"));
        let mut figures = Figures::default();
        for (number, bit) in (0..used * 8).step_by(stride).enumerate().skip(worker).step_by(workers) {
            let is_salvaged = number % salvage_stride == 0 || bit + 2 * 512 * 8 > used * 8;
            flip_and_read(&own, bit, is_salvaged, &mut figures);
        }
        assert!(files_in(&own.join("left")).values().eq(sound.values()));
        figures
    });
    eprintln!("{used} bytes used; by worker: {figures:?}");
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let (refused, served, salvaged) =
        (sum(|figures| figures.refused), sum(|figures| figures.served), sum(|figures| figures.salvaged));
    assert!(refused > served && salvaged > 5, "{refused} refused, {served} served, {salvaged} salvaged");
}

#[test]
fn what_is_left_of_commits_in_sled_counts_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let store = commit(&at("store"), usize::MAX);
    let [main, _] = branches();
    store.close().unwrap();
    let journal = fs::read(at("store").join("sled/journal")).unwrap();
    let expected = files_in(&at("store"));
    // Whatever is left there, one commit after the other overwrites it.
    for number in 0..20 {
        let store = Store::open(&at("store")).unwrap();
        let head = ENTRIES + number;
        store.append(&duel(), &main, head, vec![entry(b"more")], None).unwrap();
        copy(&at("store"), &at("left"));
        let reader = StoreReader::open(&at("left")).unwrap();
        assert_eq!(reader.head(&duel(), &main).unwrap(), head + 1);
        assert_eq!(reader.check(&mut |_| ()).unwrap().damage, []);
        drop(reader);
        fs::remove_dir_all(at("left")).unwrap();
        store.close().unwrap();
    }
    // A journal from before is no part of what came after it.
    fs::write(at("store").join("sled/journal"), &journal).unwrap();
    assert!(files_in(&at("store")) != expected);
    let reader = StoreReader::open(&at("store")).unwrap();
    assert_eq!(reader.head(&duel(), &main).unwrap(), ENTRIES + 20);
    assert_eq!(reader.check(&mut |_| ()).unwrap().damage, []);
}

#[test]
fn a_store_of_format_2_is_read_as_it_is_and_gets_a_journal_when_it_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("store");
    let store = commit(&dir, 0);
    let expected = contents(&store);
    store.close().unwrap();
    fs::remove_file(dir.join("sled/journal")).unwrap();
    fs::write(dir.join("FORMAT"), "turnfold store 2\n").unwrap();
    let before = files_in(&dir);
    assert_eq!(contents(&StoreReader::open(&dir).unwrap()), expected);
    assert!(files_in(&dir) == before);
    // One that was made for it, but is not named yet, is no harm.
    for unfinished in [0, 1_000, 128 * 1024] {
        fs::write(dir.join("sled/journal"), vec![0; unfinished]).unwrap();
        fs::write(dir.join("FORMAT"), "turnfold store 2\n").unwrap();
        let store = Store::open(&dir).unwrap();
        assert_eq!(contents(&store), expected);
        store.close().unwrap();
        assert_eq!(fs::read_to_string(dir.join("FORMAT")).unwrap(), "turnfold store 3\n");
        assert_eq!(fs::metadata(dir.join("sled/journal")).unwrap().len(), 128 * 1024);
    }
    fs::remove_file(dir.join("sled/journal")).unwrap();
    for error in [Store::open(&dir).unwrap_err(), StoreReader::open(&dir).err().unwrap()] {
        assert!(error.to_string().contains("sled/journal` is missing"), "{error}");
    }
}
