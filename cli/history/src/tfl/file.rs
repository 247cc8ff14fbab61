//! A replay file in memory: folded, composed from a match, and written as text.

use std::fmt::{self, Write};
use std::sync::Arc;

use turnfold_core::{
    AnyRules, AnyState, DicePolicy, Digest, FoldError, Logged, Outcome, Perspective, Registry, SetupError,
    Step,
};

use super::header::{Header, HeaderMark, SeenBy, Versions};
use crate::{Attempt, LogEntry};

pub(super) const FIRST_LINE: &str = "turnfold replay 2";

pub(super) const FENCE: &str = "+++";

/// The mark between a command and its outcome, before a space.
pub(super) const ARROW: &str = " =>";

/// A replay file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// The name of the file in messages.
    pub file: String,
    /// The header.
    pub header: Header,
    /// The lines between header and closing line. Entries are numbered from 1 without a gap.
    pub lines: Vec<ReplayLine>,
    /// The closing line, the last of the file.
    pub closing: Option<Closing>,
}

/// A line after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayLine {
    /// An empty line.
    Blank,
    /// The text after the `#`.
    Comment(String),
    /// A recorded command.
    Entry(LogEntry),
    /// A command that the rules must reject at that point.
    Attempt(Attempt),
}

impl ReplayLine {
    pub(crate) fn entry(&self) -> Option<&LogEntry> {
        if let Self::Entry(entry) = self { Some(entry) } else { None }
    }
}

/// The closing line, the last of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The number of entries.
    pub count: u64,
    /// The hash of the state after the last entry.
    pub state: Digest,
    /// The blake3 hash of the canonical header and entry lines.
    pub(crate) log: Digest,
    pub(crate) header: HeaderMark,
}

/// An error in a replay file and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct TflError {
    /// The name of the file in messages.
    pub file: String,
    pub(crate) line: usize,
    pub(crate) column: usize,
    /// What was expected and found.
    pub message: String,
}

impl TflError {
    pub(crate) fn new(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Self {
        Self { file: file.into(), line, column, message: message.into() }
    }
}

impl Replay {
    /// Requires a file that conceals nothing.
    ///
    /// # Errors
    /// [`TflError`] at the header of a file for one seat.
    pub fn whole(self) -> Result<Self, TflError> {
        let Some(SeenBy { perspective, .. }) = self.header.view else { return Ok(self) };
        let message = format!(
            "expected a whole replay file, found what `{perspective}` may know of one, which can only be shown and stepped"
        );
        Err(TflError::new(&self.file, (self.header.line_of(Some("view")), 1), message))
    }

    pub(crate) fn setup(&self) -> Result<Vec<u8>, TflError> {
        let setup = self.header.rules.read_setup_of(&self.header.text);
        setup.map_err(|error| self.header.locate(&self.file, &error))
    }

    pub(crate) fn start(&self) -> Result<Box<dyn AnyState>, TflError> {
        let state = self.header.rules.start(&self.setup()?);
        state.map_err(|error| self.header.locate(&self.file, &error))
    }

    /// Returns the entries in order.
    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.numbered_entries().map(|(_, entry)| entry)
    }

    pub(crate) fn numbered_entries(&self) -> impl Iterator<Item = (usize, &LogEntry)> {
        self.numbered_lines().filter_map(|(number, line)| Some((number, line.entry()?)))
    }

    pub(crate) fn numbered_lines(&self) -> impl Iterator<Item = (usize, &ReplayLine)> {
        (self.header.first_line_after()..).zip(&self.lines)
    }

    /// Returns `true` if the end of the file seems to be lost: every entry is blessed, but there is no closing line. A
    /// file that is still being written lacks an outcome or a hash at its end as well.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        let mut is_any = false;
        for entry in self.entries() {
            is_any = true;
            if entry.outcome.is_none() || entry.hash.is_none() {
                return false;
            }
        }
        is_any && self.closing.is_none() && self.header.view.is_none()
    }

    pub(crate) fn closing_line(&self) -> usize {
        self.header.first_line_after() + self.lines.len()
    }

    pub(crate) fn until_line(&self, line: usize) -> Self {
        let count = (line + 1).saturating_sub(self.header.first_line_after());
        let lines = self.lines.get(..count).unwrap_or(&self.lines).to_vec();
        Self { lines, closing: None, ..self.clone() }
    }

    pub(crate) fn locate(&self, error: &FoldError) -> TflError {
        for (line, entry) in self.numbered_entries() {
            if entry.seq != error.seq() {
                continue;
            }
            let LogEntry { seq, seat, command, .. } = entry;
            let column = format!("{seq} {seat} ").len() + 1;
            let mut message = error.to_string();
            if matches!(error, FoldError::Rejected { .. }) {
                message = format!("{message}; if that is meant, write `! {} {command}`", seat.name());
            }
            return TflError::new(&self.file, (line, column), message);
        }
        TflError::new(&self.file, (self.closing_line(), 1), error.to_string())
    }

    /// Folds the entries in runs, judges each attempt between them, and passes each to `observe`. Stops after a run or an
    /// attempt for which `observe` returned `false` at last.
    pub(crate) fn fold(
        &self,
        state: &mut dyn AnyState,
        observe: &mut dyn FnMut(FoldedLine<'_>) -> bool,
    ) -> Result<(), FoldError> {
        let mut run: Vec<Logged<'_>> = Vec::with_capacity(self.lines.len());
        let mut goes_on = true;
        for (number, line) in self.numbered_lines() {
            match line {
                ReplayLine::Blank | ReplayLine::Comment(_) => {}
                ReplayLine::Entry(entry) => run.push(entry.logged()),
                ReplayLine::Attempt(attempt) => {
                    let dice = &self.header.dice;
                    state.fold(&run, dice, &mut |step| goes_on = observe(FoldedLine::Entry(step)))?;
                    run.clear();
                    if goes_on {
                        let outcome = Outcome::from(&state.judge(attempt.seat, &attempt.command));
                        goes_on = observe(FoldedLine::Attempt(number, attempt, outcome));
                    }
                    if !goes_on {
                        return Ok(());
                    }
                }
            }
        }
        state.fold(&run, &self.header.dice, &mut |step| goes_on = observe(FoldedLine::Entry(step)))
    }

    pub(crate) fn fold_entries<'a>(
        &self,
        state: &mut dyn AnyState,
        entries: impl IntoIterator<Item = &'a LogEntry>,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), TflError> {
        let folded = state.fold(&LogEntry::all_logged(entries), &self.header.dice, observe);
        folded.map_err(|error| self.locate(&error))
    }

    /// Returns a replay of a match without entries. `file` is its name in messages. `view` is the seat or spectator for
    /// whom it is written, if it conceals anything.
    ///
    /// # Errors
    /// [`SetupError`] if the bytes are no setup of these rules.
    pub fn compose(
        file: &str,
        origin: ReplayOrigin<'_>,
        setup: &[u8],
        view: Option<Perspective>,
    ) -> Result<Self, SetupError> {
        let ReplayOrigin { rules, module, dice, title } = origin;
        let setup = rules.write_setup(setup)?;
        let table: toml::Table =
            toml::from_str(&setup).map_err(|error| SetupError::Bytes(error.to_string()))?;
        // The setup is wrapped in a table, so that `[[units]]` becomes `[[setup.units]]`.
        let wrapped = toml::Table::from_iter([("setup".to_string(), toml::Value::Table(table))]);
        let policy = match dice {
            DicePolicy::Recorded => "dice = \"recorded\"\n".into(),
            DicePolicy::Seeded(_) if view.is_some() => "dice = \"seeded\"\n".into(),
            DicePolicy::Seeded(seed) => format!("dice = \"seeded\"\nseed = \"{seed}\"\n"),
            DicePolicy::Fair(head) => format!("dice = \"fair\"\nhead = \"{head}\"\n"),
        };
        let seen = match view {
            Some(perspective) => format!(
                "view = \"{perspective}\"\n# What {perspective} may not know is left out: seed, hashes and hidden entries. Setup values not seen are made up.\n"
            ),
            None => String::new(),
        };
        let pin = match module {
            Some(module) => format!("module = \"{module}\"\n"),
            None => String::new(),
        };
        let text = format!(
            "ruleset = \"{}\"\nversion = {}\n{pin}{policy}title = {}\n{seen}\n{}",
            rules.name(),
            rules.version(),
            toml_string(title),
            toml::to_string(&wrapped).map_err(|error| SetupError::Bytes(error.to_string()))?,
        );
        let registry = Registry::default().replacing(rules.clone());
        let header = Header::read(file, text, &registry, Versions::Own);
        let header = header.map_err(|error| SetupError::Bytes(error.message))?;
        Ok(Self { file: file.into(), header, lines: Vec::new(), closing: None })
    }

    /// Adds an entry that was just folded, with its outcome and hash. The time is kept, but not written.
    pub fn record(&mut self, step: &mut dyn Step, recorded_at_ms: Option<i64>) {
        self.lines.push(ReplayLine::Entry(LogEntry { recorded_at_ms, ..LogEntry::of(step) }));
    }

    /// Adds the closing line for a replay that ends in a state with this hash.
    pub fn close(&mut self, state: Digest) {
        let count = self.entries().last().map_or(0, |entry| entry.seq);
        self.closing = Some(Closing { count, state, log: self.log_digest(), header: self.header.mark() });
    }

    pub(crate) fn log_digest(&self) -> Digest {
        let mut log = LogHasher::new(&self.header);
        for entry in self.entries() {
            log.add(entry);
        }
        log.finish()
    }
}

impl fmt::Display for Replay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{FIRST_LINE}\n{FENCE}\n{}{FENCE}\n", self.header.text)?;
        for line in &self.lines {
            writeln!(out, "{line}")?;
        }
        if let Some(closing) = self.closing {
            writeln!(out, "{closing}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ReplayLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => Ok(()),
            Self::Comment(text) => write!(out, "#{text}"),
            Self::Entry(entry) => entry.fmt(out),
            Self::Attempt(attempt) => attempt.fmt(out),
        }
    }
}

impl fmt::Display for LogEntry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.seq, self.seat, self.command)?;
        if let Some(outcome) = &self.outcome {
            out.write_str(" => ")?;
            outcome.fmt(out)?;
        }
        if let Some(hash) = &self.hash {
            out.write_str(" #")?;
            hash.fmt(out)?;
        }
        Ok(())
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "! {} {}", self.seat, self.command)?;
        if let Some(outcome) = &self.outcome {
            write!(out, " => {outcome}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Closing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, state, log, header } = self;
        write!(out, "= {count} state {state} log {log} header {header}")
    }
}

/// The parts of a replay's header besides its setup.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOrigin<'a> {
    /// The rules.
    pub rules: &'a Arc<dyn AnyRules>,
    /// The module that the match pins (MD-8).
    pub module: Option<Digest>,
    /// Where rolls come from.
    pub dice: DicePolicy,
    /// The title.
    pub title: &'a str,
}

/// What a fold passes on.
pub(crate) enum FoldedLine<'a> {
    Entry(&'a mut dyn Step),
    /// The number of the line, the attempt, and the outcome that the rules give it. An applied outcome has no effects,
    /// because nothing is carried out.
    Attempt(usize, &'a Attempt, Outcome),
}

/// Computes the log digest: blake3 over the lines of the canonical header and of the entries, with their line feeds.
pub(crate) struct LogHasher {
    hasher: blake3::Hasher,
    line: String,
}

impl LogHasher {
    pub(crate) fn new(header: &Header) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(header.canonical().as_bytes());
        Self { hasher, line: String::new() }
    }

    pub(crate) fn add(&mut self, entry: &LogEntry) {
        self.line.clear();
        writeln!(self.line, "{entry}").expect("writing to a string cannot fail");
        self.hasher.update(self.line.as_bytes());
    }

    pub(crate) fn finish(&self) -> Digest {
        self.hasher.finalize().into()
    }
}

/// Returns text as a TOML string on one line. The `toml` crate would write text with line feeds on several lines, which
/// could look like a fence. It would also leave some control characters unescaped.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(character)).expect("writing to a string cannot fail");
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use turnfold_core::{CommandSource, Logged, Seat, Seed};

    use super::*;
    use crate::tfl::read;

    const SETUP: &str = r#"
radius = 3
blocked = [[1, 1], [2, -1]]
[[units]]
id = "a1"
owner = "p1"
name = "Atlas \"+++\""
at = [0, 3]
[[units]]
id = "b1"
owner = "p2"
at = [0, -3]
mp = 6
"#;

    /// Composes a replay with this title and requires that it can be read, blessed and checked.
    fn check_composed(title: &str, dice: DicePolicy) {
        let rules = turnfold_games::standard().find("initiative").unwrap();
        let setup = rules.read_setup(SETUP).unwrap();
        let origin = ReplayOrigin { rules: &rules, module: None, dice, title };
        let mut replay = Replay::compose("x.tfl", origin, &setup, None).unwrap();
        let mut state = rules.start(&setup).unwrap();
        let roll = state.seeded_roll(&dice).unwrap_or_else(|| vec![6, 6, 1, 1]);
        let command = state.roll_command(roll).unwrap();
        let entry = Logged { seq: 1, seat: Seat::Host, command: CommandSource::Text(&command) };
        state.fold(&[entry], &dice, &mut |step| replay.record(step, None)).unwrap();
        replay.close(state.state_hash());
        let text = replay.to_string();
        assert_eq!(read("x.tfl", text.as_bytes(), &turnfold_games::standard()).unwrap(), replay);
        assert_eq!(replay.bless().unwrap(), replay);
        assert_eq!(replay.check().unwrap().difference, None);
        assert_eq!(replay.setup().unwrap(), setup);
        assert_eq!(replay.header.title, title);
    }

    #[test]
    fn any_title_survives_with_any_dice() {
        check_composed("", DicePolicy::Seeded(Seed::new([9; 32])));
        check_composed("", DicePolicy::Fair(Digest::new([9; 32])));
        check_composed("quotes \" and ' and \\ \r\n+++\n\t\u{1b}\u{7f}\u{85} \u{2014}", DicePolicy::Recorded);
    }
}
