//! `turnfold completions`: completion scripts for shells.

use clap_complete::Shell;

use crate::context::Context;
use crate::failure::{Answer, Failure};

/// Print a completion script for a shell
///
/// For bash: `turnfold completions bash > ~/.local/share/bash-completion/completions/turnfold`
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold completions bash")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    if context.output.is_json() {
        return Err(Failure::usage("a completion script is for a shell, there is no JSON of it")
            .hint("leave out `--format json`"));
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut context.grammar, "turnfold", &mut script);
    context.output.document(&String::from_utf8_lossy(&script))?;
    Ok(Answer::Yes)
}
