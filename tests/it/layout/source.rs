//! Rust files as the layout tests read them: words and marks, without comments, texts and what only tests compile.

use super::code_of;

/// Splits a file into words, `::` and single characters, leaving out what `cfg` keeps from a release.
pub(super) fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in shipped_lines(text) {
        let code = code_of(line);
        let mut rest = code.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match rest.find(|other: char| !super::is_in_word(other)) {
                Some(0) if rest.starts_with("::") => 2,
                Some(0) => first.len_utf8(),
                Some(length) => length,
                None => rest.len(),
            };
            let (token, following) = rest.split_at(length);
            tokens.push(token.to_owned());
            rest = following.trim_start();
        }
    }
    tokens
}

/// Leaves out the items that only tests or the documentation have, as rustfmt lays them out.
fn shipped_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            if !is_left_out(line) {
                return Some(line);
            }
            let indent = line.len() - line.trim_start().len();
            let item = lines.find(|line| !line.trim_start().starts_with("#[")).unwrap_or_default();
            if !item.ends_with([';', '}', ',']) {
                lines.find(|line| line.get(indent..).is_some_and(|rest| rest.starts_with('}')));
            }
        }
    })
}

fn is_left_out(line: &str) -> bool {
    let condition = line.trim_start().strip_prefix("#[cfg(").and_then(|rest| rest.strip_suffix(")]"));
    condition
        .is_some_and(|condition| ["test", "doc"].contains(&condition) || condition.starts_with("all(test"))
}
