//! Reads the entries of a branch, its own and its ancestors', and checks each against the chain.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::ops::RangeInclusive;

use turnfold_core::Digest;

use super::branch::{Branch, BranchSegment};
use super::store_report::Appended;
use crate::chain::Linker;
use crate::engine::{EngineReader, Packed};
use crate::entry::{Entry, PackedEntries, Seq};
use crate::error::{Placed, StoreError};
use crate::names::MatchName;

/// The entries of a branch, as [`StoreReader::entries`](crate::StoreReader::entries) reads them.
pub struct Entries<'a> {
    engine: &'a dyn EngineReader,
    match_name: MatchName,
    linker: Linker,
    /// The parts that are not read to their end yet.
    segments: VecDeque<BranchSegment>,
    /// The next entry to load, and the link before it.
    next: Seq,
    link: Digest,
    /// The first entry to return. Entries before it are only checked.
    wanted_from: Seq,
    loaded: VecDeque<(Entry, Digest)>,
    /// The error to return after the loaded entries.
    error: Option<StoreError>,
}

impl Entries<'_> {
    /// Returns the next entry and the link after it.
    ///
    /// # Errors
    /// Like the iterator, returns [`StoreError::Corrupt`] if the log is damaged, or any error of reading.
    pub fn next_linked(&mut self) -> Option<Result<(Entry, Digest), StoreError>> {
        loop {
            if let Some(linked) = self.loaded.pop_front() {
                return Some(Ok(linked));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            if self.segments.is_empty() {
                return None;
            }
            self.load();
        }
    }

    /// Returns the link after the last loaded entry. At the end of the iteration, it is the link after the last of all.
    pub(crate) fn link(&self) -> Digest {
        self.link
    }

    fn load(&mut self) {
        let mut entries = mem::take(&mut self.loaded);
        if let Err(error) = self.load_into(&mut entries) {
            self.error = Some(self.unless_deleted(error));
            self.segments.clear();
        }
        self.loaded = entries;
    }

    fn load_into(&mut self, entries: &mut VecDeque<(Entry, Digest)>) -> Result<(), StoreError> {
        let Some(segment) = self.segments.front() else { return Ok(()) };
        let own = segment.own;
        let before = self.next;
        if self.next > own.last {
            if segment.after.is_some_and(|after| after != self.link) {
                return Err(self.corrupt(own.last, "the chain of entries does not lead to the stored link"));
            }
            self.segments.pop_front();
            return Ok(());
        }
        let engine = self.engine;
        let loaded = engine.pages(own, before, &mut |packed| self.take(packed, own.last, entries));
        loaded.map_err(|error| self.at(self.next, error))?;
        if self.next > before { Ok(()) } else { Err(self.corrupt(self.next, "the entry is missing")) }
    }

    fn take(
        &mut self,
        packed: &Packed<'_>,
        last: Seq,
        entries: &mut VecDeque<(Entry, Digest)>,
    ) -> Result<(), StoreError> {
        if packed.first > self.next {
            return Err(self.corrupt(self.next, "the entry is missing"));
        }
        if packed.first == self.next && packed.before.is_some_and(|before| before != self.link) {
            return Err(self.corrupt(self.next, "the chain of entries does not lead to the link before it"));
        }
        let skipped = usize::try_from(self.next - packed.first).unwrap_or(usize::MAX);
        entries.reserve(packed.records.len().saturating_sub(skipped));
        for bytes in packed.records.iter().skip(skipped) {
            if self.next > last {
                // The rest is behind the fork, so it is not part of this history.
                return Ok(());
            }
            self.admit(bytes, entries)?;
        }
        if packed.after.is_some_and(|after| after != self.link) {
            return Err(self.corrupt(packed.first, "the chain of entries does not lead to their page's link"));
        }
        Ok(())
    }

    fn admit(&mut self, bytes: &[u8], entries: &mut VecDeque<(Entry, Digest)>) -> Result<(), StoreError> {
        let entry = Entry::decode(bytes).map_err(|error| self.corrupt(self.next, &error.to_string()))?;
        if entry.seq != self.next {
            let reason = format!("expected entry {}, found entry {}", self.next, entry.seq);
            return Err(self.corrupt(self.next, &reason));
        }
        self.link = self.linker.link(&self.link, bytes);
        self.next += 1;
        if entry.seq >= self.wanted_from {
            entries.push_back((entry, self.link));
        }
        Ok(())
    }

    fn unless_deleted(&self, error: StoreError) -> StoreError {
        let (StoreError::Corrupt { .. }, Some(segment)) = (&error, self.segments.back()) else {
            return error;
        };
        // A match or branch that was deleted while it was read looks damaged.
        match self.engine.found_branch(&self.match_name, &segment.branch) {
            Err(gone @ (StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. })) => gone,
            // Another branch has the name now.
            Ok(branch)
                if (branch.found_match.id, branch.found.id) != (segment.own.match_id, segment.own.branch) =>
            {
                let (match_name, branch) = branch.names();
                StoreError::NoSuchBranch { match_name, branch }
            }
            _ => error,
        }
    }

    fn corrupt(&self, seq: Seq, reason: &str) -> StoreError {
        self.at(seq, StoreError::damaged(reason))
    }

    fn at(&self, seq: Seq, error: StoreError) -> StoreError {
        let branch = self.segments.front().map(|segment| &segment.branch);
        error.at(seq).within(&self.match_name, branch)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.next_linked()?.map(|(entry, _)| entry))
    }
}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entries").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Branch {
    /// Reads entries of the branch's history. The range must end at or before the head.
    pub(crate) fn entries<'a>(
        &self,
        engine: &'a dyn EngineReader,
        range: RangeInclusive<Seq>,
    ) -> Result<Entries<'a>, StoreError> {
        let wanted_from = (*range.start()).max(1);
        let to = if range.is_empty() { 0 } else { *range.end() };
        let segments = VecDeque::from(self.segments(engine, wanted_from, to)?);
        let (next, link) = match segments.front() {
            Some(first) => engine
                .anchor(first.own, first.before, wanted_from)
                .within(&self.found_match.name, Some(&first.branch))?,
            None => (wanted_from, self.found.before),
        };
        // A branch without own entries has nothing to read, but its head must have the link at which it begins.
        if self.head.seq == self.found.forked_at() && self.head.link != self.found.before {
            return Err(self.within(StoreError::damaged("its head's link is not the one it begins with")));
        }
        Ok(Entries {
            engine,
            match_name: self.found_match.name.clone(),
            linker: Linker::new(),
            segments,
            next,
            link,
            wanted_from,
            loaded: VecDeque::new(),
            error: None,
        })
    }

    pub(crate) fn link_at(&self, engine: &dyn EngineReader, at: Seq) -> Result<Digest, StoreError> {
        if at == 0 {
            return Ok(self.found_match.link());
        }
        if at == self.found.forked_at() {
            return Ok(self.found.before);
        }
        let mut entries = self.entries(engine, at..=at)?;
        entries.try_for_each(|entry| entry.map(|_| ()))?;
        Ok(entries.link())
    }

    /// Returns the result of the earlier append with the same idempotency key. The seats and commands must be the same.
    pub(crate) fn repeated(
        &self,
        engine: &dyn EngineReader,
        keyed: RangeInclusive<Seq>,
        entries: &PackedEntries,
    ) -> Result<Appended, StoreError> {
        let first = *keyed.start();
        let last = *keyed.end();
        let mut stored = self.entries(engine, keyed)?;
        let mut asked = entries.iter();
        let same = loop {
            match (stored.next().transpose()?, asked.next()) {
                (Some(stored), Some(asked))
                    if (stored.seat, &stored.command) == (asked.seat, &asked.command) => {}
                (stored, asked) => break stored.is_none() && asked.is_none(),
            }
        };
        if same {
            return Ok(Appended { first, last, repeated: true });
        }
        let (match_name, branch) = self.names();
        Err(StoreError::IdempotencyKeyReused { match_name, branch, first, last })
    }
}
