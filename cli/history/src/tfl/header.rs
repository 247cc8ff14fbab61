//! The header of a replay file: rules, dice and setup, its canonical form, and the places of its values.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};
use turnfold_core::dice::NotASeed;
use turnfold_core::digest::NotADigest;
use turnfold_core::registry::NoRules;
use turnfold_core::text::in_one_line;
use turnfold_core::{AnyRules, DicePolicy, Digest, Perspective, Registry, SetupError};

use super::file::TflError;
use crate::history::entry::hex_digits;
use crate::text::{printable, quoted_list};

pub(super) const HEADER_LINE: usize = 3;

const KEYS: [&str; 9] = ["ruleset", "version", "module", "dice", "seed", "head", "title", "view", "setup"];

/// The header between the two `+++`.
#[derive(Clone, Debug)]
pub struct Header {
    /// The text as it was written; each line ends with a line feed.
    pub(crate) text: String,
    /// The rules that fold the match.
    pub rules: Arc<dyn AnyRules>,
    /// The version of the ruleset that the header names. It differs from the version of `rules` only if any version was
    /// allowed.
    pub(crate) version: u32,
    /// The module that the match pins (MD-8).
    pub(crate) module: Option<Digest>,
    pub(crate) dice: DicePolicy,
    /// The title of the match; empty if left out.
    pub(crate) title: String,
    /// The seat or spectator for whom the file was written; `None` if it conceals nothing. Such a file is folded with
    /// recorded dice.
    pub view: Option<SeenBy>,
    /// The canonical lines of the values by path, such as `setup.units[2].at`. A line is path, space, value as JSON and a
    /// line feed.
    values: BTreeMap<String, String>,
}

/// Compares the text and the rules, from which everything else follows.
impl PartialEq for Header {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && *self.rules == *other.rules
    }
}

impl Eq for Header {}

/// The seat or spectator for whom a replay file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenBy {
    /// The seat or spectator, who may know everything in the file.
    pub perspective: Perspective,
    /// Whether the match has seeded dice, whose seed only the host may know.
    pub(crate) is_seeded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Versions {
    /// Only the versions of this build, because a log of another would be folded wrongly.
    Own,
    /// Any version, to find out what this build would make of the log.
    Any,
}

impl Header {
    pub(super) fn read(
        file: &str,
        text: String,
        registry: &Registry,
        versions: Versions,
    ) -> Result<Self, TflError> {
        let document = DeTable::parse(&text).map_err(|error| not_toml(file, &text, &error))?;
        let table = document.get_ref();
        let source = HeaderText { file, text: &text, table };
        let keys = table.keys().filter(|key| !KEYS.contains(&key.get_ref().as_ref()));
        if let Some(key) = keys.min_by_key(|key| key.span().start) {
            let known = "the header's keys are `ruleset`, `version`, `module`, `dice`, `seed`, `head`, `title`, `view` and \
                         the table `setup`";
            let message =
                format!("expected a key of the header, found `{}`; {known}", printable(key.get_ref()));
            return Err(source.error(&key.span(), message));
        }
        let module = source.module()?;
        let (rules, version) = source.ruleset(module.as_ref(), registry, versions)?;
        let view = source.view()?;
        let dice = source.dice(view.is_some())?;
        let title = match source.text("title")? {
            Some((title, _)) => title.into(),
            None => String::new(),
        };
        let setup = table.get("setup").ok_or_else(|| source.missing("the table `[setup]`"))?;
        if !setup.get_ref().is_table() {
            return Err(source.wrong_type("setup", "a table", setup));
        }
        let values = toml::from_str(&text).map_err(|error| not_toml(file, &text, &error))?;
        let values = canonical_lines(&values);
        Ok(Self { text, rules, version, module, dice, title, view, values })
    }

    /// Returns the canonical header: its values without comments, order and spacing, one on each line.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.values.values().map(String::as_str).collect()
    }

    /// Returns the mark by which the closing line names this header.
    #[must_use]
    pub fn mark(&self) -> HeaderMark {
        let mut mark = HeaderMark::default();
        for (path, line) in &self.values {
            let number = number_of(line);
            mark.sum = mark.sum.wrapping_add(number);
            mark.weighted = mark.weighted.wrapping_add(number_of(path).wrapping_mul(number));
        }
        mark
    }

    /// Returns the path of the value that differs from the header of another mark. Returns `None` if more than one does,
    /// or if one is missing.
    pub(crate) fn differing(&self, other: HeaderMark) -> Option<&str> {
        let mark = self.mark();
        let sum = mark.sum.wrapping_sub(other.sum);
        let weighted = mark.weighted.wrapping_sub(other.weighted);
        for (path, line) in &self.values {
            if number_of(path).wrapping_mul(sum) != weighted {
                continue;
            }
            let was_recorded = number_of(line).wrapping_sub(sum) == number_of("dice \"recorded\"\n");
            return Some(match path.as_str() {
                "dice" if !was_recorded && line.starts_with("dice [\"seeded\"") => "seed",
                "dice" if !was_recorded && line.starts_with("dice [\"fair\"") => "head",
                path => path,
            });
        }
        None
    }

    pub(crate) fn locate(&self, file: &str, error: &SetupError) -> TflError {
        let mut place = String::from("setup");
        let mut message = error.to_string();
        match error {
            SetupError::Text { line, column, message } => {
                let line = usize::try_from(*line).unwrap_or(usize::MAX).saturating_add(HEADER_LINE - 1);
                let column = usize::try_from(*column).unwrap_or(usize::MAX);
                return TflError::new(file, (line, column), format!("setup: {message}"));
            }
            SetupError::Value { field, message: why } => {
                place = format!("setup.{field}");
                message = format!("{field}: {why}");
            }
            SetupError::Bytes(_) => {}
        }
        // A value that the header does not have is looked for where it would be: in the value around it.
        let offsets = self.offsets();
        let mut path = place.as_str();
        while !path.is_empty() && !offsets.contains_key(path) {
            path = path.rfind(['.', '[']).and_then(|end| path.get(..end)).unwrap_or_default();
        }
        let offset = offsets.get(path).map_or(0, |part| part.value);
        TflError::new(file, position_in_file(&self.text, offset), format!("setup: {message}"))
    }

    pub(crate) fn line_of(&self, path: Option<&str>) -> usize {
        match path.and_then(|path| self.offsets().remove(path)) {
            Some(part) => position_in_file(&self.text, part.key).0,
            None => HEADER_LINE - 1,
        }
    }

    fn offsets(&self) -> BTreeMap<String, PartOffset> {
        let mut offsets = BTreeMap::new();
        if let Ok(document) = DeTable::parse(&self.text) {
            collect_table_offsets(document.get_ref(), "", &mut offsets);
        }
        offsets
    }

    pub(super) fn first_line_after(&self) -> usize {
        HEADER_LINE + self.text.matches('\n').count() + 1
    }
}

fn not_toml(file: &str, text: &str, error: &toml::de::Error) -> TflError {
    let start = error.span().unwrap_or_default().start;
    TflError::new(file, position_in_file(text, start), in_one_line(error.message()))
}

struct HeaderText<'a> {
    file: &'a str,
    text: &'a str,
    table: &'a DeTable<'a>,
}

impl HeaderText<'_> {
    fn error(&self, span: &Range<usize>, message: impl Into<String>) -> TflError {
        TflError::new(self.file, position_in_file(self.text, span.start), message)
    }

    fn unusable(&self, span: &Range<usize>, cause: &impl ToString) -> TflError {
        self.error(span, printable(&cause.to_string()))
    }

    fn missing(&self, key: &str) -> TflError {
        TflError::new(self.file, (HEADER_LINE - 1, 1), format!("expected {key} in the header, found none"))
    }

    fn wrong_type(&self, key: &str, expected: &str, value: &Spanned<DeValue<'_>>) -> TflError {
        let found = value.get_ref().type_str();
        self.error(&value.span(), format!("expected {expected} as `{key}`, found {found}"))
    }

    fn text(&self, key: &str) -> Result<Option<(&str, Range<usize>)>, TflError> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let text = value.get_ref().as_str().ok_or_else(|| self.wrong_type(key, "a string", value))?;
        Ok(Some((text, value.span())))
    }

    fn module(&self) -> Result<Option<Digest>, TflError> {
        let Some((digest, span)) = self.text("module")? else { return Ok(None) };
        digest.parse().map(Some).map_err(|cause: NotADigest| self.unusable(&span, &cause))
    }

    fn ruleset(
        &self,
        module: Option<&Digest>,
        registry: &Registry,
        versions: Versions,
    ) -> Result<(Arc<dyn AnyRules>, u32), TflError> {
        let (name, span) = self.text("ruleset")?.ok_or_else(|| self.missing("`ruleset`"))?;
        let value = self.table.get("version");
        let integer = value.and_then(|value| value.get_ref().as_integer());
        let version = integer.and_then(|digits| u32::from_str_radix(digits.as_str(), digits.radix()).ok());
        let found = registry.resolve(name, version.unwrap_or(u32::MAX), module);
        if let Err(NoRules::Unknown { known, .. }) = &found {
            let known = quoted_list(known);
            let name = printable(name);
            return Err(
                self.error(&span, format!("expected a ruleset of this build ({known}), found `{name}`"))
            );
        }
        let value = value.ok_or_else(|| self.missing("`version`"))?;
        let Some(integer) = integer else { return Err(self.wrong_type("version", "an integer", value)) };
        let known = match (found, version) {
            (Ok(rules), Some(version)) => return Ok((rules, version)),
            (Err(NoRules::OtherVersion { .. }), Some(version)) if versions == Versions::Any => {
                let newest = registry.newest(name).map_err(|cause| self.unusable(&span, &cause))?;
                return Ok((newest, version));
            }
            (Err(NoRules::OtherVersion { known, .. }), _) => known,
            (Err(cause), _) => return Err(self.unusable(&span, &cause)),
            (Ok(_), None) => u32::MAX,
        };
        let message = format!("expected version {known} of `{name}`, the one of this build, found {integer}");
        Err(self.error(&value.span(), message))
    }

    fn view(&self) -> Result<Option<SeenBy>, TflError> {
        let Some((perspective, span)) = self.text("view")? else { return Ok(None) };
        match perspective.parse() {
            Ok(perspective) if perspective != Perspective::HOST => {
                let is_seeded = self.text("dice")?.is_some_and(|(policy, _)| policy == "seeded");
                Ok(Some(SeenBy { perspective, is_seeded }))
            }
            _ => {
                let expected = "expected a player's seat as `view`, `p1` to `p16`, or `spectator`";
                Err(self.error(&span, expected))
            }
        }
    }

    fn dice(&self, is_for_seat: bool) -> Result<DicePolicy, TflError> {
        let what = "`dice = \"recorded\"`, `dice = \"seeded\"` or `dice = \"fair\"`";
        let (policy, span) = self.text("dice")?.ok_or_else(|| self.missing(what))?;
        let seed = self.text("seed")?;
        let head = self.text("head")?;
        match (policy, seed, head) {
            ("recorded" | "fair", Some((_, span)), _) => Err(self.surplus("seed", policy, &span)),
            ("recorded" | "seeded", _, Some((_, span))) => Err(self.surplus("head", policy, &span)),
            ("recorded", None, None) => Ok(DicePolicy::Recorded),
            ("seeded", None, None) if is_for_seat => Ok(DicePolicy::Recorded),
            ("seeded", Some((_, span)), None) if is_for_seat => {
                Err(self.error(&span, "expected no `seed` next to `view`, found one"))
            }
            ("seeded", None, None) => Err(self.error(&span, "expected `seed` with seeded dice, found none")),
            ("seeded", Some((seed, span)), None) => {
                seed.parse().map(DicePolicy::Seeded).map_err(|cause: NotASeed| self.unusable(&span, &cause))
            }
            ("fair", None, None) => Err(self.error(&span, "expected `head` with fair dice, found none")),
            ("fair", None, Some((head, span))) => {
                head.parse().map(DicePolicy::Fair).map_err(|cause: NotADigest| self.unusable(&span, &cause))
            }
            _ => Err(self.error(&span, format!("expected {what}, found `{}`", printable(policy)))),
        }
    }

    fn surplus(&self, key: &str, policy: &str, span: &Range<usize>) -> TflError {
        self.error(span, format!("expected no `{key}` with {policy} dice, found one"))
    }
}

fn position_in_file(text: &str, offset: usize) -> (usize, usize) {
    let (line, column) = position(text.get(..offset).unwrap_or_default());
    (line + HEADER_LINE - 1, column)
}

/// Returns the line and column, both from 1, after the text `before`.
pub(super) fn position(before: &str) -> (usize, usize) {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

/// The mark of a header in the closing line. It shows which value was changed. It is the sum of the numbers of the
/// header's canonical lines, and the sum of these numbers weighted by the numbers of their paths.
///
/// If one value was changed or added, the first sum differs by a number and the second by that number times the path's.
/// So the changed value is the one whose path fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderMark {
    sum: u64,
    weighted: u64,
}

impl HeaderMark {
    pub(crate) const DIGITS: usize = 32;
}

impl fmt::Display for HeaderMark {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}{:016x}", self.sum, self.weighted)
    }
}

impl FromStr for HeaderMark {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (sum, weighted) = hex_digits(text, Self::DIGITS)?.split_at(Self::DIGITS / 2);
        let sum = u64::from_str_radix(sum, 16).map_err(|error| error.to_string())?;
        let weighted = u64::from_str_radix(weighted, 16).map_err(|error| error.to_string())?;
        Ok(Self { sum, weighted })
    }
}

/// Returns the number of a text: the first 8 bytes of its blake3 hash, little-endian.
fn number_of(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}

fn canonical_lines(header: &Table) -> BTreeMap<String, String> {
    let mut lines = BTreeMap::new();
    for (key, value) in header {
        match key.as_str() {
            // Policy and seed, or policy and head, are one value, because one cannot change without the other,
            // except for another seed or head.
            "dice" if string_at(header, "dice") == "seeded" => {
                add_line("dice", &json!(["seeded", string_at(header, "seed")]), &mut lines);
            }
            "dice" if string_at(header, "dice") == "fair" => {
                add_line("dice", &json!(["fair", string_at(header, "head")]), &mut lines);
            }
            "seed" | "head" => {}
            _ => add_lines(&key_of(key), value, &mut lines),
        }
    }
    if !header.contains_key("title") {
        add_line("title", &"", &mut lines);
    }
    lines
}

fn string_at<'t>(header: &'t Table, key: &str) -> &'t str {
    header.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn add_lines(path: &str, value: &Value, lines: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) if !table.is_empty() => {
            for (key, value) in table {
                add_lines(&format!("{path}.{}", key_of(key)), value, lines);
            }
        }
        Value::Array(values) if values.iter().any(Value::is_table) => {
            for (index, value) in values.iter().enumerate() {
                add_lines(&format!("{path}[{index}]"), value, lines);
            }
        }
        _ => add_line(path, value, lines),
    }
}

fn add_line(path: &str, value: &impl Serialize, lines: &mut BTreeMap<String, String>) {
    let value = serde_json::to_string(value).expect("plain data encodes");
    lines.insert(path.into(), format!("{path} {value}\n"));
}

fn key_of(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if is_bare { key.into() } else { json!(key).to_string() }
}

/// Where a value of the header begins in its text. The key of an element of an array is the element itself.
struct PartOffset {
    key: usize,
    value: usize,
}

fn collect(
    path: String,
    key: usize,
    value: &Spanned<DeValue<'_>>,
    offsets: &mut BTreeMap<String, PartOffset>,
) {
    match value.get_ref() {
        DeValue::Table(table) => collect_table_offsets(table, &path, offsets),
        DeValue::Array(array) => {
            for (index, element) in array.iter().enumerate() {
                collect(format!("{path}[{index}]"), element.span().start, element, offsets);
            }
        }
        _ => {}
    }
    offsets.insert(path, PartOffset { key, value: value.span().start });
}

fn collect_table_offsets(table: &DeTable<'_>, path: &str, offsets: &mut BTreeMap<String, PartOffset>) {
    for (key, value) in table {
        let dot = if path.is_empty() { "" } else { "." };
        collect(format!("{path}{dot}{}", key_of(key.get_ref())), key.span().start, value, offsets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tfl::read;

    fn canonical(text: &str) -> String {
        canonical_lines(&text.parse().unwrap()).into_values().collect()
    }

    #[test]
    fn a_header_has_one_canonical_form() {
        let header =
            "dice = \"seeded\"\nseed = \"07\"\nsetup = { units = [{ at = [0, 1] }, {}], \"a b\" = [] }\n";
        let expected = "dice [\"seeded\",\"07\"]\nsetup.\"a b\" []\nsetup.units[0].at [0,1]\nsetup.units[1] {}\ntitle \"\"\n";
        assert_eq!(canonical(header), expected);
        let other = "# a comment\n'title' = ''\nseed = '07'\ndice='seeded'\n[setup]\n\"a b\" = []\n[[setup.units]]\nat = [\n0x0, 1]\n[[setup.units]]\n";
        assert_eq!(canonical(other), expected);
    }

    /// Requires the setup, which begins on line 6, to be refused at this place.
    fn check(setup: &str, expected: &str) {
        let header = "ruleset = \"initiative\"\nversion = 1\ndice = \"recorded\"\n";
        let text = format!("turnfold replay 2\n+++\n{header}{setup}\n+++\n");
        let error = read("x.tfl", text.as_bytes(), &turnfold_games::standard())
            .unwrap()
            .setup()
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(&format!("x.tfl:{expected}")), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn an_unknown_key_is_found() {
        check("[setup]\nradius = 3\nwidth = 4", "8:1: setup: unknown field `width`");
        check("setup = { radius = 3, width = 4 }", "6:23: setup: unknown field `width`");
        check("setup.radius = 3\nsetup.width = 4", "7:7: setup: unknown field `width`");
    }

    #[test]
    fn a_wrong_type_is_found() {
        check("[setup]\nradius = \"3\"", "7:10: setup: invalid type");
        check("[setup]\nradius = 300", "7:10: setup: invalid value");
        check("[setup]\n\"\\u001b[2J\" = 3", "7:1: setup: unknown field `\\u{1b}[2J`");
        check("[setup]\nblocked = [[0, 1],\n  [0]]\nradius = 3", "8:3: setup: invalid length 1");
    }

    #[test]
    fn a_wrong_unit_is_found_in_its_table() {
        let unit = "[[setup.units]]\nid = \"a1\"\nowner = \"p1\"\nat = [0, 0]";
        let check_second =
            |second: &str, expected| check(&format!("[setup]\nradius = 3\n{unit}\n  {second}"), expected);
        check_second("[[setup.units]]\nid = \"A1\"", "13:6: setup: expected an id");
        check_second("[[setup.units]]\nspeed = 1", "13:1: setup: unknown field `speed`");
        check_second("[[setup.units]]\nid = \"b1\"\nowner = \"p2\"", "12:3: setup: missing field `at`");
        check_second(
            "[[setup.units]]\nid = \"b1\"\nowner = \"p2\"\nat = [9, 9]",
            "15:6: setup: units[1].at: hex 9,9 is off the board",
        );
        check_second(
            "[[setup.units]]\nid = \"b1\"\nowner = \"p3\"\nat = [1, 0]",
            "14:9: setup: units[1].owner",
        );
    }

    #[test]
    fn a_missing_field_is_reported_at_the_table() {
        check("[setup]", "6:1: setup: missing field `radius`");
    }
}
