//! The output of `show`, `legal` and `ask` for a state.

use serde::Serialize;
use turnfold_core::picture::Picture;
use turnfold_core::{Answer, AnyState, Seat, TargetPart, Targets};
use turnfold_history::text::{Line, dim, plain};
use turnfold_history::{MatchStanding, Viewer};

use crate::drawing::{DrawnLine, Highlights, text};

/// Returns the lines of a picture.
#[must_use]
pub fn picture(picture: &Picture, highlights: &Highlights) -> Vec<DrawnLine> {
    text::lines(picture, highlights, text::WIDTH)
}

/// Returns the lines below a picture: a blank one, then the result or the turn; none if the game has neither.
#[must_use]
pub fn standing(standing: &MatchStanding) -> Vec<Line> {
    standing.text().map(|text| vec![Line::default(), text.into()]).unwrap_or_default()
}

/// A legal command. Its JSON form is that of `legal --format json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LegalCommand {
    /// Whose command it is.
    pub seat: Seat,
    /// The command's canonical text.
    pub command: String,
    /// The clicks on the boards of the picture that give the command, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetPart>,
    /// Whether a page asks before it sends the command.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
}

impl LegalCommand {
    /// Returns its line.
    #[must_use]
    pub fn line(&self) -> Line {
        let Self { seat, command, .. } = self;
        [dim(format_args!("{seat}:")), plain(format_args!(" {command}"))].into()
    }
}

/// Returns the legal commands that `viewer` may know: those of the seat in `asked`, or of every seat.
#[must_use]
pub fn legal_commands(asked: Option<Viewer>, viewer: Viewer, state: &dyn AnyState) -> Vec<LegalCommand> {
    let mut commands = Vec::new();
    if asked.is_none() && viewer.sees_all() {
        for seat in state.players().iter().copied().chain([Seat::Host]) {
            commands.extend(Viewer::of(seat).legal(state));
        }
    } else {
        commands = viewer.legal(state);
    }
    let mut listed = Vec::new();
    for (seat, command) in commands {
        let Targets { parts: targets, irreversible } = state.targets(&command);
        listed.push(LegalCommand { seat, command, targets, irreversible });
    }
    listed
}

/// Returns the line of a query's answer.
#[must_use]
pub fn answer(answer: &Answer) -> Line {
    answer.text.as_str().into()
}
