//! Reading (FL-17). Each query is one statement, so that its answer is as of one moment.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use turnfold_core::Digest;
use uuid::Uuid;

use super::connect::{Bound, Connection, ConnectionPool};
use super::fault::StatementFault;
use super::held::{HeldHeads, Names};
use super::spread;
use crate::backup::error::RescueError;
use crate::decode::decode_exactly;
use crate::engine::{Packed, ReadAtOneMoment};
use crate::entry::Seq;
use crate::error::{Placed, StoreError};
use crate::names::{BranchName, MatchName};
use crate::reader::branch::{Branch, EngineMatchId, FoundBranch, FoundMatch, Head, NamedBranch, Parent};

pub(super) trait Ask: Send + Sync {
    /// Returns the rows of a statement. If a column is `weighed`, it stops once the bytes in that column reach
    /// [`BYTES_MAX`].
    fn rows(
        &self,
        sql: &'static str,
        bound: Bound<'_>,
        weighed: Option<usize>,
    ) -> Result<Vec<Row>, StoreError>;

    /// Returns the heads that this process knows, or `None` if all is read as of one moment.
    fn held(&self) -> Option<&HeldHeads>;

    fn is_spread(&self) -> bool;

    /// Starts a new moment, as of which everything is read from now on.
    fn renew(&self) -> Result<(), StoreError>;

    fn at_one_moment(&self, read: ReadAtOneMoment<'_>) -> Result<(), RescueError>;
}

pub(super) struct ReadingEngine<A>(pub(super) A);

pub(super) struct Newest {
    pub(super) pool: Arc<ConnectionPool>,
    pub(super) held: HeldHeads,
}

struct Moment<'a>(Mutex<&'a mut Connection>);

/// The number of bytes of entries at which an answer ends (FL-17).
const BYTES_MAX: usize = 4 << 20;

fn begin_moment(connection: &mut Connection) -> Result<(), StatementFault> {
    connection.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; \
         SET LOCAL idle_in_transaction_session_timeout = 0",
    )?;
    if connection.is_spread() {
        // One connection to each server, so that each answers from one snapshot.
        connection.run("SET LOCAL citus.max_adaptive_executor_pool_size = 1")?;
    }
    Ok(())
}

fn collect(
    connection: &mut Connection,
    sql: &'static str,
    bound: Bound<'_>,
    weighed: Option<usize>,
) -> Result<Vec<Row>, StatementFault> {
    let Some(column) = weighed else { return connection.query(sql, bound) };
    let mut rows = Vec::new();
    let mut bytes = 0;
    connection.each(sql, bound, &mut |row| {
        bytes += get::<&[u8]>(&row, column)?.len();
        rows.push(row);
        Ok(bytes < BYTES_MAX)
    })?;
    Ok(rows)
}

impl Ask for Newest {
    fn rows(
        &self,
        sql: &'static str,
        bound: Bound<'_>,
        weighed: Option<usize>,
    ) -> Result<Vec<Row>, StoreError> {
        let rows = self.pool.until_answered(|connection, _| collect(connection, sql, bound, weighed));
        // Reading records nothing.
        rows.map_err(|error| match error {
            StoreError::Unavailable { reason, .. } => StoreError::Unavailable { reason, maybe: false },
            other => other,
        })
    }

    fn held(&self) -> Option<&HeldHeads> {
        Some(&self.held)
    }

    fn is_spread(&self) -> bool {
        self.pool.is_spread()
    }

    fn renew(&self) -> Result<(), StoreError> {
        Ok(()) // Each statement has a moment of its own.
    }

    fn at_one_moment(&self, read: ReadAtOneMoment<'_>) -> Result<(), RescueError> {
        let mut failed = None;
        let done = self.pool.once(|connection| {
            begin_moment(connection)?;
            failed = read(&ReadingEngine(Moment(Mutex::new(connection)))).err();
            connection.run("COMMIT")
        });
        match (failed, done) {
            (Some(error), _) => Err(error),
            (None, done) => Ok(done.map_err(|fault| fault.ended(false))?),
        }
    }
}

impl Ask for Moment<'_> {
    fn rows(
        &self,
        sql: &'static str,
        bound: Bound<'_>,
        weighed: Option<usize>,
    ) -> Result<Vec<Row>, StoreError> {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        collect(&mut connection, sql, bound, weighed).map_err(|fault| fault.ended(false))
    }

    fn held(&self) -> Option<&HeldHeads> {
        None
    }

    fn is_spread(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_spread()
    }

    fn renew(&self) -> Result<(), StoreError> {
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = connection.run("COMMIT").and_then(|()| begin_moment(&mut connection));
        begun.map_err(|fault| fault.ended(false))
    }

    fn at_one_moment(&self, _: ReadAtOneMoment<'_>) -> Result<(), RescueError> {
        let reason = "a backup begins inside another".to_owned();
        Err(StoreError::Database { reason }.into())
    }
}

pub(super) fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column).map_err(|error| StoreError::damaged(format!("a row cannot be read: {error}")))
}

pub(super) fn number(row: &Row, column: usize) -> Result<u64, StoreError> {
    u64::try_from(get::<i64>(row, column)?).map_err(|_| StoreError::damaged("a row has a number below 0"))
}

pub(super) fn digest(row: &Row, column: usize) -> Result<Digest, StoreError> {
    let bytes = <[u8; 32]>::try_from(get::<&[u8]>(row, column)?);
    bytes.map(Digest::new).map_err(|_| StoreError::damaged("a link does not have 32 bytes"))
}

pub(super) fn name<T: std::str::FromStr<Err = turnfold_core::Malformed>>(
    row: &Row,
    column: usize,
) -> Result<T, StoreError> {
    get::<&str>(row, column)?
        .parse()
        .map_err(|error: turnfold_core::Malformed| StoreError::damaged(error.to_string()))
}

pub(super) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn uuid(id: EngineMatchId) -> Uuid {
    Uuid::from_u128(id.0)
}

macro_rules! branches {
    ($with:literal, $rest:literal) => {
        concat!(
            "SELECT m.id, m.genesis, (SELECT count(*) FROM @branch c WHERE c.match = m.id), b.no, b.name, b.parent, \
             p.name, b.at, b.before, h.last, h.link, m.module FROM @match m LEFT JOIN @branch b ON b.match = m.id ",
            $with,
            " LEFT JOIN @branch p ON p.match = b.match AND p.no = b.parent LEFT JOIN LATERAL (SELECT r.last, r.link \
             FROM @run r WHERE r.branch = b.no ORDER BY r.first DESC LIMIT 1) h ON true \
             WHERE m.name = $1 ",
            $rest
        )
    };
}

const BRANCH: &str = branches!("AND b.name = $2", "");

const BRANCHES: &str = branches!("", "ORDER BY b.name");

/// Returns the row of a branch, or no row if the match is gone. If only the branch is gone, the row has no branch
/// number.
pub(super) fn branch_rows(ask: &impl Ask, names: &Names) -> Result<Vec<Row>, StoreError> {
    if ask.is_spread() {
        return spread::branch(ask, names);
    }
    ask.rows(BRANCH, &[&names.0.as_str(), &names.1.as_str()], None)
}

/// Returns a row for each branch of a match, or one row without a branch number if there is no branch.
pub(super) fn all_branch_rows(ask: &impl Ask, match_name: &MatchName) -> Result<Vec<Row>, StoreError> {
    if ask.is_spread() {
        return spread::branches(ask, match_name);
    }
    ask.rows(BRANCHES, &[&match_name.as_str()], None)
}

pub(super) fn match_in(row: &Row, name: &MatchName) -> Result<FoundMatch, StoreError> {
    let id = EngineMatchId(get::<Uuid>(row, 0)?.as_u128());
    let module = row.try_get::<_, Option<&[u8]>>("module").ok().flatten();
    let module = module.map(|bytes| bytes.try_into().map(Digest::new));
    let module = module
        .transpose()
        .map_err(|_| StoreError::damaged("its module is no digest of 32 bytes").within(name, None))?;
    Ok(FoundMatch { name: name.clone(), id, branches: number(row, 2)?, genesis: get(row, 1)?, module })
}

/// Reads a branch and its head from a row of one of the queries above.
pub(super) fn branch_in(row: &Row, found_match: FoundMatch) -> Result<Branch, StoreError> {
    let name: BranchName = name(row, 4)?;
    let (found, head) = found_in(row, &name, found_match.link()).within(&found_match.name, Some(&name))?;
    Ok(Branch { found_match, found, head })
}

fn found_in(row: &Row, name: &BranchName, link: Digest) -> Result<(FoundBranch, Head), StoreError> {
    let at = number(row, 7)?;
    let before = digest(row, 8)?;
    let parent = match (get::<Option<i64>>(row, 5)?, get::<Option<String>>(row, 6)?) {
        (Some(id), Some(name)) => Some(Parent { name, id: id.cast_unsigned(), at, link: before }),
        (None, None) => None,
        _ => return Err(StoreError::damaged("the branch it begins on is missing")),
    };
    if parent.is_none() != name.is_main() || parent.is_none() && (at != 0 || before != link) {
        return Err(StoreError::damaged("it does not begin where it can"));
    }
    let found = FoundBranch { name: name.clone(), id: number(row, 3)?, parent, before };
    let head = match get::<Option<i64>>(row, 9)? {
        Some(_) => Head { seq: number(row, 9)?, link: digest(row, 10)? },
        None => Head { seq: at, link: before },
    };
    Ok((found, head))
}

/// Passes the entries of a run to `take`. The row has the first and last seq, the links before and after, and the
/// records.
pub(super) fn take_run(
    row: &Row,
    take: &mut dyn FnMut(&Packed<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let first = number(row, 0)?;
    take(&run_in(row, first).at(first)?)
}

fn run_in(row: &Row, first: Seq) -> Result<Packed<'_>, StoreError> {
    let last = number(row, 1)?;
    let records: Vec<&[u8]> = match decode_exactly(get::<&[u8]>(row, 4)?) {
        Ok(records) => records,
        Err(error) => return Err(StoreError::damaged(format!("its run: {error}"))),
    };
    if records.len() as u64 != last.saturating_sub(first).saturating_add(1) {
        let count = records.len();
        return Err(StoreError::damaged(format!("its run has {count} entries and claims to end at {last}")));
    }
    Ok(Packed { first, before: Some(digest(row, 2)?), records, after: Some(digest(row, 3)?) })
}

/// The maximum number of branches in a statement.
const BRANCHES_MAX: usize = 1000;

/// The index and the head of each listed branch that still has its names.
const HEADS: &str = "SELECT n.index, coalesce(h.last, b.at) \
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS n(index, branch, match_name, branch_name) \
     JOIN @branch b ON b.no = n.branch AND b.name = n.branch_name \
     JOIN @match m ON m.id = b.match AND m.name = n.match_name \
     LEFT JOIN LATERAL (SELECT r.last FROM @run r WHERE r.branch = n.branch \
     ORDER BY r.first DESC LIMIT 1) h ON true";

/// Returns the heads of branches in the given order (FL-19), or `None` for a branch that is gone or has another name.
pub(super) fn heads(ask: &impl Ask, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
    let mut heads = Vec::with_capacity(branches.len());
    for portion in branches.chunks(BRANCHES_MAX) {
        let indexes: Vec<_> = (0_i64..).take(portion.len()).collect();
        let numbers: Vec<_> = portion.iter().map(|named| named.id.branch.cast_signed()).collect();
        let match_names: Vec<_> = portion.iter().map(|named| MatchName::as_str(&named.match_name)).collect();
        let names: Vec<_> = portion.iter().map(|named| BranchName::as_str(&named.branch)).collect();
        let bound: Bound<'_> = &[&indexes, &numbers, &match_names, &names];
        let found = if ask.is_spread() {
            spread::heads(ask, bound)?
        } else {
            let rows = ask.rows(HEADS, bound, None)?;
            let found = rows.iter().map(|row| Ok((get::<i64>(row, 0)?, number(row, 1)?)));
            found.collect::<Result<BTreeMap<_, _>, StoreError>>()?
        };
        heads.extend(indexes.iter().map(|index| found.get(index).copied()));
    }
    Ok(heads)
}
