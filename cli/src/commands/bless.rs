//! `turnfold bless`: write outcomes and hashes into replay files.

mod consent;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use turnfold_replay::{Change, Replay, RulesChange, bless, input, limits::REPLAY, tfl};

use self::consent::Consent;
use crate::context::Context;
use crate::failure::{Answer, Failure, FailureKind};
use crate::files;
use crate::output::{self, Output, Tone, counted, paint};
use crate::render::printable;

/// Write outcomes and hashes into replay files
///
/// Folds each file again, shows what would change, and asks on a terminal entry by entry whether to accept it: `y` this
/// change, `n` not this one, `a` this and all others, `q` no more. Lines whose change is refused stay as they are, and
/// the closing line is made for the lines as they then stand, so `check` still finds what was refused. A change that is
/// longer than the screen is shown in the pager first. Elsewhere nothing
/// is written without `--accept`. Comments and order stay; blessing a blessed file changes nothing. All files are judged
/// before any is written; one that cannot be blessed is named and the others are blessed all the same. Each is written
/// whole or not at all. Exits with 1 if a change was not written, and with 2 if a file cannot be blessed or where the
/// variable CI is set, unless told only to check: golden logs are blessed by people.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold bless replays/initiative/moves.tfl\n  \
    turnfold bless --accept bug.tfl\n  turnfold bless --check replays/*/*.tfl")]
pub(crate) struct Args {
    /// The replay files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write without asking
    #[arg(long, conflicts_with = "check")]
    accept: bool,

    /// Only tell what would change; exits with 1 if anything would
    #[arg(long)]
    check: bool,
}

impl Args {
    /// Returns `true` if all changes are shown at once and nothing is asked, so that a pager may show them.
    pub(crate) fn is_paged(&self, output: &Output) -> bool {
        self.check || !self.accept && Mode::choose(self, output).is_ok_and(|mode| mode == Mode::Tell)
    }
}

/// Who decides what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Everything is.
    Accept,
    /// Somebody at the terminal does.
    Ask,
    /// Nothing is.
    Check,
    /// Nothing is, as nobody is there to ask.
    Tell,
}

impl Mode {
    fn choose(args: &Args, output: &Output) -> Result<Self, Failure> {
        if args.check {
            return Ok(Self::Check);
        }
        if runs_in_ci() {
            return Err(Failure::usage("golden logs are not blessed where the variable `CI` is set")
                .hint("`--check` tells what would change"));
        }
        Ok(match args.accept {
            true => Self::Accept,
            false if !output.is_json() && output::is_attended() => Self::Ask,
            false => Self::Tell,
        })
    }
}

/// Returns `true` if the program runs under continuous integration, where all services set `CI`, most of them to `true`.
fn runs_in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !["", "0", "false"].contains(&value.to_string_lossy().as_ref()))
}

/// A file with what would become of it.
struct Proposal {
    path: PathBuf,
    /// What the judgement rests on.
    old: Vec<u8>,
    replay: Replay,
    blessed: Replay,
    changes: Vec<Change>,
    rules_change: Option<RulesChange>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Blessing it changes nothing.
    Unchanged,
    /// All changes were written.
    Written,
    /// Some were.
    InPart,
    /// None was.
    Left,
}

#[derive(Serialize)]
struct BlessJson<'a> {
    file: String,
    /// Null where the file cannot be blessed.
    changed: Option<bool>,
    written: bool,
    error: Option<String>,
    rules_change: Option<&'a RulesChange>,
    changes: &'a [Change],
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let mode = Mode::choose(args, &context.output)?;
    let proposals: Vec<_> =
        args.files.iter().map(|file| (file.as_path(), Proposal::of(file, context))).collect();
    let mut consent = Consent::default();
    let (mut left, mut failures) = (0, Vec::new());
    for (path, proposal) in proposals {
        let output = &mut context.output;
        let fate = match &proposal {
            Ok(proposal) => {
                let accepted = proposal.review(mode, &mut consent, output)?;
                proposal.write(&accepted)
            }
            Err(failure) => Err(failure.clone()),
        };
        left += u64::from(matches!(fate, Ok(Fate::Left | Fate::InPart)));
        // The one file's failure is all that is said of it.
        if fate.is_ok() || args.files.len() > 1 || output.is_json() {
            report(path, proposal.as_ref().ok(), &fate, mode, output)?;
        }
        failures.extend(fate.err());
    }
    context.output.flush()?;
    if let Some(failure) = in_one(failures, args.files.len()) {
        return Err(failure);
    }
    if left > 0 && mode == Mode::Tell {
        let files = counted(left, "file", "files");
        return Err(
            Failure::negative(format!("nothing was written: {files} would change")).hint("`--accept` writes")
        );
    }
    Ok(if left == 0 { Answer::Yes } else { Answer::No })
}

/// Makes one failure of those of all files, with the highest exit code among them.
fn in_one(mut failures: Vec<Failure>, files: usize) -> Option<Failure> {
    let count = failures.len();
    failures.sort_by_key(Failure::exit_code);
    let worst = failures.pop()?;
    if files == 1 || worst.kind == FailureKind::ClosedPipe {
        return Some(worst);
    }
    let message = format!("{count} of {files} files cannot be blessed");
    Some(worst.with_message(message).hint("they are named above, the others were treated as ever"))
}

/// Says what became of a file.
fn report(
    path: &Path,
    proposal: Option<&Proposal>,
    fate: &Result<Fate, Failure>,
    mode: Mode,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.json(&BlessJson {
            file: path.display().to_string(),
            changed: proposal.map(Proposal::is_change),
            written: matches!(fate, Ok(Fate::Written)),
            error: fate.as_ref().err().map(ToString::to_string),
            rules_change: proposal.and_then(|proposal| proposal.rules_change.as_ref()),
            changes: proposal.map(|proposal| proposal.changes.as_slice()).unwrap_or_default(),
        })?;
        return Ok(());
    }
    let (tone, word) = match (fate, mode) {
        (Err(failure), _) => {
            output.line(format_args!("{} {failure}", paint(Tone::Old, "failed")))?;
            return Ok(());
        }
        (Ok(Fate::Unchanged), _) => (Tone::Faint, "unchanged"),
        (Ok(Fate::Written), _) => (Tone::New, "blessed"),
        (Ok(Fate::InPart), _) => (Tone::Odd, "blessed in part"),
        (Ok(Fate::Left), Mode::Ask) => (Tone::Odd, "left as it was"),
        (Ok(Fate::Left), _) => (Tone::Odd, "would bless"),
    };
    output.line(format_args!("{} {}", paint(tone, word), name(path)))?;
    Ok(())
}

fn name(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// What of a file's changes is accepted.
enum Accepted {
    All,
    None,
    /// The lines with these numbers.
    Lines(BTreeSet<usize>),
}

impl Proposal {
    /// Judges a file.
    fn of(path: &Path, context: &Context) -> Result<Self, Failure> {
        let old = input::read_file(path, &REPLAY)?;
        let replay = tfl::read(&path.display().to_string(), &old, &context.registry)?;
        let blessed = bless::bless(&replay)?;
        let (changes, rules_change) = (replay.changes(&blessed), replay.rules_change(&blessed));
        Ok(Self { path: path.into(), old, replay, blessed, changes, rules_change })
    }

    fn is_change(&self) -> bool {
        self.old != self.blessed.to_string().as_bytes()
    }

    /// Shows the changes where somebody has to know them, and finds out which are accepted.
    fn review(&self, mode: Mode, consent: &mut Consent, output: &mut Output) -> Result<Accepted, Failure> {
        if !self.is_change() {
            return Ok(Accepted::None);
        }
        let asks = mode == Mode::Ask && !consent.is_settled();
        if !output.is_json() {
            // Nobody reads changes that are decided already, and those that are asked about are shown one by one.
            if !asks && matches!(mode, Mode::Check | Mode::Tell) {
                self.show(&self.changes, output)?;
            }
            if let Some(change) = &self.rules_change {
                let warning = paint(Tone::Odd, "rules change?");
                output.line(format_args!("{warning} {}: {}", name(&self.path), change.text()))?;
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
                output.lines(&self.painted(unit))?;
            }
            let line = unit.first().map_or(0, |change| change.line);
            let place = format!("{}:{line}", name(&self.path));
            let mut say = |text: &str| output.text(text).and_then(|()| output.flush());
            if consent.ask(&place, &mut io::stdin().lock(), &mut say)? {
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
        Ok(self.painted(changes).iter().try_for_each(|line| output.line(line))?)
    }

    fn painted(&self, changes: &[Change]) -> Vec<String> {
        let lines = bless::change_lines(&self.path.display().to_string(), changes);
        lines.into_iter().map(|(tone, line)| paint(tone, line)).collect()
    }

    /// Writes what is accepted, unless the file is no longer what was judged. A link stays one.
    fn write(&self, accepted: &Accepted) -> Result<Fate, Failure> {
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
            return Err(Failure::negative(format!("`{}` was changed meanwhile", name(&self.path)))
                .hint("nothing was written to it, bless it again"));
        }
        files::write_whole(&fs::canonicalize(&self.path).map_err(unreadable)?, new.as_bytes())?;
        Ok(fate)
    }
}
