//! Scores, during play and at the end.

use alloc::vec::Vec;

use super::board::Board;
use super::energy::{Chakra, Color};
use super::ranged::Row;
use super::state::{Player, State};
use turnfold_core::seat::Seat;

/// CH-8, CH-15: returns the number of rows in harmony or, once the match is over, the final score.
pub(super) fn score(state: &State, player: &Player) -> u32 {
    if state.is_over() { final_score(state, player) } else { player.board.harmonised().map(|_| 1).sum() }
}

/// CH-15: returns the final score. Plenitudes count whether or not a player knows them.
fn final_score(state: &State, player: &Player) -> u32 {
    let mut score = 0;
    for chakra in player.board.harmonised() {
        score += u32::from(state.plenitude_of(chakra));
    }
    for energy in player.board.energies_in(Row::EARTH) {
        score += u32::from(energy.color == Color::Black);
    }
    let run = aligned(&player.board);
    let longest = state.players.iter().map(|other| aligned(&other.board)).max();
    if run > 0 && Some(run) == longest {
        score += 2;
    }
    let yinyangs = player.yinyang_halves / 2;
    let half = player.yinyang_halves % 2;
    score + 3 * yinyangs + half
}

/// CH-15: returns the length of the run of rows in harmony upwards from row 8.
fn aligned(board: &Board) -> u32 {
    let mut length = 0;
    for chakra in Chakra::all().rev() {
        if !board.is_harmonised(chakra) {
            break;
        }
        length += 1;
    }
    length
}

/// CH-15: returns the seats with the highest score; they share the win.
pub(super) fn winners(state: &State) -> Vec<Seat> {
    let mut winners = Vec::new();
    let mut highest = 0;
    for (seat, player) in state.seats().iter().zip(&state.players) {
        let score = score(state, player);
        if score > highest {
            highest = score;
            winners.clear();
        }
        if score == highest {
            winners.push(*seat);
        }
    }
    winners
}
