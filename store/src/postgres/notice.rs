//! Hearing of what other processes append (FL-19): the heads of many branches, asked for in one statement. There is no
//! NOTIFY, which would make all who commit wait in line.

use std::collections::BTreeMap;

use super::read::{Ask, get, number};
use crate::entry::Seq;
use crate::error::StoreError;
use crate::names::{BranchName, MatchName};
use crate::reader::named::NamedBranch;

/// The most branches of a statement.
const BRANCHES_MAX: usize = 1000;

/// The number of each branch that is still there under its name, and its head.
const HEADS: &str = "SELECT n.index, coalesce(h.last, b.at) \
     FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) AS n(index, branch, match_name, branch_name) \
     JOIN @branch b ON b.no = n.branch AND b.name = n.branch_name \
     JOIN @match m ON m.id = b.match AND m.name = n.match_name \
     LEFT JOIN LATERAL (SELECT r.last FROM @run r WHERE r.branch = n.branch \
     ORDER BY r.first DESC LIMIT 1) h ON true";

/// Returns the heads of branches, in their order; `None` for one that is gone or has another name.
pub(super) fn heads(ask: &impl Ask, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
    let mut heads = Vec::with_capacity(branches.len());
    for portion in branches.chunks(BRANCHES_MAX) {
        let indexes: Vec<_> = (0_i64..).take(portion.len()).collect();
        let numbers: Vec<_> = portion.iter().map(|named| named.id.branch.cast_signed()).collect();
        let match_names: Vec<_> = portion.iter().map(|named| MatchName::as_str(&named.match_name)).collect();
        let names: Vec<_> = portion.iter().map(|named| BranchName::as_str(&named.branch)).collect();
        let rows = ask.rows(HEADS, &[&indexes, &numbers, &match_names, &names], None)?;
        let found = rows.iter().map(|row| Ok((get::<i64>(row, 0)?, number(row, 1)?)));
        let found = found.collect::<Result<BTreeMap<_, _>, StoreError>>()?;
        heads.extend(indexes.iter().map(|index| found.get(index).copied()));
    }
    Ok(heads)
}
