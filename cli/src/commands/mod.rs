//! The verbs, one a file.

pub(crate) mod amend;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod bisect;
pub(crate) mod blame;
pub(crate) mod bless;
pub(crate) mod branch;
pub(crate) mod branches;
pub(crate) mod bundle;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod cosign;
pub(crate) mod delete;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod guide;
pub(crate) mod impact;
pub(crate) mod import;
pub(crate) mod join;
pub(crate) mod key;
pub(crate) mod legal;
pub(crate) mod log;
pub(crate) mod mail;
pub(crate) mod man;
pub(crate) mod matches;
pub(crate) mod new;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod prove;
pub(crate) mod rename;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod run;
pub(crate) mod selftest;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod shrink;
pub(crate) mod sign;
pub(crate) mod simulate;
pub(crate) mod store;
pub(crate) mod tour;
pub(crate) mod verify;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::guides::Guide;
use crate::output::{Format, Output};

/// The verbs. Their help is the documentation of their arguments; a line here would hide the rest of it.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Play(play::Args),
    Run(run::Args),
    Show(show::Args),
    Legal(legal::Args),
    Ask(ask::Args),
    Rules(rules::Args),
    Log(log::Args),
    Matches(matches::Args),
    Branches(branches::Args),
    Replay(replay::Args),
    Rename(rename::Args),
    Delete(delete::Args),
    Branch(branch::Args),
    Amend(amend::Args),
    Diff(diff::Args),
    Export(export::Args),
    Import(import::Args),
    Bisect(bisect::Args),
    Shrink(shrink::Args),
    Blame(blame::Args),
    Selftest(selftest::Args),
    Perft(perft::Args),
    Bless(bless::Args),
    Check(check::Args),
    Simulate(simulate::Args),
    Impact(impact::Args),
    Verify(verify::Args),
    Key(key::Args),
    Sign(sign::Args),
    Prove(prove::Args),
    Cosign(cosign::Args),
    Bundle(bundle::Args),
    Audit(audit::Args),
    Store(store::Args),
    Serve(serve::Args),
    Join(join::Args),
    Mail(mail::Args),
    Tour(tour::Args),
    Completions(completions::Args),
    Man(man::Args),
    /// What `help` prints where it is given a guide; no verb of its own.
    #[command(skip)]
    Guide(&'static Guide),
}

impl Command {
    /// Returns `true` if the verb may print more than a screen and asks no questions.
    pub(crate) fn is_paged(&self, output: &Output) -> bool {
        match self {
            Self::Log(_) | Self::Diff(_) | Self::Blame(_) | Self::Rules(_) | Self::Guide(_) => true,
            Self::Replay(args) => args.is_paged(),
            Self::Bless(args) => args.is_paged(output),
            _ => false,
        }
    }
}

/// Runs a verb.
pub(crate) fn run(command: Command, context: &mut Context) -> Result<ExitStatus, Failure> {
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
        Command::Rules(args) => rules::run(&args, context),
        Command::Log(args) => log::run(&args, context),
        Command::Matches(args) => matches::run(&args, context),
        Command::Branches(args) => branches::run(&args, context),
        Command::Replay(args) => replay::run(&args, context),
        Command::Rename(args) => rename::run(&args, context),
        Command::Delete(args) => delete::run(&args, context),
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
        Command::Key(args) => key::run(&args, context),
        Command::Sign(args) => sign::run(&args, context),
        Command::Prove(args) => prove::run(&args, context),
        Command::Cosign(args) => cosign::run(&args, context),
        Command::Bundle(args) => bundle::run(&args, context),
        Command::Audit(args) => audit::run(&args, context),
        Command::Store(args) => store::run(&args, context),
        Command::Serve(args) => serve::run(&args, context),
        Command::Join(args) => join::run(&args, context),
        Command::Mail(args) => mail::run(&args, context),
        Command::Tour(args) => tour::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
        Command::Guide(guide) => guide::run(guide, context),
    }
}
