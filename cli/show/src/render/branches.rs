//! The branches of a match, as `branch MATCH` prints them.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use turnfold_core::Digest;
use turnfold_history::text::{Line, counted, dim, plain, strong};
use turnfold_store::{BranchInfo, BranchName};

/// A branch of a list. Its JSON form is that of `branch MATCH --format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedBranch {
    /// Its name.
    pub branch: BranchName,
    /// The number of its last entry.
    pub entries: u64,
    /// Where it begins; `None` for `main`.
    pub from: Option<Fork>,
    /// Whether the match continues on this branch (SV-65).
    pub current: bool,
    /// The link after its last entry, if the viewer may know it.
    #[serde(deserialize_with = "read_link")]
    pub link: Option<Digest>,
}

/// Where a branch begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The branch it begins on.
    pub branch: BranchName,
    /// The entry after which it begins.
    pub seq: u64,
}

fn read_link<'de, D: Deserializer<'de>>(stored: D) -> Result<Option<Digest>, D::Error> {
    match Option::<String>::deserialize(stored)? {
        Some(link) => link.parse().map(Some).map_err(D::Error::custom),
        None => Ok(None),
    }
}

impl ListedBranch {
    /// Returns a branch of a match as it is listed; `current` is the one on which the match continues.
    #[must_use]
    pub fn of(info: BranchInfo, current: &BranchName) -> Self {
        let is_current = info.name == *current;
        let BranchInfo { name: branch, head: entries, parent, head_link } = info;
        let from = parent.map(|(branch, seq)| Fork { branch, seq });
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
            Some(Fork { branch, seq }) => format!(", from {branch}:{seq}"),
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
