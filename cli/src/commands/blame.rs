//! `turnfold blame`: finds the entry that last changed a field of the view, or whether a condition holds.

use turnfold_history::search::{Blamed, FieldChange, blame};
use turnfold_history::{SourceName, Viewer};
use turnfold_show::render;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories;
use crate::output::{Line, strong};

/// Show which entry last changed a field of the view
///
/// Of a condition, shows the entry at which it last became true or false. Conditions are written as for `bisect`.
///
/// With `--as p1`, entries are counted as p1 may know them, like in `log`. Exits with 1 if no entry changed the field or whether
/// the condition holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold blame duel /units/3/at --all\n  \
    turnfold blame duel 'count(/units/*/alive == true) < 4'")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// The field, a path into the view such as `/units/0/at`, or a condition such as `/turn >= 3`
    #[arg(value_name = "PATH|CONDITION")]
    blamed: String,

    /// Show every change, not only the last
    #[arg(long)]
    all: bool,

    /// Whose view to look at
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let blamed = args.blamed.parse().map_err(Failure::usage)?;
    let seat_history = histories::load(args.viewer, &args.source, context)?;
    let mut changes = Vec::new();
    let found = blame(&seat_history, &blamed, &mut |change| {
        if !args.all {
            changes.clear();
        }
        changes.push(change);
    })?;
    if !found {
        return Err(Failure::usage(format!("`{}` is nowhere in the view of {}", args.blamed, args.source))
            .hint(format!("`turnfold --format json show {}` shows the view", args.source)));
    }
    if changes.is_empty() {
        let change = match blamed {
            Blamed::Field(path) => format!("`{path}`"),
            Blamed::Condition(condition) => format!("whether `{condition}` holds"),
        };
        return Err(Failure::negative(format!("no entry of `{}` changed {change}", args.source)));
    }
    for change in &changes {
        context.output.show(change, || {
            let FieldChange { record, difference } = change;
            vec![strong(difference).into(), Line::from("  ").then(render::record(record))]
        })?;
    }
    Ok(ExitStatus::Yes)
}
