//! Pictures of the board, as characters and as SVG.

mod svg;
mod text;

pub(crate) use svg::svg;

use std::io;

use turnfold_core::picture::Picture;

use crate::output::Output;
pub(crate) use crate::output::printable;

/// Draws a picture as characters, in colors where they are wanted.
pub(crate) fn print(picture: &Picture, output: &mut Output) -> io::Result<()> {
    for line in text::lines(picture) {
        output.spans(line.spans.iter().map(|span| (text::style(span.tint), span.text.as_str())))?;
    }
    Ok(())
}
