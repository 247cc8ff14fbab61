//! Sentences about what happened.

use alloc::format;
use alloc::string::{String, ToString};

use super::command::Command;
use super::effect::Effect;
use super::movement::Impulse;
use super::reason::Reason;
use super::state::{State, Unit};
use turnfold_core::prelude::*;
use turnfold_core::text::{capital, counted_in_words, number_word};

/// The maximum number of impulses that a sentence lists after the first.
const LISTED_MAX: usize = 8;

pub(super) fn sentence(
    state: &State,
    seat: Seat,
    command: &Command,
    happened: Result<&Effect, Reason>,
    reader: Perspective,
) -> String {
    match happened {
        Ok(effect) => done(state, command, effect, reader),
        Err(reason) => why_not(state, seat, command, reason, reader),
    }
}

fn done(state: &State, command: &Command, effect: &Effect, reader: Perspective) -> String {
    match effect {
        Effect::Rolled { p1, p2 } if p1 == p2 => format!("Both players rolled {p1}, so they roll again."),
        Effect::Rolled { p1, p2 } => {
            let names = [Seat::P1, Seat::P2].map(|seat| seat.as_subject(reader));
            format!("{} rolled {p1}, {} rolled {p2}.", names[0], names[1].replace("You", "you"))
        }
        Effect::Initiative { winner, .. } => format!("{} won the initiative.", winner.as_subject(reader)),
        Effect::MovementOrder { impulses } => order(impulses, reader),
        // Only `cycle` reports the cursor, because the sentences of other commands name the hex.
        Effect::Cursor { at } if matches!(command, Command::Cycle) => match state.unit_at(*at) {
            Some((_, unit)) => format!("The cursor is on {} at {at}.", called(unit)),
            None => format!("The cursor is at {at}."),
        },
        // A flash repeats what the effects before it say.
        Effect::Cursor { .. } | Effect::Flash { .. } => String::new(),
        Effect::Selected { unit } => {
            let owner = match find(state, unit) {
                Some(unit) => unit.owner.as_subject(reader),
                None => "Someone",
            };
            format!("{owner} chose {}.", at_its_hex(state, unit))
        }
        Effect::Deselected => "No unit is chosen any more.".into(),
        Effect::Moved { unit, from, to } => match find(state, unit) {
            Some(unit) => {
                let owner = unit.owner.as_subject(reader);
                format!("{owner} moved {} from {from} to {to}.", called(unit))
            }
            None => format!("A unit moved from {from} to {to}."),
        },
        Effect::Stood { unit } => match find(state, unit) {
            Some(unit) => {
                format!("{} kept {} at {}.", unit.owner.as_subject(reader), called(unit), unit.at)
            }
            None => "A unit stayed where it was.".into(),
        },
        Effect::ImpulseAdvanced { player, units, .. } => {
            let verb = if reader.is_seat(*player) { "move" } else { "moves" };
            format!(
                "Now {} {verb} {}.",
                object(*player, reader),
                counted_in_words((*units).into(), "unit", "units")
            )
        }
        Effect::MovementComplete => "All units have moved.".into(),
        Effect::TurnStarted { turn } => format!("Turn {turn} begins."),
    }
}

/// Writes `p2 moves two units first, then p1 one.`
fn order(impulses: &[Impulse], reader: Perspective) -> String {
    let Some((first, others)) = impulses.split_first() else { return "There are no units to move.".into() };
    let verb = if reader.is_seat(first.player) { "move" } else { "moves" };
    let units = counted_in_words(first.units.into(), "unit", "units");
    let mut words = format!("{} {verb} {units} first", first.player.as_subject(reader));
    for Impulse { player, units } in others.iter().take(LISTED_MAX) {
        words.extend([", then ", object(*player, reader), " ", &*number_word((*units).into())]);
    }
    if others.len() > LISTED_MAX {
        words.push_str(", and so on");
    }
    words + "."
}

fn why_not(state: &State, seat: Seat, command: &Command, reason: Reason, reader: Perspective) -> String {
    let (Command::Click(at) | Command::Move(at)) = *command else {
        return at_hex(state, seat, state.cursor, reason, reader);
    };
    at_hex(state, seat, at, reason, reader)
}

fn at_hex(state: &State, seat: Seat, at: Hex, reason: Reason, reader: Perspective) -> String {
    let there = match state.unit_at(at) {
        Some((_, unit)) => called(unit),
        None => "a unit".into(),
    };
    match reason {
        Reason::NoUnit | Reason::NotYourUnit => {
            let verb = if reader.is_seat(seat) { "have" } else { "has" };
            format!("{} {verb} no unit at {at}.", seat.as_subject(reader))
        }
        Reason::AlreadyMoved => format!("{} has moved already in this turn.", capital(&there)),
        Reason::OutOfBounds => format!("{at} is not on the board."),
        Reason::NothingSelected => "No unit was chosen.".into(),
        Reason::Impassable => format!("No unit can enter {at}."),
        Reason::Occupied => format!("{} stands at {at} already.", capital(&there)),
        Reason::SameHex => format!("{} is at {at} already.", capital(&there)),
        Reason::OutOfReach => format!("{at} is too far away for this unit."),
    }
}

fn find<'a>(state: &'a State, id: &Id) -> Option<&'a Unit> {
    state.units.iter().find(|unit| unit.id == *id)
}

/// Names a unit: `the Atlas`, or `unit 2` if it has only an id.
fn called(unit: &Unit) -> String {
    if unit.name == unit.id.as_str() { format!("unit {}", unit.id) } else { format!("the {}", unit.name) }
}

fn at_its_hex(state: &State, id: &Id) -> String {
    match find(state, id) {
        Some(unit) => format!("{} at {}", called(unit), unit.at),
        None => id.to_string(),
    }
}

/// Names a seat inside a sentence.
fn object(seat: Seat, reader: Perspective) -> &'static str {
    if reader.is_seat(seat) { "you" } else { seat.name() }
}
