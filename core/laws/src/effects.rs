//! Effects: only applied commands have effects, and the text and the JSON of effects agree.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use turnfold_core::text::Quoted;
use turnfold_core::{Outcome, Verdict};

use super::law_report::{Law, LawReport};
use super::random_matches::PlayedEntry;

pub(super) fn check(report: &mut LawReport<'_>, entry: &PlayedEntry) {
    let PlayedEntry { outcome, effects_json: json, .. } = entry;
    let applied = entry.verdict == Verdict::Applied(());
    let some = outcome.effects().next().is_some() || **json != *"[]";
    // RF-22: an applied command of a referee may have no effects.
    let may_be_bare = applied && report.is_referee();
    report.expect(Law::AppliedHasEffects, applied == some || may_be_bare, || {
        format!("the verdict is {:?} and the outcome is `{outcome}`", entry.verdict)
    });
    let read: Result<Outcome, _> = outcome.to_string().parse();
    report.expect(Law::OutcomeRoundTrip, read.as_ref() == Ok(outcome), || {
        format!("`{outcome}` is written for {outcome:?} and read as {read:?}")
    });
    // A referee may supply its own text for effects (RF-8); otherwise turnfold writes it.
    if !report.is_referee()
        && let Err(difference) = agree(outcome, json)
    {
        report.broke(Law::EffectForms, format!("{difference}, in `{outcome}` and {json}"));
    }
}

fn agree(outcome: &Outcome, json: &str) -> Result<(), String> {
    let objects: Vec<Object> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = outcome.effects().collect();
    if lines.len() != objects.len() {
        return Err(format!("{} effects as text, {} as JSON", lines.len(), objects.len()));
    }
    for (line, object) in lines.iter().zip(objects) {
        agree_on_one(line, &object)?;
    }
    Ok(())
}

/// The first word must be the JSON's `effect`, and the words `key=value` its other keys in the same order.
fn agree_on_one(line: &str, Object(members): &Object) -> Result<(), String> {
    let words = words(line);
    let Some((name, words)) = words.split_first() else { return Err(format!("`{line}` has no name")) };
    let Some(((key, effect), members)) = members.split_first() else {
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
    for ((key, word), (_, value)) in pairs.iter().zip(members) {
        if !writes(word, value) {
            return Err(format!("`{key}` is `{word}` and {value}"));
        }
    }
    Ok(())
}

/// Returns `true` if a word of the text is a value of the JSON. Lists, objects and `null` are not compared.
fn writes(word: &str, value: &Value) -> bool {
    match value {
        Value::Number(number) => number.to_string() == word,
        Value::Bool(truth) => truth.to_string() == word,
        Value::String(text) => text == word || Quoted(text).to_string() == word,
        Value::Null | Value::Array(_) | Value::Object(_) => true,
    }
}

/// Splits an effect at spaces outside of double quotes.
fn words(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    let mut after_backslash = false;
    for (place, character) in text.char_indices() {
        if character == '"' && !after_backslash {
            quoted = !quoted;
        }
        after_backslash = quoted && !after_backslash && character == '\\';
        if !quoted && character == ' ' {
            parts.push(&text[start..place]);
            start = place + 1;
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A JSON object with its members as written, including duplicates.
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
