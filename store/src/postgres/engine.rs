//! The engine on PostgreSQL, behind the same traits as the engine on disk.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use tokio_postgres::Row;
use turnfold_core::{Digest, Seat};

use super::address::FleetAddress;
use super::connect::{Connection, ConnectionPool};
use super::fault::StatementFault;
use super::group::Writers;
use super::held::{HeldHeads, Names};
use super::keys::Slot;
use super::migrate::Migration;
use super::read::{
    Ask, Newest, ReadingEngine, all_branch_rows, branch_in, branch_rows, column, digest, get, match_in, name,
    number, take_run, uuid,
};
use super::reserve::Reservations;
use super::spread::SpreadReport;
use super::{check, read, schema, spread};
use crate::backup::error::RescueError;
use crate::backup::part::Totals;
use crate::engine::{
    Auditable, DamagedRecord, EngineReader, KeyedEntries, Packed, ReadAtOneMoment, Results, until_error,
};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::grant::Grant;
use crate::granting::MatchGrants;
use crate::names::{BranchName, GrantLabel, IdempotencyKey, MatchName};
use crate::note::Note;
use crate::reader::branch::{Branch, BranchId, FoundBranch, FoundMatch, NamedBranch, Own, Parent};
use crate::reader::store_report::{MatchInfo, StoreCheck, StoreStats};

/// The maximum number of entries of a run; a longer append becomes several runs (FL-7).
const RUN_ENTRIES_MAX: usize = 4096;

/// How many matches a statement lists. The `LIMIT` in its text is the same number.
const PORTION: usize = 256;

/// The maximum number of entries of a run while a backup is restored (FL-23). Reading a few entries then loads few
/// others.
const RESTORED_RUN_ENTRIES_MAX: usize = 64;

/// A store on PostgreSQL.
pub(crate) struct Fleet {
    pub(super) reading: Arc<ReadingEngine<Newest>>,
    pub(super) writers: Writers,
    pub(super) reservations: Reservations,
    pub(super) run_entries_max: usize,
}

impl Fleet {
    pub(crate) fn open(address: &FleetAddress) -> Result<Self, StoreError> {
        Ok(Self::of(reading(address, schema::require)?, RUN_ENTRIES_MAX))
    }

    pub(crate) fn open_or_create(address: &FleetAddress) -> Result<Self, StoreError> {
        Ok(Self::of(reading(address, schema::require_or_create)?, RUN_ENTRIES_MAX))
    }

    /// Begins to restore a backup into an empty schema (FL-23).
    pub(crate) fn begin_restore(address: &FleetAddress) -> Result<Self, StoreError> {
        Ok(Self::of(reading(address, schema::begin_restore)?, RESTORED_RUN_ENTRIES_MAX))
    }

    pub(crate) fn end_restore(&self) -> Result<(), StoreError> {
        self.pool().until_answered(|connection, _| schema::end_restore(connection))
    }

    /// Migrates a store to the format of this build (FL-10). Safe to repeat after a failure.
    pub(crate) fn migrate(address: &FleetAddress) -> Result<Migration, StoreError> {
        let mut connection = Connection::open(address, None).map_err(|fault| unconnected(address, fault))?;
        let reason = match schema::migrate(&mut connection) {
            Ok(migration) => return Ok(migration),
            Err(StatementFault::Taken) => {
                "two keys of a branch have one hash: back up with the build that made the store, and restore with this one"
                    .to_owned()
            }
            Err(StatementFault::Again(reason) | StatementFault::Gone(reason)) => {
                format!("the migration broke off, run it again: {reason}")
            }
            Err(fault) => return Err(fault.ended(false)),
        };
        Err(StoreError::Database { reason })
    }

    /// Spreads the runs of a store over servers (FL-35).
    pub(crate) fn spread(address: &FleetAddress) -> Result<SpreadReport, StoreError> {
        let mut connection = Connection::open(address, None).map_err(|fault| unconnected(address, fault))?;
        spread::spread(&mut connection).map_err(|fault| fault.ended(false))
    }

    fn of(reading: Arc<ReadingEngine<Newest>>, run_entries_max: usize) -> Self {
        let writers = Writers::new(reading.0.pool.address().clone());
        let reservations = Reservations::new(Arc::clone(&reading.0.pool));
        Self { reading, writers, reservations, run_entries_max }
    }

    pub(super) fn pool(&self) -> &ConnectionPool {
        &self.reading.0.pool
    }

    pub(super) fn held(&self) -> &HeldHeads {
        &self.reading.0.held
    }
}

pub(crate) fn open_reader(address: &FleetAddress) -> Result<Arc<dyn EngineReader>, StoreError> {
    Ok(reading(address, schema::require)?)
}

fn reading(
    address: &FleetAddress,
    prepare: impl FnOnce(&mut Connection) -> Result<(), StatementFault>,
) -> Result<Arc<ReadingEngine<Newest>>, StoreError> {
    if address.may_lose {
        tracing::warn!("durable=no: the database may lose what it acknowledged");
    }
    let pool = ConnectionPool::new(address.clone());
    pool.once(prepare).map_err(|fault| unconnected(address, fault))?;
    Ok(Arc::new(ReadingEngine(Newest { pool, held: HeldHeads::default() })))
}

pub(super) fn unconnected(address: &FleetAddress, fault: StatementFault) -> StoreError {
    match fault.ended(false) {
        StoreError::Unavailable { reason, .. } => {
            StoreError::Database { reason: format!("cannot connect to `{address}`: {reason}") }
        }
        other => other,
    }
}

impl<A: Ask> ReadingEngine<A> {
    fn find(&self, names: &Names) -> Result<Branch, StoreError> {
        let (match_name, branch) = names;
        let rows = branch_rows(&self.0, names)?;
        let Some(row) = rows.first() else {
            return Err(StoreError::NoSuchMatch { match_name: match_name.clone() });
        };
        let found_match = match_in(row, match_name)?;
        if get::<Option<i64>>(row, 3)?.is_some() {
            return branch_in(row, found_match);
        }
        if branch.is_main() {
            return Err(StoreError::damaged("it is missing").within(match_name, Some(branch)));
        }
        Err(StoreError::NoSuchBranch { match_name: match_name.clone(), branch: branch.clone() })
    }
}

impl<A: Ask> ReadingEngine<A> {
    fn portion_after(&self, last: &str) -> Result<Vec<MatchInfo>, StoreError> {
        const MATCHES: &str = "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), \
             coalesce(h.last, b.at), m.name, m.module FROM @match m JOIN @branch b ON b.match = m.id AND b.name = 'main' \
             LEFT JOIN LATERAL (SELECT r.last FROM @run r WHERE r.branch = b.no \
             ORDER BY r.first DESC LIMIT 1) h ON true WHERE m.name > $1 ORDER BY m.name LIMIT 256";
        if self.0.is_spread() {
            return spread::matches_after(&self.0, last);
        }
        let rows = self.0.rows(MATCHES, &[&last], None)?;
        rows.iter().map(|row| match_info(row, number(row, 3)?)).collect()
    }
}

pub(super) fn match_info(row: &Row, head: Seq) -> Result<MatchInfo, StoreError> {
    let found_match = match_in(row, &name(row, 4)?)?;
    Ok(MatchInfo {
        genesis: found_match.genesis()?,
        head,
        branches: found_match.branches,
        name: found_match.name,
    })
}

impl<A: Ask> EngineReader for ReadingEngine<A> {
    fn found_match(&self, name: &MatchName) -> Result<FoundMatch, StoreError> {
        const MATCH: &str = "SELECT id, genesis, (SELECT count(*) FROM @branch b WHERE b.match = m.id), module \
             FROM @match m WHERE name = $1";
        let rows = self.0.rows(MATCH, &[&name.as_str()], None)?;
        let row = rows.first().ok_or_else(|| StoreError::NoSuchMatch { match_name: name.clone() })?;
        match_in(row, name)
    }

    fn found_branch(&self, match_name: &MatchName, branch: &BranchName) -> Result<Branch, StoreError> {
        let names = (match_name.clone(), branch.clone());
        let mut branch = self.find(&names)?;
        let Some(held) = self.0.held() else { return Ok(branch) };
        if let Some(before) = held.beyond(&branch) {
            // Another thread may have appended or read more since this query, so query again.
            branch = self.find(&names)?;
            let goes_back = branch.head.seq < before.seq
                || branch.head.seq == before.seq && branch.head.link != before.link;
            if goes_back && held.beyond(&branch).is_some() {
                return Err(held.lose(&branch, before));
            }
        }
        held.note(names, BranchId::of(&branch), branch.head, None);
        Ok(branch)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        read::heads(&self.0, branches)
    }

    fn branches(&self, name: &MatchName) -> Result<(FoundMatch, Vec<Branch>), StoreError> {
        let rows = all_branch_rows(&self.0, name)?;
        let row = rows.first().ok_or_else(|| StoreError::NoSuchMatch { match_name: name.clone() })?;
        let found_match = match_in(row, name)?;
        let there = rows.iter().filter(|row| row.try_get::<_, i64>(3).is_ok());
        let branches = there.map(|row| branch_in(row, found_match.clone())).collect::<Result<Vec<_>, _>>()?;
        if !branches.iter().any(|branch| branch.found.name.is_main()) {
            return Err(StoreError::damaged("it is missing").within(name, Some(&BranchName::main())));
        }
        Ok((found_match, branches))
    }

    fn ancestry(
        &self,
        found_match: &FoundMatch,
        branch: &FoundBranch,
    ) -> Result<Vec<FoundBranch>, StoreError> {
        const BRANCHES: &str = "SELECT b.no, b.name, b.parent, p.name, b.at, b.before FROM @branch b \
                                LEFT JOIN @branch p ON p.match = b.match AND p.no = b.parent WHERE b.match = $1";
        let mut ancestry = vec![branch.clone()];
        if branch.parent.is_none() {
            return Ok(ancestry);
        }
        let rows = self.0.rows(BRANCHES, &[&uuid(found_match.id)], None)?;
        while let Some(child) = ancestry.last()
            && let Some(parent) = &child.parent
        {
            let here =
                |reason: &str| StoreError::damaged(reason).within(&found_match.name, Some(&child.name));
            if ancestry.len() > rows.len() {
                return Err(here("its branches begin on each other in a circle"));
            }
            let mut found = rows.iter().filter(|row| number(row, 0).is_ok_and(|no| no == parent.id));
            let row = found.next().ok_or_else(|| here("the branch it begins on is missing"))?;
            let at = number(row, 4)?;
            let before = digest(row, 5)?;
            let parent = get::<Option<i64>>(row, 2)?.zip(get::<Option<String>>(row, 3)?);
            let parent = parent.map(|(id, name)| Parent { name, id: id.cast_unsigned(), at, link: before });
            ancestry.push(FoundBranch { name: name(row, 1)?, id: number(row, 0)?, parent, before });
        }
        Ok(ancestry)
    }

    fn matches_after(&self, after: Option<&MatchName>) -> Result<Results<'_, MatchInfo>, StoreError> {
        let mut last = after.map_or_else(String::new, ToString::to_string);
        let mut portion = Vec::new().into_iter();
        let mut is_last = false;
        Ok(Box::new(until_error(move || {
            if portion.len() == 0 && !is_last {
                let infos = match self.portion_after(&last) {
                    Ok(infos) => infos,
                    Err(error) => return Some(Err(error)),
                };
                is_last = infos.len() < PORTION;
                portion = infos.into_iter();
            }
            portion.next().map(|info| {
                last = info.name.to_string();
                Ok(info)
            })
        })))
    }

    fn match_names(&self) -> Result<Results<'_, MatchName>, StoreError> {
        Ok(Box::new(self.matches_after(None)?.map(|info| Ok(info?.name))))
    }

    fn pages(
        &self,
        own: Own,
        from: Seq,
        take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        const RUNS: &str = "SELECT first, last, before, link, records FROM @run WHERE branch = $1 AND first <= $3 \
             AND first >= coalesce((SELECT max(o.first) FROM @run o WHERE o.branch = $1 AND o.first <= $2), $2) \
             ORDER BY first LIMIT 256";
        let bound: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&own.branch.cast_signed(), &column(from), &column(own.last)];
        for row in self.0.rows(RUNS, &bound, Some(4))? {
            // If the entry `from` is missing, the run found before it ends too early.
            if number(&row, 1)? >= from {
                take_run(&row, take)?;
            }
        }
        Ok(())
    }

    fn anchor(&self, own: Own, before: Digest, wanted: Seq) -> Result<(Seq, Digest), StoreError> {
        const ANCHOR: &str = "SELECT first, before FROM @run WHERE branch = $1 AND first <= $2 \
                              ORDER BY first DESC LIMIT 1";
        if wanted <= own.first {
            return Ok((own.first, before));
        }
        let rows = self.0.rows(ANCHOR, &[&own.branch.cast_signed(), &column(wanted)], None)?;
        rows.first().map_or(Ok((own.first, before)), |row| Ok((number(row, 0)?, digest(row, 1)?)))
    }

    fn find_key(
        &self,
        branch: &Branch,
        idempotency_key: &IdempotencyKey,
    ) -> Result<Option<RangeInclusive<Seq>>, StoreError> {
        match self.find_slot(branch, idempotency_key)? {
            Slot::Taken(keyed) => Ok(Some(keyed)),
            Slot::Free(_) => Ok(None),
        }
    }

    fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        super::access::find(&self.0, hash)
    }

    fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        super::access::find_all(&self.0, hashes)
    }

    fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        super::access::of_match(&self.0, &self.found_match(match_name)?)
    }

    fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        let grants = self.grants_of(match_name)?;
        Ok(grants.iter().any(|(_, grant)| grant.kind.seat() == Some(seat) && grant.is_live(now_ms)))
    }

    fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        let grants = self.grants_of(match_name)?;
        Ok(grants.iter().any(|(_, grant)| grant.kind.played() == Some(seat) && grant.is_live(now_ms)))
    }

    fn names_of(
        &self,
        match_name: &MatchName,
        now_ms: i64,
    ) -> Result<BTreeMap<Seat, GrantLabel>, StoreError> {
        Ok(self.grants_of(match_name)?.into_iter().collect::<MatchGrants>().names(now_ms))
    }

    fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        super::notes::of_match(&self.0, &self.found_match(match_name)?)
    }

    fn at_one_moment(&self, read: ReadAtOneMoment<'_>) -> Result<(), RescueError> {
        self.0.at_one_moment(read)
    }

    fn auditable(
        &self,
        found_match: &FoundMatch,
    ) -> Result<(Vec<Auditable>, Option<StoreError>), StoreError> {
        let rows = all_branch_rows(&self.0, &found_match.name)?;
        let mut branches = Vec::new();
        for row in rows.iter().filter(|row| row.try_get::<_, i64>(3).is_ok()) {
            branches.push((name(row, 4)?, branch_in(row, found_match.clone())));
        }
        let missing = (!branches.iter().any(|(name, _): &Auditable| name.is_main())).then(|| {
            StoreError::damaged("it is missing").within(&found_match.name, Some(&BranchName::main()))
        });
        Ok((branches, missing))
    }

    fn audit_kept(&self, branch: &Branch, keys: KeyedEntries) -> Result<Vec<DamagedRecord>, StoreError> {
        check::audit_kept(&self.0, branch, &keys)
    }

    fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        check::check(self, &self.0, observe)
    }

    fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        check::stats(&self.0, top, observe)
    }
}
