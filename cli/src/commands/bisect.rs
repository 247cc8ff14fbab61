//! `turnfold bisect`: finds an entry at which a condition becomes true.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use turnfold_history::search::{Bisection, Condition, EarlierSpell, Flip, Judgment, Question, bisect};
use turnfold_history::tfl::Replay;
use turnfold_history::{SourceName, Viewer};
use turnfold_show::render;
use turnfold_store::draft::DraftDir;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, counted, strong};
use crate::{files, histories, signals};

/// Find an entry at which a condition becomes true
///
/// Runs a binary search between the setup, where the condition must be false, and the end, where it must be true. If it
/// becomes true more than once, any of those entries may be reported; use `--linear` to find the first. A condition on a
/// field that the view does not have, or that has a value of another kind, is an error that lists what there is instead.
/// The command of `--run` is asked again about the logs on which the answer rests; one that gives two answers is an error.
///
/// A condition compares what a path leads to with JSON or a bare word, numbers exactly, by ==, !=, <, <=, > or >=. `&&`, `||`, `!` and
/// parentheses join conditions. In a path, `*` is any element or field; `count(PATH)` and `count(PATH == VALUE)` are
/// numbers.
///
/// With `--as p1`, entries are counted as p1 may know them, like in `log`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).args(["when", "run"]))]
#[command(after_help = "Example: turnfold bisect duel --when '/units/3/at == [4,-2]'")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// The condition on the view, such as `/turn >= 3 && count(/units/*) < 2`
    #[arg(long, value_name = "CONDITION", conflicts_with = "run")]
    when: Option<Condition>,

    /// A shell command, called with the path of a replay file; exit code 0 is false, 1 to 124 true, 125 undecided
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,

    /// Whose view the condition is on
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    /// Check every entry from the start and report the first at which the condition becomes true
    #[arg(long)]
    linear: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    if args.run.is_some() {
        args.viewer.require_all(Judgment::RUN)?;
    }
    let seat_history = histories::load(args.viewer, &args.source, context)?;
    let found = match (&args.when, &args.run) {
        (Some(condition), _) => bisect::<Failure>(&seat_history, Question::Holds(condition), args.linear)?,
        (None, Some(command)) => {
            let judge = ShellJudge::new(command)?;
            bisect(&seat_history, Question::Judged(&mut |replay| judge.judge(replay)), args.linear)?
        }
        (None, None) => unreachable!("the grammar requires one of them"),
    };
    let entries = counted(seat_history.head(), "entry", "entries");
    match found {
        Bisection::InSetup => {
            Err(Failure::negative("the condition already holds in the setup, so no entry makes it true"))
        }
        Bisection::NotAtEnd if args.linear => {
            let message = format!("the condition is true neither in the setup nor after any of {entries}");
            Err(Failure::negative(message))
        }
        Bisection::NotAtEnd => {
            Err(Failure::negative(format!("the condition is not true at the end, after {entries}"))
                .hint("use `--linear` to find an earlier entry at which it becomes true"))
        }
        Bisection::Flickers { count, judgments } => Err(flickers(count, judgments)),
        Bisection::Undecided { count: 0 } => Err(undecided("in the setup")),
        Bisection::Undecided { .. } => Err(undecided(&format!("at the end, after {entries}"))),
        Bisection::Found(flip) => {
            let suspects: Vec<u64> = flip.suspects.clone().collect();
            let first = if let [first] = suspects.as_slice() { Some(first) } else { None };
            let found = json!({
                "first": first,
                // More than one if `--run` was undecided about some entries.
                "suspects": suspects,
                "probes": flip.probes,
                "entry": flip.record,
                "state": flip.state,
            });
            context.output.verdict(first.is_some(), &found, || found_lines(&flip, args.when.as_ref()))
        }
    }
}

fn found_lines(flip: &Flip, condition: Option<&Condition>) -> Vec<Line> {
    let condition = match condition {
        Some(condition) => format!("`{condition}`"),
        None => "the condition".into(),
    };
    let steps = counted(flip.probes, "step", "steps");
    let first = flip.suspects.start();
    let last = flip.suspects.end();
    let found = if first == last {
        format!("entry {last} makes {condition} true ({steps})")
    } else {
        format!(
            "one of the entries {first} to {last} makes {condition} true ({steps}); the command is undecided about \
             the others"
        )
    };
    let mut lines = vec![Line::from(strong(found))];
    if let Some(EarlierSpell { last_true, first_false }) = flip.earlier {
        lines.push(
            format!(
                "not the first: it is already true after entry {last_true} and false again after entry {first_false}; \
                 use `--linear` to find the first"
            )
            .into(),
        );
    }
    lines.extend(flip.record.iter().map(render::record));
    lines.extend(flip.state.iter().map(|change| Line::from(format!("  {change}"))));
    lines
}

fn flickers(count: u64, judgments: [Judgment; 2]) -> Failure {
    let mut place = "in the setup".to_owned();
    if count > 0 {
        place = format!("after {}", counted(count, "entry", "entries"));
    }
    let [first, again] = judgments.map(|judgment| match judgment {
        Judgment::No => "false",
        Judgment::Yes => "true",
        Judgment::CannotTell => "undecided",
    });
    Failure::usage(format!(
        "the command of `--run` is flaky: for the same log, {place}, it was {first} once and {again} once"
    ))
    .hint("use a command that gives the same answer each time, such as one that runs yours several times")
}

fn undecided(place: &str) -> Failure {
    Failure::usage(format!("the command of `--run` is undecided {place}: its exit code is 125"))
        .hint("it must exit with 0 (false) in the setup and with 1 to 124 (true) at the end")
}

/// A shell command that gets the path of a replay file as its argument. Exit code 0 means false, 1 to 124 true, and 125
/// undecided. With 126 and 127, the shell reports that the command cannot be run, which is an error.
pub(crate) struct ShellJudge<'a> {
    command: &'a str,
    dir: DraftDir,
}

impl<'a> ShellJudge<'a> {
    pub(crate) fn new(command: &'a str) -> Result<Self> {
        match files::temporary_dir() {
            Ok(dir) => Ok(Self { command, dir }),
            Err(error) => Err(Failure::trouble(format!("cannot make a temporary folder: {error}"))),
        }
    }

    /// Runs the command on a replay. Its stderr is shown, its stdout is not.
    pub(crate) fn judge(&self, replay: &Replay) -> Result<Judgment> {
        let path = self.dir.path().join("log.tfl");
        fs::write(&path, replay.to_string()).map_err(|error| files::unwritable(&path, &error))?;
        self.judge_again()
    }

    pub(crate) fn judge_again(&self) -> Result<Judgment> {
        let command = self.command;
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} \"$1\""), "sh"]).arg(self.dir.path().join("log.tfl"));
        let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).status();
        let status = status.map_err(|error| Failure::trouble(format!("cannot run `sh`: {error}")))?;
        signals::wait_with(status);
        match status.code() {
            Some(0) => Ok(Judgment::No),
            Some(125) => Ok(Judgment::CannotTell),
            Some(1..=124) => Ok(Judgment::Yes),
            Some(code @ (126 | 127)) => {
                let message =
                    format!("`{command}` cannot be run, or runs what cannot: its exit code is {code}");
                Err(Failure::usage(message).hint("name a command that the shell finds and may execute"))
            }
            _ => Err(Failure::trouble(format!("`{command}` ended with {status}"))
                .hint("0, 125 or 1 to 124 was expected")),
        }
    }
}
