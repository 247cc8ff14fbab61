//! The files of the journal: none may be missing, older, or from another store.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use turnfold_store::{BranchName, NewEntry, RescueError, Store, StoreError, StoreOptions, StoreReader};

use crate::disk::{copy_dir, dir};
use crate::game::{commands, genesis, name, opaque};
use crate::rescue::names;

/// ST-13, ST-15: older heads and segments are not mistaken for current ones.
#[test]
fn an_older_journal_is_noticed_by_the_index_and_the_other_half() {
    let (parent, dir) = dir();
    let store = StoreOptions::new().create().head_bytes(2048).open(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(5)).unwrap();
    for head in 5..20 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head)], None).unwrap();
    }
    store.close().unwrap();
    let older = parent.path().join("older");
    copy_dir(&dir.join("journal"), &older);
    let store = StoreOptions::new().create().head_bytes(2048).open(&dir).unwrap();
    for head in 20..40 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head)], None).unwrap();
    }
    store.close().unwrap();
    let check = |which: &dyn Fn(&str) -> bool| {
        let copy = parent.path().join("copy");
        copy_dir(&dir, &copy);
        for name in fs::read_dir(&older).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap())
        {
            if which(&name) {
                fs::copy(older.join(&name), copy.join("journal").join(&name)).unwrap();
            }
        }
        let error = Store::open(&copy).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
        fs::remove_dir_all(&copy).unwrap();
    };
    check(&|name| name.starts_with("head"));
    check(&|name| name.ends_with("seg"));
    check(&|_| true);
}

/// Creates a store whose journal has several small packs.
fn packed(dir: &Path, label: u64) {
    let store = StoreOptions::new().create().head_bytes(2048).open(dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    for head in 3..20 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head + label)], None).unwrap();
    }
    store.close().unwrap();
}

/// ST-12: the remains of a torn write after the last pack are removed before the next pack is written.
#[test]
fn what_is_behind_the_last_pack_goes() {
    let (_parent, dir) = dir();
    packed(&dir, 0);
    let segment = dir.join("journal/00000000000000000001.seg");
    let torn = [fs::read(&segment).unwrap(), vec![7; 1 << 20]].concat();
    fs::write(&segment, &torn).unwrap();
    let store = StoreOptions::new().create().head_bytes(2048).open(&dir).unwrap();
    for head in 20..40 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head)], None).unwrap();
    }
    store.close().unwrap();
    let whole = fs::read(&segment).unwrap();
    assert!(whole.len() < torn.len() && !whole.starts_with(&torn[..whole.len()]), "{} bytes", whole.len());
    assert_eq!(Store::open(&dir).unwrap().check(&mut |_| ()).unwrap().damage, []);
}

/// ST-11, ST-17: while the index is written, no frame names it. Packing begins when the first frame of a head is
/// written.
#[test]
fn an_index_that_is_written_to_is_not_named() {
    let (_parent, dir) = dir();
    let store = StoreOptions::new().create().head_bytes(2048).open(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(3)).unwrap();
    // Reads the frame after a head's header: the bytes before the index that it names, and that index.
    let first_frames = || {
        ["head.a", "head.b"].map(|head| {
            let bytes = fs::read(dir.join("journal").join(head)).unwrap();
            (bytes[512..512 + 36].to_vec(), bytes[512 + 36..][..4].to_vec())
        })
    };
    let (mut before, mut begun) = (first_frames(), 0);
    for head in 3..40 {
        // Every tenth command is too large for a head.
        let command = vec![0; if head % 10 == 0 { 4096 } else { 8 }];
        let entry = NewEntry { command, ..opaque(head) };
        store.append(&name("m"), &BranchName::main(), head, vec![entry], None).unwrap();
        let now = first_frames();
        for ((_, index), _) in now.iter().zip(&before).filter(|((now, _), (before, _))| now != before) {
            assert_eq!(index[..], [0; 4], "after {head}");
            begun += 1;
        }
        before = now;
    }
    assert!(begun > 6, "{begun} packs");
}

/// ST-13: a store does not accept a file of another store in place of its own.
#[test]
fn files_of_another_journal_are_refused() {
    let (parent, ours) = dir();
    let theirs = parent.path().join("theirs");
    packed(&ours, 0);
    packed(&theirs, 100);
    let files = fs::read_dir(ours.join("journal")).unwrap().map(|file| file.unwrap().file_name());
    for file in files {
        let copy = parent.path().join("copy");
        copy_dir(&ours, &copy);
        fs::copy(theirs.join("journal").join(&file), copy.join("journal").join(&file)).unwrap();
        for error in [Store::open(&copy).unwrap_err(), StoreReader::open(&copy).unwrap_err()] {
            assert!(matches!(error, StoreError::Corrupt { .. }), "{file:?}: {error}");
        }
        fs::remove_dir_all(&copy).unwrap();
    }
}

/// ST-17: a rebuilt index gives the same answers as before, and so does the journal without an index.
#[test]
fn whatever_is_read_the_answers_are_the_same() {
    let (_parent, dir) = dir();
    packed(&dir, 0);
    let answers = |store: &StoreReader| {
        let log = store.read(&name("m"), &BranchName::main(), None).unwrap();
        (store.matches().unwrap(), store.branches(&name("m")).unwrap(), log.entries)
    };
    let with_index = answers(&StoreReader::open(&dir).unwrap());
    fs::remove_dir_all(dir.join("sled")).unwrap();
    assert_eq!(answers(&StoreReader::open(&dir).unwrap()), with_index, "of the journal");
    let store = Store::open(&dir).unwrap();
    assert_eq!(answers(&store), with_index, "of an index built again");
    assert_eq!(answers(&StoreReader::open(&dir).unwrap()), with_index, "next to a writer");
}

/// ST-10: the files of a store.
#[test]
fn a_store_has_a_format_a_lock_a_journal_and_an_index() {
    let (_parent, dir) = dir();
    packed(&dir, 0);
    assert_eq!(names(&dir), ["FORMAT", "LOCK", "journal", "sled"]);
    assert_eq!(fs::read_to_string(dir.join("FORMAT")).unwrap(), "turnfold store 4\n");
    assert_eq!(names(&dir.join("journal")), ["00000000000000000001.seg", "head.a", "head.b"]);
    assert_eq!(names(&dir.join("sled")), ["1"]);
}

/// ST-12, ST-13: a segment of full length is followed by another, and none may be missing before another.
#[test]
fn a_missing_segment_is_noticed_by_the_one_that_follows() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    let (mut stream, mut head) = (blake3::Hasher::new().finalize_xof(), 0);
    // The first three are too large for a head, and a segment fits at most three of them.
    for count in [100, 100, 100, 5, 5] {
        let large = |_| {
            let mut command = vec![0; 60_000];
            stream.fill(&mut command);
            NewEntry { command, ..opaque(0) }
        };
        let entries = (0..count).map(large).collect::<Vec<_>>();
        head = store.append(&name("m"), &BranchName::main(), head, entries, None).unwrap().last;
    }
    store.close().unwrap();
    let segments = names(&dir.join("journal"));
    let [first, second] = &segments[..2] else { panic!("{segments:?}") };
    assert!([first, second].iter().all(|name| name.contains(".seg")), "{segments:?}");
    fs::rename(dir.join("journal").join(first), dir.join("away")).unwrap();
    for error in [Store::open(&dir).unwrap_err(), StoreReader::open(&dir).unwrap_err()] {
        assert!(error.to_string().contains("does not continue what is before it"), "{error}");
    }
    fs::rename(dir.join("away"), dir.join("journal").join(first)).unwrap();
    assert_eq!(Store::open(&dir).unwrap().check(&mut |_| ()).unwrap().damage, []);
}

/// ST-5, ST-16: a reader next to a writer that packs all the time sees everything acknowledged before it began, and
/// only complete appends. `TURNFOLD_READINGS` sets the minimum number of readings.
#[test]
fn a_reader_next_to_a_writer_sees_what_was_acknowledged() {
    let readings = std::env::var("TURNFOLD_READINGS").map_or(100, |count| count.parse().unwrap());
    let (_parent, dir) = dir();
    let store = StoreOptions::new().create().head_bytes(8192).open(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    let (acknowledged, read) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for head in (0..).step_by(3).take_while(|_| read.load(Ordering::SeqCst) < readings) {
                let entries = (head + 1..=head + 3).map(opaque).collect::<Vec<_>>();
                store.append(&name("m"), &BranchName::main(), head, entries, None).unwrap();
                acknowledged.store(head + 3, Ordering::SeqCst);
                // A longer log takes longer to read, so it must not grow faster than it is read.
                while head > 600 && read.load(Ordering::SeqCst) < readings.min(head / 6) {
                    std::thread::yield_now();
                }
            }
        });
        while read.load(Ordering::SeqCst) < readings {
            let before = acknowledged.load(Ordering::SeqCst);
            let log = StoreReader::open(&dir).unwrap().read(&name("m"), &BranchName::main(), None).unwrap();
            let after = acknowledged.load(Ordering::SeqCst);
            assert!(
                (before..=after + 3).contains(&log.head) && log.head.is_multiple_of(3),
                "{} of {before}",
                log.head
            );
            assert_eq!(log.entries.len() as u64, log.head);
            read.fetch_add(1, Ordering::SeqCst);
        }
    });
}

/// ST-3, ST-11: closing writes a frame that states where the journal ends, so the loss of the last commit is noticed.
#[test]
fn the_last_commit_of_a_closed_store_is_missed() {
    let (_parent, dir) = dir();
    let store = Store::open_or_create(&dir).unwrap();
    store.create_match(&name("m"), &genesis(), commands(2)).unwrap();
    store.append(&name("m"), &BranchName::main(), 2, vec![opaque(3)], None).unwrap();
    store.close().unwrap();
    // The frames of a head begin at multiples of 512. The last frame is the note of the end.
    let written = |head: &str| {
        let head = dir.join("journal").join(head);
        let bytes = fs::read(&head).unwrap();
        let is_written = |block: &usize| bytes[block * 512..][..512].iter().any(|byte| *byte != 0);
        let blocks: Vec<_> = (1..bytes.len() / 512).filter(is_written).collect();
        (head, blocks, bytes)
    };
    let heads = ["head.a", "head.b"].map(written);
    let (head, blocks, mut bytes) = heads.into_iter().max_by_key(|(_, blocks, _)| blocks.len()).unwrap();
    let last_commit = blocks[blocks.len() - 2];
    bytes[last_commit * 512..][..512].fill(0);
    fs::write(head, bytes).unwrap();
    let error = Store::open(&dir).unwrap_err();
    assert!(error.is_damage(), "{error}");
    let salvaged = Store::salvage(&dir, &dir.with_extension("new"), &mut |_| ()).unwrap();
    assert_ne!(salvaged.lost, []);
}

/// Returns the sectors at which the frames of a head begin.
fn sectors_written(head: &[u8]) -> Vec<usize> {
    let is_written = |sector: &usize| head[sector * 512..][..512].iter().any(|byte| *byte != 0);
    (1..head.len() / 512).filter(is_written).collect()
}

/// Creates a closed store with twenty entries, and returns which head has the last frames.
fn closed_with_twenty(dir: &Path) -> &'static str {
    let store = Store::open_or_create(dir).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    for head in 0..20 {
        store.append(&name("m"), &BranchName::main(), head, vec![opaque(head)], None).unwrap();
    }
    store.close().unwrap();
    let last = |head: &&str| {
        let bytes = fs::read(dir.join("journal").join(head)).unwrap();
        sectors_written(&bytes).len()
    };
    ["head.a", "head.b"].into_iter().max_by_key(last).unwrap()
}

/// Requires both readers and writers to notice that the last entries are missing.
fn check_is_noticed(dir: &Path, what: &str) {
    for error in [Store::open(dir).unwrap_err(), StoreReader::open(dir).unwrap_err()] {
        assert!(error.is_damage() && error.to_string().contains("commit"), "{what}: {error}");
    }
    let _ = fs::remove_dir_all(dir.join("sled"));
    let new = dir.with_extension("new");
    match Store::salvage(dir, &new, &mut |_| ()) {
        Ok(salvaged) => {
            assert_ne!(salvaged.lost, [], "{what}");
            fs::remove_dir_all(new).unwrap();
        }
        Err(error) => assert!(matches!(error, RescueError::NothingReadable { .. }), "{what}: {error}"),
    }
}

/// ST-11: the end of a closed journal is written to two files, so one of them suffices to find a loss.
#[test]
fn the_end_of_a_closed_store_is_missed_whatever_happens_to_one_head() {
    let (parent, dir) = dir();
    let head = closed_with_twenty(&dir);
    let whole = fs::read(dir.join("journal").join(head)).unwrap();
    let sectors = sectors_written(&whole);
    let damaged = |harm: &dyn Fn(&mut Vec<u8>), what: &str| {
        let copy = parent.path().join("copy");
        copy_dir(&dir, &copy);
        let mut bytes = whole.clone();
        harm(&mut bytes);
        fs::write(copy.join("journal").join(head), bytes).unwrap();
        check_is_noticed(&copy, what);
        fs::remove_dir_all(&copy).unwrap();
    };
    // The page of memory with the last frames, which must not be the page with the header.
    let page = sectors.last().unwrap() * 512 / 4096;
    assert!(page > 0);
    damaged(&|bytes| bytes[page * 4096..][..4096].fill(0), "the last page");
    damaged(
        &|bytes| {
            for sector in sectors.iter().rev().take(3) {
                bytes[sector * 512 + 60] ^= 4;
            }
        },
        "a bit of each of the last three frames",
    );
    damaged(&|bytes| bytes[*sectors.first().unwrap() * 512..].fill(0), "all frames");
}

/// ST-11, ST-13: an older head next to a current one.
#[test]
fn a_head_put_back_from_a_copy_is_noticed_unless_nothing_is_gone() {
    let (parent, dir) = dir();
    let head = closed_with_twenty(&dir);
    let older = parent.path().join("older");
    copy_dir(&dir.join("journal"), &older);
    let store = Store::open(&dir).unwrap();
    for at in 20..25 {
        store.append(&name("m"), &BranchName::main(), at, vec![opaque(at)], None).unwrap();
    }
    store.close().unwrap();
    for file in ["head.a", "head.b"] {
        let copy = parent.path().join("copy");
        copy_dir(&dir, &copy);
        fs::copy(older.join(file), copy.join("journal").join(file)).unwrap();
        if file == head {
            check_is_noticed(&copy, file);
        } else {
            assert_eq!(Store::open(&copy).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 25);
        }
        fs::remove_dir_all(&copy).unwrap();
    }
}

/// Builds that wrote the end only once left zeros there, and ignore what is there now.
#[test]
fn a_store_without_the_second_end_is_sound_and_gets_it_when_it_is_closed_next() {
    let (_parent, dir) = dir();
    let head = closed_with_twenty(&dir);
    let other = dir.join("journal").join(if head == "head.a" { "head.b" } else { "head.a" });
    let with_end = fs::read(&other).unwrap();
    assert!(with_end[64..120].iter().any(|byte| *byte != 0), "the end is there");
    for (harm, what) in [(None, "none"), (Some(70), "one of whose bits is flipped")] {
        let mut bytes = with_end.clone();
        match harm {
            None => bytes[64..512].fill(0),
            Some(place) => bytes[place] ^= 1,
        }
        fs::write(&other, bytes).unwrap();
        let reader = StoreReader::open(&dir).unwrap();
        assert_eq!(reader.check(&mut |_| ()).unwrap().damage, [], "{what}");
        drop(reader);
        Store::open(&dir).unwrap().close().unwrap();
        assert!(fs::read(&other).unwrap() == with_end, "{what}");
    }
    // If the store is then left as by a killed process, the remains of the earlier closing are not damage.
    let store = Store::open(&dir).unwrap();
    store.append(&name("m"), &BranchName::main(), 20, vec![opaque(20)], None).unwrap();
    let left = dir.with_extension("left");
    copy_dir(&dir, &left);
    store.close().unwrap();
    assert_eq!(StoreReader::open(&left).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 21);
    assert_eq!(Store::open(&left).unwrap().head(&name("m"), &BranchName::main()).unwrap(), 21);
}
