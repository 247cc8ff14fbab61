//! `turnfold show`: shows what a seat sees. `turnfold legal`: lists the commands that would be applied.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use turnfold_core::AnyState;
use turnfold_core::picture::Picture;
use turnfold_history::{SeatHistory, SourceName, Viewer};
use turnfold_show::drawing::{Highlights, svg, target_spots};
use turnfold_show::page::frames::changed_by_last;
use turnfold_show::render::{legal_commands, standing};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::histories::{load, seek, warn_of_left};
use crate::output::Format;
use crate::remote::look;
use crate::render;
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
    viewer: Option<Viewer>,

    /// Mark what the last entry shown changed in this picture
    #[arg(long)]
    changed: bool,

    /// Mark the hexes or squares that the commands of `legal` name, with the same `--as`
    #[arg(long)]
    reach: bool,
}

/// The view of one of several sources; the JSON form is stable.
#[derive(Serialize)]
struct SourcedView<'a> {
    source: &'a str,
    view: Value,
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

/// Shows the view of a source. `name` is the name to print with it, if it is one of several.
fn show(
    args: &Args,
    source: &SourceName,
    name: Option<&str>,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    if let SourceName::Revision(revision) = source {
        warn_of_left(revision, context)?;
    }
    // The service marks nothing in its pictures.
    if let Some((client, revision)) = context.workspace.service_with(source)?
        && !args.changed
        && !args.reach
    {
        let resource = if context.output.format() == Format::Svg { "picture.svg" } else { "view" };
        let query = look::seen_at(revision.seq, args.viewer);
        let output = &mut context.output;
        let Some(source) = name.filter(|_| output.is_json()) else {
            return look::print(client, revision, resource, query, output);
        };
        let view = look::document(&look::ask(client, revision, resource, query, output.format())?)?;
        output.json(&SourcedView { source, view })?;
        return Ok(ExitStatus::Yes);
    }
    let asked = args.viewer.unwrap_or(Viewer::HOST);
    let seat_history = args.changed.then(|| load(asked, source, context)).transpose()?;
    let (viewer, state) = match &seat_history {
        Some(seat_history) => (seat_history.viewer(), seat_history.state()?),
        None => seek(asked, source, context)?,
    };
    let changed = seat_history.as_ref().map_or_else(|| Ok(BTreeSet::new()), changed_by_last)?;
    let picture = || viewer.picture(state.as_ref());
    let highlights = |picture: &Picture| {
        let commands = args.reach.then(|| legal_commands(args.viewer, viewer, state.as_ref()));
        let targets = commands.iter().flatten().flat_map(|legal| &legal.targets);
        Highlights { changed, reach: target_spots(picture, targets), ..Highlights::default() }
    };
    let stands = match (viewer.standing(state.as_ref()), &seat_history) {
        (Some(stands), _) => stands,
        (None, Some(seat_history)) => seat_history.standing()?,
        (None, None) => SeatHistory::load(asked, source, &context.workspace)?.standing()?,
    };
    let output = &mut context.output;
    match (output.format(), name) {
        (Format::Json, None) => output.json(&viewer.view(state.as_ref()))?,
        (Format::Json, Some(source)) => {
            output.json(&SourcedView { source, view: viewer.view(state.as_ref()) })?;
        }
        (Format::Text, _) => {
            let picture = picture();
            render::print_highlighted(&picture, &highlights(&picture), output)?;
            output.note(standing(&stands))?;
        }
        (Format::Svg, _) => {
            let picture = picture();
            output.document(&svg::document(&picture, &highlights(&picture)))?;
        }
    }
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

pub(crate) fn require_legal(state: &dyn AnyState) -> Result<(), Failure> {
    if state.lists_legal() {
        return Ok(());
    }
    // RF-6: a referee need not list legal commands.
    Err(Failure::usage("nothing lists legal commands here")
        .hint("a referee offers `legal`, a recording has no rules; see `turnfold help referees`"))
}

pub(crate) fn legal(args: &LegalArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some((client, revision)) = context.workspace.service_with(&args.source)? {
        let query = look::seen_at(revision.seq, args.viewer);
        return look::print(client, revision, "legal", query, &mut context.output);
    }
    let (viewer, state) = seek(args.viewer.unwrap_or(Viewer::HOST), &args.source, context)?;
    require_legal(&*state)?;
    for legal in legal_commands(args.viewer, viewer, state.as_ref()) {
        context.output.show(&legal, || vec![legal.line()])?;
    }
    Ok(ExitStatus::Yes)
}
