//! What lies behind the tip, and everywhere else where no page has a part: all that sled writes to when it opens.

use super::message::{NODE, Search};
use super::reader::LogReader;
use super::replay::walk_segment;
use super::segment::{HEADER_BYTES, SEGMENT_BYTES, SegmentBytes, base, is_zero, number_of};
use super::snapshot::PageState;
use crate::local::backend::BackendError;
use crate::local::backend::sled::raw;
use crate::local::layout::record;

/// A segment in which sled may write when it opens.
pub(in crate::local::backend) struct Loose {
    /// Where it begins in the file.
    pub(in crate::local::backend) offset: u64,
    /// All of it, or nothing when it is all zero.
    pub(in crate::local::backend) bytes: Vec<u8>,
    /// How many of its bytes belong to the log.
    pub(in crate::local::backend) sound: usize,
    /// Among so many of its bytes nothing is newer than the log: they are that, or whole messages of an earlier use.
    known: usize,
}

impl LogReader {
    /// Reads all segments in which sled may write when it opens.
    pub(in crate::local::backend) fn loose(&self) -> Result<Vec<Loose>, BackendError> {
        let offsets = (0..self.file.len()).step_by(usize::try_from(SEGMENT_BYTES).unwrap_or(usize::MAX));
        let mut used = vec![false; usize::try_from(number_of(self.file.len()) + 1).unwrap_or_default()];
        for (_, offset) in self.found.snapshot.pages.iter().flat_map(PageState::parts) {
            if let Some(used) = usize::try_from(number_of(offset)).ok().and_then(|index| used.get_mut(index))
            {
                *used = true;
            }
        }
        let mut found = Vec::new();
        for (offset, is_used) in offsets.zip(used) {
            let is_active = self.found.snapshot.active == Some(offset);
            if is_used && !is_active {
                continue;
            }
            let segment = self.file.segment(offset)?;
            let sound = if is_active { self.tip() % SEGMENT_BYTES } else { 0 };
            let sound = usize::try_from(sound).unwrap_or_default();
            let known = sound.max(self.earlier_use(&segment, offset));
            let mut bytes = segment.into_bytes();
            if is_zero(&bytes) {
                bytes.clear();
            }
            found.push(Loose { offset, bytes, sound, known });
        }
        Ok(found)
    }

    /// Returns how many bytes of a segment are messages of one use of it that the log has left behind; a later use has
    /// not touched those that are sound.
    fn earlier_use(&self, segment: &SegmentBytes, offset: u64) -> usize {
        let header = segment.header(offset).filter(|header| header.lsn < base(self.tip()));
        let Some(header) = header else { return 0 };
        let end = walk_segment(segment, header.lsn, None, &mut |_, _, _| Ok(()));
        end.map_or(0, |(at, _)| usize::try_from(at - header.lsn).unwrap_or_default())
    }

    /// Returns the position behind everything in the log.
    pub(in crate::local::backend) fn tip(&self) -> u64 {
        self.found.snapshot.lsn.unwrap_or_default()
    }

    /// Looks for sound messages behind the tip; returns `None` if there are none, or else how many commits the newest
    /// sound store record among them counts.
    pub(in crate::local::backend) fn commits_behind(
        &self,
        loose: &[Loose],
    ) -> Result<Option<u64>, BackendError> {
        let mut newest = None;
        let mut search = Search::from(number_of(self.tip()));
        for Loose { bytes, known, .. } in loose {
            let header = usize::try_from(HEADER_BYTES).unwrap_or_default();
            search.each(bytes.get((*known).max(header)..).unwrap_or_default(), &mut |message| {
                let mut commits = 0;
                let mut count = |value: &[u8]| commits = commits.max(commits_in(value));
                if message.kind == NODE {
                    let _ = raw::read_node(message.body, |_, _, value| count(value));
                } else if let Some((_, value)) = raw::read_link(message.body) {
                    count(value);
                }
                newest = newest.max(Some(commits));
            })?;
        }
        Ok(newest)
    }

    /// Requires that nothing behind the tip shows that a commit of which nothing else is left was acknowledged, where so
    /// many are held. One that was being written when a process ended may be there.
    pub(in crate::local::backend) fn require_all_commits(
        &self,
        loose: &[Loose],
        held: u64,
    ) -> Result<(), BackendError> {
        match self.commits_behind(loose)? {
            Some(behind) if behind > held + 1 => Err(super::damaged(format!(
                "its log is damaged at {}, before the end of commit {}",
                self.tip(),
                behind - 1
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns how many commits a store record counts, whatever its key leaves out; 0 if the value is none.
fn commits_in(value: &[u8]) -> u64 {
    record::read_store(value).map_or(0, |record| record.now.commits)
}
