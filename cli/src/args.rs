//! The command line's grammar.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::commands::Command;
use crate::output::Format;
use crate::remote::store_address::StoreAddress;

/// The heading of the options that every verb has.
const GLOBAL: &str = "Global options";

/// Replay, branch, diff and check board-game matches
///
/// Every tap, move, tick and roll is a command in an append-only log. A deterministic rules core folds the log into
/// state, and hashed golden logs prove that it still does.
#[derive(Debug, Parser)]
#[command(
    name = "turnfold",
    bin_name = "turnfold",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(
    after_help = "Revisions are written MATCH[@BRANCH][:SEQ]: `duel`, `duel@flank`, `duel:12`; `:0` is the setup.\n\
    Where a revision is read, a replay file will do: `duel.tfl`, `duel.tfl:12`, or `-` for standard input.\n\
    Exit codes: 0 done or equal, 1 a negative answer, 2 unusable arguments or input, 3 store or I/O trouble.\n\
    Examples:\n  turnfold tour\n  turnfold rules initiative\n  turnfold new duel --rules initiative"
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The options that every verb has.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Directory of the store, or the URL of a database or service
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR|URL", env = "TURNFOLD_STORE", default_value = ".turnfold",
        value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    pub(crate) store: StoreAddress,

    /// File with the token for a service
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE")]
    pub(crate) token: Option<PathBuf>,

    /// How to print the answer; `svg` is for `show` only
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Print more on stderr; twice for even more (see also the variable `TURNFOLD_LOG`)
    #[arg(short, long, global = true, help_heading = GLOBAL, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Print long answers straight to the terminal (see also the variable `TURNFOLD_PAGER`)
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) no_pager: bool,
}

/// Finds the format that arguments ask for, though they may be unusable in all else.
pub(crate) fn format_asked_for(args: impl IntoIterator<Item = OsString>) -> Format {
    let mut words = args.into_iter().take_while(|word| word != "--");
    while let Some(word) = words.next() {
        if word == "--format=json" || word == "--format" && words.next().is_some_and(|value| value == "json")
        {
            return Format::Json;
        }
    }
    Format::Text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_found_in_unusable_arguments() {
        let found = |line: &str| format_asked_for(line.split(' ').map(OsString::from));
        for line in ["dance --format json", "--format=json", "play --nonsense --format json x"] {
            assert_eq!(found(line), Format::Json, "{line}");
        }
        for line in ["--format text", "ask duel -- --format json", "--format", "--format=jsonl"] {
            assert_eq!(found(line), Format::Text, "{line}");
        }
    }
}
