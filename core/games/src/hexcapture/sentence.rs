//! Sentences about what happened.

use alloc::format;
use alloc::string::String;

use super::command::Command;
use super::effect::{Effect, FailureCause};
use super::reason::Reason;
use super::state::Field;
use turnfold_core::hex::Direction;
use turnfold_core::text::counted_in_words;

pub(super) fn sentence(command: &Command, happened: Result<&Effect, Reason>) -> String {
    match happened {
        Ok(effect) => done(effect),
        Err(reason) => why_not(command, reason).into(),
    }
}

fn done(effect: &Effect) -> String {
    match effect {
        Effect::Cursor { at } => format!("The cursor is at {at}."),
        Effect::Turtle { at, facing } => match Direction::ALL.get(usize::from(*facing)) {
            Some(facing) => format!("The turtle is at {at} and faces {facing}."),
            None => format!("The turtle is at {at}."),
        },
        Effect::Action { held: true } => "The action is held.".into(),
        Effect::Action { held: false } => "The action was let go.".into(),
        Effect::Field { field: Field::World } => "The world is in view.".into(),
        Effect::Field { field: Field::Inventory } => "The inventory is in view.".into(),
        Effect::Ticked { ticks: 1 } => "One tick passed.".into(),
        Effect::Ticked { ticks } => format!("{ticks} ticks passed."),
        Effect::ChargeStarted { at } => format!("A charge began over {at}."),
        Effect::ChargeCancelled => "The charge was broken off.".into(),
        Effect::ChargeLapsed => "The charge ended over an empty hex.".into(),
        Effect::Captured { at, color, .. } => format!("The hex of color {color} at {at} was captured."),
        Effect::CaptureFailed { cause: FailureCause::Roll } => "The capture failed.".into(),
        Effect::CaptureFailed { cause: FailureCause::NotAdjacent } => {
            "The capture failed, because the turtle was not next to the cursor.".into()
        }
        Effect::RollDue { chance: Some(chance), .. } => {
            format!("The dice decide: the capture succeeds with a chance of {chance} percent.")
        }
        Effect::RollDue { chance: None, .. } => "The dice decide where the hex is stored.".into(),
        Effect::ReleaseStarted => "The carried hex set out for the cursor.".into(),
        Effect::ReleaseBlocked => "The carried hex cannot get to the cursor.".into(),
        Effect::CarriedTo { at } => format!("The carried hex is at {at}."),
        Effect::Dropped { field: Field::World, at } => format!("The hex was put down at {at}."),
        Effect::Dropped { field: Field::Inventory, at } => {
            format!("The hex was put down at {at} of the inventory.")
        }
        Effect::Eaten { color, stored } => {
            let stored = match stored {
                Some(at) => format!("it is now at {at} of the inventory"),
                None => "the inventory is full".into(),
            };
            format!("The hex of color {color} was eaten; {stored}.")
        }
        Effect::Cooldown { ticks } => {
            let ticks = counted_in_words((*ticks).into(), "tick", "ticks");
            format!("The action cannot be pressed for {ticks}.")
        }
    }
}

fn why_not(command: &Command, reason: Reason) -> &'static str {
    match reason {
        Reason::OutOfBounds => "The cursor cannot leave the disc.",
        Reason::Throttled if matches!(command, Command::Stick(_)) => "The joystick moved too shortly before.",
        Reason::Throttled => "The cursor moved too shortly before.",
        Reason::AlreadyHeld => "The action is held already.",
        Reason::Cooldown => "The action cannot be pressed yet.",
        Reason::NotHeld => "The action is not held.",
        Reason::InInventory => "The inventory is in view, and hexes are eaten in the world.",
        Reason::NotCarrying => "No hex is carried.",
    }
}
