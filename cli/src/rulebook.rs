//! The rulebook of a game, `RULES.md` in the folder of its ruleset, in the sections that its headings make.
//!
//! After a title and what the game is come six sections: `Setup`, in free form; `Commands`, `Reasons`, `Questions` and
//! `View`, lists of items; and `Rules`, each under a heading with its id and title. An item is written
//! ``- `NAME` (note; note): text``, further lines indented. Tests compare every rulebook of turnfold with the code.

use serde_json::{Map, Value, json};
use similar::get_close_matches;

use crate::output::{Line, dim, plain, strong};

const FENCE: &str = "```";

/// How wide text is at most.
const WIDTH: usize = 80;

/// The sections that are lists: their headings, what JSON calls the name of an item, and what the notes behind it are.
const LISTS: [(&str, &str, &[&str]); 4] = [
    ("Commands", "command", &["seat", "example", "rules"]),
    ("Reasons", "reason", &["outcome", "rules"]),
    ("Questions", "question", &["example", "rules"]),
    ("View", "fields", &[]),
];

/// A rulebook, or the part of one that is about a single topic: its sections, as JSON has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rulebook(pub(crate) Map<String, Value>);

impl Rulebook {
    /// Finds the sections of a rulebook.
    pub(crate) fn read(markdown: &str) -> Self {
        let sections = markdown.split("\n## ").enumerate().map(|(index, section)| {
            let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
            let list = LISTS.iter().find(|(list, ..)| *list == heading);
            let content = match list {
                Some((_, name, notes)) => {
                    let blocks = joined(body);
                    let items = blocks.lines().filter_map(|block| block.strip_prefix("- "));
                    items.map(|text| item(text, name, notes)).collect()
                }
                None if heading == "Rules" => body.split("\n### ").skip(1).map(rule).collect(),
                None => json!(joined(body)),
            };
            (if index == 0 { "about".into() } else { heading.to_lowercase() }, content)
        });
        let is_empty = |content: &Value| [json!(""), json!([])].contains(content);
        Self(sections.filter(|(_, content)| !is_empty(content)).collect())
    }

    fn items(&self, section: &str) -> &[Value] {
        self.0.get(section).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns what the rulebook has about a topic: a rule's id, the first word of a command or question, a reason, a field of the
    /// view, or the name of a section. The rules that it names come with it.
    pub(crate) fn about(&self, topic: &str) -> Option<Self> {
        let mut found = Map::new();
        let mut named = vec![topic.to_uppercase()];
        for (heading, ..) in LISTS {
            let section = heading.to_lowercase();
            let items = self.items(&section).iter().filter(|item| topics(item).contains(&topic));
            let items: Vec<_> = items.cloned().collect();
            named.extend(items.iter().flat_map(|item| strings(&item["rules"])).map(str::to_uppercase));
            if !items.is_empty() {
                found.insert(section, json!(items));
            }
        }
        let is_named = |rule: &&Value| topics(rule).iter().any(|id| named.contains(&id.to_uppercase()));
        let rules: Vec<_> = self.items("rules").iter().filter(is_named).collect();
        if !rules.is_empty() {
            found.insert("rules".into(), json!(rules));
        }
        if found.is_empty() {
            // A section in free form, such as `setup`, by its name.
            found.extend(self.0.get_key_value(topic).map(|(name, text)| (name.clone(), text.clone())));
        }
        (!found.is_empty()).then_some(Self(found))
    }

    /// Returns the topics that a mistyped one may have meant, the likeliest first.
    pub(crate) fn topics_like(&self, mistyped: &str) -> Vec<&str> {
        let items = self.0.values().filter_map(Value::as_array).flatten();
        let mut all: Vec<&str> = items.flat_map(topics).collect();
        all.sort_unstable();
        all.dedup();
        let lowercase: Vec<String> = all.iter().map(|topic| topic.to_lowercase()).collect();
        let candidates: Vec<&str> = lowercase.iter().map(String::as_str).collect();
        let close = get_close_matches(mistyped.to_lowercase().as_str(), &candidates, 3, 0.6);
        let written = |close: &str| all.iter().find(|topic| topic.eq_ignore_ascii_case(close)).copied();
        close.into_iter().filter_map(written).collect()
    }

    /// Returns it as text.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (section, content) in &self.0 {
            if section != "about" {
                lines.extend([Line::default(), strong(section.to_uppercase()).into()]);
            }
            match content {
                Value::Array(items) if section == "rules" => {
                    lines.extend(items.iter().flat_map(rule_lines).skip(1));
                }
                Value::Array(items) => lines.extend(items.iter().flat_map(item_lines)),
                text => {
                    lines.push(Line::default());
                    lines.extend(wrapped(text.as_str().unwrap_or_default(), WIDTH).map(Line::from));
                }
            }
        }
        lines
    }
}

/// Reads an item of a list; notes that are not there are empty.
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

/// Reads a rule, which begins with its id and title.
fn rule(section: &str) -> Value {
    let (heading, text) = section.split_once('\n').unwrap_or((section, ""));
    let (id, title) = heading.split_once(' ').unwrap_or((heading, ""));
    json!({ "rule": id, "title": title, "text": joined(text) })
}

/// Returns the strings of a list, or the only one.
fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(
        || value.as_str().into_iter().collect(),
        |list| list.iter().filter_map(Value::as_str).collect(),
    )
}

/// Returns by what an item is found: the first word of its name, or each field.
fn topics(item: &Value) -> Vec<&str> {
    let name = item.as_object().and_then(|item| item.values().next());
    let names = name.map(strings).unwrap_or_default();
    names.into_iter().filter_map(|name| name.split(' ').next()).collect()
}

/// Returns an item: its name and notes on a line, its text below.
fn item_lines(item: &Value) -> Vec<Line> {
    let mut notes = Vec::new();
    let (mut name, mut text) = (String::new(), "");
    for (kind, value) in item.as_object().into_iter().flatten() {
        match (kind.as_str(), strings(value).join(", ")) {
            ("text", _) => text = value.as_str().unwrap_or_default(),
            ("seat" | "outcome" | "rules", note) => notes.push(note),
            ("example", note) => notes.push(format!("as `{note}`")),
            (_, first) => name = first,
        }
    }
    notes.retain(|note| !note.is_empty());
    let notes = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join("; ")) };
    let first = Line::from([plain("  "), strong(name), dim(notes)]);
    let text = wrapped(text, WIDTH - 6).map(|line| Line::from(format!("      {line}")));
    [first].into_iter().chain(text).collect()
}

/// Returns a rule after a blank line.
fn rule_lines(rule: &Value) -> Vec<Line> {
    let member = |name| rule.get(name).and_then(Value::as_str).unwrap_or_default();
    let heading = Line::from([strong(member("rule")), plain(format_args!("  {}", member("title")))]);
    let text = wrapped(member("text"), WIDTH).map(Line::from);
    [Line::default(), heading].into_iter().chain(text).collect()
}

/// Joins the lines of each paragraph and each item of a list; blank lines and code stay.
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

/// Breaks joined text into lines of at most `width` characters where words allow it; items are indented, and code
/// stays as it is but for its fences.
fn wrapped(text: &str, width: usize) -> impl Iterator<Item = String> {
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
    lines.into_iter()
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
        let lines = "\nOne\ntwo.\n\n- three\n  four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        assert_eq!(joined(lines), text);
        let lines = ["One two.", "", "- three", "  four", "1. five", "  a = 1", "  b = 2", "six"];
        assert_eq!(wrapped(text, 8).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn items_have_names_notes_and_text() {
        let commands = "# toy\n\nA toy.\n\n## Commands\n\n- `add N` (player; as `add 1`; TY-1): Adds\n  N.\n- `b, c`: Both.\n";
        let book = json!(Rulebook::read(commands).0);
        assert_eq!(book["about"], "A toy.");
        let add = json!({ "command": "add N", "seat": "player", "example": "add 1", "rules": ["TY-1"], "text": "Adds N." });
        assert_eq!(book["commands"][0], add);
        assert_eq!(book["commands"][1]["text"], "Both.");
    }
}
