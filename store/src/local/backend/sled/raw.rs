//! Records found in sled's file and the journal without sled, for a database that it does not open or not wholly.
//!
//! sled 0.34.7 appends messages to segments of a fixed size. A message is `crc: u32, kind: u8, length, segment, page`
//! and a body, the last three as variable-length numbers. A node's body holds all keys and values of a tree's leaf, a
//! link's a single changed one. Keys leave out what the keys of their leaf have in common, which only nodes tell. We
//! look for nodes and links at every byte and leave it to the records' own checks whether what we find is one; so
//! older versions of records turn up too.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::journal;
use super::log::{LINK, NODE, SEGMENT_BYTES, byte, bytes, number};
use crate::local::dir::regular::{open_regular, read_at_most};
use crate::local::layout::{key, record};

/// Where the header of a segment has its place in the log.
const LSN_PLACE: Range<usize> = 4..12;

/// The bytes of a checksum before a message's kind.
const CRC_BYTES: usize = 4;

/// Beyond any position in sled's log.
const NEWER_THAN_SLED: u64 = 1 << 62;

/// What the keys of a page leave out, at different times.
type Prefixes = BTreeMap<u64, BTreeSet<Vec<u8>>>;

/// What may be a record in sled's file.
pub(crate) struct Candidate<'a> {
    pub(crate) key: Vec<u8>,
    pub(crate) value: &'a [u8],
    /// Where it lies in sled's log, of which later parts may lie earlier in the file; 0 where that is not known. What
    /// only the journal has is newer than all of that.
    pub(crate) lsn: u64,
    /// Whether the key is whole. A link's may lack its beginning.
    pub(crate) has_whole_key: bool,
}

/// Returns the folder beside sled's file with what lay behind the end of its log when it was opened.
pub(crate) fn torn_dir(db: &Path) -> PathBuf {
    db.with_file_name("torn")
}

/// Finds everything that may be a record in sled's file or in the journal beside it, or in what was saved from behind
/// their ends.
pub(crate) fn each_candidate(db: &Path, visit: &mut dyn FnMut(&Candidate<'_>)) -> io::Result<()> {
    let mut settled = 0;
    each_in_sled(db, &mut |found| {
        if found.key == key::STORE {
            settled = record::read_store(found.value).map_or(0, |record| record.now.commits).max(settled);
        }
        visit(found);
    })?;
    for path in [db.with_file_name(journal::FILE), torn_dir(db).join(journal::FILE)] {
        let Ok(bytes) = read_at_most(&path, journal::JOURNAL_BYTES as u64) else { continue };
        journal::each_record(&bytes, |key, value, commit| {
            // What sled has of a commit is as it was then or newer.
            let lsn = if commit > settled { NEWER_THAN_SLED.saturating_add(commit) } else { commit };
            visit(&Candidate { key: key.to_vec(), value, lsn, has_whole_key: true });
        });
    }
    Ok(())
}

fn each_in_sled(db: &Path, visit: &mut dyn FnMut(&Candidate<'_>)) -> io::Result<()> {
    let mut prefixes = Prefixes::new();
    each_segment(db, &mut |segment| {
        each_message(segment, NODE, &mut |lsn, page, body| {
            let _ = read_node(body, |prefix, key, value| {
                visit(&Candidate { key: [prefix, key].concat(), value, lsn, has_whole_key: true });
                prefixes.entry(page).or_default().insert(prefix.to_vec());
            });
        });
    })?;
    each_segment(db, &mut |segment| {
        each_message(segment, LINK, &mut |lsn, page, body| {
            let Some((key, value)) = read_link(body) else { return };
            let mut visit = |key| visit(&Candidate { key, value, lsn, has_whole_key: false });
            visit(key.to_vec());
            for prefix in prefixes.get(&page).into_iter().flatten().filter(|prefix| !prefix.is_empty()) {
                visit([prefix.as_slice(), key].concat());
            }
        });
    })
}

fn each_segment(db: &Path, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    each_segment_of(db, visit)?;
    match std::fs::read_dir(torn_dir(db)) {
        Ok(mut files) => files.try_for_each(|file| each_segment_of(&file?.path(), visit)),
        Err(_) => Ok(()),
    }
}

fn each_segment_of(db: &Path, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut file = open_regular(db)?;
    loop {
        let mut segment = Vec::new();
        file.by_ref().take(SEGMENT_BYTES).read_to_end(&mut segment)?;
        if segment.is_empty() {
            return Ok(());
        }
        visit(&segment);
    }
}

/// Returns where a segment begins in sled's log, which its header says.
fn lsn_of(segment: &[u8]) -> Option<u64> {
    let written = segment.get(LSN_PLACE)?.try_into().ok()?;
    let lsn = i64::from_le_bytes(written) ^ i64::MAX;
    u64::try_from(lsn).ok().filter(|lsn| lsn.is_multiple_of(SEGMENT_BYTES))
}

/// Finds the position in the log, the page and what follows of everything that begins like a message of a kind.
fn each_message(segment: &[u8], kind: u8, visit: &mut dyn FnMut(u64, u64, &[u8])) {
    let begin = lsn_of(segment);
    let places = segment.iter().enumerate().skip(CRC_BYTES).filter(|(_, byte)| **byte == kind);
    for (place, _) in places {
        let mut rest = segment.get(place + 1..).unwrap_or_default();
        let header = (|| {
            let _length = number(&mut rest)?;
            let _segment = number(&mut rest)?;
            number(&mut rest)
        })();
        if let Some(page) = header {
            visit(begin.map_or(0, |begin| begin.saturating_add(place as u64)), page, rest);
        }
    }
}

/// Reads a node's keys and values, as far as it is one.
pub(super) fn read_node(mut body: &[u8], mut visit: impl FnMut(&[u8], &[u8], &[u8])) -> Option<()> {
    let rest = &mut body;
    let (_next, _merging_child) = (number(rest)?, number(rest)?);
    let (merging, prefix_length) = (byte(rest)?, byte(rest)?);
    let (low, _high) = (bytes(rest)?, bytes(rest)?);
    let prefix = low.get(..usize::from(prefix_length))?;
    let is_leaf = byte(rest)? == 0;
    if merging > 1 || !is_leaf {
        return None;
    }
    let count = number(rest)?;
    // Each key takes at least a byte.
    let count = usize::try_from(count).ok().filter(|count| *count <= rest.len())?;
    let keys: Vec<_> = (0..count).map(|_| bytes(rest)).collect::<Option<_>>()?;
    for key in keys {
        visit(prefix, key, bytes(rest)?);
    }
    Some(())
}

/// Reads a link that sets a key.
pub(super) fn read_link(mut body: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = &mut body;
    let sets = byte(rest)? == 0;
    let (key, value) = (bytes(rest)?, bytes(rest)?);
    sets.then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every record that is written is found again in sled's file, whatever its key has in common with others.
    #[test]
    fn all_that_sled_holds_is_found_without_it() {
        let dir = tempfile::tempdir().unwrap();
        let db = sled::Config::new().path(dir.path()).open().unwrap();
        let key = |number: u64| [&b"t"[..], &number.to_be_bytes()].concat();
        let value = |number: u64| vec![u8::try_from(number % 251).unwrap(); 20 + (number % 400) as usize];
        for number in 0..5_000 {
            db.insert(key(number), value(number)).unwrap();
        }
        db.flush().unwrap();
        drop(db);
        let mut missing: BTreeMap<_, _> = (0..5_000).map(|number| (key(number), value(number))).collect();
        let mut last = 0;
        each_candidate(&dir.path().join("db"), &mut |found| {
            if missing.get(&found.key).is_some_and(|expected| expected == found.value) {
                missing.remove(&found.key);
                last = last.max(found.lsn);
            }
        })
        .unwrap();
        assert_eq!(missing.len(), 0);
        assert!(last > SEGMENT_BYTES, "later segments say that they are later");
    }
}
