//! What a viewer sees: the JSON document of the rulings, and the answers to `options`, `possible N` and `decode CODE`.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use serde::Serialize;

use super::command::Command;
use super::energy::{Chakra, Color, Energy};
use super::judge::{decide, is_possible, takes};
use super::moved_code::{CODE_MAX, decode, encode};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::score::{score, winners};
use super::sequence::{Offers, Variant};
use super::state::{Phase, Player, State};
use turnfold_core::prelude::*;
use turnfold_core::text::{Joined, joined_by, number, split_verb};

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub state: &'static str,
    pub active: Option<Seat>,
    pub channel: Option<ChannelNumber>,
    pub step: usize,
    pub choice: Option<Variant>,
    pub already_moved: Vec<EnergyId>,
    pub already_moved_code: Option<u64>,
    pub possibles: Offers,
    pub channels: Option<Vec<ChannelNumber>>,
    pub last_round: bool,
    pub winners: Option<Vec<Seat>>,
    pub plenitude: Option<BTreeMap<Chakra, u8>>,
    pub maya: Vec<Vec<u16>>,
    pub bag: BagView,
    pub players: Vec<PlayerView>,
    pub energies: BTreeMap<EnergyId, Color>,
    pub out: Vec<EnergyId>,
}

/// The contents of the bag, without their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct BagView {
    pub total: usize,
    pub colors: BTreeMap<Color, u32>,
}

/// A player's board, as the viewer may know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct PlayerView {
    pub seat: Seat,
    pub rows: Vec<Vec<u16>>,
    pub tokens: String,
    pub score: u32,
    pub known: BTreeMap<Chakra, Option<u8>>,
    pub yinyang_halves: u32,
}

impl View {
    /// Returns the view. Fields that need a look ahead are computed only if they are wanted.
    pub(super) fn of(state: &State, viewer: Perspective, is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut choice = None;
        let mut already_moved = Vec::new();
        if let Some(sequence) = state.sequence() {
            choice = sequence.variant;
            for moved in &sequence.moved {
                already_moved.push(moved.id);
            }
        }
        let mut energies = BTreeMap::new();
        for energy in state.visible_energies() {
            energies.insert(energy.id, energy.color);
        }
        let wants_channels = state.phase == Phase::Take && is_wanted("channels");
        Self {
            state: phase_name(state),
            active: if state.is_over() { None } else { Some(state.active) },
            channel: match &state.phase {
                Phase::Channel(sequence) => Some(sequence.channel),
                Phase::PickColor => Some(ChannelNumber::EXCHANGE),
                Phase::Take | Phase::Over => None,
            },
            step: already_moved.len(),
            choice,
            already_moved_code: encode(already_moved.iter().map(|id| id.get())),
            already_moved,
            possibles: if is_wanted("possibles") { moves(state) } else { Offers::new() },
            channels: if wants_channels { Some(channels(state)) } else { None },
            last_round: state.last_round,
            winners: if state.is_over() { Some(winners(state)) } else { None },
            plenitude: plenitude(state, viewer),
            maya: state.maya.iter().map(|row| row.map(id_or_zero).to_vec()).collect(),
            bag: bag(state),
            players: players(state, viewer),
            energies,
            out: state.out.iter().copied().collect(),
        }
    }
}

/// Returns the view's name for the phase.
pub(super) fn phase_name(state: &State) -> &'static str {
    match &state.phase {
        Phase::Take => "take",
        Phase::Channel(sequence) if sequence.is_complete() => "confirm",
        Phase::Channel(_) => "channel",
        Phase::PickColor => "pick_color",
        Phase::Over => "over",
    }
}

fn id_or_zero(energy: Option<Energy>) -> u16 {
    energy.map_or(0, |energy| energy.id.get())
}

/// CH-18: returns all plenitudes, if everyone may know them or the viewer is the host.
fn plenitude(state: &State, viewer: Perspective) -> Option<BTreeMap<Chakra, u8>> {
    if !state.is_over() && viewer != Perspective::HOST {
        return None;
    }
    let mut plenitude = BTreeMap::new();
    for chakra in Chakra::all() {
        plenitude.insert(chakra, state.plenitude_of(chakra));
    }
    Some(plenitude)
}

/// CH-18: counts the energies of each color in the bag; their order is secret.
fn bag(state: &State) -> BagView {
    let mut colors = BTreeMap::new();
    for color in state.bag.values() {
        *colors.entry(*color).or_default() += 1;
    }
    BagView { total: state.bag.len(), colors }
}

fn players(state: &State, viewer: Perspective) -> Vec<PlayerView> {
    let mut views = Vec::new();
    for (seat, player) in state.seats().iter().zip(&state.players) {
        views.push(PlayerView {
            seat: *seat,
            rows: Row::all().map(|row| ids_by_column(player.board.row(row))).collect(),
            tokens: player.tokens.to_string(),
            score: score(state, player),
            known: known(state, player, viewer),
            yinyang_halves: player.yinyang_halves,
        });
    }
    views
}

/// Lists the ids of a row, 0 for an empty column; empty columns at the end are left out.
fn ids_by_column(columns: &[Option<Energy>]) -> Vec<u16> {
    let mut ids: Vec<u16> = columns.iter().copied().map(id_or_zero).collect();
    while ids.last() == Some(&0) {
        ids.pop();
    }
    ids
}

/// CH-18: which chakras a player knows is public. A value is 0 if the viewer does not know it.
fn known(state: &State, player: &Player, viewer: Perspective) -> BTreeMap<Chakra, Option<u8>> {
    let mut known = BTreeMap::new();
    for chakra in Chakra::all() {
        let mut value = None;
        if state.is_over() || player.known.contains(&chakra) {
            value = Some(state.plenitude_seen_by(viewer, chakra).unwrap_or(0));
        }
        known.insert(chakra, value);
    }
    known
}

pub(super) fn query(state: &State, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("options", None) => Ok(Some(options(state))),
        ("possible", Some(channel)) => Ok(Some(possible(state, channel)?)),
        ("decode", Some(code)) => Ok(Some(decoded(code)?)),
        _ => Ok(None),
    }
}

#[derive(Serialize)]
struct Options {
    takes: Vec<(i32, Vec<EnergyId>)>,
    channels: Vec<ChannelNumber>,
    moves: Offers,
}

/// Lists each take only with its energies in order from the top of the maya down; other orders are omitted.
fn options(state: &State) -> Answer {
    let mut options = Options { takes: Vec::new(), channels: channels(state), moves: moves(state) };
    let mut text = String::from("takes");
    for command in takes(state) {
        let applies = decide(state, state.active, &command).is_ok();
        let Command::Take { row, ids } = command else { continue };
        let ids: Vec<EnergyId> = ids.into();
        if applies && ids.is_sorted_by_key(|id| state.find_in_maya(*id).map(|(place, _)| place.row)) {
            let _ = write!(text, " {}>{row}", Joined(&ids));
            options.takes.push((row, ids));
        }
    }
    text.push_str("; channels");
    for channel in &options.channels {
        let _ = write!(text, " {channel}");
    }
    text.push_str("; moves");
    for (id, rows) in &options.moves {
        for row in rows.values() {
            let _ = write!(text, " {id}>{row}");
        }
    }
    Answer::new(text, &options)
}

pub(super) fn channels(state: &State) -> Vec<ChannelNumber> {
    let mut channels: Vec<ChannelNumber> = ChannelNumber::all().collect();
    channels.retain(|channel| decide(state, state.active, &Command::Channel(*channel)).is_ok());
    channels
}

pub(super) fn moves(state: &State) -> Offers {
    match (state.sequence(), state.player(state.active)) {
        (Some(sequence), Some(player)) => sequence.offers(&player.board),
        _ => Offers::new(),
    }
}

/// CH-5, CH-9: answers `true` if a channel can be carried out on the active player's board.
fn possible(state: &State, channel: &str) -> Result<Answer, Malformed> {
    let Ok(channel) = channel.parse() else {
        let message = format!("`possible` takes a channel of 1 to 8, found `{}`", channel.escape_debug());
        return Err(Malformed(message));
    };
    let possible = match state.player(state.active) {
        Some(player) if !state.is_over() => is_possible(state, player, channel),
        _ => false,
    };
    Ok(Answer::new(possible.to_string(), &possible))
}

/// CH-17: lists the last energy moved first, because it is the lowest part of the number.
fn decoded(code: &str) -> Result<Answer, Malformed> {
    let Ok(read @ ..=CODE_MAX) = number::<u64>(code) else {
        let message = format!("`decode` takes a number of 0 to {CODE_MAX}, found `{}`", code.escape_debug());
        return Err(Malformed(message));
    };
    let ids = decode(read);
    Ok(Answer::new(joined_by(" ", &ids), &ids))
}
