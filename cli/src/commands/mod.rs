//! The verbs, one a file, and what they share.

pub(crate) mod ask;
pub(crate) mod bless;
pub(crate) mod branch;
pub(crate) mod branches;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod legal;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod matches;
pub(crate) mod new;
pub(crate) mod play;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod tour;
pub(crate) mod verify;

use std::path::PathBuf;

use turnfold_store::Store;

use crate::args::{Command, Format};
use crate::failure::{Answer, Failure};
use crate::output::Output;

/// What every verb has at hand.
pub(crate) struct Context {
    store_dir: PathBuf,
    pub(crate) output: Output,
}

impl Context {
    pub(crate) fn new(store_dir: PathBuf, format: Format) -> Self {
        Self { store_dir, output: Output::new(format) }
    }

    /// Opens the store, which must exist.
    pub(crate) fn open_store(&self) -> Result<Store, Failure> {
        Ok(Store::open(&self.store_dir)?)
    }

    /// Opens the store, making it where there is none.
    pub(crate) fn open_or_create_store(&self) -> Result<Store, Failure> {
        Ok(Store::open_or_create(&self.store_dir)?)
    }
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
        Command::Diff(args) => diff::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Import(args) => import::run(&args, context),
        Command::Bless(args) => bless::run(&args, context),
        Command::Check(args) => check::run(&args, context),
        Command::Verify(args) => verify::run(&args, context),
        Command::Tour(args) => tour::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    }
}
