//! `turnfold show`: what a seat sees.

use turnfold_replay::drawing::{Highlights, svg};
use turnfold_replay::{Eyes, SourceName, sight::seek};

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::Format;
use crate::render;

/// Show what a seat sees: the board, the JSON view or a picture
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold show duel:12 --as p1")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Eyes::HOST)]
    eyes: Eyes,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let (eyes, state) = seek(args.eyes, &args.source, context)?;
    let picture = || eyes.picture(state.as_ref());
    let output = &mut context.output;
    match output.format() {
        Format::Json => output.json(&eyes.view(state.as_ref()))?,
        Format::Text => render::print(&picture(), output)?,
        Format::Svg => output.document(&svg::document(&picture(), &Highlights::default()))?,
    }
    Ok(Answer::Yes)
}
