//! Who has a seat, and how a turn goes on and ends: its deadline, when it is ready, the end of the match (PM-11, PM-16,
//! PM-18, PM-21).

use alloc::string::ToString;

use super::effect::Effect;
use super::state::{Asked, MatchEnd, Phase, Player, State};
use crate::outcome::EffectSink;
use crate::paper::DeskTime;
use crate::seat::Seat;

/// PM-11: gives a seat to a player. No other can have this name and key from now on.
pub(super) fn take_seat(state: &mut State, seat: Seat, player: Player) {
    match &player {
        Player::Signing(key) => {
            state.names_used.insert(key.name().into());
            state.keys_used.insert(key.to_base64());
        }
        Player::Plain(name) => {
            state.names_used.insert(name.clone());
        }
    }
    if let Some(own) = state.seat_mut(seat) {
        own.player = Some(player);
        // FD-15 of `dice.md`: there is no new chain.
        if let Some(dice) = &mut own.dice {
            dice.ended = true;
        }
    }
}

pub(super) fn extend(state: &mut State, until: DeskTime, effects: &mut impl EffectSink<Effect>) {
    if let Some(stand) = &mut state.stand {
        stand.deadline = until;
        state.reminded = None;
        effects.push(|| Effect::Extended { until });
    }
}

pub(super) fn end(state: &mut State, result: MatchEnd, effects: &mut impl EffectSink<Effect>) {
    state.phase = Phase::Over(result);
    effects.push(|| Effect::Over { result: result.to_string() });
}

/// PM-18: the turn can be carried out.
pub(super) fn become_ready(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    state.renew_contributions();
    state.phase = Phase::Ready;
    let turn = state.turn();
    effects.push(|| Effect::Ready { turn });
}

/// What follows from whatever was just done in an open turn.
pub(super) fn go_on(state: &mut State, awaited_seals: bool, effects: &mut impl EffectSink<Effect>) {
    if state.phase != Phase::Open {
        return;
    }
    // PM-16: the first deadline was for the seals alone.
    if awaited_seals
        && !state.awaits_seals()
        && let Some(stand) = state.stand
    {
        extend(state, stand.deadline.after_hours(state.terms.hours), effects);
    }
    if is_ready(state) {
        become_ready(state, effects);
    }
}

/// PM-18
fn is_ready(state: &State) -> bool {
    let asked = || state.seats.iter().map(|seat| &seat.asked);
    if asked().any(|asked| matches!(asked, Asked::Yes | Asked::Sealed(_))) {
        return false;
    }
    let waits = asked().any(|asked| matches!(asked, Asked::Ordered(order) if order.waits));
    let is_at_deadline = state.clock >= state.stand.map(|stand| stand.deadline);
    state.terms.hurry && !waits || is_at_deadline
}
