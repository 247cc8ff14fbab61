//! Deadlines that pass, and who missed them (PM-17).

use alloc::vec::Vec;

use super::effect::Effect;
use super::leaving::leave;
use super::offers;
use super::progress::{extend, go_on};
use super::state::{Asked, Missed, Phase, State};
use crate::outcome::EffectSink;
use crate::paper::DeskTime;
use crate::seat::Seat;

/// PM-17: what the clock does to an open turn.
pub(super) fn pass_deadline(state: &mut State, at: DeskTime, effects: &mut impl EffectSink<Effect>) {
    if state.phase != Phase::Open || state.stand.is_none_or(|stand| at < stand.deadline) {
        return;
    }
    let awaited_seals = state.awaits_seals();
    let missing: Vec<Seat> =
        state.named_seats().filter(|(_, seat)| state.is_awaited(seat)).map(|(seat, _)| seat).collect();
    let (policy, patience, hours) = (state.terms.missed, state.terms.patience, state.terms.hours);
    let mut going = Vec::new();
    for &seat in &missing {
        let Some(own) = state.seat_mut(seat) else { continue };
        own.misses = own.misses.saturating_add(1);
        let misses = own.misses;
        if policy == Missed::Default {
            own.asked = Asked::Defaulted;
        }
        if patience > 0 && misses >= patience {
            going.push(seat);
        }
        effects.push(|| Effect::Missed { seat, misses });
    }
    if !going.is_empty() {
        leave(state, &going, None, effects);
        offers::take_effect(state, effects);
    }
    let still_asked =
        |seat: &Seat| state.seat(*seat).is_some_and(|own| matches!(own.asked, Asked::Yes | Asked::Sealed(_)));
    if state.phase == Phase::Open && missing.iter().any(still_asked) {
        extend(state, state.after_absences(at.after_hours(hours)), effects);
    }
    go_on(state, awaited_seals, effects);
}
