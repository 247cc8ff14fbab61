//! The grammar of conditions.
//!
//! ```text
//! condition  = all { "||" all }
//! all        = one { "&&" one }
//! one        = "!" one | "(" condition ")" | comparison
//! comparison = PATH SIGN VALUE | "count" "(" PATH [SIGN VALUE] ")" SIGN VALUE
//! SIGN       = "==" | "!=" | "<" | "<=" | ">" | ">="
//! ```
//!
//! A PATH is a JSON pointer (RFC 6901) without white space. Its step `*` matches every element of an array or field of
//! an object. A VALUE is JSON; any other text up to `&&`, `||`, `)` or the end is a string.

use serde_json::Value;

use super::Condition;
use super::comparison::{ComparedValue, Sign, ViewComparison, kind};
use super::decimal::Decimal;

const DEPTH_MAX: usize = 64;

struct ConditionParser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

pub(super) fn parse(text: &str) -> Result<Condition, String> {
    let mut parser = ConditionParser { text, at: 0, depth: 0 };
    let root = parser.any()?;
    match parser.rest() {
        "" => Ok(root),
        _ => parser.expected("`&&`, `||` or the end"),
    }
}

impl<'a> ConditionParser<'a> {
    fn any(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.all()?];
        while self.takes("||") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.one()?];
        while self.takes("&&") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self) -> Result<Condition, String> {
        if self.depth == DEPTH_MAX {
            return self.expected("a condition that is nested less deeply");
        }
        self.depth += 1;
        let node = if self.takes("!") {
            Condition::Not(Box::new(self.one()?))
        } else if self.takes("(") {
            let inner = self.any()?;
            self.needs(")")?;
            inner
        } else {
            Condition::Compares(self.comparison()?)
        };
        self.depth -= 1;
        Ok(node)
    }

    fn comparison(&mut self) -> Result<ViewComparison, String> {
        let counts = self.rest().strip_prefix("count").is_some_and(|rest| rest.trim_start().starts_with('('));
        let subject = if counts {
            self.takes("count");
            self.needs("(")?;
            let path = self.path()?;
            let only = if self.rest().starts_with(')') { None } else { Some(self.sign_and_value()?) };
            self.needs(")")?;
            ComparedValue::Count { path, only }
        } else {
            ComparedValue::Field(self.path()?)
        };
        let before = self.at;
        let (sign, value) = self.sign_and_value()?;
        if counts && !value.is_number() {
            self.at = before;
            return self.expected("a comparison with a number");
        }
        Ok(ViewComparison { subject, sign, value })
    }

    fn path(&mut self) -> Result<String, String> {
        let rest = self.rest();
        if !rest.starts_with('/') {
            return self.expected("a path into the view such as `/turn`, `count(PATH)`, `!` or `(`");
        }
        let end = rest.find(|character: char| character.is_whitespace() || "=!<>&|()".contains(character));
        let path = &rest[..end.unwrap_or(rest.len())];
        self.at += path.len();
        Ok(path.into())
    }

    fn sign_and_value(&mut self) -> Result<(Sign, Value), String> {
        let rest = self.rest();
        let Some(sign) = Sign::ALL.into_iter().find(|sign| rest.starts_with(sign.text())) else {
            return self.expected("==, !=, <, <=, > or >=");
        };
        self.at += sign.text().len();
        let value = self.value()?;
        let has_order = value.is_number() || value.is_string();
        if !has_order && !matches!(sign, Sign::Equal | Sign::NotEqual) {
            return Err(format!(
                "expected a number or a string after `{}`, found {}",
                sign.text(),
                kind(&value)
            ));
        }
        Ok((sign, value))
    }

    fn value(&mut self) -> Result<Value, String> {
        let rest = self.rest();
        // A quoted string may contain what ends a word elsewhere, so JSON is tried first.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let first = values.next();
        let mut length = values.byte_offset();
        let value = match first {
            Some(Ok(value)) if ends_a_word(rest[length..].trim_start()) => value,
            _ => {
                let word = rest[..word_length(rest)].trim_end();
                length = word.len();
                serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.into()))
            }
        };
        if let Value::String(word) = &value
            && !rest.starts_with('"')
        {
            if word.is_empty() || word.starts_with(is_of_sign) {
                return self.expected("a value");
            }
            if let Some(at) = word.find(is_of_sign) {
                self.at += at;
                return self
                    .expected("`&&`, `||` or the end, as a string with signs is written with quotes,");
            }
        }
        if !holds_its_numbers(&rest[..length], &value) {
            return self.expected("a number of at most 17 digits");
        }
        self.at += length;
        Ok(value)
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_there = self.rest().starts_with(word);
        if is_there {
            self.at += word.len();
        }
        is_there
    }

    fn needs(&mut self, word: &str) -> Result<(), String> {
        if self.takes(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn expected<T>(&mut self, what: &str) -> Result<T, String> {
        self.rest();
        let (before, after) = self.text.split_at(self.at);
        Err(format!("expected {what} at the caret: `{before}^{after}`"))
    }
}

/// Returns `true` if no number of a value was rounded, because a condition must mean the number that is written.
fn holds_its_numbers(text: &str, value: &Value) -> bool {
    match value {
        Value::Number(number) => Decimal::read(text.trim()) == Some(Decimal::of(number)),
        // A string that looks like a number is a number that JSON cannot represent.
        Value::String(_) => Decimal::read(text.trim()).is_none(),
        Value::Array(_) | Value::Object(_) => written_numbers(text).iter().all(|written| {
            serde_json::from_str(written).is_ok_and(|value| holds_its_numbers(written, &value))
        }),
        Value::Null | Value::Bool(_) => true,
    }
}

/// Returns the numbers of a JSON document as they are written. They stand outside of its strings.
fn written_numbers(json: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    for outside in json.replace(r"\\", "").replace(r#"\""#, "").split('"').step_by(2) {
        for word in outside.split(|character: char| !is_of_number(character)) {
            if word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
                numbers.push(word.to_owned());
            }
        }
    }
    numbers
}

fn is_of_number(character: char) -> bool {
    "+-.eE".contains(character) || character.is_ascii_digit()
}

fn word_length(rest: &str) -> usize {
    for (at, _) in rest.char_indices() {
        if ends_a_word(&rest[at..]) {
            return at;
        }
    }
    rest.len()
}

fn ends_a_word(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with("&&") || rest.starts_with("||") || rest.starts_with(')')
}

fn is_of_sign(character: char) -> bool {
    "=!<>".contains(character)
}
