//! Parts of error messages: where damage is, what is missing, what to try next.

use std::fmt::Write as _;
use std::io;

use crate::local::layout::watermark::EntryRef;
use crate::names::{BranchName, MatchName};

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
pub(super) fn missing(last: Option<&EntryRef>, held: u64) -> String {
    match last {
        Some(EntryRef { match_name, branch, seq }) if held + 1 == *seq => {
            format!("match `{match_name}`, branch `{branch}`, entry {seq} is gone; ")
        }
        Some(EntryRef { match_name, branch, seq }) if held < *seq => {
            format!("match `{match_name}`, branch `{branch}`, entries {} to {seq} are gone; ", held + 1)
        }
        _ => String::new(),
    }
}

pub(super) fn next_try(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "check its owner and permissions",
        _ => "try again, and check the disk if that fails too",
    }
}
