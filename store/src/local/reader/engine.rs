//! The records of a store on disk, as an engine that is read.

use std::ops::RangeInclusive;
use std::sync::RwLockReadGuard;

use turnfold_core::{Digest, Seat};

use super::found::StoredBranch;
use super::matches::MatchInfos;
use super::records::Records;
use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::engine::{Auditable, Each, EngineReader, Found, KeyedEntries, Packed, Walk};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::local::rescue::check::check;
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::reader::found::{FoundBranch, FoundMatch};
use crate::reader::line::{Line, Own};
use crate::reader::report::{MatchInfo, StoreCheck, StoreStats};
use crate::snapshots::Snapshots;

impl EngineReader for Records {
    fn found_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError> {
        self.find_match(name)
    }

    fn found_branch(&self, match_name: &MatchName, branch: &BranchName) -> Result<Line, StoreError> {
        self.find(match_name, branch)
    }

    fn branches(&self, name: &MatchName) -> Result<(FoundMatch, Vec<Line>), StoreError> {
        self.lines_of(name)
    }

    fn ancestry(&self, of: &FoundMatch, branch: &FoundBranch) -> Result<Vec<FoundBranch>, StoreError> {
        let mut line = vec![branch.clone()];
        // A parent's id is less than its child's, so this ends.
        while let Some(child) = line.last()
            && let Some(parent) = &child.parent
        {
            let here = |error: StoreError| error.within(&of.name, Some(&child.name));
            let Some(name) = child.parent_name().map_err(here)? else { break };
            let found = self.find_branch(of, &name)?;
            if found.id != parent.id {
                return Err(here(StoreError::damaged(format!(
                    "the branch `{name}` it begins on is another"
                ))));
            }
            line.push(found);
        }
        Ok(line)
    }

    fn matches_after(&self, after: Option<&MatchName>) -> Result<Each<'_, MatchInfo>, StoreError> {
        Ok(Box::new(MatchInfos { records: self, found: self.found_matches(after)? }))
    }

    fn match_names(&self) -> Result<Each<'_, MatchName>, StoreError> {
        Ok(Box::new(self.found_matches(None)?.map(|found| Ok(found?.name))))
    }

    fn pages(
        &self,
        own: Own,
        from: Seq,
        take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.packed(own, from, take)
    }

    fn anchor(&self, own: Own, before: Digest, wanted: Seq) -> Result<(Seq, Digest), StoreError> {
        self.anchor_on_page(own, before, wanted)
    }

    fn find_key(
        &self,
        line: &Line,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        let found = self.keyed(line.branch.id, idempotency_key).map_err(|error| line.within(error))?;
        // What lies behind the head is not acknowledged yet.
        Ok(found.filter(|found| found.last <= line.head.seq).map(|found| found.first..=found.last))
    }

    fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        Ok(self.grant_record(hash)?.map(|record| record.grant))
    }

    fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        let _grants = self.hold_grants();
        self.grants(&self.find_match(match_name)?)
    }

    fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.is_seat_taken(match_name, seat, now_ms)
    }

    fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_ref()
    }

    fn hold_matches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        Some(Self::hold_matches(self))
    }

    fn hold_branches(&self) -> Option<RwLockReadGuard<'_, ()>> {
        Some(Self::hold_branches(self))
    }

    fn at_one_moment(&self, read: Walk<'_>) -> Result<(), RescueError> {
        let _branches = self.hold_walk();
        read(self)
    }

    fn auditable(&self, of: &FoundMatch) -> Result<(Vec<Auditable>, Option<StoreError>), StoreError> {
        let (stored, missing) = match self.stored_branches(&of.name) {
            Ok((_, stored)) => (stored, None),
            Err(error) => (self.readable_branches(of)?, Some(error)),
        };
        let line = |stored: StoredBranch| {
            let line = stored.read(of).and_then(|branch| self.line(of, branch));
            (stored.name, line)
        };
        Ok((stored.into_iter().map(line).collect(), missing))
    }

    fn audit_kept(&self, line: &Line, keys: KeyedEntries) -> Result<Vec<Found>, StoreError> {
        let mut damage = self.audit_keys(line, keys)?;
        damage.extend(self.audit_strays(line)?);
        Ok(damage)
    }

    fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        check(self, observe)
    }

    fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        self.count(top, observe)
    }
}
