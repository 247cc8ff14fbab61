//! The branches of a match, as `branch MATCH` prints them.

use serde::{Serialize, Serializer};
use turnfold_core::Digest;
use turnfold_history::text::{Line, counted, dim, plain, strong};
use turnfold_store::{BranchInfo, BranchName};

/// A branch of a list. Its JSON form is that of `branch MATCH --format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedBranch {
    /// Its name.
    pub branch: BranchName,
    /// The number of its last entry.
    pub entries: u64,
    /// The branch it begins on, and after which entry; `None` for `main`.
    #[serde(serialize_with = "as_fork")]
    pub from: Option<(BranchName, u64)>,
    /// Whether the match continues on this branch (SV-65).
    pub current: bool,
    /// The link after its last entry, if the viewer may know it.
    pub link: Option<Digest>,
}

#[derive(Serialize)]
struct Fork<'a> {
    branch: &'a BranchName,
    seq: u64,
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn as_fork<S: Serializer>(from: &Option<(BranchName, u64)>, serializer: S) -> Result<S::Ok, S::Error> {
    from.as_ref().map(|(branch, seq)| Fork { branch, seq: *seq }).serialize(serializer)
}

impl ListedBranch {
    /// Returns a branch of a match as it is listed; `current` is the one on which the match continues.
    #[must_use]
    pub fn of(info: BranchInfo, current: &BranchName) -> Self {
        let is_current = info.name == *current;
        let BranchInfo { name: branch, head: entries, parent: from, head_link } = info;
        Self { branch, entries, from, current: is_current, link: Some(head_link) }
    }
}

/// Returns the lines of a list of branches, in columns.
#[must_use]
pub fn lines(branches: &[ListedBranch]) -> Vec<Line> {
    let width = branches.iter().map(|listed| listed.branch.as_str().len()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for listed in branches {
        let entries = counted(listed.entries, "entry", "entries");
        let from = match &listed.from {
            Some((branch, seq)) => format!(", from {branch}:{seq}"),
            None => String::new(),
        };
        let name = strong(format_args!("{:width$}", listed.branch.as_str()));
        // Of most matches, that is `main`, as everyone expects.
        let goes_on =
            if listed.current && !listed.branch.is_main() { ", the match continues here" } else { "" };
        let mut line = Line::from([name, plain(format_args!("  {entries}{from}{goes_on}"))]);
        if let Some(digest) = listed.link {
            line = line.then(plain("  ")).then(dim(format_args!("link {digest:.16}")));
        }
        lines.push(line);
    }
    lines
}
