//! The commands worth trying; `judge` decides which of them apply.

use alloc::vec;
use alloc::vec::Vec;

use super::command::Command;
use super::state::State;
use turnfold_core::hex::Direction;
use turnfold_core::seat::Seat;
use turnfold_core::ticks::Ticks;

/// Counts of ticks are sampled as one and a few, rolls as the least and the greatest.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        let ticks = [Ticks::ONE, Ticks::FEW].map(Command::Tick);
        let rolls = state.due_roll().map(|due| {
            let mut values = vec![due.low, due.high];
            values.dedup();
            values.into_iter().map(|value| Command::Roll(vec![value]))
        });
        return ticks.into_iter().chain(rolls.into_iter().flatten()).collect();
    }
    let moves = Direction::ALL.into_iter().map(Command::Move);
    let sticks = Direction::ALL.into_iter().map(Command::Stick);
    let others = [Command::Act, Command::Release, Command::Eat, Command::Toggle];
    moves.chain(sticks).chain(others).collect()
}
