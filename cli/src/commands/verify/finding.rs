//! Prints a finding about a match as a line.

use turnfold_history::Finding;
use turnfold_store::BranchName;

use crate::output::{Line, plain, removed};

pub(super) fn finding_line(name: &str, finding: &Finding) -> Line {
    let place = place(name, finding.branch.as_ref(), finding.seq);
    [removed(finding.kind), plain(format_args!(" {place}: {}", finding.message))].into()
}

/// Returns a place in the form of a revision.
pub(crate) fn place(name: &str, branch: Option<&BranchName>, seq: Option<u64>) -> String {
    let branch = branch.map(|branch| format!("@{branch}")).unwrap_or_default();
    let seq = seq.map(|seq| format!(":{seq}")).unwrap_or_default();
    format!("{name}{branch}{seq}")
}
