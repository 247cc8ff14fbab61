//! The charge over a hex and its end: no effect, a capture or a failure.

use super::effect::{Effect, FailureCause};
use super::state::{Action, Carried, Due, Field, Flash, FlashKind, State};
use turnfold_core::outcome::EffectSink;

/// HC-10: begins a charge if the cell under the cursor is colored and there is no cooldown.
pub(super) fn begin(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    if state.under_cursor().is_some() && state.cooldown == 0 {
        state.action = Action::Charging { since: state.tick };
        let at = state.cursor;
        effects.push(|| Effect::ChargeStarted { at });
    }
}

/// HC-12: ends a charge that has lasted long enough. The cursor's position at the end decides.
pub(super) fn end_when_due(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let Action::Charging { since } = state.action else { return };
    let lasts = match state.field {
        Field::World => u64::from(state.timing.hold),
        Field::Inventory => 1,
    };
    if state.ticks_since(since) < lasts {
        return;
    }
    state.action = Action::Held;
    match (state.field, state.chance_under_cursor()) {
        (Field::World, _) if !state.turtle_is_adjacent() => fail(state, FailureCause::NotAdjacent, effects),
        (_, None) => effects.push(|| Effect::ChargeLapsed),
        (Field::World, chance) => await_roll(state, Due::Capture, chance, effects),
        (Field::Inventory, Some(_)) => capture(state, effects),
    }
}

/// Makes a roll due. The effect reports the chance of a capture.
pub(super) fn await_roll(
    state: &mut State,
    due: Due,
    chance: Option<u8>,
    effects: &mut impl EffectSink<Effect>,
) {
    state.due = Some(due);
    effects.push(|| Effect::RollDue { purpose: due.purpose(), chance });
}

/// HC-12, HC-14: captures the hex under the cursor, which is carried from now on.
pub(super) fn capture(state: &mut State, effects: &mut impl EffectSink<Effect>) {
    let (field, at) = (state.field, state.cursor);
    let Some(color) = state.under_cursor() else { return };
    state.carried = Some(match field {
        Field::World => Carried::World { at, moved: None },
        Field::Inventory => Carried::Inventory { at },
    });
    state.flash = Some(Flash { kind: FlashKind::Success, since: state.tick });
    effects.push(|| Effect::Captured { field, at, color });
}

/// HC-14: fails a capture. During the cooldown no charge begins. A held action stays held (HC-15).
pub(super) fn fail(state: &mut State, cause: FailureCause, effects: &mut impl EffectSink<Effect>) {
    state.cooldown = state.timing.fail_cooldown;
    state.flash = Some(Flash { kind: FlashKind::Failure, since: state.tick });
    effects.push(|| Effect::CaptureFailed { cause });
    let ticks = state.cooldown;
    effects.push(|| Effect::Cooldown { ticks });
}
