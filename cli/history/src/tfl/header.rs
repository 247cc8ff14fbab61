//! The header of a replay file: rules, dice and setup.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table};
use turnfold_core::dice::NotASeed;
use turnfold_core::digest::NotADigest;
use turnfold_core::registry::NoRules;
use turnfold_core::text::in_one_line;
use turnfold_core::{AnyRules, DicePolicy, Digest, Perspective, Registry};

use super::canonical::{HeaderMark, HeaderValues};
use super::file::TflError;
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
    pub(super) values: HeaderValues,
}

// The derive cannot compare a shared trait object.
impl PartialEq for Header {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && *self.rules == *other.rules
            && self.version == other.version
            && self.module == other.module
            && self.dice == other.dice
            && self.title == other.title
            && self.view == other.view
            && self.values == other.values
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
        let source = HeaderText { file, text: &text };
        let document = DeTable::parse(&text)
            .map_err(|error| source.error(&error.span().unwrap_or_default(), in_one_line(error.message())))?;
        let table = document.get_ref();
        let keys = table.keys().filter(|key| !KEYS.contains(&key.get_ref().as_ref()));
        if let Some(key) = keys.min_by_key(|key| key.span().start) {
            let known = "the header's keys are `ruleset`, `version`, `module`, `dice`, `seed`, `head`, `title`, `view` and \
                         the table `setup`";
            let message =
                format!("expected a key of the header, found `{}`; {known}", printable(key.get_ref()));
            return Err(source.error(&key.span(), message));
        }
        let module = source.module(table)?;
        let (rules, version) = source.ruleset(table, module.as_ref(), registry, versions)?;
        let perspective = source.view(table)?;
        let dice = source.dice(table, perspective)?;
        let mut view = None;
        if let Some(perspective) = perspective {
            let is_seeded = source.text(table, "dice")?.is_some_and(|(policy, _)| policy == "seeded");
            view = Some(SeenBy { perspective, is_seeded });
        }
        let title = match source.text(table, "title")? {
            Some((title, _)) => title.into(),
            None => String::new(),
        };
        source.require_setup(table)?;
        let values: Table = toml::from_str(&text)
            .map_err(|error| source.error(&error.span().unwrap_or_default(), in_one_line(error.message())))?;
        let values = HeaderValues::of(&values);
        Ok(Self { text, rules, version, module, dice, title, view, values })
    }

    /// Returns the canonical header: its values, one on each line.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.values.lines()
    }

    /// Returns the mark by which the closing line names this header.
    #[must_use]
    pub fn mark(&self) -> HeaderMark {
        self.values.mark()
    }

    pub(crate) fn differing(&self, blessed: HeaderMark) -> Option<&str> {
        self.values.differing(blessed)
    }

    pub(super) fn first_line_after(&self) -> usize {
        HEADER_LINE + self.text.matches('\n').count() + 1
    }
}

struct HeaderText<'a> {
    file: &'a str,
    text: &'a str,
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

    fn text<'t>(
        &self,
        table: &'t DeTable<'_>,
        key: &str,
    ) -> Result<Option<(&'t str, Range<usize>)>, TflError> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let text = value.get_ref().as_str().ok_or_else(|| self.wrong_type(key, "a string", value))?;
        Ok(Some((text, value.span())))
    }

    fn module(&self, table: &DeTable<'_>) -> Result<Option<Digest>, TflError> {
        let Some((digest, span)) = self.text(table, "module")? else { return Ok(None) };
        digest.parse().map(Some).map_err(|cause: NotADigest| self.unusable(&span, &cause))
    }

    fn ruleset(
        &self,
        table: &DeTable<'_>,
        module: Option<&Digest>,
        registry: &Registry,
        versions: Versions,
    ) -> Result<(Arc<dyn AnyRules>, u32), TflError> {
        let (name, span) = self.text(table, "ruleset")?.ok_or_else(|| self.missing("`ruleset`"))?;
        let value = table.get("version");
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

    fn view(&self, table: &DeTable<'_>) -> Result<Option<Perspective>, TflError> {
        let Some((perspective, span)) = self.text(table, "view")? else { return Ok(None) };
        match perspective.parse() {
            Ok(perspective) if perspective != Perspective::HOST => Ok(Some(perspective)),
            _ => {
                let expected = "expected a player's seat as `view`, `p1` to `p16`, or `spectator`";
                Err(self.error(&span, expected))
            }
        }
    }

    fn dice(&self, table: &DeTable<'_>, view: Option<Perspective>) -> Result<DicePolicy, TflError> {
        let what = "`dice = \"recorded\"`, `dice = \"seeded\"` or `dice = \"fair\"`";
        let (policy, span) = self.text(table, "dice")?.ok_or_else(|| self.missing(what))?;
        let seed = self.text(table, "seed")?;
        let head = self.text(table, "head")?;
        match (policy, seed, head) {
            ("recorded" | "fair", Some((_, span)), _) => Err(self.surplus("seed", policy, &span)),
            ("recorded" | "seeded", _, Some((_, span))) => Err(self.surplus("head", policy, &span)),
            ("recorded", None, None) => Ok(DicePolicy::Recorded),
            ("seeded", None, None) if view.is_some() => Ok(DicePolicy::Recorded),
            ("seeded", Some((_, span)), None) if view.is_some() => {
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

    fn require_setup(&self, table: &DeTable<'_>) -> Result<(), TflError> {
        let setup = table.get("setup").ok_or_else(|| self.missing("the table `[setup]`"))?;
        if setup.get_ref().is_table() { Ok(()) } else { Err(self.wrong_type("setup", "a table", setup)) }
    }
}

pub(super) fn position_in_file(text: &str, offset: usize) -> (usize, usize) {
    let (line, column) = position(text.get(..offset).unwrap_or_default());
    (line + HEADER_LINE - 1, column)
}

/// Returns the line and column, both from 1, after the text `before`.
pub(super) fn position(before: &str) -> (usize, usize) {
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}
