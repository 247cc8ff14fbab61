//! Carries out what `judge` planned.

use alloc::vec::Vec;

use super::board::Place;
use super::effect::Effect;
use super::end_of_turn::{end_turn, leave_the_game};
use super::energy::{Chakra, Energy};
use super::judge::{Plan, Step};
use super::ranged::{ChannelNumber, Row};
use super::sequence::{Moved, Sequence, Variant};
use super::state::{MayaPlace, Phase, Player, State};
use super::tokens::{Token, TokenNumber};
use turnfold_core::outcome::EffectSink;

pub(super) fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
    match plan.0 {
        Step::Take { row, places, token } => {
            take(state, row, &places, token, effects);
            end_turn(state, effects);
        }
        Step::Open { channel, token } => open(state, channel, token, effects),
        Step::Move { from, to, variant } => make_move(state, from, to, variant, effects),
        // CH-11: the moves become final, and the turn ends.
        Step::Confirm => {
            effects.push(|| Effect::Confirmed);
            end_turn(state, effects);
        }
        Step::Undo => undo(state, effects),
        Step::Cancel => cancel(state, effects),
        Step::Meditate(chakra) => {
            meditate(state, chakra, effects);
            end_turn(state, effects);
        }
        Step::Pick { black, color, id } => {
            pick(state, black, Energy { id, color }, effects);
            end_turn(state, effects);
        }
    }
}

/// CH-4: moves energies to a row. The maya is refilled first, before the row can come into harmony.
fn take(
    state: &mut State,
    row: Row,
    places: &[MayaPlace],
    token: Option<(TokenNumber, Chakra)>,
    effects: &mut impl EffectSink<Effect>,
) {
    let mut energies = Vec::new();
    for place in places {
        if let Some(slot) = state.maya_slot(*place) {
            energies.extend(slot.take());
        }
    }
    effects.push(|| Effect::Taken { row, ids: energies.iter().map(|energy| energy.id).collect() });
    for place in places {
        refill(state, *place, effects);
    }
    let Some(player) = state.active_player_mut() else { return };
    for energy in energies {
        player.board.put(row, energy);
    }
    if let Some((token, chakra)) = token {
        place_token(player, token, Token::Notch(chakra), effects);
        harmonise(player, chakra, effects);
    }
}

/// CH-4: fills an empty place of the maya with the lowest id of the bag. The place stays empty if the bag is empty.
fn refill(state: &mut State, place: MayaPlace, effects: &mut impl EffectSink<Effect>) {
    let Some((id, color)) = state.bag.pop_first() else { return };
    if let Some(slot) = state.maya_slot(place) {
        *slot = Some(Energy { id, color });
    }
    effects.push(|| Effect::Refilled { row: place.row + 1, col: place.column + 1, id });
}

/// CH-5: opens a channel. Channel 8 then waits for a color; the others wait for their first move.
fn open(
    state: &mut State,
    channel: ChannelNumber,
    token: TokenNumber,
    effects: &mut impl EffectSink<Effect>,
) {
    let Some(player) = state.active_player_mut() else { return };
    let tokens_before = player.tokens;
    place_token(player, token, Token::Channel(channel), effects);
    effects.push(|| Effect::ChannelOpened { channel });
    state.phase = if channel == ChannelNumber::EXCHANGE {
        Phase::PickColor
    } else {
        Phase::Channel(Sequence::begin(channel, tokens_before))
    };
}

/// CH-10: makes a move and keeps the energy's id, because an energy moves only once in a channel.
fn make_move(
    state: &mut State,
    from: Place,
    to: Row,
    variant: Variant,
    effects: &mut impl EffectSink<Effect>,
) {
    let Some(player) = state.active_player_mut() else { return };
    let Some(energy) = player.board.remove(from) else { return };
    player.board.put(to, energy);
    let id = energy.id;
    effects.push(|| Effect::Moved { id, from: from.row, to, variant });
    if let Some(chakra) = Chakra::of_row(to) {
        harmonise(player, chakra, effects);
    }
    let Phase::Channel(sequence) = &mut state.phase else { return };
    sequence.variant = Some(variant);
    sequence.moved.push(Moved { id, from });
    let step = sequence.moved.len();
    effects.push(|| Effect::Step { step });
}

/// CH-8: returns the token of a chakra's notch if the row has come into harmony.
fn harmonise(player: &mut Player, chakra: Chakra, effects: &mut impl EffectSink<Effect>) {
    if player.board.is_harmonised(chakra) {
        effects.push(|| Effect::Harmonised { row: chakra.row() });
        return_token(player, Token::Notch(chakra), effects);
    }
}

/// CH-11: restores board and tokens as they were before the channel was opened.
fn undo(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let Phase::Channel(sequence) = core::mem::replace(&mut state.phase, Phase::Take) else { return };
    let Some(player) = state.active_player_mut() else { return };
    for moved in sequence.moved.iter().rev() {
        if let Some((place, energy)) = player.board.find(moved.id) {
            player.board.remove(place);
            player.board.put_at(moved.from, energy);
        }
    }
    player.tokens = sequence.tokens_before;
    // The next free token is now the token that was on the channel.
    if let Some(token) = player.tokens.next_free() {
        report_token(player, token, effects);
    }
    effects.push(|| Effect::Undone);
}

/// CH-11: closes the channel before its first move.
fn cancel(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let channel = match state.sequence() {
        Some(sequence) => sequence.channel,
        None => ChannelNumber::EXCHANGE,
    };
    state.phase = Phase::Take;
    let Some(player) = state.active_player_mut() else { return };
    return_token(player, Token::Channel(channel), effects);
    effects.push(|| Effect::Cancelled);
}

/// CH-6: returns the tokens in the order of their numbers, because that order decides their places.
fn meditate(state: &mut State, chakra: Chakra, effects: &mut impl EffectSink<Effect>) {
    let Some(player) = state.active_player_mut() else { return };
    let tokens = player.tokens;
    for (_, token) in tokens.numbered() {
        if matches!(token, Token::Channel(_)) {
            return_token(player, token, effects);
        }
    }
    player.known.insert(chakra);
    effects.push(|| Effect::Meditated { color: chakra });
}

/// CH-12: exchanges the black energy for the picked one.
fn pick(state: &mut State, black: Place, picked: Energy, effects: &mut impl EffectSink<Effect>) {
    let Some(player) = state.active_player_mut() else { return };
    let Some(left) = player.board.remove(black) else { return };
    player.board.put(Row::UNIVERSE, picked);
    state.bag.remove(&picked.id);
    leave_the_game(state, left.id, effects);
    effects.push(|| Effect::Picked { color: picked.color, id: picked.id });
}

/// CH-3: puts a token in another place.
fn place_token(player: &mut Player, token: TokenNumber, to: Token, effects: &mut impl EffectSink<Effect>) {
    player.tokens.place(token, to);
    report_token(player, token, effects);
}

/// CH-3: returns the token of a notch or channel to the board, if there is one.
fn return_token(player: &mut Player, from: Token, effects: &mut impl EffectSink<Effect>) {
    if let Some(token) = player.tokens.at(from) {
        player.tokens.return_to_board(token);
        report_token(player, token, effects);
    }
}

fn report_token(player: &Player, token: TokenNumber, effects: &mut impl EffectSink<Effect>) {
    if let Some(to) = player.tokens.place_of(token) {
        effects.push(|| Effect::Token { token, to });
    }
}
