//! What a command would do now: the rules of the host's commands. `hearing.rs` has the rules of papers.

use super::command::{AskedSeats, Command};
use super::hearing;
use super::reason::{Reason, Rejection};
use super::state::{OrderHeld, Phase, Standing, State};
use super::step::{Fault, Step, require_winner};
use crate::digest::Digest;
use crate::outcome::Verdict;
use crate::paper::{DeskTime, LineName, SeatKey};
use crate::seat::Seat;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan(pub(super) Step);

pub(super) fn decide(
    state: &State,
    seat: Seat,
    command: &Command,
) -> Result<Verdict<Plan, Reason>, Rejection> {
    match plan(state, seat, command) {
        Ok(step) => Ok(Verdict::Applied(Plan(step))),
        Err(Fault::Ignored(reason)) => Ok(Verdict::Ignored(reason)),
        Err(Fault::Rejected(rejection)) => Err(rejection),
    }
}

fn plan(state: &State, seat: Seat, command: &Command) -> Result<Step, Fault> {
    match command {
        Command::Paper(paper) => hearing::plan(state, seat, paper),
        // PM-12
        Command::Clock(time) if state.clock.is_some_and(|clock| *time <= clock) => {
            Err(Rejection::ClockBack.into())
        }
        Command::Clock(time) => Ok(Step::Clock(*time)),
        Command::Stand { line, seq, link, state: hash, seats } => {
            let clock = check_stand(state, line, *seq, seats)?;
            let standing = Standing { line: line.clone(), seq: *seq };
            let seats = seats.as_slice().to_vec();
            Ok(Step::Stand { standing, link: *link, state: *hash, seats, clock })
        }
        Command::Carried { digest, count } => {
            let (seat, order) = order_to_settle(state, digest)?;
            let count = u16::from(*count);
            if count > order.plays {
                return Err(Rejection::UnknownOrder.into());
            }
            Ok(Step::Carried { seat, digest: *digest, count })
        }
        Command::Refused { digest, code } => {
            let (seat, _) = order_to_settle(state, digest)?;
            Ok(Step::Refused { seat, digest: *digest, code: code.clone().into() })
        }
        Command::Rolled { number, element, line, seq } => {
            let number = check_roll(state, *number, element)?;
            Ok(Step::Rolled { number, element: *element, line: line.clone(), seq: *seq })
        }
        // PM-8
        Command::Extend { .. } if state.phase != Phase::Open => Err(Rejection::WrongPhase.into()),
        // PM-21
        Command::Extend { until, .. } => {
            let is_later = state.stand.is_some_and(|stand| *until > stand.deadline);
            if is_later { Ok(Step::Extend(*until)) } else { Err(Reason::NotLater.into()) }
        }
        Command::Plain(plain) => hearing::plan_plain(state, seat, plain.paper()),
        // PM-40
        Command::Remind(hours) if is_reminder(state, *hours) => Ok(Step::Remind(*hours)),
        Command::Remind(_) => Err(Rejection::NoReminder.into()),
        Command::Replace { seat, key, .. } => plan_replacement(state, *seat, key),
        // PM-21
        Command::Close { result, .. } => require_winner(state, *result).map(|()| Step::Close(*result)),
    }
}

/// PM-13: when and where a turn may begin; returns the clock. The desk cannot see whether link and hash belong to the
/// game, and which seats have to be asked (PM-14).
fn check_stand(state: &State, line: &LineName, seq: u64, seats: &AskedSeats) -> Result<DeskTime, Rejection> {
    if state.phase != Phase::Ready || state.next_order().is_some() {
        return Err(Rejection::Unsettled);
    }
    let clock = state.clock.ok_or(Rejection::NoClock)?;
    if !seats.as_slice().iter().all(|seat| state.seat(*seat).is_some_and(|seat| !seat.gone)) {
        return Err(Rejection::NotAsked);
    }
    let goes_on = match (&state.takeback, state.stands.last()) {
        (Some(from), _) => state.stands.iter().all(|stand| stand.line != *line) && seq >= from.seq,
        (None, Some(from)) => from.line == *line && seq >= from.seq,
        // A game begins on its line `main`.
        (None, None) => line.as_str() == "main",
    };
    if goes_on { Ok(clock) } else { Err(Rejection::LineChange) }
}

/// PM-8, PM-19: the order of this digest, which must be the next one.
fn order_to_settle<'a>(state: &'a State, digest: &Digest) -> Result<(Seat, &'a OrderHeld), Rejection> {
    if state.phase != Phase::Ready {
        return Err(Rejection::WrongPhase);
    }
    let next = state.next_order().filter(|(_, order)| order.digest == *digest);
    next.ok_or(Rejection::UnknownOrder)
}

/// PM-60: the host alone gives a seat to another player, where the terms allow that.
fn plan_replacement(state: &State, seat: Seat, key: &SeatKey) -> Result<Step, Fault> {
    if !state.terms.host_replaces {
        return Err(Rejection::NotInTerms.into());
    }
    if state.phase != Phase::Open {
        return Err(Rejection::WrongPhase.into());
    }
    if state.seat(seat).is_none() {
        return Err(Reason::NoSuchSeat.into());
    }
    if state.is_used(key) {
        return Err(Reason::KeyInUse.into());
    }
    Ok(Step::Replace { seat, key: key.clone() })
}

/// PM-40: whether a reminder is due: the clock is so near to the deadline, and there was none as near to it.
fn is_reminder(state: &State, hours: u16) -> bool {
    let is_due = state
        .stand
        .zip(state.clock)
        .is_some_and(|(stand, clock)| clock < stand.deadline && clock.after_hours(hours) >= stand.deadline);
    state.phase == Phase::Open
        && state.terms.remind.contains(&hours)
        && state.reminded.is_none_or(|last| last > hours)
        && is_due
}

/// FD-7, FD-10, FD-17 of `dice.md`: the next roll, with the element that the host opens for it.
fn check_roll(state: &State, number: u32, element: &Digest) -> Result<u16, Rejection> {
    if state.phase != Phase::Ready {
        return Err(Rejection::WrongPhase);
    }
    if state.host_element.is_none() {
        return Err(Rejection::WrongRoll);
    }
    let number = u16::try_from(number).map_err(|_| Rejection::DiceExhausted)?;
    if state.is_next_roll(number, element) { Ok(number) } else { Err(Rejection::WrongRoll) }
}
