//! PM-23, PM-81: who may read an order, and when. PM-41, PM-83: who may read players' messages.

use super::command::Command;
use super::state::{Phase, Secret, State};
use crate::paper::PaperContent;
use crate::rules::{Part, Rules};
use crate::seat::Perspective;

/// Returns `true` if `viewer` may know a part of an entry that left the state `after`, when the desk is at `now`.
///
/// Only orders and messages are concealed, including ignored ones, because a late order may show what its player plans.
/// Effects show to all that one came.
pub(super) fn shows<R>(after: &State, now: &State, part: &Part<'_, R>, viewer: Perspective) -> bool
where
    R: Rules<Command = Command>,
{
    let Part::Command(seat, command) = part else { return true };
    let Some(paper) = command.paper() else { return true };
    // The last turn that it is for.
    let turn = match paper.content() {
        // PM-41: words are for their writer, their readers and the host.
        PaperContent::Press(press) => {
            let may_know = viewer.may_know_as(*seat) || press.to().has(viewer);
            // PM-83: a player who took the seat over sees no earlier messages.
            let is_own = viewer.seat().is_none_or(|own| after.replacements(own) == now.replacements(own));
            return may_know && is_own;
        }
        PaperContent::Order(_) | PaperContent::Ahead(_) if viewer.may_know_as(*seat) => return true,
        PaperContent::Order(_) => after.turn(),
        // PM-122: the lines that were not played stay secret as long as they could be of use.
        PaperContent::Ahead(ahead) if !ahead.lines().is_empty() && !matches!(now.phase, Phase::Over(_)) => {
            return false;
        }
        // PM-42: until the last of their turns.
        PaperContent::Ahead(ahead) => ahead.turns().keys().copied().max().unwrap_or(0).max(after.turn()),
        _ => return true,
    };
    let is_over = matches!(now.phase, Phase::Over(_));
    match now.terms.secret {
        Secret::No => true,
        // PM-81: a plan that its player dropped stays secret, and a desk without it is the same.
        _ if !now.counted.contains(&paper.digest()) => false,
        // Not at the next position: a player could get an order refused, read the others' and write a new one.
        Secret::Turn => is_over || now.told_turn > turn,
        Secret::Match => is_over,
    }
}
