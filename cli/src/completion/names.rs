//! The names in a store, for completion: read without a lock, and nothing is written.

use std::path::Path;

use turnfold_store::StoreReader;

/// How many names are offered, at most.
const NAMES_MAX: usize = 1000;

/// Returns the matches of a store or, with a match, its branches as `MATCH@BRANCH`; `None` if they cannot be read.
pub(super) fn revisions(dir: &Path, of_match: Option<&str>) -> Option<Vec<String>> {
    let store = StoreReader::open(dir).ok()?;
    let names = if let Some(match_name) = of_match {
        let branches = store.branches(&match_name.parse().ok()?).ok()?;
        branches.iter().take(NAMES_MAX).map(|branch| format!("{match_name}@{}", branch.name)).collect()
    } else {
        let matches = store.matches_after(None).ok()?.take(NAMES_MAX);
        matches.map_while(Result::ok).map(|info| info.name.to_string()).collect()
    };
    Some(names)
}
