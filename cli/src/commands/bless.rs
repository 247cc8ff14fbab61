//! `turnfold bless`: write outcomes and hashes into replay files.

mod consent;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::consent::Consent;
use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{self, Output, Tone, counted, paint};
use crate::render::printable;
use crate::tfl::{self, Change, RulesChange};
use crate::{files, limits};

/// Write outcomes and hashes into replay files
///
/// Folds each file again, shows what would change, and asks on a terminal whether to write it: `y` this file, `n` not
/// this one, `a` this and all others, `q` no more. Elsewhere nothing is written without `--accept`. Comments and order
/// stay; blessing a blessed file changes nothing. All files are judged before any is written, and each is written whole
/// or not at all. Exits with 1 if a change was not written, and with 2 where the variable CI is set, unless told only to
/// check: golden logs are blessed by people.
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

/// Tells whether the program runs under continuous integration, where all services set `CI`, most of them to `true`.
fn runs_in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !["", "0", "false"].contains(&value.to_string_lossy().as_ref()))
}

/// A file with what would become of it.
struct Proposal<'a> {
    path: &'a Path,
    /// What the judgement rests on.
    old: Vec<u8>,
    new: String,
    changes: Vec<Change>,
    rules_change: Option<RulesChange>,
}

#[derive(Serialize)]
struct BlessJson<'a> {
    file: String,
    changed: bool,
    written: bool,
    rules_change: Option<&'a RulesChange>,
    changes: &'a [Change],
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let mode = Mode::choose(args, &context.output)?;
    let proposals: Vec<_> =
        args.files.iter().map(|file| Proposal::of(file, context)).collect::<Result<_, _>>()?;
    let mut consent = Consent::default();
    let mut left = 0;
    for proposal in &proposals {
        let written =
            if proposal.is_change() { proposal.settle(mode, &mut consent, context)? } else { false };
        proposal.report(mode, written, &mut context.output)?;
        left += u64::from(proposal.is_change() && !written);
    }
    if left > 0 && mode == Mode::Tell {
        context.output.flush()?;
        let files = counted(left, "file", "files");
        return Err(
            Failure::negative(format!("nothing was written: {files} would change")).hint("`--accept` writes")
        );
    }
    Ok(if left == 0 { Answer::Yes } else { Answer::No })
}

impl<'a> Proposal<'a> {
    /// Judges a file.
    fn of(path: &'a Path, context: &Context) -> Result<Self, Failure> {
        let old = files::read_input(path, &limits::REPLAY)?;
        let replay = tfl::read(&path.display().to_string(), &old, &context.registry)?;
        let blessed = tfl::bless(&replay)?;
        Ok(Self {
            path,
            old,
            new: blessed.to_string(),
            changes: replay.changes(&blessed),
            rules_change: replay.rules_change(&blessed),
        })
    }

    fn is_change(&self) -> bool {
        self.old != self.new.as_bytes()
    }

    /// Shows the change where somebody has to know it, and writes it if it is wanted; tells whether it was.
    fn settle(&self, mode: Mode, consent: &mut Consent, context: &mut Context) -> Result<bool, Failure> {
        if !context.output.is_json() {
            // Nobody reads a change that is decided already.
            self.show(mode != Mode::Accept && !consent.is_settled(), &mut context.output)?;
        }
        let wanted = match mode {
            Mode::Accept => true,
            Mode::Check | Mode::Tell => false,
            Mode::Ask => {
                let output = &mut context.output;
                let mut say = |text: &str| output.text(text).and_then(|()| output.flush());
                consent.ask(&self.name(), &mut io::stdin().lock(), &mut say)?
            }
        };
        if wanted {
            self.write()?;
        }
        Ok(wanted)
    }

    fn show(&self, in_full: bool, output: &mut Output) -> Result<(), Failure> {
        if in_full {
            for (tone, line) in tfl::change_lines(&self.path.display().to_string(), &self.changes) {
                output.line(paint(tone, line))?;
            }
        }
        if let Some(change) = &self.rules_change {
            let warning = paint(Tone::Odd, "rules change?");
            output.line(format_args!("{warning} {}: {}", self.name(), change.text()))?;
        }
        Ok(())
    }

    fn report(&self, mode: Mode, written: bool, output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            output.json(&BlessJson {
                file: self.path.display().to_string(),
                changed: self.is_change(),
                written,
                rules_change: self.rules_change.as_ref(),
                changes: &self.changes,
            })?;
            return Ok(());
        }
        let (tone, word) = match (self.is_change(), written, mode) {
            (false, ..) => (Tone::Faint, "unchanged"),
            (true, true, _) => (Tone::New, "blessed"),
            (true, false, Mode::Ask) => (Tone::Odd, "left as it was"),
            (true, false, _) => (Tone::Odd, "would bless"),
        };
        output.line(format_args!("{} {}", paint(tone, word), self.name()))?;
        Ok(())
    }

    /// Writes the file, unless it is no longer what was judged. A link stays one.
    fn write(&self) -> Result<(), Failure> {
        let unreadable = |error: io::Error| Failure::file("read replay", self.path, &error);
        let current = files::read_input(self.path, &limits::REPLAY)?;
        if current == self.new.as_bytes() {
            return Ok(());
        }
        if current != self.old {
            return Err(Failure::negative(format!("`{}` was changed meanwhile", self.name()))
                .hint("nothing was written to it, bless it again"));
        }
        files::write_whole(&fs::canonicalize(self.path).map_err(unreadable)?, self.new.as_bytes())
    }

    fn name(&self) -> String {
        printable(&self.path.display().to_string()).into_owned()
    }
}
