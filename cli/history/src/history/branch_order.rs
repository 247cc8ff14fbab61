//! The order in which branches are listed and copied: each after the one that it begins on.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_store::BranchName;

/// Puts branches in order: parents first, those that may come next by name. `None` where there is no such
/// order.
#[must_use]
pub fn in_order(parents: &BTreeMap<BranchName, Option<BranchName>>) -> Option<Vec<BranchName>> {
    let mut waiting: BTreeMap<Option<&BranchName>, Vec<&BranchName>> = BTreeMap::new();
    for (name, parent) in parents {
        waiting.entry(parent.as_ref()).or_default().push(name);
    }
    let mut ready: BTreeSet<&BranchName> = waiting.remove(&None)?.into_iter().collect();
    let mut ordered = Vec::new();
    while let Some(next) = ready.pop_first() {
        ready.extend(waiting.remove(&Some(next)).unwrap_or_default());
        ordered.push(next.clone());
    }
    (ordered.len() == parents.len()).then_some(ordered)
}
