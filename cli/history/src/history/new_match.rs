//! New matches: read from replay files, or made of a setup with other seeds (SV-62).

use std::path::Path;
use std::sync::Arc;

use toml::Value;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Outcome, Registry, SetupError};
use turnfold_store::{NewEntry, PackedEntries};

use crate::compare::Divergence;
use crate::history::source::RUN;
use crate::tfl::{Closing, Header, LogHasher, LongReplay, Replay, ReplayLine, TflError};
use crate::{Attempt, LogEntry, Passed, ReplayError};

/// A match from a replay file: everything but its id and its times.
pub struct Imported {
    /// The rules.
    pub rules: Arc<dyn AnyRules>,
    /// The setup, as the log stores it.
    pub setup: Vec<u8>,
    /// Where its rolls come from.
    pub dice: DicePolicy,
    /// The module that the match pins (MD-8).
    pub module: Option<Digest>,
    /// The title.
    pub title: String,
    /// The entries.
    pub entries: PackedEntries,
    /// The state after the last entry.
    pub state: Box<dyn AnyState>,
    /// The snapshots that are due among the entries.
    pub passed: Passed,
    /// Entries that are not folded yet.
    run: Vec<LogEntry>,
    log: LogHasher,
    recorded_at_ms: i64,
}

impl Imported {
    /// Folds a replay. Outcomes and hashes that the file records must be right.
    ///
    /// # Errors
    /// [`ReplayError`] if the file records something that the rules do not compute, or its setup or an entry cannot be
    /// folded.
    pub fn of(replay: &Replay, recorded_at_ms: i64) -> Result<Self, ReplayError> {
        let mut imported = Self::start(replay, recorded_at_ms)?;
        let is_true = replay.lines.iter().all(|line| imported.take(line.clone()));
        if is_true && imported.end(replay, replay.closing) {
            return Ok(imported);
        }
        // Blessing names what is wrong.
        replay.bless_if_true()?;
        let what = "the rules compute another result each time".into();
        Err(ReplayError::Untrue { file: replay.file.clone(), line: None, what })
    }

    /// Folds a replay file while reading it in runs of entries, so that a long one takes little memory. Returns `None`
    /// for standard input, for a page, for a file for one seat, and for a file with an error. The caller then uses
    /// [`of`](Self::of), which reads them or names the error.
    #[must_use]
    pub fn of_long(path: &Path, registry: &Registry, recorded_at_ms: i64) -> Option<Self> {
        let long = LongReplay::open(path, registry)?;
        let replay = &long.replay;
        if replay.header.view.is_some() {
            return None;
        }
        let mut imported = Self::start(replay, recorded_at_ms).ok()?;
        let mut is_true = true;
        let read = long.pass(&mut |line| {
            is_true = imported.take(line);
            Ok(is_true)
        });
        let closing = read.ok()?.closing;
        if is_true && imported.end(replay, closing) { Some(imported) } else { None }
    }

    fn start(replay: &Replay, recorded_at_ms: i64) -> Result<Self, TflError> {
        let Header { rules, module, dice, title, .. } = &replay.header;
        Ok(Self {
            rules: Arc::clone(rules),
            setup: replay.setup()?,
            dice: *dice,
            module: *module,
            title: title.clone(),
            entries: PackedEntries::default(),
            state: replay.start()?,
            passed: Passed::default(),
            run: Vec::new(),
            log: LogHasher::new(&replay.header),
            recorded_at_ms,
        })
    }

    /// Folds what is left, at the end of a replay with this closing line. Returns `false` if the file records something
    /// that the rules do not compute.
    fn end(&mut self, replay: &Replay, closing: Option<Closing>) -> bool {
        if !self.fold() {
            return false;
        }
        let computed = Closing {
            count: self.entries.count(),
            state: self.state.state_hash(),
            log: self.log.finish(),
            header: replay.header.mark(),
        };
        closing.is_none_or(|closing| closing == computed)
    }

    fn take(&mut self, line: ReplayLine) -> bool {
        match line {
            ReplayLine::Blank | ReplayLine::Comment(_) => true,
            ReplayLine::Entry(entry) => {
                let is_full = entry.seq.is_multiple_of(RUN as u64);
                self.run.push(entry);
                !is_full || self.fold()
            }
            ReplayLine::Attempt(Attempt { seat, command, .. }) => {
                self.fold()
                    && matches!(Outcome::from(&self.state.judge(seat, &command)), Outcome::Rejected(_))
            }
        }
    }

    /// Folds the waiting entries. Returns `false` if the rules refuse one, or compute another outcome or hash than the
    /// file records.
    fn fold(&mut self) -> bool {
        let Self { dice, state, run, log, recorded_at_ms, entries, passed, .. } = self;
        let mut recorded = run.iter();
        let mut is_true = true;
        let folded = state.fold(&LogEntry::all_logged(&*run), dice, &mut |step| {
            let computed = LogEntry::of(step);
            is_true &= match recorded.next() {
                Some(recorded) => Divergence::contradiction(recorded, &computed).is_none(),
                None => false,
            };
            log.add(&computed);
            let seat = step.seat();
            let command = step.command_bytes();
            let recorded_at_ms = *recorded_at_ms;
            entries.push(&NewEntry { seat, command, recorded_at_ms });
        });
        passed.note(entries.count(), state.as_ref());
        run.clear();
        is_true && folded.is_ok()
    }
}

/// The widths of seeds to try, in bits: what TOML can write, what JSON reads exactly, and what smaller games may want.
const WIDTHS: [u32; 4] = [63, 53, 31, 15];

/// Returns a setup with every integer named `seed`, at any depth, replaced by one from `draw`.
///
/// A game that refuses large seeds gets smaller ones. A setup without a seed stays as it is.
///
/// # Errors
/// [`SetupError`] if the bytes are no setup of the game, or if it refuses all seeds that were tried.
pub fn with_seeds(
    rules: &dyn AnyRules,
    setup: &[u8],
    draw: &mut dyn FnMut() -> u64,
) -> Result<Vec<u8>, SetupError> {
    let written = rules.write_setup(setup)?;
    let mut refused = None;
    for width in WIDTHS {
        let table = written.parse().map_err(|error: toml::de::Error| SetupError::Bytes(error.to_string()))?;
        let mut drawn = Value::Table(table);
        if !replace(&mut drawn, &mut || draw() >> (64 - width)) {
            return Ok(setup.to_vec());
        }
        let drawn = toml::to_string(&drawn).map_err(|error| SetupError::Bytes(error.to_string()))?;
        match rules.read_setup(&drawn) {
            Ok(setup) => return Ok(setup),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| SetupError::Bytes("no seed was tried".to_owned())))
}

fn replace(value: &mut Value, draw: &mut dyn FnMut() -> u64) -> bool {
    let mut is_any = false;
    if let Value::Table(table) = value {
        for (key, value) in table.iter_mut() {
            if key == "seed" && value.is_integer() {
                *value = Value::Integer(draw().cast_signed());
                is_any = true;
            } else {
                is_any |= replace(value, draw);
            }
        }
    } else if let Value::Array(values) = value {
        for value in values {
            is_any |= replace(value, draw);
        }
    }
    is_any
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: &str = "generate = { seed = 7, percent = 30 }";

    #[test]
    fn sv_62_seeds_are_drawn_anew_at_every_depth_and_nothing_else_changes() {
        let registry = turnfold_games::standard();
        for (game, setup) in [("channel", "players = 2\nseed = 7"), ("hexcapture", WORLD)] {
            let rules = registry.find(game).unwrap();
            let setup = rules.read_setup(setup).unwrap();
            // A seed is the highest 63 bits of the drawn number.
            let drawn = with_seeds(&*rules, &setup, &mut || 1 << 60).unwrap();
            let before = rules.write_setup(&setup).unwrap();
            let after = rules.write_setup(&drawn).unwrap();
            assert_eq!(before.replace("seed = 7", "seed = 576460752303423488"), after);
            assert_ne!(before, after);
        }
    }

    #[test]
    fn sv_62_a_setup_without_a_seed_stays_as_it_is() {
        let registry = turnfold_games::standard();
        let rules = registry.find("initiative").unwrap();
        let setup = rules.read_setup(rules.example()).unwrap();
        assert_eq!(with_seeds(&*rules, &setup, &mut || unreachable!("there is no seed")).unwrap(), setup);
    }

    #[test]
    fn sv_62_seeds_in_lists_count_and_words_do_not() {
        let setup = |seeds: [u64; 2]| {
            let [one, other] = seeds;
            let text =
                format!("seed = \"word\"\n[[worlds]]\nseed = {one}\nmore = [[{{ seed = {other} }}]]\n");
            Value::Table(text.parse().unwrap())
        };
        let mut table = setup([1, 2]);
        assert!(replace(&mut table, &mut || 9));
        assert_eq!(table, setup([9, 9]));
    }
}
