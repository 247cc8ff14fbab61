//! Loading: the commits in a journal that sled does not have.

use std::io;
use std::path::Path;

use turnfold_core::Digest;

use super::frame::{self, FILE, Frame, JOURNAL_BYTES, SECTOR_BYTES};
use crate::local::backend::{BackendError, RecordChange};
use crate::local::dir::regular::read_at_most;
use crate::local::layout::key;
use crate::local::layout::record::{self, StoreRecord};
use crate::local::layout::watermark::Watermark;

/// What a journal holds beside what sled has.
#[derive(Clone)]
pub(in crate::local::backend::sled) struct Loaded {
    /// What its commits change, in their order.
    pub(in crate::local::backend::sled) changes: Vec<RecordChange>,
    /// The digest of the store record that sled has.
    pub(super) base: Digest,
    /// How many commits there are, those in sled and those in the journal.
    pub(in crate::local::backend::sled) commits: u64,
    /// The file as it was found.
    pub(super) bytes: Vec<u8>,
    /// Where its last commit ends.
    pub(super) end: usize,
    /// What is wrong with it.
    damage: Option<String>,
}

impl Loaded {
    /// Reads the journal in sled's folder, as far as it continues `stored`, the store record that sled has.
    ///
    /// # Errors
    /// [`BackendError::Io`] when it cannot be read. A journal that is not there has no commits.
    pub(in crate::local::backend::sled) fn read(
        sled_dir: &Path,
        stored: Option<&[u8]>,
    ) -> Result<Self, BackendError> {
        let path = sled_dir.join(FILE);
        let bytes = match read_at_most(&path, JOURNAL_BYTES as u64) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(source) => return Err(BackendError::io("read", &path, source)),
        };
        let Some(StoreRecord { now, .. }) = stored.and_then(record::read_store) else {
            // It continues nothing.
            let (base, changes) = (Watermark::NOTHING.digest, Vec::new());
            return Ok(Self { changes, base, commits: 0, bytes, end: 0, damage: None });
        };
        Ok(Self::of(bytes, now))
    }

    fn of(bytes: Vec<u8>, mut now: Watermark) -> Self {
        let (base, mut changes, mut end, mut damage) = (now.digest, Vec::new(), 0, None);
        let frame_at = |at: usize| Frame::read(bytes.get(at..).unwrap_or_default(), Some(&base));
        while let Some(frame) = frame_at(end) {
            if !frame.continues(&now) {
                damage = Some(format!(
                    "commit {} in its journal does not follow the one before it",
                    frame.now.commits
                ));
                break;
            }
            end += frame.bytes;
            now = frame.now;
            changes.extend(frame.changes);
        }
        // Each commit was written when those before it were durable.
        let later = (end..bytes.len()).step_by(SECTOR_BYTES).skip(1).find_map(frame_at);
        if let Some(later) = later {
            let commits = later.now.commits;
            damage = damage
                .or(Some(format!("its journal is damaged at {end}, before the end of commit {commits}")));
        }
        Self { changes, base, commits: now.commits, bytes, end, damage }
    }

    /// Requires that nothing in the journal shows that a commit before its end is damaged.
    pub(in crate::local::backend::sled) fn require_sound(self) -> Result<Self, BackendError> {
        self.damage.map_or(Ok(()), |damage| Err(BackendError::Damaged(damage)))?;
        Ok(Self { damage: None, ..self })
    }

    /// Returns what follows its last commit when that may be what is left of another one.
    pub(in crate::local::backend::sled) fn torn(&self) -> Option<&[u8]> {
        let rest = self.bytes.get(self.end..).unwrap_or_default();
        let is_used = rest.iter().take(SECTOR_BYTES).any(|byte| *byte != 0);
        (is_used && Frame::read(rest, None).is_none()).then_some(rest)
    }
}

/// Visits everything in a journal that may be a record: its key, its value and the number of the commit that wrote it,
/// or 0 where that is not known.
pub(in crate::local::backend::sled) fn each_record(bytes: &[u8], mut visit: impl FnMut(&[u8], &[u8], u64)) {
    for at in (0..bytes.len()).step_by(SECTOR_BYTES) {
        let rest = bytes.get(at..).unwrap_or_default();
        let mut found = Vec::new();
        frame::each_record(rest, &mut |key, value| found.push((key, value)));
        let record = found.iter().find(|(key, _)| *key == key::STORE);
        let record = record.and_then(|(_, value)| record::read_store(value));
        for (key, value) in found {
            visit(key, value, record.as_ref().map_or(0, |record| record.now.commits));
        }
    }
}
