//! A replay file with what blessing would make of it: shown, asked about and written.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use turnfold_replay::{Change, Replay, RulesChange, error::input, error::limits::REPLAY, golden::bless, tfl};

use super::consent::Consent;
use crate::context::Context;
use crate::failure::Failure;
use crate::files;
use crate::output::{Line, Output, plain, warning};
use crate::render::printable;

/// Who decides what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Everything is.
    Accept,
    /// The user does, at the terminal.
    Ask,
    /// Nothing is.
    Check,
    /// Nothing is, because there is no terminal to ask on.
    Tell,
}

/// A file with its proposed changes.
pub(super) struct Proposal {
    path: PathBuf,
    /// What the judgement rests on.
    old: Vec<u8>,
    replay: Replay,
    blessed: Replay,
    pub(super) changes: Vec<Change>,
    pub(super) rules_change: Option<RulesChange>,
}

/// The result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Blessing it changes nothing.
    Unchanged,
    /// All changes were written.
    Written,
    /// Some were.
    InPart,
    /// None was.
    Left,
}

/// What of a file's changes is accepted.
pub(super) enum Accepted {
    All,
    None,
    /// The lines with these numbers.
    Lines(BTreeSet<usize>),
}

impl Proposal {
    /// Judges a file.
    pub(super) fn of(path: &Path, context: &Context) -> Result<Self, Failure> {
        let old = input::read_file(path, &REPLAY)?;
        let replay = tfl::read(&path.display().to_string(), &old, &context.registry)?;
        let blessed = bless::bless(&replay)?;
        let (changes, rules_change) = (replay.changes(&blessed), replay.rules_change(&blessed));
        Ok(Self { path: path.into(), old, replay, blessed, changes, rules_change })
    }

    pub(super) fn is_change(&self) -> bool {
        self.old != self.blessed.to_string().as_bytes()
    }

    /// Shows the changes unless they are decided already, and finds out which are accepted.
    pub(super) fn review(
        &self,
        mode: Mode,
        consent: &mut Consent,
        output: &mut Output,
    ) -> Result<Accepted, Failure> {
        if !self.is_change() {
            return Ok(Accepted::None);
        }
        let asks = mode == Mode::Ask && !consent.is_settled();
        if !output.is_json() {
            // Decided changes are not shown, and those that are asked about are shown one by one.
            if !asks && matches!(mode, Mode::Check | Mode::Tell) {
                self.show(&self.changes, output)?;
            }
            if let Some(change) = &self.rules_change {
                let change = plain(format_args!(" {}: {}", name(&self.path), change.text()));
                output.line([warning("rules change?"), change])?;
            }
        }
        match mode {
            Mode::Accept => Ok(Accepted::All),
            Mode::Check | Mode::Tell => Ok(Accepted::None),
            Mode::Ask => self.ask(consent, output),
        }
    }

    /// Asks about change after change. The closing line follows from the others, so it is asked about only where
    /// nothing else changes.
    fn ask(&self, consent: &mut Consent, output: &mut Output) -> Result<Accepted, Failure> {
        let of_lines = self.changes.split(Change::is_of_closing_line).next().unwrap_or_default();
        let asked_about = if of_lines.is_empty() { self.changes.as_slice() } else { of_lines };
        let mut accepted = BTreeSet::new();
        let mut refused = false;
        for unit in bless::in_units(asked_about) {
            if !consent.is_settled() {
                output.lines(self.lines(unit))?;
            }
            let line = unit.first().map_or(0, |change| change.line);
            let place = format!("{}:{line}", name(&self.path));
            if consent.ask(&place, &mut io::stdin().lock(), &mut |span| output.say(&span))? {
                accepted.extend(unit.iter().map(|change| change.line));
            } else {
                refused = true;
            }
        }
        Ok(match (accepted.is_empty(), refused) {
            (_, false) => Accepted::All,
            (true, true) => Accepted::None,
            (false, true) => Accepted::Lines(accepted),
        })
    }

    fn show(&self, changes: &[Change], output: &mut Output) -> Result<(), Failure> {
        Ok(self.lines(changes).into_iter().try_for_each(|line| output.line(line))?)
    }

    fn lines(&self, changes: &[Change]) -> Vec<Line> {
        bless::change_lines(&self.path.display().to_string(), changes)
    }

    /// Writes what is accepted, unless the file is no longer what was judged. A link stays one.
    pub(super) fn write(&self, accepted: &Accepted) -> Result<Fate, Failure> {
        let (new, fate) = match accepted {
            _ if !self.is_change() => return Ok(Fate::Unchanged),
            Accepted::None => return Ok(Fate::Left),
            Accepted::All => (self.blessed.to_string(), Fate::Written),
            Accepted::Lines(lines) => {
                let replay = self.replay.bless_lines(&self.blessed, |line| lines.contains(&line));
                (replay.to_string(), Fate::InPart)
            }
        };
        let unreadable = |error: io::Error| Failure::file("read replay", &self.path, &error);
        let current = input::read_file(&self.path, &REPLAY)?;
        if current == new.as_bytes() {
            return Ok(fate);
        }
        if current != self.old {
            return Err(Failure::negative(format!("`{}` has changed since it was read", name(&self.path)))
                .hint("nothing was written to it, bless it again"));
        }
        files::write_whole(&fs::canonicalize(&self.path).map_err(unreadable)?, new.as_bytes())?;
        Ok(fate)
    }
}

/// Returns how messages name a file.
pub(super) fn name(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}
