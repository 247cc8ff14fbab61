//! Rebuilds a store from parts, and requires each part to continue the chain of the earlier ones.

use std::collections::BTreeMap;

use turnfold_core::Digest;

use super::error::RescueError;
use super::part::{BackupBranch, BackupPart, Totals};
use crate::ancestry::Ancestry;
use crate::chain::{self, Linker};
use crate::engine::{Append, Engine, NewBranch, NewMatch};
use crate::entry::{Entry, NewEntry, PackedEntries, Seq, check_size};
use crate::genesis::{GENESIS_BYTES_MAX, Genesis};
use crate::names::{BranchName, IdempotencyKey, MatchName};
use crate::note::Note;

/// How many entries, or bytes of entries, are collected before they are appended. A client's append is never split.
const APPEND_ENTRIES: usize = 4096;
const APPEND_BYTES: usize = 1 << 20;

/// Rebuilds an empty store from parts.
pub(crate) struct Rebuild<'a> {
    store: &'a dyn Engine,
    linker: Linker,
    current: Option<CurrentMatch>,
    totals: Totals,
}

struct CurrentMatch {
    name: MatchName,
    genesis: Genesis,
    branches_left: u64,
    /// Whether the new store has the match. It is created together with its first entries.
    is_created: bool,
    branch: Option<CurrentBranch>,
    /// The names of the branches so far, their numbers in the ancestry, and the ancestry.
    names: Vec<BranchName>,
    indexes: BTreeMap<BranchName, usize>,
    ancestry: Ancestry,
}

struct CurrentBranch {
    part: BackupBranch,
    /// The last entry read, and the link after it.
    seq: Seq,
    link: Digest,
    /// The last entry appended. Later ones are in `waiting`.
    appended: Seq,
    waiting: Vec<Entry>,
    bytes: usize,
}

impl CurrentMatch {
    /// Returns the branch that has entry `seq` of `branch` as its own.
    fn holder(&self, branch: &BranchName, seq: Seq) -> Option<&BranchName> {
        self.names.get(self.ancestry.holder(*self.indexes.get(branch)?, seq))
    }

    fn add(&mut self, part: &BackupBranch) {
        let parent = part.parent.as_ref().and_then(|(parent, _)| self.indexes.get(parent).copied());
        let index = self.ancestry.add(parent, part.forked_at().saturating_add(1));
        self.names.push(part.name.clone());
        self.indexes.insert(part.name.clone(), index);
    }
}

impl<'a> Rebuild<'a> {
    pub(crate) fn new(store: &'a dyn Engine) -> Self {
        Self { store, linker: Linker::new(), current: None, totals: Totals::default() }
    }

    /// Adds the next part. Returns the totals once the part is the end.
    pub(crate) fn take(&mut self, part: &BackupPart<'_>) -> Result<Option<Totals>, RescueError> {
        match part {
            BackupPart::Match { name, branches, genesis } => self.begin_match(name, *branches, genesis)?,
            BackupPart::Branch(part) => self.begin_branch(part)?,
            BackupPart::Entries(entries) => self.take_entries(entries)?,
            BackupPart::Module(module) => self.take_module(*module)?,
            BackupPart::Note(note) => self.take_note(note)?,
            BackupPart::End(totals) => {
                self.end_match()?;
                if *totals != self.totals {
                    return Err(RescueError::damaged("it does not hold as much as it says at its end"));
                }
                return Ok(Some(self.totals));
            }
        }
        self.totals.count(part);
        Ok(None)
    }

    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Adds the position up to which the parts were sound to an error about damage.
    pub(crate) fn locate(&self, error: RescueError) -> RescueError {
        let RescueError::DamagedBackup { match_name: None, reason, .. } = error else { return error };
        let current = self.current.as_ref();
        let branch = current.and_then(|current| current.branch.as_ref());
        RescueError::DamagedBackup {
            match_name: current.map(|current| current.name.clone()),
            branch: branch.map(|branch| branch.part.name.clone()),
            seq: branch.map(|branch| branch.seq + 1),
            reason,
        }
    }

    fn begin_match(&mut self, name: &MatchName, branches: u64, genesis: &[u8]) -> Result<(), RescueError> {
        self.end_match()?;
        let decoded = match Genesis::decode(genesis) {
            Ok(decoded) => decoded,
            Err(error) => return Err(RescueError::damaged(format!("a genesis: {error}"))),
        };
        check_size("a genesis", genesis.len(), GENESIS_BYTES_MAX)?;
        self.current = Some(CurrentMatch {
            name: name.clone(),
            genesis: decoded,
            branches_left: branches,
            is_created: false,
            branch: None,
            names: Vec::new(),
            indexes: BTreeMap::new(),
            ancestry: Ancestry::default(),
        });
        Ok(())
    }

    fn take_module(&mut self, module: Digest) -> Result<(), RescueError> {
        let current = self.current.as_mut().filter(|current| current.branch.is_none() && !current.is_created);
        match current.map(|current| &mut current.genesis) {
            // MD-9: the recorded module of the match that has just begun.
            Some(genesis) if genesis.only_module().is_none() => {
                genesis.played_by = Some(module);
                Ok(())
            }
            _ => Err(RescueError::damaged("a module has no match")),
        }
    }

    fn take_note(&mut self, note: &Note) -> Result<(), RescueError> {
        self.end_branch()?;
        let current = self.current.as_ref();
        let Some(current) = current.filter(|current| current.is_created && current.branches_left == 0) else {
            return Err(RescueError::damaged("a note has no match"));
        };
        Ok(self.store.write_note(&current.name, note.clone(), true)?)
    }

    fn end_match(&mut self) -> Result<(), RescueError> {
        self.end_branch()?;
        match &self.current {
            Some(current) if !current.is_created || current.branches_left > 0 => {
                Err(RescueError::damaged("branches are missing"))
            }
            _ => {
                self.current = None;
                Ok(())
            }
        }
    }

    fn begin_branch(&mut self, part: &BackupBranch) -> Result<(), RescueError> {
        self.end_branch()?;
        let Some(current) = &mut self.current else {
            return Err(RescueError::damaged("a branch has no match"));
        };
        let Some(branches_left) = current.branches_left.checked_sub(1) else {
            return Err(RescueError::damaged("there is a branch too many"));
        };
        let before = match &part.parent {
            None if part.name.is_main() && !current.is_created => {
                chain::genesis_link(&current.genesis.encode())
            }
            Some((parent, at)) if current.is_created => {
                let match_name = current.name.clone();
                let name = part.name.clone();
                let from = parent.clone();
                self.store.create_branch(NewBranch { match_name, name, from, at: *at }, Vec::new().into())?;
                let reader = self.store.reader();
                let holder = current.holder(parent, *at).unwrap_or(parent);
                reader.found_branch(&current.name, holder)?.link_at(reader.as_ref(), *at)?
            }
            _ => return Err(RescueError::damaged("branches are in disorder")),
        };
        if before != part.before {
            return Err(RescueError::damaged("the chain of entries does not lead to where a branch begins"));
        }
        current.add(part);
        let seq = part.forked_at();
        let part = part.clone();
        let waiting = Vec::new();
        let branch = CurrentBranch { part, seq, link: before, appended: seq, waiting, bytes: 0 };
        current.branches_left = branches_left;
        current.branch = Some(branch);
        Ok(())
    }

    fn take_entries(&mut self, entries: &[&[u8]]) -> Result<(), RescueError> {
        let current = self.current.as_mut();
        let Some(branch) = current.and_then(|current| current.branch.as_mut()) else {
            return Err(RescueError::damaged("entries have no branch"));
        };
        for bytes in entries {
            let entry = Entry::decode(bytes).map_err(|error| RescueError::damaged(error.to_string()))?;
            if entry.seq != branch.seq + 1 || entry.seq > branch.part.head {
                let reason = format!("expected entry {}, found entry {}", branch.seq + 1, entry.seq);
                return Err(RescueError::damaged(reason));
            }
            branch.link = self.linker.link(&branch.link, bytes);
            branch.seq = entry.seq;
            branch.bytes += bytes.len();
            branch.waiting.push(entry);
        }
        if branch.waiting.len() >= APPEND_ENTRIES || branch.bytes >= APPEND_BYTES {
            self.append(false)?;
        }
        Ok(())
    }

    fn end_branch(&mut self) -> Result<(), RescueError> {
        let current = self.current.as_mut();
        let Some(branch) = current.and_then(|current| current.branch.as_mut()) else { return Ok(()) };
        if branch.seq != branch.part.head {
            let reason =
                format!("expected entries up to {}, found them up to {}", branch.part.head, branch.seq);
            return Err(RescueError::damaged(reason));
        }
        if branch.link != branch.part.link {
            return Err(RescueError::damaged("the chain of entries does not lead to the head's link"));
        }
        self.append(true)?;
        if let Some(current) = &mut self.current {
            current.branch = None;
        }
        Ok(())
    }

    /// Appends the waiting entries. The last ones keep waiting if they have a key and more entries with it may follow.
    fn append(&mut self, all_have_come: bool) -> Result<(), RescueError> {
        let Some(CurrentMatch { name, genesis, is_created, branch: Some(branch), .. }) = &mut self.current
        else {
            return Ok(());
        };
        let mut rest = std::mem::take(&mut branch.waiting);
        branch.bytes = 0;
        while let Some(shared) = rest.first().map(|entry| entry.idempotency_key.clone()) {
            let count = rest.iter().take_while(|entry| entry.idempotency_key == shared).count();
            if count == rest.len() && shared.is_some() && !all_have_come {
                break;
            }
            let after = rest.split_off(count);
            branch.appended =
                append(self.store, (name, genesis, is_created), (branch, rest), shared.as_ref())?;
            rest = after;
        }
        branch.waiting = rest;
        if all_have_come && !*is_created {
            self.store.create_match(NewMatch::of(name, genesis, PackedEntries::default()))?;
            *is_created = true;
        }
        Ok(())
    }
}

fn append(
    store: &dyn Engine,
    (match_name, genesis, is_created): (&MatchName, &Genesis, &mut bool),
    (branch, entries): (&CurrentBranch, Vec<Entry>),
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<Seq, RescueError> {
    let head = branch.appended + entries.len() as u64;
    let mut packed = PackedEntries::default();
    for Entry { seat, command, recorded_at_ms, .. } in entries {
        packed.push(&NewEntry { seat, command, recorded_at_ms });
    }
    let entries = packed;
    entries.check_sizes()?;
    if !*is_created {
        *is_created = true;
        if idempotency_key.is_none() {
            store.create_match(NewMatch::of(match_name, genesis, entries))?;
            return Ok(head);
        }
        store.create_match(NewMatch::of(match_name, genesis, PackedEntries::default()))?;
    }
    let appended = store.append(Append {
        match_name: match_name.clone(),
        branch: branch.part.name.clone(),
        expected_id: None,
        expected_head: branch.appended,
        entries,
        module: None,
        idempotency_key: idempotency_key.cloned(),
    })?;
    if appended.repeated {
        return Err(RescueError::damaged("an idempotency key stands for two appends"));
    }
    Ok(head)
}
