//! Prints pictures of the board to the terminal.

use std::io;

use anstyle::{AnsiColor, Color, RgbColor, Style};
use turnfold_core::picture::{Picture, Tint};
use turnfold_show::drawing::text::{DrawnLine, WIDTH, lines};
use turnfold_show::drawing::{Highlights, Ink, Place};

use crate::output::Output;
use crate::output::fold::stdout_width;
pub(crate) use crate::output::printable;

pub(crate) fn print(picture: &Picture, output: &mut Output) -> io::Result<()> {
    print_highlighted(picture, &Highlights::default(), output)
}

pub(crate) fn print_highlighted(
    picture: &Picture,
    highlights: &Highlights,
    output: &mut Output,
) -> io::Result<()> {
    let width = stdout_width().map_or(WIDTH, |width| width.min(WIDTH));
    for line in lines(picture, highlights, width) {
        let mut spans = Vec::new();
        for span in &line.spans {
            let mut style = style(span.tint);
            if span.spot.is_some_and(|spot| highlights.changed.contains(&spot)) {
                style = style.invert();
            }
            spans.push((style, span.text.as_str()));
        }
        output.spans(is_text(&line), spans)?;
    }
    Ok(())
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

/// Returns the style of a tint. On a background color of the game, the text is black or white, whichever is more
/// readable.
pub(crate) fn style(tint: Tint) -> Style {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_on_a_color_of_the_game_is_black_or_white() {
        let style = style(Tint::Rgb(0x12_34_56));
        assert_eq!(format!("{style}A1{style:#}"), "\u{1b}[38;2;255;255;255m\u{1b}[48;2;18;52;86mA1\u{1b}[0m");
    }
}
