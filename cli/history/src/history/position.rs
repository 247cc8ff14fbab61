//! States of a history, reached from the nearest snapshot instead of the first entry.

use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry};
use turnfold_store::{BranchName, Genesis, MatchName, SNAPSHOT_INTERVAL, Snapshot, Store, StoreReader};

use crate::error::ReplayError;
use crate::history::Sources;
use crate::history::entry::{LogEntry, logged};
use crate::history::revision::{Revision, SourceName};
use crate::history::{broken_entry, broken_setup, rules_of};
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::ViewedEntry;

/// A state of a history, and the entries from there to the revision.
pub struct Position {
    /// The name of the history in messages.
    pub name: SourceName,
    /// The rules that fold it.
    pub rules: Arc<dyn AnyRules>,
    /// Where rolls come from.
    pub dice: DicePolicy,
    /// The number of the branch's last entry, which may come after the revision.
    pub head: u64,
    /// The state.
    pub state: Box<dyn AnyState>,
    /// The entries that follow the state.
    pub entries: Vec<LogEntry>,
}

/// Which entries to return from the end of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// The most entries.
    pub count: u64,
    /// The number of the first entry that may be among them.
    pub first: u64,
}

impl Tail {
    /// Returns a tail of the last `count` entries.
    #[must_use]
    pub fn last(count: u64) -> Self {
        Self { count, first: 1 }
    }

    /// Returns the number of the entry before this tail, in a history that ends at entry `to`.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`] if the tail would begin after the entry that follows `to`.
    pub fn before(self, name: &SourceName, to: u64) -> Result<u64, ReplayError> {
        let before = self.first.saturating_sub(1);
        if before > to {
            let name = name.up_to(None);
            return Err(ReplayError::NoEntry { history: name, seq: self.first, head: to });
        }
        Ok(before.max(to.saturating_sub(self.count)))
    }
}

impl Position {
    /// Finds the state before the last entries of a revision, and reads these entries.
    ///
    /// # Errors
    /// As for [`before_entries_of`](Self::before_entries_of).
    pub fn before(tail: Tail, revision: &Revision, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let store = sources.read_store()?;
        let build = sources.build();
        Self::before_entries_of(tail, revision, sources.registry(), &store, build.as_ref(), None)
    }

    /// Returns the state of a revision.
    ///
    /// # Errors
    /// As for [`before`](Self::before).
    pub fn seek(revision: &Revision, sources: &dyn Sources) -> Result<Box<dyn AnyState>, ReplayError> {
        Ok(Self::before(Tail::last(0), revision, sources)?.state)
    }

    /// Does what [`before`](Self::before) does with a store that is open already. `keeper`, the same store opened for
    /// writing, keeps the snapshots that are due on the way.
    ///
    /// # Errors
    /// [`ReplayError::NoEntry`]; otherwise [`ReplayError`] if the store, the rules, the setup or an entry cannot be
    /// used.
    pub fn before_entries_of(
        tail: Tail,
        revision: &Revision,
        registry: &Registry,
        store: &StoreReader,
        build: Option<&Digest>,
        keeper: Option<&Store>,
    ) -> Result<Self, ReplayError> {
        let Revision { match_name, branch, seq } = revision;
        let beginning = store.read(match_name, branch, Some(0))?;
        let rules = rules_of(&beginning.genesis, revision, registry)?;
        let Genesis { setup, dice, .. } = beginning.genesis;
        let name = SourceName::Revision(revision.clone());
        let to = seq.unwrap_or(beginning.head);
        let target = tail.before(&name, to)?;
        let build = build.and_then(|build| build_with(build, &*rules));
        let (mut at, mut state) = match resume(&*rules, revision, store, target, build.as_ref())? {
            Some(resumed) => resumed,
            None => (0, rules.start(&setup).map_err(|cause| broken_setup(&name, cause))?),
        };
        let mut entries = store.entries(match_name, branch, at + 1..=to)?;
        while at < target {
            let until = target.min(at - at % SNAPSHOT_INTERVAL + SNAPSHOT_INTERVAL);
            let run = (&mut entries).take(usize::try_from(until - at).unwrap_or(usize::MAX));
            let run = run.map(|entry| entry.map(LogEntry::from)).collect::<Result<Vec<_>, _>>()?;
            state.fold(&logged(&run), &dice, &mut |_| {}).map_err(|cause| broken_entry(&name, cause))?;
            at = until;
            if let (Some(build), Some(keeper)) = (&build, keeper)
                && at.is_multiple_of(SNAPSHOT_INTERVAL)
            {
                let snapshot = Snapshot { seq: at, rolls: state.rolls(), state: state.state_bytes() };
                keeper.keep_snapshot(match_name, branch, &snapshot, build)?;
            }
        }
        let entries = entries.map(|entry| entry.map(LogEntry::from)).collect::<Result<_, _>>()?;
        Ok(Self { name, rules, dice, head: beginning.head, state, entries })
    }

    /// Folds the entries after the state and passes each to `observe` as the host sees it.
    ///
    /// # Errors
    /// [`ReplayError::Entry`].
    pub fn fold(&mut self, observe: &mut dyn FnMut(&mut ViewedEntry<'_>)) -> Result<(), ReplayError> {
        self.fold_shown(Viewer::HOST, observe)
    }

    /// Folds the entries after the state and passes each to `observe` for a viewer. All of them must be wholly shown to
    /// this viewer, so that their numbers are those of the log.
    ///
    /// # Errors
    /// [`ReplayError::Entry`].
    pub fn fold_shown(
        &mut self,
        viewer: Viewer,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let Self { name, dice, state, entries, .. } = self;
        let folded = Viewer::HOST.fold_entries(state.as_mut(), entries, dice, &mut |entry, step| {
            observe(&mut ViewedEntry { viewer, seq: entry.seq, step, entry, is_own: false });
        });
        folded.map_err(|cause| broken_entry(name, cause))
    }
}

/// Stores the snapshots that are due after entry `after` up to entry `head`; these entries were just appended.
///
/// Snapshots spare readers folding the whole log. They are a cache, so a failure is only traced.
pub fn keep_snapshots(revision: &Revision, after: u64, head: u64, sources: &dyn Sources, store: &Store) {
    let last = head - head % SNAPSHOT_INTERVAL;
    if last <= after || !store.has_snapshots() {
        return;
    }
    let revision = revision.at(last);
    let build = sources.build();
    let kept = Position::before_entries_of(
        Tail::last(0),
        &revision,
        sources.registry(),
        store,
        build.as_ref(),
        Some(store),
    );
    if let Err(error) = kept {
        tracing::debug!(%error, "snapshots could not be kept");
    }
}

/// The snapshots due among entries that are folded before they are stored.
#[derive(Default)]
pub struct Passed(Vec<Snapshot>);

impl Passed {
    /// Notes the state after entry `seq`.
    pub fn note(&mut self, seq: u64, state: &dyn AnyState) {
        if seq.is_multiple_of(SNAPSHOT_INTERVAL) {
            self.0.push(Snapshot { seq, rolls: state.rolls(), state: state.state_bytes() });
        }
    }

    /// Stores the snapshots for the main branch of a match that was just created with these entries and rules.
    pub fn keep(&self, match_name: &MatchName, rules: &dyn AnyRules, sources: &dyn Sources, store: &Store) {
        let Some(build) = sources.build().and_then(|build| build_with(&build, rules)) else { return };
        for snapshot in &self.0 {
            if let Err(error) = store.keep_snapshot(match_name, &BranchName::main(), snapshot, &build) {
                tracing::debug!(%error, "a snapshot could not be kept");
            }
        }
    }
}

/// Returns the build that snapshots of these rules belong to. It includes the module that folds them, because no other
/// module may resume from its states (MD-9). Returns `None` for a referee, because its rules can change unnoticed
/// (RF-14).
pub(super) fn build_with(build: &Digest, rules: &dyn AnyRules) -> Option<Digest> {
    if rules.referee().is_some() {
        return None;
    }
    let Some(module) = rules.module() else { return Some(*build) };
    let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 build with module");
    hasher.update(build.as_bytes()).update(module.as_bytes());
    Some(hasher.finalize().into())
}

/// The number of an entry and the state after it.
type Resumed = (u64, Box<dyn AnyState>);

/// Returns the state of the last usable snapshot at or before entry `to`, if there is one.
pub(super) fn resume(
    rules: &dyn AnyRules,
    revision: &Revision,
    store: &StoreReader,
    to: u64,
    build: Option<&Digest>,
) -> Result<Option<Resumed>, ReplayError> {
    let Some(build) = build else { return Ok(None) };
    let Some(snapshot) = store.find_snapshot(&revision.match_name, &revision.branch, to, build)? else {
        return Ok(None);
    };
    match rules.resume(&snapshot.state, snapshot.rolls) {
        Ok(state) => Ok(Some((snapshot.seq, state))),
        Err(error) => {
            tracing::debug!(%error, seq = snapshot.seq, "a snapshot that is no state is passed over");
            Ok(None)
        }
    }
}
