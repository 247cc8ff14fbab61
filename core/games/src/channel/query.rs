//! The questions a state answers: `options`, `possible N` and `decode CODE`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::command::Command;
use super::judge::{decide, is_possible};
use super::legal::takes;
use super::moved_code::{CODE_MAX, decode};
use super::ranged::{ChannelNumber, EnergyId};
use super::sequence::Offers;
use super::state::State;
use turnfold_core::rules::Answer;
use turnfold_core::text::{Malformed, number, split_verb};

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("options", None) => Ok(Some(options(state))),
        ("possible", Some(channel)) => possible(state, channel).map(Some),
        ("decode", Some(code)) => decoded(code).map(Some),
        _ => Ok(None),
    }
}

/// What the active player may do now.
#[derive(Serialize)]
struct Options {
    takes: Vec<(i32, Vec<EnergyId>)>,
    channels: Vec<ChannelNumber>,
    moves: Offers,
}

/// The takes that name their energies from the top of the maya down stand for all orders.
fn options(state: &State) -> Answer {
    let applies = |command: &Command| decide(state, state.active, command).is_ok();
    let from_the_top =
        |ids: &[EnergyId]| ids.is_sorted_by_key(|id| state.find_in_maya(*id).map(|(place, _)| place.row));
    let takes = takes(state).filter(applies).filter_map(|command| match command {
        Command::Take { row, ids } if from_the_top(ids.as_slice()) => Some((row, ids.into())),
        _ => None,
    });
    let options = Options { takes: takes.collect(), channels: channels(state), moves: moves(state) };
    let take = |(row, ids): &(i32, Vec<EnergyId>)| format!("{}>{row}", turnfold_core::text::Joined(ids));
    let takes: Vec<String> = options.takes.iter().map(take).collect();
    let channels: Vec<String> = options.channels.iter().map(ToString::to_string).collect();
    let moves =
        options.moves.iter().flat_map(|(id, rows)| rows.values().map(move |row| format!("{id}>{row}")));
    let moves: Vec<String> = moves.collect();
    let part = |name: &str, words: &[String]| [&[name.to_string()], words].concat().join(" ");
    let text = [part("takes", &takes), part("channels", &channels), part("moves", &moves)].join("; ");
    Answer::new(text, &options)
}

/// The channels that may be chosen now.
pub(super) fn channels(state: &State) -> Vec<ChannelNumber> {
    let may_be_chosen =
        |channel: &ChannelNumber| decide(state, state.active, &Command::Channel(*channel)).is_ok();
    ChannelNumber::all().filter(may_be_chosen).collect()
}

/// The moves on offer now.
pub(super) fn moves(state: &State) -> Offers {
    let underway = state.sequence().zip(state.player(state.active));
    underway.map_or_else(Offers::new, |(sequence, player)| sequence.offers(&player.board))
}

/// CH-5, CH-9: whether the active player's board lets a channel be carried out.
fn possible(state: &State, channel: &str) -> Result<Answer, Malformed> {
    let Ok(channel) = channel.parse() else {
        let message = format!("`possible` takes a channel of 1 to 8, found `{}`", channel.escape_debug());
        return Err(Malformed(message));
    };
    let player = state.player(state.active).filter(|_| !state.is_over());
    let possible = player.is_some_and(|player| is_possible(state, player, channel));
    Ok(Answer::new(possible.to_string(), &possible))
}

/// CH-17: the last energy moved comes first, as it is the lowest part of the number.
fn decoded(code: &str) -> Result<Answer, Malformed> {
    let Some(read) = number::<u64>(code).ok().filter(|code| *code <= CODE_MAX) else {
        let message = format!("`decode` takes a number of 0 to {CODE_MAX}, found `{}`", code.escape_debug());
        return Err(Malformed(message));
    };
    let ids = decode(read);
    let words: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Ok(Answer::new(words.join(" "), &ids))
}
