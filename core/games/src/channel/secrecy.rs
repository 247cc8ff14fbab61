//! CH-18: a setup as a player may know it.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::energy::{Chakra, Color, Energy};
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
    let mut energies = match &setup.energies {
        Some(energies) => energies.iter().filter(|energy| energy.at != At::Bag).cloned().collect(),
        None => in_maya(&first),
    };
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
