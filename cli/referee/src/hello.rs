//! What a referee is, by its own answer to `hello` (RF-5, RF-6).

use std::collections::BTreeSet;

use turnfold_core::text::in_one_line;
use turnfold_core::{Seat, SetupError};

use crate::json::JsonNode;
use crate::laws;
use crate::setup;

/// Who may know what of a match (RF-13).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// All see everything.
    None,
    /// The host sees everything, and a seat what is marked for it.
    #[default]
    Closed,
    /// The module decides for each entry what a viewer may know, which the laws have checked.
    Kept,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Hello {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) summary: String,
    /// As TOML.
    pub(crate) example: String,
    pub(crate) rulebook: String,
    pub(crate) mail: String,
    pub(crate) queries: Vec<String>,
    pub(crate) secrets: Secrecy,
    pub(crate) can: BTreeSet<String>,
    /// The codes of ignored and of rejected commands, each with the ids of its rules.
    pub(crate) ignored: Vec<(String, Vec<String>)>,
    pub(crate) rejected: Vec<(String, Vec<String>)>,
    /// Whether it may be given many entries at once.
    pub(crate) batches: bool,
    /// Whether states, setups and commands are bytes, as those of a built-in ruleset (RF-10).
    pub(crate) is_bytes: bool,
}

impl Hello {
    pub(crate) fn read(answer: &JsonNode, is_module: bool) -> Result<Self, String> {
        let name = answer.text_in("name").ok_or("its answer to `hello` has no `name`")?;
        laws::ruleset_name(name)?;
        let Some(Ok(version)) = answer.integer_in("version").map(u32::try_from) else {
            return Err("its answer to `hello` has no `version`, a number from 0 on".into());
        };
        let is_bytes = match answer.field("encoding") {
            None => false,
            Some(JsonNode::Text(encoding)) if encoding == "bytes" => true,
            Some(other) => return Err(format!("its encoding is {}, expected \"bytes\"", other.canonical())),
        };
        let example = match answer.field("example") {
            Some(JsonNode::Text(text)) if !text.trim_start().starts_with('{') => text.clone(),
            Some(JsonNode::Text(text)) => setup::to_toml(&JsonNode::read(text)?)?,
            Some(setup) => setup::to_toml(setup)?,
            None => return Err("its answer to `hello` has no `example`, a small setup".into()),
        };
        let can: BTreeSet<String> = words(answer, "can")?.into_iter().collect();
        for needed in ["see", "choices"] {
            if is_bytes && !can.contains(needed) {
                return Err(format!("its states are bytes, and it does not offer `{needed}`"));
            }
        }
        let secrets = match answer.text_in("secrets") {
            Some("none") => Secrecy::None,
            Some("kept") if is_module && can.contains("show") && can.contains("setup_seen") => Secrecy::Kept,
            // A referee that claims more than it can show, or than the laws have checked, shows least (RF-13).
            _ => Secrecy::Closed,
        };
        Ok(Self {
            name: name.into(),
            version,
            summary: in_one_line(&text(answer, "summary")?),
            example,
            rulebook: text(answer, "rulebook")?,
            mail: text(answer, "mail")?,
            queries: words(answer, "queries")?,
            secrets,
            can,
            ignored: codes(answer, "ignored")?,
            rejected: codes(answer, "rejected")?,
            batches: answer.bool_in("batches") == Some(true),
            is_bytes,
        })
    }

    pub(crate) fn can(&self, op: &str) -> bool {
        self.can.contains(op)
    }
}

fn text(answer: &JsonNode, field: &str) -> Result<String, String> {
    let Some(text) = answer.field(field) else { return Ok(String::new()) };
    let Some(text) = text.text() else { return Err(format!("its `{field}` is no text")) };
    laws::plain(text, "\n\t")?;
    Ok(text.into())
}

fn words(answer: &JsonNode, field: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for word in answer.items_in(field) {
        let Some(word) = word.text() else { return Err(format!("its `{field}` is no list of text")) };
        words.push(in_one_line(word));
    }
    Ok(words)
}

fn codes(answer: &JsonNode, field: &str) -> Result<Vec<(String, Vec<String>)>, String> {
    let Some(listed) = answer.field(field) else { return Ok(Vec::new()) };
    let mut codes = Vec::new();
    let Some(listed) = listed.members() else { return Err(format!("its `{field}` is no object of codes")) };
    for (code, rules) in listed {
        laws::snake_case(code)?;
        let mut ids = Vec::new();
        for id in rules.items() {
            let Some(id) = id.text() else { return Err(format!("the rules of `{code}` are no ids")) };
            laws::rule_id(id)?;
            ids.push(id.to_owned());
        }
        codes.push((code.clone(), ids));
    }
    Ok(codes)
}

/// Reads why a setup is refused: `"no"` with a field and a message, or only a message. If setups are bytes, a message
/// alone is about the bytes.
pub(crate) fn refused_setup(no: &JsonNode, is_bytes: bool) -> SetupError {
    if is_bytes && let Some(why) = no.text() {
        return SetupError::Bytes(in_one_line(why));
    }
    let field = no.text_in("field").map_or_else(|| "setup".into(), in_one_line);
    let message = no.text_in("message").map_or_else(|| no.in_words(), in_one_line);
    SetupError::Value { field, message }
}

pub(crate) fn seat(node: &JsonNode) -> Result<Seat, String> {
    let text = node.text().unwrap_or_default();
    text.parse().map_err(|_| format!("{} is no seat, such as `p1`", node.canonical()))
}
