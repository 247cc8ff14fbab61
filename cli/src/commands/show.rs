//! `turnfold show`, `legal` and `ask`: what a viewer sees of a state.

use clap::{Arg, ArgMatches, FromArgMatches};
use turnfold_history::{SourceName, Viewer};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories::warn_unless_current;
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
        warn_unless_current(revision, || workspace.matches()?.current_branch(&revision.match_name))?;
    }
    workspace.matches_with(source)?.show(args, source, name, output)?;
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
    pub(crate) source: SourceName,

    /// Only this seat's commands [default: every seat's]
    #[arg(long = "as", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,
}

pub(crate) fn legal(args: &LegalArgs, context: &mut Context) -> Result<ExitStatus> {
    let Context { workspace, output, .. } = context;
    workspace.matches_with(&args.source)?.legal(args, output)?;
    Ok(ExitStatus::Yes)
}

/// Ask the ruleset a question
///
/// The questions depend on the ruleset; an unknown one is answered with the list of those that exist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold ask duel reach atlas")]
pub(crate) struct AskArgs {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    pub(crate) source: SourceName,

    #[command(flatten)]
    pub(crate) question: Question,

    /// Who asks [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    pub(crate) viewer: Option<Viewer>,
}

/// The words of a question, which may begin with a hyphen, as `-1,2` does.
///
/// Each word is an argument of its own. If one argument took several, clap would take everything after a word with a
/// hyphen as words too, even `--as p1`.
#[derive(Debug)]
pub(crate) struct Question(pub(crate) String);

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
    let Context { workspace, output, .. } = context;
    workspace.matches_with(&args.source)?.ask(args, output)?;
    Ok(ExitStatus::Yes)
}
