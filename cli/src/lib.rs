//! The command line of turnfold: arguments, rendering, golden logs and exit codes.
//!
//! [`run`] reads the arguments, runs one verb from `commands` and returns its exit code. [`main`] does this for the
//! rulesets of turnfold. A program with a game of its own calls [`run`] with its own registry, and has every verb for
//! that game:
//!
//! ```ignore
//! fn main() -> std::process::ExitCode {
//!     turnfold::run(std::env::args_os(), turnfold::standard().with(turnfold::erase::<Nim>()))
//! }
//! ```
//!
//! [`turnfold_core::tutorial`] develops such a game from scratch. The library [`turnfold_history`] does what the verbs
//! do with a log: fold, compare, explain, check, bless, search, shrink. A game's own tests can use it;
//! [`turnfold_history::check()`] is all that a test of golden logs needs.

#![cfg_attr(
    not(all(feature = "modules", feature = "postgres", feature = "stepper")),
    allow(
        dead_code,
        clippy::unnecessary_wraps,
        reason = "what a part that was left out calls or makes fail"
    )
)]

mod advice;
mod client;
mod clock;
mod commands;
mod completion;
mod context;
mod corpus;
mod failure;
mod files;
mod grammar;
mod guides;
mod histories;
mod matches;
mod output;
mod pager;
mod program;
mod random;
mod remote;
mod signals;
mod sources;
mod stderr;
#[cfg(feature = "stepper")]
mod stepper;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
#[cfg(feature = "modules")]
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};

pub use turnfold_core::Registry;
pub use turnfold_core::any::erase;
pub use turnfold_games::standard;
use turnfold_history::{ReplayError, catch};

use crate::context::{Context, Workspace};
use crate::failure::{ExitStatus, Failure, FailureKind, Result};
use crate::grammar::Args;
use crate::output::{Colors, Format, Output, folded_lines, help_width};
use crate::pager::Pager;
use crate::stderr::LogFormat;

/// Runs the command line with the arguments of the process and the rulesets of turnfold, and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    run_as_named(env::args_os().collect(), standard())
}

/// Replaces the system's clock by `now_ms`, which returns milliseconds since 1970. A program that tests what happens
/// over days calls it first.
pub fn set_clock(now_ms: fn() -> i64) {
    clock::set(now_ms);
}

/// Runs the command line with these arguments, the first of which is the program's path, and returns its exit code. The
/// output calls the program by the file name of that path.
///
/// A program calls it last, because it takes over the panic hook, stdout and stderr.
#[must_use]
pub fn run(args: impl IntoIterator<Item = OsString>, registry: Registry) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(path) = args.first() {
        program::called_by(path);
    }
    run_as_named(args, registry)
}

fn run_as_named(args: Vec<OsString>, registry: Registry) -> ExitCode {
    if completion::answer(&registry) {
        return ExitCode::SUCCESS;
    }
    let asked = grammar::format_asked_for(&args);
    let may_page = !args.iter().any(|arg| arg == "--no-pager");
    stderr::set_format(asked);
    panic::set_hook(Box::new(|panic| stderr::error(&Failure::internal(panic))));
    Colors::asked_for(&args).choose();
    let args = match grammar::parse(args) {
        Ok(args) => args,
        Err(error) => return usage(&error, asked, may_page),
    };
    args.global.color.choose();
    // `serve` sets up its log later, because its options name the format.
    if !matches!(args.command, commands::Command::Serve(_)) {
        stderr::log(args.global.verbose, LogFormat::Brief);
    }
    match panic::catch_unwind(AssertUnwindSafe(|| {
        catch(|| answer(args, registry)).unwrap_or_else(|fault| Err(ReplayError::from(fault).into()))
    })) {
        Ok(Ok(answer)) => answer.into(),
        Ok(Err(failure)) => {
            if failure.kind != FailureKind::ClosedPipe {
                for other in &failure.others {
                    stderr::error(other);
                }
                stderr::error(&failure);
            }
            failure.exit_code().into()
        }
        Err(_) => ExitCode::from(3),
    }
}

fn answer(args: Args, registry: Registry) -> Result<ExitStatus> {
    // `context` is dropped on every way out. Its output then waits for the pager, before anything is printed to stderr.
    let Args { global, command } = args;
    let output = Output::new(global.format, !global.no_pager);
    let modules = command.modules(&global);
    #[cfg(not(feature = "modules"))]
    let referee_paths = Vec::new();
    #[cfg(feature = "modules")]
    let (registry, referee_paths) = {
        let referees = command.referees(&global)?;
        if !referees.is_empty() {
            signals::remove_drafts();
        }
        let paths = referees.paths();
        (registry.with_referees(Arc::new(referees)), paths)
    };
    let mut workspace = Workspace::new(global.store, global.token, registry, modules)?;
    workspace.passed_over = global.passed_over;
    workspace.referee_paths = referee_paths;
    workspace.named = global.named;
    let mut context = Context { workspace, output, verbose: global.verbose };
    if command.is_paged(&context.output) {
        context.output.page()?;
    }
    let answer = match commands::run(&command, &mut context) {
        Ok(answer) => answer,
        Err(failure) => {
            let failure = advice::in_workspace(failure, &context);
            let passed_over = context.passed_over.as_deref();
            let is_searched = global.is_store_searched;
            return Err(if is_searched { failure.in_searched_store(passed_over) } else { failure });
        }
    };
    context.output.flush()?;
    // Referees are checked once more only after success.
    if answer == ExitStatus::Yes
        && let Some(referees) = context.registry.referees()
    {
        referees.settle();
    }
    Ok(answer)
}

fn usage(error: &clap::Error, format: Format, may_page: bool) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp if may_page && page_help(error) => ExitCode::SUCCESS,
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => match print_help(error, anstream::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => ExitCode::from(Failure::from(error).exit_code()),
        },
        kind => {
            if kind != ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                stderr::error(&in_one_line(error));
            } else if format == Format::Text {
                // Without arguments, the user wants help, but nothing was done.
                let _ = print_help(error, anstream::stderr());
            } else {
                stderr::error(&Failure::usage("no verb was given").hint("see `--help`"));
            }
            ExitCode::from(2)
        }
    }
}

/// Prints help. clap wraps descriptions, but neither the usage nor the list of verbs, so those are folded here.
fn print_help(error: &clap::Error, mut out: impl Write) -> io::Result<()> {
    let help = folded_lines(&error.render().ansi().to_string(), help_width());
    write!(out, "{help}").and_then(|()| out.flush())
}

fn page_help(error: &clap::Error) -> bool {
    let Ok(Some((pager, mut stdin))) = Pager::start() else { return false };
    // A write error only means that the user has closed the pager.
    let _ = print_help(error, &mut stdin);
    drop(stdin);
    drop(pager);
    true
}

/// Returns clap's message and tips in one line, without its usage section.
///
/// clap's `ErrorFormatter` cannot do this, because the sentences that `RichFormatter` makes are private.
fn in_one_line(error: &clap::Error) -> Failure {
    let mut text = error.render().to_string();
    // The URL of a database may contain a password.
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue)
        && context::is_database(value)
    {
        text = text.replace(value, "postgres://…");
    }
    let mut message = String::new();
    let mut hint = String::new();
    for paragraph in text.split("\n\n") {
        let line = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.starts_with("Usage:") || line.starts_with("For more information") {
            continue;
        }
        if message.is_empty() {
            message = line;
        } else if !line.is_empty() {
            hint = hint + &line + "; ";
        }
    }
    Failure::usage(message.strip_prefix("error: ").unwrap_or(&message)).hint(hint + "see `--help`")
}
