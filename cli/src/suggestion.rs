//! Suggestions for a match name that does not exist.

use turnfold_history::Sources;
use turnfold_history::search::name_like;
use turnfold_store::MatchName;

use crate::advice::{about_bundle, about_file};
use crate::context::Workspace;
use crate::failure::Failure;

/// The most matches to compare with, because an error should not be delayed by a guess.
const NAMES_MAX: usize = 1000;

pub(crate) fn about_match(failure: Failure, workspace: &Workspace) -> Failure {
    if failure.is_store_missing
        && let Some((what, hint)) = workspace.named.iter().find_map(|name| about_file(name))
    {
        return Failure::usage(format!("{what}, not a match, and there is no store here")).hint(hint);
    }
    let Some(name) = failure.missing_match.clone() else { return failure };
    let name = name.as_str();
    if let Some((what, hint)) = about_file(name) {
        return failure.hint(format!("{what}: {hint}"));
    }
    if let Some((_, "bundle" | "tfb")) = name.rsplit_once('.') {
        return failure.hint(about_bundle(name));
    }
    let Ok(store) = workspace.read_store() else { return failure };
    let Ok(matches) = store.matches_after(None) else { return failure };
    let mut names = Vec::new();
    for found in matches.take(NAMES_MAX) {
        let Ok(found) = found else { break };
        names.push(found.name);
    }
    let Some(like) = name_like(names.iter().map(MatchName::as_str), name) else { return failure };
    failure.hint(format!("did you mean `{like}`? `turnfold matches` lists those there are"))
}
