//! `turnfold completions`: completion scripts for shells.

use clap_complete::Shell;

use crate::completion;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};

/// Print a completion script for a shell
///
/// Rulesets, seats, matches and branches are completed too: the script asks `turnfold`, which reads the store and never
/// writes to it.
///
/// For bash: `turnfold completions bash > ~/.local/share/bash-completion/completions/turnfold`
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold completions bash")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if context.output.is_json() {
        return Err(Failure::usage("a completion script is for a shell, there is no JSON of it")
            .hint("leave out `--format json`"));
    }
    let shell = args.shell.to_string();
    let script = completion::script(&shell)
        .ok_or_else(|| Failure::usage(format!("there is no completion script for `{shell}`")))?;
    context.output.document(&script)?;
    Ok(ExitStatus::Yes)
}
