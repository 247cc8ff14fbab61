//! `turnfold ask`: a ruleset's queries.

use turnfold_replay::{Eyes, SourceName, printed, sight::seek};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::remote::look;

/// Ask the ruleset a question
///
/// Which questions there are depends on the ruleset; an unknown one is answered with their forms.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold ask duel reach atlas")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// The question, such as `reach atlas`
    #[arg(value_name = "QUERY", required = true, allow_hyphen_values = true)]
    query: Vec<String>,

    /// Who asks [default: host]
    #[arg(long = "as", value_name = "SEAT")]
    eyes: Option<Eyes>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let question = args.query.join(" ");
    if let Some((client, revision)) = context.service_with(&args.source)? {
        let mut query = look::seen_at(revision.seq, args.eyes);
        query.push(("q", question));
        return look::print(&client, (revision, "ask"), query, &mut context.output);
    }
    let (eyes, state) = seek(args.eyes.unwrap_or(Eyes::HOST), &args.source, context)?;
    let answer = eyes.ask(state.as_ref(), &question);
    let answer = answer.map_err(|error| Failure::usage(error.to_string()))?;
    let output = &mut context.output;
    if output.is_json() {
        output.json(&answer.json)?;
    } else {
        output.styled(&printed::answer(&answer))?;
    }
    Ok(Answer::Yes)
}
