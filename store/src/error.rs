//! What can go wrong, and what to do next.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use crate::backend::{BackendError, Place};
use crate::lock::Holder;
use crate::names::{BranchName, MatchName};

/// What to do about damage.
pub const NEXT_STEP: &str = "save what is sound with `turnfold store salvage DIR NEWDIR`";

/// What a store refuses or fails to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle in this one, has the store.
    #[error("store `{}` is locked by {holder}", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
        /// Who has it, where that can be known.
        holder: Holder,
    },
    /// There is no store here.
    #[error("no store at `{}`: create a match first, or name the right directory", dir.display())]
    Missing {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// The directory is something else; nothing was written to it.
    #[error("`{}` is not a turnfold store: {reason}; use another directory", dir.display())]
    NotAStore {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The operating system does not let us write here.
    #[error("cannot write to store `{}`: {source}; check its owner and permissions", dir.display())]
    Unwritable {
        /// The store's directory.
        dir: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The store was written by a build with another format.
    #[error(
        "store `{}` has the format `{}`, this build knows `turnfold store 1`: use the build that wrote it",
        dir.display(), found.escape_debug()
    )]
    UnknownFormat {
        /// The store's directory.
        dir: PathBuf,
        /// The format it names.
        found: String,
    },
    /// The store holds less than it held before.
    #[error(
        "the store lost data: {}{} of {expected_commits} commits are missing, with {} of {expected_entries} entries; \
         {NEXT_STEP}",
        missing(last.as_ref(), *held),
        expected_commits.saturating_sub(*found_commits),
        expected_entries.saturating_sub(*found_entries)
    )]
    Lost {
        /// The commits its watermark counts.
        expected_commits: u64,
        /// The commits it holds.
        found_commits: u64,
        /// The entries its watermark counts.
        expected_entries: u64,
        /// The entries it holds.
        found_entries: u64,
        /// The last entry of the branch that was written to last.
        last: Option<Place>,
        /// How many entries of that branch the store still holds.
        held: u64,
    },
    /// Something stored is not what was written.
    #[error("corrupt store: {}{reason}; {NEXT_STEP}", place(match_name.as_ref(), branch.as_ref(), *seq))]
    Corrupt {
        /// The match concerned, where known.
        match_name: Option<MatchName>,
        /// The branch concerned, where known.
        branch: Option<BranchName>,
        /// The entry concerned, where known.
        seq: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The branch is not where the caller believes; nothing was appended.
    #[error(
        "conflict in `{match_name}@{branch}`: expected head {expected}, found {head}; look at what is new and try again"
    )]
    Conflict {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The head the caller expected.
        expected: u64,
        /// The head as it is.
        head: u64,
    },
    /// The key belongs to an append of something else; nothing was appended.
    #[error(
        "the idempotency key was used for other commands, entries {first} to {last} of `{match_name}@{branch}`; \
         choose a new key"
    )]
    KeyReused {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The first entry that carries the key.
        first: u64,
        /// The last entry that carries it.
        last: u64,
    },
    /// There is no match of this name.
    #[error("no match `{match_name}` in this store")]
    NoSuchMatch {
        /// The name.
        match_name: MatchName,
    },
    /// The match has no branch of this name.
    #[error("match `{match_name}` has no branch `{branch}`")]
    NoSuchBranch {
        /// The match.
        match_name: MatchName,
        /// The name.
        branch: BranchName,
    },
    /// The branch is shorter than that.
    #[error("`{match_name}@{branch}` has no entry {seq}: its head is {head}")]
    NoSuchSeq {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The entry asked for.
        seq: u64,
        /// The last entry there is.
        head: u64,
    },
    /// A match of this name exists.
    #[error("match `{match_name}` already exists: choose another name")]
    AlreadyExists {
        /// The name.
        match_name: MatchName,
    },
    /// The match has a branch of this name.
    #[error("match `{match_name}` already has a branch `{branch}`: choose another name")]
    BranchExists {
        /// The match.
        match_name: MatchName,
        /// The name.
        branch: BranchName,
    },
    /// Other branches begin on this one.
    #[error(
        "branch `{branch}` of match `{match_name}` cannot be deleted: branch `{child}` begins on it; delete that first"
    )]
    BranchInUse {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// A branch that begins on it.
        child: BranchName,
    },
    /// `main` is neither deleted nor renamed.
    #[error("branch `main` of match `{match_name}` cannot be {action}: every match has it")]
    MainBranch {
        /// The match.
        match_name: MatchName,
        /// What cannot be done to it.
        action: &'static str,
    },
    /// An append without entries.
    #[error("nothing to append to `{match_name}@{branch}`: give at least one command")]
    NothingToAppend {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
    },
    /// A setup or command beyond the store's limits.
    #[error("{what} of {bytes} bytes is too large: at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The store cannot be opened, and is as it was.
    #[error("cannot {action}: {source}; nothing was changed: {}", next_try(source))]
    Unopened {
        /// What was being done.
        action: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The disk is full; what was acknowledged is safe.
    #[error(
        "the store's disk is full: free some space and try again; nothing of this call was kept ({source})"
    )]
    Full {
        /// What the operating system says.
        source: io::Error,
    },
    /// Writing or syncing failed half-way.
    #[error(
        "{reason}; whether this was recorded is unknown until the store is opened again: look at its log before you \
         repeat it"
    )]
    Unsettled {
        /// What failed.
        reason: String,
    },
    /// An earlier write failed, so this handle takes no more; what was acknowledged is safe.
    #[error("the store stopped accepting writes: {reason}; open it again")]
    Failed {
        /// What failed first.
        reason: String,
    },
}

/// What an error means to whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A negative answer to a proper request, such as a conflict.
    Negative,
    /// The request names something that is not there or cannot be.
    Unusable,
    /// The store or the disk is in trouble.
    Trouble,
}

impl StoreError {
    /// Sorts the error by what it means to whoever asked.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Conflict { .. } | Self::KeyReused { .. } => ErrorKind::Negative,
            Self::NoSuchMatch { .. }
            | Self::NoSuchBranch { .. }
            | Self::NoSuchSeq { .. }
            | Self::AlreadyExists { .. }
            | Self::BranchExists { .. }
            | Self::BranchInUse { .. }
            | Self::MainBranch { .. }
            | Self::NothingToAppend { .. }
            | Self::TooLarge { .. } => ErrorKind::Unusable,
            Self::Locked { .. }
            | Self::Missing { .. }
            | Self::NotAStore { .. }
            | Self::Unwritable { .. }
            | Self::UnknownFormat { .. }
            | Self::Lost { .. }
            | Self::Corrupt { .. }
            | Self::Io { .. }
            | Self::Unopened { .. }
            | Self::Full { .. }
            | Self::Unsettled { .. }
            | Self::Failed { .. } => ErrorKind::Trouble,
        }
    }

    /// Says that a part of the store that belongs to no match is damaged.
    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Corrupt { match_name: None, branch: None, seq: None, reason: reason.into() }
    }

    /// Says of trouble that it kept the store from being opened.
    pub(crate) fn unopened(self) -> Self {
        match self {
            Self::Io { action, source } => Self::Unopened { action, source },
            other => other,
        }
    }

    /// Says which entry damage concerns.
    pub(crate) fn at(self, the_seq: u64) -> Self {
        match self {
            Self::Corrupt { match_name, branch, seq, reason } => {
                Self::Corrupt { match_name, branch, seq: seq.or(Some(the_seq)), reason }
            }
            other => other,
        }
    }

    /// Says that damage belongs to a match and branch.
    pub(crate) fn within(self, the_match: &MatchName, the_branch: Option<&BranchName>) -> Self {
        match self {
            Self::Corrupt { match_name, branch, seq, reason } => Self::Corrupt {
                match_name: match_name.or_else(|| Some(the_match.clone())),
                branch: branch.or_else(|| the_branch.cloned()),
                seq,
                reason,
            },
            other => other,
        }
    }
}

impl From<BackendError> for StoreError {
    fn from(error: BackendError) -> Self {
        match error {
            BackendError::Damaged(reason) => Self::damaged(reason),
            BackendError::Io { source, .. } if is_full(&source) => Self::Full { source },
            BackendError::Io { action, source } => Self::Io { action, source },
            BackendError::Unsynced { source } => Self::Io { action: "sync".to_owned(), source },
        }
    }
}

fn next_try(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "check its owner and permissions",
        _ => "try again, and check the disk if that fails too",
    }
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Writes where the damage is, with a colon behind it, or nothing when that is unknown.
pub(crate) fn place(match_name: Option<&MatchName>, branch: Option<&BranchName>, seq: Option<u64>) -> String {
    let mut text = String::new();
    let parts = [
        match_name.map(|name| format!("match `{name}`")),
        branch.map(|name| format!("branch `{name}`")),
        seq.map(|seq| format!("entry {seq}")),
    ];
    for part in parts.into_iter().flatten() {
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{part}");
    }
    if !text.is_empty() {
        text.push_str(": ");
    }
    text
}

/// Says what is missing of the branch that was written to last.
fn missing(last: Option<&Place>, held: u64) -> String {
    match last {
        Some(Place { match_name, branch, seq }) if held + 1 == *seq => {
            format!("match `{match_name}`, branch `{branch}`, entry {seq} is gone; ")
        }
        Some(Place { match_name, branch, seq }) if held < *seq => {
            format!("match `{match_name}`, branch `{branch}`, entries {} to {seq} are gone; ", held + 1)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_placed_as_exactly_as_it_is_known() {
        let corrupt = StoreError::damaged("its check is wrong");
        assert!(corrupt.to_string().starts_with("corrupt store: its check is wrong;"));
        let name = "table-3".parse().unwrap();
        let placed = corrupt.within(&name, Some(&BranchName::main()));
        assert!(placed.to_string().starts_with("corrupt store: match `table-3`, branch `main`: its check"));
        assert_eq!(placed.kind(), ErrorKind::Trouble);
    }
}
