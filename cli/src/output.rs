//! Everything the program prints: answers to stdout, diagnostics to stderr, color only on a terminal.
//!
//! This is the one place that keeps names, titles and whatever else comes from outside from commanding a terminal:
//! what is printed as text or JSON has its control characters escaped here, wherever they came from. So color is
//! not written into text but marked in it, by [`paint`], and becomes escape sequences only on the way out.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size, terminal_size_of};
use turnfold_replay::{
    StyledLine,
    text::{is_unprintable, json_line},
};

pub(crate) use turnfold_replay::text::{Tone, counted, error_text, printable};

use crate::failure::Failure;
use crate::pager::Pager;

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

/// Returns the style in which a terminal shows a tone.
pub(crate) fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Dim => Style::new().dimmed(),
        Tone::Strong => Style::new().bold(),
        Tone::Added => AnsiColor::Green.on_default(),
        Tone::Removed => AnsiColor::Red.on_default(),
        Tone::Warning => AnsiColor::Yellow.on_default(),
    }
}

/// The marks of painted text: characters that Unicode keeps for a program's own use, one for each tone.
const MARKS: [(char, Tone); 6] = [
    ('\u{fdd0}', Tone::Plain),
    ('\u{fdd1}', Tone::Dim),
    ('\u{fdd2}', Tone::Strong),
    ('\u{fdd3}', Tone::Added),
    ('\u{fdd4}', Tone::Removed),
    ('\u{fdd5}', Tone::Warning),
];

/// Marks text with its tone, for [`Output`] to color.
///
/// A mark that text from outside brings along can choose another tone, which is harmless.
pub(crate) fn paint(tone: Tone, text: impl Display) -> String {
    let mark = |wanted| MARKS.iter().find(|(_, tone)| *tone == wanted).map_or(' ', |(mark, _)| *mark);
    format!("{}{text}{}", mark(tone), mark(Tone::Plain))
}

/// Writes marked text: colors for the marks, everything else printable. `is_kept` lets characters through.
fn write_marked(out: &mut impl Write, text: &str, is_kept: fn(char) -> bool) -> io::Result<()> {
    if !text.contains(is_unprintable) {
        return out.write_all(text.as_bytes());
    }
    let mut style = Style::new();
    for piece in text.split_inclusive(is_unprintable) {
        let (last, character) = piece.char_indices().next_back().unwrap_or_default();
        let before = piece.get(..last).unwrap_or_default();
        let mark = MARKS.iter().find(|(mark, _)| *mark == character);
        if let Some((_, tone)) = mark {
            write!(out, "{before}{style:#}{}", style_of(*tone))?;
            style = style_of(*tone);
        } else if is_kept(character) {
            out.write_all(piece.as_bytes())?;
        } else {
            write!(out, "{before}{}", printable(piece.get(last..).unwrap_or_default()))?;
        }
    }
    write!(out, "{style:#}")
}

/// Writes a line of pieces in styles of their own.
fn write_spans<'a>(
    out: &mut impl Write,
    spans: impl IntoIterator<Item = (Style, &'a str)>,
) -> io::Result<()> {
    for (style, text) in spans {
        write!(out, "{style}{}{style:#}", printable(text))?;
    }
    writeln!(out)
}

/// Standard output in the format asked for.
pub(crate) struct Output {
    /// Dropped before the pager, which reads until then.
    stdout: BufWriter<Box<dyn Write>>,
    pager: Option<Pager>,
    /// Whether a pager may be used.
    may_page: bool,
    format: Format,
}

/// How much is gathered before it is written.
const BUFFER_BYTES: usize = 1 << 16;

impl Output {
    pub(crate) fn new(format: Format, may_page: bool) -> Self {
        Self { stdout: buffered(Box::new(anstream::stdout())), pager: None, may_page, format }
    }

    /// Shows what is printed from now on in a pager, where there is one.
    pub(crate) fn page(&mut self) -> io::Result<()> {
        if self.may_page
            && self.format == Format::Text
            && self.pager.is_none()
            && let Some((pager, stdin)) = Pager::start()
        {
            self.stdout.flush()?;
            self.stdout = buffered(stdin);
            self.pager = Some(pager);
        }
        Ok(())
    }

    /// Prints lines of text, which may be painted; in a pager of their own if the screen does not hold them.
    pub(crate) fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        if is_more_than_screen(lines) {
            self.page()?;
        }
        let shown = lines.iter().try_for_each(|line| self.line(line)).and_then(|()| self.flush());
        let Some(pager) = self.pager.take() else { return shown };
        self.stdout = buffered(Box::new(anstream::stdout()));
        drop(pager);
        // Who has read enough closes the pager.
        shown.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }

    /// Returns how many columns the terminal has that shows what is printed, itself or in a pager; a pipe has no width.
    #[expect(clippy::unused_self, reason = "it is a question about this output")]
    pub(crate) fn width(&self) -> Option<usize> {
        terminal_size_of(io::stdout()).map(|(Width(width), _)| width.into())
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints a line of text, which may be painted.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        write_marked(&mut self.stdout, &text.to_string(), |_| false)?;
        writeln!(self.stdout)
    }

    /// Prints a line whose pieces have their tones.
    pub(crate) fn styled(&mut self, line: &StyledLine) -> io::Result<()> {
        self.spans(line.0.iter().map(|(tone, text)| (style_of(*tone), text.as_str())))
    }

    /// Prints text that may be painted and brings its own line breaks.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        write_marked(&mut self.stdout, text, |character| character == '\n')
    }

    /// Prints a line of pieces in styles of their own, such as one of a drawn board.
    pub(crate) fn spans<'a>(&mut self, spans: impl IntoIterator<Item = (Style, &'a str)>) -> io::Result<()> {
        write_spans(&mut self.stdout, spans)
    }

    /// Prints a file, such as a picture or a script for a shell, byte for byte.
    pub(crate) fn document(&mut self, document: &str) -> io::Result<()> {
        self.stdout.write_all(document.as_bytes())
    }

    /// Prints a JSON document on a line of its own.
    pub(crate) fn json(&mut self, document: &(impl Serialize + ?Sized)) -> io::Result<()> {
        writeln!(self.stdout, "{}", json_line(document)?)
    }

    /// Returns standard output for bytes that are no text; a terminal is no place for them.
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

fn buffered(out: Box<dyn Write>) -> BufWriter<Box<dyn Write>> {
    BufWriter::with_capacity(BUFFER_BYTES, out)
}

fn is_more_than_screen(lines: &[String]) -> bool {
    terminal_size().is_some_and(|(Width(width), Height(height))| {
        let rows = lines.iter().map(|line| line.chars().count().div_ceil(width.max(1).into()).max(1));
        rows.sum::<usize>() >= height.into()
    })
}

/// Prints a failure to stderr in one line of bounded length; where even that is closed there is nobody to tell.
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
    let target =
        if stderr_is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(steps), target).with_finish(ProgressFinish::AndClear);
    ProgressStyle::with_template(template).map_or(bar.clone(), |style| bar.with_style(style))
}

/// Returns `true` if someone sits at the terminal who can be asked.
pub(crate) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Returns `true` if someone watches stderr, so that progress is worth showing.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a hostile title may hold: escape sequences of either kind, a bell, line breaks, a turned direction.
    const HOSTILE: &str = "\u{1b}]0;x\u{7} \u{9b}31m \r\n \u{7f} \u{202e}";

    fn marked(text: &str, is_kept: fn(char) -> bool) -> String {
        let mut out = Vec::new();
        write_marked(&mut out, text, is_kept).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whatever_is_printed_commands_no_terminal() {
        let expected = r"\u{1b}]0;x\u{7} \u{9b}31m \u{d}\u{a} \u{7f} \u{202e}";
        assert_eq!(marked(HOSTILE, |_| false), expected);
        assert_eq!(printable(HOSTILE), expected);
        assert_eq!(marked("a\tb\nc", |character| character == '\n'), "a\\u{9}b\nc");
        let mut out = Vec::new();
        write_spans(&mut out, [(Style::new(), HOSTILE)]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
        assert_eq!(StyledLine::of(Tone::Plain, HOSTILE).to_string(), expected);
    }

    #[test]
    fn painted_text_is_colored_and_escaped_all_the_same() {
        let line = format!("{} {}", paint(Tone::Removed, "a\u{1b}[2J"), paint(Tone::Strong, "b"));
        assert_eq!(marked(&line, |_| false), "\u{1b}[31ma\\u{1b}[2J\u{1b}[0m \u{1b}[1mb\u{1b}[0m");
    }

    #[test]
    fn color_ends_with_the_text() {
        assert_eq!(marked("\u{fdd3}green", |_| false), "\u{1b}[32mgreen\u{1b}[0m");
    }
}
