//! Scores, during play and at the end.

use alloc::vec::Vec;

use super::board::Board;
use super::energy::{Chakra, Color};
use super::ranged::Row;
use super::state::{Player, State};
use turnfold_core::seat::Seat;

/// CH-8, CH-15: returns the number of rows in harmony or, once the match is over, the final score.
pub(super) fn score(state: &State, player: &Player) -> u32 {
    if state.is_over() { final_score(state, player) } else { count(player.board.harmonised()) }
}

/// CH-15: returns the final score. Plenitudes count whether or not a player knows them.
fn final_score(state: &State, player: &Player) -> u32 {
    let board = &player.board;
    let chakras: u32 = board.harmonised().map(|chakra| u32::from(state.plenitude_of(chakra))).sum();
    let blacks = count(board.energies_in(Row::EARTH).filter(|energy| energy.color == Color::Black));
    let longest = state.players.iter().map(|other| aligned(&other.board)).max();
    let aligned = aligned(board);
    let bonus = if aligned > 0 && Some(aligned) == longest { 2 } else { 0 };
    let yinyangs = player.yinyang_halves / 2;
    let half = player.yinyang_halves % 2;
    chakras + blacks + bonus + 3 * yinyangs + half
}

/// CH-15: returns the length of the run of rows in harmony upwards from row 8.
fn aligned(board: &Board) -> u32 {
    count(Chakra::all().rev().take_while(|chakra| board.is_harmonised(*chakra)))
}

/// CH-15: returns the seats with the highest score; they share the win.
pub(super) fn winners(state: &State) -> Vec<Seat> {
    let scores: Vec<u32> = state.players.iter().map(|player| score(state, player)).collect();
    let highest = scores.iter().max();
    let seats = state.seats().iter().zip(&scores);
    seats.filter(|(_, score)| Some(*score) == highest).map(|(seat, _)| *seat).collect()
}

fn count(items: impl Iterator) -> u32 {
    items.map(|_| 1).sum()
}
