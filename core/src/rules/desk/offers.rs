//! Offers to which all have agreed (PM-20).

use super::effect::Effect;
use super::progress::{become_ready, end, extend, take_seat};
use super::state::{Asked, MatchEnd, OpenOffer, Phase, Player, Standing, State};
use crate::outcome::EffectSink;
use crate::paper::{Offer, SeatKey};
use crate::seat::Seat;

/// Lets offers take effect that all living seats with a voice agreed to, in the order of the seats that made them.
pub(super) fn take_effect(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    while state.phase == Phase::Open
        && let Some((seat, open)) = take_agreed(state)
    {
        let digest = open.digest;
        match open.offer {
            Offer::End(ending) => end(state, MatchEnd::Ended(ending), effects),
            // Time or key may have been taken while the offer was open.
            Offer::Extend(until) if state.clock.is_none_or(|clock| until > clock) => {
                extend(state, until, effects);
            }
            Offer::Replace { seat: replaced, key } if !state.is_used(&key) => {
                replace(state, replaced, key, effects);
            }
            Offer::Extend(_) | Offer::Replace { .. } => effects.push(|| Effect::Lapsed { seat, digest }),
            Offer::Takeback { line, seq } => take_back(state, Standing { line, seq }, effects),
        }
    }
}

fn take_agreed(state: &mut State) -> Option<(Seat, OpenOffer)> {
    let is_agreed =
        |open: &OpenOffer| state.living().all(|seat| !open.asks(seat) || open.agreed.contains(&seat));
    let seat = state.offers.iter().find(|(_, open)| is_agreed(open)).map(|(seat, _)| *seat)?;
    state.offers.remove(&seat).map(|open| (seat, open))
}

/// PM-20, PM-60: another player has the seat.
pub(super) fn replace(state: &mut State, seat: Seat, key: SeatKey, effects: &mut impl EffectSink<Effect>) {
    effects.push(|| Effect::Replaced { seat, name: key.name().into() });
    take_seat(state, seat, Player::Signing(key));
    if let Some(own) = state.seat_mut(seat) {
        own.misses = 0;
        own.gone = false;
        // The new player announced nothing.
        own.absent = None;
        own.absent_seconds = 0;
        own.ahead = None;
    }
}

/// The turn is not carried out; the game goes on from an earlier stand.
fn take_back(state: &mut State, to: Standing, effects: &mut impl EffectSink<Effect>) {
    for seat in &mut state.seats {
        // PM-42: they were for turns that come otherwise now.
        seat.ahead = None;
        if seat.asked != Asked::Not {
            seat.asked = Asked::Settled;
        }
    }
    state.takeback = Some(to);
    become_ready(state, effects);
}
