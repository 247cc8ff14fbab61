//! Snapshots: states kept next to the log, so that reading its end does not need a fold from the start.
//!
//! Snapshots are a cache. A snapshot is named after the link of the entry that it follows, so it belongs to exactly one
//! history, whatever the branch. It counts only for the build that made it. A snapshot that is missing, damaged or from
//! another build is ignored. Deleting all of them loses nothing, and an audit does not trust them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use turnfold_core::Digest;

use crate::decode::decode_exactly;
use crate::entry::{Seq, encode};
use crate::local::files::{self, read_at_most};
use crate::local::record;

/// A snapshot follows an entry whose seq is a multiple of this.
pub const SNAPSHOT_INTERVAL: Seq = 4096;

const SNAPSHOT_DIR: &str = "snapshots";

const VERSION: u8 = 2;

/// The most bytes that are read of a snapshot; no state takes more.
const SNAPSHOT_BYTES_MAX: u64 = 1 << 28;

/// The state after an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The seq of the entry.
    pub seq: Seq,
    /// The number of rolls before the state.
    pub rolls: u64,
    /// The state, as its ruleset encodes it.
    pub state: Vec<u8>,
}

/// The content of a snapshot's file, before its check. The field order is the format.
#[derive(Serialize, Deserialize)]
struct SnapshotFile<'a> {
    version: u8,
    build: Digest,
    seq: u64,
    rolls: u64,
    state: &'a [u8],
}

pub(crate) const fn has_snapshot(seq: Seq) -> bool {
    seq > 0 && seq.is_multiple_of(SNAPSHOT_INTERVAL)
}

pub(crate) struct Snapshots {
    dir: PathBuf,
}

impl Snapshots {
    pub(crate) fn of(store_dir: &Path) -> Self {
        Self { dir: store_dir.join(SNAPSHOT_DIR) }
    }

    pub(crate) fn exist(&self) -> bool {
        self.dir.exists()
    }

    /// Returns the snapshot after the entry with this link, made by `build`, or by any build if `None`.
    pub(crate) fn read(&self, link: &Digest, seq: Seq, build: Option<&Digest>) -> Option<Snapshot> {
        let path = self.path(link);
        let bytes = match read_at_most(&path, SNAPSHOT_BYTES_MAX) {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::debug!(%error, path = %path.display(), "a snapshot cannot be read");
                }
                return None;
            }
        };
        let body = record::body_of(link.as_bytes(), &bytes);
        let file =
            body.and_then(|body| decode_exactly::<SnapshotFile<'_>>(body).map_err(|error| error.to_string()));
        match file {
            Ok(file) if file.version != VERSION || build.is_some_and(|build| file.build != *build) => {
                tracing::debug!(path = %path.display(), "a snapshot of another build is passed over");
                None
            }
            Ok(file) => {
                let SnapshotFile { rolls, state, .. } = file;
                (file.seq == seq).then(|| Snapshot { seq, rolls, state: state.to_vec() })
            }
            Err(reason) => {
                tracing::debug!(reason, path = %path.display(), "a damaged snapshot is passed over");
                None
            }
        }
    }

    pub(crate) fn write(&self, link: &Digest, snapshot: &Snapshot, build: &Digest) -> io::Result<()> {
        let Snapshot { seq, rolls, state } = snapshot;
        let file = SnapshotFile { version: VERSION, build: *build, seq: *seq, rolls: *rolls, state };
        files::create_dir(&self.dir)?;
        let path = self.path(link);
        let draft = path.with_extension("new");
        let mut draft_file = files::options().write(true).create(true).truncate(true).open(&draft)?;
        // The file is not synced, because a snapshot that a power cut tears is ignored.
        draft_file.write_all(&record::with_check(link.as_bytes(), encode(&file)))?;
        fs::rename(&draft, &path)
    }

    pub(crate) fn remove(&self, link: &Digest) {
        if let Err(error) = fs::remove_file(self.path(link))
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "a snapshot cannot be removed");
        }
    }

    pub(crate) fn path(&self, link: &Digest) -> PathBuf {
        self.dir.join(link.to_string())
    }
}
