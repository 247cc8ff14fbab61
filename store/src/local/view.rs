//! A view: the records of a store in memory, replayed from its journal. It keeps only the places of entries (ST-16).

use std::collections::{BTreeMap, btree_map};
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::entry::{EntryBytes, Seq, encode};
use crate::local::backend::{Backend, BackendError, StoredRecord};
use crate::local::files::read_at;
use crate::local::index::behind;
use crate::local::journal::commit::{Op, Point, Salt};
use crate::local::journal::{CommitPlace, Image, commit, damaged, read_next_to_writer, segment};
use crate::local::lock::Locks;
use crate::local::open::open_skipped;
use crate::local::page::{PageBody, VERSION};
use crate::local::record::{IdempotencyRecord, StoreRecord};
use crate::local::replay::{Misfit, OnMisfit, ReplayTarget, replay};
use crate::local::{key, record, swap};
use crate::reader::branch::Head;

const WINDOW_BYTES: usize = 256 * 1024;

pub(crate) struct MemoryRecords {
    store: StoreRecord,
    /// The bodies of the records of matches, branches, heads, grants and notes.
    bodies: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The places of each branch's entries: for each commit the first seq and the place.
    pages: BTreeMap<u64, Vec<(Seq, CommitPlace)>>,
    /// The place of the commit that is being replayed.
    at: CommitPlace,
    journal: PathBuf,
    files: Vec<File>,
    /// The bodies of the commits that only the heads have.
    in_heads: Vec<Vec<u8>>,
    window: Mutex<Option<Window>>,
    /// Whether the journal names an index with the same commits, which was not opened (ST-23).
    is_next_to_index: bool,
    /// The commit that was read last. It is kept because a large commit has many pages.
    last: Mutex<Option<(CommitPlace, Arc<Vec<u8>>)>>,
}

struct Window {
    segment: u32,
    at: u64,
    bytes: Vec<u8>,
}

impl MemoryRecords {
    pub(crate) fn before(journal: &Path, salt: Salt, files: Vec<File>) -> Self {
        Self {
            store: StoreRecord::before(&salt),
            bodies: BTreeMap::new(),
            pages: BTreeMap::new(),
            at: CommitPlace::InHeads(0),
            journal: journal.to_owned(),
            files,
            in_heads: Vec::new(),
            window: Mutex::new(None),
            is_next_to_index: false,
            last: Mutex::new(None),
        }
    }

    pub(crate) fn next_to_index(self) -> Self {
        Self { is_next_to_index: true, ..self }
    }

    pub(crate) fn read(image: &Image, up_to: u64, proves: bool) -> Result<Self, BackendError> {
        let mut files = Vec::new();
        for segment in &image.segments {
            files.push(BackendError::on(&image.dir, "read", segment.file.try_clone())?);
        }
        let mut view = Self::before(&image.dir, image.salt, files);
        image.each_commit(proves, &mut |point, at, body| {
            if point.number > up_to {
                return Ok(());
            }
            view.take(point, at, body, &mut |misfit: Misfit| Err(misfit.within(point.number)))
        })?;
        if up_to >= image.end.number {
            view.store.end.digest = image.end.digest;
        }
        Ok(view)
    }

    /// Reads all commits of a journal and checks the digests. The inner error describes damage.
    pub(crate) fn proven(journal: &Path) -> Result<Result<Self, String>, BackendError> {
        match read_next_to_writer(journal).and_then(|image| Self::read(&image, u64::MAX, true)) {
            Ok(view) => Ok(Ok(view)),
            Err(BackendError::Damaged(reason)) => Ok(Err(reason)),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn take(
        &mut self,
        point: Point,
        at: CommitPlace,
        body: &[u8],
        misfit: OnMisfit<'_>,
    ) -> Result<(), BackendError> {
        self.at = at;
        if let CommitPlace::InHeads(_) = at {
            self.in_heads.push(body.to_vec());
        }
        replay(self, point, body, misfit)
    }

    /// The bodies of all tables but those of entries and idempotency keys.
    pub(crate) fn bodies(&self) -> &BTreeMap<Vec<u8>, Vec<u8>> {
        &self.bodies
    }

    pub(crate) fn record(&self) -> &StoreRecord {
        &self.store
    }

    fn body_at(&self, at: CommitPlace) -> Result<Arc<Vec<u8>>, BackendError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((found, body)) = last.as_ref()
            && *found == at
        {
            return Ok(Arc::clone(body));
        }
        let body = match at {
            CommitPlace::InHeads(place) => self.in_heads.get(place as usize).cloned(),
            CommitPlace::InSegment { segment, at } => self.read_again(segment, at)?,
        };
        let body = Arc::new(body.ok_or_else(|| damaged("a commit cannot be read again"))?);
        *last = Some((at, Arc::clone(&body)));
        Ok(body)
    }

    /// Reads the body of a commit in a segment; `None` if it is gone.
    fn read_again(&self, segment: u32, at: u64) -> Result<Option<Vec<u8>>, BackendError> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(window) = window.as_ref()
            && window.segment == segment
            && let Some(place) = at.checked_sub(window.at)
            && let Some(bytes) = window.bytes.get(usize::try_from(place).unwrap_or(usize::MAX)..)
            && segment::frame_bytes(bytes).is_some_and(|length| length <= bytes.len())
            && let Some(body) = segment::read_again(bytes)
        {
            return Ok(Some(body));
        }
        let Some(file) = self.files.get(segment as usize) else { return Ok(None) };
        let mut bytes = read_part(file, at, WINDOW_BYTES)?;
        if let Some(length) = segment::frame_bytes(&bytes)
            && length > bytes.len()
        {
            bytes = read_part(file, at, length)?;
        }
        let body = segment::read_again(&bytes);
        *window = if bytes.len() <= WINDOW_BYTES { Some(Window { segment, at, bytes }) } else { None };
        Ok(body)
    }

    fn page(&self, branch: u64, first: Seq, at: CommitPlace) -> Result<StoredRecord, BackendError> {
        let body = self.body_at(at)?;
        let page = appended(&body, branch, first)?;
        Ok(with_check(key::of_page(branch, first), encode(&page)))
    }

    fn keys(&self, branch: u64) -> Result<BTreeMap<Vec<u8>, IdempotencyRecord>, BackendError> {
        let mut keys: BTreeMap<Vec<u8>, IdempotencyRecord> = BTreeMap::new();
        let prefix = key::idempotency_of(branch).start;
        for (first, at) in self.pages.get(&branch).into_iter().flatten() {
            let body = self.body_at(*at)?;
            for entry in appended(&body, branch, *first)?.records {
                let Some(EntryBytes { seq, idempotency_key: Some(key), .. }) = EntryBytes::read(entry) else {
                    continue;
                };
                let key = [prefix.as_slice(), key.as_bytes()].concat();
                keys.entry(key).or_insert(IdempotencyRecord { first: seq, last: seq }).last = seq;
            }
        }
        Ok(keys)
    }

    /// Returns the branches that may have records in a range of the table `k` or `p`, and some behind it.
    fn branches_from(&self, range: &Range<Vec<u8>>) -> btree_map::Range<'_, u64, Vec<(Seq, CommitPlace)>> {
        // The range may begin with a part of a key, so the id is padded with zeros.
        let id = key::id_of(&[&range.start[..], &[0; 8]].concat()).unwrap_or(0);
        self.pages.range(id..)
    }

    /// Returns the first pages in a range, at most `limit`. Each has the entries of one operation.
    fn pages_in(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        for (branch, places) in self.branches_from(range) {
            let start = places.partition_point(|(first, _)| key::of_page(*branch, *first) < range.start);
            for (first, at) in places.iter().skip(start) {
                if found.len() == limit || key::of_page(*branch, *first) >= range.end {
                    return Ok(found);
                }
                found.push(self.page(*branch, *first, *at)?);
            }
        }
        Ok(found)
    }

    /// Returns the first idempotency keys in a range, at most `limit`. They are derived from the entries.
    fn keys_in(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        for (branch, _) in self.branches_from(range) {
            if found.len() == limit || key::idempotency_of(*branch).start >= range.end {
                break;
            }
            for (key, entries) in self.keys(*branch)? {
                if found.len() < limit && range.contains(&key) {
                    found.push(with_check(key, encode(&entries)));
                }
            }
        }
        Ok(found)
    }
}

/// Finds the operation of a commit that appends the entry `first` and later ones to a branch.
fn appended(body: &[u8], branch: u64, first: Seq) -> Result<PageBody<'_>, BackendError> {
    for op in commit::read_ops(body) {
        if let Ok(Op::Append { branch: found, link, entries }) = op
            && found == branch
            && let Some(entry) = entries.first()
            && EntryBytes::read(entry).is_some_and(|entry| entry.seq == first)
        {
            return Ok(PageBody { version: VERSION, link, records: entries });
        }
    }
    Err(damaged("a commit is not what it was"))
}

fn read_part(file: &File, at: u64, count: usize) -> Result<Vec<u8>, BackendError> {
    match read_at(file, at, count) {
        Ok(bytes) => Ok(bytes),
        Err(source) => Err(BackendError::Io { action: "read the journal".to_owned(), source }),
    }
}

fn with_check(key: Vec<u8>, body: Vec<u8>) -> StoredRecord {
    let value = record::with_check(&key, body);
    (key, value)
}

impl ReplayTarget for MemoryRecords {
    fn body(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        Ok(self.bodies.get(key).cloned())
    }

    fn records(&self, range: Range<Vec<u8>>) -> Result<Vec<StoredRecord>, BackendError> {
        Ok(self.bodies.range(range).map(|(key, body)| (key.clone(), body.clone())).collect())
    }

    fn put(&mut self, key: Vec<u8>, body: Option<Vec<u8>>) {
        match body {
            Some(body) => self.bodies.insert(key, body),
            None => self.bodies.remove(&key),
        };
    }

    fn append(&mut self, branch: u64, before: Head, _after: Head, _entries: &[&[u8]]) {
        self.pages.entry(branch).or_default().push((before.seq + 1, self.at));
    }

    fn put_key(&mut self, _branch: u64, _key: &str, _entries: IdempotencyRecord) {
        // Keys are derived from the entries.
    }

    fn forget(&mut self, branch: u64) -> Result<(), BackendError> {
        self.pages.remove(&branch);
        Ok(())
    }

    fn store(&mut self) -> &mut StoreRecord {
        &mut self.store
    }
}

impl Backend for MemoryRecords {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, BackendError> {
        let after = [key, &[0]].concat();
        Ok(self.scan(&(key.to_vec()..after), 1)?.pop().map(|(_, value)| value))
    }

    fn scan(&self, range: &Range<Vec<u8>>, limit: usize) -> Result<Vec<StoredRecord>, BackendError> {
        let mut found = Vec::new();
        for table in *b"abhikmnps" {
            let start = range.start.clone().max(vec![table]);
            let end = range.end.clone().min(vec![table + 1]);
            let left = limit - found.len();
            if start >= end || left == 0 {
                continue;
            }
            let range = start..end;
            match table {
                b'k' => found.extend(self.keys_in(&range, left)?),
                b'p' => found.extend(self.pages_in(&range, left)?),
                b's' if !range.contains(&key::STORE.to_vec()) => {}
                b's' => found.push(with_check(key::STORE.to_vec(), encode(&self.store))),
                _ => {
                    let bodies = self.bodies.range(range).take(left);
                    found.extend(bodies.map(|(key, body)| with_check(key.clone(), body.clone())));
                }
            }
        }
        Ok(found)
    }

    fn last(&self, range: &Range<Vec<u8>>) -> Result<Option<StoredRecord>, BackendError> {
        // The usual request is for the pages of one branch, which may be many.
        if let (Some(b'p'), Some(branch)) = (range.start.first(), key::id_of(&range.start))
            && let Some(places) = self.pages.get(&branch)
        {
            let end = places.partition_point(|(first, _)| key::of_page(branch, *first) < range.end);
            return match end.checked_sub(1).and_then(|last| places.get(last)) {
                Some((first, at)) if key::of_page(branch, *first) >= range.start => {
                    self.page(branch, *first, *at).map(Some)
                }
                _ => Ok(None),
            };
        }
        Ok(self.scan(range, usize::MAX)?.pop())
    }

    fn is_proven(&self) -> bool {
        // The check of each value is computed from that value here, so comparing the two proves nothing.
        true
    }

    fn compare(&self) -> Result<Vec<String>, BackendError> {
        // A compaction may have replaced the journal since the view was made.
        let dir = swap::dir_of(&self.journal);
        // Damage is the error here, because a reading with damage is repeated if the journal was swapped meanwhile.
        let compared = swap::read_unswapped(dir, |places| {
            // Without the locks, for example next to a writer, only the journal is checked.
            let locks = Locks::take_if_free(dir, &places.journal);
            let view = Self::proven(&places.journal).map_err(Err)?.map_err(Ok)?;
            if locks.is_some()
                && let Some(damage) = behind(&places.sled, &view.store, None).map_err(Err)?
            {
                return Err(Ok(damage));
            }
            Ok(())
        });
        match compared {
            Ok(()) => Ok(Vec::new()),
            Err(damage) => Ok(vec![damage?]),
        }
    }

    fn journal(&self) -> Option<&Path> {
        Some(&self.journal)
    }

    fn skipped_index(&self) -> Result<Option<Box<dyn Backend>>, BackendError> {
        if !self.is_next_to_index {
            return Ok(None);
        }
        match open_skipped(swap::dir_of(&self.journal))? {
            Some(index) => Ok(Some(Box::new(index))),
            None => Ok(None),
        }
    }
}
