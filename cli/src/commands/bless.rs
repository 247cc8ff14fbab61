//! `turnfold bless`: write outcomes and hashes into replay files.

mod consent;
mod proposal;

use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;
use turnfold_replay::{Change, RulesChange};

use self::consent::Consent;
use self::proposal::{Fate, Mode, Proposal, name};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, FailureKind};
use crate::output::{self, Line, Output, Report, added, counted, dim, plain, removed, warning};

/// Write outcomes and hashes into replay files
///
/// Folds each file again and shows what would change. On a terminal, asks for each change whether to accept it: `y` this
/// change, `n` not this one, `a` this and all others, `q` no more. Lines whose change is refused stay as they are, and
/// the closing line is made for the lines as they then stand, so `check` still finds what was refused. A change that is
/// longer than the screen is shown in the pager first.
///
/// Elsewhere, nothing is written without `--accept`. Comments and order stay; blessing a blessed file changes nothing. All
/// files are folded before any is written; a file that cannot be blessed is named, and the others are handled as usual.
/// Each is written whole or not at all. Exits with 1 if a change was not written, and with 2 if a file cannot be blessed
/// or the variable CI is set (except with `--check`): golden logs are blessed by people.
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

    /// Only show what would change; exits with 1 if anything would
    #[arg(long)]
    check: bool,
}

impl Args {
    /// Returns `true` if all changes are shown at once and nothing is asked, so that a pager may show them.
    pub(crate) fn is_paged(&self, output: &Output) -> bool {
        self.check || !self.accept && self.mode(output).is_ok_and(|mode| mode == Mode::Tell)
    }

    fn mode(&self, output: &Output) -> Result<Mode, Failure> {
        if self.check {
            return Ok(Mode::Check);
        }
        if runs_in_ci() {
            return Err(Failure::usage("golden logs are not blessed when the variable `CI` is set")
                .hint("`--check` shows what would change"));
        }
        Ok(match self.accept {
            true => Mode::Accept,
            false if !output.is_json() && output::is_attended() => Mode::Ask,
            false => Mode::Tell,
        })
    }
}

/// Returns `true` if the program runs under continuous integration, where all services set `CI`, most of them to `true`.
fn runs_in_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !["", "0", "false"].contains(&value.to_string_lossy().as_ref()))
}

/// A file that was blessed or not.
#[derive(Serialize)]
struct Blessed<'a> {
    file: String,
    /// Null where the file cannot be blessed.
    changed: Option<bool>,
    written: bool,
    error: Option<String>,
    rules_change: Option<&'a RulesChange>,
    changes: &'a [Change],
    #[serde(skip)]
    path: &'a Path,
    #[serde(skip)]
    fate: Option<Fate>,
    #[serde(skip)]
    mode: Mode,
}

impl Report for Blessed<'_> {
    fn lines(&self) -> Vec<Line> {
        let word = match (self.fate, self.mode) {
            (None, _) => {
                let error = self.error.as_deref().unwrap_or_default();
                return vec![Line::from([removed("failed"), plain(format_args!(" {error}"))])];
            }
            (Some(Fate::Unchanged), _) => dim("unchanged"),
            (Some(Fate::Written), _) => added("blessed"),
            (Some(Fate::InPart), _) => warning("blessed in part"),
            (Some(Fate::Left), Mode::Ask) => warning("left as it was"),
            (Some(Fate::Left), _) => warning("would bless"),
        };
        vec![Line::from([word, plain(format_args!(" {}", name(self.path)))])]
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let mode = args.mode(&context.output)?;
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
            let proposal = proposal.as_ref().ok();
            output.report(&Blessed {
                file: path.display().to_string(),
                changed: proposal.map(Proposal::is_change),
                written: matches!(fate, Ok(Fate::Written)),
                error: fate.as_ref().err().map(ToString::to_string),
                rules_change: proposal.and_then(|proposal| proposal.rules_change.as_ref()),
                changes: proposal.map(|proposal| proposal.changes.as_slice()).unwrap_or_default(),
                path,
                fate: fate.as_ref().ok().copied(),
                mode,
            })?;
        }
        failures.extend(fate.err());
    }
    context.output.flush()?;
    if let Some(failure) = in_one(failures, args.files.len()) {
        return Err(failure);
    }
    if left > 0 && mode == Mode::Tell {
        let files = counted(left, "file", "files");
        return Err(Failure::negative(format!("{files} would change")).hint("`--accept` writes them"));
    }
    Ok(if left == 0 { ExitStatus::Yes } else { ExitStatus::No })
}

/// Makes one failure of all failures, with the highest exit code among them.
fn in_one(mut failures: Vec<Failure>, files: usize) -> Option<Failure> {
    let count = failures.len();
    failures.sort_by_key(Failure::exit_code);
    let worst = failures.pop()?;
    if files == 1 || worst.kind == FailureKind::ClosedPipe {
        return Some(worst);
    }
    let message = format!("{count} of {files} files could not be blessed (listed above)");
    Some(worst.with_message(message).hint("the others were handled as usual"))
}
