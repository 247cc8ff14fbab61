//! Segments: the pieces of a fixed size that the file consists of, in the order of their use.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::{Lsn, damaged};
use crate::local::backend::BackendError;
use crate::local::dir::regular::open_regular;

/// The size of a segment, across which no message goes.
pub(in crate::local::backend) const SEGMENT_BYTES: u64 = 512 * 1024;

/// So many bytes of one segment may not be durable although sled believes that they are. Were it more, sled could use
/// segments again whose successors are not on disk yet.
pub(in crate::local::backend) const UNSYNCED_BYTES_MAX: u64 = 128 * 1024;

/// The bytes before the first message of a segment.
pub(super) const HEADER_BYTES: u64 = 20;

/// The positions in a header are stored with these bits flipped.
const FLIPPED: i64 = i64::MAX;

/// Returns the position at which the segment of a position begins.
pub(super) const fn base(at: Lsn) -> Lsn {
    at - at % SEGMENT_BYTES
}

/// Returns the number of the segment of a position.
pub(super) const fn number_of(at: Lsn) -> u64 {
    at / SEGMENT_BYTES
}

/// How a segment begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The position of its first byte.
    pub(super) lsn: Lsn,
    /// Up to there sled believed everything to be durable when the segment began; -1 when nothing was.
    pub(super) stable: i64,
}

impl Header {
    /// Returns the position up to which everything was durable for sure when the segment began.
    pub(super) fn durable(&self) -> Option<Lsn> {
        let stable = u64::try_from(self.stable).ok()?;
        let is_end = (stable + 1).is_multiple_of(SEGMENT_BYTES);
        // Whole segments are always synced.
        Some(if is_end { stable } else { base(stable).max(stable.saturating_sub(UNSYNCED_BYTES_MAX)) })
    }
}

/// The headers of all segments in use, by their offset in the file.
pub(super) type Headers = BTreeMap<u64, Header>;

/// The bytes of one segment; fewer when the file ends in it.
pub(super) struct SegmentBytes {
    bytes: Vec<u8>,
}

impl SegmentBytes {
    /// Returns its header; `None` when it is not whole, or nothing has been written there.
    pub(super) fn header(&self, offset: u64) -> Option<Header> {
        let header = self.bytes.get(..usize::try_from(HEADER_BYTES).ok()?)?;
        read_header(header, offset).ok().flatten()
    }

    /// Returns all its bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns what it holds from a position of the log on.
    pub(super) fn from(&self, at: Lsn) -> &[u8] {
        let place = usize::try_from(at % SEGMENT_BYTES).unwrap_or(usize::MAX);
        self.bytes.get(place..).unwrap_or_default()
    }
}

/// sled's file, only for reading.
pub(super) struct LogFile {
    path: PathBuf,
    file: Mutex<File>,
    bytes: u64,
}

impl LogFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, BackendError> {
        let file = open_regular(&path).map_err(|source| BackendError::io("open", &path, source))?;
        let found = file.metadata().map_err(|source| BackendError::io("read", &path, source))?;
        Ok(Self { path, file: Mutex::new(file), bytes: found.len() })
    }

    /// Returns the length of the file.
    pub(super) const fn len(&self) -> u64 {
        self.bytes
    }

    /// Reads bytes of the file; fewer where it ends.
    pub(super) fn read(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, BackendError> {
        let wanted = bytes.min(self.bytes.saturating_sub(offset));
        let mut found = vec![0; usize::try_from(wanted).unwrap_or_default()];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut found));
        read.map_err(|source| BackendError::io("read", &self.path, source))?;
        Ok(found)
    }

    /// Reads a segment.
    pub(super) fn segment(&self, offset: u64) -> Result<SegmentBytes, BackendError> {
        Ok(SegmentBytes { bytes: self.read(offset, SEGMENT_BYTES)? })
    }

    /// Reads the headers of all segments. One of zeroes, or of which not all is there, stands for no segment.
    pub(super) fn headers(&self) -> Result<Headers, BackendError> {
        let mut headers = Headers::new();
        let mut places = BTreeMap::new();
        let mut offset = 0;
        while offset + HEADER_BYTES <= self.bytes {
            if let Some(header) = read_header(&self.read(offset, HEADER_BYTES)?, offset)? {
                if places.insert(header.lsn, offset).is_some() {
                    return Err(damaged(format!("two segments of its log begin at {}", header.lsn)));
                }
                headers.insert(offset, header);
            }
            offset += SEGMENT_BYTES;
        }
        Ok(headers)
    }
}

/// Returns `true` if all bytes are zero. Blocks are compared, which also a debug build does at once.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|block| ZEROS.starts_with(block))
}

/// Reads a header; `None` when nothing has been written there.
fn read_header(bytes: &[u8], offset: u64) -> Result<Option<Header>, BackendError> {
    if is_zero(bytes) {
        return Ok(None);
    }
    let header = (|| {
        let (check, positions) = bytes.split_first_chunk()?;
        let (lsn, rest) = positions.split_first_chunk()?;
        let stable = i64::from_le_bytes(rest.try_into().ok()?) ^ FLIPPED;
        let lsn = u64::try_from(i64::from_le_bytes(*lsn) ^ FLIPPED).ok()?;
        let is_sound = crc32fast::hash(positions) ^ u32::MAX == u32::from_le_bytes(*check);
        (is_sound && lsn % SEGMENT_BYTES == 0 && lsn >= offset).then_some(Header { lsn, stable })
    })();
    header
        .map(Some)
        .ok_or_else(|| damaged(format!("the segment of its log at byte {offset} has a damaged header")))
}
