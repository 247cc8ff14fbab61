//! How a desk begins: which game it serves, who hosts it, and the terms of play (PM-3).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::state::{Element, Missed, Phase, SeatState, Secret, State, Terms};
use crate::digest::Digest;
use crate::rules::SetupError;
use crate::seat::Seat;
use crate::text::number;
use crate::trust::{KeyKind, VerifierKey};

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the terms have each of them")]
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
    /// Whether a turn is ready once all have ordered; otherwise at its deadline.
    #[serde(default = "default_hurry")]
    pub hurry: bool,
    /// Whether every seat commits to an order before any order is shown.
    #[serde(default)]
    pub sealed: bool,
    /// The seats that the host plays itself.
    #[serde(default)]
    pub hosted: Vec<Seat>,
    /// What happens to a seat that missed a deadline.
    #[serde(default)]
    pub missed: Missed,
    /// PM-37: the commands for a seat that missed a deadline, at most 20.
    #[serde(default = "default_commands")]
    pub default: Vec<String>,
    /// PM-37: the commands of `host` after the orders of a turn, at most 20.
    #[serde(default)]
    pub between: Vec<String>,
    /// The misses in a row after which a seat is gone; 0 for never.
    #[serde(default = "default_patience")]
    pub patience: u32,
    /// Until when orders are concealed from other seats.
    #[serde(default)]
    pub secret: Secret,
    /// The turns by which spectators lag behind; 0 when they see nothing before the end.
    #[serde(default)]
    pub spectators: u32,
    /// PM-38: the seats whose players may play without a key.
    #[serde(default)]
    pub plain: Vec<Seat>,
    /// PM-39: the days of absence that each seat may announce in all, 0..=366.
    #[serde(default = "default_absences")]
    pub absences: u16,
    /// PM-40: how long before a deadline reminders are due, such as `24h`; at most 5.
    #[serde(default)]
    pub remind: Vec<String>,
    /// PM-41: whether players may write to each other.
    #[serde(default = "default_press")]
    pub press: bool,
    /// The time zones of the letters, by seat, such as `Europe/Berlin` or `+02:00`; UTC for seats without one.
    #[serde(default)]
    pub zones: Vec<String>,
    /// PM-60: whether the host alone may give a seat to another player.
    #[serde(default)]
    pub host_replaces: bool,
    /// PM-61: whether messages of players come in a letter of their own; otherwise in the reader's next letter.
    #[serde(default)]
    pub press_at_once: bool,
}

impl Setup {
    /// Returns the time zone of a seat as the setup has it; empty for UTC.
    #[must_use]
    pub fn zone_of(&self, seat: Seat) -> &str {
        for (player, zone) in Seat::players(self.seats.into()).iter().zip(&self.zones) {
            if *player == seat {
                return zone;
            }
        }
        ""
    }
}

const fn default_seats() -> u8 {
    2
}

pub(crate) const fn default_hours() -> u16 {
    72
}

const fn default_hurry() -> bool {
    true
}

pub(crate) const fn default_absences() -> u16 {
    14
}

const fn default_press() -> bool {
    true
}

pub(crate) const fn default_patience() -> u32 {
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
    let head = match &setup.head {
        Some(head) => Some(digest("head", head)?),
        None => None,
    };
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
    let plain = plain_seats(setup, players, &hosted)?;
    let remind = reminders(setup)?;
    SetupError::within("absences", &setup.absences, 0..=366)?;
    SetupError::within("zones", &setup.zones.len(), 0..=players.len())?;
    for (index, text) in setup.zones.iter().enumerate() {
        if offset_minutes(text).is_none() && !is_zone_name(text) {
            let message = format!("expected a time zone such as `Europe/Berlin` or `+02:00`, found `{text}`");
            return Err(SetupError::value(format!("zones[{index}]"), message));
        }
    }
    let mut seats = Vec::new();
    for seat in players {
        seats.push(SeatState { hosted: hosted.contains(seat), ..SeatState::default() });
    }
    Ok(State {
        match_id,
        terms: Terms {
            hours: setup.hours,
            hurry: setup.hurry,
            sealed: setup.sealed,
            missed: setup.missed,
            patience: setup.patience,
            secret: setup.secret,
            plain,
            remind,
            absences: setup.absences,
            press: setup.press,
            // PM-42: an order ahead comes before any seal, and has no element of fair dice.
            ahead: !setup.sealed && hosted.is_empty() && setup.head.is_none(),
            host_replaces: setup.host_replaces,
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
        reminded: None,
        offers: BTreeMap::new(),
        offers_made: 0,
        counted: BTreeSet::new(),
        takeback: None,
        played: Vec::new(),
    })
}

/// Reads the seats whose players may play without a key (PM-38).
fn plain_seats(
    setup: &Setup,
    players: &[Seat],
    hosted: &BTreeSet<Seat>,
) -> Result<BTreeSet<Seat>, SetupError> {
    let mut plain = BTreeSet::new();
    for (index, seat) in setup.plain.iter().enumerate() {
        let field = format!("plain[{index}]");
        // A seal and an element of fair dice need a key.
        let fault = if !players.contains(seat) {
            format!("expected a seat from `p1` to `p{}`, found `{seat}`", setup.seats)
        } else if hosted.contains(seat) {
            format!("expected a seat of another player, found `{seat}`, which the host plays")
        } else if setup.sealed {
            "expected no seat with `sealed`: only a player with a key can seal".into()
        } else if setup.head.is_some() {
            "expected no seat with fair dice: only a player with a key has a dice chain".into()
        } else {
            SetupError::unique(&mut plain, *seat, &field, format_args!("seat `{seat}`"))?;
            continue;
        };
        return Err(SetupError::value(field, fault));
    }
    Ok(plain)
}

/// Reads how many hours before a deadline reminders are due (PM-40).
fn reminders(setup: &Setup) -> Result<BTreeSet<u16>, SetupError> {
    SetupError::within("remind", &setup.remind.len(), 0..=5)?;
    let mut remind = BTreeSet::new();
    for (index, text) in setup.remind.iter().enumerate() {
        let field = format!("remind[{index}]");
        let expected = || SetupError::value(&field, format!("expected hours such as `24h`, found `{text}`"));
        let digits = text.strip_suffix('h').ok_or_else(expected)?;
        let hours: u16 = number(digits).map_err(|_| expected())?;
        SetupError::within(&field, &hours, 1..=8760)?;
        SetupError::unique(&mut remind, hours, &field, format_args!("`{text}`"))?;
    }
    Ok(remind)
}

/// Returns `true` if a text has the form of a time zone's name. The desk knows no zones, because their rules change.
fn is_zone_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    (1..=64).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(is_plain)
}

/// Reads how many minutes clocks are ahead of UTC: `+hh:mm` or `-hh:mm`, at most 14 hours.
#[must_use]
pub fn offset_minutes(zone: &str) -> Option<i32> {
    let shape = zone.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    if !shape.skip(1).eq(*b"00:00") {
        return None;
    }
    let hours: i32 = zone.get(1..3)?.parse().ok()?;
    let rest: i32 = zone.get(4..6)?.parse().ok()?;
    let ahead = hours * 60 + rest;
    if rest >= 60 || ahead > 14 * 60 {
        return None;
    }
    match zone.get(..1)? {
        "+" => Some(ahead),
        "-" => Some(-ahead),
        _ => None,
    }
}

fn digest(field: &str, text: &str) -> Result<Digest, SetupError> {
    text.parse().map_err(|error| SetupError::value(field, format!("{error}")))
}

/// Requires the commands of terms to be within the limits of number and length (PM-37).
pub(crate) fn commands(field: &str, commands: &[String]) -> Result<(), SetupError> {
    SetupError::within(field, &commands.len(), 0..=20)?;
    for (index, command) in commands.iter().enumerate() {
        if !(1..=500).contains(&command.len()) || command.chars().any(char::is_control) {
            let message = "expected a command of 1 to 500 bytes without control characters";
            return Err(SetupError::value(format!("{field}[{index}]"), message));
        }
    }
    Ok(())
}
