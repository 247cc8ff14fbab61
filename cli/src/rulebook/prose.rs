//! Paragraphs and lists of Markdown, as far as rulebooks have them: joined for programs, wrapped for terminals.

const FENCE: &str = "```";

/// Joins the lines of each paragraph and each item of a list; blank lines and code stay.
pub(super) fn joined<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_code = false;
    let mut continues = false;
    for line in lines {
        let is_fence = line.starts_with(FENCE);
        let begins = !continues || line.is_empty() || marker_length(line) > 0;
        if is_code || is_fence || begins {
            blocks.push(line.into());
        } else if let Some(block) = blocks.last_mut() {
            block.push(' ');
            block.push_str(line.trim_start());
        }
        is_code ^= is_fence;
        continues = !(is_code || is_fence || line.is_empty());
    }
    blocks.join("\n").trim().into()
}

/// Breaks joined text into lines of at most `width` characters where words allow it; items are indented, and code
/// stays as it is but for its fences.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut is_code = false;
    for block in text.lines() {
        if block.starts_with(FENCE) {
            is_code = !is_code;
        } else if is_code {
            lines.push(format!("  {block}"));
        } else {
            wrap(block, width, &mut lines);
        }
    }
    lines
}

fn wrap(block: &str, width: usize, lines: &mut Vec<String>) {
    let indent = " ".repeat(marker_length(block));
    let mut line = String::new();
    let mut length = 0;
    for word in block.split(' ') {
        let added = word.chars().count() + 1;
        if length + added > width + 1 && !line.trim_start().is_empty() {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            length = indent.len();
        } else if length > 0 {
            line.push(' ');
        }
        line.push_str(word);
        length += added;
    }
    lines.push(line);
}

/// Returns the length of the mark that begins an item of a list, such as `- ` or `1. `; 0 for other lines.
fn marker_length(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match line.get(digits..) {
        Some(rest) if digits == 0 && rest.starts_with("- ") => 2,
        Some(rest) if digits > 0 && rest.starts_with(". ") => digits + 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_joined_and_code_is_not() {
        let lines = [
            "", "One", "two.", "", "- three", "  four", "1. five", "```toml", "a = 1", "b = 2", "```", "six",
        ];
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        assert_eq!(joined(lines), text);
        let lines = ["One two.", "", "- three", "  four", "1. five", "  a = 1", "  b = 2", "six"];
        assert_eq!(wrapped(text, 8), lines);
    }
}
