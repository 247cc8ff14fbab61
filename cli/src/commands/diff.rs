//! `turnfold diff`: shows where two histories diverge, and how their outcomes and states differ.

use turnfold_history::compare::compare;
use turnfold_history::{SourceName, Viewer};
use turnfold_show::render::diff::{DiffDocument, lines, stat_lines};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::load_unchecked;
use crate::output::Format;
use crate::sources::require_one_stdin;

/// Show where two histories part and how their states differ
///
/// Prints the commands that only one of them has, the outcomes that differ although the command is the same, and the
/// fields in which the states at the end differ. Both are folded by the rules of this build; a note names a file that
/// records other outcomes. With `--as p1`, everything that p1 may not know is left out: entries, effects, state hashes,
/// the seed of the dice and hidden parts of the setup; entries are counted as p1 may know them, like in `log`. Exits with
/// 1 if the histories differ.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold diff duel duel@flank\n  turnfold diff --stat before.tfl after.tfl"
)]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "A")]
    a: SourceName,

    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "B")]
    b: SourceName,

    /// Lines of context around differing commands
    #[arg(short = 'U', long, value_name = "N", default_value_t = 3)]
    context: usize,

    /// Path of a field that never counts as a difference, such as `/clock` or `/units/*/time`; may be repeated
    #[arg(long, value_name = "PATH")]
    ignore: Vec<String>,

    /// Whose view to show
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,

    /// Print one line that counts what differs
    #[arg(long)]
    stat: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    require_one_stdin([&args.a, &args.b].iter().filter(|name| name.is_standard_input()).count())?;
    let a = load_unchecked(args.viewer, &args.a, context)?;
    let b = load_unchecked(args.viewer, &args.b, context)?;
    if a.viewer() != b.viewer() {
        let viewer = if a.viewer().sees_all() { b.viewer() } else { a.viewer() };
        return Err(Failure::usage(format!("one of the two holds only what `{viewer}` may know"))
            .hint(format!("compare them with `--as {viewer}`")));
    }
    let comparison = compare(&a, &b, &args.ignore, args.context)?;
    let output = &mut context.output;
    match output.format() {
        _ if args.stat => output.show(&comparison.stat, || stat_lines(&comparison))?,
        Format::Json => output.json(&DiffDocument::of(&comparison, [&a, &b])?)?,
        _ => output.note(lines(&comparison))?,
    }
    Ok(ExitStatus::from(comparison.stat.equal))
}
