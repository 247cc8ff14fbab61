//! `turnfold man`: manual pages.

mod page;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use serde::Serialize;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Write manual pages
///
/// Writes `turnfold.1` and one page for each verb, such as `turnfold-play.1`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold man ~/.local/share/man/man1")]
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    fs::create_dir_all(&args.dir).map_err(|error| Failure::file("make directory", &args.dir, &error))?;
    let mut grammar = context.grammar.clone().disable_help_subcommand(true);
    grammar.build();
    let mut pages = Vec::new();
    write_pages(&grammar, &args.dir, &mut pages)
        .map_err(|error| Failure::file("write manual pages to", &args.dir, &error))?;
    let dir = args.dir.display();
    if context.output.is_json() {
        context.output.json(&ManJson { dir: dir.to_string(), pages })?;
    } else {
        context.output.line(format_args!("wrote manual pages to `{dir}`"))?;
    }
    Ok(ExitStatus::Yes)
}

/// Writes the pages of a command and of its verbs, and lists their names.
fn write_pages(command: &Command, dir: &Path, pages: &mut Vec<String>) -> io::Result<()> {
    let name = Man::new(command.clone()).get_filename();
    let mut file = BufWriter::new(File::create(dir.join(&name))?);
    page::write(command, &mut file)?;
    file.flush()?;
    pages.push(name);
    let mut verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    verbs.try_for_each(|verb| write_pages(verb, dir, pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::grammar;

    /// Splits an example as a shell would, and drops its comment and what it sends where.
    fn words(example: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (index, part) in example.split('\'').enumerate() {
            if index % 2 == 1 {
                words.push(part.into());
            } else {
                words.extend(part.split_whitespace().map(String::from));
            }
        }
        let end = words.iter().position(|word| word == "#" || word == ">");
        words.truncate(end.unwrap_or(words.len()));
        words
    }

    fn check(command: &Command) {
        let (examples, _) = page::examples_and_notes(command);
        assert!(
            command.get_name() == "turnfold" || !examples.is_empty(),
            "{} has no example",
            command.get_name()
        );
        for example in examples {
            let parsed = grammar().try_get_matches_from(words(&example));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
        command.get_subcommands().filter(|verb| !verb.is_hide_set()).for_each(check);
    }

    #[test]
    fn every_verb_has_examples_that_its_grammar_takes() {
        check(&grammar());
    }
}
