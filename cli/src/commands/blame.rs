//! `turnfold blame`: which entry last changed a field of the view.

use serde::Serialize;
use turnfold_core::Seat;

use crate::context::Context;
use crate::difference::{Difference, read_view};
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::path::check_path;
use crate::record::{Detail, Record, RecordJson};
use crate::revision::SourceName;
use crate::source::LineOfPlay;

/// Show which entry last changed a field of the view
///
/// Exits with 1 when no entry changed it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold blame duel /units/3/at --all")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// The field, a path into the view such as `/units/0/at`
    #[arg(value_name = "PATH")]
    path: String,

    /// Show the whole history of the field
    #[arg(long)]
    all: bool,

    /// Whose view to look at
    #[arg(long = "as", value_name = "SEAT", default_value_t = Seat::Host)]
    seat: Seat,
}

/// An entry that changed the field.
struct Change {
    record: Record,
    difference: Difference,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    #[serde(flatten)]
    entry: RecordJson<'a>,
    #[serde(flatten)]
    difference: &'a Difference,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    check_path(&args.path).map_err(Failure::usage)?;
    let line = LineOfPlay::load(&args.source, context)?;
    let field = |view: &str| read_view(view).pointer(&args.path).cloned();
    let mut value = field(&line.start()?.view(args.seat));
    let mut found = value.is_some();
    let mut changes = Vec::new();
    line.fold(&mut |step| {
        let new = field(&step.view(args.seat));
        found |= new.is_some();
        if new != value {
            let old = std::mem::replace(&mut value, new.clone());
            if !args.all {
                changes.clear();
            }
            let difference = Difference { path: args.path.clone(), old, new };
            changes.push(Change { record: Record::of(step, Detail::default()), difference });
        }
    })?;
    if !found {
        return Err(Failure::usage(format!("`{}` is nowhere in the view of {}", args.path, args.source))
            .hint(format!("`turnfold --format json show {}` shows the view", args.source)));
    }
    if changes.is_empty() {
        return Err(Failure::negative(format!("no entry of `{}` changed `{}`", args.source, args.path)));
    }
    for change in &changes {
        print(change, context)?;
    }
    Ok(Answer::Yes)
}

fn print(Change { record, difference }: &Change, context: &mut Context) -> Result<(), Failure> {
    let output = &mut context.output;
    if output.is_json() {
        output.json(&ChangeJson { entry: record.to_json()?, difference })?;
        return Ok(());
    }
    output.line(paint(Tone::Strong, difference))?;
    output.text("  ")?;
    record.print(output)
}
