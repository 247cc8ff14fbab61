//! `turnfold show`: what a seat sees.

use turnfold_core::Seat;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::Format;
use crate::position::Position;
use crate::record::raw;
use crate::render;
use crate::revision::SourceName;

/// Show what a seat sees: the board, the JSON view or a picture
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold show duel:12 --as p1")]
pub(crate) struct Args {
    /// Revision or replay file; `-` is standard input
    #[arg(value_name = "REV")]
    source: SourceName,

    /// Whose eyes to look through
    #[arg(long = "as", value_name = "SEAT", default_value_t = Seat::Host)]
    seat: Seat,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let state = Position::seek(&args.source, context)?;
    let output = &mut context.output;
    match output.format() {
        Format::Json => output.json(raw(&state.view(args.seat))?)?,
        Format::Text => render::print(&state.picture(args.seat), output)?,
        Format::Svg => output.document(&render::svg(&state.picture(args.seat)))?,
    }
    Ok(Answer::Yes)
}
