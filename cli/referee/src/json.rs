//! JSON as a referee writes it (RF-5, RF-9): read with the order of its keys and the spelling of its numbers.
//!
//! The values of `serde_json` keep neither: a game whose players are an object in seating order plays another game when
//! its keys come back sorted, and an integer of 17 digits must not go through a double.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::value::RawValue;
use turnfold_core::Json;

/// How deep a state may nest (RF-9).
const DEPTH_MAX: usize = 60;

/// The most digits of an integer that is kept exactly (RF-9).
const DIGITS_MAX: usize = 64;

/// A document, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    /// A number as it was written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// Members in the order in which they were written; no key twice.
    Object(Vec<(String, Node)>),
}

/// How a document is written.
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

impl Node {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with it and where, as a JSON pointer.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let raw = serde_json::from_str::<&RawValue>(text).map_err(|error| error.to_string())?;
        Parser { rest: raw.get(), path: String::new(), depth: 0 }.value()
    }

    /// Returns a member of an object. In the fields of the protocol `null` is absent (RF-5).
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(key, value)| key == name && *value != Self::Null).map(|(_, value)| value)
    }

    /// Takes a member out of an object, also one that is `null`: in a state that has a meaning.
    pub(crate) fn take(&mut self, name: &str) -> Option<Self> {
        let Self::Object(members) = self else { return None };
        let place = members.iter().position(|(key, _)| key == name)?;
        Some(members.swap_remove(place).1)
    }

    /// Leaves out all members that are `null`.
    pub(crate) fn drop_nulls(&mut self) {
        match self {
            Self::Object(members) => {
                members.retain(|(_, value)| *value != Self::Null);
                for (_, value) in members {
                    value.drop_nulls();
                }
            }
            Self::List(elements) => elements.iter_mut().for_each(Self::drop_nulls),
            _ => {}
        }
    }

    /// Returns a member of an object or an element of a list, by its name in a JSON pointer.
    pub(crate) fn part_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members.iter_mut().find(|(key, _)| key == name).map(|(_, value)| value),
            Self::List(elements) => elements.get_mut(name.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// Removes what a JSON pointer leads to, in which `*` stands for every name.
    pub(crate) fn remove(&mut self, path: &str) {
        let Some((name, rest)) =
            path.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, "")))
        else {
            return;
        };
        let key_named = unescaped(name);
        let is_named = |key: &str| name == "*" || key == key_named;
        match self {
            Self::Object(members) if rest.is_empty() => members.retain(|(key, _)| !is_named(key)),
            Self::Object(members) => {
                for (_, value) in members.iter_mut().filter(|(key, _)| is_named(key)) {
                    value.remove(&format!("/{rest}"));
                }
            }
            Self::List(elements) => {
                for (index, value) in elements.iter_mut().enumerate() {
                    if !rest.is_empty() && is_named(&index.to_string()) {
                        value.remove(&format!("/{rest}"));
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the elements of a list. An empty object is an empty list, as some languages know no difference (RF-5).
    pub(crate) fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(elements) => Some(elements),
            Self::Object(members) if members.is_empty() => Some(&[]),
            _ => None,
        }
    }

    /// Returns the members of an object. An empty list is an empty object.
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

    /// Returns an integer, however it is written: `1`, `1.0` and `1E0` are one (RF-5).
    pub(crate) fn integer(&self) -> Option<i64> {
        let Self::Number(spelled) = self else { return None };
        canonical_number(spelled)?.parse().ok()
    }

    /// Writes the document as it is sent back (RF-9): keys in their order, numbers as they were spelled, and strings so
    /// that every line reader and every parser gets them whole.
    pub(crate) fn as_sent(&self) -> String {
        self.written(Form::Sent)
    }

    /// Writes the canonical form, which is hashed and compared (RF-9): that of RFC 8785, but for long integers.
    pub(crate) fn canonical(&self) -> String {
        self.written(Form::Canonical)
    }

    /// Writes the document as a ruleset that is built in writes it.
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

    /// Returns the first place where two documents differ, as a JSON pointer, and what stands there in each.
    pub(crate) fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        match (self, other) {
            _ if self == other => None,
            (Self::List(here), Self::List(there)) if here.len() == there.len() => {
                let pairs = here.iter().zip(there).enumerate();
                let mut found =
                    pairs.filter_map(|(index, (here, there))| below(&index.to_string(), here, there));
                found.next()
            }
            (Self::Object(here), Self::Object(there)) => {
                let keys: BTreeSet<&str> = here.iter().chain(there).map(|(key, _)| key.as_str()).collect();
                let member = |members: &[(String, Self)], name: &str| {
                    members.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
                };
                keys.into_iter().find_map(|key| match (member(here, key), member(there, key)) {
                    (Some(here), Some(there)) => below(key, &here, &there),
                    (here, there) => {
                        let shown =
                            |value: Option<Self>| value.map_or("nothing".into(), |value| value.canonical());
                        Some((pointer("", key), shown(here), shown(there)))
                    }
                })
            }
            _ if self.canonical() == other.canonical() => None,
            _ => Some((String::new(), self.canonical(), other.canonical())),
        }
    }
}

/// Returns the difference of two members or elements of this name.
fn below(name: &str, here: &Node, there: &Node) -> Option<(String, String, String)> {
    let (path, here, there) = here.difference(there)?;
    Some((format!("{}{path}", pointer("", name)), here, there))
}

/// Adds a name to a JSON pointer.
pub(crate) fn pointer(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the name that stands in a JSON pointer.
pub(crate) fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// Reads a document whose syntax was checked, so each part ends where its grammar ends it.
struct Parser<'a> {
    rest: &'a str,
    /// The keys and indexes that lead to the part, as a JSON pointer.
    path: String,
    depth: usize,
}

impl Parser<'_> {
    fn value(&mut self) -> Result<Node, String> {
        self.skip_blanks();
        match self.rest.as_bytes().first() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => self.string().map(Node::Text),
            Some(b't') => Ok(self.word("true", Node::Bool(true))),
            Some(b'f') => Ok(self.word("false", Node::Bool(false))),
            Some(b'n') => Ok(self.word("null", Node::Null)),
            _ => self.number(),
        }
    }

    fn object(&mut self) -> Result<Node, String> {
        let mut members: Vec<(String, Node)> = Vec::new();
        self.enter()?;
        while !self.ends(b'}') {
            let key = self.string()?;
            self.skip_blanks();
            self.rest = self.rest.get(1..).unwrap_or_default();
            let length = self.path.len();
            self.path += &pointer("", &key);
            let value = self.value()?;
            self.path.truncate(length);
            members.push((key, value));
        }
        self.depth -= 1;
        let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        if let Some(twice) =
            keys.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first())
        {
            self.path += &pointer("", twice);
            return Err(self.fault("a key that is there twice"));
        }
        Ok(Node::Object(members))
    }

    fn list(&mut self) -> Result<Node, String> {
        let mut elements = Vec::new();
        self.enter()?;
        while !self.ends(b']') {
            let length = self.path.len();
            let _ = write!(self.path, "/{}", elements.len());
            elements.push(self.value()?);
            self.path.truncate(length);
        }
        self.depth -= 1;
        Ok(Node::List(elements))
    }

    fn enter(&mut self) -> Result<(), String> {
        self.rest = self.rest.get(1..).unwrap_or_default();
        self.depth += 1;
        if self.depth > DEPTH_MAX + 1 {
            let path: String = self.path.chars().take(60).collect();
            return Err(format!("it nests more than {DEPTH_MAX} levels at {path}"));
        }
        Ok(())
    }

    /// Goes to the next member or element; returns `true` behind the last one.
    fn ends(&mut self, close: u8) -> bool {
        loop {
            self.skip_blanks();
            let next = self.rest.as_bytes().first().copied();
            if next != Some(close) && next != Some(b',') {
                return next.is_none();
            }
            self.rest = self.rest.get(1..).unwrap_or_default();
            if next == Some(close) {
                return true;
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let (mut end, mut is_escaped) = (1, false);
        for byte in self.rest.bytes().skip(1) {
            end += 1;
            if byte == b'"' && !is_escaped {
                break;
            }
            is_escaped = byte == b'\\' && !is_escaped;
        }
        let (quoted, rest) = self.rest.split_at(end);
        self.rest = rest;
        serde_json::from_str(quoted).map_err(|error| {
            let error = error.to_string();
            self.fault(error.split(" at line ").next().unwrap_or_default())
        })
    }

    fn number(&mut self) -> Result<Node, String> {
        let end = self.rest.find([',', '}', ']', ' ', '\t', '\r', '\n']).unwrap_or(self.rest.len());
        let (spelled, rest) = self.rest.split_at(end);
        self.rest = rest;
        if canonical_number(spelled).is_none() {
            return Err(self.fault(&format!("{spelled:.40} is beyond all doubles")));
        }
        Ok(Node::Number(spelled.into()))
    }

    fn word(&mut self, word: &str, node: Node) -> Node {
        self.rest = self.rest.get(word.len()..).unwrap_or_default();
        node
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }

    fn fault(&self, what: &str) -> String {
        if self.path.is_empty() { what.into() } else { format!("{what} at {}", self.path) }
    }
}

/// Makes a document of the text of one.
pub(crate) fn json_of(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::of(&()))
}

/// Returns the canonical form of a number; none if it is beyond the range of doubles (RF-9).
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

/// Returns a string as it is sent to a referee.
pub(crate) fn sent_text(text: &str) -> String {
    let mut out = String::new();
    send_text(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Node::read(text).unwrap().canonical()
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
        assert_eq!(Node::read(text).unwrap().as_sent(), text);
        let sent = Node::read("\"é\u{2028}\\ud83d\\ude00\\t\\\"\"").unwrap().as_sent();
        assert_eq!(sent, "\"\\u00e9\\u2028\u{1f600}\\u0009\\\"\"");
    }

    #[test]
    fn rf_9_what_is_no_state_is_named_with_its_place() {
        let fault = |text: &str| Node::read(text).unwrap_err();
        assert_eq!(fault(r#"{"a":{"b":1,"b":2}}"#), "a key that is there twice at /a/b");
        assert_eq!(fault(r#"{"a":[0,1e999]}"#), "1e999 is beyond all doubles at /a/1");
        assert!(fault(r#"{"a":["\ud800"]}"#).ends_with(" at /a/0"), "{}", fault(r#"{"a":["\ud800"]}"#));
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(fault(&deep).starts_with("it nests more than 60 levels at /0/0"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let difference =
            |here: &str, there: &str| Node::read(here).unwrap().difference(&Node::read(there).unwrap());
        assert_eq!(difference(r#"{"a":[1,{"b":2}]}"#, r#"{"a":[1.0,{"b":2}]}"#), None);
        let found = difference(r#"{"a":[1,{"b":2}],"c":1}"#, r#"{"c":2,"a":[1,{"b":3}]}"#).unwrap();
        assert_eq!(found, ("/a/1/b".into(), "2".into(), "3".into()));
        assert_eq!(difference(r#"{"a":1}"#, "{}").unwrap(), ("/a".into(), "1".into(), "nothing".into()));
    }
}
