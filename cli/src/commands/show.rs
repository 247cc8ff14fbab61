//! `turnfold show`, `legal` and `ask`: what a viewer sees of a state, in a store here or at a service.

use std::collections::BTreeSet;

use clap::{Arg, ArgMatches, FromArgMatches};
use serde_json::{Value, json};
use turnfold_core::AnyState;
use turnfold_history::{SeatHistory, SourceName, Viewer};
use turnfold_show::drawing::{Highlights, svg, target_spots};
use turnfold_show::page::frames::changed_by_last;
use turnfold_show::render::{self, LegalCommand, legal_commands, standing};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::{load, seek, warn_unless_current};
use crate::output::Format;
use crate::remote::{ask as ask_service, document, print_page, print_reply, seen_at};
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
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
fn show(args: &Args, source: &SourceName, name: Option<&str>, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    if let SourceName::Revision(revision) = source {
        warn_unless_current(revision, || workspace.current_branch(&revision.match_name))?;
    }
    let format = output.format();
    // The service marks nothing in its pictures.
    if let Some((client, revision)) = workspace.service_with(source)?
        && !args.changed
        && !args.reach
    {
        let resource = if format == Format::Svg { "picture.svg" } else { "view" };
        let reply = ask_service(client, revision, resource, seen_at(revision.seq, args.viewer), format)?;
        if format == Format::Json {
            output.json(&named(document(&reply)?, name))?;
        } else {
            print_reply(&reply, output)?;
        }
        return Ok(ExitStatus::Yes);
    }
    let asked = args.viewer.unwrap_or(Viewer::HOST);
    let mut seat_history = None;
    let mut changed = BTreeSet::new();
    let (viewer, state) = if args.changed {
        let history = seat_history.insert(load(asked, source, workspace)?);
        changed = changed_by_last(history)?;
        (history.viewer(), history.state()?)
    } else {
        seek(asked, source, workspace)?
    };
    let stands = match (viewer.standing(state.as_ref()), &seat_history) {
        (Some(stands), _) => stands,
        (None, Some(seat_history)) => seat_history.standing()?,
        (None, None) => SeatHistory::load(asked, source, workspace)?.standing()?,
    };
    if format == Format::Json {
        output.json(&named(viewer.view(state.as_ref()), name))?;
        return Ok(ExitStatus::Yes);
    }
    let picture = viewer.picture(state.as_ref());
    let mut highlights = Highlights { changed, ..Highlights::default() };
    if args.reach {
        let commands = legal_commands(args.viewer, viewer, state.as_ref());
        let targets = commands.iter().flat_map(|legal| &legal.targets);
        highlights.reach = target_spots(&picture, targets);
    }
    if format == Format::Svg {
        output.document(&svg::document(&picture, &highlights))?;
    } else {
        output.highlighted(&picture, &highlights)?;
        output.note(standing(&stands))?;
    }
    Ok(ExitStatus::Yes)
}

/// Returns the JSON of a view, with the name of its source, if it has one.
fn named(view: Value, name: Option<&str>) -> Value {
    match name {
        Some(source) => json!({ "source": source, "view": view }),
        None => view,
    }
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

pub(crate) fn legal(args: &LegalArgs, context: &mut Context) -> Result<ExitStatus> {
    let LegalArgs { source, viewer: asked } = args;
    let Context { workspace, output, .. } = context;
    if let Some((client, revision)) = workspace.service_with(source)? {
        let reply = ask_service(client, revision, "legal", seen_at(revision.seq, *asked), output.format())?;
        print_page(&reply, &["items"], None, output)?;
    } else {
        let (viewer, state) = seek(asked.unwrap_or(Viewer::HOST), source, workspace)?;
        require_legal(&*state)?;
        let commands = legal_commands(*asked, viewer, state.as_ref());
        output.list(&commands, |commands| commands.iter().map(LegalCommand::line).collect())?;
    }
    Ok(ExitStatus::Yes)
}

pub(crate) fn require_legal(state: &dyn AnyState) -> Result<()> {
    if state.lists_legal() {
        return Ok(());
    }
    // RF-6: a referee need not list legal commands.
    Err(Failure::usage("nothing lists legal commands here")
        .hint("a referee offers `legal`, a recording has no rules; see `turnfold help referees`"))
}

/// Ask the ruleset a question
///
/// The questions depend on the ruleset; an unknown one is answered with the list of those that exist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold ask duel reach atlas")]
pub(crate) struct AskArgs {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    #[command(flatten)]
    question: Question,

    /// Who asks [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    viewer: Option<Viewer>,
}

/// The words of a question, which may begin with a hyphen, as `-1,2` does.
///
/// Each word is an argument of its own. If one argument took several, clap would take everything after a word with a
/// hyphen as words too, even `--as p1`.
#[derive(Debug)]
struct Question(String);

/// The names of the words. A question of more words has to be quoted.
const WORDS: [&str; 12] = ["q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8", "q9", "q10", "q11", "q12"];

impl clap::Args for Question {
    fn augment_args(command: clap::Command) -> clap::Command {
        let word = |(number, name): (usize, &'static str)| {
            let word = Arg::new(name).value_name("QUERY").value_parser(read_word);
            let word = word.allow_hyphen_values(true).required(number == 0).hide(number > 0);
            word.help("The question, such as `reach atlas`, in one word or several")
        };
        command.args(WORDS.into_iter().enumerate().map(word))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Question {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let words = WORDS.iter().filter_map(|name| matches.get_one::<String>(name));
        Ok(Self(words.map(String::as_str).collect::<Vec<_>>().join(" ")))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Parses an argument; unknown options are rejected.
fn read_word(word: &str) -> Result<String, &'static str> {
    match word.strip_prefix('-') {
        Some(rest) if rest.starts_with(|first: char| first == '-' || first.is_ascii_alphabetic()) => {
            Err("there is no such option")
        }
        _ => Ok(word.into()),
    }
}

pub(crate) fn ask(args: &AskArgs, context: &mut Context) -> Result<ExitStatus> {
    let AskArgs { source, question: Question(question), viewer: asked } = args;
    let Context { workspace, output, .. } = context;
    if let Some((client, revision)) = workspace.service_with(source)? {
        let mut query = seen_at(revision.seq, *asked);
        query.push(("q", question.clone()));
        print_reply(&ask_service(client, revision, "ask", query, output.format())?, output)?;
    } else {
        let (viewer, state) = seek(asked.unwrap_or(Viewer::HOST), source, workspace)?;
        let answer =
            viewer.ask(state.as_ref(), question).map_err(|error| Failure::usage(error.to_string()))?;
        output.show(&answer.json, || vec![render::answer(&answer)])?;
    }
    Ok(ExitStatus::Yes)
}
