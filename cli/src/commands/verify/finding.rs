//! What is wrong with a match, in a line.

use turnfold_history::Finding;
use turnfold_store::BranchName;

use crate::output::{Line, plain, removed};

/// Returns the line about what is wrong.
pub(super) fn finding_line(name: &str, finding: &Finding) -> Line {
    let place = place(name, finding.branch.as_ref(), finding.seq);
    [removed(finding.kind), plain(format_args!(" {place}: {}", finding.message))].into()
}

/// Writes where something was found, as revisions are written.
pub(crate) fn place(name: &str, branch: Option<&BranchName>, seq: Option<u64>) -> String {
    let branch = branch.map(|branch| format!("@{branch}")).unwrap_or_default();
    let seq = seq.map(|seq| format!(":{seq}")).unwrap_or_default();
    format!("{name}{branch}{seq}")
}
