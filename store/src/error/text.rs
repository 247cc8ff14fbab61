//! Parts of error messages: the place of damage, and ranges of entries.

use std::fmt::Write as _;

use crate::names::{BranchName, MatchName};

pub(crate) fn numbered(first: u64, last: u64) -> String {
    if first == last { format!("entry {first}") } else { format!("entries {first} to {last}") }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_is_no_range() {
        assert_eq!((numbered(5, 5), numbered(5, 6)), ("entry 5".to_owned(), "entries 5 to 6".to_owned()));
    }
}
