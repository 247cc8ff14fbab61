//! Who has a seat, and with which key.

use super::state::State;
use crate::paper::SeatKey;
use crate::seat::Seat;

/// Gives a seat to the owner of the key. No other seat can have this key from now on.
pub(super) fn take_seat(state: &mut State, seat: Seat, key: SeatKey) {
    state.names_used.insert(key.name().into());
    state.keys_used.insert(key.to_base64());
    if let Some(own) = state.seat_mut(seat) {
        own.key = Some(key);
        // FD-15 of `dice.md`: there is no new chain.
        if let Some(dice) = &mut own.dice {
            dice.ended = true;
        }
    }
}
