//! The question a desk answers: `who` it waits for (PM-24).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::state::{Phase, State};
use crate::paper::DeskTime;
use crate::rules::Answer;
use crate::seat::Seat;

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
    let names = if names.is_empty() { String::from("no one") } else { names.join(", ") };
    let time =
        |word: &str, time: Option<DeskTime>| time.map(|time| format!(" {word} {time}")).unwrap_or_default();
    let text = format!("{names}{}{}", time("since", who.since), time("until", who.until));
    Some(Answer::new(text, &who))
}

fn who(state: &State) -> Who {
    let (since, until) = match state.phase {
        Phase::Open => (state.since(), state.deadline()),
        Phase::Ready => (state.since(), None),
        Phase::Joining | Phase::Over(_) => (None, None),
    };
    Who { seats: state.awaited(), since, until }
}
