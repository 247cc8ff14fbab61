//! `turnfold blame`: which entry last changed a field of the view.

use serde::Serialize;
use serde_json::Value;
use turnfold_core::Seat;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::predicate::check_path;
use crate::record::{Detail, Record, RecordJson};
use crate::revision::SourceName;
use crate::source::LineOfPlay;

/// Show which entry last changed a field of the view
///
/// Exits with 1 when no entry changed it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold blame duel /units/3/at --all")]
pub(crate) struct Args {
    /// Revision or replay file
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
    old: Option<Value>,
    new: Option<Value>,
}

#[derive(Serialize)]
struct ChangeJson<'a> {
    #[serde(flatten)]
    entry: RecordJson<'a>,
    path: &'a str,
    old: &'a Option<Value>,
    new: &'a Option<Value>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    check_path(&args.path).map_err(Failure::usage)?;
    let line = LineOfPlay::load(&args.source, context)?;
    let field = |view: &str| {
        let view: Value = serde_json::from_str(view).expect("a view is JSON");
        view.pointer(&args.path).cloned()
    };
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
            changes.push(Change { record: Record::of(step, Detail::default()), old, new });
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
        print(change, &args.path, context)?;
    }
    Ok(Answer::Yes)
}

fn print(change: &Change, path: &str, context: &mut Context) -> Result<(), Failure> {
    let Change { record, old, new } = change;
    let output = &mut context.output;
    if output.is_json() {
        output.json(&ChangeJson { entry: record.to_json()?, path, old, new })?;
        return Ok(());
    }
    let told = |value: &Option<Value>| value.as_ref().map_or_else(|| "(none)".into(), ToString::to_string);
    output.line(paint(Tone::Strong, format_args!("{path} {} → {}", told(old), told(new))))?;
    output.text("  ")?;
    record.print(output)
}
