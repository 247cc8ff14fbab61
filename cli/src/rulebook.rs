//! The rulebook of a game for `rules`, and the lookup of topics in it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use similar::get_close_matches;
use turnfold_history::rulebook::{LISTS, marker_length, sections};

use crate::guides::FENCE;
use crate::output::{Line, dim, plain, strong};

const WIDTH: usize = 80;

#[derive(Clone, Debug, Default)]
pub(crate) struct RulebookSections(pub(crate) Map<String, Value>);

impl RulebookSections {
    pub(crate) fn read(markdown: &str) -> Self {
        Self(sections(markdown))
    }

    fn items(&self, section: &str) -> &[Value] {
        match self.0.get(section) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }

    /// Returns the part about a topic: a rule by its id, a command or question by its first word, a reason, a field of
    /// the view, a key of the setup, a setup, or a section by its name. Rules that this part names are included.
    pub(crate) fn about(&self, topic: &str) -> Option<Self> {
        let mut found = Map::new();
        let mut named = vec![topic.to_uppercase()];
        for (heading, ..) in LISTS {
            let section = heading.to_lowercase();
            let mut items = Vec::new();
            for item in self.items(&section) {
                if topics(item).contains(&topic) {
                    named.extend(strings(&item["rules"]).into_iter().map(str::to_uppercase));
                    items.push(item);
                }
            }
            if !items.is_empty() {
                found.insert(section, json!(items));
            }
        }
        if found.is_empty()
            && let Some(line) = self.setup_line(topic)
        {
            let words = line.split(|character: char| !character.is_ascii_alphanumeric() && character != '-');
            named.extend(words.map(str::to_uppercase));
            found.insert("setup".into(), json!(format!("{FENCE}\n{line}\n{FENCE}")));
        }
        let mut rules = Vec::new();
        for rule in self.items("rules") {
            if topics(rule).iter().any(|id| named.contains(&id.to_uppercase())) {
                rules.push(rule);
            }
        }
        if !rules.is_empty() {
            found.insert("rules".into(), json!(rules));
        }
        if !found.is_empty() {
            return Some(Self(found));
        }
        if let Some(setup) = self.items("setups").iter().find(|setup| setup["name"] == topic) {
            found.insert("setups".into(), json!([setup]));
        } else {
            // A section in free form by its name, such as `setup`.
            found.insert(topic.into(), self.0.get(topic)?.clone());
        }
        Some(Self(found))
    }

    fn setup_line(&self, key: &str) -> Option<&str> {
        for line in self.0.get("setup")?.as_str()?.lines() {
            if let Some((found, _)) = line.split_once('=')
                && found.trim() == key
            {
                return Some(line);
            }
        }
        None
    }

    pub(crate) fn topics_like(&self, mistyped: &str) -> Vec<&str> {
        let mut all = BTreeSet::new();
        for section in self.0.keys() {
            all.extend(self.items(section).iter().flat_map(topics));
        }
        let lowercase: Vec<String> = all.iter().map(|topic| topic.to_lowercase()).collect();
        let candidates: Vec<&str> = lowercase.iter().map(String::as_str).collect();
        let mut like = Vec::new();
        for close in get_close_matches(mistyped.to_lowercase().as_str(), &candidates, 3, 0.6) {
            like.extend(all.iter().find(|topic| topic.eq_ignore_ascii_case(close)));
        }
        like
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (section, content) in &self.0 {
            if section != "about" {
                lines.extend([Line::default(), strong(section.to_uppercase()).into()]);
            }
            match content {
                Value::Array(rules) if section == "rules" => {
                    for (index, rule) in rules.iter().enumerate() {
                        if index > 0 {
                            lines.push(Line::default());
                        }
                        let member = |name| rule.get(name).and_then(Value::as_str).unwrap_or_default();
                        let title = plain(format_args!("  {}", member("title")));
                        lines.push([strong(member("rule")), title].into());
                        lines.extend(wrapped(member("text"), WIDTH).into_iter().map(Line::from));
                    }
                }
                Value::Array(items) => {
                    for item in items {
                        add_item(item, &mut lines);
                    }
                }
                text => {
                    lines.push(Line::default());
                    let text = text.as_str().unwrap_or_default();
                    lines.extend(wrapped(text, WIDTH).into_iter().map(Line::from));
                }
            }
        }
        lines
    }
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

fn topics(item: &Value) -> Vec<&str> {
    let Some(names) = item.as_object().and_then(|item| item.values().next()) else { return Vec::new() };
    strings(names).into_iter().filter_map(|name| name.split(' ').next()).collect()
}

fn add_item(item: &Value, lines: &mut Vec<Line>) {
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
    lines.push([plain("  "), strong(name), dim(notes)].into());
    for line in wrapped(text, WIDTH - 6) {
        lines.push(format!("      {line}").into());
    }
}

/// Breaks text into lines of at most `width` characters, unless a word is longer. Continued list items are indented.
/// Code is kept as it is, without its fences.
fn wrapped(text: &str, width: usize) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_items_are_wrapped_and_code_is_not() {
        let text = "One two.\n\n- three four\n1. five\n```toml\na = 1\nb = 2\n```\nsix";
        let lines = ["One two.", "", "- three", "  four", "1. five", "  a = 1", "  b = 2", "six"];
        assert_eq!(wrapped(text, 8), lines);
    }
}
