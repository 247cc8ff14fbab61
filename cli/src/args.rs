//! The command line's grammar.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::commands::{
    ask, bless, branch, branches, check, completions, diff, export, import, legal, log, man, matches, new,
    play, replay, run, show, tour, verify,
};

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
    Exit codes: 0 done or equal, 1 a negative answer, 2 unusable arguments or input, 3 store or I/O trouble.\n\
    Start with `turnfold tour`."
)]
pub(crate) struct Args {
    /// Directory of the store
    #[arg(long, global = true, value_name = "DIR", env = "TURNFOLD_STORE", default_value = ".turnfold")]
    pub(crate) store: PathBuf,

    /// How to print the answer; `svg` is for `show` only
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,

    /// Say more on stderr; twice for even more (see also the variable `TURNFOLD_LOG`)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON document, or JSON Lines for sequences
    Json,
    /// A picture
    Svg,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a match
    New(new::Args),
    /// Append commands to a match and print what becomes of each
    Play(play::Args),
    /// Play a script in memory, without a store
    Run(run::Args),
    /// Show what a seat sees: the board, the JSON view or a picture
    Show(show::Args),
    /// List the commands that would be applied
    Legal(legal::Args),
    /// Ask the ruleset a question
    Ask(ask::Args),
    /// Print the entries of a revision with their outcomes
    Log(log::Args),
    /// List the matches of the store
    Matches(matches::Args),
    /// List the branches of a match
    Branches(branches::Args),
    /// Fold a revision or file again from the start, showing each entry
    Replay(replay::Args),
    /// Begin a new line of play from any point, or delete one
    Branch(branch::Args),
    /// Show where two lines of play part and how their states differ
    Diff(diff::Args),
    /// Write a revision as a replay file
    Export(export::Args),
    /// Create a match from a replay file
    Import(import::Args),
    /// Write outcomes and hashes into replay files
    Bless(bless::Args),
    /// Verify golden logs
    Check(check::Args),
    /// Audit stored matches: chain, decoding, rules, seeded dice
    Verify(verify::Args),
    /// See all of the above in a minute, in a temporary store
    Tour(tour::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
}
