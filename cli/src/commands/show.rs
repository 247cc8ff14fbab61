//! `turnfold show`: shows what a seat sees. `turnfold legal`: lists the commands that would be applied.

use turnfold_history::{SourceName, Viewer};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::warn_of_left;
use crate::output::Format;
use crate::sources::{Named, SourceArg};

/// Show what a seat sees: the board, the JSON view or a picture
///
/// With several sources, each answer is printed under its name; a folder or pattern stands for the replay files in it, and a bundle
/// for the matches in it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold show duel:12 --as p1\n  turnfold show duel --changed --reach --format svg\n  \
    turnfold show 'replays/initiative/*.tfl'"
)]
pub(crate) struct Args {
    /// Revisions, replay files, folders with `*.tfl` or patterns such as 'replays/**/*.tfl'; `-` is standard input
    #[arg(value_name = "REV", required = true)]
    sources: Vec<SourceArg<SourceName>>,

    /// Whose view to show [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,

    /// Mark what the last entry shown changed in this picture
    #[arg(long)]
    pub(crate) changed: bool,

    /// Mark the hexes or squares that the commands of `legal` name, with the same `--as`
    #[arg(long)]
    pub(crate) reach: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if args.changed || args.reach {
        let refused = "`--changed` and `--reach` mark a picture; use `--format text` or `svg`";
        context.output.refuse_json(Failure::usage(refused))?;
    }
    let sources = match Named::of(&args.sources, context)? {
        Named::One(source) => return show(args, &source, None, context),
        Named::Several(sources) => sources,
    };
    if context.output.format() == Format::Svg {
        let refused = Failure::usage("`--format svg` prints the picture of one source");
        return Err(refused.hint("name one, or use `text` or `json`"));
    }
    context.workspace.keep_reader();
    sources.answer_each(SourceName::to_string, context, |source, context| {
        let name = source.to_string();
        context.output.begin(&name);
        show(args, source, Some(&name), context)
    })
}

/// Prints the view of a source. `name` is the name to print with it, if it is one of several.
fn show(
    args: &Args,
    source: &SourceName,
    name: Option<&str>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    if let SourceName::Revision(revision) = source {
        warn_of_left(revision, context)?;
    }
    let view = context.workspace.view(args, source, name, context.output.format())?;
    context.output.print(view)?;
    Ok(ExitStatus::Yes)
}

/// List the commands that would be applied
///
/// Commands whose arguments are unbounded, such as rolls, are sampled.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold legal duel --as p1")]
pub(crate) struct LegalArgs {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Only this seat's commands [default: every seat's]
    #[arg(long = "as", value_name = "SEAT")]
    viewer: Option<Viewer>,
}

pub(crate) fn legal(args: &LegalArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let legal = context.workspace.legal(&args.source, args.viewer, context.output.format())?;
    context.output.print(legal)?;
    Ok(ExitStatus::Yes)
}
