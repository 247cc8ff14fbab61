//! `turnfold tour`: hunts down a bug with the real verbs, in a temporary folder.

#[cfg(feature = "modules")]
mod steps;

#[cfg(feature = "modules")]
pub(crate) use self::steps::run;

/// Hunt down a bug in a minute, step by step
///
/// A game of 300 entries comes out wrong. The tour finds the entry and the field, reduces the game to three entries, checks the
/// mended rules and writes a page. The verbs are real, and so is what they print. All of it lies in a temporary
/// folder, which is removed at the end.
///
/// On a terminal, the tour waits after each step: Enter goes on, `q` ends, `o` opens the page in a browser.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold tour\n  turnfold tour --no-pause")]
pub(crate) struct Args {
    /// Do not wait after each step
    #[arg(long)]
    no_pause: bool,
}

#[cfg(not(feature = "modules"))]
pub(crate) fn run(
    _: &Args,
    _: &mut crate::context::Context,
) -> Result<crate::failure::ExitStatus, crate::failure::Failure> {
    Err(crate::failure::Failure::usage(crate::address::left_out("modules")))
}
