//! `turnfold bless`: writes outcomes and hashes into replay files.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use turnfold_history::golden::{Change, RulesChange};
use turnfold_history::input::Limits;
use turnfold_history::tfl::{self, Replay};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, FailureKind, Result, unless_fault};
use crate::files::{shown, write_whole};
use crate::output::{Line, Output, added, counted, dim, plain, removed, warning};
use crate::sources::{REPLAYS, Several, expanded};

/// Write outcomes and hashes into replay files
///
/// Folds each file again and shows what would change. On a terminal, asks for each change whether to accept it: `y` this
/// change, `n` not this one, `a` this and all others, `q` no more. A refused change leaves its line as it is. The closing
/// line is computed from the resulting lines, so `check` still finds what was refused. A change that is longer than the
/// screen is shown in the pager first.
///
/// Without a terminal, nothing is written without `--accept`. Comments and order stay; blessing a blessed file changes nothing. All
/// files are folded before any is written; a file that cannot be blessed is named, and the others are handled as usual.
/// With several files, only those that change are listed. A folder or pattern stands for the replay files in it.
/// Each is written whole or not at all. Exits with 1 if a change was not written, and with 2 if a file cannot be blessed
/// or the variable CI is set (except with `--check`): golden logs are blessed by people.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold bless replays/initiative/moves.tfl\n  \
    turnfold bless --accept bug.tfl\n  turnfold bless --check replays")]
pub(crate) struct Args {
    /// Replay files, or folders or patterns of `*.tfl`
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Write without asking
    #[arg(long, conflicts_with = "check")]
    accept: bool,

    /// Only show what would change; exits with 1 if anything would
    #[arg(long)]
    check: bool,
}

impl Args {
    pub(crate) fn is_paged(&self, output: &Output) -> bool {
        self.mode(output).is_ok_and(|mode| mode == Mode::Print)
    }

    fn mode(&self, output: &Output) -> Result<Mode> {
        if self.check {
            return Ok(Mode::Print);
        }
        if runs_in_ci() {
            return Err(Failure::usage("golden logs are not blessed when the variable `CI` is set")
                .hint("`--check` shows what would change"));
        }
        Ok(match self.accept {
            true => Mode::Accept,
            false if output.is_attended() => Mode::Ask,
            false => Mode::Print,
        })
    }
}

fn runs_in_ci() -> bool {
    // Every service for continuous integration sets `CI`, usually to `true`.
    env::var_os("CI").is_some_and(|value| !["", "0", "false"].contains(&value.to_string_lossy().as_ref()))
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let mode = args.mode(&context.output)?;
    let Several { sources: files, failures: unsearched } = expanded(&args.files, &REPLAYS)?;
    // With only one file, text leaves its failure to the error message.
    let is_alone = files.len() == 1 && files == args.files;
    let mut proposals = Vec::new();
    for file in &files {
        proposals.push(unless_fault(&shown(file), || Proposal::of(file, context)));
    }
    let mut consent = Consent::Each;
    let mut left = 0;
    let mut unchanged = 0;
    let mut failures = unsearched;
    let mut unblessed = Vec::new();
    let output = &mut context.output;
    for (path, proposal) in files.iter().zip(proposals) {
        // `null` if the file cannot be blessed.
        let mut changed = None;
        let mut proposed = Vec::new();
        let mut rules_change = None;
        let fate = match proposal {
            Ok(proposal) => {
                let accepted = proposal.review(mode, &mut consent, output)?;
                let fate = proposal.write(accepted);
                changed = Some(proposal.is_change());
                proposed = proposal.changes;
                rules_change = proposal.rules_change;
                fate
            }
            Err(failure) => Err(failure),
        };
        match &fate {
            Ok(Fate::Unchanged) => unchanged += 1,
            Ok(Fate::InPart | Fate::Left) => left += 1,
            Ok(Fate::Written) | Err(_) => {}
        }
        let blessed = json!({
            "file": path.display().to_string(),
            "changed": changed,
            "written": matches!(fate, Ok(Fate::Written)),
            "error": fate.as_ref().err().map(ToString::to_string),
            "rules_change": rules_change,
            "changes": proposed,
        });
        let is_listed = if is_alone { fate.is_ok() } else { !matches!(fate, Ok(Fate::Unchanged)) };
        output.show(&blessed, || if is_listed { vec![line(path, &fate, mode)] } else { Vec::new() })?;
        unblessed.extend(fate.err());
    }
    if unchanged > 0 && !is_alone {
        let files = counted(unchanged, "file", "files");
        output.note([dim(format_args!("{files} unchanged")).into()])?;
    }
    output.flush()?;
    failures.extend(in_one(unblessed, files.len()));
    if failures.is_empty() && left > 0 && mode == Mode::Print && !args.check {
        let files = counted(left, "file", "files");
        return Err(Failure::negative(format!("{files} would change")).hint("`--accept` writes them"));
    }
    ExitStatus::from(left == 0).unless(failures)
}

fn line(path: &Path, fate: &Result<Fate>, mode: Mode) -> Line {
    let word = match fate {
        Err(failure) => return Line::from([removed("failed"), plain(format_args!(" {failure}"))]),
        Ok(Fate::Unchanged) => dim("unchanged"),
        Ok(Fate::Written) => added("blessed"),
        Ok(Fate::InPart) => warning("blessed in part"),
        Ok(Fate::Left) if mode == Mode::Ask => warning("left as it was"),
        Ok(Fate::Left) => warning("would bless"),
    };
    Line::from([word, plain(format_args!(" {}", shown(path)))])
}

fn in_one(mut failures: Vec<Failure>, files: usize) -> Option<Failure> {
    let count = failures.len();
    failures.sort_by_key(Failure::exit_code);
    let worst = failures.pop()?;
    if files == 1 || worst.kind == FailureKind::ClosedPipe {
        return Some(worst);
    }
    let message = format!("{count} of {files} files could not be blessed (listed above)");
    Some(Failure::new(worst.kind, message).hint("the others were handled as usual"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Accept,
    /// The user is asked at the terminal.
    Ask,
    /// Nothing is written, because `--check` was given or there is no terminal to ask at.
    Print,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consent {
    Each,
    All,
    NoMore,
}

const HELP: &str = "y: accept this change\nn: leave these lines as they are\n\
    a: accept this and all others, in the other files too\n\
    q: accept no more; what was accepted is written\n?: this help\n";

struct Proposal {
    path: PathBuf,
    /// The content of the file when it was folded.
    old: Vec<u8>,
    replay: Replay,
    blessed: Replay,
    changes: Vec<Change>,
    rules_change: Option<RulesChange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unchanged,
    Written,
    InPart,
    Left,
}

impl Proposal {
    fn of(path: &Path, context: &Context) -> Result<Self> {
        let old = Limits::REPLAY.read_file(path)?;
        let replay = tfl::read(&path.display().to_string(), &old, &context.registry)?;
        let blessed = replay.bless()?;
        let changes = replay.changes(&blessed);
        let rules_change = replay.rules_change(&blessed);
        Ok(Self { path: path.into(), old, replay, blessed, changes, rules_change })
    }

    fn is_change(&self) -> bool {
        self.old != self.blessed.to_string().as_bytes()
    }

    fn review(&self, mode: Mode, consent: &mut Consent, output: &mut Output) -> Result<Option<String>> {
        if !self.is_change() {
            return Ok(None);
        }
        // `Accept` shows no changes, and `ask` shows them one by one.
        if mode == Mode::Print {
            output.note(self.lines(&self.changes))?;
        }
        let file = shown(&self.path);
        if self.replay.is_cut_short() {
            let text = format!(" {file}: every entry is blessed, but the closing line is missing");
            output.note([[warning("cut short?"), plain(text)].into()])?;
        }
        if let Some(change) = &self.rules_change {
            let change = plain(format_args!(" {file}: {}", change.text()));
            output.note([[warning("rules change?"), change].into()])?;
        }
        match mode {
            Mode::Accept => Ok(Some(self.blessed.to_string())),
            Mode::Print => Ok(None),
            Mode::Ask => self.ask(consent, output),
        }
    }

    /// Asks about one change after another. The closing line follows from the other changes, so the user is asked about
    /// it only if nothing else changes.
    fn ask(&self, consent: &mut Consent, output: &mut Output) -> Result<Option<String>> {
        let of_lines = self.changes.split(Change::is_of_closing_line).next().unwrap_or_default();
        let asked_about = if of_lines.is_empty() { self.changes.as_slice() } else { of_lines };
        let mut accepted = BTreeSet::new();
        let mut refused = false;
        for unit in Change::in_units(asked_about) {
            let mut is_accepted = false;
            if *consent == Consent::Each {
                output.lines(self.lines(unit))?;
                let line = unit.first().map_or(0, |change| change.line);
                let question = format!("bless {}:{line} [y,n,a,q,?]?", shown(&self.path));
                // The end of the input counts as `q`.
                match output.ask(&question, &["y", "n", "a", "q"], HELP)? {
                    "a" => *consent = Consent::All,
                    "q" => *consent = Consent::NoMore,
                    answer => is_accepted = answer == "y",
                }
            }
            if is_accepted || *consent == Consent::All {
                accepted.extend(unit.iter().map(|change| change.line));
            } else {
                refused = true;
            }
        }
        if !refused {
            return Ok(Some(self.blessed.to_string()));
        }
        if accepted.is_empty() {
            return Ok(None);
        }
        let replay = self.replay.bless_lines(&self.blessed, |line| accepted.contains(&line));
        Ok(Some(replay.to_string()))
    }

    fn lines(&self, changes: &[Change]) -> Vec<Line> {
        Change::lines(&self.path.display().to_string(), changes)
    }

    /// Writes the accepted content, unless the file has changed since it was read. A symbolic link stays a link.
    fn write(&self, accepted: Option<String>) -> Result<Fate> {
        let Some(new) = accepted else {
            return Ok(if self.is_change() { Fate::Left } else { Fate::Unchanged });
        };
        let fate = if new == self.blessed.to_string() { Fate::Written } else { Fate::InPart };
        let current = Limits::REPLAY.read_file(&self.path)?;
        if current == new.as_bytes() {
            return Ok(fate);
        }
        if current != self.old {
            return Err(Failure::negative(format!("`{}` has changed since it was read", shown(&self.path)))
                .hint("nothing was written to it, bless it again"));
        }
        let path =
            fs::canonicalize(&self.path).map_err(|error| Failure::file("read replay", &self.path, &error))?;
        write_whole(&path, new.as_bytes())?;
        Ok(fate)
    }
}
