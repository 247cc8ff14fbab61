//! CH-18: a setup as a player may know it.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::energy::{Chakra, Color};
use super::ranged::EnergyId;
use super::setup::{At, BoardSetup, EnergySetup, PlenitudeSetup, Setup, start};
use super::state::State;
use turnfold_core::seat::Perspective;

/// What stands for a plenitude that the viewer has not seen.
const UNSEEN: u8 = 1;

/// Returns the setup as far as `viewer` may know it when the match stands at `now`: plenitudes that the viewer has not
/// seen are 1, and the bag hands out what it still holds in an order of its own.
pub(super) fn setup_seen(setup: &Setup, now: &State, viewer: Perspective) -> Setup {
    let Ok(first) = start(setup) else { return setup.clone() };
    if viewer == Perspective::HOST {
        return setup.clone();
    }
    let placed = setup.energies.as_ref().map_or_else(
        || in_maya(&first),
        |energies| energies.iter().filter(|energy| energy.at != At::Bag).cloned().collect(),
    );
    let bag = bag_seen(&first.bag, &now.bag);
    let bag = bag.into_iter().map(|(id, color)| energy(id, color, At::Bag, None));
    Setup {
        seed: None,
        plenitude: Some(plenitude_seen(now, viewer)),
        boards: setup.boards.clone().or_else(|| Some(boards(&first))),
        energies: Some(placed.into_iter().chain(bag).collect()),
        ..setup.clone()
    }
}

fn plenitude_seen(now: &State, viewer: Perspective) -> PlenitudeSetup {
    let mut values = Chakra::all().map(|chakra| now.plenitude_seen_by(viewer, chakra).unwrap_or(UNSEEN));
    let mut next = || values.next().unwrap_or(UNSEEN);
    PlenitudeSetup {
        purple: next(),
        darkblue: next(),
        blue: next(),
        green: next(),
        yellow: next(),
        orange: next(),
        red: next(),
    }
}

/// Returns a bag from which the same energies were taken and in which the same are left, but with other colors.
///
/// What left the bag has been seen. It hands out its lowest id, but a pick takes the lowest of a color (CH-12) and so
/// shows that no lower id has this color. So each id gets the first color that is left and that may be there; as the
/// higher of two ids may have every color that the lower one may have, there always is one.
fn bag_seen(first: &BTreeMap<EnergyId, Color>, now: &BTreeMap<EnergyId, Color>) -> BTreeMap<EnergyId, Color> {
    let mut seen = first.clone();
    seen.retain(|id, _| !now.contains_key(id));
    let taken = seen.clone();
    let mut left: Vec<Color> = now.values().copied().collect();
    left.sort_unstable();
    for id in now.keys() {
        let was_taken_above = |color: Color| taken.iter().any(|(other, found)| other > id && *found == color);
        if let Some(place) = left.iter().position(|color| !was_taken_above(*color)) {
            seen.insert(*id, left.remove(place));
        }
    }
    seen
}

fn in_maya(first: &State) -> Vec<EnergySetup> {
    let rows = (1..).zip(&first.maya);
    let slots = rows.flat_map(|(row, slots)| (1..).zip(slots).map(move |(col, slot)| (row, col, slot)));
    slots
        .filter_map(|(row, col, slot)| {
            slot.map(|placed| energy(placed.id, placed.color, At::Maya, Some((row, col))))
        })
        .collect()
}

fn boards(first: &State) -> Vec<BoardSetup> {
    let board = first.players.iter().map(|player| BoardSetup {
        tokens: player.tokens.to_string(),
        known: player.known.iter().copied().collect(),
        yinyang_halves: player.yinyang_halves,
    });
    board.collect()
}

fn energy(id: EnergyId, color: Color, at: At, place: Option<(u8, u8)>) -> EnergySetup {
    let (row, col) = place.unzip();
    EnergySetup { id: id.get(), color, at, row, col }
}
