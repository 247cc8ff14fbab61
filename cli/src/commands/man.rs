//! `turnfold man`: writes manual pages from the grammar, with sections that `clap_mangen` does not write.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Command;
use clap_mangen::Man;
use roff::{Roff, bold, roman};
use serde_json::json;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::grammar::grammar;
use crate::guides::GROUPS;
use crate::program;

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

const ENVIRONMENT: [(&str, &str); 9] = [
    ("TURNFOLD_STORE", "The directory of the store, if --store names none."),
    (
        "TURNFOLD_LOG",
        "What is printed on stderr, such as debug or turnfold_store=trace; it overrules --verbose.",
    ),
    (
        "TURNFOLD_PAGER",
        "The program, with its arguments, that shows the output of log, replay, diff, blame, rules and bless --check on a \
         terminal; empty or cat for none.",
    ),
    ("PAGER", "The same, if TURNFOLD_PAGER is not set; the default is less."),
    ("LESS", "The options of less; FRX if not set."),
    (
        "SSL_CERT_FILE",
        "A PEM file of the authorities that vouch for services at https; by default those that browsers trust.",
    ),
    ("NO_COLOR", "Print no colors, if it is set and not empty."),
    ("CLICOLOR_FORCE", "Print colors even if the output is not a terminal, if it is set and not 0."),
    ("CI", "In bless, write nothing, if it is set and neither empty, 0 nor false."),
];

const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Done, equal, or all good."),
    ("1", "A negative answer: a mismatch, a difference, a rejected command, a conflict."),
    ("2", "Arguments or input that cannot be used."),
    ("3", "Trouble with the store, a file or the output."),
];

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    fs::create_dir_all(&args.dir).map_err(|error| Failure::file("make directory", &args.dir, &error))?;
    let mut grammar = grammar().disable_help_subcommand(true);
    grammar.build();
    let mut pages = Vec::new();
    write_pages(&grammar, &args.dir, &mut pages)
        .map_err(|error| Failure::file("write manual pages to", &args.dir, &error))?;
    let dir = args.dir.display().to_string();
    let written = json!({ "dir": dir, "pages": pages });
    context.output.answer(&written, || vec![format!("wrote manual pages to `{dir}`").into()])
}

fn write_pages(command: &Command, dir: &Path, pages: &mut Vec<String>) -> io::Result<()> {
    let name = Man::new(command.clone()).get_filename();
    let mut file = BufWriter::new(File::create(dir.join(&name))?);
    write_page(command, &mut file)?;
    file.flush()?;
    pages.push(name);
    for verb in command.get_subcommands() {
        if !verb.is_hide_set() {
            write_pages(verb, dir, pages)?;
        }
    }
    Ok(())
}

fn write_page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    let (examples, notes) = examples_and_notes(command);
    let mut roff = Roff::new();
    if !notes.is_empty() {
        roff.control("SH", ["NOTES"]);
        for note in notes {
            roff.text([roman(note)]).control("br", []);
        }
    }
    section("ENVIRONMENT", &ENVIRONMENT, &mut roff);
    section("EXIT STATUS", &EXIT_STATUS, &mut roff);
    roff.control("SH", ["EXAMPLES"]);
    for example in examples {
        roff.control("nf", []).text([roman(example)]).control("fi", []);
    }
    roff.control("SH", ["SEE ALSO"]).text([roman(see_also(command).join(", "))]);
    roff.to_writer(out)
}

fn section(title: &str, items: &[(&str, &str)], roff: &mut Roff) {
    roff.control("SH", [title]);
    for (name, text) in items {
        roff.control("TP", []).text([bold(*name)]).text([roman(*text)]);
    }
}

fn examples_and_notes(command: &Command) -> (Vec<String>, Vec<String>) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut examples = Vec::new();
    let mut notes = Vec::new();
    for line in help.lines() {
        let mut line = line.trim();
        if let Some(example) = line.strip_prefix("Examples:").or_else(|| line.strip_prefix("Example:")) {
            line = example.trim();
        }
        if line.split(' ').next() == Some(program::name()) {
            examples.push(line.to_owned());
        } else if !line.is_empty() {
            notes.push(line.to_owned());
        }
    }
    (examples, notes)
}

fn see_also(command: &Command) -> Vec<String> {
    let program = program::name();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    // The group of a page is that of its first verb: `turnfold-mail-write` is in the group of `mail`.
    let verb = name.strip_prefix(program).and_then(|name| name.split('-').nth(1));
    let mut pages = Vec::new();
    if verb.is_some() {
        pages.push(format!("{program}(1)"));
    }
    for (_, verbs) in GROUPS {
        if verb.is_some_and(|verb| !verbs.contains(&verb)) {
            continue;
        }
        for near in verbs {
            if *near != "help" && format!("{program}-{near}") != name {
                pages.push(format!("{program}-{near}(1)"));
            }
        }
    }
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits an example as a shell would, and drops its comment and what it sends where.
    fn words(example: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (index, part) in example.split(['\'', '"']).enumerate() {
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
        let (examples, _) = examples_and_notes(command);
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(
            about == "Not a part of this build" || command.get_name() == "turnfold" || !examples.is_empty(),
            "{} has no example",
            command.get_name()
        );
        let is_built = |example: &String| cfg!(feature = "postgres") || !example.contains("postgres://");
        for example in examples.into_iter().filter(is_built) {
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
