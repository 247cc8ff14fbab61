//! The rulebook of a game for `rules`, and the lookup of topics in it.

use serde_json::{Map, Value, json};
use similar::get_close_matches;
use turnfold_history::rulebook::{FENCE, LISTS, marker_length, sections};

use crate::output::{Line, dim, plain, strong};

/// The most characters of a line of text.
const WIDTH: usize = 80;

/// The sections of a rulebook, or of the part of it about a topic, as JSON.
#[derive(Clone, Debug, Default)]
pub(crate) struct RulebookSections(pub(crate) Map<String, Value>);

impl RulebookSections {
    /// Splits a rulebook into its sections.
    pub(crate) fn read(markdown: &str) -> Self {
        Self(sections(markdown))
    }

    fn items(&self, section: &str) -> &[Value] {
        self.0.get(section).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the part about a topic: a rule by its id, a command or question by its first word, a reason, a field of
    /// the view, a key of the setup, a setup, or a section by its name. Rules that this part names are included.
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
        if let Some(line) = self.setup_line(topic).filter(|_| found.is_empty()) {
            let words = line.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
            named.extend(words.map(str::to_uppercase));
            found.insert("setup".into(), json!(format!("{FENCE}\n{line}\n{FENCE}")));
        }
        let is_named = |rule: &&Value| topics(rule).iter().any(|id| named.contains(&id.to_uppercase()));
        let rules: Vec<_> = self.items("rules").iter().filter(is_named).collect();
        if !rules.is_empty() {
            found.insert("rules".into(), json!(rules));
        }
        if found.is_empty() {
            let setups = self.items("setups").iter().filter(|setup| setup["name"] == topic);
            let setups: Vec<_> = setups.collect();
            if !setups.is_empty() {
                found.insert("setups".into(), json!(setups));
            }
        }
        if found.is_empty() {
            // A section in free form by its name, such as `setup`.
            found.extend(self.0.get_key_value(topic).map(|(name, text)| (name.clone(), text.clone())));
        }
        (!found.is_empty()).then_some(Self(found))
    }

    /// Returns the line of the setup with this key, such as `default`.
    fn setup_line(&self, key: &str) -> Option<&str> {
        let is_line = |line: &&str| line.split_once('=').is_some_and(|(found, _)| found.trim() == key);
        self.0.get("setup")?.as_str()?.lines().find(is_line)
    }

    /// Returns the topics that are similar to a mistyped one, the most similar first.
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

/// Returns the strings of a list, or a single string as a list.
fn strings(value: &Value) -> Vec<&str> {
    value.as_array().map_or_else(
        || value.as_str().into_iter().collect(),
        |list| list.iter().filter_map(Value::as_str).collect(),
    )
}

/// Returns the topics of an item: the first word of each of its names.
fn topics(item: &Value) -> Vec<&str> {
    let name = item.as_object().and_then(|item| item.values().next());
    let names = name.map(strings).unwrap_or_default();
    names.into_iter().filter_map(|name| name.split(' ').next()).collect()
}

/// Returns the lines of an item: its name and notes in one line, its text below.
fn item_lines(item: &Value) -> Vec<Line> {
    let mut notes = Vec::new();
    let mut name = String::new();
    let mut text = "";
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

/// Returns the lines of a rule, after a blank line.
fn rule_lines(rule: &Value) -> Vec<Line> {
    let member = |name| rule.get(name).and_then(Value::as_str).unwrap_or_default();
    let heading = Line::from([strong(member("rule")), plain(format_args!("  {}", member("title")))]);
    let text = wrapped(member("text"), WIDTH).map(Line::from);
    [Line::default(), heading].into_iter().chain(text).collect()
}

/// Breaks text into lines of at most `width` characters, unless a word is longer. Continued list items are indented.
/// Code is kept as it is, without its fences.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped_and_code_is_not() {
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        let lines = ["One two.", "", "- three", "  four", "1. five", "  a = 1", "  b = 2", "six"];
        assert_eq!(wrapped(text, 8).collect::<Vec<_>>(), lines);
    }
}
