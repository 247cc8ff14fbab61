//! The rulebook of a game, `RULES.md` in the folder of its ruleset, split into sections by its headings.
//!
//! A title and an introduction come first, then six sections. `Setup` is free text. `Commands`, `Reasons`, `Questions`
//! and `View` are lists of items. `Rules` has a heading with id and title for each rule. An item is written
//! ``- `NAME` (note; note): text``; its further lines are indented. Tests compare every rulebook of turnfold with the
//! code.

use serde_json::{Map, Value, json};

const FENCE: &str = "```";

/// The sections that are lists: the heading, the name of an item's key in JSON, and the meanings of the notes after it.
pub const LISTS: [(&str, &str, &[&str]); 4] = [
    ("Commands", "command", &["seat", "example", "rules"]),
    ("Reasons", "reason", &["outcome", "rules"]),
    ("Questions", "question", &["example", "rules"]),
    ("View", "fields", &[]),
];

/// Returns the sections of a rulebook as JSON; empty ones are left out.
#[must_use]
pub fn sections(markdown: &str) -> Map<String, Value> {
    let mut sections = Map::new();
    for (index, section) in markdown.split("\n## ").enumerate() {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        let content = section_content(heading, body);
        if content == json!("") || content == json!([]) {
            continue;
        }
        let name = if index == 0 { "about".into() } else { heading.to_lowercase() };
        sections.insert(name, content);
    }
    sections
}

fn section_content(heading: &str, body: &str) -> Value {
    let mut items = Vec::new();
    if heading == "Rules" {
        for section in body.split("\n### ").skip(1) {
            items.push(rule(section));
        }
        return items.into();
    }
    let Some((_, name, notes)) = LISTS.iter().find(|(list, ..)| *list == heading) else {
        return json!(joined(body));
    };
    for block in joined(body).lines() {
        if let Some(text) = block.strip_prefix("- ") {
            items.push(item(text, name, notes));
        }
    }
    items.into()
}

fn item(text: &str, name: &str, notes: &[&str]) -> Value {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        names.push(name);
        rest = after.strip_prefix(", ").unwrap_or(after);
    }
    let behind = rest.strip_prefix(" (").and_then(|rest| rest.split_once("): "));
    let (written, text) = behind.unwrap_or(("", rest.trim_start_matches(": ")));
    let mut written = written.split("; ");
    let mut item = Map::new();
    item.insert(name.into(), if name == "fields" { json!(names) } else { json!(names.join(", ")) });
    for kind in notes {
        let note = written.next().unwrap_or_default();
        let note = match *kind {
            "example" => json!(note.trim_start_matches("as `").trim_end_matches('`')),
            "rules" => note.split(", ").filter(|id| !id.is_empty()).collect(),
            _ => json!(note),
        };
        item.insert((*kind).into(), note);
    }
    item.insert("text".into(), json!(text));
    item.into()
}

fn rule(section: &str) -> Value {
    let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
    let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
    json!({ "rule": id, "title": title, "text": joined(text) })
}

/// Joins the lines of each paragraph and list item. Blank lines and code stay as they are.
fn joined(text: &str) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let mut is_code = false;
    let mut continues = false;
    for line in text.lines() {
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

/// Returns the length of the mark at the start of a list item, such as `- ` or `1. `; 0 for other lines.
#[must_use]
pub fn marker_length(line: &str) -> usize {
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
        let lines = "\nOne\ntwo.\n\n- three\n  four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        assert_eq!(joined(lines), text);
    }

    #[test]
    fn items_have_names_notes_and_text() {
        let commands = "# toy\n\nA toy.\n\n## Commands\n\n- `add N` (player; as `add 1`; TY-1): Adds\n  N.\n- `b, c`: Both.\n";
        let book = json!(sections(commands));
        assert_eq!(book["about"], "A toy.");
        let add = json!({ "command": "add N", "seat": "player", "example": "add 1", "rules": ["TY-1"], "text": "Adds N." });
        assert_eq!(book["commands"][0], add);
        assert_eq!(book["commands"][1]["text"], "Both.");
    }
}
