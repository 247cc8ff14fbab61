//! The commands worth trying; `judge` decides which of them apply.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::state::State;
use turnfold_core::seat::Seat;

/// Rolls are sampled: one for each winner and a tie.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        let rolls = [[1, 2, 5, 6], [5, 6, 1, 2], [3, 4, 3, 4]].map(|values| Command::Roll(values.to_vec()));
        return rolls.into_iter().chain([Command::NextTurn]).collect();
    }
    let mut commands = vec![Command::Cycle, Command::Confirm, Command::Cancel, Command::Stand];
    commands.extend(state.units.iter().map(|unit| Command::Click(unit.at)));
    commands.extend(state.board.hexes().map(Command::Move));
    commands
}
