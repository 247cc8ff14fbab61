//! Prints to stdout, with color only on a terminal.
//!
//! This module is the one place that keeps names, titles and other input from controlling a terminal: it escapes
//! control characters in text and JSON. So text contains no colors. [`Line`]s say what each span means, and the color
//! is chosen when it is printed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::{env, mem};

use anstream::ColorChoice;
use anstyle::{AnsiColor, Color, RgbColor, Style};
use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};
use terminal_size::{Height, Width, terminal_size, terminal_size_of};
use turnfold_core::picture::{Picture, Tint};
use turnfold_history::Record;
use turnfold_history::text::json_line;
use turnfold_show::drawing::text::{DrawnLine, WIDTH, lines};
use turnfold_show::drawing::{Highlights, Ink, Place};
use turnfold_show::render;

pub(crate) use turnfold_history::text::{
    Line, TextSpan, Tone, added, counted, dim, plain, printable, removed, strong, warning,
};

use crate::failure::{ExitStatus, Failure, Result, is_closed_pipe};
use crate::grammar::values_of;
use crate::pager::Pager;
use crate::stderr;
pub(crate) use crate::stderr::warn;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// One JSON document, or JSON Lines for sequences
    Json,
    /// A picture
    Svg,
}

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colors {
    /// On a terminal, unless a variable such as `NO_COLOR` forbids them
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Colors {
    /// Returns the value of `--color` in arguments that may ask for help or be unusable otherwise.
    pub(crate) fn asked_for(args: &[OsString]) -> Self {
        let values = values_of("--color", args.iter().take_while(|word| *word != "--"));
        let value = values.first().and_then(|value| Self::from_str(value.to_str()?, false).ok());
        value.unwrap_or(Self::Auto)
    }

    pub(crate) fn choose(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

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

/// Returns the style of a tint. On a background color of the game, the text is black or white, whichever is more
/// readable.
pub(crate) fn tinted(tint: Tint) -> Style {
    match tint {
        Tint::Plain => Style::new(),
        Tint::Faint => Style::new().dimmed(),
        Tint::Bright => AnsiColor::Yellow.on_default().bold(),
        Tint::Blocked => AnsiColor::BrightBlack.on_default(),
        Tint::First => AnsiColor::Cyan.on_default().bold(),
        Tint::Second => AnsiColor::Red.on_default().bold(),
        Tint::Third => AnsiColor::Green.on_default().bold(),
        Tint::Fourth => AnsiColor::Magenta.on_default().bold(),
        Tint::Rgb(color) => {
            let [_, red, green, blue] = color.to_be_bytes();
            let ink = match Ink::on(color) {
                Ink::Black => RgbColor(0, 0, 0),
                Ink::White => RgbColor(255, 255, 255),
            };
            Style::new().fg_color(Some(ink.into())).bg_color(Some(Color::Rgb(RgbColor(red, green, blue))))
        }
    }
}

/// The indent of continued lines.
const INDENT: usize = 4;

/// The narrowest terminal for which lines are folded.
const WIDTH_MIN: usize = 20;

/// Stands for a space within a span that has to stay on one line, such as an effect. No printable text contains it.
const JOINED: &str = "\0";

fn write_line(out: &mut impl Write, line: &Line, width: Option<usize>) -> io::Result<()> {
    let Some(width) = width else { return writeln!(out, "{}", styled(line, 0)) };
    writeln!(out, "{}", folded(&styled(line, width), width).replace(JOINED, " "))
}

/// Returns a line with its colors. The spaces of a span that has to stay on one line become [`JOINED`], if the span
/// fits in this width behind an indent.
fn styled(line: &Line, width: usize) -> String {
    let mut text = String::new();
    for TextSpan { tone, text: span, is_word } in &line.0 {
        let style = style_of(*tone);
        let before = if *is_word { " " } else { "" };
        let mut span = printable(span);
        if *is_word && span.chars().count() + INDENT <= width {
            span = span.replace(' ', JOINED).into();
        }
        let _ = write!(text, "{before}{style}{span}{style:#}");
    }
    text
}

/// Returns the JSON of a view, with the name of its source, if it has one.
pub(crate) fn named(view: Value, name: Option<&str>) -> Value {
    match name {
        Some(source) => json!({ "source": source, "view": view }),
        None => view,
    }
}

/// An entry with the match or file that it is from; the JSON form is stable.
#[derive(Serialize)]
pub(crate) struct Sourced<'a, T> {
    pub(crate) source: &'a str,
    #[serde(flatten)]
    pub(crate) item: &'a T,
}

pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

pub(crate) struct Output {
    /// Before `pager`, so that it is dropped first: the pager reads until it is closed.
    stdout: BufWriter<Box<dyn Write>>,
    pager: Option<Pager>,
    may_page: bool,
    format: Format,
    /// The source whose name is printed before the next line of text.
    heading: Option<String>,
    /// Whether the output for another source has been printed.
    is_headed: bool,
}

const BUFFER_BYTES: usize = 1 << 16;

impl Output {
    pub(crate) fn new(format: Format, may_page: bool) -> Self {
        let stdout = buffered(Box::new(anstream::stdout()));
        stderr::set_format(format);
        Self { stdout, pager: None, may_page, format, heading: None, is_headed: false }
    }

    pub(crate) fn page(&mut self) -> io::Result<()> {
        if !self.may_page || self.format != Format::Text || self.pager.is_some() {
            return Ok(());
        }
        match Pager::start() {
            Ok(Some((pager, stdin))) => {
                self.stdout.flush()?;
                self.stdout = buffered(stdin);
                self.pager = Some(pager);
            }
            Ok(None) => {}
            Err(cause) => warn(&cause),
        }
        // A missing pager would be missing again, so this is the only attempt.
        self.may_page = self.pager.is_some();
        Ok(())
    }

    /// Begins the output for one of several sources. Its name is printed before its first line; without lines, it is
    /// not printed.
    pub(crate) fn begin(&mut self, source: &str) {
        self.heading = Some(source.into());
    }

    fn head(&mut self) -> io::Result<()> {
        let Some(source) = self.heading.take() else { return Ok(()) };
        if mem::replace(&mut self.is_headed, true) {
            writeln!(self.stdout)?;
        }
        write_line(&mut self.stdout, &Line::from([strong(source), plain(":")]), None)
    }

    pub(crate) fn lines(&mut self, lines: Vec<Line>) -> io::Result<()> {
        if is_more_than_screen(&lines) {
            self.page()?;
        }
        let shown = self.note(lines).and_then(|()| self.flush());
        let Some(pager) = self.pager.take() else { return shown };
        self.stdout = buffered(Box::new(anstream::stdout()));
        drop(pager);
        match shown {
            // A closed pipe only means that the user has closed the pager.
            Err(error) if is_closed_pipe(&error) => Ok(()),
            shown => shown,
        }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.format == Format::Text && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// Returns `true` if the terminal can be used in full screen (VW-4).
    pub(crate) fn is_fillable(&self) -> bool {
        self.is_attended() && env::var_os("TERM").is_none_or(|term| term != "dumb")
    }

    pub(crate) fn refuse_json(&self, failure: Failure) -> Result<()> {
        if self.is_json() { Err(failure) } else { Ok(()) }
    }

    pub(crate) fn refuse_json_next_to(&self, file: &str) -> Result<()> {
        let message = format!("standard output cannot take both the {file} and JSON");
        self.refuse_json(Failure::usage(message).hint("name a file with `-o`, or leave out `--format json`"))
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn answer(
        &mut self,
        value: &(impl Serialize + ?Sized),
        lines: impl FnOnce() -> Vec<Line>,
    ) -> Result<ExitStatus> {
        self.verdict(true, value, lines)
    }

    pub(crate) fn verdict(
        &mut self,
        is_so: bool,
        value: &(impl Serialize + ?Sized),
        lines: impl FnOnce() -> Vec<Line>,
    ) -> Result<ExitStatus> {
        self.show(value, lines)?;
        Ok(is_so.into())
    }

    /// Prints the result of a verb that made a text, such as a replay. As text without a file, prints the text itself.
    pub(crate) fn answer_with_text(
        &mut self,
        value: &impl Serialize,
        text: &str,
        file: Option<&str>,
        line: impl FnOnce(&str) -> Line,
    ) -> io::Result<()> {
        match file {
            None if !self.is_json() => self.document(text),
            file => self.show(value, || vec![line(file.unwrap_or_default())]),
        }
    }

    pub(crate) fn record(&mut self, record: &Record) -> io::Result<()> {
        self.show(record, || vec![render::record(record)])
    }

    pub(crate) fn note(&mut self, lines: impl IntoIterator<Item = Line>) -> io::Result<()> {
        if !self.is_json() {
            for line in lines {
                self.line(line)?;
            }
        }
        Ok(())
    }

    pub(crate) fn line(&mut self, line: impl Into<Line>) -> io::Result<()> {
        self.head()?;
        write_line(&mut self.stdout, &line.into(), stdout_width())
    }

    pub(crate) fn show(
        &mut self,
        value: &(impl Serialize + ?Sized),
        lines: impl FnOnce() -> Vec<Line>,
    ) -> io::Result<()> {
        if self.is_json() { self.json(value) } else { self.note(lines()) }
    }

    /// Prints a list: lines that may depend on each other, or a line of JSON for each item.
    pub(crate) fn list<T: Serialize>(
        &mut self,
        items: &[T],
        lines: impl FnOnce(&[T]) -> Vec<Line>,
    ) -> io::Result<()> {
        if !self.is_json() {
            return self.note(lines(items));
        }
        for item in items {
            self.json(item)?;
        }
        Ok(())
    }

    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if !text.is_empty() {
            self.head()?;
        }
        self.stdout.write_all(printable_lines(text).as_bytes())
    }

    /// Asks at the terminal until the answer is one of these letters. The end of the input counts as the last letter.
    pub(crate) fn ask(
        &mut self,
        question: &str,
        letters: &[&'static str],
        help: &str,
    ) -> io::Result<&'static str> {
        ask(question, letters, help, &mut io::stdin().lock(), &mut |span| self.prompt(&span))
    }

    fn prompt(&mut self, span: &TextSpan) -> io::Result<()> {
        let style = style_of(span.tone);
        write!(self.stdout, "{style}{}{style:#}", printable_lines(&span.text))?;
        self.flush()
    }

    pub(crate) fn picture(&mut self, picture: &Picture) -> io::Result<()> {
        self.highlighted(picture, &Highlights::default())
    }

    /// Prints a picture of the board. Omitted in JSON.
    pub(crate) fn highlighted(&mut self, picture: &Picture, highlights: &Highlights) -> io::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let width = stdout_width();
        for line in lines(picture, highlights, width.map_or(WIDTH, |width| width.min(WIDTH))) {
            self.head()?;
            let mut text = String::new();
            for span in &line.spans {
                let mut style = tinted(span.tint);
                if span.spot.is_some_and(|spot| highlights.changed.contains(&spot)) {
                    style = style.invert();
                }
                let _ = write!(text, "{style}{}{style:#}", printable(&span.text));
            }
            let width = if is_text(&line) { width } else { None };
            writeln!(self.stdout, "{}", folded_lines(&text, width))?;
        }
        Ok(())
    }

    pub(crate) fn document(&mut self, document: &str) -> io::Result<()> {
        self.stdout.write_all(document.as_bytes())
    }

    pub(crate) fn document_from(&mut self, file: &mut impl io::Read) -> io::Result<()> {
        io::copy(file, &mut self.stdout).map(drop)
    }

    pub(crate) fn json(&mut self, document: &(impl Serialize + ?Sized)) -> io::Result<()> {
        writeln!(self.stdout, "{}", json_line(document)?)
    }

    pub(crate) fn bytes(&mut self) -> Result<io::StdoutLock<'static>> {
        self.flush()?;
        let stdout = io::stdout().lock();
        if stdout.is_terminal() {
            let failure = Failure::usage("standard output is a terminal");
            return Err(failure.hint("name a file, or send it to one"));
        }
        Ok(stdout)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

fn ask(
    question: &str,
    letters: &[&'static str],
    help: &str,
    input: &mut impl BufRead,
    print: &mut impl FnMut(TextSpan) -> io::Result<()>,
) -> io::Result<&'static str> {
    loop {
        print(strong(question))?;
        print(plain(" "))?;
        let mut line = String::new();
        let is_end = input.read_line(&mut line)? == 0;
        if let Some(letter) = letters.iter().rfind(|letter| is_end || line.trim() == **letter) {
            return Ok(letter);
        }
        print(plain(help))?;
    }
}

fn buffered(out: Box<dyn Write>) -> BufWriter<Box<dyn Write>> {
    BufWriter::with_capacity(BUFFER_BYTES, out)
}

/// Returns `true` for a line of words, which may be folded; lines of a board may not.
fn is_text(line: &DrawnLine) -> bool {
    let mut is_of_board = false;
    let mut has_words = false;
    for span in &line.spans {
        is_of_board |= span.spot.is_some_and(|spot| !matches!(spot.place, Place::Index(_)));
        let letters: Vec<bool> = span.text.chars().map(char::is_alphabetic).collect();
        // The letters above a board are single ones.
        has_words |= letters.windows(2).any(|pair| pair == [true, true]);
    }
    has_words && !is_of_board
}

fn is_more_than_screen(lines: &[Line]) -> bool {
    let Some((Width(width), Height(height))) = terminal_size() else { return false };
    let mut rows = 0;
    for line in lines {
        rows += line.to_string().chars().count().div_ceil(width.max(1).into()).max(1);
    }
    rows >= height.into()
}

/// Returns the width of the terminal on standard output, in columns; `None` for a pipe.
pub(crate) fn stdout_width() -> Option<usize> {
    terminal_size_of(io::stdout()).and_then(|(Width(width), _)| usable(width.into()))
}

pub(crate) fn stderr_width() -> Option<usize> {
    terminal_size_of(io::stderr()).and_then(|(Width(width), _)| usable(width.into()))
}

/// Returns the width in which clap writes help: that of any terminal, or else of the variable `COLUMNS`.
pub(crate) fn help_width() -> Option<usize> {
    if let Some((Width(width), _)) = terminal_size() {
        return usable(width.into());
    }
    usable(env::var("COLUMNS").ok()?.parse().ok()?)
}

fn usable(width: usize) -> Option<usize> {
    (width >= WIDTH_MIN).then_some(width)
}

pub(crate) fn folded_lines(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.into() };
    text.split('\n').map(|line| folded(line, width)).collect::<Vec<_>>().join("\n")
}

/// Folds a line between words, because a terminal would break it anywhere. The line may contain colors. Continued lines
/// are indented. A word that is wider than the screen stays whole.
fn folded(line: &str, width: usize) -> String {
    let leading = line.chars().take_while(|character| *character == ' ').count();
    let indent = (leading + INDENT).min(width / 2);
    let mut text = String::new();
    let mut column = 0;
    let mut spaces = 0;
    let mut has_word = false;
    for (index, word) in line.split(' ').enumerate() {
        if index > 0 {
            spaces += 1;
        }
        let word_width = width_of(word);
        if word_width == 0 {
            // Colors alone take no room; the spaces before them belong to the next word.
            text.push_str(word);
            continue;
        }
        if has_word && column + spaces + word_width > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            text.push_str(&" ".repeat(spaces));
            column += spaces;
        }
        text.push_str(word);
        column += word_width;
        has_word = true;
        spaces = 0;
    }
    text + &" ".repeat(spaces)
}

fn width_of(word: &str) -> usize {
    let mut width = 0;
    let mut is_color = false;
    for character in word.chars() {
        if is_color {
            // `ESC [`, numbers, and a letter.
            is_color = !character.is_ascii_alphabetic();
        } else if character == '\u{1b}' {
            is_color = true;
        } else {
            width += 1;
        }
    }
    width
}

#[cfg(test)]
mod tests;
