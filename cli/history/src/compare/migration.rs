//! Migration: a match continues under another version of its ruleset if every outcome stays the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnfold_core::registry::NoRules;
use turnfold_core::rules::desk::Desk;
use turnfold_core::{AnyRules, DicePolicy, Registry, Rules};
use turnfold_store::{BranchCopy, BranchInfo, Genesis, MatchName, Store, StoreReader};

use super::RecordedLog;
use crate::{ReplayError, Revision, find_rules, in_order, recorded_rules};

/// A copy of a match under another version of its ruleset, with the same setup, branches and entries.
pub struct MigratedMatch {
    /// The rules of that version.
    pub rules: Arc<dyn AnyRules>,
    /// The beginning of the copy. The last of its origins is the match that it continues.
    pub genesis: Genesis,
    /// The branches, parents first.
    pub branches: Vec<BranchCopy>,
    /// Whether the outcomes were compared, because the registry has both versions. Otherwise it is only known that
    /// every command is still accepted and every seeded roll is right.
    pub compares_outcomes: bool,
}

impl MigratedMatch {
    /// Folds every branch of a match by this version of its ruleset, or by the newest, and compares it as
    /// [`RecordedLog::first_difference`] does. The result is a function of the match and the version, down to the id.
    /// The caller states whether the match has a desk, because papers are bound to the match.
    ///
    /// # Errors
    /// [`ReplayError::NotTheSame`] at the first difference. [`ReplayError::Unusable`] for an unknown version, for the
    /// match's own version, and for a match whose id must not change. [`ReplayError::NoRules`] for an unknown ruleset,
    /// or if the newest version is older and was not named. Any error of reading the match.
    pub fn of(
        store: &StoreReader,
        name: &MatchName,
        version: Option<u32>,
        has_desk: bool,
        registry: &Registry,
    ) -> Result<Self, ReplayError> {
        let genesis = store.genesis(name)?;
        let rules = rules_of_version(name, &genesis, version, registry)?;
        require_movable(name, &genesis, has_desk)?;
        let mut branches = Vec::new();
        let infos = parents_first(store.branches(name)?);
        for BranchInfo { name: branch, parent, head, .. } in &infos {
            let log = store.read(name, branch, Some(*head))?;
            let forked_at = parent.as_ref().map_or(0, |(_, at)| *at);
            let own = log.entries.iter().filter(|entry| entry.seq > forked_at).cloned().collect();
            branches.push(BranchCopy { name: branch.clone(), parent: parent.clone(), entries: own });
            let revision = Revision { match_name: name.clone(), branch: branch.clone(), seq: None };
            let recorded = RecordedLog::of_store(&revision, log, Some(rules.clone()), registry)?;
            if let Some(found) = recorded.first_difference()? {
                return Err(ReplayError::NotTheSame(format!(
                    "`{}` is not the same under version {}: {}: {}",
                    recorded.name,
                    rules.version(),
                    found.divergence.subject,
                    found.group
                )));
            }
        }
        let Some((main, others)) = infos.split_first() else {
            return Err(ReplayError::Changed(format!("`{name}`")));
        };
        let others: Vec<_> = others.iter().map(|info| (info.name.clone(), info.head_link)).collect();
        let origin = genesis.origin(main.head, main.head_link);
        Ok(Self {
            compares_outcomes: recorded_rules(&genesis, registry).is_ok(),
            genesis: Genesis {
                played_by: rules.module(),
                ..genesis.migrated(rules.version(), origin, &others)
            },
            rules,
            branches,
        })
    }

    /// Creates the copy under a name, in one step. Does nothing if the store already has it under that name.
    ///
    /// # Errors
    /// [`ReplayError::Refused`] if the store has the copy under another name; every error of [`Store::copy_match`].
    pub fn create(&self, store: &Store, new: &MatchName) -> Result<(), ReplayError> {
        for info in store.matches_after(None)? {
            let info = info?;
            if info.genesis.match_id != self.genesis.match_id {
                continue;
            }
            if info.name == *new {
                return Ok(());
            }
            let version = self.rules.version();
            let message = format!("the match was migrated to version {version} before, as `{}`", info.name);
            return Err(ReplayError::Refused(message));
        }
        Ok(store.copy_match(new, &self.genesis, self.branches.clone())?)
    }

    /// Returns the number of entries, each counted only on the branch that it was appended to.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.branches.iter().map(|branch| branch.entries.len() as u64).sum()
    }
}

fn rules_of_version(
    name: &MatchName,
    genesis: &Genesis,
    version: Option<u32>,
    registry: &Registry,
) -> Result<Arc<dyn AnyRules>, ReplayError> {
    let newest = find_rules(&genesis.ruleset, registry)?;
    let asked = version.unwrap_or(newest.version());
    let ruleset = &genesis.ruleset;
    let rules = match registry.resolve(ruleset, asked, None) {
        Ok(rules) => rules,
        Err(NoRules::OtherVersion { .. }) => {
            let newest = newest.version();
            let message = format!("this build has no version {asked} of `{ruleset}`; its newest is {newest}");
            return Err(ReplayError::Unusable(message));
        }
        Err(cause) => return Err(cause.into()),
    };
    let recorded = genesis.ruleset_version;
    if asked == recorded {
        let message = format!("match `{name}` is of version {asked} of `{ruleset}` already");
        return Err(ReplayError::Unusable(message));
    }
    // An older version must be named by the caller.
    if version.is_none() && asked < recorded {
        let cause = NoRules::OtherVersion { name: ruleset.clone(), recorded, known: asked };
        return Err(ReplayError::NoRules(Some(name.clone()), Box::new(cause)));
    }
    Ok(rules)
}

/// Refuses a match whose id must not change: papers and fair dice are bound to the id, and a pin to the module.
fn require_movable(name: &MatchName, genesis: &Genesis, has_desk: bool) -> Result<(), ReplayError> {
    if genesis.module.is_some() {
        let why = "pins the module that it is played with";
        return Err(ReplayError::Unusable(format!("`{name}` {why}")));
    }
    let is_desk = genesis.ruleset == Desk::NAME;
    let is_fair = matches!(genesis.dice, DicePolicy::Fair(_));
    if is_desk || is_fair || has_desk {
        let why = "is played by mail, and its papers are bound to the match as it is";
        return Err(ReplayError::Unusable(format!("`{name}` {why}")));
    }
    Ok(())
}

fn parents_first(infos: Vec<BranchInfo>) -> Vec<BranchInfo> {
    let mut parents = BTreeMap::new();
    let mut by_name = BTreeMap::new();
    for info in infos {
        parents.insert(info.name.clone(), info.parent.as_ref().map(|(parent, _)| parent.clone()));
        by_name.insert(info.name.clone(), info);
    }
    let order = in_order(&parents).unwrap_or_default();
    order.iter().filter_map(|name| by_name.remove(name)).collect()
}
