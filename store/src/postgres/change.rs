//! Making, renaming and deleting matches and branches.

use turnfold_core::Digest;
use uuid::Uuid;

use super::connect::Connection;
use super::engine::Fleet;
use super::fault::Fault;
use super::insert::statement;
use super::read::{Ask as _, column, get, uuid};
use super::run::{Runs, end_of, pack};
use super::schema::{branch_number, new_id};
use crate::chain;
use crate::engine::{Append, Engine, EngineReader, NewBranch};
use crate::entry::NewEntry;
use crate::error::StoreError;
use crate::grant::{GrantId, JoinedSeat, NewGrant};
use crate::names::{BranchName, MatchName};
use crate::reader::found::{Head, MatchId};
use crate::reader::line::BranchId;
use crate::reader::report::Appended;
use std::sync::Arc;

impl Engine for Fleet {
    fn reader(&self) -> Arc<dyn EngineReader> {
        Arc::<super::read::Reading<super::read::Newest>>::clone(&self.reading)
    }

    fn create_match(
        &self,
        match_name: &MatchName,
        genesis: Vec<u8>,
        entries: Vec<NewEntry>,
    ) -> Result<(), StoreError> {
        const MATCH: &str =
            "INSERT INTO @match (name, id, genesis) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        const SAME: &str = "SELECT id FROM @match WHERE name = $1";
        let attempt = new_id()?;
        let (of, main) = (MatchId(attempt.as_u128()), BranchName::main());
        let head = Head { seq: 0, link: chain::genesis_link(&genesis) };
        let runs = pack(head, &entries, None, self.run_entries_max);
        let end = end_of(&runs, head);
        let names = (match_name.clone(), main.clone());
        let branch = branch_number(attempt);
        let runs = Runs { names: names.clone(), of, branch, attempt, all: runs };
        let is_made = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            if connection.execute(MATCH, &[&match_name.as_str(), &attempt, &genesis])? == 0 {
                connection.run("ROLLBACK")?;
                let same = connection.query(SAME, &[&match_name.as_str()])?;
                return Ok(maybe && same.iter().any(|row| row.get::<_, Uuid>(0) == attempt));
            }
            begin(connection, &runs, &main, (None, head))?;
            connection.run("COMMIT").map(|()| true)
        })?;
        if !is_made {
            return Err(StoreError::AlreadyExists { match_name: match_name.clone() });
        }
        self.held().note(names, BranchId { of, branch }, end);
        Ok(())
    }

    fn create_branch(&self, new: NewBranch, entries: Vec<NewEntry>) -> Result<(), StoreError> {
        let NewBranch { match_name, name, from, at } = new;
        let reader = self.reading.as_ref();
        let parent = reader.found_branch(&match_name, &from)?;
        let exists = || StoreError::BranchExists { match_name: match_name.clone(), branch: name.clone() };
        match reader.found_branch(&match_name, &name) {
            Ok(_) => return Err(exists()),
            Err(StoreError::NoSuchBranch { .. }) => {}
            Err(error) => return Err(error),
        }
        parent.require(at)?;
        let head = Head { seq: at, link: parent.link_at(reader, at)? };
        let attempt = new_id()?;
        let no = branch_number(attempt);
        let runs = pack(head, &entries, None, self.run_entries_max);
        let end = end_of(&runs, head);
        let (of, names) = (parent.of.id, (match_name.clone(), name.clone()));
        let runs = Runs { names: names.clone(), of, branch: no, attempt, all: runs };
        let made = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            match begin(connection, &runs, &name, (Some(parent.branch.id), head)) {
                Ok(()) => connection.run("COMMIT").map(|()| Ok(true)),
                // The parent is gone.
                Err(Fault::Referred) => {
                    connection.run("ROLLBACK")?;
                    Ok(Err(StoreError::NoSuchBranch { match_name: match_name.clone(), branch: from.clone() }))
                }
                Err(Fault::Taken) => {
                    connection.run("ROLLBACK")?;
                    let same = "SELECT no FROM @branch WHERE match = $1 AND name = $2";
                    let same = connection.query(same, &[&uuid(of), &name.as_str()])?;
                    Ok(Ok(maybe && same.iter().any(|row| row.get::<_, i64>(0) == no.cast_signed())))
                }
                Err(fault) => Err(fault),
            }
        })??;
        if !made {
            return Err(exists());
        }
        self.held().note(names, BranchId { of, branch: no }, end);
        Ok(())
    }

    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        const DELETE: &str = "DELETE FROM @branch WHERE no = $1 AND name = $2";
        let line = self.reading.found_branch(match_name, name)?;
        let no = line.branch.id.cast_signed();
        let gone = || StoreError::NoSuchBranch { match_name: match_name.clone(), branch: name.clone() };
        loop {
            let deleted = self.pool().until_answered(|connection, maybe| {
                match connection.execute(DELETE, &[&no, &name.as_str()]) {
                    Ok(count) => Ok(Some(count > 0 || maybe)),
                    Err(Fault::Referred) => Ok(None),
                    Err(fault) => Err(fault),
                }
            })?;
            match deleted {
                Some(true) => break,
                Some(false) => return Err(gone()),
                None => {
                    let children = "SELECT name FROM @branch WHERE parent = $1 ORDER BY name LIMIT 1";
                    let children = self.reading.0.rows(children, &[&no], None)?;
                    let Some(row) = children.first() else { continue };
                    let child = super::read::name(row, 0)?;
                    return Err(StoreError::BranchInUse {
                        match_name: match_name.clone(),
                        branch: name.clone(),
                        child,
                    });
                }
            }
        }
        self.sweep(&[no]);
        Ok(())
    }

    fn rename_branch(
        &self,
        match_name: &MatchName,
        name: &BranchName,
        new: &BranchName,
    ) -> Result<(), StoreError> {
        const RENAME: &str = "UPDATE @branch SET name = $3 WHERE no = $1 AND name = $2 AND $2 <> $3";
        const NOW: &str = "SELECT FROM @branch WHERE no = $1 AND name = $2";
        let line = self.reading.found_branch(match_name, name)?;
        let no = line.branch.id.cast_signed();
        let taken = || StoreError::BranchExists { match_name: match_name.clone(), branch: new.clone() };
        if name == new {
            return Err(taken());
        }
        self.pool().until_answered(|connection, maybe| {
            match connection.execute(RENAME, &[&no, &name.as_str(), &new.as_str()]) {
                Ok(1) => Ok(Ok(())),
                Ok(_) if maybe && !connection.query(NOW, &[&no, &new.as_str()])?.is_empty() => Ok(Ok(())),
                Ok(_) => {
                    Ok(Err(StoreError::NoSuchBranch { match_name: match_name.clone(), branch: name.clone() }))
                }
                Err(Fault::Taken) => Ok(Err(taken())),
                Err(fault) => Err(fault),
            }
        })?
    }

    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        let ids = |name| Ok(uuid(self.reading.found_match(name)?.id));
        let ids = names.iter().map(ids).collect::<Result<Vec<_>, StoreError>>()?;
        let mut deleted = Vec::new();
        let gone = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            for (of, name) in ids.iter().zip(names) {
                if !delete(connection, (of, name), &mut deleted)? {
                    connection.run("ROLLBACK")?;
                    return Ok((!maybe).then(|| name.clone()));
                }
            }
            connection.run("COMMIT").map(|()| None)
        })?;
        if let Some(match_name) = gone {
            return Err(StoreError::NoSuchMatch { match_name });
        }
        self.sweep(&deleted);
        Ok(())
    }

    fn rename_matches(&self, names: &[(MatchName, MatchName)]) -> Result<(), StoreError> {
        let mut renames = Vec::new();
        for (name, new) in names {
            let of = uuid(self.reading.found_match(name)?.id);
            if name == new {
                return Err(StoreError::AlreadyExists { match_name: new.clone() });
            }
            renames.push((of, name, new));
        }
        self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            for (of, name, new) in &renames {
                if let Err(error) = rename(connection, (of, name, new), maybe)? {
                    return connection.run("ROLLBACK").map(|()| Err(error));
                }
            }
            connection.run("COMMIT").map(Ok)
        })?
    }

    fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.append_runs(&append)
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        super::granting::grant(self, hash, new, now_ms)
    }

    fn join(&self, invitation: &Digest, token: &Digest, now_ms: i64) -> Result<JoinedSeat, StoreError> {
        super::granting::join(self, invitation, token, now_ms)
    }

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError> {
        super::granting::revoke(self, match_name, id, now_ms)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Deletes a match but for its runs, within a transaction, and notes the numbers of its branches; returns `false` if it is
/// not there under this name.
fn delete(
    connection: &mut Connection,
    (of, name): (&Uuid, &MatchName),
    branches: &mut Vec<i64>,
) -> Result<bool, Fault> {
    const MATCH: &str = "DELETE FROM @match WHERE id = $1 AND name = $2";
    if connection.execute(MATCH, &[of, &name.as_str()])? == 0 {
        return Ok(false);
    }
    connection.execute("DELETE FROM @access WHERE match = $1", &[of])?;
    match connection.query("DELETE FROM @branch WHERE match = $1 RETURNING no", &[of]) {
        // A branch was made just now.
        Err(Fault::Referred) => Err(Fault::Again("a branch was made at the same time".to_owned())),
        Err(fault) => Err(fault),
        Ok(rows) => {
            for row in &rows {
                branches.push(get(row, 0)?);
            }
            Ok(true)
        }
    }
}

/// Renames a match within a transaction, unless an attempt before may have done it and has.
fn rename(
    connection: &mut Connection,
    (of, name, new): (&Uuid, &MatchName, &MatchName),
    maybe: bool,
) -> Result<Result<(), StoreError>, Fault> {
    const RENAME: &str = "UPDATE @match SET name = $3 WHERE id = $1 AND name = $2";
    const NOW: &str = "SELECT FROM @match WHERE id = $1 AND name = $2";
    match connection.execute(RENAME, &[of, &name.as_str(), &new.as_str()]) {
        Ok(1) => Ok(Ok(())),
        Ok(_) if maybe && !connection.query(NOW, &[of, &new.as_str()])?.is_empty() => Ok(Ok(())),
        Ok(_) => Ok(Err(StoreError::NoSuchMatch { match_name: name.clone() })),
        Err(Fault::Taken) => Ok(Err(StoreError::AlreadyExists { match_name: new.clone() })),
        Err(fault) => Err(fault),
    }
}

/// Makes a branch with its first runs, within a transaction (FL-14).
fn begin(
    connection: &mut Connection,
    runs: &Runs,
    name: &BranchName,
    (parent, head): (Option<u64>, Head),
) -> Result<(), Fault> {
    const BRANCH: &str =
        "INSERT INTO @branch (no, match, parent, at, name, before) VALUES ($1, $2, $3, $4, $5, $6)";
    let parent = parent.map(u64::cast_signed);
    let bound: [&(dyn postgres::types::ToSql + Sync); 6] = [
        &runs.branch.cast_signed(),
        &uuid(runs.of),
        &parent,
        &column(head.seq),
        &name.as_str(),
        &head.link.as_bytes().as_slice(),
    ];
    connection.execute(BRANCH, &bound)?;
    for run in &runs.all {
        if statement(connection, &[(runs, run)])?.is_empty() {
            return Err(Fault::Again("a branch was changed while it was made".to_owned()));
        }
    }
    Ok(())
}

impl Fleet {
    /// Removes the runs of deleted branches, in portions; no reader sees those that stay (FL-15).
    fn sweep(&self, branches: &[i64]) {
        const SWEEP: &str = "DELETE FROM @run WHERE (branch, first) IN (SELECT r.branch, r.first FROM @run r \
             WHERE r.branch = ANY($1) AND NOT EXISTS (SELECT FROM @branch b WHERE b.no = r.branch) LIMIT 1000)";
        loop {
            match self.pool().once(|connection| connection.execute(SWEEP, &[&branches])) {
                Ok(0) => return,
                Ok(_) => {}
                Err(fault) => {
                    tracing::debug!(?fault, "runs of a deleted branch stay until a sweep");
                    return;
                }
            }
        }
    }

    /// Removes the runs and grants of what was deleted.
    pub(crate) fn sweep_strays(&self) -> Result<(), StoreError> {
        const RUNS: &str = "DELETE FROM @run WHERE (branch, first) IN (SELECT r.branch, r.first FROM @run r \
             WHERE NOT EXISTS (SELECT FROM @branch b WHERE b.no = r.branch) LIMIT 1000)";
        const GRANTS: &str =
            "DELETE FROM @access a WHERE NOT EXISTS (SELECT FROM @match m WHERE m.id = a.match)";
        while self.pool().until_answered(|connection, _| connection.execute(RUNS, &[]))? > 0 {}
        self.pool().until_answered(|connection, _| connection.execute(GRANTS, &[])).map(|_| ())
    }
}
