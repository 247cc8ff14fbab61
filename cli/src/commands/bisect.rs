//! `turnfold bisect`: the first entry at which something becomes true.

use serde::Serialize;
use turnfold_replay::{
    Bisection, Condition, Difference, Flip, Question, Record, ReplayError, SeatHistory, SourceName, Viewer,
    bisect::{self, bisect},
};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Output, Tone, counted, paint};
use crate::record;
use crate::verdict::ShellJudge;

/// Find the first entry at which something becomes true
///
/// It must be false in the setup and true at the end. The log is halved again and again; with `--linear` every entry
/// is looked at, for conditions that come and go. A condition on a field that the view does not have, or of another
/// kind than the field, is an error that says what there is instead; so is a `--run` command that cannot be run.
///
/// With `--as` a player, numbers count the entries that the player may know of, as in `log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold bisect duel --when '/units/3/at == [4,-2]'")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// The condition on the view: PATH OP VALUE with ==, !=, <, <=, > or >=
    #[arg(long, value_name = "CONDITION", required_unless_present = "run", conflicts_with = "run")]
    when: Option<Condition>,

    /// A shell command that gets the path of a replay file as its argument: 0 is false, 125 cannot tell, 1 to 124 true
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,

    /// Whose view the condition is on
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    /// Look at every entry, from the first
    #[arg(long)]
    linear: bool,
}

#[derive(Serialize)]
struct BisectJson<'a> {
    first: Option<u64>,
    /// The entries among which the first one is, where some could not be told.
    suspects: Vec<u64>,
    probes: u64,
    entry: Option<&'a Record>,
    state: Vec<Difference>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.run.is_some() {
        args.viewer.require_all(bisect::RUN).map_err(ReplayError::from)?;
    }
    let sight = SeatHistory::load(args.viewer, &args.source, context)?;
    let found = match (&args.when, &args.run) {
        (Some(condition), _) => bisect::<Failure>(&sight, Question::Holds(condition), args.linear)?,
        (None, Some(command)) => {
            let judge = ShellJudge::new(command)?;
            bisect(&sight, Question::Judged(&mut |replay| judge.judge(replay)), args.linear)?
        }
        (None, None) => return Err(Failure::usage("`bisect` needs `--when` or `--run`")),
    };
    match found {
        Bisection::InSetup => {
            Err(Failure::negative("the condition already holds in the setup, so no entry makes it true"))
        }
        Bisection::NotAtEnd => Err(Failure::negative(format!(
            "the condition is not true at the end, after {}",
            counted(sight.head(), "entry", "entries")
        ))
        .hint("`--linear` finds conditions that come and go")),
        Bisection::UntoldInSetup => Err(untold("in the setup")),
        Bisection::UntoldAtEnd => {
            Err(untold(&format!("at the end, after {}", counted(sight.head(), "entry", "entries"))))
        }
        Bisection::Found(flip) => report(args, *flip, &mut context.output),
    }
}

/// Says that the condition is neither true nor false where it has to be one of them.
fn untold(place: &str) -> Failure {
    Failure::usage(format!("the command of `--run` cannot tell {place}: its exit code is 125"))
        .hint("it must say 0 (false) in the setup and 1 to 124 (true) at the end")
}

fn report(args: &Args, flip: Flip, output: &mut Output) -> Result<ExitStatus, Failure> {
    let Flip { suspects, probes, record, state } = flip;
    let (first, last) = suspects.clone().into_inner();
    let is_found = first == last;
    if output.is_json() {
        let entry = record.as_ref();
        let (first, suspects) = (is_found.then_some(last), suspects.collect());
        output.json(&BisectJson { first, suspects, probes, entry, state })?;
        return Ok(if is_found { ExitStatus::Yes } else { ExitStatus::No });
    }
    let condition = args.when.as_ref().map_or_else(|| "the condition".into(), |when| format!("`{when}`"));
    let steps = counted(probes, "step", "steps");
    let heading = if is_found {
        format!("entry {last} makes {condition} true ({steps})")
    } else {
        format!(
            "one of the entries {first} to {last} makes {condition} true ({steps}); the others cannot be told"
        )
    };
    output.line(paint(Tone::Strong, heading))?;
    if let Some(record) = &record {
        record::print(record, output)?;
    }
    for change in &state {
        output.line(format_args!("  {change}"))?;
    }
    Ok(if is_found { ExitStatus::Yes } else { ExitStatus::No })
}
