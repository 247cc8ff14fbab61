//! The commands worth trying; `judge` decides which of them apply.

use alloc::vec::Vec;

use super::command::Command;
use super::state::State;
use turnfold_core::seat::Seat;
use turnfold_core::ticks::Ticks;

/// Counts of ticks are sampled: one, some, and as many as there may be.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    if seat == Seat::Host {
        let ticks = [1, 10, 100_000].into_iter().filter_map(|ticks| Ticks::try_from(ticks).ok());
        return ticks.map(Command::Tick).chain([Command::Advance]).collect();
    }
    let Some(active) = state.active() else { return Vec::new() };
    let mut commands = Vec::from([Command::Move, Command::End]);
    commands.extend(state.units.iter().map(|unit| Command::Attack(unit.id.clone())));
    for learned in &active.unit.skills {
        let targets = state.units.iter().map(|unit| Some(unit.id.clone())).chain([None]);
        commands.extend(targets.map(|target| Command::Skill { skill: learned.skill.id.clone(), target }));
    }
    commands
}
