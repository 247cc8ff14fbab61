//! `turnfold blame`: which entry last changed a field of the view.

use turnfold_replay::{
    FieldChange, SeatHistory, SourceName, Viewer, render, search::blame::blame, search::path::check_path,
};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Line, strong};

/// Show which entry last changed a field of the view
///
/// With `--as p1`, entries are counted as p1 may know them, like in `log`. Exits with 1 if no entry changed the field.
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
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    check_path(&args.path).map_err(Failure::usage)?;
    let sight = SeatHistory::load(args.viewer, &args.source, context)?;
    let mut changes = Vec::new();
    let found = blame(&sight, &args.path, &mut |change| {
        if !args.all {
            changes.clear();
        }
        changes.push(change);
    })?;
    if !found {
        return Err(Failure::usage(format!("`{}` is nowhere in the view of {}", args.path, args.source))
            .hint(format!("`turnfold --format json show {}` shows the view", args.source)));
    }
    if changes.is_empty() {
        return Err(Failure::negative(format!("no entry of `{}` changed `{}`", args.source, args.path)));
    }
    for change in &changes {
        context.output.show(change, || {
            let FieldChange { record, difference } = change;
            vec![strong(difference).into(), Line::from("  ").join(render::record(record))]
        })?;
    }
    Ok(ExitStatus::Yes)
}
