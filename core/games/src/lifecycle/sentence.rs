//! Sentences about what happened.

use alloc::format;
use alloc::string::String;

use super::command::Command;
use super::effect::Effect;
use super::reason::Reason;
use super::state::State;
use super::status::StatusKind;
use turnfold_core::seat::{Perspective, Seat};
use turnfold_core::text::{Id, counted_in_words};

pub(super) fn sentence(
    state: &State,
    command: &Command,
    happened: Result<&Effect, Reason>,
    reader: Perspective,
) -> String {
    match happened {
        Ok(effect) => done(state, effect, reader),
        Err(reason) => why_not(state, command, reason),
    }
}

fn done(state: &State, effect: &Effect, reader: Perspective) -> String {
    match effect {
        Effect::Ticked { ticks: 0 } => String::new(),
        Effect::Ticked { ticks: 1 } => "One tick passed.".into(),
        Effect::Ticked { ticks } => format!("{ticks} ticks passed."),
        Effect::TurnChange { next, is_new_round, .. } => {
            let round = if *is_new_round { format!("Round {} begins. ", state.round) } else { String::new() };
            let whose = match owner(state, next) {
                Some(seat) if reader.is_seat(seat) => "your".into(),
                seat => format!("{}'s", seat.map_or("no one", Seat::name)),
            };
            format!("{round}It is the turn of {whose} {next}.")
        }
        Effect::ApSet { ap } => format!("It has {}.", digits(*ap, "action point")),
        Effect::Cooldown { skill, left: 0 } => format!("Its skill {skill} can be used again."),
        Effect::Cooldown { skill, left } => {
            format!(
                "Its skill {skill} rests for {}.",
                counted_in_words((*left).into(), "more turn", "more turns")
            )
        }
        Effect::StatusTicked { unit, status, amount } => status_ticked(state, unit, status, *amount),
        Effect::StatusExpired { unit, status } => format!("The status {status} of the {unit} is over."),
        Effect::StatusGained { unit, status } => format!("The {unit} now has the status {status}."),
        Effect::Stunned { unit } => format!("The {unit} is stunned and does not act."),
        Effect::Moved => match state.active() {
            Some(active) => format!("The {} moved.", active.unit.id),
            None => "The unit moved.".into(),
        },
        Effect::SkillUsed { unit, skill, target } if unit == target => format!("The {unit} used {skill}."),
        Effect::SkillUsed { unit, skill, target } => format!("The {unit} used {skill} on the {target}."),
        Effect::Damaged { unit, amount, hp } => {
            format!("The {unit} lost {} and has {hp} left.", points(*amount))
        }
        Effect::Healed { unit, amount, hp } => {
            format!("The {unit} got {} back and has {hp}.", points(*amount))
        }
        Effect::Died { unit } => format!("The {unit} is dead."),
        Effect::TurnEnded { unit, .. } => format!("The turn of the {unit} is over."),
        Effect::MatchOver { winner } => format!("{} won.", winner.seat().as_subject(reader)),
    }
}

/// Writes a count in digits, because it is compared with others.
fn digits(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn points(amount: u32) -> String {
    digits(amount, "hit point")
}

fn status_ticked(state: &State, unit: &Id, status: &Id, amount: u32) -> String {
    let points = points(amount);
    if let Some((_, found)) = state.find(unit) {
        let kept = found.statuses.iter().find(|kept| kept.id == *status);
        if kept.is_some_and(|kept| kept.kind == StatusKind::Hot) {
            return format!("The status {status} gave the {unit} {points}.");
        }
        // A dead unit has no statuses.
        if kept.is_some() || !found.is_alive() {
            return format!("The status {status} cost the {unit} {points}.");
        }
    }
    format!("The status {status} changed the {unit} by {points}, for the last time.")
}

fn owner(state: &State, unit: &Id) -> Option<Seat> {
    state.find(unit).map(|(_, unit)| unit.team.seat())
}

fn why_not(state: &State, command: &Command, reason: Reason) -> String {
    let active = match state.active() {
        Some(active) => active.unit.id.as_str(),
        None => "unit",
    };
    let mut skill = "";
    let mut target = "";
    match command {
        Command::Attack(unit) => target = unit.as_str(),
        Command::Skill { skill: used, target: unit } => {
            skill = used.as_str();
            target = unit.as_ref().map_or("", Id::as_str);
        }
        _ => {}
    }
    match reason {
        Reason::UnknownSkill => format!("The {active} has no skill {skill}."),
        Reason::NotEnoughAp => format!("The {active} has too few action points left."),
        Reason::AlreadyMoved => format!("The {active} has moved already in this turn."),
        Reason::AlreadyAttacked => format!("The {active} has attacked already in this turn."),
        Reason::OnCooldown => format!("The skill {skill} still rests."),
        Reason::UnknownUnit => format!("There is no unit {target}."),
        Reason::BadTarget if target.is_empty() => format!("The skill {skill} needs a target."),
        Reason::BadTarget => format!("The {target} cannot be the target of that."),
    }
}
