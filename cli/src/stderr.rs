//! Prints to stderr: failures, warnings, diagnostics and progress.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::AnsiColor;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use turnfold_history::text::{error_text, json_line};

use crate::clock;
use crate::failure::Failure;
use crate::output::{Format, Tone, folded_lines, printable, stderr_width, style_of};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// One line of text each, without times.
    #[value(skip)]
    #[serde(skip)]
    Brief,
    /// One line of text each, with the time
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// Enables diagnostics on stderr: warnings, and more for each `-v`, or what `TURNFOLD_LOG` selects.
pub(crate) fn log(verbose: u8, format: LogFormat) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let ours = format!(
        "warn,turnfold={level},turnfold_history={level},turnfold_serve={level},turnfold_store={level}"
    );
    let filter = EnvFilter::try_from_env("TURNFOLD_LOG").unwrap_or_else(|_| EnvFilter::new(ours));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    let lines = lines.with_ansi(is_terminal());
    match format {
        LogFormat::Brief => lines.without_time().init(),
        LogFormat::Text => lines.with_timer(LOG_TIME).init(),
        LogFormat::Json => lines.with_timer(LOG_TIME).json().flatten_event(true).init(),
    }
}

const LOG_TIME: fn(&mut Writer<'_>) -> fmt::Result =
    |out| out.write_str(&clock::now_ms().ok().and_then(clock::rfc_3339).unwrap_or_default());

/// Whether stderr gets JSON, as stdout does.
static IS_JSON: AtomicBool = AtomicBool::new(false);

pub(crate) fn set_format(format: Format) {
    IS_JSON.store(format == Format::Json, Ordering::Relaxed);
}

pub(crate) fn error(failure: &Failure) {
    let style = AnsiColor::Red.on_default().bold();
    let text = error_text("error: ", &failure.to_string());
    print(&format!("{style}error:{style:#} {text}"), &failure.to_json());
}

pub(crate) fn warn(text: &str) {
    let style = style_of(Tone::Warning).bold();
    let document = json!({ "warning": { "message": text } });
    print(&format!("{style}warning:{style:#} {}", printable(text)), &document);
}

pub(crate) fn note(text: &str, document: &Value) {
    let style = style_of(Tone::Dim);
    print(&format!("{style}{}{style:#}", printable(text)), document);
}

fn print(line: &str, document: &Value) {
    // Nothing is printed if stderr is closed.
    let _ = match json_line(document) {
        Ok(json) if IS_JSON.load(Ordering::Relaxed) => writeln!(io::stderr(), "{json}"),
        _ => writeln!(anstream::stderr(), "{}", folded_lines(line, stderr_width())),
    };
}

pub(crate) fn progress(steps: u64, template: &str) -> ProgressBar {
    let target = if is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(steps), target).with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

pub(crate) fn is_terminal() -> bool {
    io::stderr().is_terminal()
}
