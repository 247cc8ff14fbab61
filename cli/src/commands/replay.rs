//! `turnfold replay`: folds a history again from the start, entry by entry.

use turnfold_history::compare::{Divergence, DivergenceKind};
use turnfold_history::{SourceName, ViewedEntry, Viewer};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories;
use crate::output::{Output, counted, dim, plain};
#[cfg(feature = "stepper")]
use crate::stepper;

/// Fold a revision or file again from the start, showing each entry
///
/// If the source records outcomes and state hashes, as golden logs do, stops at the first that differs and exits with 1.
/// With `--step`, fills the terminal: step forward and back, jump, search, switch the viewer; `?` lists the keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold replay replays/initiative/moves.tfl")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV|FILE")]
    source: SourceName,

    /// Stop after entry N
    #[arg(long, value_name = "N")]
    to: Option<u64>,

    /// Step through on a terminal; elsewhere draw the board after each entry
    #[arg(long)]
    step: bool,

    /// Whose view to show
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,
}

impl Args {
    pub(crate) fn is_paged(&self) -> bool {
        !self.step
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    // Without `--step`, the replay itself stops at the first difference, so no warning is needed.
    let mut seat_history = if args.step {
        histories::load(args.viewer, &args.source, context)?
    } else {
        histories::load_unchecked(args.viewer, &args.source, context)?
    };
    if let Some(to) = args.to {
        seat_history = seat_history.up_to(to)?;
    }
    let fills_screen = args.step && context.output.is_fillable();
    #[cfg(not(feature = "stepper"))]
    if fills_screen {
        return Err(Failure::usage(crate::context::left_out("stepper")));
    }
    #[cfg(feature = "stepper")]
    if fills_screen {
        if let Some(revision) = stepper::run(seat_history, context)? {
            context.output.line(revision)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let viewer = seat_history.viewer();
    let output = &mut context.output;
    if args.step {
        output.picture(&viewer.picture(seat_history.start()?.as_ref()))?;
    }
    let mut printed = Ok(());
    let folded = seat_history.fold(&mut |seen| {
        if printed.is_ok() {
            printed = print_entry(seen, viewer, args, output);
        }
    });
    printed?;
    let end = folded?;
    let entries = counted(seat_history.head(), "entry", "entries");
    let note = match viewer.state_hash(end.as_ref()) {
        Some(hash) => [plain(format_args!("{entries}, state ")), dim(hash)].into(),
        None => format!("{entries}, as {viewer} may know them").into(),
    };
    output.note([note])?;
    Ok(ExitStatus::Yes)
}

/// Prints an entry, and fails if its source records something else.
fn print_entry(seen: &mut ViewedEntry<'_>, viewer: Viewer, args: &Args, output: &mut Output) -> Result<()> {
    let mut record = if args.step { seen.record_with_view() } else { seen.record() };
    let found = if record.recorded.is_some() { seen.contradiction() } else { None };
    if viewer.sees_all() {
        // The failure has it.
        record.recorded = None;
    }
    output.record(&record)?;
    if args.step {
        output.picture(&seen.picture())?;
    }
    let Some(Divergence { kind, recorded, computed, .. }) = found else { return Ok(()) };
    output.flush()?;
    let source = args.source.up_to(None);
    let recorded = recorded.as_ref().map(ToString::to_string).unwrap_or_default();
    let difference = if !viewer.sees_all() {
        "expected another outcome".into()
    } else if kind == DivergenceKind::StateHash {
        format!("expected state hash #{recorded}, got #{computed}")
    } else {
        format!("expected outcome `{recorded}`, got `{computed}`")
    };
    let failure = Failure::negative(format!("`{source}`: entry {}: {difference}", seen.seq()));
    if source.is_standard_input() || !viewer.sees_all() {
        return Err(failure);
    }
    Err(failure.hint(format!("`turnfold check {source}` explains it")))
}
