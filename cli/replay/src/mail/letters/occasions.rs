//! When reports are due, and to whom (PM-16, PM-29).

use std::collections::BTreeSet;

use turnfold_core::Seat;
use turnfold_core::rules::desk::Effect;

use super::desk::DeskEntries;
use crate::mail::desk_history::AppliedEntry;

/// A size of the desk at which seats get a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Occasion {
    pub(super) size: u64,
    pub(super) seats: Vec<Seat>,
}

/// Returns all of them so far: the invitations first, then each stand, new deadline, open offer and the end.
pub(super) fn occasions(log: &DeskEntries) -> Vec<Occasion> {
    let players = Seat::players(log.setup.seats.into());
    let mut found = vec![Occasion { size: 1, seats: players.to_vec() }];
    // PM-16: whoever plays against the host hears of a turn once the hosted seats have sealed.
    let mut held_back = BTreeSet::new();
    for step in &log.entries {
        let mut due = std::mem::take(&mut held_back);
        if step.effects.iter().any(calls_for_reports) {
            due.extend(players);
        }
        due.extend(step.effects.iter().filter_map(newcomer));
        if awaits_hosted(log, step) {
            held_back = due.iter().copied().filter(|seat| !log.setup.hosted.contains(seat)).collect();
            due.retain(|seat| log.setup.hosted.contains(seat));
        }
        if !due.is_empty() {
            found.push(Occasion { size: step.size(), seats: due.into_iter().collect() });
        }
    }
    found
}

/// Whether all seats hear of it (PM-29).
const fn calls_for_reports(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Stood { .. } | Effect::Extended { .. } | Effect::Offered { .. } | Effect::Over { .. }
    )
}

/// Who takes over a seat has no bundle yet to answer from.
const fn newcomer(effect: &Effect) -> Option<Seat> {
    if let Effect::Replaced { seat, .. } = effect { Some(*seat) } else { None }
}

fn awaits_hosted(log: &DeskEntries, step: &AppliedEntry) -> bool {
    step.owing_seals.iter().any(|seat| log.setup.hosted.contains(seat))
}
