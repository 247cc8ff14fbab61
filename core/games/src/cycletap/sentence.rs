//! Sentences about what happened. Everyone knows the units and their positions; only effects name plans.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::command::Command;
use super::effect::Effect;
use super::order::PathKind;
use super::reason::Reason;
use super::state::{State, UnitId};
use turnfold_core::prelude::*;
use turnfold_core::text::{capital, counted_in_words, listed};

pub(super) fn sentence(
    state: &State,
    seat: Seat,
    command: &Command,
    happened: Result<&Effect, Reason>,
    reader: Perspective,
) -> String {
    match happened {
        Ok(effect) => done(state, seat, effect, reader),
        Err(reason) => why_not(seat, command, reason, reader),
    }
}

fn done(state: &State, seat: Seat, effect: &Effect, reader: Perspective) -> String {
    let name = |unit: &UnitId| name(state, *unit, reader);
    match effect {
        Effect::OriginSelected { at } => {
            format!("{} chose the {} at {at}.", seat.as_subject(reader), kind_at(state, *at))
        }
        Effect::DefensePending { at } => format!("The {} at {at} is to defend.", kind_at(state, *at)),
        Effect::OrdersCleared { unit, count } => {
            let orders = counted_in_words((*count).into(), "order", "orders");
            let of = match called(state, *unit, reader) {
                Some(unit) => unit,
                None => format!("unit {unit}"),
            };
            format!("{} took back {orders} of {of}.", seat.as_subject(reader))
        }
        Effect::OrderCancelled { unit } => format!("{} has no order now.", name(unit)),
        Effect::OrderPlaced { number, unit, kind, path } => {
            let way = listed(&path.iter().map(ToString::to_string).collect::<Vec<_>>());
            let does = match *kind {
                "defense" => "defends".into(),
                "attack" => format!("attacks {way}"),
                "deploy" => format!("deploys to {way}"),
                _ => format!("goes to {}", way.replace(" and ", ", ").replace(", ", ", then to ")),
            };
            format!("Order {number}: {} {does}.", name(unit))
        }
        Effect::PathStarted { at } => format!("A path begins at {at}."),
        Effect::PathExtended { at } => format!("The path goes on to {at}."),
        Effect::PathKind { kind: PathKind::Deploy } => "The unit is to deploy.".into(),
        Effect::PathKind { kind: PathKind::Movement } => "The unit is to move.".into(),
        Effect::PathShortened { at } => format!("The path ends at {at} again."),
        Effect::PathDropped => "The path was dropped.".into(),
        Effect::PlanningEnded { seat } => format!("{} ended the planning.", seat.as_subject(reader)),
        Effect::Deployed { unit, to } => format!("{} deployed to {to}.", name(unit)),
        Effect::DeployHeld { unit } => {
            format!("{} did not deploy, because another unit deploys to the same hex.", name(unit))
        }
        Effect::Moved { unit, to } => format!("{} moved to {to}.", name(unit)),
        Effect::Blocked { unit, at } => format!("{} was stopped at {at}.", name(unit)),
        Effect::HexWon { at, side, claim, against } => {
            format!("{} won {at}, with a claim of {claim} against {against}.", side.as_subject(reader))
        }
        Effect::HexHeld { at } => format!("No side won {at}: the claims are equal."),
        Effect::Eliminated { unit } => format!("{} is lost.", name(unit)),
        Effect::Advanced { unit, to } => format!("{} took {to}.", name(unit)),
        Effect::TurnStarted { turn } => format!("Turn {turn} begins."),
        Effect::MatchOver { winner: None } => "Neither side has a unit left.".into(),
        Effect::MatchOver { winner: Some(winner) } => format!("{} won.", winner.as_subject(reader)),
    }
}

fn kind_at(state: &State, at: Hex) -> String {
    match state.unit_at(at) {
        Some((_, unit)) => unit.kind.to_string(),
        None => "unit".into(),
    }
}

/// Names a unit: `Your infantry u2`, or `Unit u2` if it is lost.
fn name(state: &State, unit: UnitId, reader: Perspective) -> String {
    match called(state, unit, reader) {
        Some(unit) => capital(&unit),
        None => format!("Unit {unit}"),
    }
}

/// Names a unit within a sentence, unless it is lost.
fn called(state: &State, unit: UnitId, reader: Perspective) -> Option<String> {
    let found = state.units.get(&unit)?;
    if reader.is_seat(found.owner) {
        return Some(format!("your {} {unit}", found.kind));
    }
    Some(format!("the {} {unit} of {}", found.kind, found.owner))
}

fn why_not(seat: Seat, command: &Command, reason: Reason, reader: Perspective) -> String {
    let at = if let Command::Tap(at) = command { at.to_string() } else { "The hex".into() };
    match reason {
        Reason::NoFriendlyUnit => {
            let verb = if reader.is_seat(seat) { "have" } else { "has" };
            format!("{} {verb} no unit at {at}.", seat.as_subject(reader))
        }
        Reason::OutOfBounds => format!("{at} is not on the board."),
        Reason::NotAdjacent => format!("{at} is not next to the unit or to the end of its path."),
        Reason::Impassable => format!("{at} is water."),
        Reason::Defending => "The unit defends, so it cannot do anything else.".into(),
        Reason::PoolExhausted => "No more orders can be given in this turn.".into(),
        Reason::EnemyOccupied => format!("An enemy is at {at}, and no path leads through enemies."),
        Reason::Loop => format!("The path has been at {at} already."),
        Reason::PathFull => "The path is as long as a path may be.".into(),
        Reason::NothingToUndo => "There is no path to shorten.".into(),
    }
}
