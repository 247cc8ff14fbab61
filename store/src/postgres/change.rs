//! Creating, renaming and deleting matches and branches.

use turnfold_core::Digest;
use uuid::Uuid;

use super::append::new_module;
use super::begun::{Begun, begin};
use super::connect::Connection;
use super::engine::Fleet;
use super::fault::StatementFault;
use super::insert::record_module;
use super::notes;
use super::read::{Ask as _, get, uuid};
use super::schema::new_id;
use crate::engine::{Append, Engine, EngineReader, InitialBranch, KeyedBatch, NewBranch, NewMatch};
use crate::entry::NewEntries;
use crate::error::StoreError;
use crate::grant::{GrantId, JoinedSeat, NewGrant};
use crate::granting::Joining;
use crate::names::{BranchName, MatchName};
use crate::note::{Note, NoteId};
use crate::reader::branch::{BranchId, EngineMatchId, Head, NamedBranch};
use crate::reader::store_report::Appended;
use std::sync::Arc;

impl Engine for Fleet {
    fn reader(&self) -> Arc<dyn EngineReader> {
        Arc::<super::read::ReadingEngine<super::read::Newest>>::clone(&self.reading)
    }

    fn create_match(&self, new: NewMatch) -> Result<(), StoreError> {
        const MATCH: &str =
            "INSERT INTO @match (name, id, genesis, module) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        const SAME: &str = "SELECT id FROM @match WHERE name = $1";
        let NewMatch { name: match_name, genesis, module, branches } = new;
        let module = module.as_ref().map(|module| module.as_bytes().as_slice());
        let attempt = new_id()?;
        let match_id = EngineMatchId(attempt.as_u128());
        let mut begun: Vec<Begun> = Vec::new();
        for branch in branches {
            let parent =
                branch.from.as_ref().and_then(|from| begun.iter().find(|begun| begun.names.1 == *from));
            let parent = parent.map(|parent| parent.branch);
            begun.push(Begun::of(branch, (&match_name, match_id), parent, self.run_entries_max)?);
        }
        let is_made = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            if connection.execute(MATCH, &[&match_name.as_str(), &attempt, &genesis, &module])? == 0 {
                connection.run("ROLLBACK")?;
                let same = connection.query(SAME, &[&match_name.as_str()])?;
                return Ok(maybe && same.iter().any(|row| row.get::<_, Uuid>(0) == attempt));
            }
            begun.iter().try_for_each(|branch| begin(connection, branch))?;
            connection.run("COMMIT").map(|()| true)
        })?;
        if !is_made {
            return Err(StoreError::AlreadyExists { match_name });
        }
        for Begun { names, branch, end, .. } in begun {
            self.held().note(names, BranchId { match_id, branch }, end, None);
        }
        Ok(())
    }

    fn create_branch(&self, new: NewBranch, entries: NewEntries) -> Result<(), StoreError> {
        let NewEntries { entries, module } = entries;
        let NewBranch { match_name, name, from, at } = new;
        let reader = self.reading.as_ref();
        let parent = reader.found_branch(&match_name, &from)?;
        let exists = || StoreError::BranchExists { match_name: match_name.clone(), branch: name.clone() };
        let gone = || StoreError::NoSuchBranch { match_name: match_name.clone(), branch: from.clone() };
        match reader.found_branch(&match_name, &name) {
            Ok(_) => return Err(exists()),
            Err(StoreError::NoSuchBranch { .. }) => {}
            Err(error) => return Err(error),
        }
        parent.require(at)?;
        let before = Head { seq: at, link: parent.link_at(reader, at)? };
        let batches = vec![KeyedBatch { idempotency_key: None, entries }];
        let branch = InitialBranch { name: name.clone(), from: Some(from.clone()), before, batches };
        let module = new_module(Some(&parent.found_match), module)?;
        let match_id = parent.found_match.id;
        let begun = Begun::of(branch, (&match_name, match_id), Some(parent.found.id), self.run_entries_max)?;
        let made = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            if let Some(module) = &module
                && !record_module(connection, parent.found.id, module)?
            {
                connection.run("ROLLBACK")?;
                return Ok(Ok(None));
            }
            match begin(connection, &begun) {
                Ok(()) => connection.run("COMMIT").map(|()| Ok(Some(true))),
                // The parent is gone.
                Err(StatementFault::Referred) => {
                    connection.run("ROLLBACK")?;
                    Ok(Err(gone()))
                }
                Err(StatementFault::Taken) => {
                    connection.run("ROLLBACK")?;
                    let same = "SELECT no FROM @branch WHERE match = $1 AND name = $2";
                    let same = connection.query(same, &[&uuid(match_id), &name.as_str()])?;
                    let no = begun.branch.cast_signed();
                    Ok(Ok(Some(maybe && same.iter().any(|row| row.get::<_, i64>(0) == no))))
                }
                Err(fault) => Err(fault),
            }
        })??;
        match made {
            Some(true) => {}
            Some(false) => return Err(exists()),
            None => {
                new_module(Some(&self.reading.found_match(&match_name)?), module)?;
                return Err(gone());
            }
        }
        self.held().note(begun.names, BranchId { match_id, branch: begun.branch }, begun.end, None);
        Ok(())
    }

    fn delete_branch(&self, match_name: &MatchName, name: &BranchName) -> Result<(), StoreError> {
        const DELETE: &str = "DELETE FROM @branch WHERE no = $1 AND name = $2";
        let branch = self.reading.found_branch(match_name, name)?;
        let no = branch.found.id.cast_signed();
        loop {
            let deleted = self.pool().until_answered(|connection, maybe| {
                match connection.execute(DELETE, &[&no, &name.as_str()]) {
                    Ok(count) => Ok(Some(count > 0 || maybe)),
                    Err(StatementFault::Referred) => Ok(None),
                    Err(fault) => Err(fault),
                }
            })?;
            match deleted {
                Some(true) => break,
                Some(false) => {
                    let match_name = match_name.clone();
                    return Err(StoreError::NoSuchBranch { match_name, branch: name.clone() });
                }
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
        let swept = self.pool().once(|connection| {
            if notes::has_table(connection)? {
                connection.execute("DELETE FROM @note WHERE branch = $1", &[&no])?;
            }
            Ok(())
        });
        if let Err(fault) = swept {
            tracing::debug!(?fault, "notes of a deleted branch stay until a sweep");
        }
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
        let branch = self.reading.found_branch(match_name, name)?;
        let no = branch.found.id.cast_signed();
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
                Err(StatementFault::Taken) => Ok(Err(taken())),
                Err(fault) => Err(fault),
            }
        })?
    }

    fn delete_matches(&self, names: &[MatchName]) -> Result<(), StoreError> {
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            ids.push(uuid(self.reading.found_match(name)?.id));
        }
        let mut deleted = Vec::new();
        let gone = self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            for (match_id, name) in ids.iter().zip(names) {
                if !delete(connection, (match_id, name), &mut deleted)? {
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
            let match_id = uuid(self.reading.found_match(name)?.id);
            if name == new {
                return Err(StoreError::AlreadyExists { match_name: new.clone() });
            }
            renames.push((match_id, name, new));
        }
        self.pool().until_answered(|connection, maybe| {
            connection.run("BEGIN")?;
            for (match_id, name, new) in &renames {
                if let Err(error) = rename(connection, (match_id, name, new), maybe)? {
                    return connection.run("ROLLBACK").map(|()| Err(error));
                }
            }
            connection.run("COMMIT").map(Ok)
        })?
    }

    fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.append_runs(&append)
    }

    fn reserve(&self, named: &NamedBranch) -> Option<Box<dyn Send + Sync>> {
        self.reservations.reserve(named.id.branch)
    }

    fn grant(&self, hash: &Digest, new: NewGrant, now_ms: i64) -> Result<(), StoreError> {
        super::granting::grant(self, hash, new, now_ms)
    }

    fn join(&self, invitation: &Digest, joining: Joining<'_>) -> Result<JoinedSeat, StoreError> {
        super::granting::join(self, invitation, joining)
    }

    fn revoke_grant(&self, match_name: &MatchName, id: GrantId, now_ms: i64) -> Result<Digest, StoreError> {
        super::granting::revoke(self, match_name, id, now_ms)
    }

    fn write_note(&self, match_name: &MatchName, note: Note, is_moved: bool) -> Result<(), StoreError> {
        notes::write(self, match_name, note, is_moved)
    }

    fn remove_note(&self, match_name: &MatchName, id: NoteId) -> Result<(), StoreError> {
        notes::remove(self, match_name, id)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Deletes a match within a transaction, except its runs, and adds the numbers of its branches to `branches`. Returns
/// `false` if no match has this id and name.
fn delete(
    connection: &mut Connection,
    (match_id, name): (&Uuid, &MatchName),
    branches: &mut Vec<i64>,
) -> Result<bool, StatementFault> {
    const MATCH: &str = "DELETE FROM @match WHERE id = $1 AND name = $2";
    if connection.execute(MATCH, &[match_id, &name.as_str()])? == 0 {
        return Ok(false);
    }
    connection.execute("DELETE FROM @access WHERE match = $1", &[match_id])?;
    if notes::has_table(connection)? {
        connection.execute("DELETE FROM @note WHERE match = $1", &[match_id])?;
    }
    match connection.query("DELETE FROM @branch WHERE match = $1 RETURNING no", &[match_id]) {
        // A branch that begins on one of these was created at the same time.
        Err(StatementFault::Referred) => {
            Err(StatementFault::Again("a branch was made at the same time".to_owned()))
        }
        Err(fault) => Err(fault),
        Ok(rows) => {
            for row in &rows {
                branches.push(get(row, 0)?);
            }
            Ok(true)
        }
    }
}

/// Renames a match within a transaction. If an earlier attempt may have succeeded (`maybe`), a match that already has
/// the new name counts as renamed.
fn rename(
    connection: &mut Connection,
    (match_id, name, new): (&Uuid, &MatchName, &MatchName),
    maybe: bool,
) -> Result<Result<(), StoreError>, StatementFault> {
    const RENAME: &str = "UPDATE @match SET name = $3 WHERE id = $1 AND name = $2";
    const NOW: &str = "SELECT FROM @match WHERE id = $1 AND name = $2";
    match connection.execute(RENAME, &[match_id, &name.as_str(), &new.as_str()]) {
        Ok(1) => Ok(Ok(())),
        Ok(_) if maybe && !connection.query(NOW, &[match_id, &new.as_str()])?.is_empty() => Ok(Ok(())),
        Ok(_) => Ok(Err(StoreError::NoSuchMatch { match_name: name.clone() })),
        Err(StatementFault::Taken) => Ok(Err(StoreError::AlreadyExists { match_name: new.clone() })),
        Err(fault) => Err(fault),
    }
}

impl Fleet {
    /// Removes the runs of deleted branches, 1000 at a time. Runs that remain after a failure are visible to no reader
    /// (FL-15).
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

    pub(crate) fn sweep_strays(&self) -> Result<(), StoreError> {
        const RUNS: &str = "DELETE FROM @run WHERE (branch, first) IN (SELECT r.branch, r.first FROM @run r \
             WHERE NOT EXISTS (SELECT FROM @branch b WHERE b.no = r.branch) LIMIT 1000)";
        const GRANTS: &str =
            "DELETE FROM @access a WHERE NOT EXISTS (SELECT FROM @match m WHERE m.id = a.match)";
        const NOTES: &str = "DELETE FROM @note n WHERE NOT EXISTS (SELECT FROM @match m WHERE m.id = n.match) \
             OR (n.branch IS NOT NULL AND NOT EXISTS (SELECT FROM @branch b WHERE b.no = n.branch))";
        while self.pool().until_answered(|connection, _| connection.execute(RUNS, &[]))? > 0 {}
        self.pool().until_answered(|connection, _| {
            connection.execute(GRANTS, &[])?;
            if notes::has_table(connection)? {
                connection.execute(NOTES, &[])?;
            }
            Ok(())
        })
    }
}
