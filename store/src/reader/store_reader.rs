//! A store open for reading: its matches, branches, entries and snapshots, the audit and grants. Processes that keep states in
//! memory ask what others wrote (FL-18, FL-19).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use turnfold_core::{Digest, Seat};

use super::branch::{Branch, BranchHead, BranchId, NamedBranch};
use super::entries::Entries;
use super::store_report::{Damage, MatchInfo, StoreCheck, StoreStats};
use crate::backup::part::Totals;
use crate::engine::{EngineReader, Results};
use crate::entry::{Entry, Seq};
use crate::error::{Placed, StoreError};
use crate::genesis::Genesis;
use crate::grant::Grant;
use crate::local::open::open_for_reading;
use crate::names::{BranchName, GrantLabel, MatchName};
use crate::note::Note;
use crate::snapshots::{SNAPSHOT_INTERVAL, Snapshot};

/// A store of matches, open for reading. It has no method that changes the store.
///
/// A reader that [`open`](StoreReader::open) opens never changes the journal (ST-5). A small journal is read into memory
/// (ST-23). Otherwise, if the locks are free and the store was closed cleanly, the reader holds them and uses the index,
/// and no [`Store`](crate::Store) can be opened before the reader is dropped. In all other cases, for example next to a
/// writer, it reads the journal into memory (ST-16).
#[derive(Clone)]
pub struct StoreReader {
    pub(crate) engine: Arc<dyn EngineReader>,
}

impl StoreReader {
    /// Opens an existing store for reading only.
    ///
    /// # Errors
    /// Returns the errors of [`Store::open`](crate::Store::open).
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self { engine: Arc::new(open_for_reading(dir).map_err(StoreError::unopened)?) })
    }

    /// Audits everything stored, without rules: every record, the numbering and chain of every branch, idempotency keys
    /// and grants. It also requires the right number of matches, branches and entries, and no record without an owner.
    ///
    /// On disk it reads every commit of the journal too, and compares the index with it. `observe` receives the
    /// progress.
    ///
    /// # Errors
    /// Returns errors of reading other than damage. Damage is listed in the result.
    pub fn check(&self, observe: &mut dyn FnMut(Totals)) -> Result<StoreCheck, StoreError> {
        // Records that are deleted during the audit would look missing or without an owner.
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.check(observe)
    }

    /// Reads every commit of the journal and returns the first damage. Readers do not notice that damage while they use
    /// a sound index. A store in a database has no journal.
    ///
    /// # Errors
    /// Returns errors of reading other than damage.
    pub fn hidden_damage(&self) -> Result<Option<Damage>, StoreError> {
        match self.engine.prove() {
            Ok(()) => Ok(None),
            Err(StoreError::Corrupt { match_name, branch, seq, reason }) => {
                Ok(Some(Damage { match_name, branch, seq, reason }))
            }
            Err(error) => Err(error),
        }
    }

    /// Counts what is stored in each match, and returns the `top` largest matches.
    ///
    /// # Errors
    /// Returns any error of reading. Entries are counted without checking the chain.
    pub fn stats(&self, top: usize, observe: &mut dyn FnMut(Totals)) -> Result<StoreStats, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.engine.stats(top, observe)
    }

    /// Finds the grant of a token by the token's hash, even if the grant is revoked, spent or expired.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] if the grant cannot be read.
    pub fn find_grant(&self, hash: &Digest) -> Result<Option<Grant>, StoreError> {
        self.engine.find_grant(hash)
    }

    /// Lists the grants of a match with their hashes, including revoked, spent and expired ones.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a grant cannot be read.
    pub fn grants_of(&self, match_name: &MatchName) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.grants_of(match_name)
    }

    /// Returns `true` if a player's seat has a live grant or an unspent invitation, so that it is or may yet be played.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn is_taken(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_taken(match_name, seat, now_ms)
    }

    /// Returns `true` if a player's seat has a live grant, so that no one else can join there.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn is_played(&self, match_name: &MatchName, seat: Seat, now_ms: i64) -> Result<bool, StoreError> {
        self.engine.is_played(match_name, seat, now_ms)
    }

    /// Returns the names of the players of a match who joined under a name and still have their seats.
    ///
    /// # Errors
    /// Returns the errors of [`grants_of`](StoreReader::grants_of).
    pub fn names_of(
        &self,
        match_name: &MatchName,
        now_ms: i64,
    ) -> Result<BTreeMap<Seat, GrantLabel>, StoreError> {
        self.engine.names_of(match_name, now_ms)
    }

    /// Returns all notes on a match in the order of writing, private ones included (SV-61). Deleting a branch deletes
    /// the notes on its entries.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a note cannot be read.
    pub fn notes_of(&self, match_name: &MatchName) -> Result<Vec<Note>, StoreError> {
        self.engine.notes_of(match_name)
    }
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StoreReader").finish_non_exhaustive()
    }
}

/// A branch, as [`StoreReader::branches`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchInfo {
    /// Its name.
    pub name: BranchName,
    /// The parent branch and the last entry from it; `None` for `main`.
    pub parent: Option<(BranchName, Seq)>,
    /// The seq of its last entry.
    pub head: Seq,
    /// The link after its last entry.
    pub head_link: Digest,
}

impl StoreReader {
    /// Returns the setup of a match.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or any error of reading.
    pub fn genesis(&self, name: &MatchName) -> Result<Genesis, StoreError> {
        self.engine.found_match(name)?.genesis()
    }

    /// Lists the branches of a match: `main`, then the others by name.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], or [`StoreError::Corrupt`] if a branch cannot be read or is missing.
    pub fn branches(&self, match_name: &MatchName) -> Result<Vec<BranchInfo>, StoreError> {
        let _branches = self.engine.hold_branches();
        let (_, branches) = self.engine.branches(match_name)?;
        let mut infos = Vec::new();
        for Branch { found, head, .. } in branches {
            let parent = found.parent_name();
            let parent = parent.within(match_name, Some(&found.name))?;
            let parent = parent.map(|name| (name, found.forked_at()));
            infos.push(BranchInfo { name: found.name, parent, head: head.seq, head_link: head.link });
        }
        infos.sort_by(|left, right| left.name.main_first().cmp(&right.name.main_first()));
        Ok(infos)
    }

    /// Returns the seq of a branch's last entry.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading.
    pub fn head(&self, match_name: &MatchName, branch: &BranchName) -> Result<Seq, StoreError> {
        self.engine.found_branch(match_name, branch).map(|branch| branch.head.seq)
    }
}

/// The entries of a branch up to its head or to an earlier entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The setup of the match.
    pub genesis: Genesis,
    /// The branch's head when it was read, even if `entries` ends earlier.
    pub head: Seq,
    /// The entries, from the first one on.
    pub entries: Vec<Entry>,
}

impl StoreReader {
    /// Reads entries one after another, the ancestors' entries first. Iteration ends with the first error.
    ///
    /// Each entry is checked against the chain from the nearest stored link before the range. If the range begins at
    /// the first entry, the whole chain is checked.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], [`StoreError::NoSuchSeq`] if the range ends
    /// behind the head, or any error of reading. The iterator returns [`StoreError::Corrupt`] if the log is damaged.
    pub fn entries(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        range: RangeInclusive<Seq>,
    ) -> Result<Entries<'_>, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        branch.require(*range.end())?;
        branch.entries(self.engine.as_ref(), range)
    }

    /// Returns the link after each entry of a range, checked like [`entries`](StoreReader::entries). If the range
    /// begins at 0, the link of the setup is the first.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries) and of its iterator.
    pub fn links(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        range: RangeInclusive<Seq>,
    ) -> Result<Vec<Digest>, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        branch.require(*range.end())?;
        let mut links = Vec::new();
        if range.contains(&0) {
            links.push(branch.link_at(self.engine.as_ref(), 0)?);
        }
        let mut entries = branch.entries(self.engine.as_ref(), range)?;
        while let Some(linked) = entries.next_linked() {
            links.push(linked?.1);
        }
        Ok(links)
    }

    /// Reads a branch from its first entry to `to`, or to its head.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries) and of its iterator.
    pub fn read(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        to: Option<Seq>,
    ) -> Result<Log, StoreError> {
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        let to = to.unwrap_or(branch.head.seq);
        branch.require(to)?;
        let genesis = branch.found_match.genesis()?;
        let entries = branch.entries(self.engine.as_ref(), 1..=to)?;
        Ok(Log { genesis, head: branch.head.seq, entries: entries.collect::<Result<_, _>>()? })
    }
}

impl StoreReader {
    /// Lists all matches by name. [`matches_after`](StoreReader::matches_after) needs less memory.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] for the first match that cannot be read, or if matches are missing.
    pub fn matches(&self) -> Result<Vec<MatchInfo>, StoreError> {
        let _matches = self.engine.hold_matches();
        let _branches = self.engine.hold_branches();
        self.matches_after(None)?.collect()
    }

    /// Reads matches one after another by name; if `after` is given, only those after that name. Iteration ends with
    /// the first error.
    ///
    /// Missing matches are noticed only when all matches are read; the error is then the last item. A match that is
    /// renamed or deleted during the iteration may appear under either name, or not at all.
    ///
    /// # Errors
    /// Returns [`StoreError::Corrupt`] if the store's own record cannot be read. The iterator returns it for a match
    /// that cannot be read.
    pub fn matches_after(&self, after: Option<&MatchName>) -> Result<Matches<'_>, StoreError> {
        Ok(Matches(self.engine.matches_after(after)?))
    }
}

/// An iterator over matches, which [`StoreReader::matches_after`] returns.
pub struct Matches<'a>(Results<'a, MatchInfo>);

impl Iterator for Matches<'_> {
    type Item = Result<MatchInfo, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

impl fmt::Debug for Matches<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Matches").finish_non_exhaustive()
    }
}

impl StoreReader {
    /// Returns `true` if other processes may write to the store while this one has it open.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.engine.is_shared()
    }

    /// Returns the branch that has this name now, and its last entry.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading.
    pub fn branch_head(&self, match_name: &MatchName, branch: &BranchName) -> Result<BranchHead, StoreError> {
        let branch = self.engine.found_branch(match_name, branch)?;
        Ok(BranchHead { id: BranchId::of(&branch), seq: branch.head.seq })
    }

    /// Returns the last seq of each branch, in the order of `branches`; `None` for a branch that was deleted or
    /// renamed.
    ///
    /// # Errors
    /// Returns any error of reading.
    pub fn heads(&self, branches: &[NamedBranch]) -> Result<Vec<Option<Seq>>, StoreError> {
        self.engine.heads(branches)
    }

    /// Reads entries like [`entries`](StoreReader::entries), but only if the name still belongs to this branch.
    ///
    /// # Errors
    /// Returns the errors of [`entries`](StoreReader::entries), or [`StoreError::NoSuchBranch`] if another branch has
    /// the name now.
    pub fn entries_of(
        &self,
        named: &NamedBranch,
        range: RangeInclusive<Seq>,
    ) -> Result<Entries<'_>, StoreError> {
        let NamedBranch { match_name, branch, id } = named;
        let _branches = self.engine.hold_branches();
        let branch = self.engine.found_branch(match_name, branch)?;
        if BranchId::of(&branch) != *id {
            let (match_name, branch) = branch.names();
            return Err(StoreError::NoSuchBranch { match_name, branch });
        }
        branch.require(*range.end())?;
        branch.entries(self.engine.as_ref(), range)
    }

    /// Looks up grants by token hash. Missing grants are skipped.
    ///
    /// # Errors
    /// Returns the errors of [`find_grant`](StoreReader::find_grant).
    pub fn find_grants(&self, hashes: &[Digest]) -> Result<Vec<(Digest, Grant)>, StoreError> {
        self.engine.find_grants(hashes)
    }
}

impl StoreReader {
    /// Returns `true` if the store can keep snapshots. A store in a database cannot.
    #[must_use]
    pub fn has_snapshots(&self) -> bool {
        self.engine.snapshots().is_some()
    }

    /// Finds the last snapshot of a branch at or before entry `to` that `build` made.
    ///
    /// The snapshot was kept after exactly these entries. Only folding them can prove that its state is right.
    ///
    /// # Errors
    /// Returns [`StoreError::NoSuchMatch`], [`StoreError::NoSuchBranch`], or any error of reading the log. An
    /// unreadable snapshot is no error.
    pub fn find_snapshot(
        &self,
        match_name: &MatchName,
        branch: &BranchName,
        to: Seq,
        build: &Digest,
    ) -> Result<Option<Snapshot>, StoreError> {
        let Some(snapshots) = self.engine.snapshots().filter(|snapshots| snapshots.exist()) else {
            return Ok(None);
        };
        let branch = self.engine.found_branch(match_name, branch)?;
        let to = to.min(branch.head.seq);
        let mut seq = to - to % SNAPSHOT_INTERVAL;
        while seq > 0 {
            let name = branch.link_at(self.engine.as_ref(), seq)?;
            if let Some(snapshot) = snapshots.read(&name, seq, Some(build)) {
                return Ok(Some(snapshot));
            }
            seq -= SNAPSHOT_INTERVAL;
        }
        Ok(None)
    }
}
