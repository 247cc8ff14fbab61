//! The commands worth trying; `judge` decides which of them apply.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::state::State;
use turnfold_core::seat::Seat;

/// Every hex of the board may be tapped.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        return vec![Command::Resolve];
    }
    [Command::Back, Command::Switch].into_iter().chain(state.board.hexes().map(Command::Tap)).collect()
}
