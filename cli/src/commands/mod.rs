//! The verbs, one a file.

pub(crate) mod amend;
pub(crate) mod ask;
pub(crate) mod bisect;
pub(crate) mod blame;
pub(crate) mod bless;
pub(crate) mod branch;
pub(crate) mod branches;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod impact;
pub(crate) mod import;
pub(crate) mod legal;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod matches;
pub(crate) mod new;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod show;
pub(crate) mod shrink;
pub(crate) mod simulate;
pub(crate) mod store;
pub(crate) mod tour;
pub(crate) mod verify;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::Format;

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
    // Without a line of its own here, so that `--help` tells all that its arguments' documentation says.
    Amend(amend::Args),
    Diff(diff::Args),
    /// Write a revision as a replay file
    Export(export::Args),
    /// Create a match from a replay file
    Import(import::Args),
    /// Find the first entry at which something becomes true
    Bisect(bisect::Args),
    /// Find the smallest log that still shows something
    Shrink(shrink::Args),
    /// Show which entry last changed a field of the view
    Blame(blame::Args),
    /// Serialise, reload and fold again at every entry, and compare hashes
    Selftest(selftest::Args),
    /// Count the command sequences that the rules offer from a setup
    Perft(perft::Args),
    Bless(bless::Args),
    Check(check::Args),
    /// Play at random, for logs of any length
    Simulate(simulate::Args),
    // As for `amend`.
    Impact(impact::Args),
    /// Audit stored matches: chain, decoding, rules, seeded dice
    Verify(verify::Args),
    /// Check, back up, restore, salvage, compact and measure a store
    Store(store::Args),
    /// See all of the above in a minute, in a temporary store
    Tour(tour::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
}

/// Runs a verb.
pub(crate) fn run(command: Command, context: &mut Context) -> Result<Answer, Failure> {
    if context.output.format() == Format::Svg && !matches!(command, Command::Show(_)) {
        return Err(Failure::usage("`--format svg` is for `show` only").hint("use `text` or `json`"));
    }
    match command {
        Command::New(args) => new::run(args, context),
        Command::Play(args) => play::run(&args, context),
        Command::Run(args) => run::run(&args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Legal(args) => legal::run(&args, context),
        Command::Ask(args) => ask::run(&args, context),
        Command::Log(args) => log::run(&args, context),
        Command::Matches(args) => matches::run(&args, context),
        Command::Branches(args) => branches::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::Branch(args) => branch::run(&args, context),
        Command::Amend(args) => amend::run(&args, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Import(args) => import::run(&args, context),
        Command::Bisect(args) => bisect::run(&args, context),
        Command::Shrink(args) => shrink::run(&args, context),
        Command::Blame(args) => blame::run(&args, context),
        Command::Selftest(args) => selftest::run(&args, context),
        Command::Perft(args) => perft::run(&args, context),
        Command::Bless(args) => bless::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Simulate(args) => simulate::run(args, context),
        Command::Impact(args) => impact::run(&args, context),
        Command::Verify(args) => verify::run(&args, context),
        Command::Store(args) => store::run(&args, context),
        Command::Tour(args) => tour::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    }
}
