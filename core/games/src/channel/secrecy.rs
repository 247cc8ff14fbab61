//! CH-18: as much of a setup as a player may know.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::energy::{Chakra, Color, Energy};
use super::ranged::EnergyId;
use super::setup::{At, BoardSetup, EnergySetup, PlenitudeSetup, Setup, start};
use super::state::State;
use turnfold_core::seat::Perspective;

/// Stands for a plenitude that the viewer does not know.
const UNSEEN: u8 = 1;

/// Returns as much of the setup as `viewer` may know when the match is at `now`. Plenitudes that the viewer does not
/// know are 1, and the ids still in the bag have its colors in another order.
pub(super) fn setup_seen(setup: &Setup, now: &State, viewer: Perspective) -> Setup {
    let Ok(first) = start(setup) else { return setup.clone() };
    if viewer == Perspective::HOST {
        return setup.clone();
    }
    let mut energies = match &setup.energies {
        Some(energies) => energies.clone(),
        None => in_maya(&first),
    };
    energies.retain(|energy| energy.at != At::Bag);
    for (id, color) in bag_seen(&first.bag, &now.bag) {
        energies.push(EnergySetup { id: id.get(), color, at: At::Bag, row: None, col: None });
    }
    Setup {
        seed: None,
        plenitude: Some(plenitude_seen(now, viewer)),
        boards: setup.boards.clone().or_else(|| Some(boards(&first))),
        energies: Some(energies),
        ..setup.clone()
    }
}

fn plenitude_seen(now: &State, viewer: Perspective) -> PlenitudeSetup {
    let mut values = [UNSEEN; Chakra::COUNT];
    for (value, chakra) in values.iter_mut().zip(Chakra::all()) {
        *value = now.plenitude_seen_by(viewer, chakra).unwrap_or(UNSEEN);
    }
    let [purple, darkblue, blue, green, yellow, orange, red] = values;
    PlenitudeSetup { purple, darkblue, blue, green, yellow, orange, red }
}

/// Returns the first bag with its colors redistributed among the ids that are still in it. Ids that left keep theirs.
///
/// The colors of ids that left the bag are known. The bag hands out its lowest id, but a pick takes the lowest id of a
/// color (CH-12). It shows that no lower id in the bag has this color. So each id gets the first remaining color that
/// it may have. There always is one, because a higher id may have every color that a lower id may have.
fn bag_seen(first: &BTreeMap<EnergyId, Color>, now: &BTreeMap<EnergyId, Color>) -> BTreeMap<EnergyId, Color> {
    let mut seen = first.clone();
    seen.retain(|id, _| !now.contains_key(id));
    let taken = seen.clone();
    let mut left: Vec<Color> = now.values().copied().collect();
    left.sort_unstable();
    for id in now.keys() {
        let mut taken_above = Vec::new();
        for (other, color) in &taken {
            if other > id {
                taken_above.push(*color);
            }
        }
        if let Some(place) = left.iter().position(|color| !taken_above.contains(color)) {
            seen.insert(*id, left.remove(place));
        }
    }
    seen
}

fn in_maya(first: &State) -> Vec<EnergySetup> {
    let mut energies = Vec::new();
    for (row, slots) in (1..).zip(&first.maya) {
        for (col, slot) in (1..).zip(slots) {
            if let Some(Energy { id, color }) = *slot {
                energies.push(EnergySetup {
                    id: id.get(),
                    color,
                    at: At::Maya,
                    row: Some(row),
                    col: Some(col),
                });
            }
        }
    }
    energies
}

fn boards(first: &State) -> Vec<BoardSetup> {
    let mut boards = Vec::new();
    for player in &first.players {
        boards.push(BoardSetup {
            tokens: player.tokens.to_string(),
            known: player.known.iter().copied().collect(),
            yinyang_halves: player.yinyang_halves,
        });
    }
    boards
}
