//! Seats that leave the match (PM-21).

use alloc::vec::Vec;

use super::effect::Effect;
use super::progress::end;
use super::state::{Asked, MatchEnd, State};
use crate::outcome::EffectSink;
use crate::paper::Ending;
use crate::seat::Seat;

/// Lets seats go together; `number` is that of the paper with which one resigned.
pub(super) fn leave(
    state: &mut State,
    going: &[Seat],
    number: Option<u32>,
    effects: &mut impl EffectSink<Effect>,
) {
    for &seat in going {
        let Some(own) = state.seat_mut(seat) else { continue };
        own.gone = true;
        own.ahead = None;
        if own.asked != Asked::Not {
            own.asked = Asked::Defaulted;
        }
        effects.push(|| Effect::Gone { seat, number });
    }
    let living: Vec<Seat> = state.living().collect();
    match living.as_slice() {
        [] => end(state, MatchEnd::Ended(Ending::Void), effects),
        [last] => end(state, MatchEnd::Ended(Ending::Won(*last)), effects),
        _ => {}
    }
}
