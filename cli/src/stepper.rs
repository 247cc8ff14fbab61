//! The full-screen stepper of `replay --step` (VW-4 to VW-8). It shows what [`turnfold_history`] returns and knows no
//! game. Here are its state, and how keys change it.

mod draw;
mod screen;
#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use turnfold_history::compare::Difference;
use turnfold_history::search::{Condition, SearchDirection, Stepper};
use turnfold_history::{Revision, SeatHistory, SourceName, Sources};
use turnfold_store::BranchInfo;

use crate::context::Context;
use crate::failure::Result;
use crate::signals;

use screen::{Heard, Screen};

/// The speeds of playback in entries per second, each with the time that an entry is shown (VW-7).
const BEATS: [(u16, Duration); 5] = [
    (1, Duration::from_secs(1)),
    (2, Duration::from_millis(500)),
    (4, Duration::from_millis(250)),
    (8, Duration::from_millis(125)),
    (16, Duration::from_micros(62_500)),
];

pub(crate) fn run(seat_history: SeatHistory, context: &Context) -> Result<Option<String>> {
    let mut app = StepperScreen::new(seat_history, &context.workspace)?;
    let mut screen = Screen::enter()?;
    while app.pace != Pace::Left {
        let beat = app.playback().map(|(_, beat)| beat);
        let drawn = screen.draw(|frame| draw::draw(frame, &mut app));
        match drawn.and_then(|()| screen.hear(beat)) {
            Ok(Heard::Key(key)) => app.press(key)?,
            Ok(Heard::Nothing) => app.play_on()?,
            Ok(Heard::Else) => {}
            // A terminal that is gone ends the program without a message, like a closed pipe.
            Err(error) if signals::is_end_of_terminal(&error) => {
                return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
            }
            Err(error) => return Err(error.into()),
        }
    }
    drop(screen);
    Ok(if app.prints { Some(app.here().to_string()) } else { None })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prompt {
    Number,
    Text,
    Condition,
}

enum Over {
    Help,
    /// The branches, and the index of the chosen one.
    Branches(Vec<BranchInfo>, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Waits,
    Plays,
    Left,
}

struct StepperScreen<'c> {
    sources: &'c dyn Sources,
    /// Always present, except while the viewer changes.
    stepper: Option<Stepper>,
    asked: Option<(Prompt, String)>,
    over: Option<Over>,
    message: String,
    searched: Option<String>,
    fields: Vec<Difference>,
    field: usize,
    /// The path of the field that was chosen last, even if the current entry does not change it.
    path: Option<String>,
    as_json: bool,
    /// How far the user has moved the panel, in columns and lines.
    moved: (i32, i32),
    speed: usize,
    pace: Pace,
    prints: bool,
}

impl<'c> StepperScreen<'c> {
    fn new(seat_history: SeatHistory, sources: &'c dyn Sources) -> Result<Self> {
        Ok(Self {
            sources,
            stepper: Some(Stepper::new(seat_history)?),
            asked: None,
            over: None,
            message: String::new(),
            searched: None,
            fields: Vec::new(),
            field: 0,
            path: None,
            as_json: false,
            moved: (0, 0),
            speed: 1,
            pace: Pace::Waits,
            prints: false,
        })
    }

    fn stepper(&mut self) -> &mut Stepper {
        self.stepper.as_mut().expect("it is missing only while its viewer changes")
    }

    fn here(&mut self) -> SourceName {
        let at = self.stepper().at();
        self.stepper().history().name().up_to(Some(at))
    }

    /// Returns the speed of playback in entries per second, and how long an entry is shown; `None` if it is off.
    fn playback(&self) -> Option<(u16, Duration)> {
        if self.pace == Pace::Plays { BEATS.get(self.speed).copied() } else { None }
    }

    fn play_on(&mut self) -> Result<()> {
        self.by(1)?;
        if self.stepper().at() == self.stepper().history().head() {
            self.pace = Pace::Waits;
        }
        Ok(())
    }

    fn press(&mut self, key: KeyEvent) -> Result<()> {
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if has_control && key.code == KeyCode::Char('c') {
            self.pace = Pace::Left;
            return Ok(());
        }
        self.message.clear();
        if self.asked.is_some() {
            return self.type_on(key.code);
        }
        if self.over.is_some() {
            return self.press_over(key.code);
        }
        if has_control { Ok(()) } else { self.act(key.code) }
    }

    fn type_on(&mut self, key: KeyCode) -> Result<()> {
        let Some((asked, text)) = &mut self.asked else { return Ok(()) };
        match key {
            KeyCode::Char(character) => text.push(character),
            KeyCode::Backspace if text.pop().is_some() => {}
            KeyCode::Backspace | KeyCode::Esc => self.asked = None,
            KeyCode::Enter => {
                let asked = *asked;
                let text = text.trim().to_owned();
                self.asked = None;
                return self.answer(asked, &text);
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, asked: Prompt, text: &str) -> Result<()> {
        let head = self.stepper().history().head();
        match asked {
            _ if text.is_empty() => {}
            Prompt::Number => match text.parse::<u64>() {
                Ok(number) if number <= head => self.go(number)?,
                Ok(number) => self.message = format!("there is no entry {number}; the last is {head}"),
                Err(_) => self.message = format!("expected the number of an entry, found `{text}`"),
            },
            Prompt::Text => {
                self.searched = Some(text.to_owned());
                self.search(SearchDirection::Forward)?;
            }
            Prompt::Condition => match text.parse::<Condition>() {
                Ok(condition) => match self.stepper().first_true(&condition) {
                    Ok(Some(seq)) => self.go(seq)?,
                    Ok(None) => self.message = format!("no entry after this one makes `{condition}` true"),
                    Err(cause) => self.message = cause.to_string(),
                },
                Err(cause) => self.message = cause,
            },
        }
        Ok(())
    }

    fn press_over(&mut self, key: KeyCode) -> Result<()> {
        let Some(Over::Branches(branches, chosen)) = &mut self.over else {
            self.over = None;
            return Ok(());
        };
        let last = branches.len().saturating_sub(1);
        match key {
            KeyCode::Down | KeyCode::Char('j') => *chosen = (*chosen + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => *chosen = chosen.saturating_sub(1),
            KeyCode::Enter => {
                let branch = branches.get(*chosen).map(|branch| branch.name.clone());
                self.over = None;
                if let (Some(branch), SourceName::Revision(revision)) =
                    (branch, self.stepper().history().name())
                {
                    let revision = Revision { branch, seq: None, ..revision.clone() };
                    return self.open(&SourceName::Revision(revision));
                }
            }
            _ => self.over = None,
        }
        Ok(())
    }

    /// Handles a key while there is neither input nor a window (VW-7).
    fn act(&mut self, key: KeyCode) -> Result<()> {
        use SearchDirection::{Back, Forward};
        match key {
            KeyCode::Right | KeyCode::Enter | KeyCode::Char('l') => self.by(1)?,
            KeyCode::Left | KeyCode::Char('h') => self.by(-1)?,
            KeyCode::PageDown => self.by(10)?,
            KeyCode::PageUp => self.by(-10)?,
            KeyCode::End | KeyCode::Char('G') => self.go(u64::MAX)?,
            KeyCode::Home | KeyCode::Char('g') => self.go(0)?,
            KeyCode::Char(':') => self.ask(Prompt::Number),
            KeyCode::Char('/') => self.ask(Prompt::Text),
            KeyCode::Char('w') => self.ask(Prompt::Condition),
            KeyCode::Char('n') => self.search(Forward)?,
            KeyCode::Char('N') => self.search(Back)?,
            KeyCode::Char(']') => self.go_to_change(Forward)?,
            KeyCode::Char('[') => self.go_to_change(Back)?,
            KeyCode::Down => self.choose(1),
            KeyCode::Up => self.choose(-1),
            KeyCode::Char('H') => self.moved.0 -= 4,
            KeyCode::Char('L') => self.moved.0 += 4,
            KeyCode::Char('K') => self.moved.1 -= 2,
            KeyCode::Char('J') => self.moved.1 += 2,
            KeyCode::Char('v') => (self.as_json, self.moved) = (!self.as_json, (0, 0)),
            KeyCode::Char('s') => self.next_viewer()?,
            KeyCode::Char('b') => self.list_branches()?,
            KeyCode::Char(' ') => {
                let is_at_end = self.stepper().at() == self.stepper().history().head();
                let may_play = self.pace == Pace::Waits && !is_at_end;
                self.pace = if may_play { Pace::Plays } else { Pace::Waits };
            }
            KeyCode::Char('+' | '=') => self.change_speed(1),
            KeyCode::Char('-') => self.change_speed(-1),
            KeyCode::Char('y') => {
                self.prints = !self.prints;
                let what = if self.prints { "is" } else { "is not" };
                self.message = format!("`{}`, or where you are then, {what} printed on leaving", self.here());
            }
            KeyCode::Char('?') => self.over = Some(Over::Help),
            KeyCode::Char('q') => self.pace = Pace::Left,
            _ => {}
        }
        Ok(())
    }

    fn choose(&mut self, count: isize) {
        let last = self.fields.len().saturating_sub(1);
        self.field = self.field.saturating_add_signed(count).min(last);
        self.path = self.fields.get(self.field).map(|field| field.path.clone());
    }

    fn change_speed(&mut self, count: isize) {
        self.speed = self.speed.saturating_add_signed(count).min(BEATS.len() - 1);
        if let Some((speed, _)) = BEATS.get(self.speed) {
            self.message = format!("{speed} a second");
        }
    }

    fn ask(&mut self, asked: Prompt) {
        self.pace = Pace::Waits;
        self.asked = Some((asked, String::new()));
    }

    fn open(&mut self, name: &SourceName) -> Result<()> {
        let at = self.stepper().at();
        let viewer = self.stepper().history().viewer();
        let owner = self.stepper().all_viewers().first().copied().unwrap_or(viewer);
        let stepper = Stepper::new(SeatHistory::load(owner, name, self.sources)?)?;
        self.stepper = Some(stepper.through(viewer)?);
        self.go(at)
    }

    fn by(&mut self, count: i64) -> Result<()> {
        let to = self.stepper().at().saturating_add_signed(count);
        self.go(to)
    }

    fn go(&mut self, to: u64) -> Result<()> {
        self.stepper().go(to)?;
        self.fields = self.stepper().changes();
        // The field that was chosen last stays chosen where it changes again.
        let path = self.path.as_ref();
        self.field = self.fields.iter().position(|field| Some(&field.path) == path).unwrap_or(0);
        self.moved = (0, 0);
        Ok(())
    }

    fn search(&mut self, direction: SearchDirection) -> Result<()> {
        let Some(text) = self.searched.clone() else {
            self.message = "type / and a text first".into();
            return Ok(());
        };
        let Some(hit) = self.stepper().search(&text, direction)? else {
            self.message = format!("nothing has `{text}` in it");
            return Ok(());
        };
        self.go(hit.seq)?;
        if hit.wrapped {
            let end = if direction == SearchDirection::Forward { "start" } else { "end" };
            self.message = format!("the search went on from the {end}");
        }
        Ok(())
    }

    fn go_to_change(&mut self, direction: SearchDirection) -> Result<()> {
        let chosen = self.fields.get(self.field).map(|field| field.path.clone());
        let Some(path) = self.path.clone().or(chosen) else {
            self.message = "choose a field that changed first, with ↑ and ↓".into();
            return Ok(());
        };
        self.path = Some(path.clone());
        let which = if direction == SearchDirection::Back { "earlier" } else { "later" };
        match self.stepper().change_of(&path, direction)? {
            Some(seq) => self.go(seq)?,
            None => self.message = format!("no {which} entry changes {path}"),
        }
        Ok(())
    }

    fn next_viewer(&mut self) -> Result<()> {
        let all = self.stepper().all_viewers();
        if all.len() < 2 {
            self.message = "only this viewer is available here".into();
            return Ok(());
        }
        let viewer = self.stepper().history().viewer();
        let next = all.iter().position(|each| *each == viewer).map_or(0, |index| (index + 1) % all.len());
        if let (Some(stepper), Some(next)) = (self.stepper.take(), all.get(next)) {
            self.stepper = Some(stepper.through(*next)?);
        }
        self.fields = self.stepper().changes();
        self.field = self.field.min(self.fields.len().saturating_sub(1));
        let stepper = self.stepper();
        self.message = format!("as {} sees it, after entry {}", stepper.history().viewer(), stepper.at());
        Ok(())
    }

    fn list_branches(&mut self) -> Result<()> {
        let SourceName::Revision(revision) = self.stepper().history().name().clone() else {
            self.message = "a replay file has no branches".into();
            return Ok(());
        };
        if !self.stepper().all_viewers().first().is_some_and(|viewer| viewer.sees_all()) {
            self.message = "only the host sees the branches".into();
            return Ok(());
        }
        match self.sources.read_store() {
            Ok(store) => {
                let branches = store.branches(&revision.match_name)?;
                let here = branches.iter().position(|branch| branch.name == revision.branch);
                self.over = Some(Over::Branches(branches, here.unwrap_or(0)));
            }
            Err(error) => self.message = error.to_string(),
        }
        Ok(())
    }
}
