//! The terminal while the stepper uses it. It is restored however the program ends, and during Ctrl-Z.

use std::io::{self, Stdout, stdout};
use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::{Frame, Terminal};

use crate::signals;

/// The longest time before a signal is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Held while the terminal is written, so that a signal restores it between two drawings and nothing is drawn
/// afterwards.
static WRITING: Mutex<()> = Mutex::new(());

pub(super) enum Heard {
    Key(KeyEvent),
    /// An event after which the screen is drawn again, such as a new size.
    Else,
    Nothing,
}

/// The terminal in full-screen mode, restored on drop.
pub(super) struct Screen {
    /// Never dropped. If the terminal is gone, its destructor would print to stderr that the cursor cannot be shown,
    /// and panic because stderr is gone too.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    without_color: bool,
    stop: signals::Stop,
}

impl Screen {
    pub(super) fn enter() -> io::Result<Self> {
        signals::before_end(give_back_for_good);
        let stop = signals::Stop::notice()?;
        signals::end_without_terminal()?;
        let _held = hold();
        // `try_init` also sets a hook that restores the terminal before a panic is printed.
        let terminal = ManuallyDrop::new(ratatui::try_init()?);
        let without_color = AutoStream::choice(&stdout()) == ColorChoice::Never;
        Ok(Self { terminal, without_color, stop })
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let without_color = self.without_color;
        let _held = hold();
        self.terminal.draw(|frame| {
            draw(frame);
            if without_color {
                for cell in &mut frame.buffer_mut().content {
                    (cell.fg, cell.bg) = (ratatui::style::Color::Reset, ratatui::style::Color::Reset);
                }
            }
        })?;
        Ok(())
    }

    pub(super) fn hear(&mut self, beat: Option<Duration>) -> io::Result<Heard> {
        let mut left = beat;
        loop {
            if self.stop.is_wanted() {
                self.stop()?;
                return Ok(Heard::Else);
            }
            let patience = left.map_or(PATIENCE, |left| left.min(PATIENCE));
            match event::poll(patience) {
                Ok(true) => return self.read(),
                Ok(false) => {}
                Err(_) => return Err(io::ErrorKind::BrokenPipe.into()),
            }
            left = left.map(|left| left.saturating_sub(patience));
            if left == Some(Duration::ZERO) {
                return Ok(Heard::Nothing);
            }
        }
    }

    fn read(&mut self) -> io::Result<Heard> {
        match event::read().map_err(|_| io::ErrorKind::BrokenPipe)? {
            Event::Key(key) if is_stop(key) => {
                self.stop()?;
                Ok(Heard::Else)
            }
            Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Heard::Key(key)),
            _ => Ok(Heard::Else),
        }
    }

    /// Restores the terminal for the shell until the program continues.
    fn stop(&mut self) -> io::Result<()> {
        give_back();
        self.stop.obey()?;
        let _held = hold();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        // A new terminal knows that the screen is empty, without asking where the cursor is.
        self.terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn is_stop(key: KeyEvent) -> bool {
    key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Restores the terminal before the program ends (VW-4). It keeps the lock, so that nothing is drawn afterwards.
fn give_back_for_good() {
    let _held = ManuallyDrop::new(hold());
    restore();
}

fn give_back() {
    let _held = hold();
    restore();
}

fn restore() {
    let _ = ratatui::try_restore();
    let _ = execute!(stdout(), Show);
}
