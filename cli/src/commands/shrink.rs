//! `turnfold shrink`: finds the smallest log that still shows something.

use serde_json::json;
use turnfold_history::search::{Condition, Judgment, Least, Question, Shrinking, shrink, shrink_failing};
use turnfold_history::tfl::{Replay, ReplayLine};
use turnfold_history::{FileName, SourceName, Sources, Viewer};

use super::bisect::ShellJudge;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::NewFile;
use crate::histories;
use crate::output::{counted, dim, printable};
use crate::stderr::progress;

/// Find the smallest log that still shows something
///
/// Looks for a condition on the view (`--when`), a result of a command (`--still`) or, with neither, a failed `check` of the
/// replay file. Removes rounds, turns and single entries and simplifies arguments until every remaining entry is needed.
/// Writes a complete replay file.
///
/// With `--when`, the log ends with the first entry that makes the condition true. With `--still`, the command is called
/// with the path of a replay file and answers by its exit code like that of `bisect --run`: 0 is no, 1 to 124 yes, 125
/// undecided. When shrinking a failed check, the failing entry and the outcome of this build stay as they are; only the
/// entries before it are removed or simplified. If only a state hash differs, no entry before it can be removed, because
/// the hash covers the whole state.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    turnfold shrink duel --when '/units/3/at == [4,-2]' -o least.tfl\n  \
    turnfold shrink game.tfl --still 'old-turnfold check'   # the least on which two builds disagree\n  \
    turnfold shrink broken.tfl -o least.tfl")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// A condition on the view that becomes true, written as for `bisect`
    #[arg(long, value_name = "CONDITION", conflicts_with = "still")]
    when: Option<Condition>,

    /// A shell command, called with the path of a replay file; exit code 0 is no, 1 to 124 yes, 125 undecided
    #[arg(long, value_name = "COMMAND")]
    still: Option<String>,

    /// Whose view the condition is on; the log that is printed conceals nothing from anyone
    #[arg(long, alias = "as", value_name = "SEAT", default_value_t = Viewer::HOST, requires = "when")]
    view: Viewer,

    #[command(flatten)]
    file: NewFile,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    args.file.path()?;
    let (mut least, shows) = find(args, context)?;
    let entries = least.replay.entries().count() as u64;
    let left = counted(entries, "entry", "entries");
    let origin = format!("shrunk from `{}`, {} → {left}: {}", args.source, least.before, shows);
    let mut comments = vec![ReplayLine::Comment(format!(" {}", printable(&origin)))];
    for remark in &least.remarks {
        comments.push(ReplayLine::Comment(format!(" {}", printable(remark))));
    }
    least.replay.lines.splice(0..0, comments);
    let replay = least.replay.to_string();
    let file = args.file.write(&replay)?;
    let shrunk = json!({
        "source": args.source.to_string(),
        "shows": shows,
        "entries_before": least.before,
        "entries": entries,
        "tries": least.tries,
        "file": file,
        "replay": if file.is_none() { Some(&replay) } else { None },
    });
    context.output.answer_with_text(&shrunk, &replay, file.as_deref(), |file| {
        let before = counted(least.before, "entry", "entries");
        let tries = counted(least.tries, "try", "tries");
        format!("shrunk {before} to {entries} in `{file}` ({tries}): {shows}").into()
    })?;
    if file.is_some() {
        context.output.note(least.remarks.iter().map(|remark| dim(remark).into()))?;
    }
    Ok(ExitStatus::Yes)
}

/// How often the command is called again about the log that decides the result.
const AGAIN: usize = 3;

/// Refuses the result if the command gives two answers about the same log. It is asked again about the least log, or
/// else about the last log that it judged: the whole log or the setup.
fn judge_again(judge: &ShellJudge, found: &Shrinking, before: Judgment) -> Result<()> {
    for _ in 0..AGAIN {
        let (first, again) = match found {
            Shrinking::Least(least) => (Judgment::Yes, judge.judge(&least.replay)?),
            Shrinking::InSetup | Shrinking::Never => (before, judge.judge_again()?),
        };
        if again != first {
            return Err(Failure::usage("the command of `--still` flickers: it judges the same log in two ways")
                .hint("use a command that gives the same answer each time, such as one that runs yours several times"));
        }
    }
    Ok(())
}

fn find(args: &Args, context: &Context) -> Result<(Least, String)> {
    let bar = progress(0, "{spinner} shrinking: {msg}");
    let on_try = &mut |left: usize, tries: u64| {
        let entries = counted(left as u64, "entry", "entries");
        bar.set_message(format!("{entries} left, {}", counted(tries, "try", "tries")));
    };
    if args.when.is_none() && args.still.is_none() {
        return match &args.source {
            SourceName::File(FileName { path, seq: None }) => {
                let (least, command) = shrink_failing(&context.read_replay(path)?.whole()?, on_try)?;
                Ok((least, format!("`{command}` fails the check in the same way")))
            }
            SourceName::File(FileName { seq: Some(_), .. }) => {
                let message =
                    format!("`{}` is not a whole file, and only a whole one can fail a check", args.source);
                Err(Failure::usage(message).hint(
                    "leave out the number of the entry, or say what to look for with `--when` or `--still`",
                ))
            }
            SourceName::Revision(_) => {
                Err(Failure::usage("a revision records no outcomes that could fail a check")
                    .hint("say what to look for with `--when` or `--still`"))
            }
        };
    }
    let (history, contradiction) = histories::load_whole(&args.source, context)?;
    let (shrinking, shows, never) = if let Some(condition) = &args.when {
        let found = shrink::<Failure>(&history, Question::Holds(condition), args.view, on_try)?;
        (found, format!("`{condition}` becomes true"), "the condition is never true")
    } else {
        let command = args.still.as_deref().unwrap_or_default();
        let judge = ShellJudge::new(command)?;
        let mut last = Judgment::No;
        let ask = &mut |replay: &Replay| -> Result<Judgment> {
            last = judge.judge(replay)?;
            Ok(last)
        };
        let found = shrink(&history, Question::Judged(ask), args.view, on_try)?;
        judge_again(&judge, &found, last)?;
        (found, format!("`{command}` finds it"), "the command does not find it")
    };
    match shrinking {
        Shrinking::Least(mut least) => {
            if let Some(found) = &contradiction {
                let found = histories::in_words(found);
                least.remarks.push(format!(
                    "this build computed the outcomes, and `{}` records others: {found}",
                    args.source
                ));
            }
            Ok((*least, shows))
        }
        Shrinking::InSetup => Err(Failure::negative("the setup shows it already, so no entry is needed")),
        Shrinking::Never => {
            let entries = counted(history.entries.len() as u64, "entry", "entries");
            Err(Failure::negative(format!("{never} in `{}` ({entries})", history.name)))
        }
    }
}
