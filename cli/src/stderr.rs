//! What the program prints to stderr: failures and progress.

use std::io::{self, IsTerminal, Write};

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use turnfold_replay::render::text::{error_text, json_line};

use crate::failure::Failure;
use crate::output::Format;

/// Prints a failure to stderr in one line of bounded length, if stderr is open.
pub(crate) fn error(failure: &Failure, format: Format) {
    let style = AnsiColor::Red.on_default().bold();
    let json = (format == Format::Json).then(|| json_line(&failure.to_json()).ok()).flatten();
    let _ = if let Some(json) = json {
        writeln!(io::stderr(), "{json}")
    } else {
        let text = error_text("error: ", &failure.to_string());
        writeln!(anstream::stderr(), "{style}error:{style:#} {text}")
    };
}

/// Shows on stderr how far the work is, where someone watches, until it is dropped. The template is indicatif's.
pub(crate) fn progress(steps: u64, template: &str) -> ProgressBar {
    let target = if is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(steps), target).with_finish(ProgressFinish::AndClear);
    ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style))
}

/// Returns `true` if someone watches stderr, so that progress is worth showing.
pub(crate) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}
