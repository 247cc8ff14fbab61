//! The full-screen stepper of `replay --step` (VW-4 to VW-8). It shows what [`turnfold_history`] returns and knows no
//! game.

mod app;
mod draw;
mod panels;
mod screen;
#[cfg(test)]
mod tests;

use std::io;

use turnfold_history::SeatHistory;

use crate::context::Context;
use crate::failure::Failure;
use crate::signals;

use app::StepperScreen;
use screen::{Heard, Screen};

pub(crate) fn run(seat_history: SeatHistory, context: &Context) -> Result<Option<String>, Failure> {
    let mut app = StepperScreen::new(seat_history, &context.workspace)?;
    let mut screen = Screen::enter()?;
    while !app.is_left() {
        let beat = app.playback().map(|(_, beat)| beat);
        let drawn = screen.draw(|frame| draw::draw(frame, &mut app));
        match drawn.and_then(|()| screen.hear(beat)) {
            Ok(Heard::Key(key)) => app.press(key)?,
            Ok(Heard::Nothing) => app.play_on()?,
            Ok(Heard::Else) => {}
            Ok(Heard::Closed) => return Err(closed()),
            Err(error) if signals::is_end_of_terminal(&error) => return Err(closed()),
            Err(error) => return Err(error.into()),
        }
    }
    drop(screen);
    Ok(app.revision())
}

/// Returns the failure for a terminal that is gone. Like a closed pipe, it ends the program without a message.
fn closed() -> Failure {
    io::Error::from(io::ErrorKind::BrokenPipe).into()
}
