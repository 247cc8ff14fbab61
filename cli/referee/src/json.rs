//! JSON as a referee writes it (RF-5, RF-9), with the order of its keys and the spelling of its numbers.
//!
//! The values of `serde_json` keep neither. A game whose players are an object in seating order would change if its
//! keys came back sorted, and an integer of 17 digits must not become a double.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::value::RawValue;
use turnfold_core::Json;
use turnfold_core::text::in_one_line;

/// How deep a state may nest (RF-9).
const DEPTH_MAX: usize = 60;

/// The most digits of an integer that is kept exactly (RF-9).
const DIGITS_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonNode {
    Null,
    Bool(bool),
    /// A number as it was written.
    Number(String),
    Text(String),
    List(Vec<JsonNode>),
    /// Members in the order in which they were written. No key occurs twice.
    Object(Vec<(String, JsonNode)>),
}

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Sent,
    Canonical,
    InOrder,
}

impl Form {
    fn write_text(self, text: &str, out: &mut String) {
        match self {
            Self::Sent => send_text(text, out),
            // As RFC 8785 does. Writing a string to memory cannot fail.
            Self::Canonical | Self::InOrder => out.push_str(&serde_json::to_string(text).unwrap_or_default()),
        }
    }
}

impl JsonNode {
    /// Reads a document. The error says what is wrong and where, as a JSON pointer.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let raw = serde_json::from_str::<&RawValue>(text).map_err(|error| error.to_string())?;
        Parser { rest: raw.get(), path: String::new(), depth: 0 }.value()
    }

    /// Returns a member of an object. In the fields of the protocol `null` is absent (RF-5).
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        match member(members, name) {
            Some(Self::Null) => None,
            value => value,
        }
    }

    pub(crate) fn optional<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Self) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        match self.field(name) {
            Some(value) => Ok(Some(read(value)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn text_in(&self, name: &str) -> Option<&str> {
        self.field(name)?.text()
    }

    pub(crate) fn command(&self) -> Option<&str> {
        self.text().or_else(|| self.text_in("command"))
    }

    pub(crate) fn bool_in(&self, name: &str) -> Option<bool> {
        self.field(name)?.bool()
    }

    pub(crate) fn integer_in(&self, name: &str) -> Option<i64> {
        self.field(name)?.integer()
    }

    pub(crate) fn is_null_in(&self, name: &str) -> bool {
        let Self::Object(members) = self else { return false };
        member(members, name) == Some(&Self::Null)
    }

    pub(crate) fn list_in(&self, name: &str) -> Option<&[Self]> {
        self.field(name)?.list()
    }

    /// Returns the elements of a list; none of anything else.
    pub(crate) fn items(&self) -> &[Self] {
        self.list().unwrap_or_default()
    }

    pub(crate) fn items_in(&self, name: &str) -> &[Self] {
        self.list_in(name).unwrap_or_default()
    }

    /// Takes a member out of an object, even if it is `null`, which has a meaning in a state.
    pub(crate) fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let place = members.iter().position(|(key, _)| key == name)?;
        Some(members.swap_remove(place).1)
    }

    pub(crate) fn drop_nulls(&mut self) {
        match self {
            Self::Object(members) => {
                members.retain(|(_, value)| *value != Self::Null);
                for (_, value) in members {
                    value.drop_nulls();
                }
            }
            Self::List(elements) => {
                for element in elements {
                    element.drop_nulls();
                }
            }
            _ => {}
        }
    }

    /// Returns a member of an object or an element of a list, by its name in a JSON pointer.
    pub(crate) fn part_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => Some(&mut members.iter_mut().find(|(key, _)| key == name)?.1),
            Self::List(elements) => elements.get_mut(name.parse::<usize>().ok()?),
            _ => None,
        }
    }

    pub(crate) fn parts(&self) -> Vec<(Option<&str>, &Self)> {
        match self {
            Self::List(elements) => elements.iter().map(|element| (None, element)).collect(),
            Self::Object(members) => members.iter().map(|(key, value)| (Some(key.as_str()), value)).collect(),
            _ => Vec::new(),
        }
    }

    /// Removes what a JSON pointer leads to. In the pointer, `*` stands for every name.
    pub(crate) fn remove(&mut self, path: &str) {
        let Some(path) = path.strip_prefix('/') else { return };
        let (name, rest) = path.split_once('/').unwrap_or((path, ""));
        let is_any = name == "*";
        let name = unescaped(name);
        if rest.is_empty() {
            // Elements of a list are not removed, because later ones would change their places.
            if let Self::Object(members) = self {
                members.retain(|(key, _)| !is_any && *key != name);
            }
            return;
        }
        let below = format!("/{rest}");
        match self {
            Self::Object(members) => {
                for (key, value) in members {
                    if is_any || *key == name {
                        value.remove(&below);
                    }
                }
            }
            Self::List(elements) => {
                for (index, value) in elements.iter_mut().enumerate() {
                    if is_any || index.to_string() == name {
                        value.remove(&below);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the elements of a list. An empty object counts as an empty list, because some languages do not
    /// distinguish them (RF-5).
    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            Self::Object(members) if members.is_empty() => Some(&[]),
            _ => None,
        }
    }

    /// Returns the members of an object. An empty list counts as an empty object.
    pub(crate) fn members(&self) -> Option<&[(String, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            Self::List(elements) if elements.is_empty() => Some(&[]),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// Returns a text in one line, or any other document in its canonical form, for a message.
    pub(crate) fn in_words(&self) -> String {
        if let Self::Text(text) = self { in_one_line(text) } else { self.canonical() }
    }

    /// Returns an integer, however it is written: `1`, `1.0` and `1E0` are the same (RF-5).
    pub(crate) fn integer(&self) -> Option<i64> {
        let Self::Number(spelled) = self else { return None };
        canonical_number(spelled)?.parse().ok()
    }

    /// Writes the document as it is sent back (RF-9): keys in their order, numbers as they were spelled, and strings
    /// escaped so that every line reader and every parser reads them whole.
    pub(crate) fn as_sent(&self) -> String {
        self.written(Form::Sent)
    }

    /// Writes the canonical form, which is hashed and compared (RF-9): that of RFC 8785, except for long integers.
    pub(crate) fn canonical(&self) -> String {
        self.written(Form::Canonical)
    }

    pub(crate) fn in_order(&self) -> String {
        self.written(Form::InOrder)
    }

    fn written(&self, form: Form) -> String {
        let mut out = String::new();
        self.write(form, &mut out);
        out
    }

    fn write(&self, form: Form, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(spelled) if form == Form::Canonical => {
                out.push_str(&canonical_number(spelled).unwrap_or_default());
            }
            Self::Number(spelled) => out.push_str(spelled),
            Self::Text(text) => form.write_text(text, out),
            Self::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    element.write(form, out);
                }
                out.push_str(if elements.is_empty() { "[]" } else { "]" });
            }
            Self::Object(members) => {
                let mut members: Vec<&(String, Self)> = members.iter().collect();
                if form == Form::Canonical {
                    members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
                }
                out.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    form.write_text(key, out);
                    out.push(':');
                    value.write(form, out);
                }
                out.push('}');
            }
        }
    }

    /// Returns the first place where two documents differ. Members are compared in the order of their names.
    pub(crate) fn difference(&self, other: &Self) -> Option<JsonDifference> {
        if self == other {
            return None;
        }
        match (self, other) {
            (Self::List(here), Self::List(there)) if here.len() == there.len() => {
                for (index, (here, there)) in here.iter().zip(there).enumerate() {
                    if let Some(found) = here.difference(there) {
                        return Some(found.below(&index.to_string()));
                    }
                }
                None
            }
            (Self::Object(here), Self::Object(there)) => {
                let mut keys = BTreeSet::new();
                for (key, _) in here.iter().chain(there) {
                    keys.insert(key.as_str());
                }
                for key in keys {
                    let found = match (member(here, key), member(there, key)) {
                        (Some(here), Some(there)) => here.difference(there),
                        (here, there) => {
                            let here = here.map_or("nothing".into(), Self::canonical);
                            let there = there.map_or("nothing".into(), Self::canonical);
                            Some(JsonDifference { path: String::new(), here, there })
                        }
                    };
                    if let Some(found) = found {
                        return Some(found.below(key));
                    }
                }
                None
            }
            _ => {
                let here = self.canonical();
                let there = other.canonical();
                if here == there { None } else { Some(JsonDifference { path: String::new(), here, there }) }
            }
        }
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct JsonDifference {
    /// The place, as a JSON pointer.
    pub(crate) path: String,
    pub(crate) here: String,
    pub(crate) there: String,
}

impl JsonDifference {
    fn below(self, name: &str) -> Self {
        Self { path: pointer("", name) + &self.path, ..self }
    }
}

pub(crate) fn member<'a>(members: &'a [(String, JsonNode)], name: &str) -> Option<&'a JsonNode> {
    Some(&members.iter().find(|(key, _)| key == name)?.1)
}

pub(crate) fn pointer(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

pub(crate) fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// Reads a document whose syntax was checked before.
struct Parser<'a> {
    rest: &'a str,
    /// The keys and indexes that lead to the part, as a JSON pointer.
    path: String,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        taken
    }

    fn value(&mut self) -> Result<JsonNode, String> {
        self.skip_blanks();
        match self.rest.as_bytes().first() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(JsonNode::Text(self.string()?)),
            Some(b't') => Ok(self.word("true", JsonNode::Bool(true))),
            Some(b'f') => Ok(self.word("false", JsonNode::Bool(false))),
            Some(b'n') => Ok(self.word("null", JsonNode::Null)),
            _ => self.number(),
        }
    }

    fn object(&mut self) -> Result<JsonNode, String> {
        let mut members: Vec<(String, JsonNode)> = Vec::new();
        self.enter()?;
        while !self.ends(b'}') {
            let key = self.string()?;
            self.skip_blanks();
            self.skip(1);
            let length = self.path.len();
            self.path += &pointer("", &key);
            let value = self.value()?;
            self.path.truncate(length);
            members.push((key, value));
        }
        self.depth -= 1;
        let mut keys = Vec::new();
        for (key, _) in &members {
            keys.push(key.as_str());
        }
        keys.sort_unstable();
        for pair in keys.windows(2) {
            if let [one, next] = pair
                && one == next
            {
                self.path += &pointer("", one);
                return Err(self.fault("a key that is there twice"));
            }
        }
        Ok(JsonNode::Object(members))
    }

    fn list(&mut self) -> Result<JsonNode, String> {
        let mut elements = Vec::new();
        self.enter()?;
        while !self.ends(b']') {
            let length = self.path.len();
            let _ = write!(self.path, "/{}", elements.len());
            elements.push(self.value()?);
            self.path.truncate(length);
        }
        self.depth -= 1;
        Ok(JsonNode::List(elements))
    }

    fn enter(&mut self) -> Result<(), String> {
        self.skip(1);
        self.depth += 1;
        if self.depth > DEPTH_MAX + 1 {
            let path: String = self.path.chars().take(60).collect();
            return Err(format!("it nests more than {DEPTH_MAX} levels at {path}"));
        }
        Ok(())
    }

    /// Goes to the next member or element; returns `true` after the last one.
    fn ends(&mut self, close: u8) -> bool {
        loop {
            self.skip_blanks();
            let next = self.rest.as_bytes().first().copied();
            if next != Some(close) && next != Some(b',') {
                return next.is_none();
            }
            self.skip(1);
            if next == Some(close) {
                return true;
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let mut end = 1;
        let mut is_escaped = false;
        for byte in self.rest.bytes().skip(1) {
            end += 1;
            if byte == b'"' && !is_escaped {
                break;
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        let quoted = self.take(end);
        serde_json::from_str(quoted).map_err(|error| {
            let error = error.to_string();
            self.fault(error.split(" at line ").next().unwrap_or_default())
        })
    }

    fn number(&mut self) -> Result<JsonNode, String> {
        let end = self.rest.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(self.rest.len());
        let spelled = self.take(end);
        if canonical_number(spelled).is_none() {
            return Err(self.fault(&format!("{spelled:.40} is beyond all doubles")));
        }
        Ok(JsonNode::Number(spelled.into()))
    }

    fn word(&mut self, word: &str, node: JsonNode) -> JsonNode {
        self.skip(word.len());
        node
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn fault(&self, what: &str) -> String {
        if self.path.is_empty() { what.into() } else { format!("{what} at {}", self.path) }
    }
}

pub(crate) fn json_of(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::of(&()))
}

/// Returns the canonical form of a number; `None` if it is beyond the range of doubles (RF-9).
pub(crate) fn canonical_number(spelled: &str) -> Option<Cow<'_, str>> {
    let digits = spelled.strip_prefix('-').unwrap_or(spelled);
    if digits.len() <= DIGITS_MAX && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(if digits == "0" { digits } else { spelled }.into());
    }
    let number: f64 = spelled.parse().ok()?;
    if !number.is_finite() {
        return None;
    }
    Some(ryu_js::Buffer::new().format_finite(if number == 0.0 { 0.0 } else { number }).to_owned().into())
}

/// Writes a string as it is sent to a referee. U+2028 and U+2029 end a line in some line readers, and an escaped pair of
/// surrogates comes back as invalid UTF-8 from some parsers (RF-9).
fn send_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            ' '..='~' | '\u{10000}'.. => out.push(character),
            _ => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
        }
    }
    out.push('"');
}

pub(crate) fn sent_text(text: &str) -> String {
    let mut out = String::new();
    send_text(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        JsonNode::read(text).unwrap().canonical()
    }

    #[test]
    fn rf_9_the_canonical_form_sorts_keys_and_writes_numbers_one_way() {
        assert_eq!(canonical(r#"{"b":1,"a":[],"c":{}}"#), r#"{"a":[],"b":1,"c":{}}"#);
        assert_eq!(canonical("[3,3.0,3e0,-0,-0.0,0.1,1e21,1E-7]"), "[3,3,3,0,0,0.1,1e+21,1e-7]");
        let long = "1764211200123600176421120012360017642112001236";
        assert_eq!(canonical(long), long);
        assert_eq!(canonical("9007199254740993.0"), "9007199254740992");
        assert_eq!(canonical("333333333.33333329"), "333333333.3333333");
        // U+FB33 comes after the surrogates of U+1F600 in UTF-16, and before U+1F600 in UTF-8.
        assert_eq!(canonical("{\"\u{fb33}\":1,\"\u{1f600}\":2}"), "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
        assert_eq!(canonical(r#""\u20ac\u000f\/é""#), "\"€\\u000f/é\"");
    }

    #[test]
    fn rf_9_what_is_sent_back_keeps_order_and_spelling() {
        let text = r#"{"b":3.0,"a":1e2}"#;
        assert_eq!(JsonNode::read(text).unwrap().as_sent(), text);
        let sent = JsonNode::read("\"é\u{2028}\\ud83d\\ude00\\t\\\"\"").unwrap().as_sent();
        assert_eq!(sent, "\"\\u00e9\\u2028\u{1f600}\\u0009\\\"\"");
    }

    #[test]
    fn rf_9_what_is_no_state_is_named_with_its_place() {
        let fault = |text: &str| JsonNode::read(text).unwrap_err();
        assert_eq!(fault(r#"{"a":{"b":1,"b":2}}"#), "a key that is there twice at /a/b");
        assert_eq!(fault(r#"{"a":[0,1e999]}"#), "1e999 is beyond all doubles at /a/1");
        assert!(fault(r#"{"a":["\ud800"]}"#).ends_with(" at /a/0"), "{}", fault(r#"{"a":["\ud800"]}"#));
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(fault(&deep).starts_with("it nests more than 60 levels at /0/0"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let difference = |here: &str, there: &str| {
            JsonNode::read(here).unwrap().difference(&JsonNode::read(there).unwrap())
        };
        assert_eq!(difference(r#"{"a":[1,{"b":2}]}"#, r#"{"a":[1.0,{"b":2}]}"#), None);
        let found = difference(r#"{"a":[1,{"b":2}],"c":1}"#, r#"{"c":2,"a":[1,{"b":3}]}"#).unwrap();
        assert_eq!([&found.path, &found.here, &found.there], ["/a/1/b", "2", "3"]);
        let gone = difference(r#"{"a":1}"#, "{}").unwrap();
        assert_eq!([&gone.path, &gone.here, &gone.there], ["/a", "1", "nothing"]);
    }
}
