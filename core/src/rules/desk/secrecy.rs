//! PM-23: who may read an order, and when. PM-41: who may read the words of players.

use super::command::Command;
use super::state::{Phase, Secret, State};
use crate::paper::PaperContent;
use crate::rules::{Part, Rules};
use crate::seat::Perspective;

/// Whether `viewer` may know of a part of an entry that left the state `after`, when the desk stands at `now`.
///
/// Orders alone are hidden, ignored ones too: a late order may tell what its player is up to. Effects tell that one
/// came, to everybody.
pub(super) fn shows<R>(after: &State, now: &State, part: &Part<'_, R>, viewer: Perspective) -> bool
where
    R: Rules<Command = Command>,
{
    let Part::Command(seat, command) = part else { return true };
    let Some(paper) = command.paper().filter(|_| !viewer.may_know_as(*seat)) else { return true };
    // The last turn that it is for.
    let turn = match paper.content() {
        PaperContent::Order(_) => after.turn(),
        // PM-42
        PaperContent::Ahead(ahead) => ahead.turns().keys().copied().max().unwrap_or(0).max(after.turn()),
        // PM-41
        PaperContent::Press(press) => return press.to().has(viewer),
        _ => return true,
    };
    let is_over = matches!(now.phase, Phase::Over(_));
    match now.terms.secret {
        Secret::No => true,
        // Not at the next stand: who has an order refused on purpose would read the others' plans and then write its own.
        Secret::Turn => is_over || now.told_turn > turn,
        Secret::Match => is_over,
    }
}
