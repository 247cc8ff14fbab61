//! The order in which branches are listed and copied: each branch after its parent.

use std::collections::{BTreeMap, BTreeSet};

use turnfold_store::BranchName;

/// Sorts branches so that parents come first; among the branches that could come next, the first by name does. Returns
/// `None` if a parent is missing or branches form a cycle.
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
    if ordered.len() == parents.len() { Some(ordered) } else { None }
}
