//! The text of an SVG document: elements and their content.

use std::fmt;

use turnfold_core::picture::Tint;
use turnfold_history::text::printable;

use crate::drawing::colors::Ink;

#[derive(Default)]
pub(super) struct Markup(String);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: i32,
    pub(super) height: i32,
}

/// The width to which small boards are enlarged, to twice their size at most.
const BOARD_WIDTH: i32 = 560;

/// The most characters that widths are computed for.
const CHARACTERS_MAX: usize = 1 << 20;

impl Markup {
    pub(super) fn put(&mut self, arguments: fmt::Arguments<'_>) {
        fmt::Write::write_fmt(&mut self.0, arguments).expect("writing to a string cannot fail");
    }

    /// Begins the group of a board of this size, in which 0, 0 is its middle, and returns the size in which it is drawn.
    pub(super) fn begin_board(&mut self, class: &str, [left, top]: [i32; 2], size: Size) -> Size {
        let quarters = (4 * BOARD_WIDTH / size.width).clamp(4, 8);
        let drawn = Size { width: size.width * quarters / 4, height: size.height * quarters / 4 };
        let x = left + drawn.width / 2;
        let y = top + drawn.height / 2;
        let whole = quarters / 4;
        let hundredths = quarters % 4 * 25;
        self.put(format_args!(
            "<g class=\"{class}\" transform=\"translate({x} {y}) scale({whole}.{hundredths:02})\" \
             text-anchor=\"middle\">\n"
        ));
        drawn
    }

    /// Writes text into a width around `x`, unless it is empty. Long text gets smaller, and is squeezed once it would be too
    /// small to read.
    pub(super) fn fitted(&mut self, text: &Fitted<'_>, [x, y]: [i32; 2]) {
        if text.content.is_empty() {
            return;
        }
        let content = printable(text.content);
        let count = characters(&content);
        let size = (text.width * 5 / (count * 3)).clamp(text.size_least, text.size);
        let squeezed = if width(count, size) > text.width {
            format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", text.width)
        } else {
            String::new()
        };
        let Fitted { class, ink, .. } = text;
        let content = Escaped(&content);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{squeezed}{ink}>{content}</text>\n"
        ));
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

pub(super) struct Fitted<'a> {
    pub(super) class: &'static str,
    pub(super) content: &'a str,
    pub(super) width: i32,
    /// The size of its letters if there is room.
    pub(super) size: i32,
    pub(super) size_least: i32,
    /// Its color, if no class gives it one.
    pub(super) ink: Fill,
}

pub(super) fn characters(text: &str) -> i32 {
    i32::try_from(text.chars().count().min(CHARACTERS_MAX)).unwrap_or_default()
}

/// Returns the width of characters: three fifths of their size, as in all common monospaced fonts.
pub(super) fn width(count: i32, size: i32) -> i32 {
    (count * size * 3 + 4) / 5
}

pub(super) const fn class(tint: Tint) -> &'static str {
    match tint {
        Tint::Plain => "plain",
        Tint::Faint => "faint",
        Tint::Bright => "bright",
        Tint::Blocked => "blocked",
        Tint::First => "first",
        Tint::Second => "second",
        Tint::Third => "third",
        Tint::Fourth => "fourth",
        Tint::Rgb(_) => "rgb",
    }
}

/// The attribute of a color that no class gives.
#[derive(Clone, Copy, Default)]
pub(super) enum Fill {
    #[default]
    OfClass,
    Rgb(u32),
    Ink(Ink),
}

impl Fill {
    /// Returns the color of an area of a tint.
    pub(super) const fn of(tint: Tint) -> Self {
        match tint {
            Tint::Rgb(color) => Self::Rgb(color & 0x00ff_ffff),
            _ => Self::OfClass,
        }
    }

    /// Returns the color of text on an area of a tint.
    pub(super) fn on(tint: Tint) -> Self {
        match tint {
            Tint::Rgb(color) => Self::Ink(Ink::on(color)),
            _ => Self::OfClass,
        }
    }

    pub(super) fn stroke(self) -> String {
        self.to_string().replace("fill", "stroke")
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfClass => Ok(()),
            Self::Rgb(color) => write!(out, " fill=\"#{color:06x}\""),
            Self::Ink(ink) => write!(out, " fill=\"{}\"", ink.hex()),
        }
    }
}

/// Text escaped for XML, without the characters that XML does not allow.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;

        for character in self.0.chars().filter(|character| !matches!(character, '\u{fffe}' | '\u{ffff}')) {
            match character {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&apos;")?,
                _ => out.write_char(character)?,
            }
        }
        Ok(())
    }
}
