//! What a seat sees: the ruling's JSON document.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::energy::{Chakra, Color, Energy};
use super::moved_code::encode;
use super::query::{channels, moves};
use super::ranged::{ChannelNumber, EnergyId, Row};
use super::score::{score, winners};
use super::sequence::{Offers, Variant};
use super::state::{Phase, Player, State};
use turnfold_core::collections::gathered;
use turnfold_core::seat::{Perspective, Seat};

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

/// What is in the bag, in no order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct BagView {
    pub total: usize,
    pub colors: BTreeMap<Color, u32>,
}

/// A player.
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
    /// Returns the view; of what takes looking ahead only the fields that are wanted.
    pub(super) fn of(state: &State, viewer: Perspective, is_wanted: impl Fn(&str) -> bool) -> Self {
        let sequence = state.sequence();
        let already_moved: Vec<EnergyId> =
            sequence.map_or_else(Vec::new, |sequence| sequence.moved.iter().map(|moved| moved.id).collect());
        let all_seen = state.is_over() || viewer == Perspective::HOST;
        let on_boards =
            state.players.iter().flat_map(|player| player.board.placed()).map(|(_, energy)| energy);
        let in_maya = state.maya.iter().flatten().flatten().copied();
        Self {
            state: phase_name(state),
            active: (!state.is_over()).then_some(state.active),
            channel: match &state.phase {
                Phase::Channel(sequence) => Some(sequence.channel),
                Phase::PickColor => Some(ChannelNumber::EXCHANGE),
                Phase::Take | Phase::Over => None,
            },
            step: already_moved.len(),
            choice: sequence.and_then(|sequence| sequence.variant),
            already_moved_code: encode(already_moved.iter().map(|id| id.get())),
            already_moved,
            possibles: if is_wanted("possibles") { moves(state) } else { Offers::new() },
            channels: (state.phase == Phase::Take && is_wanted("channels")).then(|| channels(state)),
            last_round: state.last_round,
            winners: state.is_over().then(|| winners(state)),
            plenitude: all_seen
                .then(|| gathered(Chakra::all().map(|chakra| (chakra, state.plenitude_of(chakra))))),
            maya: state.maya.iter().map(|row| row.map(id_or_zero).to_vec()).collect(),
            bag: bag(state),
            players: players(state, viewer),
            energies: gathered(on_boards.chain(in_maya).map(|energy| (energy.id, energy.color))),
            out: state.out.iter().copied().collect(),
        }
    }
}

/// How the view names the part of the turn.
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

/// CH-18: how many energies of each color are in the bag, never in which order.
fn bag(state: &State) -> BagView {
    let mut colors = BTreeMap::new();
    for color in state.bag.values() {
        *colors.entry(*color).or_default() += 1;
    }
    BagView { total: state.bag.len(), colors }
}

fn players(state: &State, viewer: Perspective) -> Vec<PlayerView> {
    let view = |(seat, player): (&Seat, &Player)| PlayerView {
        seat: *seat,
        rows: Row::all().map(|row| ids_by_column(player.board.row(row))).collect(),
        tokens: player.tokens.to_string(),
        score: score(state, player),
        known: known(state, player, viewer),
        yinyang_halves: player.yinyang_halves,
    };
    state.seats().iter().zip(&state.players).map(view).collect()
}

fn ids_by_column(columns: &[Option<Energy>]) -> Vec<u16> {
    let taken = columns.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    columns.iter().take(taken).copied().map(id_or_zero).collect()
}

/// CH-18: what a player has seen is public, the value is for those who have seen it too: 0 stands for it.
fn known(state: &State, player: &Player, viewer: Perspective) -> BTreeMap<Chakra, Option<u8>> {
    let value = |chakra| {
        let known_to_player = state.is_over() || player.known.contains(&chakra);
        known_to_player.then(|| state.plenitude_seen_by(viewer, chakra).unwrap_or(0))
    };
    gathered(Chakra::all().map(|chakra| (chakra, value(chakra))))
}
