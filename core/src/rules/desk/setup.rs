//! How a desk begins: which game it serves, who hosts it, and the terms of play (PM-3).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::element::Element;
use super::state::{Missed, Phase, SeatState, Secret, State, Terms};
use crate::digest::Digest;
use crate::rules::SetupError;
use crate::seat::Seat;
use crate::trust::{KeyKind, VerifierKey};

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The id of the game's match: 32 hex digits.
    #[serde(rename = "match")]
    pub match_id: String,
    /// The link of the game's Genesis: 64 hex digits.
    pub game: String,
    /// The vkey that signs the desk's checkpoints.
    pub host: String,
    /// The head of the host's dice chain, only with fair dice: 64 hex digits.
    #[serde(default)]
    pub head: Option<String>,
    /// The players, 1..=16.
    #[serde(default = "default_seats")]
    pub seats: u8,
    /// The hours of each turn, 1..=8760.
    #[serde(default = "default_hours")]
    pub hours: u16,
    /// Whether a round asks all seats at once.
    #[serde(default)]
    pub together: bool,
    /// Whether a turn is ready when all have ordered; else at its deadline.
    #[serde(default = "default_hurry")]
    pub hurry: bool,
    /// Whether every seat commits itself before any order is shown.
    #[serde(default)]
    pub sealed: bool,
    /// The seats that the host plays itself.
    #[serde(default)]
    pub hosted: Vec<Seat>,
    /// What becomes of a seat that missed.
    #[serde(default)]
    pub missed: Missed,
    /// For a seat that missed: the first command that applies is played, again and again; at most 20 commands.
    #[serde(default = "default_commands")]
    pub default: Vec<String>,
    /// The commands of `host`, tried in this order only while no player has a legal command; at most 20.
    #[serde(default)]
    pub between: Vec<String>,
    /// The misses in a row after which a seat is gone; 0 for never.
    #[serde(default = "default_patience")]
    pub patience: u32,
    /// Until when orders are hidden from other seats.
    #[serde(default)]
    pub secret: Secret,
    /// The turns by which spectators lag behind; 0 when they see nothing before the end.
    #[serde(default)]
    pub spectators: u32,
}

const fn default_seats() -> u8 {
    2
}

const fn default_hours() -> u16 {
    72
}

const fn default_hurry() -> bool {
    true
}

const fn default_patience() -> u32 {
    3
}

fn default_commands() -> Vec<String> {
    Vec::from([String::from("stand")])
}

/// PM-3: checks a setup and makes the first state, in which every seat is free.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    let match_id = setup.match_id.parse().map_err(|error| SetupError::value("match", format!("{error}")))?;
    digest("game", &setup.game)?;
    let host: VerifierKey =
        setup.host.parse().map_err(|error| SetupError::value("host", format!("{error}")))?;
    if host.kind() != KeyKind::Signer {
        return Err(SetupError::value("host", "expected a key that signs, found one that cosigns"));
    }
    let head = setup.head.as_ref().map(|head| digest("head", head)).transpose()?;
    SetupError::within("seats", &setup.seats, 1..=16)?;
    SetupError::within("hours", &setup.hours, 1..=8760)?;
    commands("default", &setup.default)?;
    commands("between", &setup.between)?;
    let players = Seat::players(setup.seats.into());
    let mut hosted = BTreeSet::new();
    for (index, seat) in setup.hosted.iter().enumerate() {
        let field = format!("hosted[{index}]");
        if !players.contains(seat) {
            let message = format!("expected a seat from `p1` to `p{}`, found `{seat}`", setup.seats);
            return Err(SetupError::value(field, message));
        }
        SetupError::unique(&mut hosted, *seat, &field, format_args!("seat `{seat}`"))?;
    }
    let seats = players.iter().map(|seat| SeatState::free(hosted.contains(seat))).collect();
    Ok(State {
        match_id,
        terms: Terms {
            hours: setup.hours,
            hurry: setup.hurry,
            sealed: setup.sealed,
            missed: setup.missed,
            patience: setup.patience,
            secret: setup.secret,
        },
        names_used: [host.name().into()].into(),
        keys_used: [host.to_base64()].into(),
        host_element: head.map(Element::head),
        phase: Phase::Joining,
        seats,
        clock: None,
        stands: Vec::new(),
        stand: None,
        told_turn: 0,
        offers: BTreeMap::new(),
        takeback: None,
    })
}

fn digest(field: &str, text: &str) -> Result<Digest, SetupError> {
    text.parse().map_err(|error| SetupError::value(field, format!("{error}")))
}

fn commands(field: &str, commands: &[String]) -> Result<(), SetupError> {
    SetupError::within(field, &commands.len(), 0..=20)?;
    for (index, command) in commands.iter().enumerate() {
        if !(1..=500).contains(&command.len()) || command.chars().any(char::is_control) {
            let message = "expected a command of 1 to 500 bytes without control characters";
            return Err(SetupError::value(format!("{field}[{index}]"), message));
        }
    }
    Ok(())
}
