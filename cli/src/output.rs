//! Everything the program prints: answers to stdout, diagnostics to stderr, colour only on a terminal.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;

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

/// What a piece of text means, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing special.
    Plain,
    /// Of little weight.
    Faint,
    /// A heading or a name.
    Strong,
    /// Good news, or the new side of a difference.
    New,
    /// Bad news, or the old side of a difference.
    Old,
    /// Something to look at twice.
    Odd,
}

impl Tone {
    pub(crate) fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Faint => Style::new().dimmed(),
            Self::Strong => Style::new().bold(),
            Self::New => AnsiColor::Green.on_default(),
            Self::Old => AnsiColor::Red.on_default(),
            Self::Odd => AnsiColor::Yellow.on_default(),
        }
    }
}

/// Wraps text in the colour of its tone; the output strips it where colour is not wanted.
pub(crate) fn paint(tone: Tone, text: impl Display) -> String {
    let style = tone.style();
    format!("{style}{text}{style:#}")
}

/// Writes a count with its noun.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Standard output in the format asked for.
pub(crate) struct Output {
    stdout: BufWriter<AutoStream<io::Stdout>>,
    format: Format,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        Self { stdout: BufWriter::with_capacity(1 << 16, anstream::stdout()), format }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints a line of text, which may be painted.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.stdout, "{text}")
    }

    /// Prints text as it is; it brings its own line breaks.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.stdout.write_all(text.as_bytes())
    }

    /// Prints a JSON document on a line of its own.
    pub(crate) fn json(&mut self, document: &(impl Serialize + ?Sized)) -> io::Result<()> {
        serde_json::to_writer(&mut self.stdout, document)?;
        self.line("")
    }

    /// Gives standard output for bytes that are no text; a terminal is no place for them.
    pub(crate) fn bytes(&mut self) -> Result<io::StdoutLock<'static>, Failure> {
        self.flush()?;
        let stdout = io::stdout().lock();
        if stdout.is_terminal() {
            return Err(
                Failure::usage("standard output is a terminal").hint("name a file, or send it to one")
            );
        }
        Ok(stdout)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Prints a diagnostic to stderr; where even that is closed there is nobody to tell.
pub(crate) fn error(message: impl Display) {
    let style = AnsiColor::Red.on_default().bold();
    let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {message}");
}

/// Shows on stderr how far the work is, where someone watches, until it is dropped. The template is indicatif's.
pub(crate) fn progress(steps: u64, template: &str) -> ProgressBar {
    let target =
        if stderr_is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(steps), target).with_finish(ProgressFinish::AndClear);
    ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style))
}

/// Tells whether someone sits at the terminal who can be asked.
pub(crate) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Tells whether someone watches stderr, so that progress is worth showing.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}
