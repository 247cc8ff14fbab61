//! The end of a turn, and of the match.

use super::board::{Board, Place};
use super::effect::Effect;
use super::energy::{Chakra, Color, Energy};
use super::ranged::{EnergyId, Row};
use super::score::winners;
use super::state::{Phase, State};
use turnfold_core::outcome::EffectSink;

/// The round becomes the last one when a player has this number of rows in harmony.
const ROWS_TO_END: usize = 5;

pub(super) fn end_turn(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    for chakra in Chakra::all() {
        unite(state, chakra, effects);
    }
    // CH-14: the round is played on to its last seat, so that later seats do not have fewer turns.
    let ends = state.players.iter().any(|player| player.board.harmonised().count() >= ROWS_TO_END);
    if ends && !state.last_round {
        state.last_round = true;
        effects.push(|| Effect::LastRound);
    }
    let mut next = state.seats().iter().copied().find(|seat| *seat > state.active);
    if next.is_none() && !state.last_round {
        next = state.seats().first().copied();
    }
    effects.push(|| Effect::TurnEnded { next });
    if let Some(next) = next {
        state.active = next;
        state.phase = Phase::Take;
    } else {
        state.phase = Phase::Over;
        effects.push(|| Effect::MatchOver { winners: winners(state) });
    }
}

/// CH-13: removes a white and a black energy from a row of the active player, who gains half a yin-yang.
fn unite(state: &mut State, chakra: Chakra, effects: &mut impl EffectSink<Effect>) {
    let Some(player) = state.active_player_mut() else { return };
    let row = chakra.row();
    let Some((white, white_energy)) = lowest(&player.board, row, Color::White) else { return };
    let Some((black, black_energy)) = lowest(&player.board, row, Color::Black) else { return };
    player.board.remove(white);
    player.board.remove(black);
    player.yinyang_halves += 1;
    let halves = player.yinyang_halves;
    effects.push(|| Effect::Yinyang { row, halves });
    leave_the_game(state, white_energy.id, effects);
    leave_the_game(state, black_energy.id, effects);
}

/// Returns the energy of a color that has the lowest id in a row.
fn lowest(board: &Board, row: Row, color: Color) -> Option<(Place, Energy)> {
    let of_color = board.placed_in(row).filter(|(_, energy)| energy.color == color);
    of_color.min_by_key(|(_, energy)| energy.id)
}

pub(super) fn leave_the_game(state: &mut State, id: EnergyId, effects: &mut impl EffectSink<Effect>) {
    state.out.insert(id);
    effects.push(|| Effect::LeftTheGame { id });
}
