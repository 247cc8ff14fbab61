//! The setup of a match: a seed to deal from, or any position.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::board::{Board, EARTH_SIZE, Place, ROW_SIZE};
use super::deal::deal;
use super::energy::{Chakra, Color, Energy};
use super::ranged::{EnergyId, Row};
use super::state::{MayaPlace, Phase, Player, State};
use turnfold_core::prelude::*;

/// The setup as written in TOML: a seed, or a plenitude, boards and energies.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The number of players, 1..=4.
    pub players: u8,
    /// Whether there are white energies.
    #[serde(default)]
    pub yinyang: bool,
    /// The seed from which everything else is dealt, 0..=2⁶³−1.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The active player; p1 if left out.
    #[serde(default)]
    pub active: Option<Seat>,
    /// What the chakras are worth.
    #[serde(default)]
    pub plenitude: Option<PlenitudeSetup>,
    /// One board for each player.
    #[serde(default)]
    pub boards: Option<Vec<BoardSetup>>,
    /// All energies, at most 1,000.
    #[serde(default)]
    pub energies: Option<Vec<EnergySetup>>,
}

/// The plenitude of each chakra, 1..=4.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are the chakras")]
pub struct PlenitudeSetup {
    pub purple: u8,
    pub darkblue: u8,
    pub blue: u8,
    pub green: u8,
    pub yellow: u8,
    pub orange: u8,
    pub red: u8,
}

/// A player's board without its energies.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardSetup {
    /// Where the five tokens are, such as `b1k3c2b2b3`.
    pub tokens: String,
    /// The chakras whose plenitude the player has seen.
    pub known: Vec<Chakra>,
    /// The player's halves of a yin-yang, 0..=1000; 0 without `yinyang`.
    #[serde(default)]
    pub yinyang_halves: u32,
}

/// An energy as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergySetup {
    /// Its id, 1..=1000, unique in the match.
    pub id: u16,
    /// Its color.
    pub color: Color,
    /// Where it is.
    pub at: At,
    /// Its row there, from 1; `None` in the bag.
    #[serde(default)]
    pub row: Option<u8>,
    /// Its column there, from 1; `None` in the bag.
    #[serde(default)]
    pub col: Option<u8>,
}

/// Where an energy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the players' boards are named by their seats")]
pub enum At {
    /// The shared board.
    Maya,
    /// The bag.
    Bag,
    P1,
    P2,
    P3,
    P4,
}

/// CH-1, CH-1b: checks a setup and returns the first state.
pub(super) fn start(setup: &Setup) -> Result<State, SetupError> {
    SetupError::within("players", &setup.players, 1..=4)?;
    let seats = Seat::players(usize::from(setup.players));
    let active = setup.active.unwrap_or(Seat::P1);
    if !seats.contains(&active) {
        return Err(SetupError::value("active", format!("expected a player of the match, found `{active}`")));
    }
    let mut state = match setup.seed {
        Some(seed) => {
            no_position(setup)?;
            SetupError::within("seed", &seed, 0..=i64::MAX.unsigned_abs())?;
            deal(setup.players, setup.yinyang, seed)
        }
        None => position(setup)?,
    };
    state.active = active;
    Ok(state)
}

/// CH-1b: refuses the fields of a position, because a seed deals everything.
fn no_position(setup: &Setup) -> Result<(), SetupError> {
    for (field, is_given) in [
        ("plenitude", setup.plenitude.is_some()),
        ("boards", setup.boards.is_some()),
        ("energies", setup.energies.is_some()),
    ] {
        if is_given {
            return Err(SetupError::value(field, "expected none besides `seed`"));
        }
    }
    Ok(())
}

/// CH-1b: returns the position that a setup describes.
fn position(setup: &Setup) -> Result<State, SetupError> {
    let plenitude = read_plenitude(given("plenitude", setup.plenitude.as_ref())?)?;
    let boards = given("boards", setup.boards.as_ref())?;
    let energies = given("energies", setup.energies.as_ref())?;
    if boards.len() != usize::from(setup.players) {
        let message = format!("expected one for each of {} players, found {}", setup.players, boards.len());
        return Err(SetupError::value("boards", message));
    }
    SetupError::within("energies", &energies.len(), 0..=1000)?;
    let mut players = Vec::new();
    for (place, board) in boards.iter().enumerate() {
        players.push(read_board(board, setup.yinyang, |name: &str| format!("boards[{place}].{name}"))?);
    }
    let mut state = State {
        plenitude,
        maya: Default::default(),
        bag: BTreeMap::new(),
        out: BTreeSet::new(),
        players,
        active: Seat::P1,
        phase: Phase::Take,
        last_round: false,
    };
    let mut ids = BTreeSet::new();
    for (place, energy) in energies.iter().enumerate() {
        let field = |name: &str| format!("energies[{place}].{name}");
        let id = EnergyId::try_from(energy.id).map_err(|error| SetupError::value(field("id"), error.0))?;
        SetupError::unique(&mut ids, id, &field("id"), format_args!("energy {id}"))?;
        if energy.color == Color::White && !setup.yinyang {
            return Err(SetupError::value(field("color"), "expected no white energies without `yinyang`"));
        }
        place_energy(&mut state, id, energy, field)?;
    }
    Ok(state)
}

fn given<'a, T>(field: &str, value: Option<&'a T>) -> Result<&'a T, SetupError> {
    value.ok_or_else(|| SetupError::value(field, "required where there is no `seed`"))
}

fn read_plenitude(setup: &PlenitudeSetup) -> Result<[u8; Chakra::COUNT], SetupError> {
    let PlenitudeSetup { purple, darkblue, blue, green, yellow, orange, red } = *setup;
    let plenitude = [purple, darkblue, blue, green, yellow, orange, red];
    for (chakra, value) in Chakra::all().zip(plenitude) {
        SetupError::within(&format!("plenitude.{chakra}"), &value, 1..=4)?;
    }
    Ok(plenitude)
}

fn read_board(
    setup: &BoardSetup,
    yinyang: bool,
    field: impl Fn(&str) -> String,
) -> Result<Player, SetupError> {
    let tokens = setup
        .tokens
        .parse()
        .map_err(|error: turnfold_core::Malformed| SetupError::value(field("tokens"), error.0))?;
    let mut known = BTreeSet::new();
    for chakra in &setup.known {
        SetupError::unique(&mut known, *chakra, &field("known"), format_args!("`{chakra}`"))?;
    }
    let halves_max = if yinyang { 1000 } else { 0 };
    SetupError::within(&field("yinyang_halves"), &setup.yinyang_halves, 0..=halves_max)?;
    Ok(Player { board: Board::default(), tokens, known, yinyang_halves: setup.yinyang_halves })
}

fn place_energy(
    state: &mut State,
    id: EnergyId,
    setup: &EnergySetup,
    field: impl Fn(&str) -> String,
) -> Result<(), SetupError> {
    let energy = Energy { id, color: setup.color };
    let seat = match setup.at {
        At::Bag => {
            for (name, given) in [("row", setup.row), ("col", setup.col)] {
                if given.is_some() {
                    return Err(SetupError::value(field(name), "expected none in the bag"));
                }
            }
            state.bag.insert(id, setup.color);
            return Ok(());
        }
        At::Maya => None,
        At::P1 => Some(Seat::P1),
        At::P2 => Some(Seat::P2),
        At::P3 => Some(Seat::P3),
        At::P4 => Some(Seat::P4),
    };
    let required = "required except in the bag";
    let Some(row) = setup.row else { return Err(SetupError::value(field("row"), required)) };
    let Some(col) = setup.col else { return Err(SetupError::value(field("col"), required)) };
    let Some(seat) = seat else {
        return place_in_maya(state, energy, row, col, field);
    };
    let Some(player) = state.player_mut(seat) else {
        return Err(SetupError::value(
            field("at"),
            format!("expected a player of the match, found `{seat}`"),
        ));
    };
    place_on_board(&mut player.board, energy, row, col, field)
}

fn place_in_maya(
    state: &mut State,
    energy: Energy,
    row: u8,
    col: u8,
    field: impl Fn(&str) -> String,
) -> Result<(), SetupError> {
    SetupError::within(&field("row"), &row, 1..=3)?;
    SetupError::within(&field("col"), &col, 1..=3)?;
    let place = MayaPlace { row: usize::from(row - 1), column: usize::from(col - 1) };
    match state.maya_slot(place) {
        Some(slot @ None) => *slot = Some(energy),
        _ => return Err(taken_twice(&field("row"), row, col)),
    }
    Ok(())
}

fn place_on_board(
    board: &mut Board,
    energy: Energy,
    row: u8,
    col: u8,
    field: impl Fn(&str) -> String,
) -> Result<(), SetupError> {
    let target = Row::try_from(u16::from(row)).map_err(|error| SetupError::value(field("row"), error.0))?;
    let columns = if target == Row::EARTH { EARTH_SIZE } else { ROW_SIZE };
    SetupError::within(&field("col"), &usize::from(col), 1..=columns)?;
    if target == Row::EARTH && !energy.color.is_black_or_white() {
        return Err(SetupError::value(
            field("row"),
            format!("expected black or white in row 9, found `{}`", energy.color),
        ));
    }
    let place = Place { row: target, column: col - 1 };
    if board.placed_in(target).any(|(other, _)| other == place) {
        return Err(taken_twice(&field("row"), row, col));
    }
    if !energy.color.is_black_or_white() && board.count_of(energy.color) >= 3 {
        return Err(SetupError::value(
            field("color"),
            format!("expected at most three `{}` on a board", energy.color),
        ));
    }
    board.put_at(place, energy);
    Ok(())
}

fn taken_twice(field: &str, row: u8, col: u8) -> SetupError {
    SetupError::value(field, format!("another energy is in row {row}, column {col} already"))
}
