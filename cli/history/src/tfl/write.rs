//! Writes replays as text, and composes replays of matches.

use std::fmt::{self, Write};
use std::sync::Arc;

use turnfold_core::{AnyRules, DicePolicy, Digest, Perspective, Registry, SetupError, Step};

use super::file::{Closing, FENCE, FIRST_LINE, Replay, ReplayLine};
use super::header::{Header, Versions};
use crate::history::entry::{Attempt, LogEntry};

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

impl Replay {
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
