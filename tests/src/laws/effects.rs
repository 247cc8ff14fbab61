//! Effects: applied commands have some, others none, and their text and JSON tell the same.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use turnfold_core::StepOutcome;
use turnfold_core::text::Quoted;

use super::matches::Entry;
use super::report::{Law, Report};

pub(super) fn check(report: &mut Report, entry: &Entry) {
    let Entry { effects_text: text, effects_json: json, .. } = entry;
    let applied = entry.outcome == StepOutcome::Applied;
    let some = !text.is_empty() || json != "[]";
    report.expect(Law::AppliedHasEffects, applied == some, || {
        format!("the outcome is {:?} and the effects are `{text}`", entry.outcome)
    });
    if let Err(difference) = agree(text, json) {
        report.broke(Law::EffectForms, format!("{difference}, in `{text}` and {json}"));
    }
}

fn agree(text: &str, json: &str) -> Result<(), String> {
    let objects: Vec<Object> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let lines = split_outside_quotes(text, "; ");
    if lines.len() != objects.len() {
        return Err(format!("{} effects as text, {} as JSON", lines.len(), objects.len()));
    }
    lines.iter().zip(objects).try_for_each(|(line, object)| agree_on_one(line, &object))
}

/// The first word is the JSON's `effect`; the words `key=value` are its other keys in the same order.
fn agree_on_one(line: &str, Object(members): &Object) -> Result<(), String> {
    let words = split_outside_quotes(line, " ");
    let (Some((name, words)), Some(((key, effect), members))) = (words.split_first(), members.split_first())
    else {
        return Err(format!("`{line}` has no name"));
    };
    if key != "effect" || effect.as_str() != Some(name) {
        return Err(format!("the text is named `{name}`, the JSON begins with `{key}`: {effect}"));
    }
    let pairs: Vec<(&str, &str)> = words.iter().filter_map(|word| word.split_once('=')).collect();
    let text_keys: Vec<&str> = pairs.iter().map(|(key, _)| *key).collect();
    let json_keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    if pairs.len() != words.len() || text_keys != json_keys {
        return Err(format!("`{name}` has the words {words:?} as text and the keys {json_keys:?} as JSON"));
    }
    let differs = pairs.iter().zip(members).find(|((_, word), (_, value))| !writes(word, value));
    differs.map_or(Ok(()), |((key, word), (_, value))| Err(format!("`{key}` is `{word}` and {value}")))
}

/// Tells whether a word of the text writes a value of the JSON, as far as the value is a plain one.
fn writes(word: &str, value: &Value) -> bool {
    match value {
        Value::Number(number) => number.to_string() == word,
        Value::Bool(truth) => truth.to_string() == word,
        Value::String(text) => text == word || Quoted(text).to_string() == word,
        Value::Null | Value::Array(_) | Value::Object(_) => true,
    }
}

fn split_outside_quotes<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut after_backslash) = (0, false, false);
    for (place, character) in text.char_indices() {
        if character == '"' && !after_backslash {
            quoted = !quoted;
        }
        after_backslash = quoted && !after_backslash && character == '\\';
        if !quoted && place >= start && text[place..].starts_with(separator) {
            parts.push(&text[start..place]);
            start = place + separator.len();
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

/// A JSON object with its members as they are written, also one that stands twice.
pub(super) struct Object(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
