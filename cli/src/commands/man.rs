//! `turnfold man`: manual pages.

use std::fs;
use std::path::PathBuf;

use clap_mangen::Man;
use serde::Serialize;

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

#[derive(Serialize)]
struct ManJson {
    dir: String,
    /// The names of the files, in order.
    pages: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    fs::create_dir_all(&args.dir).map_err(|error| Failure::file("make directory", &args.dir, &error))?;
    clap_mangen::generate_to(context.grammar.clone(), &args.dir)
        .map_err(|error| Failure::file("write manual pages to", &args.dir, &error))?;
    let dir = args.dir.display();
    if context.output.is_json() {
        let mut grammar = context.grammar.clone().disable_help_subcommand(true);
        grammar.build();
        let pages = pages_of(&grammar);
        context.output.json(&ManJson { dir: dir.to_string(), pages })?;
    } else {
        context.output.line(format_args!("wrote manual pages to `{dir}`"))?;
    }
    Ok(Answer::Yes)
}

/// Lists the pages of a verb, or of the program, and of all below it.
fn pages_of(grammar: &clap::Command) -> Vec<String> {
    let verbs = grammar.get_subcommands().filter(|verb| !verb.is_hide_set());
    let page = Man::new(grammar.clone()).get_filename();
    std::iter::once(page).chain(verbs.flat_map(pages_of)).collect()
}
