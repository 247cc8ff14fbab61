//! `turnfold ask`: a ruleset's queries.

use clap::{Arg, ArgMatches, FromArgMatches};
use turnfold_history::{SourceName, Viewer};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Ask the ruleset a question
///
/// The questions depend on the ruleset; an unknown one is answered with the list of those that exist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold ask duel reach atlas")]
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Question(question) = &args.question;
    let answer = context.workspace.ask(&args.source, question, args.viewer, context.output.format())?;
    context.output.print(answer)?;
    Ok(ExitStatus::Yes)
}
