//! The question a desk answers: `who` it waits for (PM-24).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::state::{Phase, State};
use crate::paper::DeskTime;
use crate::rules::Answer;
use crate::seat::Seat;
use crate::text::OrNone;

/// Whom the match waits for.
#[derive(Serialize)]
struct Who {
    seats: Vec<Seat>,
    since: Option<DeskTime>,
    until: Option<DeskTime>,
}

pub(super) fn query(state: &State, question: &str) -> Option<Answer> {
    if question != "who" {
        return None;
    }
    let who = who(state);
    let names: Vec<&str> = who.seats.iter().map(|seat| seat.name()).collect();
    let names = if names.is_empty() { String::from("nobody") } else { names.join(", ") };
    let text = format!("{names} since {} until {}", OrNone(who.since), OrNone(who.until));
    Some(Answer::new(text, &who))
}

/// Free seats while joining; seats that would miss if the deadline passed now; the host when a turn is ready.
fn who(state: &State) -> Who {
    let of = |is_awaited: &dyn Fn(Seat) -> bool| -> Vec<Seat> {
        state.players().iter().copied().filter(|seat| is_awaited(*seat)).collect()
    };
    let since = state.stand.map(|stand| stand.since);
    match state.phase {
        Phase::Joining => {
            let is_free = |seat| state.seat(seat).is_some_and(|own| own.key.is_none());
            Who { seats: of(&is_free), since: None, until: None }
        }
        Phase::Open => {
            let is_awaited = |seat| state.seat(seat).is_some_and(|own| state.is_awaited(own));
            Who { seats: of(&is_awaited), since, until: state.deadline() }
        }
        Phase::Ready => Who { seats: [Seat::Host].into(), since, until: None },
        Phase::Over(_) => Who { seats: Vec::new(), since: None, until: None },
    }
}
