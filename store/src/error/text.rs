//! Parts of error messages: where damage is, what is missing, what to try next.

use std::fmt::Write as _;
use std::io;

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

pub(super) fn next_try(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "check its owner and permissions",
        _ => "try again, and check the disk if that fails too",
    }
}
