//! CH-1: deals a position from a seed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::board::{Board, ROW_SIZE};
use super::energy::{Chakra, Color, Energy};
use super::ranged::EnergyId;
use super::state::{Phase, Player, State};
use super::tokens::Tokens;
use turnfold_core::dice::DiceStream;
use turnfold_core::seat::Seat;

/// The number of energies of each color for each player.
const ENERGIES_PER_PLAYER: usize = 3;

/// Deals for `players` players. The draws come in this order: energies, plenitude, known chakras.
pub(super) fn deal(players: u8, yinyang: bool, seed: u64) -> State {
    let mut stream = DiceStream::for_setup(seed);
    let of_each = ENERGIES_PER_PLAYER * usize::from(players);
    let mut colors = Vec::new();
    for color in Color::ALL {
        if yinyang || color != Color::White {
            colors.extend(core::iter::repeat_n(color, of_each));
        }
    }
    shuffle(&mut stream, &mut colors);
    let mut values = [1, 1, 2, 2, 3, 3, 4, 4];
    shuffle(&mut stream, &mut values);
    let [plenitude @ .., _] = values;
    let players = (0..players).map(|_| player(&mut stream)).collect();
    let mut energies = EnergyId::all().zip(colors);
    let mut maya = [[None; ROW_SIZE]; 3];
    for slot in maya.iter_mut().flatten() {
        *slot = energies.next().map(|(id, color)| Energy { id, color });
    }
    // One by one, because `collect` sorts first, and each type of item adds a sort of its own, 4 kB of a module.
    let mut bag = BTreeMap::new();
    for (id, color) in energies {
        bag.insert(id, color);
    }
    State {
        plenitude,
        maya,
        bag,
        out: BTreeSet::new(),
        players,
        active: Seat::P1,
        phase: Phase::Take,
        last_round: false,
    }
}

/// Returns a player who knows the plenitude of one chakra, which is drawn.
fn player(stream: &mut DiceStream) -> Player {
    let index = usize::try_from(stream.draw(0, 6)).expect("drawn from 0 up");
    let mut known = BTreeSet::new();
    known.extend(Chakra::all().nth(index));
    Player { board: Board::default(), tokens: Tokens::all_on_board(), known, yinyang_halves: 0 }
}

/// Shuffles by Fisher–Yates, from the last index down to 1.
fn shuffle<T>(stream: &mut DiceStream, items: &mut [T]) {
    for index in (1..items.len()).rev() {
        let high = i32::try_from(index).expect("at most 108 energies are dealt");
        let other = usize::try_from(stream.draw(0, high)).expect("drawn from 0 up");
        items.swap(index, other);
    }
}
