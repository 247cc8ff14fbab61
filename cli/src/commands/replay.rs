//! `turnfold replay`: folds a history again from the start, entry by entry.

use turnfold_core::Seat;
use turnfold_history::{
    Detail, Divergence, DivergenceKind, History, LogEntry, Record, SeatHistory, SourceName, Viewer,
};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::{self, require_seat};
use crate::output::{counted, dim, plain};
use crate::render;
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
    /// Returns `true` if a pager may show the output; `--step` reads keys instead.
    pub(crate) fn is_paged(&self) -> bool {
        !self.step
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    // Without `--step`, the replay itself stops at the first difference, so no warning is needed.
    let seat_history = if args.step {
        histories::load(args.viewer, &args.source, context)?
    } else {
        let seat_history = SeatHistory::load(args.viewer, &args.source, context)?;
        require_seat(args.viewer, seat_history.start()?.players(), &args.source)?;
        seat_history
    };
    if args.step && context.output.is_fillable() {
        #[cfg(not(feature = "stepper"))]
        return Err(Failure::usage(crate::address::left_out("stepper")));
        #[cfg(feature = "stepper")]
        return step(args.to, seat_history, context);
    }
    if seat_history.viewer().sees_all() {
        of_all(args, seat_history.into_history()?, context)
    } else {
        of_seat(args, seat_history, context)
    }
}

/// Steps through a history up to an entry, and prints the revision that the user chose when leaving.
#[cfg(feature = "stepper")]
fn step(to: Option<u64>, seat_history: SeatHistory, context: &mut Context) -> Result<ExitStatus, Failure> {
    let seat_history = if let Some(to) = to { seat_history.up_to(to)? } else { seat_history };
    if let Some(revision) = stepper::run(seat_history, context)? {
        context.output.line(revision)?;
    }
    Ok(ExitStatus::Yes)
}

/// Replays the entries that a seat may know, as that seat sees them.
fn of_seat(args: &Args, mut seat_history: SeatHistory, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(to) = args.to {
        seat_history = seat_history.up_to(to)?;
    }
    let viewer = seat_history.viewer();
    let mut records = Vec::new();
    // Only a file made for this seat is compared, because the outcomes of a whole log would reveal more than the seat
    // may know.
    let is_own = seat_history.is_of_seat();
    seat_history.fold(&mut |seen| {
        let differs = is_own && seen.recorded_outcome().is_some_and(|recorded| *recorded != seen.outcome());
        records.push((if args.step { seen.record_with_view() } else { seen.record() }, differs));
    })?;
    let mut state = seat_history.start()?;
    if args.step {
        render::print(&viewer.picture(state.as_ref()), &mut context.output)?;
    }
    for (count, (record, differs)) in (0..).zip(&records) {
        context.output.record(record)?;
        if args.step {
            seat_history.advance(state.as_mut(), count, count + 1)?;
            render::print(&viewer.picture(state.as_ref()), &mut context.output)?;
        }
        if *differs {
            context.output.flush()?;
            let source = args.source.up_to(None);
            return Err(Failure::negative(format!(
                "`{source}`: entry {}: expected another outcome",
                count + 1
            )));
        }
    }
    let entries = counted(seat_history.head(), "entry", "entries");
    context.output.note([format_args!("{entries}, as {viewer} may know them").into()])?;
    Ok(ExitStatus::Yes)
}

fn of_all(args: &Args, mut history: History, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(to) = args.to {
        history.cut_after(to)?;
    }
    let mut state = history.start()?;
    let detail = Detail { state: args.step, ..Detail::new(Viewer::HOST) };
    if args.step {
        render::print(&state.picture(Seat::Host.into()), &mut context.output)?;
    }
    for entry in &history.entries {
        let mut record = None;
        let mut contradiction = None;
        state
            .fold(&[entry.logged()], &history.dice, &mut |step| {
                record = Some(Record::of(step, detail));
                contradiction = Divergence::contradiction(entry, &LogEntry::of(step));
            })
            .map_err(|cause| history.broken_entry(cause))?;
        if let Some(record) = &record {
            context.output.record(record)?;
        }
        if args.step {
            render::print(&state.picture(Seat::Host.into()), &mut context.output)?;
        }
        if let Some(divergence) = contradiction {
            let difference = difference(&divergence);
            context.output.flush()?;
            let source = args.source.up_to(None);
            let failure = Failure::negative(format!("`{source}`: entry {}: {difference}", entry.seq));
            return Err(if source.is_standard_input() {
                failure
            } else {
                failure.hint(format!("`turnfold check {source}` explains it"))
            });
        }
    }
    let entries = plain(format_args!("{}, state ", counted(history.head(), "entry", "entries")));
    context.output.note([[entries, dim(state.state_hash())].into()])?;
    Ok(ExitStatus::Yes)
}

/// Returns in words how an entry differs from what its source records.
fn difference(Divergence { kind, recorded, computed, .. }: &Divergence) -> String {
    let recorded = recorded.as_ref().map(ToString::to_string).unwrap_or_default();
    if *kind == DivergenceKind::StateHash {
        return format!("expected state hash #{recorded}, got #{computed}");
    }
    format!("expected outcome `{recorded}`, got `{computed}`")
}
