//! Snapshots, which spare folding a history from its first entry.

use turnfold_core::{AnyRules, AnyState, Digest};
use turnfold_store::{BranchName, MatchName, SNAPSHOT_INTERVAL, Snapshot, Store, StoreReader};

use crate::error::ReplayError;
use crate::history::Sources;
use crate::history::revision::Revision;
use crate::history::source::HistorySource;

impl HistorySource {
    /// Stores the snapshots that are due after entry `after` up to entry `head`; these entries were just appended.
    ///
    /// Snapshots spare readers folding the whole log. They are a cache, so a failure is only traced.
    pub fn keep_snapshots(revision: &Revision, after: u64, head: u64, sources: &dyn Sources, store: &Store) {
        let last = head - head % SNAPSHOT_INTERVAL;
        if last <= after || !store.has_snapshots() {
            return;
        }
        let revision = revision.at(last);
        let kept = HistorySource::of_branch(&revision, store, sources.registry(), sources.build())
            .and_then(|source| source.state(Some(store)));
        if let Err(error) = kept {
            tracing::debug!(%error, "snapshots could not be kept");
        }
    }
}

/// The snapshots due among entries that are folded before they are stored.
#[derive(Default)]
pub struct Passed(Vec<Snapshot>);

impl Passed {
    /// Notes the state after entry `seq`.
    pub fn note(&mut self, seq: u64, state: &dyn AnyState) {
        self.0.extend(due(seq, state));
    }

    /// Stores the snapshots for the main branch of a match that was just created with these entries and rules.
    pub fn keep(&self, match_name: &MatchName, rules: &dyn AnyRules, sources: &dyn Sources, store: &Store) {
        let Some(build) = sources.build() else { return };
        let Some(build) = build_with(&build, rules) else { return };
        for snapshot in &self.0 {
            if let Err(error) = store.keep_snapshot(match_name, &BranchName::main(), snapshot, &build) {
                tracing::debug!(%error, "a snapshot could not be kept");
            }
        }
    }
}

pub(super) fn due(seq: u64, state: &dyn AnyState) -> Option<Snapshot> {
    if !seq.is_multiple_of(SNAPSHOT_INTERVAL) {
        return None;
    }
    Some(Snapshot { seq, rolls: state.rolls(), state: state.state_bytes() })
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

type Resumed = (u64, Box<dyn AnyState>);

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
