//! The commands worth trying; `judge` decides which of them apply.

use alloc::vec;
use alloc::vec::Vec;

use super::board::ROW_SIZE;
use super::command::{Command, Ids};
use super::energy::{Chakra, Color};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::state::State;
use turnfold_core::seat::Seat;

/// Only a player has anything to try.
pub(super) fn candidates(state: &State, seat: Seat) -> Vec<Command> {
    let Some(player) = state.player(seat) else { return Vec::new() };
    let mut commands = vec![Command::Confirm, Command::Undo, Command::Cancel];
    commands.extend(takes(state));
    commands.extend(ChannelNumber::all().map(Command::Channel));
    commands.extend(Chakra::all().map(Command::Meditate));
    commands.extend(Color::ALL.map(Command::Pick));
    let below_universe = || Row::all().filter(|row| *row != Row::UNIVERSE).map(|row| i32::from(row.get()));
    let energies = player.board.placed().filter(|(place, _)| place.row != Row::EARTH);
    commands.extend(
        energies
            .flat_map(|(_, energy)| below_universe().map(move |row| Command::Move { id: energy.id, row })),
    );
    commands
}

/// Every order of every choice from a flow of the maya, into every row: by row, flow, size and places.
pub(super) fn takes(state: &State) -> impl Iterator<Item = Command> {
    let rows = Row::all().filter(|row| *row != Row::EARTH).map(|row| i32::from(row.get()));
    let choices: Vec<Ids> = (0..ROW_SIZE).flat_map(|column| choices(state, column)).collect();
    rows.flat_map(move |row| choices.clone().into_iter().map(move |ids| Command::Take { row, ids }))
}

/// Every choice of one to three energies of a flow, in every order; shorter ones first.
fn choices(state: &State, column: usize) -> impl Iterator<Item = Ids> {
    let flow: Vec<EnergyId> = state.flow(column).map(|(_, energy)| energy.id).collect();
    let longer = |choices: &[Vec<EnergyId>]| -> Vec<Vec<EnergyId>> {
        let extended = choices.iter().flat_map(|choice| {
            let others = flow.iter().filter(|id| !choice.contains(id));
            others.map(|id| [choice.as_slice(), &[*id]].concat())
        });
        extended.collect()
    };
    let singles = longer(&[Vec::new()]);
    let pairs = longer(&singles);
    let triples = longer(&pairs);
    singles.into_iter().chain(pairs).chain(triples).filter_map(|choice| Ids::try_from(choice).ok())
}
