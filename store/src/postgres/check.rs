//! Audits all tables without using rules, and counts their contents (FL-22).

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use super::read::{Ask, get, name, number};
use super::run::{first_slot, next_slot};
use super::spread;
use crate::audit::{Audited, audit};
use crate::backup::part::Totals;
use crate::engine::{DamagedRecord, EngineReader, KeyedEntries};
use crate::error::StoreError;
use crate::reader::branch::Branch;
use crate::reader::store_report::{Damage, MatchStats, StoreCheck, StoreStats};

/// Checks that the runs of a branch follow each other, and that their slots match the idempotency keys of their
/// entries. Returns the damage found.
pub(super) fn audit_kept(
    ask: &impl Ask,
    branch: &Branch,
    keys: &KeyedEntries,
) -> Result<Vec<DamagedRecord>, StoreError> {
    const RUNS: &str = "SELECT first, last, key FROM @run WHERE branch = $1 AND first > $2 AND first <= $3 \
                        ORDER BY first LIMIT 4096";
    let mut damage = Vec::new();
    let mut slots = BTreeMap::new();
    let mut next = branch.found.forked_at() + 1;
    let head = branch.head.seq;
    let mut after = 0;
    loop {
        let bound: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&branch.found.id.cast_signed(), &super::read::column(after), &super::read::column(head)];
        let rows = ask.rows(RUNS, &bound, None)?;
        for row in &rows {
            let first = number(row, 0)?;
            let last = number(row, 1)?;
            if first != next {
                damage.push((Some(next.min(first)), "its runs leave a gap or overlap".to_owned()));
            }
            if let Some(slot) = get::<Option<i64>>(row, 2)? {
                slots.insert(slot, first);
            }
            (next, after) = (last + 1, first);
        }
        if rows.len() < 4096 {
            break;
        }
    }
    let mut without_key: BTreeSet<_> = slots.values().copied().collect();
    for (key, (first, _)) in keys {
        let meant = iter::successors(Some(first_slot(key)), |slot| Some(next_slot(*slot)));
        let mut taken = meant.map_while(|slot| slots.get(&slot));
        if taken.any(|found| found == first) {
            without_key.remove(first);
        } else {
            damage.push((Some(*first), format!("the idempotency key `{key}` is missing")));
        }
    }
    for first in without_key {
        let reason = "its run has an idempotency key that its entries do not carry";
        damage.push((Some(first), reason.to_owned()));
    }
    Ok(damage)
}

pub(super) fn check(
    engine: &dyn EngineReader,
    ask: &impl Ask,
    observe: &mut dyn FnMut(Totals),
) -> Result<StoreCheck, StoreError> {
    const STRAY: &str = "SELECT count(*) FROM @run r \
        WHERE NOT EXISTS (SELECT FROM @branch b WHERE b.no = r.branch)";
    const NOWHERE: &str =
        "SELECT count(*) FROM @branch b WHERE NOT EXISTS (SELECT FROM @match m WHERE m.id = b.match)";
    let mut sound = Totals::default();
    let mut damage = Vec::<Damage>::new();
    for found in engine.match_names()? {
        let match_name = found?;
        let before = damage.len();
        let audited = audit(engine, &match_name, &mut |audited| match audited {
            Audited::Sound(branch) => {
                sound.branches += 1;
                sound.entries += branch.own_entries;
            }
            Audited::Damaged(found) => damage.push(found),
            _ => {}
        });
        match audited {
            // The match was deleted after it was listed.
            Err(StoreError::NoSuchMatch { .. }) => continue,
            done => done?,
        }
        sound.matches += u64::from(damage.len() == before);
        observe(sound);
    }
    for (sql, what) in [
        (STRAY, "runs belong to no branch: `store check --sweep` removes them"),
        (NOWHERE, "branches belong to no match"),
    ] {
        let count = ask.rows(sql, &[], None)?.first().map_or(Ok(0), |row| number(row, 0))?;
        if count > 0 {
            let reason = format!("{count} {what}");
            damage.push(Damage { match_name: None, branch: None, seq: None, reason });
        }
    }
    Ok(StoreCheck { sound, damage })
}

pub(super) fn stats(
    ask: &impl Ask,
    top: usize,
    observe: &mut dyn FnMut(Totals),
) -> Result<StoreStats, StoreError> {
    const COUNT: &str = "SELECT count(DISTINCT b.no), count(r.first), \
        coalesce(sum(r.last - r.first + 1), 0)::bigint, coalesce(sum(octet_length(r.records)), 0)::bigint, \
        (SELECT count(*) FROM @match) FROM @branch b \
        LEFT JOIN @run r ON r.branch = b.no";
    const LARGEST: &str = "SELECT m.name, (SELECT count(*) FROM @branch c WHERE c.match = m.id), \
        coalesce(sum(r.last - r.first + 1), 0)::bigint AS entries, coalesce(sum(octet_length(r.records)), 0)::bigint \
        FROM @match m JOIN @branch b ON b.match = m.id LEFT JOIN @run r ON r.branch = b.no \
        GROUP BY m.id, m.name ORDER BY entries DESC, m.name LIMIT $1";
    let mut stats = StoreStats::default();
    let is_spread = ask.is_spread();
    if let Some(row) = ask.rows(if is_spread { spread::COUNT } else { COUNT }, &[], None)?.first() {
        stats.totals =
            Totals { matches: number(row, 4)?, branches: number(row, 0)?, entries: number(row, 2)? };
        (stats.pages, stats.entries_on_pages, stats.entry_bytes) =
            (number(row, 1)?, number(row, 2)?, number(row, 3)?);
    }
    let top = i64::try_from(top).unwrap_or(i64::MAX);
    for row in ask.rows(if is_spread { spread::LARGEST } else { LARGEST }, &[&top], None)? {
        stats.largest.push(MatchStats {
            name: name(&row, 0)?,
            branches: number(&row, 1)?,
            entries: number(&row, 2)?,
            entry_bytes: number(&row, 3)?,
        });
    }
    observe(stats.totals);
    Ok(stats)
}
