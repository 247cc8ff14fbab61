//! `turnfold man`: manual pages.

use std::fs;
use std::path::PathBuf;

use crate::context::Context;
use crate::failure::{Answer, Failure};

/// Write manual pages
///
/// Writes `turnfold.1` and one page for each verb, such as `turnfold-play.1`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory to write them to; it is made when missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    fs::create_dir_all(&args.dir).map_err(|error| Failure::file("make directory", &args.dir, &error))?;
    clap_mangen::generate_to(context.grammar.clone(), &args.dir)
        .map_err(|error| Failure::file("write manual pages to", &args.dir, &error))?;
    if !context.output.is_json() {
        context.output.line(format_args!("wrote manual pages to `{}`", args.dir.display()))?;
    }
    Ok(Answer::Yes)
}
